"""What only PostgreSQL has: transactions of the caller, privileges, types, views, lost clients."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import Case

import lookalike
from lookalike.engine import EngineError, _sql, engine
from lookalike.engine._postgres import Postgres

SECRET = "the-secret-word"


@pytest.fixture
def cursor(postgres_address: str) -> Iterator[Any]:
    from adbc_driver_postgresql import dbapi  # type: ignore[import-untyped]

    with dbapi.connect(postgres_address, autocommit=True) as other, other.cursor() as made:
        yield made


def filled(cursor: Any, schema: str, select: str = "20 + i % 9 AS age, i % 4 AS kind") -> None:
    rows = f"SELECT {select} FROM generate_series(1, 180) i"
    cursor.execute(f"CREATE TABLE {schema}.people AS {rows}")


ASKED: dict[str, Any] = {"k": 5, "quasi": ["age"], "keep": "kind", "rest": "drop", "seed": 7}


def run(at: Any, schema: str, **changes: Any) -> Any:
    asked = {"into": f"{schema}.safe"} | ASKED | changes
    return engine(at).anonymize(f"{schema}.people", **asked)


def code_of(at: Any, schema: str, **changes: Any) -> str:
    with pytest.raises(lookalike.LookalikeError) as caught:
        run(at, schema, **changes)
    return caught.value.code


def test_a_numeric_is_one_value_in_all_its_spellings(
    postgres_address: str, postgres_schema: str, cursor: Any
) -> None:
    """1.0 and 1.00 are equal to PostgreSQL, and two texts."""
    cells = "(ARRAY[1.0, 1.00, 2.5, 2.50, 3, NULL])[1 + i % 6] AS age, i % 4 AS kind"
    filled(cursor, postgres_schema, cells)
    made = run(postgres_address, postgres_schema, k=50)
    assert (made.rows, made.verdict.holds) == (180, True)
    cursor.execute(f"SELECT age, count(*) AS n FROM {postgres_schema}.safe GROUP BY age")
    found = {row["age"]: row["n"] for row in cursor.fetch_arrow_table().to_pylist()}
    assert sum(found.values()) == 180
    assert min(found.values()) >= 50


def test_types_that_go_as_text(postgres_address: str, postgres_schema: str, cursor: Any) -> None:
    cursor.execute(f"CREATE TYPE {postgres_schema}.size AS ENUM ('s', 'm')")
    cells = (
        "('a' || i % 3)::char(6) AS age, ('10.0.0.' || i % 3)::inet AS net, i % 4 AS kind, "
        f"(ARRAY['s', 'm'])[1 + i % 2]::{postgres_schema}.size AS size, "
        "('{\"a\": ' || i % 3 || '}')::json AS j, (i % 3)::money AS m, ARRAY[i % 2] AS list, "
        "md5((i % 3)::text)::uuid AS u, '\\x00ff'::bytea AS b, (i % 2) * interval '1 day' AS gap, "
        "make_time(i % 3, 0, 0) AS hour, 'NaN'::float8 AS f, 0.1::float4 AS g"
    )
    filled(cursor, postgres_schema, cells)
    quasi = ["age", "net", "size", "u", "hour", "m"]
    keep = ["j", "list", "b", "gap", "f", "g"]
    made = run(
        postgres_address, postgres_schema, quasi=quasi, keep=keep, accept_dependent=keep,
        sensitive={"kind": {"l": 2, "dependent": True}},
    )  # fmt: skip
    assert made.rows == 180
    cursor.execute(
        "SELECT attname::text AS name, format_type(atttypid, atttypmod) AS kind FROM pg_attribute "
        f"WHERE attrelid = '{postgres_schema}.safe'::regclass AND attnum > 0"
    )
    kinds = {row["name"]: row["kind"] for row in cursor.fetch_arrow_table().to_pylist()}
    assert {kinds[name] for name in quasi} == {"text"}
    assert [kinds[name] for name in keep] == [
        "json", "integer[]", "bytea", "interval", "double precision", "real"
    ]  # fmt: skip


def test_a_sensitive_column_without_equality(
    postgres_address: str, postgres_schema: str, cursor: Any
) -> None:
    """json has no equality in PostgreSQL: it is counted by its text."""
    filled(cursor, postgres_schema, "20 + i % 9 AS age, ('[' || i % 4 || ']')::json AS kind")
    made = run(postgres_address, postgres_schema, keep=None, sensitive={"kind": {"l": 2}})
    assert made.verdict.holds


def test_the_join_is_no_nested_loop(
    postgres_address: str, postgres_schema: str, cursor: Any
) -> None:
    cursor.execute(f"CREATE TABLE {postgres_schema}.one AS SELECT i AS a, i::text AS b, "
                   "NULL::date AS c FROM generate_series(1, 3000) i")  # fmt: skip
    database = Postgres(postgres_address)
    same = Postgres.dialect.same
    kinds: dict[str, _sql.Kind] = {"a": "number", "b": "text", "c": "date"}
    on = " AND ".join(same(f"x.{name}", f"y.{name}", kind) for name, kind in kinds.items())
    table = f"{postgres_schema}.one"
    try:
        joined = f"SELECT count(*) AS n FROM {table} AS x JOIN {table} AS y ON {on}"
        assert _sql.rows_of(database, joined) == [(3000,)]
        database._cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
        database._cursor.execute(f"EXPLAIN {joined}")
        plan = str(database._cursor.fetch_arrow_table().to_pylist())
    finally:
        database.end()
    assert "Hash Join" in plan or "Merge Join" in plan
    assert "Nested Loop" not in plan


def test_a_connection_of_the_caller(
    postgres_address: str, postgres_schema: str, cursor: Any
) -> None:
    from adbc_driver_postgresql import dbapi

    filled(cursor, postgres_schema)
    for autocommit in (False, True):
        with dbapi.connect(postgres_address, autocommit=autocommit) as mine:
            run(mine, postgres_schema, into=f"{postgres_schema}.safe_{autocommit}")
            assert not engine(mine).check(f"{postgres_schema}.people", k=50, quasi=["age"]).holds
            with mine.cursor() as own:
                # It is usable, has no tables of the run, and the settings that it had.
                own.execute(
                    "SELECT count(*) FROM pg_class WHERE relname LIKE 'lookalike%' UNION ALL "
                    "SELECT count(*) FROM pg_settings WHERE name = 'enable_nestloop' "
                    "AND setting = 'off'"
                )
                assert own.fetchall() == [(0,), (0,)]
                own.execute(f"CREATE TABLE {postgres_schema}.mine AS SELECT 1 AS a")
                if autocommit:
                    cursor.execute(f"SELECT a FROM {postgres_schema}.mine")
                    assert cursor.fetchall() == [(1,)]
                    continue
                # Work that is not committed: refused, and still there.
                assert code_of(mine, postgres_schema) == "in-transaction"
                own.execute(f"SELECT a FROM {postgres_schema}.mine")
                assert own.fetchall() == [(1,)]
                mine.rollback()
                # A transaction that has failed.
                with pytest.raises(dbapi.Error):
                    own.execute("SELECT nobody")
                assert code_of(mine, postgres_schema) == "in-transaction"
                mine.rollback()
    mine = dbapi.connect(postgres_address)
    mine.close()
    assert code_of(mine, postgres_schema) == "no-connection"


def test_targets(postgres_address: str, postgres_schema: str, cursor: Any) -> None:
    filled(cursor, postgres_schema)
    cursor.execute(f"CREATE VIEW {postgres_schema}.safe AS SELECT 1 AS a")
    assert code_of(postgres_address, postgres_schema) == "table-exists"
    assert code_of(postgres_address, postgres_schema, replace=True) == "bad-target"
    assert code_of(postgres_address, postgres_schema, into="nowhere.safe") == "no-table"
    assert code_of(postgres_address, postgres_schema, into=f"{postgres_schema}.{'x' * 64}") == (
        "bad-target"
    )
    cursor.execute(f"DROP VIEW {postgres_schema}.safe")
    cursor.execute(f"CREATE TABLE {postgres_schema}.safe AS SELECT 1 AS a")
    cursor.execute(f"CREATE VIEW {postgres_schema}.over AS SELECT * FROM {postgres_schema}.safe")
    assert code_of(postgres_address, postgres_schema, replace=True) == "bad-target"
    # The source in another spelling.
    address = f"{postgres_address}?options=-csearch_path%3D{postgres_schema}"
    whole = f"{postgres_schema}.people"
    for into, table in [("people", whole), (whole, "people")]:
        with pytest.raises(lookalike.ConfigError) as caught:
            engine(address).anonymize(table, into=into, replace=True, **ASKED)
        assert caught.value.code == "target-is-source"
    # A view as a source, and a target without a schema.
    cursor.execute(f"CREATE VIEW {postgres_schema}.v AS SELECT * FROM {postgres_schema}.people")
    engine(address).anonymize("v", into="made", **ASKED)
    cursor.execute(f"SELECT count(*) FROM {postgres_schema}.made")
    assert cursor.fetchall() == [(180,)]


def test_privileges(postgres_address: str, postgres_schema: str, cursor: Any) -> None:
    filled(cursor, postgres_schema)
    user = f"u{postgres_schema}"
    cursor.execute(f"CREATE ROLE {user} LOGIN")
    address = postgres_address.replace("//postgres@", f"//{user}@")
    try:
        assert code_of(address, postgres_schema) == "engine-denied"
        cursor.execute(f"GRANT USAGE ON SCHEMA {postgres_schema} TO {user}")
        cursor.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {postgres_schema} TO {user}")
        assert code_of(address, postgres_schema) == "engine-denied"
        cursor.execute(f"GRANT CREATE ON SCHEMA {postgres_schema} TO {user}")
        cursor.execute("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
        try:
            assert code_of(address, postgres_schema) == "engine-denied"
        finally:
            cursor.execute("GRANT TEMPORARY ON DATABASE postgres TO PUBLIC")
        assert run(address, postgres_schema).rows == 180
    finally:
        cursor.execute(f"DROP OWNED BY {user} CASCADE")
        cursor.execute(f"DROP ROLE {user}")


def test_errors_have_no_cells_and_no_password(
    postgres_address: str, postgres_schema: str, cursor: Any
) -> None:
    filled(cursor, postgres_schema)
    cursor.execute(
        f"CREATE VIEW {postgres_schema}.bad AS SELECT age, CASE WHEN age > 0 THEN "
        f"('{SECRET}' || age)::text::int END AS kind FROM {postgres_schema}.people"
    )
    for quasi in (["age"], ["age", "kind"]):
        asked = ASKED | {"quasi": quasi, "keep": [name for name in ["kind"] if name not in quasi]}
        with pytest.raises(EngineError) as caught:
            engine(postgres_address).anonymize(
                f"{postgres_schema}.bad", into=f"{postgres_schema}.safe", **asked
            )
        assert caught.value.sqlstate == "22P02"
        assert SECRET not in repr(caught.value) + str(caught.value.__cause__)
    # A stream that fails.
    with pytest.raises(lookalike.LookalikeError) as failed:
        engine(postgres_address).check(f"{postgres_schema}.bad", k=2, quasi=["age", "kind"])
    error: BaseException | None = failed.value
    while error is not None:
        assert SECRET not in repr(error)
        error = error.__cause__ or error.__context__
    host = postgres_address.partition("@")[2]
    for address, words in [
        (f"postgresql://u:{SECRET}@127.0.0.1:1/x", "nothing listens"),
        (f"postgresql://nobody:{SECRET}@{host}", "no such user"),
        (f"postgresql://postgres:{SECRET}@{host}x", "no such database"),
        (f"postgresql://u:{SECRET} %zz@{host}", "address"),
    ]:
        at = engine(address)
        with pytest.raises(lookalike.ConfigError) as refused:
            at.check("people", **ASKED)
        assert refused.value.code == "no-connection"
        assert words in str(refused.value)
        shown = repr(at) + repr(refused.value) + repr(at._database())
        assert SECRET not in shown + str(refused.value.__context__)


def test_an_interrupt(postgres_address: str, postgres_schema: str, cursor: Any) -> None:
    filled(cursor, postgres_schema)
    cursor.execute(
        f"CREATE VIEW {postgres_schema}.slow AS SELECT people.* FROM {postgres_schema}.people, "
        "(SELECT pg_sleep(20)) AS a"
    )
    at = Postgres(postgres_address)
    slow = f"SELECT count(*) AS n FROM {postgres_schema}.slow"
    for waiting in (
        lambda: engine(postgres_address).anonymize(
            f"{postgres_schema}.slow", into=f"{postgres_schema}.safe", **ASKED
        ),
        lambda: _sql.rows_of(at, slow),
    ):
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            waiting()
        assert time.monotonic() - begun < 10
    at.end()
    cursor.execute("SELECT count(*) FROM pg_class WHERE relname LIKE 'lookalike%'")
    assert cursor.fetchall() == [(0,)]


KILLED = """
import os, signal, sys
from lookalike.engine import engine

