"""The statements of docs/engines.md, run as they stand there."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lookalike as la

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = (REPOSITORY / "docs" / "engines.md").read_text(encoding="utf-8")
ROWS = [
    (
        None if at % 23 == 0 else 20 + at % 31,
        ["53215", "53726", "", None, "53711"][at % 5],
        ["f", "m"][at % 2],
        None if at % 11 == 0 else f"ward {at % 7}",
    )
    for at in range(700)
]


def blocks(kind: str) -> list[str]:
    """The blocks of the page with these words after the ticks."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    """The commands between the statements of an engine."""
    (text,) = re.findall(rf"^### {title}\n(.*?)(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    (command,) = re.findall(r"^```sh plan\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
    return str(command)


def plan(command: str, folder: Path) -> None:
    """Runs `lookalike plan` as the page has it, in a folder."""
    program = shutil.which(
        "lookalike", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    assert program is not None, "the command is in the wheel"
    words = command.split()
    assert words[0] == "lookalike"
    found = [
        path for word in words[1:] for path in (sorted(glob.glob(word, root_dir=folder)) or [word])
    ]
    (text,) = blocks("toml")
    (folder / "lookalike.toml").write_text(text, encoding="utf-8")
    subprocess.run([program, "--quiet", *found], cwd=folder, check=True, capture_output=True)


def check(rows: list[tuple[Any, ...]]) -> None:
    """Every row is there, k holds, wards are unchanged, each label covers a row of its ward."""
    assert len(rows) == len(ROWS)
    assert sorted(str(row[3]) for row in rows) == sorted(str(row[3]) for row in ROWS)
    import pyarrow  # type: ignore[import-untyped]

    names = ["age", "zip", "sex", "ward"]
    release, source = (
        pyarrow.table(
            {
                name: [None if row[at] is None else str(row[at]) for row in of]
                for at, name in enumerate(names)
            }
        )
        for of in (rows, ROWS)
    )
    verdict = la.verify(release, k=5, quasi=names[:3], keep=["ward"], source=source)
    assert verdict.holds, verdict
    assert verdict.classes > 5


def test_duckdb(duckdb_connection: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    count, join = blocks("sql duckdb")
    duckdb_connection.execute(
        "CREATE TABLE patients (age INTEGER, zip VARCHAR, sex VARCHAR, ward VARCHAR)"
    )
    duckdb_connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", ROWS)
    duckdb_connection.execute(count)
    plan(section("DuckDB"), tmp_path)
    duckdb_connection.execute(join)
    check(duckdb_connection.execute("SELECT * FROM patients_safe").fetchall())


def test_postgres(postgres_address: str, postgres_schema: str, tmp_path: Path) -> None:
    if shutil.which("psql") is None:
        pytest.fail("no psql, which comes with the server")
    count, join = blocks("sql postgres")
    (tmp_path / "rows.csv").write_text(
        "".join(
            ",".join("" if cell is None else f'"{cell}"' for cell in row) + "\n" for row in ROWS
        ),
        encoding="utf-8",
    )
    (tmp_path / "load.sql").write_text(
        "CREATE TABLE patients (age int, zip text, sex text, ward text);\n"
        "\\copy patients FROM 'rows.csv' (FORMAT csv)\n",
        encoding="utf-8",
    )
    (tmp_path / "count.sql").write_text(count, encoding="utf-8")
    (tmp_path / "join.sql").write_text(join, encoding="utf-8")
    (tmp_path / "out.sql").write_text(
        "\\copy patients_safe TO 'safe.csv' (FORMAT csv, NULL '<null>')\n", encoding="utf-8"
    )

    def psql(file: str) -> None:
        subprocess.run(
            ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file, postgres_address],
            cwd=tmp_path,
            check=True,
            env={**os.environ, "PGOPTIONS": f"-c search_path={postgres_schema}"},
        )

    psql("load.sql")
    psql("count.sql")
    plan(section("PostgreSQL"), tmp_path)
    psql("join.sql")
    psql("out.sql")
    import csv

    with open(tmp_path / "safe.csv", newline="", encoding="utf-8") as file:
        rows = [
            tuple(None if cell == "<null>" else cell for cell in row) for row in csv.reader(file)
        ]
    check(rows)


def test_spark(spark: Any, spark_schema: str, tmp_path: Path) -> None:
    count, join = blocks("sql spark")
    spark.sql(f"USE {spark_schema}")
    try:
        frame = spark.createDataFrame(ROWS, "age INT, zip STRING, sex STRING, ward STRING")
        frame.createOrReplaceTempView("patients")
        spark.sql(count.replace("'counts'", f"'{tmp_path}/counts'").rstrip().rstrip(";"))
        plan(section("Spark SQL"), tmp_path)
        placed = join.replace("`plan.parquet`", f"`{tmp_path}/plan.parquet`")
        spark.sql(placed.rstrip().rstrip(";"))
        check([tuple(row) for row in spark.sql("SELECT * FROM patients_safe").collect()])
    finally:
        spark.sql("USE default")
        spark.catalog.dropTempView("patients")
