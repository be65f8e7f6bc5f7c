"""Spark, classic and Connect: the release, what is visible, and what failures leave.

Few runs, each with several questions: a run of Spark takes seconds on a table of any size.
"""

from __future__ import annotations

import collections
import datetime
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import lookalike as la
from lookalike.engine import EngineError, _spark, engine
from lookalike.engine._spark import Spark, _ticked, _type

STEPS = ["count", "plan", "apply", "verify", "publish"]
ASKED: dict[str, Any] = {
    "k": 4,
    "quasi": ["age", "zip", "seen"],
    "sensitive": {"illness": {"l": 2}},
    "keep": ["note", "day"],
    "identifiers": ["id"],
    "seed": 7,
    "steps": 300,
    "suppress": "2%",
}


def people(rows: int = 400) -> pa.Table:
    """Few tuples of many rows, with missing cells in every column, and instants in the two hours
    that have one local time in New York."""
    draw = random.Random(1)
    instants = [datetime.datetime(2024, 11, 3, hour, 30, tzinfo=datetime.UTC) for hour in (4, 5, 6)]

    def column(values: list[Any], missing: float = 0.1) -> list[Any]:
        return [None if draw.random() < missing else draw.choice(values) for _ in range(rows)]

    return pa.table(
        {
            "age": pa.array(column([20, 21, 35, 60]), pa.int32()),
            "zip": column(["53703", "o'hara", 'a"b', "a\\b"]),
            "seen": pa.array(column(list(instants), 0.0), pa.timestamp("us", "UTC")),
            "illness": column(["flu", "cold", "ulcer"]),
            "note": column(["x", "é€", "SECRET"]),
            "day": pa.array(column([datetime.date(2024, 1, 1), datetime.date(2024, 2, 2)])),
            "id": [str(at) for at in range(rows)],
        }
    )


def multiset(table: pa.Table) -> collections.Counter[Any]:
    return collections.Counter(tuple(row.values()) for row in table.to_pylist())


def by_duckdb(source: pa.Table, **asked: Any) -> collections.Counter[Any]:
    """The release of the same rows by DuckDB."""
    import duckdb

    with duckdb.connect() as connection:
        connection.register("people", source)
        engine(connection).anonymize("people", into="safe", **asked)
        return multiset(connection.sql("SELECT * FROM safe").to_arrow_table())


def folder_of(session: Any, schema: str) -> Path:
    found = session.sql(f"DESCRIBE SCHEMA {schema}").toArrow().to_pylist()
    (folder,) = (row["info_value"] for row in found if row["info_name"] == "Location")
    return Path(folder.removeprefix("file:"))


def left_in(session: Any, schema: str) -> list[str]:
    """Tables and folders of a schema."""
    found = session.sql(f"SHOW TABLES IN {schema}").collect()
    tables = [row["tableName"] for row in found if not row["isTemporary"]]
    folder = folder_of(session, schema)
    folders = os.listdir(folder) if folder.exists() else []
    return sorted({*tables, *folders} - {"people"})


@pytest.fixture
def source(any_spark: Any, spark_schema: str) -> Iterator[str]:
    """A table of people in a schema of the test's own; the session has a time zone with hours that
    are there twice."""
    any_spark.createDataFrame(people()).write.saveAsTable(f"{spark_schema}.people")
    any_spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    yield f"{spark_schema}.people"
    any_spark.conf.set("spark.sql.session.timeZone", "UTC")


def each_step(what: Callable[[str], object]) -> Callable[[la.Progress], None]:
    """A listener that does something at the begin of each step; the plan has stages of its own,
    some of the same names."""
    left = list(STEPS)

    def listen(progress: la.Progress) -> None:
        if left and progress.stage == left[0]:
            what(left.pop(0))

    return listen


def at_step(step: str, what: Callable[[], object]) -> Callable[[la.Progress], None]:
    """A listener that does something at the begin of one step."""
    return each_step(lambda now: what() if now == step else None)


