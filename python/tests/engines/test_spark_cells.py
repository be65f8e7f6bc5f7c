"""Plans in cells: on DuckDB one after the other, on Spark by the executors; the same release."""

from __future__ import annotations

import collections
import os
import random
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import lookalike as la
from lookalike.engine import _cells, _in_cells, engine

QUASI = ["age", "zip", "seen"]
ASKED: dict[str, Any] = {
    "k": 4,
    "quasi": QUASI,
    "sensitive": {"illness": {"l": 2}},
    "keep": ["note"],
    "identifiers": ["id"],
    "seed": 7,
    "steps": 600,
    "suppress": "2%",
}


def people(rows: int = 900) -> pa.Table:
    draw = random.Random(3)
    begin = 1_730_608_200_000_000  # the night when New York has an hour twice

    def column(values: list[Any], missing: float = 0.05) -> list[Any]:
        return [None if draw.random() < missing else draw.choice(values) for _ in range(rows)]

    return pa.table(
        {
            "age": pa.array(column(list(range(20, 40))), pa.int32()),
            "zip": column(["53703", "o'hara", 'a"b', "a\\b", "--"]),
            "seen": pa.array(
                column([begin + hour * 3_600_000_000 for hour in range(8)]),
                pa.timestamp("us", "UTC"),
            ),
            "illness": column(["flu", "cold", "ulcer"], 0.0),
            "note": column(["x", "y", "z"]),
            "id": [str(at) for at in range(rows)],
        }
    )


def multiset(table: pa.Table) -> collections.Counter[Any]:
    return collections.Counter(tuple(row.values()) for row in table.to_pylist())


def by_duckdb(connection: Any, **changes: Any) -> tuple[Any, pa.Table]:
    connection.register("people", people())
    made = engine(connection).anonymize("people", into="safe", replace=True, **(ASKED | changes))
    return made, connection.sql("SELECT * FROM safe").to_arrow_table()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"sensitive": {"illness": {"t": 0.4}}, "suppress": None},
        {"algorithm": "mondrian", "steps": None, "sensitive": {"illness": {"alpha": 0.7}}},
        {"publish": "bounds"},
    ],
)
def test_cells_of_duckdb(duckdb_connection: Any, changes: dict[str, Any]) -> None:
    asked = {key: of for key, of in (ASKED | changes).items() if of is not None}
    duckdb_connection.register("people", people())
    made = engine(duckdb_connection).anonymize("people", into="safe", cells=150, **asked)
    released = duckdb_connection.sql("SELECT * FROM safe").to_arrow_table()
    assert made.numbers["cells"] > 2 and made.bound is None
    assert made.verdict.holds and made.verdict.k >= 4
    rules = {key: asked[key] for key in ("k", "quasi", "sensitive")}
    kept = [name for name in released.column_names if name != "note"]
    assert la.verify(released.select(kept), **rules).holds
    # The numbers of the whole, by hand from the released rows.
    labels = [name for name in kept if name != "illness"]
    classes = collections.Counter(
        tuple(row[name] for name in labels) for row in released.to_pylist()
    )
    assert made.classes == len(classes)
    assert made.loss.c_dm == sum(n * n for n in classes.values()) + made.suppressed * 900
    assert made.loss.c_avg == pytest.approx(900 / len(classes) / 4)
    assert made.loss.ncp == pytest.approx(sum(made.loss.by_column.values()))
    assert made.loss.gcp == pytest.approx(made.loss.ncp / (900 * 3))
    assert made.rows == released.num_rows == 900 - made.suppressed


def test_numbers_are_those_of_a_whole_plan(duckdb_connection: Any) -> None:
    """A plan in one cell and a whole plan are described by the same formulas."""
    one, first = by_duckdb(duckdb_connection, cells=10**6)
    assert one.numbers["cells"] == 1
    whole, second = by_duckdb(duckdb_connection, seed=_cells.cell_seed(7, 0))
    assert multiset(first.drop_columns(["note"])) == multiset(second.drop_columns(["note"]))
    assert one.loss == whole.loss
    assert (one.rows, one.suppressed, one.classes) == (whole.rows, whole.suppressed, whole.classes)
    assert set(one.verdict.findings) <= set(whole.verdict.findings)


def test_a_sample_and_parts_make_a_release(
    duckdb_connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, before = by_duckdb(duckdb_connection, cells=150)
    monkeypatch.setattr(_in_cells, "HELD", 200)
    _, after = by_duckdb(duckdb_connection, cells=150)
    assert multiset(before) == multiset(after)
    monkeypatch.setattr(_in_cells, "SAMPLE", 200)
    made, first = by_duckdb(duckdb_connection, cells=150)
    assert made.numbers["cells"] > 2 and made.verdict.holds
    assert multiset(first) == multiset(by_duckdb(duckdb_connection, cells=150)[1])


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"seed": None}, "not-repeatable"),
        ({"time": "1s"}, "not-repeatable"),
        ({"steps": None}, "not-repeatable"),
        ({"algorithm": "optimal", "steps": None}, "cells-of-global"),
        ({"cells": 0}, "bad-cells"),
        ({"max_loss": 0.0001}, "loss-too-great"),
    ],
)
def test_what_cells_cannot_be(duckdb_connection: Any, changes: dict[str, Any], code: str) -> None:
    asked = {"cells": 150} | {key: of for key, of in (ASKED | changes).items() if of is not None}
    duckdb_connection.register("people", people())
    with pytest.raises(la.LookalikeError) as refused:
        engine(duckdb_connection).anonymize("people", into="safe", **asked)
    assert refused.value.code == code
    assert duckdb_connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(0,)]


def test_cells_of_spark_are_those_of_duckdb_even_if_a_task_dies(
    any_spark: Any,
    spark_schema: str,
    duckdb_connection: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    any_spark.createDataFrame(people()).write.saveAsTable(f"{spark_schema}.people")
    any_spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    marker = str(tmp_path / "armed")
    open(marker, "w").close()
    planner = _in_cells._planner

    def fragile(work: _in_cells.Work) -> _in_cells.Planner:
        plan = planner(work)

        def planned(cell: int, tuples: Any) -> Any:
            made = plan(cell, tuples)
            try:
                os.unlink(marker)
            except OSError:
                return made
            os.kill(os.getpid(), signal.SIGKILL)
            return made

        return planned

    monkeypatch.setattr(_in_cells, "_planner", fragile)
    try:
        made = engine(any_spark).anonymize(
            f"{spark_schema}.people", into=f"{spark_schema}.safe", cells=150, **ASKED
        )
    finally:
        any_spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert not os.path.exists(marker)
    monkeypatch.undo()
    other, released = by_duckdb(duckdb_connection, cells=150)
    assert made.numbers["cells"] == other.numbers["cells"] > 2
    assert multiset(any_spark.table(f"{spark_schema}.safe").toArrow()) == multiset(released)
    assert made.loss == other.loss

    # An error of the library on an executor is that error here.
    def refusing(work: _in_cells.Work) -> _in_cells.Planner:
        return planner(replace(work, request=work.request.replace('"seed"', '"sead"')))

    monkeypatch.setattr(_in_cells, "_planner", refusing)
    with pytest.raises(la.ConfigError) as refused:
        engine(any_spark).anonymize(
            f"{spark_schema}.people", into=f"{spark_schema}.other", cells=150, **ASKED
        )
    assert refused.value.code == "not-repeatable"
    found = any_spark.sql(f"SHOW TABLES IN {spark_schema}").collect()
    tables = [row["tableName"] for row in found if not row["isTemporary"]]
    assert sorted(tables) == ["people", "safe"]
