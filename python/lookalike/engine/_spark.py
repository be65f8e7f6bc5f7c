"""Spark, classic and Connect: the DataFrame and SQL API only, staging tables beside the target.

Spark's own catalog has no transactions. So every table of a run is made empty first and filled
then: what fails leaves a table that can be dropped with its files. Their names begin with a hash of
the target's, so the next run into the same target removes what a killed one left.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .._tables import needed
from . import _sql
from ._errors import EngineError, no_table, taken, target_is_source
from ._sql import Column, Dialect, Kind, Layout, Names, quoted

SLICE_BYTES = 32 << 20
"""So much of a plan is sent at once: a Connect server keeps what it was sent on its heap."""
OLD = "_old"
"""The ending of the name of a table that is being replaced."""

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_NOT_FOUND = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "NO_SUCH_CATALOG_EXCEPTION")
_KINDS: dict[str, Kind] = {
    "StringType": "text",
    "CharType": "text",
    "VarcharType": "text",
    "ByteType": "number",
    "ShortType": "number",
    "IntegerType": "number",
    "LongType": "number",
    "DecimalType": "number",
    "FloatType": "float",
    "DoubleType": "float",
    "BooleanType": "boolean",
    "DateType": "date",
    "TimestampType": "time",
    "TimestampNTZType": "time",
}


def _same(one: str, other: str, kind: Kind) -> str:
    return f"{one} IS NOT DISTINCT FROM {other}"


def _order_key(text: str) -> str:
    # As text: the order of the first 64 bits is that of the first 16 digits.
    return f"sha2({text}, 256)"


def _checksum(texts: Sequence[str]) -> str:
    # A sum of bigints would overflow, which is an error in ANSI mode and wrong without.
    return f"CAST(xxhash64({', '.join(texts)}) AS DECIMAL(38, 0))"


def _text(name: str) -> str:
    return f"{name} COLLATE UTF8_BINARY"


DIALECT = Dialect("spark", _same, _order_key, _checksum, "monotonically_increasing_id()", _text)


class Spark:
    """A session of Spark, for one run."""

    dialect = DIALECT

    def __init__(self, session: Any) -> None:
        self._session = session
        self._home: list[str] = []
        self._prefix = ""
        self._staged: list[str] = []
        self._old: str | None = None
        self._target = ""
        self._tag: str | None = None
        self._broken: BaseException | None = None

    # what is read

    def source(self, name: str) -> str:
        """A table, a view or a temporary view, as SQL."""
        return _sql.table_name(name)

    def columns(self, source: str) -> list[Column]:
        """The columns of a table."""
        return [
            Column(field.name, _KINDS.get(type(field.dataType).__name__, "other"))
            for field in self._asked(f"SELECT * FROM {source}", lambda frame: frame.schema)
        ]

    def fetch(self, sql: str) -> Any:
        """The rows of a query as Arrow data, partition by partition: the client needs room for two
        of them."""
        pyarrow = needed("pyarrow", "engines")
        with self._statement():
            frame = self._session.sql(_sql.translated(sql, "spark"))
            schema = frame.limit(0).toArrow().schema
            # By plain names: mapInArrow does not find a column whose name has a dot in it.
            plain = frame.toDF(*(f"f{at}" for at in range(len(schema))))
            packed = plain.mapInArrow(_packer(), "part binary")
            parts = packed.toLocalIterator(prefetchPartitions=True)
        return pyarrow.RecordBatchReader.from_batches(schema, self._batches(parts, schema))

    def _batches(self, parts: Iterator[Any], schema: Any) -> Iterator[Any]:
        pyarrow = needed("pyarrow", "engines")
        while True:
            try:
                with self._statement():
                    row = next(parts, None)
            except BaseException as error:
                self._broken = error  # whoever reads the stream cannot pass it on
                raise
            if row is None:
                return
            with pyarrow.ipc.open_stream(row[0]) as reader:
                table = reader.read_all().rename_columns(schema.names)
                yield from table.cast(schema).to_batches()

    def fetch_few(self, sql: str) -> Any:
        """The rows of a small result as Arrow data, all at once."""
        return self._asked(sql, lambda frame: frame.toArrow()).to_reader()

    def run(self, sql: str) -> None:
        """Runs a statement."""
        self._run(_sql.translated(sql, "spark"))

    def _run(self, statement: str) -> list[Any]:
        """Runs a statement in the words of Spark."""
        with self._statement():
            found: list[Any] = self._session.sql(statement).collect()
            return found

    def _asked(self, sql: str, what: Callable[[Any], Any]) -> Any:
        with self._statement():
            return what(self._session.sql(_sql.translated(sql, "spark")))

    @contextlib.contextmanager
    def _statement(self) -> Iterator[None]:
        """A call of Spark: its words, which may have cells in them, are neither logged nor raised;
        an interruption ends what Spark does."""
        try:
            with _quiet():
                yield
        except KeyboardInterrupt:
            self._cancel()
            raise
        except Exception as error:
            raise _failed(error) from None

    def _cancel(self) -> None:
        with contextlib.suppress(Exception), _quiet():
            if self._tag is not None:
                self._session.interruptTag(self._tag)
            else:
                self._session.interruptAll()

    # a run

    def begin(self, source: str, into: str, replace: bool) -> None:
        """Removes what killed runs left, and refuses a target that exists."""
        parts = self._whole_name(into)
        given = [part.casefold() for part in self._whole_name(source)]
        if given == [part.casefold() for part in parts]:
            raise target_is_source()
        self._home, self._target = parts[:-1], _ticked(parts)
        # Names of tables are lower case in Spark's own catalog.
        digest = hashlib.sha256(parts[-1].lower().encode()).hexdigest()[:8]
        self._prefix = f"lookalike_{digest}_"
        if ".connect." in type(self._session).__module__:
            self._tag = f"lookalike-{secrets.token_hex(6)}"
            self._session.addTag(self._tag)
        self._remove_leftovers()
        if not replace and self._exists(self._target):
            raise taken(into)

    def _whole_name(self, name: str) -> list[str]:
        """The parts of a name with those of catalog and schema."""
        ((catalog, schema),) = self._run("SELECT current_catalog(), current_schema()")
        parts = _sql.name_parts(name)
        return [*[catalog, schema][: 3 - len(parts)], *parts]

    def _remove_leftovers(self) -> None:
        like = f"SHOW TABLES IN {_ticked(self._home)} LIKE '{self._prefix}*'"
        for row in self._run(like):
            if row["isTemporary"]:
                continue
            left = _ticked([*self._home, row["tableName"]])
            if row["tableName"].endswith(OLD) and not self._exists(self._target):
                self._rename(left, self._target)  # killed between the two renames of a replacement
            else:
                self._drop(left)

    def _exists(self, ticked: str) -> bool:
        with self._statement():
            return bool(self._session.catalog.tableExists(ticked))

    def names(self, prefix: str) -> Names:
        """The names of the tables of a run."""
        token = prefix.rpartition("_")[2]
        parts = ("tuples", "plan", "classes", "pieces", "placed", "release")
        return Names(*(self._name(f"{self._prefix}{token}_{part}") for part in parts))

    def _name(self, name: str) -> str:
        return ".".join(quoted(part) for part in [*self._home, name])

    def count(self, layout: Layout, names: Names) -> Layout:
        """Counts the tuples, and keeps them until the end of the run."""
        self.stage(names.tuples, _sql.tuples(layout, self.dialect))
        return layout

    def stage(self, name: str, sql: str) -> None:
        """Keeps the rows of a query until the end of the run."""
        statement = _sql.translated(sql, "spark")
        with self._statement():
            schema = self._session.sql(statement).schema
        self._create(name, schema)
        self._run(f"INSERT INTO {_of(name)} {statement}")

    def _create(self, name: str, schema: Any) -> None:
        """An empty table: an INSERT that fails leaves nothing but it, and a CREATE TABLE AS that
        fails leaves a folder without a table."""
        self._staged.append(name)
        self._run(f"CREATE TABLE {_of(name)} ({_columns(schema)})")

    def upload(self, name: str, rows: Any) -> None:
        """Keeps Arrow data until the end of the run."""
        schema = _plain_schema(rows.schema)
        types = needed("pyspark.sql.pandas.types", "engines")
        with self._statement():
            made = types.from_arrow_schema(schema, prefer_timestamp_ntz=True)
        self._create(name, made)
        for part in _slices(rows, schema):
            with self._statement():
                self._session.createDataFrame(part, schema=made).write.insertInto(_of(name))

    def plan_cells(
        self, name: str, tuples: str, cells: int, planner: Callable[[int, Any], Any], schema: Any
    ) -> None:
        """Plans cells on the executors, and keeps their pieces until the end of the run."""
        types = needed("pyspark.sql.pandas.types", "engines")
        with self._statement():
            made = types.from_arrow_schema(_plain_schema(schema), prefer_timestamp_ntz=True)
        self._create(name, made)
        with self._statement():
            frame = self._session.sql(_sql.translated(tuples, "spark"))
            # Tasks of one cell each, or nearly so: twice as many as cells.
            spread = frame.repartition(2 * cells, "cell").groupBy("cell")
            pieces = spread.applyInArrow(_by_cell(planner), made)
            pieces.write.insertInto(_of(name))

    def write(self, layout: Layout, names: Names, placed: str, into: str) -> str:
        """Writes the release under a name of its own; returns it as SQL.

        Partitions are ranges of the order, and so are files by their names.
        """
        self.stage(names.release, _sql.released(layout, names, f"({placed})"))
        return names.release

    def publish(self, release: str, into: str, replace: bool) -> None:
        """Gives the verified release its name.

        Spark's own catalog cannot exchange two tables at one moment: between two renames there is
        no table of that name.
        """
        if replace and self._exists(self._target):
            self._old = _of(release.removesuffix('_release"') + f'{OLD}"')
            self._rename(self._target, self._old)
        try:
            self._rename(_of(release), self._target)
        except EngineError as error:
            if error.sqlstate in ("TABLE_OR_VIEW_ALREADY_EXISTS", "TABLE_ALREADY_EXISTS"):
                raise taken(into) from None
            raise
        self._staged.remove(release)
        if self._old is not None:
            old, self._old = self._old, None
            self._drop(old)

    def _rename(self, old: str, new: str) -> None:
        # Spark's own catalog wants the new name without that of the catalog, others want it with.
        new = new.removeprefix("`spark_catalog`.")
        self._run(f"ALTER TABLE {old} RENAME TO {new}")

    def _drop(self, ticked: str) -> None:
        try:
            self._run(f"DROP TABLE IF EXISTS {ticked} PURGE")
        except EngineError:  # a catalog that cannot purge
            self._run(f"DROP TABLE IF EXISTS {ticked}")

    def end(self) -> None:
        """Ends the run; what was not published is gone."""
        failed: EngineError | None = None
        if self._old is not None and not self._exists(self._target):
            old, self._old = self._old, None
            self._rename(old, self._target)
        for name in reversed(self._staged):
            try:
                self._drop(_of(name))
            except EngineError as error:  # the others are dropped all the same
                failed = error
        self._staged = []
        if self._tag is not None:
            with contextlib.suppress(Exception):
                self._session.removeTag(self._tag)
            self._tag = None
        if self._broken is not None:
            raise self._broken from None
        if failed is not None:
            raise failed


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Loggers of PySpark that write an error's words, and so cells, are silent."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was in zip(loggers, before, strict=True):
            logger.disabled = was


def _packer() -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function that makes one binary cell of each batch.

    It is local, so that Spark sends it as it is: workers need pyarrow, but not this package.
    """

    def packed(batches: Iterator[Any]) -> Iterator[Any]:
        import importlib

        pyarrow = importlib.import_module("pyarrow")
        for batch in batches:
            sink = pyarrow.BufferOutputStream()
            with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            cell = pyarrow.array([sink.getvalue().to_pybytes()], pyarrow.binary())
            yield pyarrow.RecordBatch.from_arrays([cell], names=["part"])

    return packed