def test_a_release_is_that_of_duckdb_and_unseen_before_its_end(
    any_spark: Any, spark_schema: str, source: str
) -> None:
    other = any_spark.newSession()
    target = f"{spark_schema}.safe"
    seen: list[str] = []
    split: list[int] = []

    def look(step: str) -> None:
        seen.append(step)
        assert not other.catalog.tableExists(target)
        staged = [row["tableName"] for row in other.sql(f"SHOW TABLES IN {spark_schema}").collect()]
        assert all(name == "people" or name.startswith("lookalike_") for name in staged)
        for name in staged:
            if step == "apply" and name.endswith("_plan"):
                plan = other.table(f"{spark_schema}.{name}").toArrow().to_pylist()
                split.append(sum(piece["first_row"] > 1 for piece in plan))

    made = engine(any_spark).anonymize(source, into=target, progress=each_step(look), **ASKED)
    assert seen == STEPS and made.verdict.holds and made.verdict.k >= 4
    assert split[0] > 0  # rows of one tuple were published in several ways
    released = any_spark.table(target).toArrow()
    assert made.rows == released.num_rows == 400 - made.suppressed
    assert multiset(released) == by_duckdb(people(), **ASKED)
    assert left_in(any_spark, spark_schema) == ["safe"]
    rules = {key: ASKED[key] for key in ("k", "quasi", "sensitive")}
    assert la.verify(released.select(["age", "zip", "seen", "illness"]), **rules).holds

    # What is there is kept, unless it may be replaced; then the rest of a killed run goes, too.
    with pytest.raises(la.ConfigError) as taken:
        engine(any_spark).anonymize(source, into=target, **ASKED)
    assert taken.value.code == "table-exists"
    engine(any_spark).anonymize(source, into=target, replace=True, **(ASKED | {"k": 40}))
    assert any_spark.table(target).count() < 401
    shown = {key: ASKED[key] for key in ("quasi", "sensitive", "keep")}
    assert engine(any_spark).verify(target, k=40, **shown).holds
    assert left_in(any_spark, spark_schema) == ["safe"]


def test_a_failure_at_any_step_leaves_nothing(
    any_spark: Any, spark_schema: str, source: str
) -> None:
    class Stop(Exception):
        pass

    def stop() -> None:
        raise Stop

    for step in STEPS:
        with pytest.raises(Stop):
            engine(any_spark).anonymize(
                source, into=f"{spark_schema}.safe", progress=at_step(step, stop), **ASKED
            )
        assert left_in(any_spark, spark_schema) == [], step


def test_tasks_that_die_are_repeated_and_those_that_fail_for_good_leave_nothing(
    any_spark: Any, spark_schema: str, source: str, tmp_path: Path, capfd: Any
) -> None:
    armed, broken, slow = (str(tmp_path / name) for name in ("armed", "broken", "slow"))

    def fragile(note: str | None) -> str | None:
        if os.path.exists(broken):
            raise ValueError(f"no {note}")
        if os.path.exists(slow):
            time.sleep(0.2)
        try:
            os.unlink(armed)
        except OSError:
            return note
        os.kill(os.getpid(), signal.SIGKILL)
        return None

    any_spark.udf.register("fragile", fragile, "string")
    any_spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW people_view AS SELECT age, fragile(zip) AS zip, seen, "
        f"illness, fragile(note) AS note, day, id FROM {source}"
    ).collect()
    died: list[str] = []

    def arm(step: str) -> None:
        assert not os.path.exists(armed), f"nothing died at {died[-1]}"
        # The other steps read staged tables alone.
        if step in ("count", "apply"):
            died.append(step)
            open(armed, "w").close()

    target = f"{spark_schema}.safe"
    engine(any_spark).anonymize("people_view", into=target, progress=each_step(arm), **ASKED)
    assert died == ["count", "apply"]
    assert multiset(any_spark.table(target).toArrow()) == by_duckdb(people(), **ASKED)
    any_spark.sql(f"DROP TABLE {target} PURGE").collect()

    capfd.readouterr()
    for_good = at_step("apply", lambda: open(broken, "w").close())
    with pytest.raises(EngineError) as failed:
        engine(any_spark).anonymize("people_view", into=target, progress=for_good, **ASKED)
    assert failed.value.code == "engine-failed"
    said = str(failed.value) + "".join(capfd.readouterr())
    assert "SECRET" not in said and "53703" not in said
    assert left_in(any_spark, spark_schema) == []

    # Ctrl-C in the middle of a statement of more than a minute.
    os.unlink(broken)

    def interrupt() -> None:
        open(slow, "w").close()
        threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

    begun = time.monotonic()
    # PySpark's own handler cancels the jobs, whose failure may come first.
    with pytest.raises((KeyboardInterrupt, EngineError)):
        engine(any_spark).anonymize(
            "people_view", into=target, progress=at_step("apply", interrupt), **ASKED
        )
    os.unlink(slow)
    assert time.monotonic() - begun < 60
    assert left_in(any_spark, spark_schema) == []
    any_spark.sql("DROP VIEW people_view").collect()


