"""DuckDB: tables, views and files; one transaction; the release is written in slices."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import itertools
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._errors import ConfigError, Exhausted, FileError, LookalikeError
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
from ._sql import Column, Dialect, Kind, Layout, Names, literal, quoted, rows_of

LOCK, RELEASE, OLD = "lock", "release", "old"
"""What the folder of a run has in it."""
BATCH = 1 << 17
MOST_VALUES = 100_000
"""A column of more values is not coded."""
MOST_KEYS = 1 << 62
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
SLICE = 50_000_000
"""So many rows are sorted at once; a slice of this size has room in 4 GB."""

_ENDINGS = {
    ".parquet": "read_parquet",
    ".csv": "read_csv",
    ".csv.gz": "read_csv",
    ".tsv": "read_csv",
}
_BUSY = ("ResourceInUseException", "ConnectionException", "TransactionException")


def _same(one: str, other: str, kind: Kind) -> str:
    return f"{one} IS NOT DISTINCT FROM {other}"


def _order_key(text: str) -> str:
    return f"CAST('0x' || substr(sha256({text}), 1, 16) AS UBIGINT)"


def _checksum(texts: Sequence[str]) -> str:
    return f"hash({', '.join(texts)})"


def _text(name: str) -> str:
    return f'CAST({name} AS VARCHAR) COLLATE "C"'  # uuid and json come as texts, and have no order


def _hashed(name: str) -> str:
    return name  # hash() takes null, and any type


def _is_finite(cell: str) -> str:
    return f"isfinite({cell})"


DIALECT = Dialect(
    "duckdb", _same, _order_key, _checksum, text=_text, hashed=_hashed, is_finite=_is_finite
)


@dataclass(frozen=True, slots=True)
class Code:
    """A column as a number: from a row, back from the number (``{0}``), and how many there are."""

    encoded: str
    decoded: str
    size: int


class DuckDB:
    """A connection to DuckDB, for one run."""

    dialect = DIALECT

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._folder: str | None = None
        self._lock: Any = None
        self._reader: Any = None
        self._ctrl_c: Callable[[], None] | None = None
        self._target: tuple[str, str, str] | None = None
        self._is_open = False
        self._staged: list[str] = []
        self._types: list[str] = []
        self._views: list[str] = []
        self._coded: set[str] = set()

    # what is read

    def source(self, name: str) -> str:
        """A table, a view, or files by their path or pattern, as SQL."""
        reader = _reader(name)
        if reader is None:
            return _sql.table_name(name)
        if not ("://" in name or os.path.exists(name) or glob.glob(name, recursive=True)):
            raise ConfigError(f"there is no file {name}", code="no-table")
        # Types that DuckDB guesses would change cells: 1.50 would be published as 1.5.
        more = ", all_varchar = true" if reader == "read_csv" else ""
        return f"{reader}({literal(name)}{more})"

    def columns(self, source: str) -> list[Column]:
        """The columns of a table."""
        return _sql.kinds(self.fetch(f"SELECT * FROM {source} LIMIT 0").read_all().schema)

    def fetch(self, sql: str) -> Any:
        """The rows of a query as Arrow data; they are read before the next statement."""
        pyarrow = needed("pyarrow", "engines")
        self._prepare()
        reader = without_words(lambda: _stream(self._connection.sql(sql)), _failed)
        self._reader = reader
        schema = pyarrow.schema([field.with_type(_in_utc(field.type)) for field in reader.schema])

        def batches() -> Iterator[Any]:
            for batch in each_without_words(iter(reader), _failed):
                yield batch.cast(schema)

        return pyarrow.RecordBatchReader.from_batches(schema, batches())

    def fetch_few(self, sql: str) -> Any:
        """The rows of a small result as Arrow data."""
        return self.fetch(sql)

    def _close_reader(self) -> None:
        """Ends a stream that was not read to its end: it would hold the connection."""
        if self._reader is not None:
            with contextlib.suppress(Exception):
                self._reader.close()
            self._reader = None

    def _prepare(self) -> None:
        """What comes before a statement."""
        self._close_reader()
        if self._ctrl_c is None:
            self._ctrl_c = _on_ctrl_c(self._connection.interrupt)

    def run(self, sql: str) -> None:
        """Runs a statement."""
        self._prepare()
        without_words(lambda: self._connection.execute(sql), _failed)

    # a run

    def begin(self, source: str, into: str, replace: bool) -> None:
        """Begins the transaction of a run, and refuses a target that exists or is the source."""
        is_file = _reader(into) is not None or into.endswith("/")
        if is_file:
            self._begin_files(source, into, replace)
        self._begin()
        if not is_file:
            self._begin_table(source, into, replace)

    def _begin(self) -> None:
        try:
            self.run("BEGIN TRANSACTION")
        except EngineError as error:
            if error.engine_class != "TransactionException":
                raise
            raise ConfigError(
                "the connection is inside a transaction, and a run has one of its own: commit "
                "or roll back first, or pass another connection",
                code="in-transaction",
            ) from None
        self._is_open = True

    def _begin_table(self, source: str, into: str, replace: bool) -> None:
        ((catalog, schema),) = rows_of(
            self, "SELECT current_database() AS a, current_schema() AS b"
        )
        parts = _sql.name_parts(into)
        if len(parts) == 2:  # schema.table, or database.table
            is_schema = (
                "SELECT count(*) AS n FROM duckdb_schemas() WHERE database_name = "
                f"current_database() AND lower(schema_name) = lower({literal(parts[0])})"
            )
            ((number,),) = rows_of(self, is_schema)
            parts = [catalog, *parts] if number else [parts[0], "main", parts[1]]
        parts = [catalog, schema, *parts][-3:]
        self._target = (parts[0], parts[1], parts[2])
        named = " AND ".join(
            f"lower({column}) = lower({literal(part)})"
            for column, part in zip(("database_name", "schema_name"), parts, strict=False)
        )
        kinds = [
            f"SELECT '{kind}' AS kind FROM duckdb_{kind}s() WHERE {named} AND lower({kind}_name) = "
            f"lower({literal(parts[2])})"
            for kind in ("table", "view")
        ]
        found = [kind for (kind,) in rows_of(self, " UNION ALL ".join(kinds))]
        if not found:
            return
        if found != ["table"]:
            if not replace:
                raise taken(into)
            raise ConfigError(
                "the target exists and is a view: only a table can be replaced", code="bad-target"
            )
        # Whatever the source is, a name, a view, a spelling: it must not need the old table.
        self.run(f"DROP TABLE {self._into()}")
        try:
            self.columns(self.source(source))
        except LookalikeError:
            raise target_is_source() from None
        self.run("ROLLBACK")
        self._is_open = False
        if not replace:
            raise taken(into)
        self._begin()

    def _into(self) -> str:
        assert self._target is not None
        return ".".join(quoted(part) for part in self._target)

    def _begin_files(self, source: str, into: str, replace: bool) -> None:
        if into.endswith((".csv.gz", ".csv", ".tsv")) or "*" in into:
            raise ConfigError(
                "the release of DuckDB is a table, a Parquet file (into='safe.parquet') or a "
                "folder of them (into='safe/')",
                code="bad-target",
            )
        target = os.path.abspath(into)
        real = os.path.realpath(target)
        if _reader(source) is not None:
            read = [os.path.realpath(path) for path in glob.glob(source, recursive=True)]
            if any(path == real or path.startswith(real + os.sep) for path in read):
                raise target_is_source()
        elif replace and os.path.lexists(target) and self._is_view(source):
            raise ConfigError(
                "the source is a view, which may read the files that are to be replaced: choose "
                "another target, or remove the old one first",
                code="bad-target",
            )
        try:
            self._folder, self._lock = _folder_beside(target)
        except OSError as error:
            raise FileError(
                f"{os.path.dirname(target)}: {error.strerror}", errno=error.errno, code="io"
            ) from None
        # After that: what a killed run was about to replace is there again.
        if os.path.lexists(target) and not replace:
            raise taken(into)

    def _is_view(self, name: str) -> bool:
        last = literal(_sql.name_parts(name)[-1])
        views = f"SELECT count(*) AS n FROM duckdb_views() WHERE lower(view_name) = lower({last})"
        ((number,),) = rows_of(self, views)
        return bool(number)

    def names(self, prefix: str) -> Names:
        """The names of the tables of a run."""
        parts = ("tuples", "plan", "classes", "pieces", "placed")
        schema = [] if self._target is None else [*self._target[:2]]
        release = ".".join(quoted(part) for part in [*schema, f"{prefix}_release"])
        return Names(*[*(quoted(f"{prefix}_{part}") for part in parts), release])

    def count(self, layout: Layout, names: Names) -> Layout:
        """Counts the tuples, and keeps them until the end of the run.

        Where the values are not too many, a tuple is one number: a table of eight texts a tuple is
        five times as large, and DuckDB would spill so much more to disk.
        """
        codes = self._codes(layout, names)
        if codes is None:
            self.stage(names.tuples, _sql.tuples(layout, self.dialect))
            return layout
        key, factor, cells = [], 1, []
        for at, code in enumerate(codes, 1):
            key.append(f"{factor} * ({code.encoded})")
            own = f"(key // {factor}) % {code.size}"
            cells.append(f"{code.decoded.format(own)} AS c{at}")
            factor *= code.size
        view, coded = (quoted(f"{names.tuples[1:-1]}_{part}") for part in ("of", "coded"))
        # It has random digits in it: no column of the source has this name, in any spelling.
        name = f"{names.tuples[1:-1]}_key"
        self.run(
            f"CREATE TEMP VIEW {view} AS SELECT *, CAST({' + '.join(key)} AS BIGINT) AS "
            f"{quoted(name)} FROM {layout.source}"
        )
        self._views.append(view)
        by_key = replace(layout, source=view, counted=(Column(name, "number"),))
        self.stage(coded, _sql.tuples(by_key, self.dialect))
        self.run(
            f"CREATE TEMP VIEW {names.tuples} AS SELECT tuple, {', '.join(cells)}, n, key "
            f"FROM (SELECT tuple, c1 AS key, n FROM {coded})"
        )
        self._views.append(names.tuples)
        return replace(layout, source=view, key=name)

    def _codes(self, layout: Layout, names: Names) -> list[Code] | None:
        """A code for each value of each counted column; none where there are too many."""
        codes, size = [], 1
        for at, column in enumerate(layout.counted, 1):
            code = self._code(layout.source, column, f"{names.tuples[1:-1]}_c{at}")
            if code is None or size * code.size > MOST_KEYS:
                return None
            codes.append(code)
            size *= code.size
        return codes

    def _code(self, source: str, column: Column, name: str) -> Code | None:
        cell = _sql.cell(column, self.dialect)
        kinds = f"SELECT typeof({cell}) AS t FROM {source} LIMIT 1"
        found = rows_of(self, kinds)
        if not found:
            return None
        ((kind,),) = found
        if kind in _WHOLE:
            ((low, high),) = rows_of(
                self, f"SELECT min({cell}) AS a, max({cell}) AS b FROM {source}"
            )
            if low is not None and high - low < MOST_VALUES:
                encoded = f"coalesce(CAST({cell} AS BIGINT) - ({low}) + 1, 0)"
                decoded = f"CAST(nullif({{0}}, 0) - 1 + ({low}) AS {kind})"
                return Code(encoded, decoded, high - low + 2)
        text = f"CAST({cell} AS VARCHAR)"
        if kind != "VARCHAR":
            # The text of a value may be another's, as of old times with seconds in their offset.
            differs = f"{cell} IS DISTINCT FROM CAST({text} AS {kind})"
            wrong = f"SELECT count(*) AS n FROM {source} WHERE {differs}"
            if rows_of(self, wrong)[0][0]:
                return None
        distinct = f"SELECT DISTINCT {text} AS v FROM {source} WHERE {cell} IS NOT NULL"
        values = quoted(f"{name}_values")
        self.stage(values, f"{distinct} LIMIT {MOST_VALUES + 1}")
        ((number,),) = rows_of(self, f"SELECT count(*) AS n FROM {values}")
        if not 0 < number <= MOST_VALUES:
            return None
        self.run(f"CREATE TEMP TYPE {quoted(name)} AS ENUM (SELECT v FROM {values} ORDER BY v)")
        self._types.append(quoted(name))
        number_of = f"CAST(enum_code(CAST({text} AS {quoted(name)})) AS BIGINT)"
        encoded = f"coalesce({number_of} + 1, 0)"
        decoded = f"list_extract(enum_range(CAST(NULL AS {quoted(name)})), nullif({{0}}, 0))"
        return Code(encoded, f"CAST({decoded} AS {kind})", number + 1)

    def stage(self, name: str, sql: str) -> None:
        """Keeps the rows of a query until the end of the run."""
        self.run(f"CREATE TEMP TABLE {name} AS {sql}")
        self._staged.append(name)

    def upload(self, name: str, rows: Any) -> None:
        """Keeps Arrow data until the end of the run."""
        view = f"{name[1:-1]}_in"
        self._connection.register(view, rows)
        try:
            self.stage(name, f"SELECT * FROM {quoted(view)}")
        finally:
            self._connection.unregister(view)

    def _drop(self, name: str) -> None:
        """Drops a table of the run that is not needed any more, if it is there."""
        if name in self._staged:
            self.run(f"DROP TABLE {name}")
            self._staged.remove(name)

    def write(self, layout: Layout, names: Names, placed: str, into: str) -> str:
        """Writes the release under a name of its own, in slices of classes; returns it as SQL."""
        self._code_labels(layout, names)
        self.stage(names.placed, placed)
        for name in (names.plan, names.tuples, names.pieces):
            self._drop(name)
        slices = self._slices(names)
        if self._folder is not None:
            return self._write_files(layout, names, slices, into)
        # Not an empty table first: DuckDB 2.0 finds no row in one that was filled later in the same
        # transaction.
        for at, where in enumerate(slices):
            begin = f"INSERT INTO {names.release}" if at else f"CREATE TABLE {names.release} AS"
            self.run(f"{begin} {self._rows(layout, names, where)}")
        return names.release

    def _code_labels(self, layout: Layout, names: Names) -> None:
        """Labels become codes of one to four bytes: rows of texts would take ten times the time and
        the disk to sort."""
        for at in range(1, len(layout.published) + 1):
            kind = quoted(f"{names.classes[1:-1]}_p{at}")
            if not self._is_text(f"SELECT p{at} FROM {names.classes}"):
                continue
            labels = f"SELECT DISTINCT p{at} FROM {names.classes} WHERE p{at} IS NOT NULL"
            ((number,),) = rows_of(self, f"SELECT count(*) AS n FROM ({labels})")
            if not number:
                continue  # an ENUM has at least one value
            self._coded.add(layout.published[at - 1])
            self.run(f"CREATE TEMP TYPE {kind} AS ENUM ({labels} ORDER BY 1)")
            self.run(f"ALTER TABLE {names.classes} ALTER p{at} TYPE {kind}")
            self._types.append(kind)

    def _rows(self, layout: Layout, names: Names, where: str) -> str:
        """The rows of a slice in their order, with their labels as texts."""
        shown = [
            f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}"
            if name in self._coded
            else quoted(name)
            for name in layout.order
        ]
        rows = _sql.released(layout, names, names.placed, where)
        return f"SELECT {', '.join(shown)} FROM ({rows}) AS sorted"

    def _is_text(self, sql: str) -> bool:
        (column,) = _sql.kinds(self.fetch(f"{sql} LIMIT 0").read_all().schema)
        return column.kind == "text"

    def _slices(self, names: Names) -> list[str]:
        """Conditions on the class, each with about as many rows as are sorted at once."""
        ((rows, classes),) = rows_of(
            self, f"SELECT count(*) AS n, coalesce(max(class), 0) AS c FROM {names.placed}"
        )
        count = -(-rows // SLICE)
        if count < 2:
            return ["true"]
        # Classes of similar labels are neighbours and differ in size: the borders are quantiles.
        shares = [at / count for at in range(1, count)]
        ((borders,),) = rows_of(
            self, f"SELECT approx_quantile(class, {shares}) AS b FROM {names.placed}"
        )
        borders = sorted({0, classes, *borders})
        return [
            f"placed.class > {low} AND placed.class <= {high}"
            for low, high in itertools.pairwise(borders)
        ]

    def _write_files(self, layout: Layout, names: Names, slices: list[str], into: str) -> str:
        assert self._folder is not None
        is_one = not into.endswith("/")
        parts = ["true"] if is_one else slices
        for at, where in enumerate(parts):
            path = os.path.join(self._folder, RELEASE, f"part-{at + 1:04}.parquet")
            rows = self._rows(layout, names, where)
            self.run(f"COPY ({rows}) TO {literal(path)} (FORMAT parquet, COMPRESSION zstd)")
        folder = os.path.join(self._folder, RELEASE)
        # The characters of a pattern stand for themselves in brackets.
        plain = "".join(f"[{one}]" if one in "*?[" else one for one in folder)
        return f"read_parquet({literal(os.path.join(plain, '*.parquet'))})"

    def publish(self, release: str, into: str, replace: bool) -> None:
        """Gives the verified release its name, at one moment; a folder that is replaced by two
        renames."""
        if self._folder is not None:
            self.run("ROLLBACK")
            self._is_open = False
            self._publish_files(into, replace)
            return
        assert self._target is not None
        for view in reversed(self._views):
            self.run(f"DROP VIEW {view}")
        for staged in list(self._staged):
            self._drop(staged)
        for kind in self._types:
            self.run(f"DROP TYPE {kind}")
        try:
            if replace:
                self.run(f"DROP TABLE IF EXISTS {self._into()}")
            self.run(f"ALTER TABLE {release} RENAME TO {quoted(self._target[2])}")
            self.run("COMMIT")
        except EngineError as error:
            if error.engine_class in ("CatalogException", "TransactionException"):
                raise taken(into) from None
            raise
        self._is_open = False

    def _publish_files(self, into: str, replace: bool) -> None:
        assert self._folder is not None
        target, made = os.path.abspath(into), os.path.join(self._folder, RELEASE)
        parts = sorted(os.listdir(made))
        try:
            for part in parts:
                with open(os.path.join(made, part), "rb") as file:
                    os.fsync(file.fileno())
            if into.endswith("/"):
                _exchange(self._folder, target, replace)
            elif replace:
                os.replace(os.path.join(made, parts[0]), target)
            else:
                os.link(os.path.join(made, parts[0]), target)
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
                raise taken(into) from None
            raise FileError(f"{into}: {error.strerror}", errno=error.errno, code="io") from None

    def end(self) -> None:
        """Ends the run; what was not published is gone."""
        self._close_reader()
        try:
            if self._is_open:
                self._is_open = False
                try:
                    self.run("ROLLBACK")
                except EngineError as error:  # a closed connection has no transaction
                    if error.engine_class not in _BUSY:
                        raise
        finally:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None
            if self._lock is not None:
                self._lock.close()
                self._lock = None
            if self._ctrl_c is not None:
                self._ctrl_c()
                self._ctrl_c = None


def _on_ctrl_c(interrupt: Callable[[], object]) -> Callable[[], None]:
    """Lets Ctrl-C end a statement, where the handler that was there raises; returns what undoes it.

    DuckDB 2.0 notices Ctrl-C and then waits for the statement to end by itself; and a stream that
    the library reads is read by another thread, which no signal reaches.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        return lambda: None

    def handler(number: int, frame: Any) -> Any:
        try:
            return before(number, frame)
        except BaseException:
            interrupt()
            raise

    def undo() -> None:
        if signal.getsignal(signal.SIGINT) is handler:
            signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, handler)
    return undo