def _by_cell(planner: Callable[[int, Any], Any]) -> Callable[[tuple[Any, ...], Any], Any]:
    """A function of the key of a group and its rows, as Spark wants it."""

    def planned(key: tuple[Any, ...], rows: Any) -> Any:
        return planner(key[0].as_py(), rows)

    return planned


def _ticked(parts: Sequence[str]) -> str:
    """A name in the words of Spark.

    Examples
    --------
    >>> _ticked(["a.b", "c`d"])
    '`a.b`.`c``d`'
    """
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def _of(name: str) -> str:
    """A name of the body in the words of Spark."""
    return _ticked(_sql.name_parts(name))


def _columns(schema: Any) -> str:
    """The columns of a table to be made; each may be null."""
    return ", ".join(f"{_ticked([field.name])} {_type(field.dataType)}" for field in schema)


def _type(kind: Any) -> str:
    """A type in the words of Spark; names of fields inside it are quoted."""
    match type(kind).__name__:
        case "StructType":
            fields = ", ".join(f"{_ticked([of.name])}: {_type(of.dataType)}" for of in kind)
            return f"STRUCT<{fields}>"
        case "ArrayType":
            return f"ARRAY<{_type(kind.elementType)}>"
        case "MapType":
            return f"MAP<{_type(kind.keyType)}, {_type(kind.valueType)}>"
        case _:
            return str(kind.simpleString())


