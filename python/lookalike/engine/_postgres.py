"""PostgreSQL by ADBC: one transaction of one snapshot, temporary tables, the release renamed."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

from .._errors import ConfigError, Exhausted, LookalikeError
from .._tables import needed
from . import _sql
from ._errors import (
    EngineError,
    each_without_words,
    no_table,
    taken,
    target_is_source,
    without_words,
)
from ._sql import Column, Dialect, Kind, Layout, Names, literal, quoted

_KINDS: dict[str, Kind] = {
    "int2": "number",
    "int4": "number",
    "int8": "number",
    "numeric": "number",
    "float4": "float",
    "float8": "float",
    "text": "text",
    "varchar": "text",
    "date": "date",
    "timestamp": "time",
    "timestamptz": "time",
    "bool": "boolean",
}
"""Types that are compared as what they are. All others are counted and joined as text: so is
char(n), whose text has no blanks at its end."""

_IN_PLACE: dict[Kind, str] = {
    "text": "''",
    "number": "'0'",
    "float": "'0'",
    "date": "'1970-01-01'",
    "time": "'1970-01-01'",
    "boolean": "'false'",
    "other": "''",
}
"""What stands for null where cells are compared; a literal without a type takes the cell's."""

_SETTINGS = {
    # Texts of cells are hashed: they must not depend on who runs it.
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    # The planner takes a join on many columns for one of few rows, and would run through the
    # whole plan for each row of the table.
    "enable_nestloop": "off",
    "enable_mergejoin": "off",  # it would sort the table by all columns of the join
}
_COPY = "adbc.postgresql.use_copy"
Made = TypeVar("Made")
_MEMORY = 64 << 10
"""Kilobytes of work_mem for one sort or hash table, where the server gives less."""


def _same(one: str, other: str, kind: Kind) -> str:
    # IS NOT DISTINCT FROM is no condition that PostgreSQL can hash or sort by.
    null = _IN_PLACE[kind]
    return (
        f"coalesce({one}, {null}) = coalesce({other}, {null}) "
        f"AND ({one} IS NULL) = ({other} IS NULL)"
    )


def _order_key(text: str) -> str:
    # Bytes, in the order of bytes. With its schema, the function is not taken for DuckDB's.
    return f"substr(pg_catalog.sha256(pg_catalog.convert_to({text}, 'UTF8')), 1, 8)"


def _checksum(texts: Sequence[str]) -> str:
    parts = [f"CAST(length({text}) AS VARCHAR) || ':' || {text}" for text in texts]
    return f'pg_catalog.hashtextextended(({" || ".join(parts)}) COLLATE "C", 0)'


def _text(name: str) -> str:
    return f'{name} COLLATE "C"'


def _is_finite(cell: str) -> str:
    return f"pg_catalog.isfinite({cell})"


def _number_text(cell: str) -> str:
    return f"CAST(pg_catalog.trim_scale({cell}) AS VARCHAR)"  # 1.0 is 1.00


DIALECT = Dialect(
    "postgres",
    _same,
    _order_key,
    _checksum,
    text=_text,
    is_finite=_is_finite,
    number_text=_number_text,
    longest_name=63,
)


