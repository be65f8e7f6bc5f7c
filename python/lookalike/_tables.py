"""Tables that come in: what they are, and how they are handed to the native module."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from ._errors import ConfigError, DataError

if TYPE_CHECKING:
    from ._lookalike import ArrowStream


class Lazy(Protocol):
    """A lazy frame of polars."""

    def collect(self) -> Any: ...


class Cursor(Protocol):
    """A cursor of ADBC."""

    def fetch_record_batch(self) -> Any: ...


if TYPE_CHECKING:
    Table: TypeAlias = str | os.PathLike[str] | ArrowStream | Lazy | Cursor
    """A path, a frame, a stream, a lazy frame or a cursor."""

Kind: TypeAlias = Literal["path", "pandas", "polars", "pyarrow", "other"]
"""The kind of a table, and of the frame that goes out."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Source:
    """A table that came in.

    `given` is the object of the caller, not a copy. `types` are the types of its columns by name,
    for frames of pandas and polars, and `rows` is the number of its rows. `once` is true for a
    stream, which can be read only once.
    """

    given: Any
    kind: Kind
    once: bool = False
    types: dict[str, Any] = field(default_factory=dict)
    rows: int | None = None

    def again(self) -> Source:
        """The table, to be read once more; refuses a frame whose columns or rows have changed.

        Columns that were added since are left out. Changed cells are not noticed.
        """
        if self.once:
            raise read_before(self.given)
        if self.rows is None:
            return self
        now = dict(self.given.dtypes.items() if self.kind == "pandas" else self.given.schema)
        other = [name for name, kind in self.types.items() if name not in now or now[name] != kind]
        if other or len(self.given) != self.rows:
            what = f"column `{other[0]}`" if other else "the number of its rows"
            raise ConfigError(
                f"the source has changed since the release was made ({what}), and is read again "
                "here; pass the table that was released, as in source=table",
                code="source-changed",
                column=other[0] if other else None,
            )
        if len(now) == len(self.types):
            return self
        return Source(self.given[list(self.types)], self.kind, types=self.types, rows=self.rows)

    @property
    def may_be_empty(self) -> bool:
        """True for a stream, or what may be one, which somebody may have read before."""
        return self.once or self.kind == "other"

    def order(self, name: str) -> list[str]:
        """The categories of a column in their order, where it has one: those that rows have."""
        kind: Any = self.types.get(name)
        if self.kind == "pandas" and getattr(kind, "ordered", False):
            found = self.given[name].cat.remove_unused_categories().cat.categories.tolist()
            return _plain_labels(found)
        if self.kind == "polars" and type(kind).__name__ == "Enum":
            there = set(self.given[name].unique())
            return _plain_labels([one for one in kind.categories if one in there])
        return []

    def has_codes(self, name: str) -> bool:
        """True for a column of categories without an order, which are numbers or texts."""
        kind: Any = self.types.get(name)
        if self.kind == "polars":
            return type(kind).__name__ == "Categorical"
        if self.kind != "pandas" or getattr(kind, "ordered", True) is not False:
            return False
        types = sys.modules["pandas"].api.types
        of = kind.categories.dtype
        return bool(types.is_numeric_dtype(of) or types.is_string_dtype(kind.categories))

    def native(
        self, quasi: Mapping[str, Any] | None = None, unused: Callable[[str], bool] | None = None
    ) -> str | ArrowStream:
        """The table as the native module takes it; a stream is used up by this.

        `quasi` are columns whose cells become labels, with their keys in the request. `unused`
        is true for columns whose cells are not needed: those without an Arrow form become empty.
        """
        quasi = quasi or {}
        unused = unused or (lambda _: False)
        if self.once:
            _use_up(self.given)
        if self.kind == "path":
            return str(os.fspath(self.given))
        if self.kind == "pandas":
            return _arrow_of_pandas(self.given, quasi, unused)
        if self.kind == "polars":
            return _arrow_of_polars(self.given, quasi, unused)
        if is_frame("pyarrow", "Table", self.given):
            return _with_labels(self.given, quasi)
        fetch = _fetch(self.given)
        stream: ArrowStream = self.given if fetch is None else fetch()
        return stream


