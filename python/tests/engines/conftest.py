"""The engines that the tests use: DuckDB, PostgreSQL, Spark and Spark Connect.

Classic Spark and Spark Connect cannot live in one process: a classic session forbids a remote
one, and a remote session is silently returned to who asks for a classic one. With
LOOKALIKE_SPARK=connect the tests that use `spark_connect` or `any_spark` run, without it all but
those that use `spark_connect`; tests/engines/check does both. An engine that cannot be had is a
skipped test that says how to get it, and a failed one with CI=true.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
CONNECT = os.environ.get("LOOKALIKE_SPARK") == "connect"
# Two cores, and a task may fail three times before its job does: tests kill tasks.
MASTER = "local[2,4]"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps the tests of this process: see the head of the file."""
    here = [item for item in items if _runs_here(set(getattr(item, "fixturenames", ())))]
    config.hook.pytest_deselected(items=[item for item in items if item not in here])
    items[:] = here


def _runs_here(fixtures: set[str]) -> bool:
    if CONNECT:
        return not fixtures.isdisjoint({"spark_connect", "any_spark"})
    return "spark_connect" not in fixtures


@pytest.fixture(autouse=True, scope="session")
def ctrl_c() -> None:
    """Ctrl-C raises, also where the tests run in the background of a shell, which ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def unavailable(why: str, how: str) -> NoReturn:
    """Skips a test whose engine cannot be had; with CI=true the test fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{why}; nothing may be skipped in CI", pytrace=False)
    pytest.skip(f"{why}; get it with: {how}")


@pytest.fixture
def duckdb_connection(tmp_path: Path) -> Iterator[Any]:
    """A connection to a database file of the test's own."""
    try:
        import duckdb
    except ImportError:
        unavailable("no duckdb", "tests/engines/venv")
    connection = duckdb.connect(str(tmp_path / "engine.duckdb"))
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def postgres_address() -> Iterator[str]:
    """The server of LOOKALIKE_POSTGRES, or a cluster that is removed after the tests."""
    given = os.environ.get("LOOKALIKE_POSTGRES")
    if given:
        yield given
        return
    program = REPOSITORY / "tests" / "engines" / "postgres"
    # In /tmp, not in pytest's folder: the server is run by another user than root.
    folder = tempfile.mkdtemp(prefix="lookalike-postgres-", dir="/tmp")
    try:
        started = subprocess.run([program, "start", folder], capture_output=True, text=True)
        if started.returncode == 3:
            unavailable("no PostgreSQL server", "apt-get install postgresql")
        assert started.returncode == 0, started.stderr
        yield started.stdout.strip()
    finally:
        subprocess.run([program, "stop", folder], check=True)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_schema(postgres_address: str) -> Iterator[str]:
    """The name of a schema of the test's own, dropped after it."""
    try:
        from adbc_driver_postgresql import dbapi  # type: ignore[import-untyped]
    except ImportError:
        unavailable("no adbc-driver-postgresql", "tests/engines/venv")
    name = f"test_{uuid.uuid4().hex}"
    with (
        dbapi.connect(postgres_address, autocommit=True) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(f'CREATE SCHEMA "{name}"')
        yield name
        # A test that failed may have left a transaction open, which would make DROP wait for ever.
        cursor.execute("SET lock_timeout = '10s'")
        cursor.execute(f'DROP SCHEMA "{name}" CASCADE')


def _settings(warehouse: Path) -> dict[str, str]:
    return {
        "spark.sql.warehouse.dir": str(warehouse),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": "UTC",
    }


def _start_spark(warehouse: Path) -> Any:
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        unavailable("no java", "apt-get install openjdk-17-jre-headless")
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        unavailable("no pyspark", "tests/engines/venv")
    # Workers are started with the first python3 of PATH otherwise, which lacks pyarrow.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    # The builder's settings come too late for the server of Spark Connect and for the heap.
    settings = [f"--conf {name}={value}" for name, value in _settings(warehouse).items()]
    os.environ["PYSPARK_SUBMIT_ARGS"] = " ".join([*settings, "pyspark-shell"])
    builder = SparkSession.builder
    return (builder.remote(MASTER) if CONNECT else builder.master(MASTER)).getOrCreate()


@pytest.fixture(scope="session")
def _session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    session = _start_spark(tmp_path_factory.mktemp("spark") / "warehouse")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def any_spark(_session: Any) -> Any:
    """The Spark of this process, classic or Connect: the test runs with both."""
    return _session


@pytest.fixture(scope="session")
def spark(_session: Any) -> Any:
    """A classic session. Its tables are in a temporary folder, as those of Connect."""
    return _session


@pytest.fixture(scope="session")
def spark_connect(_session: Any) -> Any:
    """A session of Spark Connect."""
    return _session


@pytest.fixture
def spark_schema(_session: Any) -> Iterator[str]:
    """The name of a schema of the test's own, dropped after it."""
    name = f"test_{uuid.uuid4().hex}"
    _session.sql(f"CREATE SCHEMA {name}").collect()
    yield name
    _session.sql(f"DROP SCHEMA {name} CASCADE").collect()


@dataclass(frozen=True)
class Case:
    """An engine with a place for tables, as the tests of the body see it."""

    name: str
    at: Any
    """What `lookalike.engine.engine` takes."""
    prefix: str
    """What stands before the name of a table."""
    create: Callable[[str, Any], None]
    """Makes a table of a pyarrow table; its name has no prefix."""
    read: Callable[[str], Any]
    """A table as a pyarrow table."""
    tables: Callable[[], set[str]]
    """The names of all tables and views that another connection sees, without prefix."""
    is_open: Callable[[], bool]
    """True where another connection can look while a run goes on."""


@pytest.fixture(params=["duckdb", "postgres"])
def engine_case(request: pytest.FixtureRequest) -> Case:
    """Each engine in turn; the tests of the body run on all."""
    case: Case = request.getfixturevalue(f"{request.param}_case")
    return case


@pytest.fixture
def duckdb_case(duckdb_connection: Any) -> Case:
    def create(name: str, table: Any) -> None:
        duckdb_connection.register("lookalike_test_in", table)
        duckdb_connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM lookalike_test_in')
        duckdb_connection.unregister("lookalike_test_in")

    def read(name: str) -> Any:
        return duckdb_connection.sql(f'SELECT * FROM "{name}"').to_arrow_table()

    def tables() -> set[str]:
        with duckdb_connection.cursor() as other:
            found = other.execute("SELECT table_name FROM information_schema.tables").fetchall()
        return {name for (name,) in found}

    return Case("duckdb", duckdb_connection, "", create, read, tables, lambda: True)


@pytest.fixture
def postgres_case(postgres_address: str, postgres_schema: str) -> Iterator[Case]:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres_address, autocommit=True) as other, other.cursor() as cursor:

        def create(name: str, table: Any) -> None:
            cursor.adbc_ingest(name, table, mode="create", db_schema_name=postgres_schema)

        def read(name: str) -> Any:
            cursor.execute(f'SELECT * FROM "{postgres_schema}"."{name}"')
            return cursor.fetch_arrow_table()

        def tables() -> set[str]:
            cursor.execute(
                "SELECT relname::text AS name FROM pg_class JOIN pg_namespace "
                "ON pg_namespace.oid = relnamespace WHERE relkind IN ('r', 'v', 'p') "
                "AND (nspname = $1::text OR relname LIKE 'lookalike%')",
                (postgres_schema,),
            )
            return {row["name"] for row in cursor.fetch_arrow_table().to_pylist()}

        prefix = f"{postgres_schema}."
        yield Case("postgres", postgres_address, prefix, create, read, tables, lambda: True)
