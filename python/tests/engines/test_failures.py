"""Failures inside statements and streams: nothing stays, and no cell is in an error."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from conftest import Case

import lookalike
from lookalike.engine import EngineError, _steps, engine

CANARY = "SECRET-ANNA"
HEAVY = "SELECT count(*) AS z FROM range(3000000) a(i), range(3000000) b(j) WHERE i * j % 7 = 3"
"""A query that takes DuckDB very long."""
ASKED: dict[str, Any] = {"k": 5, "quasi": ["age"], "keep": "kind", "rest": "drop", "seed": 7}


def people() -> pa.Table:
    return pa.table({"age": [20 + i % 9 for i in range(180)], "kind": [i % 4 for i in range(180)]})


def run_sql(case: Case, sql: str) -> None:
    """A statement with ``{s}`` for what stands before the name of a table."""
    if case.name == "duckdb":
        case.at.execute(sql.format(s=""))
        return
    from adbc_driver_postgresql import dbapi  # type: ignore[import-untyped]

    with dbapi.connect(case.at, autocommit=True) as other, other.cursor() as cursor:
        cursor.execute(sql.format(s=case.prefix))


def chain(error: BaseException) -> list[BaseException]:
    """An exception with all that it was raised from or while."""
    found: list[BaseException] = []
    rest: list[BaseException | None] = [error]
    while rest:
        one = rest.pop()
        if one is not None and one not in found:
            found.append(one)
            rest += [one.__cause__, one.__context__]
    return found


@pytest.mark.parametrize("of", ["quasi", "keep", "sensitive"])
def test_no_cell_in_an_error(
    engine_case: Case,
    of: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A cast of a view fails at one row."""
    caplog.set_level(logging.DEBUG)
    engine_case.create("people", people())
    run_sql(
        engine_case,
        "CREATE VIEW {s}bad AS SELECT age, CAST(CASE WHEN age = 25 AND kind = 3 THEN "
        f"'{CANARY}' ELSE CAST(kind AS VARCHAR) END AS INTEGER) AS kind FROM {{s}}people",
    )
    bad, safe = f"{engine_case.prefix}bad", f"{engine_case.prefix}safe"
    asked: dict[str, Any] = {"k": 5, "quasi": ["age"], "seed": 7}
    match of:
        case "quasi":
            asked["quasi"] = ["age", "kind"]
        case "keep":
            asked["keep"] = "kind"
        case _:
            asked["sensitive"] = {"kind": {"l": 2}}
    at = engine(engine_case.at)
    calls: list[Callable[[], object]] = [lambda: at.anonymize(bad, into=safe, **asked)]
    if of != "keep":
        calls += [lambda: at.check(bad, **asked), lambda: at.verify(bad, **asked)]
        calls.append(lambda: at.report(bad, bad, **asked))
    for call in calls:
        with pytest.raises(EngineError) as caught:
            call()
        for error in chain(caught.value):
            assert isinstance(error, lookalike.LookalikeError)
            words = "".join(traceback.format_exception_only(error))
            assert CANARY not in words + repr(error) + repr(error.__dict__)
    assert engine_case.tables() == {"people", "bad"}
    assert CANARY not in caplog.text + "".join(capfd.readouterr())


