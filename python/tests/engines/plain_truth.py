"""A slow and obvious audit of a release, from its rows and those of its source: plain Python."""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

_ENDS = re.compile(r"\[(.+?) \.\. (.+)\]|\[(-?[\d.]+)-(-?[\d.]+)\]")


def is_missing(cell: Any) -> bool:
    return cell is None or cell == ""


def _form(cell: Any) -> Any:
    """A cell as something that can be compared with the ends of a label."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime.datetime):
        return cell.isoformat()
    if isinstance(cell, datetime.date):
        return cell.isoformat()
    return cell


def _number(text: Any) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def covers(label: Any, cell: Any, tree: Mapping[str, Sequence[str]] | None = None) -> bool:
    """True where a published label can stand for a cell; ``tree`` has the groups of a cell."""
    if label == "*":
        return True
    if str(label).startswith("{") and str(label).endswith("}"):
        members = str(label)[1:-1].split(", ")
        return ('""' if is_missing(cell) else str(_form(cell))) in members
    if is_missing(cell) or is_missing(label):
        return is_missing(cell) and is_missing(label)
    value = _form(cell)
    if str(label) == str(value) or (tree is not None and label in tree[str(value)]):
        return True
    number = _number(value)
    if number is not None and _number(label) == number:
        return True
    if found := _ENDS.fullmatch(str(label)):
        first, last = found[1] or found[3], found[2] or found[4]
        low, high = _number(first), _number(last)
        if number is not None and low is not None and high is not None:
            return low <= number <= high
        return first <= str(value) <= last
    return False


def bounds_cover(row: Row, name: str, cell: Any) -> bool:
    """As `covers` for a column that was published as bounds."""
    low, high, missing = (row[f"{name}_{end}"] for end in ("min", "max", "missing"))
    if is_missing(cell):
        return missing in ("yes", "maybe")
    if missing == "yes":
        return False
    return low is None or bool(low <= cell <= high)


def quasi_covers(row: Row, name: str, cell: Any, trees: Mapping[str, Any]) -> bool:
    return (
        covers(row[name], cell, trees.get(name)) if name in row else bounds_cover(row, name, cell)
    )


def labels(row: Row, quasi: Sequence[str]) -> tuple[Any, ...]:
    """What is published of the quasi-identifiers in a row."""
    ends = [f"{name}{end}" for name in quasi for end in ("", "_min", "_max", "_missing")]
    return tuple(row[name] for name in ends if name in row)


def classes(rows: Sequence[Row], quasi: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(labels(row, quasi), []).append(row)
    return found


def smallest(rows: Sequence[Row], quasi: Sequence[str]) -> int:
    return min(len(group) for group in classes(rows, quasi).values())


def shares(rows: Sequence[Row], column: str) -> dict[Any, float]:
    counts = Counter(row[column] for row in rows)
    return {value: count / len(rows) for value, count in counts.items()}


def greatest_share(rows: Sequence[Row], quasi: Sequence[str], column: str) -> float:
    groups = classes(rows, quasi).values()
    return max(max(shares(group, column).values()) for group in groups)


def least_entropy(rows: Sequence[Row], quasi: Sequence[str], column: str) -> float:
    """The least entropy of a class, as the number of equally frequent values that has it."""
    groups = classes(rows, quasi).values()
    return min(
        math.exp(-math.fsum(p * math.log(p) for p in shares(group, column).values()))
        for group in groups
    )


def greatest_distance(rows: Sequence[Row], quasi: Sequence[str], column: str) -> float:
    """The greatest distance of a class from the table, every two values being equally far."""
    whole = shares(rows, column)
    found = 0.0
    for group in classes(rows, quasi).values():
        here = shares(group, column)
        found = max(found, sum(abs(here.get(v, 0) - p) for v, p in whole.items()) / 2)
    return found


def matched(
    released: Sequence[Row],
    source: Sequence[Row],
    quasi: Sequence[str],
    passed: Sequence[str],
    trees: Mapping[str, Any] | None = None,
) -> int:
    """How many released rows have a source row of their own that they can stand for, at most.

    Augmenting paths without recursion, one released row after the other.
    """
    trees = trees or {}
    fits: list[list[int]] = []
    for row in released:
        fits.append(
            [
                at
                for at, of in enumerate(source)
                if all(row[name] == of[name] for name in passed)
                and all(quasi_covers(row, name, of[name], trees) for name in quasi)
            ]
        )
    owner: dict[int, int] = {}
    number = 0
    for row_at in range(len(released)):
        came: dict[int, tuple[int, int | None]] = {}
        todo: list[tuple[int, int | None]] = [(row_at, None)]
        end: int | None = None
        while todo and end is None:
            one, by = todo.pop()
            for at in fits[one]:
                if at in came:
                    continue
                came[at] = (one, by)
                if at not in owner:
                    end = at
                    break
                todo.append((owner[at], at))
        if end is None:
            continue
        number += 1
        here: int | None = end
        while here is not None:
            one, by = came[here]
            owner[here] = one
            here = by
    return number
