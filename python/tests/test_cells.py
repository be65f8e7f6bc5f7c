"""Cells: planned one by one, and together a plan of the whole table."""

from __future__ import annotations

import collections
import itertools
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]
import pytest

import lookalike as la
from lookalike import _lookalike
from lookalike.engine import _cells, _sql

QUASI = ["age", "day", "seen", "zip", "member"]
TYPES = {
    "age": pa.int64(),
    "day": pa.date32(),
    "seen": pa.timestamp("us"),
    "zip": pa.string(),
    "member": pa.bool_(),
    "illness": pa.string(),
}
SQL_TYPES = {"age": "INTEGER", "day": "DATE", "seen": "TIMESTAMP", "member": "BOOLEAN"}


@pytest.fixture
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as found:
        yield found


def fill(engine: duckdb.DuckDBPyConnection, rows: int, seed: int) -> None:
    """A table of every type with missing cells, and texts that would be SQL if they could."""
    draw = random.Random(seed)
    zips = ["53703", "o'hara", 'a"b', "a\\b", "--", "60615"]

    def cell(value: Any) -> Any:
        return None if draw.random() < 0.1 else value

    def line(_: int) -> tuple[Any, ...]:
        return (
            cell(draw.randrange(20, 60)),
            cell(f"2024-0{draw.randrange(1, 9)}-11"),
            cell(f"2024-01-01 {draw.randrange(10, 20)}:30:00"),
            cell(draw.choice(zips)),
            cell(draw.random() < 0.5),
            draw.choice(["flu", "cold", "ulcer"]),
        )

    names = ", ".join(f"{name} {SQL_TYPES.get(name, 'VARCHAR')}" for name in TYPES)
    engine.sql(f"CREATE TABLE people ({names})")
    engine.executemany(
        "INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", [line(n) for n in range(rows)]
    )


