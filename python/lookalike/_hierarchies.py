"""Hierarchies as Python values: which values may be published in place of a column's own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

from . import _tables
from ._errors import HierarchyError

if TYPE_CHECKING:
    from ._lookalike import ArrowStream

DateUnit: TypeAlias = Literal[
    "day", "week", "month", "quarter", "half-year", "year", "five-years", "decade"
]
Tree: TypeAlias = Mapping[str, Union["Tree", Iterable[object], object]]

KEYS = frozenset({"intervals", "origin", "bottom", "top", "prefix", "date", "rows", "text"})
"""The keys of a hierarchy in a configuration."""


@dataclass(frozen=True, slots=True, repr=False)
class Hierarchy:
    """A hierarchy, made by `intervals`, `prefix`, `dates` or `hierarchy`.

    Attributes
    ----------
    spec : str or dict
        The value of the key ``hierarchy`` in a configuration: a path, or a mapping.
    """

    spec: str | dict[str, Any]

    def __repr__(self) -> str:
        if isinstance(self.spec, str):
            return f"hierarchy({self.spec!r})"
        if "rows" in self.spec:  # its labels are values of the table
            return f"<hierarchy of {len(self.spec['rows'])} values>"
        if "text" in self.spec:
            return "<hierarchy as text>"
        return f"<hierarchy {self.spec!r}>"


def intervals(
    *widths: float, origin: float = 0, bottom: float | None = None, top: float | None = None
) -> Hierarchy:
    """Intervals of numbers, narrowest first.

    Parameters
    ----------
    *widths : float
        Widths of the intervals; each is a multiple of the one before.
    origin : float
        A number at which an interval begins.
    bottom, top : float, optional
        All numbers below `bottom` are one interval, ``<20``; all from `top` on are one, ``>=80``.

    Examples
    --------
    >>> intervals(5, 10, 20, top=90)
    <hierarchy {'intervals': [5, 10, 20], 'origin': 0, 'top': 90}>
    """
    if not widths:
        raise HierarchyError(
            "intervals needs at least one width, as in intervals(5, 10)", code="bad-hierarchy"
        )
    if any(isinstance(width, (str, Iterable)) for width in widths):
        raise TypeError(
            "the widths of intervals are numbers, as in intervals(5, 10); intervals with ends of "
            "your own are written hierarchy({...})"
        )
    spec: dict[str, Any] = {"intervals": _numbers(widths), "origin": origin}
    ends = {"bottom": bottom, "top": top}
    return Hierarchy(spec | {name: end for name, end in ends.items() if end is not None})


def prefix(*lengths: int) -> Hierarchy:
    """Leading characters of codes, longest first: ``53711``, ``5371*``, ``537**``.

    A column of numbers with a prefix hierarchy is read as text.

    Examples
    --------
    >>> prefix(4, 3, 2)
    <hierarchy {'prefix': [4, 3, 2]}>
    """
    if not lengths:
        raise HierarchyError(
            "prefix needs at least one length, as in prefix(4, 3)", code="bad-hierarchy"
        )
    return Hierarchy({"prefix": _numbers(lengths)})


def dates(*units: DateUnit) -> Hierarchy:
    """Calendar units, smallest first: day, month, quarter, half-year, year, five-years, decade.

    Examples
    --------
    >>> dates("month", "year")
    <hierarchy {'date': ['month', 'year']}>
    """
    if not units:
        raise HierarchyError(
            'dates needs at least one unit, as in dates("month", "year")', code="bad-hierarchy"
        )
    return Hierarchy({"date": list(units)})


def hierarchy(
    groups: str | os.PathLike[str] | Tree | Iterable[Sequence[object]] | ArrowStream, /
) -> Hierarchy:
    """A hierarchy that lists the values of a column with their groups.

    Parameters
    ----------
    groups : path, rows, dict or frame
        - a path: a file without a header, one line for each value: ``value;group;...;root``;
        - rows: a list for each value: the value, its group, the group of that, up to the root;
        - a dict of dicts: groups within groups; the innermost are lists of values. Or a plain dict
          from each value to its group, also as a Series of pandas with the values in its index.
          A root ``*`` is added where there are several groups on top;
        - a frame: the first column has the values, the next their groups, up to the root.

    Examples
    --------
    >>> hierarchy([["Bonn", "West", "*"], ["Ulm", "South", "*"]])
    <hierarchy of 2 values>
    >>> hierarchy({"West": ["Bonn", "Aachen"], "South": ["Ulm"]}).spec["rows"]
    [['Bonn', 'West', '*'], ['Aachen', 'West', '*'], ['Ulm', 'South', '*']]
    >>> hierarchy({"Bonn": "West", "Aachen": "West", "Ulm": "South"})
    <hierarchy of 3 values>
    >>> hierarchy("districts.csv")
    hierarchy('districts.csv')
    """
    if isinstance(groups, Hierarchy):
        return groups
    if isinstance(groups, (str, os.PathLike)):
        return Hierarchy(os.fspath(groups))
    if isinstance(groups, Mapping):
        return Hierarchy({"rows": _rows_of_tree(groups)})
    if _tables.is_frame("pandas", "Series", groups):
        return Hierarchy({"rows": _rows_of_tree(_tree_of_series(groups))})
    if _tables.is_frame("polars", "Series", groups):
        raise TypeError("a hierarchy is a path, rows, a dict or a frame, not a Series of polars")
    if _tables.has_index(groups):
        raise HierarchyError(
            "the index of the frame of a hierarchy is not a plain range of row numbers: "
            "df.reset_index() makes a column of it, df.reset_index(drop=True) drops it",
            code="bad-hierarchy",
        )
    rows: Any = _tables.rows(groups) if _tables.is_table(groups) else groups
    return Hierarchy({"rows": _padded([_row(row) for row in rows])})


def _tree_of_series(series: Any) -> dict[Any, Any]:
    """From each value to its group, as `Series.map` takes it."""
    if not _tables.has_index(series):
        raise TypeError(
            "a hierarchy as a Series has the values in its index and their groups as cells; this "
            "one has row numbers in its index: pass a dict from each value to its group"
        )
    if not series.index.is_unique:
        raise HierarchyError("a value of the hierarchy has two groups", code="bad-hierarchy")
    return dict(series.items())


def _numbers(numbers: Iterable[Any]) -> list[Any]:
    """Numbers as Python's own, also those of numpy."""
    return [number.item() if hasattr(number, "item") else number for number in numbers]