def _plain_labels(found: list[Any]) -> list[str]:
    """The labels of an order; none where one is no text, or reads like a range or a set."""
    is_plain = all(isinstance(one, str) and one[:1] not in ("[", "{", "*") for one in found)
    return found if is_plain else []


def source_of(table: Any) -> Source:
    """Says what a table is. Refuses what would be read wrongly, without reading it.

    Examples
    --------
    >>> source_of("patients.csv").kind
    'path'
    >>> source_of([1, 2, 3])
    Traceback (most recent call last):
        ...
    TypeError: a table is a path or an object with Arrow data (pandas, polars, pyarrow, duckdb, an \
ADBC cursor), not list
    """
    if isinstance(table, Source):
        return table
    if isinstance(table, (str, os.PathLike)):
        return Source(table, "path")
    if is_of("pyspark", table):
        raise ConfigError(
            "this is a table of Spark, and reading it would bring every row to this process; "
            "if it fits in memory, pass df.toArrow() or df.toPandas(); if not, let Spark keep it: "
            "df.createOrReplaceTempView('t'), then "
            "lookalike.engine.engine(spark).anonymize('t', into=...)",
            code="spark-frame",
        )
    if is_frame("pandas", "DataFrame", table):
        _check_pandas(table)
        return Source(table, "pandas", types=dict(table.dtypes.items()), rows=len(table))
    if is_frame("polars", "LazyFrame", table):
        table = table.collect()
    if is_frame("polars", "DataFrame", table):
        for name in table.columns:
            _check_name(name)
        return Source(table, "polars", types=dict(table.schema), rows=len(table))
    if is_frame("pyarrow", "RecordBatchReader", table):
        return Source(table, "pyarrow", once=True)
    if _fetch(table) is not None:
        return Source(table, "other", once=True)
    if is_frame("pandas", "Series", table) or is_frame("polars", "Series", table):
        raise TypeError("a table has columns: pass a frame, as series.to_frame() makes it")
    if hasattr(table, "__arrow_c_stream__"):
        return Source(table, "pyarrow" if is_of("pyarrow", table) else "other")
    raise TypeError(
        "a table is a path or an object with Arrow data (pandas, polars, pyarrow, duckdb, an ADBC "
        f"cursor), not {type(table).__name__}"
    )


def refuse_input(path: str | os.PathLike[str], table: Any) -> None:
    """Refuses to write over the file that a table was read from."""
    given = source_of(table)
    if given.kind == "path" and os.path.exists(path) and os.path.samefile(path, given.given):
        raise ConfigError(
            f"{os.fspath(path)} is the table itself: choose another file", code="output-is-input"
        )


def is_table(value: object) -> bool:
    """True for a frame or another object with Arrow data; false for a path."""
    return hasattr(value, "__arrow_c_stream__") or is_frame("pandas", "DataFrame", value)


def is_frame(module: str, name: str, value: object) -> bool:
    """True for an object of a class of a module, which is not imported for that."""
    loaded = sys.modules.get(module)
    of = getattr(loaded, name, None)
    return of is not None and isinstance(value, of)


def has_index(table: Any) -> bool:
    """True for a frame or Series of pandas whose index is no plain range of row numbers."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(table, (pandas.DataFrame, pandas.Series)):
        return False
    return table.index.name is not None or not isinstance(table.index, pandas.RangeIndex)


def rows(table: Any) -> Iterator[Sequence[object]]:
    """The rows of a frame, for small tables such as hierarchies."""
    if is_frame("pandas", "DataFrame", table):
        return iter(table.astype(object).where(table.notna(), None).values.tolist())
    if is_frame("polars", "DataFrame", table):
        return iter(table.rows())
    columns = [column.to_pylist() for column in arrow_table(table).columns]
    return iter(zip(*columns, strict=True))


def arrow_table(table: Any) -> Any:
    """A `pyarrow.Table` of an object with Arrow data."""
    return needed("pyarrow", "pandas").table(table)


def needed(module: str, extra: str) -> Any:
    """A module that is no dependency; where it is missing, the error names the extra."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"this needs {module}, which is not installed: pip install 'lookalike[{extra}]'"
        ) from error