def _plain_schema(schema: Any) -> Any:
    """A schema of types that Spark can be given."""
    pyarrow = needed("pyarrow", "engines")
    return pyarrow.schema([(field.name, _plain(field.type)) for field in schema])


def _plain(kind: Any) -> Any:
    pyarrow = needed("pyarrow", "engines")
    of = pyarrow.types
    if of.is_dictionary(kind):
        return _plain(kind.value_type)
    if of.is_string_view(kind) or of.is_large_string(kind):
        return pyarrow.string()
    if of.is_uint64(kind):
        return pyarrow.decimal128(20, 0)
    if of.is_unsigned_integer(kind):
        return pyarrow.int64()
    if of.is_timestamp(kind):
        return pyarrow.timestamp("us", kind.tz)
    return kind


def _slices(rows: Any, schema: Any) -> Iterator[Any]:
    """The rows in tables of limited size."""
    pyarrow = needed("pyarrow", "engines")
    held: list[Any] = []
    size = 0
    for batch in rows:
        table = pyarrow.Table.from_batches([batch]).cast(schema)
        step = max(1, table.num_rows * SLICE_BYTES // max(1, table.nbytes))
        for at in range(0, table.num_rows, step):
            part = table.slice(at, step)
            if held and size + part.nbytes > SLICE_BYTES:
                yield pyarrow.concat_tables(held)
                held, size = [], 0
            held.append(part)
            size += part.nbytes
    if held:
        yield pyarrow.concat_tables(held)


def _failed(error: Exception) -> BaseException:
    """The exception of this package for one of Spark, whose words may have cells in them."""
    if isinstance(error, EngineError):
        return error
    condition = None
    with contextlib.suppress(Exception):
        condition = error.getCondition()  # type: ignore[attr-defined]
    if condition is not None and condition.partition(".")[0] in _NOT_FOUND:
        return no_table(error)
    return EngineError("Spark", type(error).__name__, condition)
