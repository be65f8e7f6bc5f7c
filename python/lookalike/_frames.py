"""Tables that go out: released Arrow buffers as frames of pandas and polars."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from ._tables import arrow_table, has, needed, parts

if TYPE_CHECKING:
    from ._lookalike import ArrowStream


def to_pandas(released: ArrowStream, types: Mapping[str, Any]) -> Any:
    """A `pandas.DataFrame`.

    Parameters
    ----------
    released : object with ``__arrow_c_stream__``
    types : mapping
        The dtypes of columns that are published unchanged, where the source was a DataFrame: they
        keep them. The type of the others is that of the release.
    """
    pandas = needed("pandas", "pandas")
    table = arrow_table(released)
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        columns[name] = _series(column, types.get(name), pandas)
    return pandas.DataFrame(columns, index=pandas.RangeIndex(table.num_rows))


def _series(column: Any, wanted: Any, pandas: Any) -> Any:
    pyarrow = needed("pyarrow", "pandas")
    if wanted is None:
        is_gappy = pyarrow.types.is_integer(column.type) and column.null_count > 0
        if is_gappy:  # else the numbers would become floats
            name = str(column.type)
            wanted = pandas.api.types.pandas_dtype(name.replace("i", "I").replace("u", "U"))
            return pandas.Series(wanted.__from_arrow__(column))
        return column.to_pandas(date_as_object=False)
    if isinstance(wanted, pandas.CategoricalDtype):
        return pandas.Series(_categorical(column, wanted, pandas))
    if hasattr(wanted, "__from_arrow__"):
        return pandas.Series(wanted.__from_arrow__(column))
    if wanted.kind == "O":  # cell by cell: pandas would make floats of whole numbers with gaps
        is_text = pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type)
        return pandas.Series(column.to_numpy() if is_text else column.to_pylist(), dtype=object)
    series = column.to_pandas()
    return series if series.dtype == wanted else series.astype(wanted)


def _categorical(column: Any, wanted: Any, pandas: Any) -> Any:
    """Only with categories that the release has: an unused one could be a suppressed value."""
    pyarrow = needed("pyarrow", "pandas")
    numpy = needed("numpy", "pandas")
    categories = pyarrow.array(wanted.categories, from_pandas=True)
    if isinstance(categories, pyarrow.ExtensionArray):  # intervals: a release has their parts
        categories = categories.storage
    places = {repr(value): place for place, value in enumerate(categories.to_pylist())}
    if pyarrow.types.is_nested(column.type):
        cells = column.to_pylist()
        found = numpy.array([-1 if cell is None else places[repr(cell)] for cell in cells])
    else:
        coded = column.dictionary_encode().unify_dictionaries().combine_chunks()
        labels = coded.dictionary.to_pylist()
        of_codes = numpy.array([*(places[repr(label)] for label in labels), -1])
        found = of_codes[coded.indices.fill_null(len(labels)).to_numpy(zero_copy_only=False)]
    there = numpy.unique(found[found >= 0])
    codes = numpy.where(found < 0, -1, numpy.searchsorted(there, found))
    return pandas.Categorical.from_codes(codes, wanted.categories[there], ordered=wanted.ordered)


def to_polars(
    released: ArrowStream, types: Mapping[str, Any], labels: Mapping[str, list[str]]
) -> Any:
    """A `polars.DataFrame`.

    Parameters
    ----------
    released : object with ``__arrow_c_stream__``
    types : mapping
        The types of columns that are published unchanged, where the source was a DataFrame.
    labels : mapping
        The labels of quasi-identifiers in the order of their ranges: an Enum each.
    """
    polars = needed("polars", "polars")
    frame = polars.DataFrame(_marked(released, labels) if has("pyarrow") else released)
    casts = []
    for name, kind in frame.schema.items():
        if name in labels and kind == polars.Enum(labels[name]):
            continue
        if name in labels:
            casts.append(polars.col(name).cast(polars.Enum(labels[name])))
        elif isinstance(enum := types.get(name), polars.Enum):
            there = set(frame[name].cast(polars.String).unique())
            kept = [label for label in enum.categories if label in there]
            casts.append(polars.col(name).cast(polars.String).cast(polars.Enum(kept)))
        elif name in types and kind != types[name] and not _has_enum(types[name], polars):
            casts.append(polars.col(name).cast(types[name]))
    return frame.with_columns(casts) if casts else frame


def _has_enum(kind: Any, polars: Any) -> bool:
    """True where categories are inside: unused ones could be suppressed values."""
    return any(isinstance(part, polars.Enum) for part in parts(kind))


def _marked(released: ArrowStream, labels: Mapping[str, list[str]]) -> Any:
    """The same table, with the mark by which polars knows an Enum.

    It is read ten times as fast as categories are cast. A version of polars that does not know the
    mark ignores it.
    """
    table = arrow_table(released)
    fields = []
    for field in table.schema:
        if field.name in labels:
            values = "".join(f"{len(one.encode())};{one}" for one in labels[field.name])
            field = field.with_metadata({"_PL_ENUM_VALUES2": values})
        fields.append(field)
    pyarrow = needed("pyarrow", "pandas")
    return pyarrow.Table.from_arrays(table.columns, schema=pyarrow.schema(fields))


def with_intervals(frame: Any, quasi: Collection[str]) -> Any:
    """Columns of bounds as one Interval column each, closed on both sides.

    ``age_min`` and ``age_max`` become ``age``, at the place of ``age_min``. An interval is missing
    where no bounds were published. ``age_missing`` stays, and so do bounds that are labels.
    """
    pandas = needed("pandas", "pandas")
    bounded = [
        name
        for name in quasi
        if {f"{name}_min", f"{name}_max"} <= set(frame.columns)
        and not isinstance(frame[f"{name}_min"].dtype, pandas.CategoricalDtype)
    ]
    columns: dict[str, Any] = {}
    for name in frame.columns:
        of = next((of for of in bounded if name == f"{of}_min"), None)
        if of is not None:
            columns[of] = _intervals(frame[name], frame[f"{of}_max"], pandas)
        elif not any(name == f"{of}_max" for of in bounded):
            columns[name] = frame[name]
    return pandas.DataFrame(columns)


def _intervals(low: Any, high: Any, pandas: Any) -> Any:
    ends = [_end(low, pandas), _end(high, pandas)]
    # Top and bottom coding: `>=80` has no upper end.
    if any(bounds.dtype.kind == "f" for bounds in ends):
        open_below, open_above = low.isna() & high.notna(), low.notna() & high.isna()
        ends = [
            ends[0].astype("float64").mask(open_below, float("-inf")),
            ends[1].astype("float64").mask(open_above, float("inf")),
        ]
    array = pandas.arrays.IntervalArray.from_arrays(*ends, closed="both")
    return pandas.Series(array, index=low.index)


def _end(bounds: Any, pandas: Any) -> Any:
    """Bounds as an Interval takes them: numbers, or timestamps of dates."""
    if pandas.api.types.is_integer_dtype(bounds.dtype) and bounds.hasnans:
        return bounds.astype("float64")
    if pandas.api.types.is_extension_array_dtype(bounds.dtype) and not isinstance(
        bounds.dtype, pandas.DatetimeTZDtype
    ):
        return bounds.astype(bounds.dtype.numpy_dtype)
    return bounds