def kill(progress):
    if progress.stage == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)

engine(sys.argv[1]).anonymize(
    sys.argv[2] + ".people", into=sys.argv[2] + ".safe", k=5, quasi=["age"], keep="kind",
    rest="drop", seed=7, replace=True, progress=kill,
)
"""


@pytest.mark.parametrize("step", ["count", "plan", "apply", "verify", "publish"])
def test_a_killed_client_leaves_nothing(
    postgres_case: Case, postgres_address: str, postgres_schema: str, cursor: Any, step: str
) -> None:
    filled(cursor, postgres_schema)
    cursor.execute(f"CREATE TABLE {postgres_schema}.safe AS SELECT 1 AS a")
    made = subprocess.run(
        [sys.executable, "-c", KILLED, postgres_address, postgres_schema, step],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
    )
    assert made.returncode == -signal.SIGKILL, made.stderr.decode()
    deadline = time.monotonic() + 10
    while postgres_case.tables() != {"people", "safe"} and time.monotonic() < deadline:
        time.sleep(0.1)
    assert postgres_case.tables() == {"people", "safe"}
    cursor.execute(f"SELECT a FROM {postgres_schema}.safe")
    assert cursor.fetchall() == [(1,)]


def test_two_runs_into_one_name(postgres_address: str, postgres_schema: str, cursor: Any) -> None:
    """The second one that ends is refused."""
    filled(cursor, postgres_schema)

    def other(progress: Any) -> None:
        if progress.stage == "verify":
            run(postgres_address, postgres_schema)

    assert code_of(postgres_address, postgres_schema, progress=other) == "table-exists"


def test_one_snapshot(postgres_address: str, postgres_schema: str, cursor: Any) -> None:
    """Rows that come while the run goes on are not in the release, and no error."""
    filled(cursor, postgres_schema)

    def insert(progress: Any) -> None:
        if progress.stage in ("plan", "apply", "verify"):
            cursor.execute(f"INSERT INTO {postgres_schema}.people VALUES (99, 1)")

    assert run(postgres_address, postgres_schema, progress=insert).rows == 180


def test_the_release_is_analyzed(postgres_address: str, postgres_schema: str, cursor: Any) -> None:
    filled(cursor, postgres_schema)
    run(postgres_address, postgres_schema)
    cursor.execute(
        f"SELECT reltuples::int8 FROM pg_class WHERE oid = '{postgres_schema}.safe'::regclass"
    )
    assert cursor.fetchall() == [(180,)]


def test_only_postgres() -> None:
    with pytest.raises(lookalike.ConfigError) as caught:
        engine("mysql://u@host/x")
    assert caught.value.code == "no-engine"


def test_the_source_is_never_replaced(
    postgres_address: str, postgres_schema: str, cursor: Any
) -> None:
    """Neither a partition of the source, nor the table that the source is a part of."""
    people = f"{postgres_schema}.people"
    cursor.execute(f"CREATE TABLE {people} (age int, kind int) PARTITION BY LIST (kind)")
    for kind in range(2):
        part = f"CREATE TABLE {people}_{kind} PARTITION OF {people} FOR VALUES IN ({kind})"
        cursor.execute(part)
    rows = "SELECT 20 + i % 9, i / 9 % 2 FROM generate_series(1, 180) i"
    cursor.execute(f"INSERT INTO {people} {rows}")
    cursor.execute(f"CREATE VIEW {postgres_schema}.v AS SELECT * FROM {people}")
    cursor.execute(f"CREATE TABLE {postgres_schema}.plain AS SELECT * FROM {people}")
    cursor.execute(f"CREATE VIEW {postgres_schema}.w AS SELECT * FROM {postgres_schema}.plain")
    for source, into in [
        ("people", "people_1"),
        ("people_1", "people"),
        ("v", "people_1"),
        ("v", "people"),
        ("w", "plain"),
    ]:
        with pytest.raises(lookalike.ConfigError) as caught:
            engine(postgres_address).anonymize(
                f"{postgres_schema}.{source}", into=f"{postgres_schema}.{into}", replace=True,
                **(ASKED | {"keep": None}),
            )  # fmt: skip
        assert caught.value.code == "bad-target"
    for table in ("people", "plain", "v", "w"):
        cursor.execute(f"SELECT count(*) FROM {postgres_schema}.{table}")
        assert cursor.fetchall() == [(180,)]