def has(module: str) -> bool:
    """True when a module is there to be imported; it is not imported."""
    import importlib.util

    return module in sys.modules or importlib.util.find_spec(module) is not None


def is_of(package: str, value: object) -> bool:
    """True for an object whose class, or a base of it, is of a package."""
    return any(base.__module__.partition(".")[0] == package for base in type(value).__mro__)


def _fetch(table: Any) -> Any:
    """The method of a cursor that gives its rows as a stream; none for other objects."""
    if hasattr(table, "__arrow_c_stream__"):
        return None
    names = ("fetch_arrow", "to_arrow_reader", "fetch_record_batch")
    return next((getattr(table, name) for name in names if hasattr(table, name)), None)


def parts(kind: Any) -> Iterator[Any]:
    """A type of polars and all types inside it."""
    yield kind
    inner = [field.dtype for field in getattr(kind, "fields", ())]
    for part in [*inner, *([kind.inner] if hasattr(kind, "inner") else [])]:
        yield from parts(part)


def _arrow_of_polars(
    frame: Any, quasi: Mapping[str, Any], unused: Callable[[str], bool]
) -> ArrowStream:
    polars = sys.modules["polars"]
    frame = _exportable(frame, unused, polars)
    for name in frame.columns:
        kind = frame.schema[name]
        if (labels := _listed(quasi.get(name))) and _has_several_texts(kind):
            cells = frame[name].unique()
            texts = cells.cast(polars.String).to_list()
            named = polars.Series(_named(cells.to_list(), texts, labels), dtype=polars.String)
            column = frame[name].replace_strict(cells, named, return_dtype=polars.String)
            frame = frame.with_columns(column)
    # A column of nothing but null has a type of its own, which others cannot read.
    empty = [name for name, kind in frame.schema.items() if kind == polars.Null]
    stream: ArrowStream = frame.with_columns(polars.col(empty).cast(polars.String))
    return stream


def _check_name(name: str) -> None:
    if "\0" in name:  # polars would end the process
        raise ConfigError(
            "the name of a column has the character NUL; rename it", code="names-not-text"
        )


def _exportable(frame: Any, unused: Callable[[str], bool], polars: Any) -> Any:
    """Refuses columns that polars cannot export as Arrow data, or exports as addresses.

    Those that are not used become empty.
    """
    for name, kind in frame.schema.items():
        found = {str(part) for part in parts(kind)}
        if strange := found & {"Object", "Int128", "UInt128"} or (found - {str(kind)}) & {"Null"}:
            if unused(name):
                frame = frame.with_columns(polars.lit(None, polars.String).alias(name))
                continue
            raise DataError(
                f"column `{name}` of the DataFrame has the type {strange.pop()}, which polars "
                "cannot pass on as Arrow data; convert it, or drop it",
                code="no-arrow-type",
                column=name,
            )
    return frame


def _has_several_texts(kind: Any) -> bool:
    """True for a type of polars whose values can be written in several ways."""
    is_time = kind.is_temporal() and str(kind.base_type()) != "Duration"
    return bool(kind.is_float() or kind.is_decimal() or is_time)


def _listed(keys: Mapping[str, Any] | None) -> list[str]:
    """The values that a hierarchy lists; none for other hierarchies."""
    spec = (keys or {}).get("hierarchy")
    return [row[0] for row in spec.get("rows", ())] if isinstance(spec, Mapping) else []


def _named(
    cells: Sequence[object], texts: Sequence[str | None], labels: Sequence[str]
) -> list[str | None]:
    """The labels of a hierarchy for cells; a cell that no label means has its own text.

    Examples
    --------
    >>> _named([1.0, 2.5, None, 3.0], ["1.0", "2.5", None, "3.0"], ["1", "2.50", "4"])
    ['1', '2.50', None, '3.0']
    """
    known = {_meaning(label): label for label in labels}
    if len(known) < len(set(labels)):  # two labels mean the same
        known = {}
    named: list[str | None] = []
    for cell, text in zip(cells, texts, strict=True):
        # A number of 32 bits has a short text, and a long one as a number of Python.
        both = () if text is None else (_meaning(text), _meaning(str(cell)))
        named.append(next((known[one] for one in both if one in known), text))
    # Two cells that differ stay two.
    return named if len(set(named)) == len(set(texts)) else list(texts)