def _exchange(folder: str, target: str, replace: bool) -> None:
    """Puts the release of a run in the place of a folder."""
    old = os.path.join(folder, OLD)
    if replace and os.path.lexists(target):
        os.rename(target, old)
    try:
        os.rename(os.path.join(folder, RELEASE), target)
    except OSError:
        if os.path.lexists(old):
            os.rename(old, target)
        raise


def _folder_beside(target: str) -> tuple[str, Any]:
    """A folder for the files of a run, beside their target, and its lock.

    Folders of runs that were killed are removed: nobody holds their lock. What such a run was about
    to replace is put back.
    """
    prefix = f".{os.path.basename(target)}.lookalike-"
    beside = os.path.dirname(target)
    for name in os.listdir(beside):
        folder = os.path.join(beside, name)
        if not name.startswith(prefix) or not os.path.isdir(folder):
            continue
        with contextlib.suppress(OSError), open(os.path.join(folder, LOCK)) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.lexists(os.path.join(folder, OLD)) and not os.path.lexists(target):
                os.rename(os.path.join(folder, OLD), target)
            shutil.rmtree(folder, ignore_errors=True)
    folder = tempfile.mkdtemp(prefix=prefix, dir=beside)
    lock = open(os.path.join(folder, "new"), "w")  # noqa: SIM115 - held until the run ends
    fcntl.flock(lock, fcntl.LOCK_EX)
    # Under its name it is locked, so no other run takes the folder for one of a killed run.
    os.rename(lock.name, os.path.join(folder, LOCK))
    os.mkdir(os.path.join(folder, RELEASE))
    return folder, lock