def test_a_global_recoding_is_joined_by_broadcast_maps(
    any_spark: Any, spark_schema: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[str] = []
    run = Spark._run

    def explained(self: Spark, statement: str) -> list[Any]:
        if statement.startswith("INSERT INTO") and "_release` " in statement:
            plans.append(any_spark.sql(f"EXPLAIN {statement}").collect()[0][0])
        return run(self, statement)

    monkeypatch.setattr(Spark, "_run", explained)
    asked = {key: of for key, of in ASKED.items() if key not in ("steps", "suppress")}
    asked |= {"algorithm": "optimal", "quasi": ["age", "zip"], "rest": "drop"}
    engine(any_spark).anonymize(source, into=f"{spark_schema}.safe", **asked)
    (plan,) = plans
    # Two maps, the classes of the maps' labels, and the labels of the classes.
    assert plan.count("BroadcastHashJoin") == 4
    assert "SortMergeJoin" not in plan and "ShuffledHashJoin" not in plan
    released = any_spark.table(f"{spark_schema}.safe").toArrow()
    assert multiset(released) == by_duckdb(people(), **asked)


def test_errors_have_no_words_of_spark(any_spark: Any, spark_schema: str, capfd: Any) -> None:
    with pytest.raises(la.ConfigError) as missing:
        engine(any_spark).check(f"{spark_schema}.nothing", k=2, quasi=["age"])
    assert missing.value.code == "no-table"
    database = Spark(any_spark)
    with pytest.raises(EngineError) as failed:
        database.fetch_few("SELECT CAST(zip AS INTEGER) AS z FROM (SELECT 'SECRET' AS zip) AS t")
    assert failed.value.sqlstate == "CAST_INVALID_INPUT"
    # In the middle of a stream, which the library reads: the error is that of the engine.
    any_spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW broken AS SELECT id AS age, CAST(CASE WHEN id < 990 "
        "THEN '1' ELSE 'SECRET' END AS INT) AS zip FROM range(0, 1000, 1, 4)"
    ).collect()
    with pytest.raises(EngineError) as failed:
        engine(any_spark).check("broken", k=2, quasi=["age", "zip"])
    any_spark.sql("DROP VIEW broken").collect()
    assert "SECRET" not in str(failed.value) + "".join(capfd.readouterr())


def test_names_and_types_are_quoted(any_spark: Any, spark_schema: str) -> None:
    assert _ticked(["a.b", "c`d"]) == "`a.b`.`c``d`"
    table = pa.table(
        {
            "a `b`.c": [1, 1, 2, 2] * 5,
            "order": [{"x y": [1, None], "z": "q"}] * 20,
            "select": ["1"] * 20,
        }
    )
    frame = any_spark.createDataFrame(table)
    assert _type(frame.schema["order"].dataType) == "STRUCT<`x y`: ARRAY<bigint>, `z`: string>"
    frame.write.saveAsTable(f"{spark_schema}.people")
    asked: dict[str, Any] = {"k": 2, "quasi": ["a `b`.c"], "keep": ["order", "select"]}
    engine(any_spark).anonymize(
        f"{spark_schema}.people",
        into=f"{spark_schema}.odd_name",
        seed=1,
        algorithm="mondrian",
        **asked,
    )
    released = any_spark.table(f"{spark_schema}.odd_name").toArrow()
    assert released.column_names == ["a `b`.c", "order", "select"]
    assert released.column("order").to_pylist() == table.column("order").to_pylist()


def test_a_plan_is_sent_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table(
        {
            "tuple": pa.array(range(1000), pa.uint32()),
            "p1": pa.array(["[20-29]", None] * 500).dictionary_encode(),
            "p2": pa.array([1000] * 1000, pa.timestamp("ns")),
            "suppressed": [False] * 1000,
        }
    )
    schema = _spark._plain_schema(table.schema)
    assert schema.types == [pa.int64(), pa.string(), pa.timestamp("us"), pa.bool_()]
    monkeypatch.setattr(_spark, "SLICE_BYTES", 4000)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=30))
    assert len(list(_spark._slices(reader, schema))) > 3
    for size in (30, 1000):
        reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(size))
        slices = list(_spark._slices(reader, schema))
        assert all(part.nbytes <= 5000 for part in slices)
        assert pa.concat_tables(slices).equals(table.cast(schema))


