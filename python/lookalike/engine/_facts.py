"""What the columns that are published unchanged disclose, counted by the engine.

The rules are those of a run in memory: a column must not determine a quasi-identifier (a birth year
beside an age), and columns that nobody named must not make many rows unique.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._config import Config
from .._errors import ConfigError, DataError
from ._sql import Column, Layout, Names, cell, person_tuples, quoted, rows_of

if TYPE_CHECKING:
    from ._steps import Database

EVIDENCE = 10.0
"""So many disagreements must be expected by chance before their absence counts."""
NEARLY_UNIQUE = 0.3
"""A column in which a greater share of the rows has a unique value is nearly an identifier."""
MANY_UNIQUE = 0.05
"""Columns that nobody named must not make a greater share of the rows unique."""
LARGE_SHARE = 0.1
"""From this share of the rows on, beyond chance, a near-dependency is warned of."""
DEVIATIONS = 10.0
FEW_ROWS = 3
FREQUENT_VALUES = 100
GREATEST = "1.7976931348623157e308"
"""The greatest number that is not infinite."""
_WEIGHT = ("^[+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,2})?$", "^[^eE]*[1-9]")
"""The text of a positive number: it has a digit that is not zero before its exponent."""


@dataclass(frozen=True, slots=True)
class QuasiValues:
    """How the values of a quasi-identifier are distributed: the largest shares, and the
    probability that two rows differ."""

    name: str
    shares: tuple[float, ...]
    disagreement: float

    def agreement(self, rows: int) -> float:
        """The probability that so many independent rows have one value."""
        return min(1.0, math.fsum(share**rows for share in self.shares))


@dataclass(frozen=True, slots=True)
class Groups:
    """The rows of each value of a column, by the size of the groups.

    `certain` has for each quasi-identifier the number of groups whose rows all have one value.
    """

    size: tuple[int, ...]
    groups: tuple[int, ...]
    certain: tuple[tuple[int, ...], ...]

    @property
    def rows(self) -> int:
        return sum(size * groups for size, groups in zip(self.size, self.groups, strict=True))

    @property
    def unique(self) -> int:
        return sum(n for size, n in zip(self.size, self.groups, strict=True) if size == 1)


def disclosures(database: Database, layout: Layout, names: Names, config: Config) -> list[str]:
    """Refuses columns that disclose quasi-identifiers or persons; returns warnings."""
    if not layout.passed:
        return []
    _check_weight(database, layout, config)
    quasi = [
        (at, column)
        for at, column in enumerate(layout.counted, 1)
        if column.name in config.names("quasi")
    ]
    values = [_values(database, names, at, column.name) for at, column in quasi]
    warnings: list[str] = []
    for column in layout.passed:
        keys = config.get("columns", {}).get(column.name, {})
        groups = _groups(database, layout.source, column, [of for _, of in quasi])
        warnings += _of_column(column.name, keys, groups, values)
    _refuse_rest(database, layout, config)
    return warnings


def _values(database: Database, names: Names, at: int, name: str) -> QuasiValues:
    counted = f"(SELECT CAST(sum(n) AS DOUBLE) AS n FROM {names.tuples} GROUP BY c{at}) AS counted"
    ((rows, squares),) = rows_of(database, f"SELECT sum(n) AS a, sum(n * n) AS b FROM {counted}")
    top = rows_of(database, f"SELECT n FROM {counted} ORDER BY n DESC LIMIT {FREQUENT_VALUES}")
    if not rows:
        return QuasiValues(name, (), 0.0)
    return QuasiValues(name, tuple(n / rows for (n,) in top), 1 - squares / rows**2)


def _groups(database: Database, source: str, column: Column, quasi: Sequence[Column]) -> Groups:
    certain = []
    for at, of in enumerate(quasi, 1):
        value = (
            f"CAST({quoted(of.name)} AS VARCHAR)"
            if of.kind == "boolean"
            else cell(of, database.dialect)
        )
        certain.append(
            f"CASE WHEN count({value}) = 0 OR (count({value}) = count(*) AND "
            f"min({value}) = max({value})) THEN 1 ELSE 0 END AS q{at}"
        )
    sums = [f"sum(q{at}) AS s{at}" for at in range(1, len(quasi) + 1)]
    found = rows_of(
        database,
        f"SELECT n, count(*) AS g, {', '.join(sums)} FROM (SELECT count(*) AS n, "
        f"{', '.join(certain)} FROM {source} GROUP BY {cell(column, database.dialect)}) AS groups "
        "GROUP BY n",
    )
    return Groups(
        tuple(int(row[0]) for row in found),
        tuple(int(row[1]) for row in found),
        tuple(tuple(int(row[2 + at]) for row in found) for at in range(len(quasi))),
    )


def _of_column(
    name: str, keys: dict[str, Any], groups: Groups, quasi: Sequence[QuasiValues]
) -> list[str]:
    """Refuses a column that determines a quasi-identifier; warns of less."""
    role = {"sensitive": "sensitive", "weight": "the weight"}.get(keys.get("role", ""), "kept")
    rows, number = groups.rows, sum(groups.groups)
    if not rows:
        return []
    is_accepted = bool(keys.get("dependent"))
    near: list[str] = []
    for of, certain in zip(quasi, groups.certain, strict=True):
        if sum(certain) == number and (rows - number) * of.disagreement >= EVIDENCE:
            if not is_accepted:
                raise _dependent(name, role, of.name)
        elif (share := _near(groups, certain, of)) is not None:
            near.append(f"`{of.name}` for {share:.1%}")
    warnings = []
    if groups.unique > NEARLY_UNIQUE * rows:
        warnings.append(
            f"column `{name}` is {role} and published unchanged, but {groups.unique / rows:.0%} of "
            "its rows have a unique value: whoever knows it knows the row"
        )
    elif role == "the weight" and groups.unique:
        warnings.append(
            f"column `{name}` is the sampling weight and published unchanged: {groups.unique:,} of "
            f"{rows:,} rows have a weight that no other row has, and can be found by it"
        )
    if near and not is_accepted:
        warnings.append(
            f"column `{name}` is {role} and published unchanged, and gives {', '.join(near)} of "
            f"the rows with certainty: their value of `{name}` has only one value there"
        )
    return warnings


def _near(groups: Groups, certain: Sequence[int], quasi: QuasiValues) -> float | None:
    """The share of rows whose value gives that of the quasi-identifier; none unless it is large,
    and larger than chance makes it."""
    rows = groups.rows
    large = [
        (size, number, sure)
        for size, number, sure in zip(groups.size, groups.groups, certain, strict=True)
        if size >= FEW_ROWS
    ]
    found = sum(size * sure for size, _, sure in large)
    if found < LARGE_SHARE * rows:
        return None
    expected = variance = 0.0
    for size, number, _ in large:
        chance = quasi.agreement(size)
        expected += number * size * chance
        variance += number * size**2 * chance * (1 - chance)
    excess = found - expected
    if excess >= LARGE_SHARE * rows and excess >= DEVIATIONS * math.sqrt(variance):
        return found / rows
    return None


def _dependent(name: str, role: str, quasi: str) -> ConfigError:
    reason = (
        f"column `{name}` is {role} but determines the quasi-identifier `{quasi}`: whoever sees "
        "one knows the other"
    )
    ways = [
        f"drop it: identifiers=[{name!r}]",
        f"make it a quasi-identifier: quasi=[..., {name!r}]",
        f"publish it all the same: accept_dependent=[{name!r}]",
    ]
    return ConfigError(
        f"{reason}; {'; or '.join(ways)}", code="dependent-column", reason=reason, column=name
    )


def _refuse_rest(database: Database, layout: Layout, config: Config) -> None:
    """Refuses columns that only ``rest="keep"`` publishes and that make many rows unique."""
    named = [column for column in layout.passed if column.name in config.get("columns", {})]
    if len(named) == len(layout.passed) or config.get("accept_unique"):
        return
    rows, all_unique = _unique(database, layout.source, layout.passed)
    _, named_unique = _unique(database, layout.source, named) if named else (rows, 0)
    if all_unique - named_unique <= MANY_UNIQUE * rows:
        return
    reason = (
        f"{all_unique:,} of {rows:,} rows are unique on the columns that are published unchanged, "
        f"{len(layout.passed) - len(named)} of them by rest: whoever knows these values of a "
        "person finds the row, whatever k is"
    )
    raise ConfigError(
        f"{reason}; name the columns in keep, or drop them with rest='drop', or pass "
        "accept_unique=True",
        code="unique-rest",
        reason=reason,
    )


def _unique(database: Database, source: str, columns: Sequence[Column]) -> tuple[int, int]:
    """The rows of a table, and those that no other row equals on these columns."""
    by = ", ".join(cell(column, database.dialect) for column in columns)
    ((rows, unique),) = rows_of(
        database,
        "SELECT sum(n) AS a, sum(CASE WHEN n = 1 THEN 1 ELSE 0 END) AS b FROM "
        f"(SELECT count(*) AS n FROM {source} GROUP BY {by}) AS counted",
    )
    return int(rows or 0), int(unique or 0)


@dataclass(frozen=True, slots=True)
class Persons:
    """The persons of a table, and its rows."""

    count: int
    rows: int


def persons(database: Database, layout: Layout) -> Persons | None:
    """The persons of a table, where it has a key. Refuses rows without a person, and persons whose
    rows have several tuples."""
    if not layout.persons:
        return None
    each = f"({person_tuples(layout, database.dialect)}) AS tuples"
    counted = f"(SELECT person, count(*) AS n FROM {each} GROUP BY person) AS persons"
    ((count, changing, none),) = rows_of(
        database,
        "SELECT count(*) AS a, sum(CASE WHEN n > 1 THEN 1 ELSE 0 END) AS b, "
        f"sum(CASE WHEN person IS NULL THEN 1 ELSE 0 END) AS c FROM {counted}",
    )
    ((rows,),) = rows_of(database, f"SELECT count(*) AS n FROM {layout.source}")
    key = layout.persons[0].name
    if none:
        raise DataError(
            f"column `{key}`: there are rows without a person, so nobody knows how many persons a "
            "class has: complete the key, remove the rows, or give each a key of its own",
            code="no-person",
            column=key,
        )
    if changing:
        reason = (
            f"{int(changing):,} of {int(count):,} persons have rows that differ on a "
            "quasi-identifier or on a sensitive column under a rule"
        )
        raise ConfigError(
            f"{reason}, and an engine counts only persons who do not change: run it in memory "
            "(lookalike.anonymize), or take one value for each person, as in a view",
            code="persons-in-engine",
            reason=reason,
        )
    return Persons(int(count), int(rows))


def refuse_infinite(
    database: Database, table: str, cells: Sequence[tuple[Column, str]], rows: str
) -> None:
    """Refuses dates and times that are infinite: no label can cover them.

    ``cells`` are the columns with their cells as SQL, ``rows`` the number of rows of each.
    """
    is_finite = database.dialect.is_finite
    dates = [(column, of) for column, of in cells if column.kind in ("date", "time")]
    if is_finite is None or not dates:
        return
    sums = [
        f"sum(CASE WHEN {is_finite(of)} OR {of} IS NULL THEN 0 ELSE {rows} END) AS s{at}"
        for at, (_, of) in enumerate(dates, 1)
    ]
    (found,) = rows_of(database, f"SELECT {', '.join(sums)} FROM {table}")
    for (column, _), wrong in zip(dates, found, strict=True):
        if wrong and int(wrong):
            raise DataError(
                f"column `{column.name}` has {int(wrong):,} infinite dates, which no label covers: "
                "make them null, as in a view",
                code="not-a-date",
                column=column.name,
            )


def _check_weight(database: Database, layout: Layout, config: Config) -> None:
    """Refuses weights that are no positive numbers; texts of numbers are numbers."""
    for column in layout.passed:
        if column.name not in config.names("weight"):
            continue
        name = quoted(column.name)
        if column.kind in ("number", "float"):
            is_weight = f"{name} > 0 AND {name} <= {GREATEST}"
        else:
            # Without a cast, which would fail at the first text that is no number.
            text = f"TRIM(CAST({name} AS VARCHAR))"
            is_weight = " AND ".join(f"regexp_matches({text}, '{of}')" for of in _WEIGHT)
        ((wrong,),) = rows_of(
            database,
            f"SELECT sum(CASE WHEN {is_weight} THEN 0 ELSE 1 END) AS a FROM {layout.source}",
        )
        if wrong:
            raise DataError(
                f"column `{column.name}` is the sampling weight, and {int(wrong):,} of its cells "
                "are no positive numbers",
                code="not-a-weight",
                column=column.name,
            )
