"""Cells: a table whose tuples do not fit one machine, planned part by part.

The library cuts a table into cells (``cuts``) and unites those that do not satisfy the rules on
their own (``merge_cells``). Here is the rest: the cell of a row as an SQL expression, and the plan
of one cell, which needs neither an engine nor the other cells.

A cell may be planned twice, where a task is repeated. So everything here is a function of its
arguments: no randomness, no clock.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .. import _lookalike
from .._errors import ConfigError
from ._sql import literal as sql_text
from ._sql import quoted

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

CELL = "cell"
"""The column that has the number of the cell."""

Side: TypeAlias = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf of the tree; several may be of one cell."""

    cell: int


@dataclass(frozen=True, slots=True, repr=False)
class Cut:
    """A condition on one column: rows that meet it go left.

    It has values of the table, so its repr shows the column alone.
    """

    column: str
    kind: Literal["number", "date", "time", "values"]
    limit: str
    values: tuple[str, ...]
    missing: Side
    left: Node
    right: Node

    def __repr__(self) -> str:
        return f"Cut(column={self.column!r}, kind={self.kind!r})"


Node: TypeAlias = Leaf | Cut


@dataclass(frozen=True, slots=True)
class Cuts:
    """The cells of a table: a tree of conditions whose leaves are numbers of cells from 0.

    Examples
    --------
    >>> cuts = cuts_from_json('''{"version": 1, "cells": 2, "tree": {"column": "age",
    ...     "kind": "number", "limit": "39", "missing": "right",
    ...     "left": {"cell": 0}, "right": {"cell": 1}}}''')
    >>> cuts.cells, cuts.columns
    (2, ('age',))
    """

    cells: int
    rows: tuple[int, ...] | None
    """The rows of each cell, once exact counts are known."""
    tree: Node

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the conditions are about, each once."""
        found: dict[str, None] = {}
        nodes: list[Node] = [self.tree]
        while nodes:
            node = nodes.pop()
            if isinstance(node, Cut):
                found[node.column] = None
                nodes += [node.right, node.left]
        return tuple(found)


def cuts_from_json(text: str) -> Cuts:
    """The cuts that ``cuts`` or ``merge_cells`` of the native module returned."""
    found = json.loads(text)
    if found["version"] != 1:
        raise ConfigError("the cuts are of a version that is unknown", code="not-cuts")
    rows = found.get("rows")
    return Cuts(found["cells"], None if rows is None else tuple(rows), _node(found["tree"]))


def _node(found: dict[str, Any]) -> Node:
    if "cell" in found:
        return Leaf(found["cell"])
    return Cut(
        column=found["column"],
        kind=found["kind"],
        limit=found.get("limit", ""),
        values=tuple(found.get("values", ())),
        missing=found["missing"],
        left=_node(found["left"]),
        right=_node(found["right"]),
    )


# SQL


def cell_sql(cuts: Cuts, schema: pyarrow.Schema, missing: Sequence[str] = ()) -> str:
    """The cell of a row as an SQL expression in the dialect of DuckDB, which is never null.

    Parameters
    ----------
    cuts : Cuts
        The cells.
    schema : pyarrow.Schema
        The types of the columns, as the engine hands them out.
    missing : sequence of str
        The texts that mean "missing" in the request.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cuts = cuts_from_json('''{"version": 1, "cells": 2, "tree": {"column": "age",
    ...     "kind": "number", "limit": "39", "missing": "right",
    ...     "left": {"cell": 0}, "right": {"cell": 1}}}''')
    >>> print(cell_sql(cuts, pa.schema({"age": pa.int64()})))
    CASE WHEN NOT ("age" IS NULL) AND COALESCE("age" <= 39, FALSE) THEN 0 ELSE 1 END
    """
    if isinstance(cuts.tree, Leaf):
        return str(cuts.tree.cell)
    return _case(cuts.tree, schema, missing)


def _case(node: Node, schema: pyarrow.Schema, missing: Sequence[str]) -> str:
    if isinstance(node, Leaf):
        return str(node.cell)
    left, right = (_case(side, schema, missing) for side in (node.left, node.right))
    condition = _condition(node, _type_of(schema, node.column), missing)
    return f"CASE WHEN {condition} THEN {left} ELSE {right} END"


def _type_of(schema: pyarrow.Schema, name: str) -> pyarrow.DataType:
    import pyarrow

    kind = schema.field(name).type
    return kind.value_type if pyarrow.types.is_dictionary(kind) else kind


def _condition(cut: Cut, kind: pyarrow.DataType, missing: Sequence[str]) -> str:
    column = quoted(cut.column)
    absent = _absent(column, kind, missing)
    if cut.kind == "values":
        form = _form(kind)
        value = f"CAST({column} AS VARCHAR)" if form in ("text", "other") else column
        literals = [_literal(text, form) for text in cut.values]
        met = f"{value} IN ({', '.join(literals)})" if literals else "FALSE"
    else:
        value, limit = _ordered(column, cut, kind)
        met = f"{value} <= {limit}"
    met = f"COALESCE({met}, FALSE)"
    return f"({absent}) OR {met}" if cut.missing == "left" else f"NOT ({absent}) AND {met}"


def _absent(column: str, kind: pyarrow.DataType, missing: Sequence[str]) -> str:
    """True where a cell is missing, and never null."""
    form = _form(kind)
    if form == "text":
        # The cast is for numbers that an engine hands out as texts.
        value = f"CAST({column} AS VARCHAR)"
        found = f"{column} IS NULL OR {value} = ''"
        if missing:
            markers = ", ".join(_literal(text.strip(), "text") for text in missing)
            found += f" OR TRIM({value}) IN ({markers})"
        return found
    markers = ", ".join(_literal(text.strip(), form) for text in missing if _fits(text, form))
    return f"{column} IS NULL OR {column} IN ({markers})" if markers else f"{column} IS NULL"


def _ordered(column: str, cut: Cut, kind: pyarrow.DataType) -> tuple[str, str]:
    """The value of a row and the limit, in types that can be compared."""
    form = _form(kind)
    if cut.kind == "number":
        if form == "number":
            return column, _literal(cut.limit, "number")
        text = f"TRIM(CAST({column} AS VARCHAR))"
        # PostgreSQL has no TRY_CAST: the condition is what keeps texts from it.
        number = f"TRY_CAST({text} AS DOUBLE)"
        value = f"CASE WHEN REGEXP_MATCHES({text}, '{_NUMBER_TEXT}') THEN {number} END"
        return value, _literal(cut.limit, "number")
    if form in ("date", "timestamp", "timestamptz"):
        return column, _literal(cut.limit, form)
    # Texts of dates are compared as texts: the order is that of the dates, and no cast can fail.
    text = f"REPLACE(TRIM(CAST({column} AS VARCHAR)), 'T', ' ')"
    value = f"CASE WHEN REGEXP_MATCHES({text}, '{_DATE_TEXT}') THEN {text} END"
    return value, _literal(cut.limit.strip().replace("T", " "), "text")


_SQL_TYPES = {"date": "DATE", "timestamp": "TIMESTAMP", "timestamptz": "TIMESTAMPTZ"}
_NUMBER_TEXT = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,2})?$"
_DATE_TEXT = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_INSTANT = re.compile(r"[+-]?\d{4,6}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?([zZ]|[+-][\d:]+)?)?")


def _form(kind: pyarrow.DataType) -> str:
    """The form of the literals of a type."""
    from pyarrow import types

    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if types.is_boolean(kind):
        return "boolean"
    if types.is_date(kind):
        return "date"
    if types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "timestamptz"
    return "other"


def _fits(text: str, form: str) -> bool:
    """True when a text is a literal of this form."""
    text = text.strip()
    if form == "number":
        return _NUMBER.fullmatch(text) is not None or text == "NaN"
    if form == "boolean":
        return text in ("true", "false")
    if form in _SQL_TYPES:
        return _INSTANT.fullmatch(text) is not None
    return form == "text"


def _literal(text: str, form: str) -> str:
    """A text of the library as a literal. What is no literal of its form is a text, so no text can
    become SQL."""
    if form == "number" and _NUMBER.fullmatch(text.strip()):
        return text.strip()
    string = sql_text(text)
    if form == "number" and text.strip() == "NaN":
        return "CAST('NaN' AS DOUBLE)"
    if form == "boolean" and text in ("true", "false"):
        return text.upper()
    if form in _SQL_TYPES and _INSTANT.fullmatch(text.strip()):
        return f"CAST({string.replace('T', ' ')} AS {_SQL_TYPES[form]})"
    return string


# The plan of a cell


@dataclass(frozen=True, slots=True, repr=False)
class CellPlan:
    """The plan of one cell; its repr has no cells of the table."""

    pieces: pyarrow.Table
    """As ``Plan``: original and published columns, ``first_row``, ``last_row``, ``suppressed``."""
    loss: float
    """The sum over all rows of their normalized certainty penalty, under the domain of the whole:
    losses of cells add up."""
    rows: int
    suppressed: int

    def __repr__(self) -> str:
        return f"CellPlan(rows={self.rows}, suppressed={self.suppressed})"


def cell_seed(seed: int, cell: int) -> int:
    """The seed of a cell: a hash of the seed and the number of the cell, 63 bits.

    >>> cell_seed(7, 0) != cell_seed(7, 1) != cell_seed(8, 1)
    True
    """
    digest = hashlib.sha256(f"lookalike cell {seed} {cell}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def cell_request(request: str, cell: int, tuples: int, all_tuples: int) -> str:
    """The request of a cell: its own seed, and its part of the steps.

    Parameters
    ----------
    request : str
        The request of the whole table, as JSON. It has a seed, and steps where the algorithm is
        "auto"; a limit on time is refused, because two runs would differ.
    cell : int
        The number of the cell.
    tuples, all_tuples : int
        The distinct tuples of the cell, and of the whole table.

    Examples
    --------
    >>> one = json.loads(cell_request('{"k": 10, "seed": 7, "steps": 1000}', 1, 250, 1000))
    >>> one["steps"], one["seed"] == cell_seed(7, 1)
    (250, True)
    """
    wanted = json.loads(request)
    limits = wanted.get("limits") or {}
    if wanted.get("seed") is None:
        raise ConfigError("cells need a seed, so that each is planned once", code="not-repeatable")
    if limits.get("time") is not None:
        raise ConfigError("cells need steps, not time: two runs differ", code="not-repeatable")
    wanted["seed"] = cell_seed(wanted["seed"], cell)
    if wanted.get("steps") is not None:
        wanted["steps"] = max(1, -(-wanted["steps"] * tuples // max(1, all_tuples)))
    # It is about the whole table, so whoever has all losses compares.
    limits.pop("max_loss", None)
    return json.dumps(wanted)


def plan_cell(
    tuples: pyarrow.Table,
    request: str,
    domain: str,
    cell: int,
    all_tuples: int,
    threads: int | None = 1,
) -> CellPlan:
    """Plans one cell, as an executor does: tuples in, pieces out.

    Parameters
    ----------
    tuples : pyarrow.Table
        The distinct tuples of the cell with their counts; a column ``cell`` is ignored.
    request, domain : str
        The request and the domain of the whole table, as JSON.
    cell, all_tuples : int
        The number of the cell, and the distinct tuples of the whole table: the cell has its part of
        the steps.
    threads : int, optional
        Threads of the search; the plan does not depend on them.
    """
    own = cell_request(request, cell, tuples.num_rows, all_tuples)
    native = _planned(_of_request(tuples, request), own, domain, threads)
    numbers = json.loads(native.numbers)
    return CellPlan(
        pieces=_plain(native),
        loss=float(numbers["loss"]["ncp"]),
        rows=int(numbers["input_rows"]),
        suppressed=int(numbers["suppressed"]),
    )


def plan_schema(
    tuples: pyarrow.Table, request: str, domain: str, *, numbered: bool = False
) -> pyarrow.Schema:
    """The schema of the pieces of any cell, for an engine that must know it before.

    Parameters
    ----------
    tuples : pyarrow.Table
        At least one tuple with its count, whatever the rules.
    request, domain : str
        The request and the domain of the whole table, as JSON.
    numbered : bool
        True for pieces with the numbers of their tuples in place of the cells.
    """
    wanted = json.loads(request)
    columns = wanted.get("columns", {})
    for name, column in columns.items():
        if column.get("role") == "sensitive":
            columns[name] = {"role": "sensitive"}
    wanted |= {"k": 1, "rules": [], "algorithm": "mondrian", "steps": None, "seed": 1, "limits": {}}
    one = _of_request(tuples.slice(0, 1), request)
    return _plain(_planned(one, json.dumps(wanted), domain, 1, numbered=numbered)).schema


def _planned(
    tuples: pyarrow.Table,
    request: str,
    domain: str,
    threads: int | None,
    *,
    numbered: bool = False,
) -> _lookalike.Release:
    options: dict[str, Any] = {"bound": "none", "domain": domain, "numbered": numbered}
    if threads is not None:
        options["threads"] = threads
    return _lookalike.plan(tuples, request, json.dumps(options), None)


def _of_request(tuples: pyarrow.Table, request: str) -> pyarrow.Table:
    """The tuples without the number of their cell."""
    is_asked_for = CELL in json.loads(request).get("columns", {})
    if CELL in tuples.column_names and not is_asked_for:
        return tuples.drop_columns([CELL])
    return tuples


def _plain(native: _lookalike.Release) -> pyarrow.Table:
    """The pieces, with labels as texts: cells have different ones, and engines know no dictionaries
    that differ."""
    import pyarrow

    table = pyarrow.table(native)
    for at, field in enumerate(table.schema):
        if pyarrow.types.is_dictionary(field.type):
            column = table.column(at).cast(field.type.value_type)
            table = table.set_column(at, pyarrow.field(field.name, column.type), column)
    return table
