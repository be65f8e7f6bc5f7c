"""A slow and obvious audit of releases: plain Python, nothing of the package."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

Row = Sequence[Any]
Covers = Callable[[Any, Any], bool]

_RANGE = re.compile(r"\[(-?[\d.]+)(?:-| \.\. )(-?[\d.]+)\]")


def missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or value != value


def number_covers(label: Any, value: Any) -> bool:
    """``34`` covers 34, ``[30-39]`` covers 30 to 39, ``*`` covers everything."""
    if label == "*":
        return True
    if missing(label) or missing(value):
        return missing(label) and missing(value)
    if found := _RANGE.fullmatch(str(label)):
        return float(found[1]) <= float(value) <= float(found[2])
    return float(label) == float(value)


def text_covers(label: Any, value: Any) -> bool:
    """``53711`` covers itself, ``537**`` all codes of its length that begin so, ``*`` all."""
    if label == "*":
        return True
    if missing(label) or missing(value):
        return missing(label) and missing(value)
    if str(label).endswith("*"):
        begin = str(label).rstrip("*")
        return str(value).startswith(begin) and len(str(value)) == len(str(label))
    if _RANGE.fullmatch(str(label)):  # texts that are all numbers are ordered as numbers
        return number_covers(label, value)
    if str(label).startswith("{"):
        return str(value) in str(label)[1:-1].split(", ")
    return str(label) == str(value)


def smallest_class(rows: Sequence[Row]) -> int:
    """The size of the smallest group of equal rows."""
    return min(Counter(map(key, rows)).values())


def key(row: Row) -> tuple[str, ...]:
    return tuple("missing" if missing(cell) else str(cell) for cell in row)


def greatest_share(rows: Sequence[Row], values: Sequence[Any]) -> float:
    """The greatest share that one value has in a group of equal rows."""
    groups: dict[tuple[str, ...], Counter[Any]] = {}
    for row, value in zip(rows, values, strict=True):
        groups.setdefault(key(row), Counter())[value] += 1
    return max(max(group.values()) / group.total() for group in groups.values())


def matched(released: Sequence[Row], source: Sequence[Row], covers: Sequence[Covers]) -> int:
    """How many released rows have a source row of their own that they cover, at most.

    Augmenting paths, one released row after the other.
    """
    fits = [
        [at for at, of in enumerate(source)
         if all(cover(label, cell) for cover, label, cell in zip(covers, row, of, strict=True))]
        for row in released
    ]  # fmt: skip
    owner: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for at in fits[row]:
            if at not in tried:
                tried.add(at)
                if at not in owner or place(owner[at], tried):
                    owner[at] = row
                    return True
        return False

    return sum(place(row, set()) for row in range(len(released)))


def equal(cell: Any, value: Any) -> bool:
    """A column that is published unchanged."""
    return (missing(cell) and missing(value)) or cell == value
