"""The engines by themselves, without lookalike.

A failure here is one of the machine or of a version, not of our code. The engines must agree on the
SHA-256 of a text.
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CELL = "it's é€"
DIGEST = hashlib.sha256(CELL.encode()).hexdigest()


def test_duckdb_takes_back_a_renamed_table(duckdb_connection: Any) -> None:
    con = duckdb_connection
    con.execute("BEGIN")
    con.execute("CREATE TABLE staging AS SELECT 1 AS a")
    con.execute("ALTER TABLE staging RENAME TO final")
    con.execute("ROLLBACK")
    assert con.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]
    assert con.execute("SELECT sha256(?)", [CELL]).fetchall() == [(DIGEST,)]


def test_postgres_takes_back_a_renamed_table(postgres_address: str, postgres_schema: str) -> None:
    from adbc_driver_postgresql import dbapi  # type: ignore[import-untyped]

    with dbapi.connect(postgres_address) as con, con.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {postgres_schema}.staging AS SELECT 1 AS a")
        cursor.execute(f"ALTER TABLE {postgres_schema}.staging RENAME TO final")
        con.rollback()
        cursor.execute(
            "SELECT count(*) FROM pg_tables WHERE schemaname = $1::text", (postgres_schema,)
        )
        assert cursor.fetchall() == [(0,)]
        cursor.execute("SELECT encode(sha256(convert_to($1::text, 'UTF8')), 'hex')", (CELL,))
        assert cursor.fetchall() == [(DIGEST,)]


def test_spark_renames_a_table_with_its_folder(any_spark: Any, spark_schema: str) -> None:
    any_spark.sql(f"CREATE TABLE {spark_schema}.staging (a BIGINT) USING parquet").collect()
    any_spark.sql(f"INSERT INTO {spark_schema}.staging SELECT id FROM range(5)").collect()
    any_spark.sql(f"ALTER TABLE {spark_schema}.staging RENAME TO {spark_schema}.final").collect()
    database = any_spark.sql(f"DESCRIBE SCHEMA {spark_schema}").toArrow().to_pylist()
    (folder,) = (row["info_value"] for row in database if row["info_name"] == "Location")
    assert os.listdir(folder.removeprefix("file:")) == ["final"]
    assert any_spark.table(f"{spark_schema}.final").count() == 5
    hashed = any_spark.sql("SELECT sha2(:cell, 256) AS h", args={"cell": CELL})
    assert hashed.toArrow().to_pylist() == [{"h": DIGEST}]


def test_spark_repeats_a_task_that_was_killed(any_spark: Any, tmp_path: Path) -> None:
    marker = str(tmp_path / "killed")

    def kill_once(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch
            if not os.path.exists(marker):
                open(marker, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)

    rows = any_spark.range(0, 1000, 1, 4).mapInArrow(kill_once, "id long").toArrow()
    assert os.path.exists(marker)
    assert sorted(rows["id"].to_pylist()) == list(range(1000))


def test_this_session_is_classic(spark: Any) -> None:
    assert ".connect." not in type(spark).__module__


def test_this_session_is_of_spark_connect(spark_connect: Any) -> None:
    assert ".connect." in type(spark_connect).__module__
