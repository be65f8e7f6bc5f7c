"""Backends of ibis: three are unwrapped to their own engine, others run the statements as they are.

Tested for real: a DuckDB backend of ibis 12, unwrapped and by the general way. The general way to
Snowflake, BigQuery, Trino and SQL Server only compiles: its statements are read in tests, and no
server has run them. So does the way from a backend of ibis for PostgreSQL to its address.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .._errors import ConfigError, LookalikeError
from .._tables import needed
from . import _others, _sql
from ._errors import EngineError, no_table, taken, target_is_source, without_words
from ._sql import Column, Dialect, Layout, Names, quoted

if TYPE_CHECKING:
    from ._steps import Database

Made = TypeVar("Made")


def of_backend(backend: Any) -> Database:
    """What runs the statements of a backend of ibis.

    DuckDB and PySpark are used by the connection or session that the backend has. For PostgreSQL a
    connection of our own is made to the server of the backend: it does not see the backend's
    temporary tables.
    """
    name = backend.name
    if name == "duckdb":
        from ._duckdb import DuckDB

        return DuckDB(backend.con)
    if name == "pyspark":
        from ._spark import Spark

        return Spark(backend._session)
    if name == "postgres":
        from ._postgres import Postgres

        return Postgres(_address(backend.con))
    if name in _others.OF_BACKEND:
        return Ibis(backend, _others.OF_BACKEND[name])
    known = ", ".join(["duckdb", "postgres", "pyspark", *_others.OF_BACKEND])
    raise ConfigError(
        f"a backend of ibis is one of {known}, not {name}; for others, `lookalike plan` makes "
        "a plan from counts",
        code="no-engine",
    )


def _address(connection: Any) -> str:
    """The parameters of a connection of psycopg, as libpq reads them; never shown."""
    conninfo = needed("psycopg.conninfo", "engines")
    info = connection.info
    parts = dict(info.get_parameters())
    if info.password:
        parts["password"] = info.password
    made: str = conninfo.make_conninfo(**parts)
    return made


class Ibis:
    """A backend of ibis, for one run.

    There is no transaction: the tables of a run are in the schema of the target, under names that
    begin with ``lookalike_``, and are dropped at its end. A client that is killed leaves them.
    """

    def __init__(self, backend: Any, dialect: Dialect) -> None:
        self.dialect = dialect
        self._backend = backend
        self._schema: list[str] = []
        self._staged: list[str] = []

    def source(self, name: str) -> str:
        """A table or view, as SQL."""
        return _sql.table_name(name)

    def columns(self, source: str) -> list[Column]:
        """The columns of a table."""
        return _sql.kinds(self._query(f"SELECT * FROM {source}").schema().to_pyarrow())

    def fetch_few(self, sql: str) -> Any:
        """The rows of a small result as Arrow data."""
        return self.fetch(sql)

    def fetch(self, sql: str) -> Any:
        """The rows of a query as Arrow data; they are read before the next statement."""
        return self._tried(lambda: self._query(sql).to_pyarrow_batches())

    def _tried(self, call: Callable[[], Made]) -> Made:
        return without_words(call, lambda error: _failed(error, self._backend.name))

    def _query(self, sql: str) -> Any:
        name = self.dialect.name
        own = _sql.translated(sql, name)
        return self._tried(lambda: self._backend.sql(own, dialect=name))

    def run(self, sql: str) -> None:
        """Runs a statement."""
        own = _sql.translated(sql, self.dialect.name)

        def run() -> None:
            cursor = self._backend.raw_sql(own)
            # The cursor of DuckDB is the connection itself.
            if cursor is not getattr(self._backend, "con", None) and hasattr(cursor, "close"):
                cursor.close()

        self._tried(run)

    def begin(self, source: str, into: str, replace: bool) -> None:
        """Refuses a target that exists."""
        *self._schema, name = _sql.name_parts(into)
        if _sql.name_parts(source)[-1].casefold() == name.casefold():
            raise target_is_source()  # a name of the source in another schema is refused, too
        there = self._tried(lambda: self._backend.list_tables(database=self._database()))
        if name in there and not replace:
            raise taken(into)

    def _database(self) -> Any:
        """The schema of the target in the form of ibis: a name, or those of catalog and schema."""
        if len(self._schema) > 1:
            return tuple(self._schema)
        return self._schema[0] if self._schema else None

    def names(self, prefix: str) -> Names:
        """The names of the tables of a run."""
        parts = ("tuples", "plan", "classes", "pieces", "placed", "release")
        return Names(*(self._name(f"{prefix}_{part}") for part in parts))

    def _name(self, name: str) -> str:
        return ".".join(quoted(part) for part in [*self._schema, name])

    def count(self, layout: Layout, names: Names) -> Layout:
        """Counts the tuples, and keeps them until the end of the run."""
        self.stage(names.tuples, _sql.tuples(layout, self.dialect))
        return layout

    def stage(self, name: str, sql: str) -> None:
        """Keeps the rows of a query until the end of the run."""
        self._staged.append(name)
        self.run(f"CREATE TABLE {name} AS {sql}")

    def upload(self, name: str, rows: Any) -> None:
        """Keeps Arrow data until the end of the run."""
        self._staged.append(name)
        last = _sql.name_parts(name)[-1]
        table = rows.read_all()
        self._tried(lambda: self._backend.create_table(last, table, database=self._database()))

    def write(self, layout: Layout, names: Names, placed: str, into: str) -> str:
        """Writes the release under a name of its own; returns it as SQL."""
        self.stage(names.placed, placed)
        rows = _sql.released(layout, names, names.placed)
        if self.dialect.name == "tsql":  # a table that is made of a query has no order there
            rows = rows.rpartition(" ORDER BY ")[0]
        self.stage(names.release, rows)
        return names.release

    def publish(self, release: str, into: str, replace: bool) -> None:
        """Gives the verified release its name."""
        if replace:
            self.run(f"DROP TABLE IF EXISTS {_sql.table_name(into)}")
        # Some engines take the new name with its schema, DuckDB without.
        name = _sql.name_parts(into)[-1]
        is_short = self.dialect.name in ("duckdb", "tsql", "bigquery", "postgres")
        self.run(
            f"ALTER TABLE {release} RENAME TO {quoted(name) if is_short else self._name(name)}"
        )
        self._staged.remove(release)

    def end(self) -> None:
        """Ends the run; what was not published is gone."""
        while self._staged:
            name = self._staged.pop()
            with contextlib.suppress(Exception):
                self.run(f"DROP TABLE IF EXISTS {name}")


def _failed(error: Exception, name: str) -> BaseException:
    """The exception of this package for one of ibis or its driver, whose words may have cells."""
    if isinstance(error, LookalikeError):
        return error
    kind = type(error).__name__
    if kind in ("TableNotFound", "CatalogException"):
        return no_table()
    state = getattr(error, "sqlstate", None)
    return EngineError(f"ibis ({name})", kind, state if isinstance(state, str) else None)
