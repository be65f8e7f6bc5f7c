"""DuckDB: files as sources, Parquet files and folders of them as targets."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import plain_truth as truth
import pytest

import lookalike
from lookalike.engine import _duckdb, engine

duckdb = pytest.importorskip("duckdb")
ASKED: dict[str, Any] = {"k": 5, "quasi": ["age"], "keep": "kind", "rest": "drop", "seed": 7}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own, which relative paths are in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def at(here: Path) -> Any:
    """A connection with a table people."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE people AS SELECT 20 + i % 9 AS age, i % 4 AS kind FROM range(180) t(i)"
    )
    return connection


def rows_of(at: Any, path: str) -> list[dict[str, Any]]:
    names = ["age", "kind"]
    found = at.execute(f"SELECT age, kind FROM read_parquet('{path}')").fetchall()
    return [dict(zip(names, row, strict=True)) for row in found]


def hidden(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.startswith("."))


def code_of(at: Any, table: str, into: str, **changes: Any) -> str:
    with pytest.raises(lookalike.LookalikeError) as caught:
        engine(at).anonymize(table, into=into, **(ASKED | changes))
    return caught.value.code


@pytest.mark.parametrize("into", ["safe.parquet", "safe/"])
@pytest.mark.parametrize("slices", [1, 7])
def test_written_and_replaced(
    here: Path, at: Any, into: str, slices: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_duckdb, "SLICE", 180 // slices)
    source = at.sql("SELECT age, kind FROM people").to_arrow_table().to_pylist()
    files = "safe/*.parquet" if into == "safe/" else into
    made = engine(at).anonymize("people", into=into, **ASKED)
    rows = rows_of(at, files)
    assert made.rows == len(rows) == 180
    assert truth.smallest(rows, ["age"]) >= 5
    assert truth.matched(rows, source, ["age"], ["kind"]) == 180
    if into == "safe/":
        assert (len(os.listdir("safe")) > 1) == (slices > 1)
        assert {name[:5] + name[-8:] for name in os.listdir("safe")} == {"part-.parquet"}
    before = Counter(map(str, rows))
    assert code_of(at, "people", into, k=40) == "table-exists"
    assert Counter(map(str, rows_of(at, files))) == before
    engine(at).anonymize("people", into=into, replace=True, **(ASKED | {"k": 40}))
    assert truth.smallest(rows_of(at, files), ["age"]) >= 40
    assert sorted(os.listdir(here)) == [into.rstrip("/")]


@pytest.mark.parametrize("name", ["a[x]b", "a?b", "it's"])
@pytest.mark.parametrize("into", ["safe.parquet", "safe/"])
def test_characters_of_patterns_in_the_path(here: Path, at: Any, name: str, into: str) -> None:
    os.mkdir(name)
    os.mkdir("axb")  # what the pattern would find
    for replace in (False, True):
        made = engine(at).anonymize("people", into=f"{name}/{into}", replace=replace, **ASKED)
        assert made.rows == 180
    assert os.listdir(name) == [into.rstrip("/")]
    assert os.listdir("axb") == []


def test_links_and_files_in_the_place_of_a_folder(here: Path, at: Any) -> None:
    os.mkdir("other")
    Path("other/old").write_text("stays")
    os.symlink("other", "link")
    assert code_of(at, "people", "link/") == "table-exists"
    engine(at).anonymize("people", into="link/", replace=True, **ASKED)
    assert not os.path.islink("link") and len(rows_of(at, "link/*.parquet")) == 180
    assert Path("other/old").read_text() == "stays"
    Path("file").write_text("old")
    assert code_of(at, "people", "file/") == "table-exists"
    engine(at).anonymize("people", into="file/", replace=True, **ASKED)
    assert len(rows_of(at, "file/*.parquet")) == 180
    Path("target.parquet").write_text("stays")
    os.symlink("target.parquet", "link.parquet")
    engine(at).anonymize("people", into="link.parquet", replace=True, **ASKED)
    assert Path("target.parquet").read_text() == "stays"
    assert len(rows_of(at, "link.parquet")) == 180
    assert hidden(here) == []


def test_targets_that_cannot_be_written(here: Path, at: Any) -> None:
    os.mkdir("folder.parquet")
    assert code_of(at, "people", "folder.parquet", replace=True) == "io"
    assert code_of(at, "people", "nowhere/safe.parquet") == "io"
    assert code_of(at, "people", "safe.csv") == "bad-target"
    assert code_of(at, "people", "safe*/") == "bad-target"
    assert os.listdir(here) == ["folder.parquet"]


def test_a_file_that_is_not_there(here: Path, at: Any) -> None:
    assert code_of(at, "nothing.parquet", "safe") == "no-table"
    assert code_of(at, "nothing/*.csv", "safe.parquet") == "no-table"
    assert hidden(here) == []


def test_the_source_is_never_replaced(here: Path, at: Any) -> None:
    os.mkdir("d")
    for part in (1, 2):
        at.execute(f"COPY people TO 'd/{part}.parquet' (FORMAT parquet)")
    os.symlink("d", "link")
    at.execute("CREATE VIEW v AS SELECT * FROM read_parquet('d/1.parquet')")
    at.execute("CREATE VIEW w AS SELECT * FROM people")
    at.execute("CREATE VIEW ww AS SELECT * FROM w")
    for table, into, code in [
        ("d/1.parquet", "./d/1.parquet", "target-is-source"),
        ("link/1.parquet", "d/1.parquet", "target-is-source"),
        (str(here / "d" / "1.parquet"), "d/1.parquet", "target-is-source"),
        ("d/*.parquet", "d/", "target-is-source"),
        ("d/*.parquet", "d/2.parquet", "target-is-source"),
        ("**/*.parquet", "d/", "target-is-source"),
        ("v", "d/1.parquet", "bad-target"),
        ("v", "d/", "bad-target"),
        ("w", "people", "target-is-source"),
        ("ww", "main.PEOPLE", "target-is-source"),
        ("memory.main.people", "people", "target-is-source"),
    ]:
        for replace in (False, True):
            assert code_of(at, table, into, replace=replace) in (
                {code} if replace else {code, "table-exists"}
            )
    assert sorted(os.listdir("d")) == ["1.parquet", "2.parquet"]
    assert len(rows_of(at, "d/*.parquet")) == 360
    assert at.execute("SELECT count(*) FROM people").fetchall() == [(180,)]
    assert hidden(here) == []


def test_texts_of_a_csv_file_stay(here: Path, at: Any) -> None:
    lines = ["age,price,day,id"]
    for i in range(60):
        lines.append(f"{20 + i % 3},{['1.50', '2', '03'][i % 3]},{['01/03/2024', ''][i % 2]},0{i}")
    Path("people.csv").write_text("\n".join(lines) + "\n")
    engine(at).anonymize(
        "people.csv", into="safe.parquet", k=5, quasi=["age"], keep=["price", "day"],
        accept_dependent=["price"], identifiers=["id"], seed=7,
    )  # fmt: skip
    found = at.execute("SELECT price, day FROM read_parquet('safe.parquet')").fetchall()
    assert Counter(price for price, _ in found) == {"1.50": 20, "2": 20, "03": 20}
    assert Counter(day for _, day in found) == {"01/03/2024": 30, None: 30}


KILLED = """
import os, signal, sys
import duckdb
from lookalike.engine import _duckdb, engine

where, into = sys.argv[1:]
moved = []
rename = os.rename

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

def renamed(one, other):
    if os.path.basename(other) == "safe" and where == "renames":
        kill()
    rename(one, other)

def heard(progress):
    if progress.stage == where:
        kill()

_duckdb.os.rename = renamed
at = duckdb.connect()
at.execute("CREATE TABLE people AS SELECT 20 + i % 9 AS age, i % 4 AS kind FROM range(180) t(i)")
engine(at).anonymize(
    "people", into=into, k=5, quasi=["age"], keep="kind", seed=7, replace=True, progress=heard
)
"""


@pytest.mark.parametrize(
    ("into", "where"),
    [
        ("safe.parquet", "verify"),
        ("safe.parquet", "publish"),  # a file is replaced by one rename
        ("safe/", "verify"),
        ("safe/", "publish"),
        ("safe/", "renames"),
    ],
)
def test_the_next_run_cleans_up_after_a_killed_one(
    here: Path, at: Any, into: str, where: str
) -> None:
    name = into.rstrip("/")
    if into == "safe/":
        os.mkdir("safe")
        Path("safe/old").write_text("old")
    else:
        Path("safe.parquet").write_text("old")
    made = subprocess.run(
        [sys.executable, "-c", KILLED, where, into],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
    )
    assert made.returncode == -signal.SIGKILL, made.stderr.decode()
    assert len(hidden(here)) == 1
    assert os.path.exists(name) == (where != "renames")
    # A run that is refused puts back what was there, and removes what was left.
    assert code_of(at, "people", into) == "table-exists"
    assert os.listdir(here) == [name]
    old = Path("safe/old") if into == "safe/" else Path(into)
    assert old.read_text() == "old"
    engine(at).anonymize("people", into=into, replace=True, **ASKED)
    assert len(rows_of(at, "safe/*.parquet" if into == "safe/" else into)) == 180
    assert os.listdir(here) == [name]


@pytest.mark.parametrize("into", ["safe.parquet", "safe/"])
@pytest.mark.parametrize("replace", [False, True])
def test_a_run_leaves_the_folder_of_another_alone(
    here: Path, at: Any, into: str, replace: bool
) -> None:
    stages: list[str] = []

    def other(progress: Any) -> None:
        stages.append(progress.stage)
        if stages.count("apply") == 1 == stages[-1:].count("apply"):
            with at.cursor() as second:
                engine(second).anonymize("people", into=into, **(ASKED | {"k": 40}))

    asked = ASKED | {"progress": other, "replace": replace}
    if replace:
        engine(at).anonymize("people", into=into, **asked)
    else:
        assert code_of(at, "people", into, progress=other) == "table-exists"
    rows = rows_of(at, "safe/*.parquet" if into == "safe/" else into)
    assert (truth.smallest(rows, ["age"]) >= 40) is not replace
    assert os.listdir(here) == [into.rstrip("/")]