def _meaning(text: str) -> object:
    """The number or time that a text means; else the text itself."""
    from datetime import datetime
    from decimal import Decimal, InvalidOperation

    try:
        number = Decimal(text)
        return number if number.is_finite() else text
    except InvalidOperation:
        pass
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text
    # Python's times end at microseconds.
    has_nanoseconds = any(character.isdigit() for character in text.partition(".")[2][6:9])
    return text if has_nanoseconds else time


def _with_labels(table: Any, quasi: Mapping[str, Any]) -> ArrowStream:
    """A table of pyarrow whose columns have the labels of the hierarchies that list values.

    A number or a time can be written in several ways: 1, 1.0 and 1.00 are one value.
    """
    pyarrow = needed("pyarrow", "pandas")
    is_of = pyarrow.types
    for at, name in enumerate(table.column_names):
        kind = table.schema.field(at).type
        labels = _listed(quasi.get(name))
        if labels and (
            is_of.is_floating(kind)
            or is_of.is_decimal(kind)
            or (is_of.is_temporal(kind) and not is_of.is_duration(kind))
        ):
            coded = table.column(at).dictionary_encode().combine_chunks()
            cells = coded.dictionary
            texts = cells.cast(pyarrow.string()).to_pylist()
            named = pyarrow.array(_named(cells.to_pylist(), texts, labels), pyarrow.string())
            table = table.set_column(at, name, named.take(coded.indices))
    stream: ArrowStream = table
    return stream


def _arrow_of_pandas(
    frame: Any, quasi: Mapping[str, Any], unused: Callable[[str], bool]
) -> ArrowStream:
    pyarrow = needed("pyarrow", "pandas")
    unfit = (pyarrow.ArrowException, TypeError, ValueError, OverflowError)
    for name in quasi:
        if name in frame.columns:
            _check_labels(name, frame[name].dtype)
    try:
        try:
            made = pyarrow.Table.from_pandas(frame, preserve_index=False)
        except unfit:
            gone = [name for name in filter(unused, frame.columns)
                    if not _has_arrow_form(frame[[name]], unfit)]  # fmt: skip
            if not gone:
                raise
            frame = frame.copy(deep=False)
            for name in gone:
                frame[name] = None
            made = pyarrow.Table.from_pandas(frame, preserve_index=False)
        _check_objects(frame, made, unused)
        for at, name in enumerate(made.column_names):
            if name in quasi:
                made = made.set_column(at, name, _as_meant(made.column(at), pyarrow))
        return _with_labels(made, quasi)
    except DataError:
        raise
    except unfit:
        pass  # its words may hold a cell
    names = [name for name in frame.columns if not _has_arrow_form(frame[[name]], unfit)]
    if not names:
        raise DataError("the DataFrame cannot be passed on as Arrow data", code="no-arrow-type")
    name = names[0]
    if frame[name].dtype == object:
        reason = "has values of several types, or some that Arrow cannot hold"
        way = "make them one type, as in astype(str)"
    else:
        reason = f"has the dtype {frame[name].dtype}, for which Arrow has no type"
        way = "convert it, or drop it"
    raise DataError(
        f"column `{name}` of the DataFrame {reason}; {way}", code="no-arrow-type", column=name
    )


def _check_labels(name: str, dtype: Any) -> None:
    """Refuses quasi-identifiers of pandas whose cells would be published as other values."""
    of = getattr(getattr(dtype, "categories", None), "dtype", dtype)  # pd.cut makes categories
    kind = type(of).__name__
    if kind == "PeriodDtype":
        way = "make dates of it, as in .dt.to_timestamp(), or texts, as in astype(str)"
    elif kind == "IntervalDtype":
        way = (
            "make texts of it, as in astype(str), or pass the numbers, with intervals(...) or "
            "hierarchy(...)"
        )
    else:
        return
    raise DataError(
        f"column `{name}` of the DataFrame has the dtype {of}, which cannot be generalized; {way}",
        code="no-arrow-type",
        column=name,
    )