KILLED = """
import os, signal, sys
from pyspark.sql import SparkSession
from lookalike.engine import engine
sys.path.insert(0, {tests!r})
from test_spark import ASKED, at_step
session = SparkSession.builder.remote({address!r}).getOrCreate()
die = at_step({step!r}, lambda: os.kill(os.getpid(), signal.SIGKILL))
engine(session).anonymize({source!r}, into={target!r}, progress=die, **ASKED)
"""


def test_a_client_that_is_killed_publishes_nothing(
    spark_connect: Any, any_spark: Any, spark_schema: str, source: str
) -> None:
    target = f"{spark_schema}.safe"
    address = f"sc://{spark_connect.client._builder.endpoint}"
    tests = os.path.dirname(__file__)
    for step in STEPS:
        program = KILLED.format(
            tests=tests, address=address, step=step, source=source, target=target
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=120)
        assert done.returncode == -signal.SIGKILL, done.stderr[-500:]
        assert not spark_connect.catalog.tableExists(target), step
    assert left_in(spark_connect, spark_schema)  # of the last run: each removed the rest before it
    assert all(name.count("_") == 3 for name in left_in(spark_connect, spark_schema))
    assert len({name[:31] for name in left_in(spark_connect, spark_schema)}) == 1
    engine(spark_connect).anonymize(source, into=target, **ASKED)
    assert left_in(spark_connect, spark_schema) == ["safe"]


LOCAL = """
import os, signal, sys
from pyspark.sql import SparkSession
from lookalike.engine import engine
sys.path.insert(0, {tests!r})
from test_spark import ASKED, at_step, people
session = SparkSession.builder.master("local[2]").getOrCreate()
if not session.catalog.tableExists("people"):
    session.createDataFrame(people()).write.saveAsTable("people")
die = at_step({step!r}, lambda: os.kill(os.getpid(), signal.SIGKILL))
engine(session).anonymize("people", into="safe", progress=die, **ASKED)
"""


def test_a_local_spark_that_is_killed_publishes_nothing(tmp_path: Path) -> None:
    """With a catalog on disk, the next run removes what a driver left that died with its JVM."""
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("no java; get it with: apt-get install openjdk-17-jre-headless")
    metastore = "jdbc:derby:;databaseName=metastore;create=true"
    settings = {
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
    }
    submitted = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    environment = os.environ | {
        "PYSPARK_SUBMIT_ARGS": f"{submitted} pyspark-shell",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    left = {}
    for step, code in (("publish", -signal.SIGKILL), ("no step", 0)):
        program = LOCAL.format(tests=os.path.dirname(__file__), step=step)
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            timeout=200,
        )
        assert done.returncode == code, done.stderr[-2000:]
        left[step] = sorted(os.listdir(tmp_path / "warehouse"))
    assert "safe" not in left["publish"]
    assert any(name.endswith("_release") for name in left["publish"])
    assert left["no step"] == ["people", "safe"]