class Postgres:
    """A connection to PostgreSQL, for one run; opened by the first statement."""

    dialect = DIALECT

    def __init__(self, at: Any) -> None:
        self._address: str | None = at if isinstance(at, str) else None
        self._connection: Any = None if isinstance(at, str) else at
        self._cursor: Any = None
        self._is_open = False
        self._was_autocommit = False
        self._schema: str | None = None
        self._staged: list[str] = []

    def __repr__(self) -> str:
        return "Postgres()"  # an address may have a password in it

    # what is read

    def source(self, name: str) -> str:
        """A table or view, as SQL."""
        return _sql.table_name(name)

    def columns(self, source: str) -> list[Column]:
        """The columns of a table."""
        schema = self._fetch(f"SELECT * FROM {source} LIMIT 0").schema
        return [Column(field.name, _kind(field)) for field in schema]

    def fetch(self, sql: str) -> Any:
        """The rows of a query as Arrow data; they are read before the next statement."""
        return self._plain(self._fetch(_sql.translated(sql, "postgres")))

    def fetch_few(self, sql: str) -> Any:
        """As `fetch`, for few rows: Ctrl-C ends the statement, and errors have their SQLSTATE."""
        return self._plain(self._fetch(_sql.translated(sql, "postgres"), {_COPY: "false"}))

    def _fetch(self, sql: str, options: dict[str, str] | None = None) -> Any:
        self._execute(sql, options)
        return without_words(self._cursor.fetch_record_batch, _failed)

    def _plain(self, reader: Any) -> Any:
        """The same rows without types of PostgreSQL (a numeric is a text), and with our errors."""
        pyarrow = needed("pyarrow", "engines")
        schema = pyarrow.schema(
            [pyarrow.field(field.name, getattr(field.type, "storage_type", field.type))
             for field in reader.schema]
        )  # fmt: skip
        cancel = self._cursor.adbc_cancel

        def one_by_one() -> Iterator[Any]:
            while (batch := _interruptible(lambda: next(reader, None), cancel)) is not None:
                yield batch

        def batches() -> Iterator[Any]:
            for batch in each_without_words(one_by_one(), _failed):
                columns = [getattr(column, "storage", column) for column in batch.columns]
                yield pyarrow.RecordBatch.from_arrays(columns, schema=schema)

        return pyarrow.RecordBatchReader.from_batches(schema, batches())

    def _rows(self, sql: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (
            self._plain(self._fetch(sql, {_COPY: "false"})).read_all().to_pylist()
        )
        return found

    def run(self, sql: str) -> None:
        """Runs a statement."""
        self._execute(_sql.translated(sql, "postgres"))

    def _run(self, sql: str) -> None:
        """Runs a statement that is in PostgreSQL's own dialect."""
        self._execute(sql)

    def _execute(self, sql: str, options: dict[str, str] | None = None) -> None:
        self._open()

        def execute() -> None:
            if self._cursor is not None:
                self._cursor.close()
            # Kept: a reader ends with its cursor.
            self._cursor = self._connection.cursor()
            if options:
                self._cursor.adbc_statement.set_options(**options)
            _interruptible(lambda: self._cursor.execute(sql), self._cursor.adbc_cancel)

        without_words(execute, _failed)

    # a run

    def _open(self) -> None:
        """Begins the one transaction, which sees the tables as they are now."""
        if self._is_open:
            return
        if self._address is not None:
            self._connection = _connected(self._address)
        else:
            self._take()
        self._is_open = True
        self._run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        settings = dict(_SETTINGS)
        (server,) = self._rows(
            "SELECT current_setting('server_version_num')::int AS version, "
            "(SELECT setting::bigint FROM pg_settings WHERE name = 'work_mem') AS memory"
        )
        if server["version"] >= 140000:  # a killed client ends its statement at once
            settings["client_connection_check_interval"] = "500ms"
        if server["memory"] < _MEMORY:
            settings["work_mem"] = f"{_MEMORY}kB"
        made = [f"set_config({literal(name)}, {literal(to)}, true) AS s{at}"
                for at, (name, to) in enumerate(settings.items())]  # fmt: skip
        self._rows(f"SELECT {', '.join(made)}")

    def _take(self) -> None:
        """Takes a connection of the caller, and refuses one with work that is not committed."""
        connection = self._connection
        # It is null in a transaction that has only read: ending that one loses nothing.
        is_used = "SELECT txid_current_if_assigned() IS NOT NULL AS is_used"

        def has_work() -> bool:
            vendor = connection.adbc_get_info().get("vendor_name", "")
            if "postgres" not in str(vendor).lower():
                raise TypeError("a connection of ADBC as an engine is one to PostgreSQL")
            with connection.cursor() as cursor:
                cursor.execute(is_used)
                return bool(cursor.fetch_arrow_table().to_pylist()[0]["is_used"])

        def failed(error: Exception) -> BaseException:
            if isinstance(error, TypeError):
                return error
            if getattr(connection, "_closed", False) or _is_lost(error):
                return _no_connection("it is closed")
            return _in_transaction()  # nothing runs in a transaction that has failed

        if without_words(has_work, failed):
            raise _in_transaction()
        option = connection.adbc_connection.get_option("adbc.connection.autocommit")
        self._was_autocommit = option == "true"
        if self._was_autocommit:
            without_words(lambda: connection.adbc_connection.set_autocommit(False), _failed)
        else:
            without_words(connection.commit, _failed)

    def begin(self, source: str, into: str, replace: bool) -> None:
        """Refuses a target that exists, is the source, or cannot be written."""
        parts = _sql.name_parts(into)
        name = _sql.table_name(into)
        if len(parts[-1].encode()) > 63:
            raise ConfigError(
                "PostgreSQL cuts the name of a table after 63 bytes: choose a shorter one",
                code="bad-target",
            )
        (found,) = self._rows(
            "SELECT current_schema()::text AS schema, (SELECT relkind::text FROM pg_class WHERE "
            f"oid = to_regclass({literal(name)})) AS kind, (SELECT nspname::text FROM pg_class "
            "JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE pg_class.oid = "
            f"to_regclass({literal(name)})) AS of, coalesce(to_regclass({literal(name)}) = "
            f"to_regclass({literal(_sql.table_name(source))}), false) AS is_source, EXISTS (SELECT "
            f"FROM pg_inherits WHERE to_regclass({literal(name)}) IN (inhrelid, inhparent)) "
            "AS is_part"
        )
        if found["is_source"]:
            raise target_is_source()
        if found["kind"] is not None and not replace:
            raise taken(into)
        if found["kind"] not in (None, "r", "p") or (found["of"] or "").startswith("pg_temp"):
            raise ConfigError(
                "the target exists and is no table, such as a view, a foreign or a temporary "
                "table: only a table can be replaced",
                code="bad-target",
            )
        if found["is_part"]:  # of the source, perhaps, whose rows would go with it
            raise ConfigError(
                "the target is a partition of another table, or has partitions: they would be "
                "dropped with it, so choose another name",
                code="bad-target",
            )
        if len(parts) > 1:
            self._schema = ".".join(quoted(part) for part in parts[:-1])
        elif (schema := found["of"] or found["schema"]) is not None:
            self._schema = quoted(schema)
        else:
            raise no_table()

    def names(self, prefix: str) -> Names:
        """The names of the tables of a run."""
        parts = ("tuples", "plan", "classes", "pieces", "placed")
        release = f"{self._schema}.{quoted(f'{prefix}_release')}"
        return Names(*[*(quoted(f"{prefix}_{part}") for part in parts), release])

    def count(self, layout: Layout, names: Names) -> Layout:
        """Counts the tuples, and keeps them until the end of the run."""
        self.stage(names.tuples, _sql.tuples(layout, self.dialect))
        return layout

    def stage(self, name: str, sql: str) -> None:
        """Keeps the rows of a query until the end of the run."""
        self._run(f"CREATE TEMPORARY TABLE {name} AS {_sql.translated(sql, 'postgres')}")
        self._staged.append(name)
        self._run(f"ANALYZE {name}")

    def upload(self, name: str, rows: Any) -> None:
        """Keeps Arrow data until the end of the run."""
        self._open()

        def ingest() -> None:
            with self._connection.cursor() as cursor:
                _interruptible(
                    lambda: cursor.adbc_ingest(name[1:-1], rows, mode="create", temporary=True),
                    cursor.adbc_cancel,
                )

        without_words(ingest, _failed)
        self._staged.append(name)
        self._run(f"ANALYZE {name}")

    def write(self, layout: Layout, names: Names, placed: str, into: str) -> str:
        """Writes the release under a name of its own; returns it as SQL."""
        rows = _sql.translated(_sql.released(layout, names, f"({placed})"), "postgres")
        self._run(f"CREATE TABLE {names.release} AS {rows}")
        self._run(f"ANALYZE {names.release}")
        return names.release

    def publish(self, release: str, into: str, replace: bool) -> None:
        """Gives the verified release its name, at one moment."""
        name = quoted(_sql.name_parts(into)[-1])
        try:
            if replace:
                self._run(f"DROP TABLE IF EXISTS {self._schema}.{name}")
            for staged in self._staged:
                self._run(f"DROP TABLE {staged}")
            self._run(f"ALTER TABLE {release} RENAME TO {name}")
            without_words(self._connection.commit, _failed)
        except EngineError as error:
            if error.sqlstate in ("42P07", "23505"):  # also one that another run has just made
                raise taken(into) from None
            raise

    def end(self) -> None:
        """Ends the run; what was not published is gone."""
        if not self._is_open:
            return
        self._is_open = False
        # A connection that is lost has taken its transaction with it.
        with contextlib.suppress(Exception):
            if self._cursor is not None:
                self._cursor.close()
        self._cursor = None
        with contextlib.suppress(Exception):
            self._connection.rollback()
        if self._address is not None:
            with contextlib.suppress(Exception):
                self._connection.close()
            self._connection = None
        elif self._was_autocommit:
            with contextlib.suppress(Exception):
                self._connection.adbc_connection.set_autocommit(True)


def _kind(field: Any) -> Kind:
    """The kind of a column, from its type in PostgreSQL."""
    return _KINDS.get((field.metadata or {}).get(b"POSTGRESQL:type", b"").decode(), "other")


def _interruptible(call: Callable[[], Made], cancel: Callable[[], object]) -> Made:
    """What a call of the driver returns; Ctrl-C ends the statement, and is what Python makes of it.

    In the main thread the driver would take the signal for itself, and end the statement with the
    error of one that somebody else has cancelled. So the call has a thread of its own.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(call)
        try:
            return made.result()
        finally:
            while not made.done():
                with contextlib.suppress(Exception, KeyboardInterrupt):
                    cancel()
                    wait([made], timeout=0.2)  # it was perhaps not yet sent


def _connected(address: str) -> Any:
    """A connection of our own. The server's words may repeat the address, so they are left out."""
    driver = needed("adbc_driver_postgresql.dbapi", "engines")

    def failed(error: Exception) -> BaseException:
        # No SQLSTATE comes from the driver here. Words in another language are not known.
        words = str(error)
        known = (why for part, why in _NO_CONNECTION.items() if re.search(part, words))
        return _no_connection(next(known, "look at its address"))

    return without_words(lambda: driver.connect(address), failed)


_NO_CONNECTION = {
    "Connection refused": "nothing listens at that host and port",
    "No such file or directory": "nothing listens at that socket",
    "could not translate host name": "there is no such host",
    "password authentication failed": "the user or the password is wrong",
    "no password supplied": "the server wants a password",
    'FATAL: +role ".*" does not exist': "there is no such user",
    'FATAL: +database ".*" does not exist': "there is no such database",
    "FATAL: +the database system is ": "the server starts or stops",
    "timeout": "the server does not answer",
}


def _no_connection(why: str) -> ConfigError:
    return ConfigError(f"no connection to the PostgreSQL server: {why}", code="no-connection")


def _is_lost(error: Exception) -> bool:
    return type(error).__name__ in ("OperationalError", "InterfaceError")


def _in_transaction() -> ConfigError:
    return ConfigError(
        "the connection is inside a transaction, and a run has one of its own: commit or roll back "
        "first, or pass another connection",
        code="in-transaction",
    )


def _failed(error: Exception) -> BaseException:
    """The exception of this package for one of PostgreSQL, whose words may have cells in them."""
    state: str | None = getattr(error, "sqlstate", None)
    if isinstance(error, LookalikeError):
        return error
    if state in ("42P01", "3F000"):
        return no_table()
    if state == "42501":
        return ConfigError(
            "the user of the connection may not do a step of the run: it reads the table, makes "
            "temporary tables in the database (TEMPORARY) and a table in the schema of the release "
            "(CREATE); to replace a table, it must own it",
            code="engine-denied",
        )
    if state in ("53100", "53200"):
        return Exhausted(
            "PostgreSQL has not enough disk space or memory for a step of the run",
            code="engine-memory",
        )
    if state == "2BP01":
        return ConfigError(
            "the table that is to be replaced is used by others, such as a view: choose another "
            "name",
            code="bad-target",
        )
    return EngineError("PostgreSQL", type(error).__name__, state)