def test_no_cell_of_a_csv_file_in_an_error(duckdb_case: Case, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    rows = "".join(f"{20 + i % 5},{i % 3}\n" for i in range(25_000))
    path.write_text(f"age,kind\n{rows}{CANARY},3,4\n")
    with pytest.raises(lookalike.LookalikeError) as caught:
        engine(duckdb_case.at).anonymize(str(path), into="safe", **ASKED)
    assert all(CANARY not in repr(error) for error in chain(caught.value))


class Stop(Exception):
    """A failure that a test plants."""


@pytest.mark.parametrize("kind", [Stop, KeyboardInterrupt])
@pytest.mark.parametrize("at_batch", [0, 1])
def test_a_failure_inside_the_stream_of_tuples(
    engine_case: Case,
    kind: type[BaseException],
    at_batch: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first error is raised, nothing stays, and the caller's connection is usable."""
    from lookalike.engine import _duckdb

    monkeypatch.setattr(_duckdb, "BATCH", 2048)
    rows = 5000
    table = pa.table({"age": list(range(rows)), "kind": [i % 4 for i in range(rows)]})
    engine_case.create("people", table)
    if engine_case.name == "duckdb":
        mine = engine_case.at
    else:
        from adbc_driver_postgresql import dbapi

        mine = dbapi.connect(engine_case.at)
    whole = _steps._without_ids

    def failing(counts: Any, ids: list[Any]) -> Any:
        reader = whole(counts, ids)

        def batches() -> Any:
            for at, batch in enumerate(reader):
                if at >= at_batch:
                    raise kind
                yield batch.slice(0, 10)
            raise kind

        return pa.RecordBatchReader.from_batches(reader.schema, batches())

    asked = ASKED | {"algorithm": "mondrian", "accept_dependent": "kind"}
    source, safe = f"{engine_case.prefix}people", f"{engine_case.prefix}safe"
    with monkeypatch.context() as patch:
        patch.setattr(_steps, "_without_ids", failing)
        with pytest.raises(kind):
            engine(mine).anonymize(source, into=safe, **asked)
    assert engine_case.tables() == {"people"}
    with mine.cursor() as cursor:
        cursor.execute(f"SELECT count(*) AS n FROM {source}")
        assert cursor.fetchall() == [(rows,)]
    if engine_case.name == "duckdb":
        mine.execute("BEGIN TRANSACTION")  # none is open
        mine.execute("ROLLBACK")
    else:
        mine.rollback()
    assert engine(mine).anonymize(source, into=safe, **asked).rows == rows
    if engine_case.name != "duckdb":
        mine.close()


def slow(case: Case) -> str:
    """A view that a query takes very long for."""
    if case.name == "duckdb":
        rows = "range(3000000) a(i), range(3000000) b(j) WHERE i * j % 7 = 3"
        view = f"SELECT 20 + i % 9 AS age, j % 4 AS kind FROM {rows}"
    else:
        view = "SELECT p.* FROM {s}people AS p, (SELECT pg_sleep(60) AS z) AS b"
    run_sql(case, f"CREATE VIEW {{s}}slow AS {view}")
    return f"{case.prefix}slow"


@pytest.mark.parametrize("call", ["anonymize", "check"])
def test_ctrl_c_in_a_statement(engine_case: Case, call: str) -> None:
    engine_case.create("people", people())
    source, at = slow(engine_case), engine(engine_case.at)
    before = signal.getsignal(signal.SIGINT)  # PySpark has one of its own, once it runs
    timer = threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        if call == "anonymize":
            at.anonymize(source, into=f"{engine_case.prefix}safe", **ASKED)
        else:
            at.check(source, k=5, quasi=["age"])
    assert time.monotonic() - begun < 10
    assert engine_case.tables() == {"people", "slow"}
    assert not at.check(f"{engine_case.prefix}people", k=50, quasi=["age"]).holds
    assert signal.getsignal(signal.SIGINT) is before


def test_a_statement_that_others_cancel(engine_case: Case) -> None:
    """It is an error, not Ctrl-C: a program may catch it."""
    engine_case.create("people", people())
    source = slow(engine_case)

    def cancel() -> None:
        if engine_case.name == "duckdb":
            engine_case.at.interrupt()
            return
        run_sql(
            engine_case,
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%\"slow\"%' "
            "AND pid <> pg_backend_pid()",
        )

    ended = threading.Event()

    def again() -> None:
        # On a busy machine the slow statement may not run yet at the first time.
        while not ended.wait(0.5):
            cancel()

    threading.Thread(target=again, daemon=True).start()
    try:
        with pytest.raises(EngineError) as caught:
            engine(engine_case.at).anonymize(source, into=f"{engine_case.prefix}safe", **ASKED)
    finally:
        ended.set()
    if engine_case.name == "duckdb":
        assert caught.value.engine_class == "InterruptException"
    else:
        assert caught.value.sqlstate == "57014"
    assert engine_case.tables() == {"people", "slow"}


def test_a_time_limit_of_the_server(postgres_case: Case) -> None:
    postgres_case.create("people", people())
    source = slow(postgres_case)
    at = engine(f"{postgres_case.at}?options=-cstatement_timeout%3D500")
    with pytest.raises(EngineError) as caught:
        at.anonymize(source, into=f"{postgres_case.prefix}safe", **ASKED)
    assert caught.value.sqlstate == "57014"


KILLED = """
import os, signal, sys, threading
from lookalike.engine import _duckdb, _postgres, _sql, engine

kind, at, prefix, heavy = sys.argv[1:]
released = _sql.released
_sql.released = lambda *of: f"SELECT a.* FROM ({released(*of)}) AS a CROSS JOIN ({heavy}) AS b"
database = _duckdb.DuckDB if kind == "duckdb" else _postgres.Postgres
name = "run" if kind == "duckdb" else "_run"
run = getattr(database, name)

def slowly(self, sql):
    is_it = "CREATE TABLE" in sql and "release" in sql
    if is_it:
        print("begin", flush=True)
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
    run(self, sql)
    if is_it:
        print("end", flush=True)

setattr(database, name, slowly)
if kind == "duckdb":
    import duckdb
    at = duckdb.connect(at)
engine(at).anonymize(
    prefix + "people", into=prefix + "safe", k=5, quasi=["age"], keep="kind", seed=7, replace=True
)
"""


def killed(*of: str) -> None:
    """Runs the program above, which is killed while it writes the release."""
    made = subprocess.run(
        [sys.executable, "-c", KILLED, *of],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
    )
    assert made.returncode == -signal.SIGKILL, made.stderr.decode()
    assert made.stdout == b"begin\n"


def test_a_client_killed_in_a_statement_of_duckdb(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = str(tmp_path / "killed.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 20 + i % 9 AS age, i % 4 AS kind FROM range(180) t(i)"
        )
        connection.execute("CREATE TABLE safe AS SELECT 1 AS a")
    killed("duckdb", path, "", HEAVY)
    with duckdb.connect(path) as connection:
        names = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        assert sorted(names) == [("people",), ("safe",)]
        assert connection.execute("SELECT a FROM safe").fetchall() == [(1,)]
        assert connection.execute("SELECT count(*) FROM people").fetchall() == [(180,)]
        engine(connection).anonymize("people", into="safe", replace=True, **ASKED)


def test_a_client_killed_in_a_statement_of_postgres(postgres_case: Case) -> None:
    postgres_case.create("people", people())
    postgres_case.create("safe", pa.table({"a": [1]}))
    killed("postgres", postgres_case.at, postgres_case.prefix, "SELECT pg_sleep(120) AS z")
    deadline = time.monotonic() + 10  # the server looks after its client every half second
    while is_running(postgres_case) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not is_running(postgres_case)
    assert postgres_case.tables() == {"people", "safe"}
    assert postgres_case.read("safe").to_pylist() == [{"a": 1}]
    source, safe = (f"{postgres_case.prefix}{name}" for name in ("people", "safe"))
    engine(postgres_case.at).anonymize(source, into=safe, replace=True, **ASKED)


def is_running(case: Case) -> bool:
    """True while the server works for the client that was killed."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(case.at) as other, other.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) AS n FROM pg_stat_activity WHERE query LIKE '%pg_sleep(120)%' "
            "AND state = 'active' AND pid <> pg_backend_pid()"
        )
        return bool(cursor.fetchall()[0][0])


def test_an_identifier_in_a_release_is_found(engine_case: Case) -> None:
    table = people().append_column("id", pa.array(range(180)))
    engine_case.create("people", table)
    source, safe = f"{engine_case.prefix}people", f"{engine_case.prefix}safe"
    at = engine(engine_case.at)
    asked: dict[str, Any] = {"k": 5, "quasi": ["age"], "keep": "kind"}
    at.anonymize(source, into=safe, identifiers=["id"], seed=7, **asked)
    assert at.verify(safe, identifiers=["id"], **asked).holds
    run_sql(
        engine_case,
        "CREATE TABLE {s}leaky AS SELECT *, row_number() OVER () AS id FROM {s}safe",
    )
    leaky = f"{engine_case.prefix}leaky"
    found = at.verify(leaky, identifiers=["id"], **asked)
    memory = lookalike.verify(engine_case.read("leaky"), identifiers=["id"], **asked)
    assert (found.holds, memory.holds) == (False, False)
    assert any("identifier `id`" in leak for leak in found.leaks)
    assert any("identifier `id`" in leak for leak in memory.leaks)
    assert not at.verify(leaky, source=source, identifiers=["id"], **asked).holds
    assert not at.verify(leaky, **asked).holds