def _row(row: object) -> list[str]:
    if isinstance(row, str) or not isinstance(row, Iterable):
        raise HierarchyError(
            "a row of a hierarchy is a list: the value, then its groups up to the root; "
            "the labels of an ordered column are {'order': [...]}",
            code="bad-hierarchy",
        )
    cells = list(row)
    while cells and _is_missing(cells[-1]):  # a frame has short paths as missing cells
        cells.pop()
    return [_text(cell) for cell in cells]


def _is_missing(cell: object) -> bool:
    # pandas.NA has no truth value, and NaN is not equal to itself.
    return cell is None or type(cell).__name__ == "NAType" or cell != cell


def _text(cell: object) -> str:
    """The text of a label, as the table has it."""
    if _is_missing(cell):
        return ""
    if isinstance(cell, bool) or type(cell).__name__ in ("bool", "bool_"):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, float):
        return repr(float(cell))
    return str(cell)


def _padded(rows: list[list[str]]) -> list[list[str]]:
    """Short paths are padded below their root by repeating a label."""
    height = max((len(row) for row in rows), default=0)
    if any(not row for row in rows):
        raise HierarchyError("a row of the hierarchy has no value", code="hierarchy-no-value")
    return [[row[0]] * (height - len(row)) + row for row in rows]


def _rows_of_tree(tree: Tree) -> list[list[str]]:
    rows = _padded(list(_paths(tree)))
    if len({row[-1] for row in rows}) > 1:
        rows = [[*row, "*"] for row in rows]
    return rows


def _paths(tree: Tree) -> Iterable[list[str]]:
    """The path of each value of a dict, from the value to the outermost group."""
    texts = [isinstance(below, str) for below in tree.values()]
    if texts and all(texts):  # value -> group, as in Series.map
        yield from ([_text(value), _text(group)] for value, group in tree.items())
        return
    for name, below in tree.items():
        group = _text(name)
        if below is None or (isinstance(below, Mapping) and not below):
            yield [group]
        elif isinstance(below, Mapping):
            yield from ([*path, group] for path in _paths(below))
        elif isinstance(below, str) or not isinstance(below, Iterable):
            raise HierarchyError(
                "a group of a hierarchy has a list of values or a dict of groups below it",
                code="bad-hierarchy",
            )
        else:
            yield from ([_text(value), group] for value in below)