def arrow(engine: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    return engine.sql(query).to_arrow_table()


def asked(**changes: Any) -> str:
    columns: dict[str, Any] = {name: {"role": "quasi"} for name in QUASI}
    columns["illness"] = {"role": "sensitive", **changes.pop("rule", {"l": 2})}
    request = {"k": 4, "seed": 3, "steps": 200, "count": "n", "columns": columns, **changes}
    return json.dumps(request)


def domain(engine: duckdb.DuckDBPyConnection, request: str) -> str:
    values = "SELECT {0}, count(*) AS n FROM people GROUP BY ALL"
    return _lookalike.domain([arrow(engine, values.format(name)) for name in TYPES], request, "{}")


def cut(
    engine: duckdb.DuckDBPyConnection, request: str, whole: str, tuples: int
) -> tuple[_cells.Cuts, pa.Table]:
    """The cells of the table by a sample of its tuples, and all tuples with their cells."""
    engine.sql(
        f"CREATE TABLE tuples AS SELECT {', '.join(TYPES)}, count(*) AS n FROM people GROUP BY ALL"
    )
    everything = arrow(engine, "SELECT * FROM tuples ORDER BY ALL")
    sample = everything.take(list(range(0, everything.num_rows, 3)))
    options = json.dumps({"tuples": tuples, "whole": everything.num_rows})
    cuts = _lookalike.cuts(sample, request, whole, options)
    cell = _cells.cell_sql(_cells.cuts_from_json(cuts), everything.schema)
    counts = arrow(
        engine, f"SELECT {cell} AS cell, illness, sum(n)::BIGINT AS n FROM tuples GROUP BY ALL"
    )
    merged = _cells.cuts_from_json(_lookalike.merge_cells(cuts, counts, request, whole, "{}"))
    cell = _cells.cell_sql(merged, everything.schema)
    return merged, arrow(engine, f"SELECT {cell} AS cell, * FROM tuples ORDER BY ALL")


def planned(
    tuples: pa.Table, cuts: _cells.Cuts, request: str, whole: str, threads: int = 1
) -> list[_cells.CellPlan]:
    cells = tuples.column("cell").to_pylist()
    parts = [
        [at for at, cell in enumerate(cells) if cell == number] for number in range(cuts.cells)
    ]
    return [
        _cells.plan_cell(tuples.take(part), request, whole, number, tuples.num_rows, threads)
        for number, part in enumerate(parts)
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"rule": {"t": 0.5}},
        {"rule": {"alpha": 0.8}, "limits": {"suppress": "5%"}},
        {"rule": {"distinct": 2}, "rules": [{"k": 20, "columns": ["zip"]}]},
        {"rule": {}, "output": {"publish": "bounds"}},
        {"rule": {}, "output": {"publish": "center"}},
        {"rule": {"entropy": 2}, "algorithm": "mondrian", "steps": None},
    ],
)
def test_plans_of_cells_are_a_plan_of_the_whole(
    engine: duckdb.DuckDBPyConnection, changes: dict[str, Any]
) -> None:
    fill(engine, 900, 1)
    request = asked(**changes)
    whole = domain(engine, request)
    cuts, tuples = cut(engine, request, whole, 150)
    assert cuts.cells > 2 and cuts.rows is not None
    assert sum(cuts.rows) == 900
    plans = planned(tuples, cuts, request, whole)
    assert tuple(plan.rows for plan in plans) == cuts.rows
    schema = _cells.plan_schema(tuples, request, whole)
    assert all(plan.pieces.schema.equals(schema) for plan in plans)
    pieces = pa.concat_tables([plan.pieces for plan in plans])

    counts = tuples.drop_columns(["cell"])
    verdict = json.loads(_lookalike.verify(pieces, request, counts, '{"plan": true}'))
    assert verdict["holds"], verdict
    # Every row of the table is in one piece, by hand.
    names = list(TYPES)
    counted: collections.Counter[Any] = collections.Counter()
    for piece in pieces.to_pylist():
        counted[tuple(piece[name] for name in names)] += piece["last_row"] - piece["first_row"] + 1
    assert counted == collections.Counter(
        {tuple(row[name] for name in names): row["n"] for row in tuples.to_pylist()}
    )
    # The published rows with their counts satisfy the rules without any plan.
    shown = [name for name in schema.names if name.startswith("published_")]
    released: collections.Counter[Any] = collections.Counter()
    for piece in pieces.to_pylist():
        if not piece["suppressed"]:
            key = (*(piece[name] for name in shown), piece["illness"])
            released[key] += piece["last_row"] - piece["first_row"] + 1
    columns = [name.removeprefix("published_") for name in shown] + ["illness"]
    lines = [dict(zip(columns, key, strict=True)) | {"n": n} for key, n in released.items()]
    assert la.verify(pa.Table.from_pylist(lines), json.loads(request)).holds


def test_a_cell_is_planned_in_the_same_way_each_time(engine: duckdb.DuckDBPyConnection) -> None:
    fill(engine, 900, 2)
    request = asked()
    whole = domain(engine, request)
    cuts, tuples = cut(engine, request, whole, 200)
    first = planned(tuples, cuts, request, whole)
    again = planned(tuples, cuts, request, whole, threads=2)
    assert [plan.pieces for plan in first] == [plan.pieces for plan in again]
    seeds = {_cells.cell_seed(3, cell) for cell in range(1000)} | {_cells.cell_seed(4, 0)}
    assert len(seeds) == 1001 and all(0 <= seed < 2**63 for seed in seeds)


def test_the_steps_of_cells_are_those_of_the_whole_together() -> None:
    request = '{"k": 2, "seed": 1, "steps": 1000, "limits": {"max_loss": 0.5, "suppress": "1%"}}'
    ones = [json.loads(_cells.cell_request(request, cell, 250, 1000)) for cell in range(4)]
    assert [one["steps"] for one in ones] == [250] * 4
    assert ones[0]["limits"] == {"suppress": "1%"}
    assert len({one["seed"] for one in ones}) == 4