def _check_objects(frame: Any, made: Any, unused: Callable[[str], bool]) -> None:
    """Refuses columns of objects whose cells Arrow would change."""
    for name, column in zip(made.column_names, made.columns, strict=True):
        if frame[name].dtype != object or unused(name):
            continue
        kind = str(column.type)
        present = frame[name].dropna()
        if kind.startswith("timestamp") and any(getattr(one, "nanosecond", 0) for one in present):
            way = "make timestamps of them, as in pd.to_datetime(column)"
            what = "times with nanoseconds as objects"
        elif "uuid" in kind or (present.size and type(present.iloc[0]).__name__ == "UUID"):
            way = "make texts of them, as in astype(str)"
            what = "UUIDs as objects"
        else:
            continue
        raise DataError(
            f"column `{name}` of the DataFrame has {what}, which Arrow would change; {way}",
            code="no-arrow-type",
            column=name,
        )


def _as_meant(column: Any, pyarrow: Any) -> Any:
    """Whole numbers and days where pandas has other types for them.

    In pandas whole numbers become floats when a cell is missing, and days are timestamps. Their
    labels would be ``[20.0-30.0]`` and ``[2024-03-01T00:00:00 .. 2024-03-31T00:00:00]``.
    """
    if pyarrow.types.is_floating(column.type):
        try:
            return column.cast(pyarrow.int64())
        except pyarrow.ArrowInvalid:  # some are not whole
            return column
    if pyarrow.types.is_timestamp(column.type) and column.type.tz is None:
        days = column.cast(pyarrow.date32())
        return days if days.cast(column.type).equals(column) else column
    return column


def _has_arrow_form(frame: Any, unfit: tuple[type[Exception], ...]) -> bool:
    try:
        needed("pyarrow", "pandas").Table.from_pandas(frame, preserve_index=False)
        return True
    except unfit:
        return False


def _check_pandas(frame: Any) -> None:
    """Refuses an index that would become a column, and names that are no texts."""
    pandas = sys.modules["pandas"]
    if frame.columns.nlevels > 1:
        raise ConfigError(
            "the columns of the DataFrame have several levels; give each one name, as in "
            "df.columns = ['_'.join(names) for names in df.columns]",
            code="names-not-text",
        )
    if strange := [name for name in frame.columns if not isinstance(name, str)]:
        kinds = ", ".join(sorted({type(name).__name__ for name in strange}))
        raise ConfigError(
            f"names of columns are texts, and {len(strange)} of the DataFrame are not ({kinds}); "
            "rename them, as in df.columns = df.columns.map(str)",
            code="names-not-text",
        )
    for name in frame.columns:
        _check_name(name)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(
            f"two columns have the name `{twice}`", code="column-name-twice", column=twice
        )
    if isinstance(frame.index, pandas.RangeIndex):
        return
    names = [str(name) for name in frame.index.names if name is not None]
    named = f" ({', '.join(f'`{name}`' for name in names)})" if names else ""
    raise ConfigError(
        f"the index of the DataFrame{named} is not a plain range of row numbers, and has no role: "
        "df.reset_index() makes a column of it, df.reset_index(drop=True) drops it",
        code="index-column",
        column=names[0] if names else None,
    )


_used_up: weakref.WeakSet[Any] = weakref.WeakSet()


def _use_up(stream: Any) -> None:
    """Notes that a stream is read; refuses one that was read before."""
    if _fetch(stream) is not None:
        return  # a cursor may have been executed again
    if stream in _used_up:
        raise read_before(stream)
    _used_up.add(stream)


def read_before(stream: object) -> ConfigError:
    """The error for a stream that would be read again."""
    return ConfigError(
        f"a {type(stream).__name__} can be read once, and was read before; make a table of it "
        "first, as in reader.read_all(), or pass source= again",
        code="stream-read-before",
    )