def _stream(relation: Any) -> Any:
    """The rows of a relation as a reader, whose method has had several names."""
    names = ("to_arrow_reader", "fetch_arrow_reader", "fetch_record_batch")
    return next(getattr(relation, name) for name in names if hasattr(type(relation), name))(BATCH)


def _in_utc(kind: Any) -> Any:
    """A type with UTC in place of the session's time zone, in which labels would be written."""
    pyarrow = needed("pyarrow", "engines")
    if pyarrow.types.is_timestamp(kind) and kind.tz is not None:
        return pyarrow.timestamp(kind.unit, "UTC")
    return kind


def _reader(name: str) -> str | None:
    """The function of DuckDB that reads a path; none for the name of a table."""
    ending = next((ending for ending in _ENDINGS if name.lower().endswith(ending)), None)
    return None if ending is None else _ENDINGS[ending]


def _failed(error: Exception) -> BaseException:
    """The exception of this package for one of DuckDB, whose words may have cells in them."""
    duckdb = needed("duckdb", "engines")
    kind = type(error).__name__
    if isinstance(error, LookalikeError):
        return error
    if type(error) is RuntimeError and str(error) == "Query interrupted":
        # A handler of a signal has raised. An InterruptException is of whoever else has ended the
        # statement, such as `interrupt` of the connection.
        return KeyboardInterrupt()
    if isinstance(error, duckdb.OutOfMemoryException):
        return Exhausted(
            "DuckDB has not enough memory or temporary disk space: raise memory_limit, or set "
            "temp_directory to a disk with room",
            code="engine-memory",
        )
    if kind == "CatalogException":
        return no_table()
    return EngineError("DuckDB", kind, None)
