"""The statements of the steps, written once in the dialect of DuckDB.

Names inside are our own (``c1``, ``p1``, ``k1``), so that no name of a table can be in the way.
`Dialect` has what sqlglot does not know of an engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from .._errors import ConfigError
from .._tables import needed

Kind: TypeAlias = Literal["text", "number", "float", "date", "time", "boolean", "other"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table in an engine."""

    name: str
    kind: Kind


def _as_text(cell: str) -> str:
    return f"CAST({cell} AS VARCHAR)"


def _as_it_is(name: str) -> str:
    return name


def _null_apart(name: str) -> str:
    return f"CASE WHEN {name} IS NULL THEN '-' ELSE '=' || CAST({name} AS VARCHAR) END"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs from engine to engine beyond the words of SQL.

    Attributes
    ----------
    name : str
        The name of the dialect in sqlglot.
    same : callable
        True where two cells of a kind are equal or both null, as a condition that the engine can
        join on by hashing.
    order_key : callable
        A key to sort by, from the text of a row: the first 64 bits of its SHA-256.
    checksum : callable
        A whole number from texts, to be summed: equal rows have equal numbers.
    number : str
        A number for each row of a table that is being written, none twice.
    text : callable
        A text that is compared byte by byte, whatever the collation of its column is.
    hashed : callable
        A cell as `checksum` takes it: null is like no other.
    is_finite : callable, optional
        False for the dates and times ``infinity`` and ``-infinity``, where an engine has them.
    number_text : callable
        The text of a whole or decimal number: one for equal numbers.
    longest_name : int, optional
        So many bytes the name of a column has at most; the engine would cut a longer one.
    """

    name: str
    same: Callable[[str, str, Kind], str]
    order_key: Callable[[str], str]
    checksum: Callable[[Sequence[str]], str]
    number: str = "row_number() OVER ()"
    text: Callable[[str], str] = _as_it_is
    hashed: Callable[[str], str] = _null_apart
    is_finite: Callable[[str], str] | None = None
    number_text: Callable[[str], str] = _as_text
    longest_name: int | None = None


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the tables of one run, as SQL."""

    tuples: str
    plan: str
    classes: str
    pieces: str
    placed: str
    release: str


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns of a table are counted, and which are published how.

    Attributes
    ----------
    source : str
        The table, as SQL.
    columns : tuple of Column
        All columns of the table.
    counted : tuple of Column
        The tuple of a row: quasi-identifiers, and sensitive columns under a rule.
    passed : tuple of Column
        Columns that are published unchanged.
    published : tuple of str
        The columns that are published in place of quasi-identifiers; known from the plan.
    order : tuple of str
        The columns of the release; known from the plan.
    key : str or None
        A column of the source that is one number for each tuple, where an engine makes one; then
        the tuples have it too, as ``key``, and rows are joined by it.
    persons : tuple of Column
        The columns that name the person of a row; where there are any, a tuple has persons in place
        of rows, and all rows of a person have one tuple.
    missing : tuple of str
        Texts that mean that a cell is missing.
    """

    source: str
    columns: tuple[Column, ...]
    counted: tuple[Column, ...]
    passed: tuple[Column, ...]
    published: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    key: str | None = None
    persons: tuple[Column, ...] = ()
    missing: tuple[str, ...] = ()


def quoted(name: str) -> str:
    """A name as SQL.

    Examples
    --------
    >>> print(quoted('a "b".c'))
    "a ""b"".c"
    """
    if not name or "\0" in name:
        raise ConfigError("a name of a column or table is empty or has NUL", code="names-not-text")
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL.

    Examples
    --------
    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def translated(sql: str, dialect: str) -> str:
    """A statement in the dialect of an engine."""
    if dialect == "duckdb":
        return sql
    sqlglot = needed("sqlglot", "engines")
    made: list[str] = sqlglot.transpile(sql, read="duckdb", write=dialect, identify=True)
    return made[0]


def table_name(name: str) -> str:
    """The name of a table, perhaps with those of schema and catalog, as SQL.

    Parts are taken as they are written; one with a dot in it stands in double quotes.

    Examples
    --------
    >>> print(table_name("clinic.patients"), table_name('"a.b".c'))
    "clinic"."patients" "a.b"."c"
    """
    return ".".join(quoted(part) for part in name_parts(name))


def name_parts(name: str) -> list[str]:
    """The parts of a table's name.

    Examples
    --------
    >>> name_parts('main."a.b"'), name_parts('"a""b".c')
    (['main', 'a.b'], ['a"b', 'c'])
    """
    found = re.findall(r'(?:"((?:[^"]|"")+)"|([^".]+))(\.|$)', name)
    parts = [bare or inner.replace('""', '"') for inner, bare, _ in found]
    whole = ".".join(bare or f'"{inner}"' for inner, bare, _ in found)
    if whole != name or not 1 <= len(parts) <= 3:
        raise ConfigError(
            "the name of a table has one to three parts with dots between them, as in "
            '"schema.patients"; a part that has a dot stands in double quotes',
            code="bad-table-name",
        )
    return parts


def kinds(schema: Any) -> list[Column]:
    """The columns of an Arrow schema."""
    return [Column(field.name, kind_of(field.type)) for field in schema]


def kind_of(kind: Any) -> Kind:
    """The kind of an Arrow type; "other" for those that are compared and counted as text."""
    of = needed("pyarrow", "engines").types
    if of.is_dictionary(kind):
        return "text" if kind_of(kind.value_type) == "text" else "other"
    if of.is_string(kind) or of.is_large_string(kind) or of.is_string_view(kind):
        return "text"
    if of.is_integer(kind) or of.is_decimal(kind):
        return "number"
    if of.is_floating(kind):
        return "float"
    if of.is_boolean(kind):
        return "boolean"
    if of.is_date(kind):
        return "date"
    if of.is_timestamp(kind):
        return "time"
    return "other"


def cell(column: Column, dialect: Dialect, table: str | None = None) -> str:
    """A cell as it is counted and joined: texts byte by byte, one zero, other types as text."""
    name = quoted(column.name) if table is None else f"{table}.{quoted(column.name)}"
    match column.kind:
        case "text":
            return dialect.text(name)
        case "other":
            return dialect.text(f"CAST({name} AS VARCHAR)")
        case "float":  # -0.0 is 0.0
            return f"CASE WHEN {name} = 0 THEN 0 ELSE {name} END"
        case _:
            return name


def key_kind(column: Column) -> Kind:
    """The kind of a cell as it is counted."""
    return "text" if column.kind == "other" else column.kind


BLANKS = "".join(
    chr(one) for one in (*range(9, 14), 32, 133, 160, 5760, *range(8192, 8203), 8232, 8233, 8239,
                         8287, 12288)
)  # fmt: skip
"""What is no part of a text that means missing; the library trims the same."""


def _list(parts: Sequence[str]) -> str:
    return ", ".join(parts)


def _aliases(letter: str, count: int) -> list[str]:
    return [f"{letter}{at}" for at in range(1, count + 1)]


# count


def tuples(layout: Layout, dialect: Dialect) -> str:
    """The distinct tuples, each with a number and its rows or persons."""
    source, cells = counted_units(layout, dialect)
    named = [f"{of} AS c{at}" for at, of in enumerate(cells, 1)]
    return (
        f"SELECT {dialect.number} AS tuple, * FROM (SELECT {_list(named)}, count(*) AS n "
        f"FROM {source} GROUP BY {_list(cells)}) AS counted"
    )


def counted_units(layout: Layout, dialect: Dialect) -> tuple[str, list[str]]:
    """A table with one row for each row or person that is counted, and the counted cells in it."""
    if not layout.persons:
        return layout.source, [cell(column, dialect) for column in layout.counted]
    aliases = _aliases("c", len(layout.counted))
    return f"({person_tuples(layout, dialect)}) AS persons", aliases


def person_tuples(layout: Layout, dialect: Dialect) -> str:
    """The persons, each with its tuple, and as often as it has different ones."""
    cells = [f"{cell(column, dialect)} AS c{at}" for at, column in enumerate(layout.counted, 1)]
    of = f"{person(layout, dialect)} AS person"
    return f"SELECT DISTINCT {_list([*cells, of])} FROM {layout.source}"


def person(layout: Layout, dialect: Dialect, table: str | None = None) -> str:
    """The person of a row as a text, different for different persons; null where all cells of the
    key are missing."""
    parts, none = [], []
    for column in layout.persons:
        of = cell(column, dialect, table)
        match column.kind:
            case "text" | "other":
                text = of
            case "number":
                text = dialect.number_text(of)
            case _:
                text = f"CAST({of} AS VARCHAR)"
        bare = f"TRIM({text}, {literal(BLANKS)})"
        marks = "".join(f" OR {bare} = {literal(mark)}" for mark in layout.missing)
        is_none = f"({of} IS NULL OR {text} = ''{marks})"
        known = f"CAST(length({text}) AS VARCHAR) || ':' || {text}"
        parts.append(f"CASE WHEN {is_none} THEN '-' ELSE {known} END")
        none.append(is_none)
    return f"CASE WHEN {' AND '.join(none)} THEN NULL ELSE {' || '.join(parts)} END"


def tuples_out(layout: Layout, names: Names, count: str) -> str:
    """The tuples under the names of their columns, for the library."""
    aliases = _aliases("c", len(layout.counted))
    out = [
        f"{alias} AS {quoted(of.name)}" for alias, of in zip(aliases, layout.counted, strict=True)
    ]
    return f"SELECT tuple, {_list(out)}, n AS {quoted(count)} FROM {names.tuples}"


# apply


def classes(layout: Layout, names: Names) -> str:
    """What is published for each class, numbered in the order of the labels."""
    labels = _list(_aliases("p", len(layout.published)))
    return (
        f"SELECT CAST(row_number() OVER (ORDER BY {labels}) AS INTEGER) AS class, * FROM "
        f"(SELECT DISTINCT {labels} FROM {names.plan} WHERE NOT suppressed) AS shown"
    )


def pieces(layout: Layout, names: Names, dialect: Dialect, label_kinds: Sequence[Kind]) -> str:
    """The pieces of the plan with the cells of their tuples and the numbers of their classes.

    The class is null where the rows are suppressed.
    """
    cells = _list([f"tuples.{name}" for name in _keys(layout)])
    labels = _aliases("p", len(layout.published))
    same = " AND ".join(
        dialect.same(f"plan.{label}", f"classes.{label}", kind)
        for label, kind in zip(labels, label_kinds, strict=True)
    )
    return (
        f"SELECT plan.tuple, {cells}, classes.class, plan.first_row, plan.last_row, "
        "CASE WHEN plan.first_row = 1 AND plan.last_row = tuples.n THEN 1 ELSE 0 END AS is_whole "
        f"FROM {names.plan} AS plan JOIN {names.tuples} AS tuples ON tuples.tuple = plan.tuple "
        f"LEFT JOIN {names.classes} AS classes ON NOT plan.suppressed AND {same}"
    )


def placed(layout: Layout, names: Names, dialect: Dialect, key: str, which: str = "") -> str:
    """Every released row: its class, and its cells that are published unchanged.

    Rows of a tuple of several pieces are numbered by a keyed hash of these cells, or of the person:
    then all rows of a person have one number. ``which`` is a condition on the class; rows of the
    class null are those that are suppressed.
    """
    which = which or "pieces.class IS NOT NULL"
    passed = [
        f"source.{quoted(column.name)} AS {name}"
        for column, name in zip(layout.passed, _passed(layout), strict=True)
    ]
    join = _of_tuple(layout, "pieces", dialect)
    split = _keys(layout)
    number = _number(layout, "pieces", dialect, key)
    return (
        f"SELECT {_list(['pieces.class', *passed])} FROM {layout.source} AS source "
        f"JOIN {names.pieces} AS pieces ON {join} WHERE pieces.is_whole = 1 AND {which} "
        f"UNION ALL SELECT {_list(['pieces.class', *(f'rows.{k}' for k in _passed(layout))])} "
        f"FROM (SELECT {_list(['pieces.tuple', *passed])}, {number} AS number "
        f"FROM {layout.source} AS source "
        f"JOIN (SELECT DISTINCT tuple, {_list(split)} FROM {names.pieces} WHERE is_whole = 0) "
        f"AS pieces ON {join}) AS rows JOIN {names.pieces} AS pieces ON pieces.tuple = rows.tuple "
        f"AND rows.number BETWEEN pieces.first_row AND pieces.last_row "
        f"WHERE pieces.is_whole = 0 AND {which}"
    )


def by_maps(layout: Layout, names: Names, dialect: Dialect, label_kinds: Sequence[Kind]) -> str:
    """As `placed`, for a global recoding: each value of a column is published in one way.

    One small table for each quasi-identifier, which an engine sends to all its workers.
    """
    passed = [
        f"source.{quoted(column.name)} AS {name}"
        for column, name in zip(layout.passed, _passed(layout), strict=True)
    ]
    joins, same = [], []
    for at, column in enumerate(layout.counted, 1):
        labels = labels_of(layout, column.name)
        if not labels:
            continue
        joins.append(
            f"JOIN {map_name(names, at)} AS m{at} ON "
            + dialect.same(cell(column, dialect, "source"), f"m{at}.c{at}", key_kind(column))
        )
        same += [
            dialect.same(f"m{at}.p{label}", f"classes.p{label}", label_kinds[label - 1])
            for label in labels
        ]
    return (
        f"SELECT {_list(['classes.class', *passed])} FROM {layout.source} AS source "
        f"{' '.join(joins)} JOIN {names.classes} AS classes ON {' AND '.join(same)}"
    )


def map_of(layout: Layout, names: Names, at: int) -> str:
    """What is published for each value of one quasi-identifier."""
    labels = [f"plan.p{label}" for label in labels_of(layout, layout.counted[at - 1].name)]
    return (
        f"SELECT DISTINCT {_list([f'tuples.c{at}', *labels])} FROM {names.plan} AS plan "
        f"JOIN {names.tuples} AS tuples ON tuples.tuple = plan.tuple"
    )


def map_name(names: Names, at: int) -> str:
    """The table of a map, beside that of the classes."""
    return f'{names.classes[:-1]}_m{at}"'


def labels_of(layout: Layout, quasi: str) -> list[int]:
    """The numbers of the published columns of a quasi-identifier, from 1."""
    ends = {f"{quasi}_{end}" for end in ("min", "max", "center", "missing")}
    is_one = quasi in layout.published
    return [
        at
        for at, name in enumerate(layout.published, 1)
        if (name == quasi if is_one else name in ends)
    ]


def released(layout: Layout, names: Names, rows: str, where: str = "") -> str:
    """The release, in the order of the labels and then of the cells that are passed through."""
    labels = {
        name: f"classes.{label}"
        for name, label in zip(layout.published, _aliases("p", len(layout.published)), strict=True)
    }
    passed = {
        column.name: f"placed.{name}"
        for column, name in zip(layout.passed, _passed(layout), strict=True)
    }
    shown = [f"{(labels | passed)[name]} AS {quoted(name)}" for name in layout.order]
    # Not every type of an engine has an order; its text has one.
    order = ["placed.class"] + [
        f"CAST(placed.{name} AS VARCHAR)" if column.kind == "other" else f"placed.{name}"
        for column, name in zip(layout.passed, _passed(layout), strict=True)
    ]
    return (
        f"SELECT {_list(shown)} FROM {rows} AS placed JOIN {names.classes} AS classes "
        f"ON classes.class = placed.class{f' WHERE {where}' if where else ''} "
        f"ORDER BY {_list(order)}"
    )


def _keys(layout: Layout) -> list[str]:
    """The columns of the tuples by which rows are joined."""
    return _aliases("c", len(layout.counted)) if layout.key is None else ["key"]


def _of_tuple(layout: Layout, table: str, dialect: Dialect) -> str:
    """The condition that a row of the source is of a tuple."""
    if layout.key is not None:
        return f"source.{quoted(layout.key)} = {table}.key"
    return " AND ".join(
        dialect.same(cell(column, dialect, "source"), f"{table}.{name}", key_kind(column))
        for column, name in zip(layout.counted, _keys(layout), strict=True)
    )


def _number(layout: Layout, table: str, dialect: Dialect, key: str) -> str:
    """The number of a row, or of its person, among those of its tuple."""
    within = f"PARTITION BY {table}.tuple ORDER BY"
    if not layout.persons:
        order = dialect.order_key(row_text(layout, "source", key))
        return f"row_number() OVER ({within} {order})"
    of = person(layout, dialect, "source")
    # Two persons have two numbers, also where their hashes are the same.
    return f"dense_rank() OVER ({within} {dialect.order_key(f'{literal(key)} || {of}')}, {of})"


def _passed(layout: Layout) -> list[str]:
    return _aliases("k", len(layout.passed))


def row_text(layout: Layout, table: str, key: str) -> str:
    """A text that is different for different cells that are passed through, after a key."""
    parts = [literal(key)]
    for column in layout.passed:
        text = f"CAST({table}.{quoted(column.name)} AS VARCHAR)"
        parts.append(
            f"CASE WHEN {table}.{quoted(column.name)} IS NULL THEN '-' "
            f"ELSE CAST(length({text}) AS VARCHAR) || ':' || {text} END"
        )
    return " || ".join(parts)


# verify


def values(layout: Layout, names: Names, at: int, dialect: Dialect) -> str:
    """The values of a quasi-identifier: from the source alone, with their rows or persons
    (``last_row``), and as a plan of that column alone, whose tuples are values (``is_plan``)."""
    column, labels = layout.counted[at - 1], value_labels(layout, at)
    source, (of,) = counted_units(replace(layout, counted=(column,)), dialect)
    counted = _value(column, of)
    value = _value(column, f"tuples.c{at}")
    by = [value, *(f"plan.{label}" for label in labels), "plan.suppressed"]
    pieces = (
        f"SELECT {_list([f'{value} AS c', *by[1:]])}, "
        "CAST(sum(plan.last_row - plan.first_row + 1) AS BIGINT) AS n "
        f"FROM {names.plan} AS plan JOIN {names.tuples} AS tuples ON tuples.tuple = plan.tuple "
        f"GROUP BY {_list(by)}"
    )
    last = (
        f"CAST(sum(n) OVER (PARTITION BY c ORDER BY {_list([*labels, 'suppressed'])} "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT)"
    )
    return (
        f"SELECT {_list(['c', *labels])}, {last} - n + 1 AS first_row, {last} AS last_row, "
        f"suppressed, TRUE AS is_plan FROM ({pieces}) AS pieces UNION ALL "
        f"SELECT {_list([f'{counted} AS c', *(f'NULL AS {label}' for label in labels)])}, "
        "CAST(1 AS BIGINT) AS first_row, CAST(count(*) AS BIGINT) AS last_row, "
        f"FALSE AS suppressed, FALSE AS is_plan FROM {source} GROUP BY {counted}"
    )


def value_labels(layout: Layout, at: int) -> list[str]:
    """The labels of a quasi-identifier in `values`."""
    return [f"p{number}" for number in labels_of(layout, layout.counted[at - 1].name)]


def _value(column: Column, cell: str) -> str:
    """A cell in which an empty text is missing, as it is for the library."""
    return f"NULLIF({cell}, '')" if key_kind(column) == "text" else cell


def released_counts(release: str, columns: Sequence[Column], count: str, dialect: Dialect) -> str:
    """The classes of a released table, with the rows of each."""
    shown = _list([f"{cell(column, dialect)} AS {quoted(column.name)}" for column in columns])
    by = _list([cell(column, dialect) for column in columns])
    return f"SELECT {shown}, count(*) AS {quoted(count)} FROM {release} GROUP BY {by}"


def checksums(table: str, columns: Sequence[str], dialect: Dialect, key: str) -> str:
    """The number of rows, and sums of keyed hashes of each column and of whole rows.

    ``columns`` are names as SQL.
    """
    texts = [dialect.hashed(name) for name in columns]
    sums = [f"sum({dialect.checksum([literal(key), text])}) AS h{at}"
            for at, text in enumerate(texts, 1)]  # fmt: skip
    whole = f"sum({dialect.checksum([literal(key), *texts])}) AS whole"
    return f"SELECT count(*) AS n, {_list([*sums, whole] if texts else [whole])} FROM {table}"


def row_sum(table: str, columns: Sequence[str], dialect: Dialect, key: str) -> str:
    """The number of rows, and the sum of keyed hashes of whole rows."""
    hashed = dialect.checksum([literal(key), *(dialect.hashed(name) for name in columns)])
    return f"SELECT count(*) AS n, sum({hashed}) AS whole FROM {table}"


def class_sum(table: str, columns: Sequence[str], rows: str, dialect: Dialect, key: str) -> str:
    """The number of classes, and the sum of keyed hashes of their labels and rows."""
    shown = [f"{name} AS p{at}" for at, name in enumerate(columns, 1)]
    counted = (
        f"SELECT {_list(shown)}, CAST({rows} AS BIGINT) AS n FROM {table} GROUP BY {_list(columns)}"
    )
    names = [*_aliases("p", len(columns)), "n"]
    return row_sum(f"({counted}) AS counted", names, dialect, key)


def expected_classes(layout: Layout, names: Names, dialect: Dialect, key: str) -> str:
    """As `class_sum` of the release, from the plan."""
    of = dict(zip(layout.published, _aliases("p", len(layout.published)), strict=True))
    shown = [of[name] for name in layout.order]
    plan = f"(SELECT * FROM {names.plan} WHERE NOT suppressed) AS plan"
    return class_sum(plan, shown, "sum(last_row - first_row + 1)", dialect, key)


def expected(
    layout: Layout, names: Names, dialect: Dialect, key: str
) -> tuple[str, list[str], Dialect, str]:
    """The arguments of `row_sum` for the release as it should be, from source, tuples and plan."""
    rows = _expected_rows(layout, names, dialect, key)
    return f"({rows}) AS expected", _of_order(layout, layout.order), dialect, key


def expected_persons(
    layout: Layout, names: Names, dialect: Dialect, key: str, shown: Sequence[str], count: str
) -> str:
    """The classes of the release as it should be on some columns, with the persons of each."""
    cells = _of_order(layout, shown)
    named = [f"{of} AS {quoted(name)}" for of, name in zip(cells, shown, strict=True)]
    rows = _expected_rows(layout, names, dialect, key)
    each = f"SELECT DISTINCT {_list([*cells, 'person'])} FROM ({rows}) AS expected"
    return (
        f"SELECT {_list(named)}, count(*) AS {quoted(count)} FROM ({each}) AS persons "
        f"GROUP BY {_list(cells)}"
    )


def _expected_rows(layout: Layout, names: Names, dialect: Dialect, key: str) -> str:
    """The rows of the release as it should be, with their persons."""
    cells = _passed(layout)
    shown = [f"plan.{label}" for label in _aliases("p", len(layout.published))]
    passed = [
        f"source.{quoted(column.name)} AS {name}"
        for column, name in zip(layout.passed, cells, strict=True)
    ]
    if layout.persons:
        cells.append("person")
        passed.append(f"{person(layout, dialect, 'source')} AS person")
    join = _of_tuple(layout, "tuples", dialect)
    number = _number(layout, "tuples", dialect, key)
    is_whole = "plan.first_row = 1 AND plan.last_row = tuples.n"
    planned = f"{names.plan} AS plan JOIN {names.tuples} AS tuples ON tuples.tuple = plan.tuple"
    return (
        f"SELECT {_list([*shown, *passed])} FROM {planned} JOIN {layout.source} AS source "
        f"ON {join} WHERE {is_whole} AND NOT plan.suppressed "
        f"UNION ALL SELECT {_list([*shown, *(f'rows.{name}' for name in cells)])} "
        f"FROM (SELECT {_list(['tuples.tuple', *passed])}, {number} AS number "
        f"FROM {names.tuples} AS tuples "
        f"JOIN {layout.source} AS source ON {join} WHERE tuples.tuple IN "
        f"(SELECT plan.tuple FROM {planned} WHERE NOT ({is_whole}))) AS rows "
        f"JOIN {names.plan} AS plan ON plan.tuple = rows.tuple "
        "AND rows.number BETWEEN plan.first_row AND plan.last_row WHERE NOT plan.suppressed"
    )


def _of_order(layout: Layout, shown: Sequence[str]) -> list[str]:
    """The names that columns of the release have in `_expected_rows`."""
    labels = _aliases("p", len(layout.published))
    of = dict(zip(layout.published, labels, strict=True))
    of |= {column.name: name for column, name in zip(layout.passed, _passed(layout), strict=True)}
    return [of[name] for name in shown]


def rows_of(database: Any, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a small result."""
    columns = [column.to_pylist() for column in database.fetch_few(sql).read_all().columns]
    return list(zip(*columns, strict=True))