@pytest.mark.parametrize(
    "changes", [{"limits": {"time": "5s"}}, {"seed": None}, {"steps": None}], ids=str
)
def test_a_plan_that_cannot_be_repeated_is_refused(
    engine: duckdb.DuckDBPyConnection, changes: dict[str, Any]
) -> None:
    fill(engine, 300, 3)
    request = asked()
    whole = domain(engine, request)
    _, tuples = cut(engine, request, whole, 1000)
    with pytest.raises(la.ConfigError) as caught:
        _cells.plan_cell(tuples, asked(**changes), whole, 0, tuples.num_rows)
    assert caught.value.code == "not-repeatable"


VALUES: dict[str, list[Any]] = {
    "number": [None, -1, 0, 39, 40, 1000],
    "text": [None, "", "?", " ? ", "a", "o'hara", 'a"b', "a\\b", "A", "39"],
    "date": [None, "2023-12-31", "2024-01-01", "2024-01-02"],
    "time": [None, "2024-01-01 00:00:00", "2024-01-01 12:00:00.5", "2025-01-01 00:00:00"],
    "boolean": [None, True, False],
}


def side(cut: _cells.Cut, value: Any) -> str:
    """The side of a value, by the words of the condition."""
    if value is None or (isinstance(value, str) and value.strip() in ("", "?")):
        return cut.missing
    if cut.kind == "values":
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return "left" if text in cut.values else "right"
    if cut.kind == "number":
        try:
            return "left" if float(value) <= float(cut.limit) else "right"
        except ValueError:
            return "right"
    # Texts of one form are in the order of time.
    return "left" if str(value) <= cut.limit.replace("T", " ") else "right"


@pytest.mark.parametrize("missing", ["left", "right"])
@pytest.mark.parametrize(
    ("form", "sql_type", "kind", "limit", "values"),
    [
        ("number", "INTEGER", "number", "39", []),
        ("number", "DECIMAL(9,2)", "number", "39.5", []),
        ("number", "DOUBLE", "number", "4e1", []),
        ("number", "BIGINT", "values", "", ["39", "1000"]),
        ("number", "UTINYINT", "values", "", []),
        ("text", "VARCHAR", "values", "", ["a", "o'hara", "a\\b"]),
        ("text", "VARCHAR", "number", "39", []),
        ("date", "DATE", "date", "2024-01-01", []),
        ("date", "VARCHAR", "date", "2024-01-01", []),
        ("date", "DATE", "values", "", ["2024-01-01"]),
        ("time", "TIMESTAMP", "time", "2024-01-01T12:00:00.5", []),
        ("time", "VARCHAR", "time", "2024-01-01T12:00:00.5", []),
        ("boolean", "BOOLEAN", "values", "", ["true"]),
    ],
)
def test_the_sql_of_a_cell_is_the_condition_for_every_type(
    engine: duckdb.DuckDBPyConnection,
    form: str,
    sql_type: str,
    kind: Any,
    limit: str,
    values: list[str],
    missing: Any,
) -> None:
    name = 'odd "name". of'
    leaves = (_cells.Leaf(0), _cells.Leaf(1))
    cut = _cells.Cut(name, kind, limit, tuple(values), missing, *leaves)
    cells = [v for v in VALUES[form] if not (sql_type == "UTINYINT" and v in (-1, 1000))]
    engine.sql(f"CREATE TABLE t (id INTEGER, {_sql.quoted(name)} {sql_type})")
    engine.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(cells)))
    schema = arrow(engine, "SELECT * FROM t").schema
    sql = _cells.cell_sql(_cells.Cuts(2, None, cut), schema, ["?"])
    found = engine.sql(f"SELECT {sql} FROM t ORDER BY id").fetchall()
    assert [row[0] for row in found] == [0 if side(cut, v) == "left" else 1 for v in cells], sql


def test_the_sql_of_a_cell_is_sql_of_other_engines() -> None:
    sqlglot = pytest.importorskip("sqlglot")
    texts = _cells.Cut(
        "c", "values", "", ("o'hara", "a\\b"), "left", _cells.Leaf(0), _cells.Leaf(1)
    )
    time = _cells.Cut("at", "time", "2024-01-01T12:00:00", (), "right", texts, _cells.Leaf(2))
    schema = pa.schema({"c": pa.string(), "at": pa.timestamp("us")})
    sql = f"SELECT {_cells.cell_sql(_cells.Cuts(3, None, time), schema)}"
    for dialect in ["postgres", "spark"]:
        (found,) = sqlglot.transpile(sql, read="duckdb", write=dialect)
        again = sqlglot.parse_one(found, read=dialect)
        literals = {node.this for node in again.find_all(sqlglot.exp.Literal) if node.is_string}
        assert {"o'hara", "a\\b"} <= literals, (dialect, found)


def test_nothing_of_a_value_is_in_an_error_or_a_repr(engine: duckdb.DuckDBPyConnection) -> None:
    fill(engine, 300, 4)
    request = asked()
    whole = domain(engine, request)
    cuts, tuples = cut(engine, request, whole, 60)
    assert "hara" not in repr(cuts) and "2024" not in repr(cuts)
    strange = tuples.set_column(
        tuples.column_names.index("zip"), "zip", pa.array(["canary"] * tuples.num_rows)
    )
    calls: list[Callable[[], object]] = [
        lambda: _cells.plan_cell(strange, request, whole, 0, tuples.num_rows),
        lambda: _lookalike.plan(tuples, request, json.dumps({"domain": '{"canary": 1}'}), None),
        lambda: _lookalike.merge_cells('{"canary"}', tuples, request, whole, "{}"),
        lambda: _lookalike.cuts(strange, request, whole, '{"tuples": 10, "whole": 300}'),
    ]
    for call in calls:
        with pytest.raises(la.LookalikeError) as caught:
            call()
        assert "canary" not in str(caught.value) and caught.value.code


def test_exact_counts_unite_cells_that_do_not_hold() -> None:
    rows = [("a", "flu", 3), ("b", "flu", 9), ("b", "cold", 9), ("c", "flu", 20), ("c", "cold", 20)]
    table = pa.table(
        dict(zip(["city", "illness", "n"], map(list, zip(*rows, strict=True)), strict=True))
    )
    columns = {"city": {"role": "quasi"}, "illness": {"role": "sensitive", "distinct": 2}}
    request = json.dumps({"k": 4, "seed": 1, "steps": 5, "count": "n", "columns": columns})
    values = [table.select([name, "n"]) for name in columns]
    whole = _lookalike.domain(values, request, "{}")
    leaf = [{"cell": number} for number in range(3)]
    condition = {"column": "city", "kind": "values", "missing": "right"}
    inner = {**condition, "values": ["a"], "left": leaf[0], "right": leaf[1]}
    tree = {**condition, "values": ["c"], "left": leaf[2], "right": inner}
    cuts = json.dumps({"version": 1, "cells": 3, "tree": tree})
    number = {"a": 0, "b": 1, "c": 2}
    counts = table.append_column("cell", pa.array([number[row[0]] for row in rows]))
    merged = json.loads(_lookalike.merge_cells(cuts, counts, request, whole, "{}"))
    assert (merged["cells"], merged["rows"]) == (2, [21, 40])
    assert merged["tree"] == {
        **condition,
        "values": ["c"],
        "left": {"cell": 1},
        "right": {"cell": 0},
    }


def test_the_domain_of_columns_counts_beyond_32_bits() -> None:
    request = json.dumps({"k": 2, "count": "n", "columns": {"age": {"role": "quasi"}}})
    ages = pa.table({"age": [1, 2], "n": [5_000_000_000, 1]})
    assert json.loads(_lookalike.domain([ages], request, "{}"))["rows"] == 5_000_000_001
    for wrong in [{"age": [1], "n": [0]}, {"age": [1], "m": [1]}, {"age": [1], "b": [1], "n": [1]}]:
        with pytest.raises(la.DataError):
            _lookalike.domain([pa.table(wrong)], request, "{}")


def test_every_pair_of_limits_and_orders_of_arguments_gives_whole_numbers() -> None:
    for tuples, everything in itertools.product([1, 7, 1000], [1, 999, 10**9]):
        request = _cells.cell_request('{"seed": 0, "steps": 5}', 0, tuples, everything)
        assert json.loads(request)["steps"] >= 1
