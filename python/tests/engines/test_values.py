"""Cells that engines compare, spell or order in ways of their own."""

from __future__ import annotations

import math
from typing import Any

import plain_truth as truth
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from conftest import Case

import lookalike
from lookalike.engine import engine

pytestmark = pytest.mark.filterwarnings("ignore::lookalike.LookalikeWarning")

Run = Any
"""Runs a statement with ``{s}`` for what stands before the name of a table."""


@pytest.fixture
def run_sql(engine_case: Case, request: pytest.FixtureRequest) -> Run:
    """A statement on the engine of the test, by another way than that of the package."""
    if engine_case.name == "duckdb":
        return lambda sql: engine_case.at.execute(sql.format(s=""))
    from adbc_driver_postgresql import dbapi  # type: ignore[import-untyped]

    def run(sql: str) -> None:
        with dbapi.connect(engine_case.at, autocommit=True) as other, other.cursor() as cursor:
            cursor.execute(sql.format(s=engine_case.prefix))

    return run


def made(case: Case, **asked: Any) -> list[dict[str, Any]]:
    """The rows of a release of the table people."""
    usual: dict[str, Any] = {"k": 4, "seed": 7, "rest": "drop"} | asked
    engine(case.at).anonymize(f"{case.prefix}people", into=f"{case.prefix}safe", **usual)
    rows: list[dict[str, Any]] = case.read("safe").to_pylist()
    return rows


def covers(label: Any, value: str) -> bool:
    """True where a label is the value, `*`, or a set with it."""
    text = str(label)
    return text in (value, "*") or (text.startswith("{") and value in text[1:-1].split(", "))


def test_a_collation_that_ignores_case(engine_case: Case, run_sql: Run) -> None:
    """Each row has a label that covers its own spelling."""
    if engine_case.name == "duckdb":
        collation = "NOCASE"
    else:
        collation = f"{engine_case.prefix}any_case"
        run_sql(
            "CREATE COLLATION {s}any_case (provider = icu, locale = 'und-u-ks-level2', "
            "deterministic = false)"
        )
    series = "range(60)" if engine_case.name == "duckdb" else "generate_series(0, 59)"
    run_sql(
        f"CREATE TABLE {{s}}people AS SELECT (CASE i % 4 WHEN 0 THEN 'paris' WHEN 1 THEN 'PARIS' "
        f"WHEN 2 THEN 'Rome' ELSE 'rome' END) COLLATE {collation} AS city, (CASE i % 4 WHEN 0 THEN "
        f"'paris' WHEN 1 THEN 'PARIS' WHEN 2 THEN 'Rome' ELSE 'rome' END) || '' AS own "
        f"FROM {series} t(i)"
    )
    # "own" says what the city of a row was; the column is named and published.
    rows = made(engine_case, quasi=["city"], keep="own", accept_dependent=["own"])
    assert len(rows) == 60
    assert all(covers(row["city"], row["own"]) for row in rows)
    assert {row["city"] for row in rows} == {"paris", "PARIS", "Rome", "rome"}


def floats(rows: int = 120) -> pa.Table:
    """Numbers with both zeros and NaN in each tenth row: so many that the column is of values."""
    cells = [[-0.0, 0.0, 1.5, 2.5, math.nan][i % 5] for i in range(rows)]
    return pa.table({"x": cells, "y": [i * 7 % 31 for i in range(rows)],
                     "kind": [i * i % 7 % 3 for i in range(rows)]})  # fmt: skip


@pytest.mark.parametrize("cells", [None, 40])
def test_both_zeros_and_nan(engine_case: Case, cells: int | None) -> None:
    table = floats()
    engine_case.create("people", table)
    more: dict[str, Any] = {} if cells is None else {"cells": cells}
    rows = made(engine_case, quasi=["x", "y"], keep="kind", steps=50, **more)
    assert len(rows) == 120
    assert truth.smallest(rows, ["x", "y"]) >= 4
    source = f"{engine_case.prefix}people"
    asked: dict[str, Any] = {"k": 4, "quasi": ["x", "y"], "keep": "kind"}
    one_zero = table.set_column(0, "x", [[0.0 if x == 0 else x for x in table["x"].to_pylist()]])
    held = lookalike.verify(engine_case.read("safe"), source=one_zero, **asked)
    assert held.holds
    assert engine(engine_case.at).verify(f"{engine_case.prefix}safe", source=source, **asked).holds


def test_one_zero(engine_case: Case) -> None:
    """-0.0 and 0.0 are one value: k counts them together."""
    engine_case.create("people", pa.table({"x": [0.0, 0.0, -0.0, -0.0, 9.0, 9.0, 9.0, 9.0] * 3}))
    rows = made(engine_case, quasi=["x"], k=12)
    assert sorted({str(row["x"]) for row in rows}) == ["0.0", "9.0"]


@pytest.mark.parametrize("cells", [None, 30])
def test_texts_among_numbers(engine_case: Case, cells: int | None) -> None:
    """A few texts that are no numbers, dates or both, in columns that are nearly numbers."""
    odd = {3: "unknown", 17: "1e400", 40: "-", 77: ""}
    numbers = [odd.get(i, str(20 + i * 7 % 50)) for i in range(300)]
    days = [
        "2024-02-31" if i == 9 else "soon" if i == 11 else f"2024-01-{1 + i % 28:02}"
        for i in range(300)
    ]
    table = pa.table({"a": numbers, "day": days, "kind": [i * i % 7 % 3 for i in range(300)]})
    engine_case.create("people", table)
    asked: dict[str, Any] = {"k": 4, "quasi": ["a", "day"], "keep": "kind"}
    more: dict[str, Any] = {} if cells is None else {"cells": cells}
    with pytest.raises(lookalike.DataError) as caught:
        made(engine_case, steps=50, **asked, **more)
    # Tuples have no rows that anybody could look at.
    assert caught.value.column == "a" and caught.value.row is None
    assert "data row" not in str(caught.value)
    asked["missing"] = ["unknown", "1e400", "-", "soon", "2024-02-31"]
    rows = made(engine_case, steps=50, **asked, **more)
    assert len(rows) == 300
    assert lookalike.verify(engine_case.read("safe"), source=table, **asked).holds


@pytest.mark.parametrize("cells", [None, 20])
def test_decimals(engine_case: Case, run_sql: Run, cells: int | None) -> None:
    series = "range(300)" if engine_case.name == "duckdb" else "generate_series(0, 299)"
    run_sql(
        "CREATE TABLE {s}people AS SELECT CAST(i * 7 % 91 AS DECIMAL(10, 2)) / 4 AS a, "
        f"i * 11 % 13 AS b, i * i % 7 % 3 AS kind FROM {series} t(i)"
    )
    asked: dict[str, Any] = {"k": 4, "quasi": ["a", "b"], "keep": "kind"}
    more: dict[str, Any] = {} if cells is None else {"cells": cells}
    rows = made(engine_case, steps=50, **asked, **more)
    assert len(rows) == 300
    assert truth.smallest(rows, ["a", "b"]) >= 4
    safe, people = (f"{engine_case.prefix}{name}" for name in ("safe", "people"))
    assert engine(engine_case.at).verify(safe, source=people, **asked).holds


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMPTZ"])
@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_infinite_dates(engine_case: Case, run_sql: Run, kind: str, role: str) -> None:
    """No label covers them: the run is refused with their number. Published unchanged they are
    cells as all others."""
    series = "range(40)" if engine_case.name == "duckdb" else "generate_series(0, 39)"
    run_sql(
        f"CREATE TABLE {{s}}people AS SELECT CAST(CASE i WHEN 3 THEN 'infinity' WHEN 5 THEN "
        f"'-infinity' WHEN 6 THEN NULL ELSE '2024-01-0' || (1 + i % 9) END AS {kind}) AS day, "
        f"i % 3 AS age FROM {series} t(i)"
    )
    at = engine(engine_case.at)
    quasi = ["age", "day"] if role == "quasi" else ["age"]
    asked: dict[str, Any] = {"k": 2, "quasi": quasi}
    if role == "sensitive":
        asked["sensitive"] = {"day": {"l": 2}}
    for call in (lambda: made(engine_case, **asked),
                 lambda: at.check(f"{engine_case.prefix}people", **asked)):  # fmt: skip
        with pytest.raises(lookalike.DataError) as caught:
            call()
        assert (caught.value.code, caught.value.column) == ("not-a-date", "day")
        assert "has 2 infinite" in str(caught.value)
    assert engine_case.tables() == {"people"}
    engine(engine_case.at).anonymize(
        f"{engine_case.prefix}people", into=f"{engine_case.prefix}safe", k=4, quasi=["age"],
        keep="day", accept_dependent="day", seed=7,
    )  # fmt: skip
    assert engine_case.read("safe").num_rows == 40


def test_the_time_zone_of_the_session(duckdb_case: Case) -> None:
    """Labels of instants are in UTC, and the session keeps its zone."""
    connection = duckdb_case.at
    connection.execute(
        "CREATE TABLE people AS SELECT TIMESTAMPTZ '2024-03-10 05:30:00+00' + i * INTERVAL 37 "
        'MINUTE AS "at", i % 3 AS kind FROM range(60) t(i)'
    )
    found = []
    for zone in ("UTC", "America/New_York", "Asia/Kathmandu"):
        connection.execute(f"SET TimeZone = '{zone}'")
        engine(connection).anonymize(
            "people", into="safe", k=5, quasi=["at"], keep="kind", seed=7, steps=50, replace=True
        )
        found.append(sorted(connection.execute('SELECT "at", kind FROM safe').fetchall()))
        assert connection.execute("SELECT current_setting('TimeZone')").fetchall() == [(zone,)]
        assert (
            engine(connection).verify("safe", source="people", k=5, quasi=["at"], keep="kind").holds
        )
    assert found[0] == found[1] == found[2]
    assert "Z" in found[0][0][0]


def test_weights_in_text(engine_case: Case) -> None:
    """As in memory: texts of numbers are weights, and others are counted."""
    right = ["1", "2.5", " 3 ", "+4", ".5", "1e2", "2.", "1E-3"]
    for weights, wrong in [(right, 0), ([*right[:-4], "-1", "0.0", "x", ""], 4)]:
        table = pa.table({"age": [20 + i // 8 % 3 for i in range(48)], "w": weights * 6})
        name = f"people_{wrong}"
        engine_case.create(name, table)
        asked: dict[str, Any] = {"k": 4, "quasi": ["age"], "sampling_weight": "w", "seed": 7}

        def run(name: str = name, asked: dict[str, Any] = asked) -> Any:
            return engine(engine_case.at).anonymize(
                f"{engine_case.prefix}{name}", into=f"{engine_case.prefix}safe_{name}", **asked
            )

        if not wrong:
            assert run().rows == lookalike.anonymize(table, **asked).rows == 48
            continue
        with pytest.raises(lookalike.DataError) as caught:
            run()
        assert caught.value.code == "not-a-weight"
        assert f"{6 * wrong} of its cells" in str(caught.value)
        with pytest.raises(lookalike.DataError) as memory:
            lookalike.anonymize(table, **asked)
        assert memory.value.code == caught.value.code


def test_reprs_have_no_cells() -> None:
    from lookalike.engine import _cells

    pieces = pa.table({"city": ["SECRET-ANNA"]})
    assert "SECRET" not in repr(_cells.CellPlan(pieces, 0.0, 1, 0))
    leaves = (_cells.Leaf(0), _cells.Leaf(1))
    cut = _cells.Cut("c", "values", "", ("SECRET-ANNA",), "left", *leaves)
    assert "SECRET" not in repr(_cells.Cuts(2, None, cut))


@pytest.mark.parametrize("name", ["Lookalike_Key", "c1", "key", "person", "tuple_", "N"])
def test_names_that_the_body_uses_too(engine_case: Case, name: str) -> None:
    """Also of columns without a role, in any spelling."""
    table = {name: list(range(60)), "a": [i % 5 for i in range(60)], "visit": list(range(60))}
    engine_case.create("people", pa.table(table))
    rows = made(engine_case, quasi=["a"], keep=["visit"])
    assert sorted((row["visit"], int(row["a"])) for row in rows) == [(i, i % 5) for i in range(60)]


def test_times_with_an_offset_in_seconds(duckdb_case: Case) -> None:
    """Their text in DuckDB does not say the seconds."""
    duckdb_case.at.execute("SET TimeZone = 'Europe/Berlin'")
    duckdb_case.at.execute(
        "CREATE TABLE people AS SELECT TIMESTAMPTZ '1890-01-01 00:00:00+00' AS born "
        "FROM range(8) t(i)"
    )
    assert {row["born"] for row in made(duckdb_case, quasi=["born"])} == {"1890-01-01T00:00:00Z"}


def test_padded_texts_of_a_collation_that_ignores_case(postgres_case: Case) -> None:
    from adbc_driver_postgresql import dbapi

    at = postgres_case.prefix
    with dbapi.connect(postgres_case.at, autocommit=True) as other, other.cursor() as cursor:
        cursor.execute(
            f"CREATE COLLATION {at}ci (provider = icu, locale = 'und-u-ks-level2', "
            "deterministic = false)"
        )
        cursor.execute(
            f"CREATE TABLE {at}people AS SELECT CAST((ARRAY['Ann', 'ANN', 'bob', 'BOB'])[1 + i % 4]"
            f" AS char(8)) COLLATE {at}ci AS z, i AS visit FROM generate_series(0, 39) AS i"
        )
    rows = made(postgres_case, quasi=["z"], keep=["visit"])
    names = ["Ann", "ANN", "bob", "BOB"]
    assert all(row["z"].strip() == names[row["visit"] % 4] for row in rows)


@pytest.mark.parametrize("role", ["quasi", "keep", "person", "sensitive"])
@pytest.mark.parametrize("kind", ["UUID", "JSON"])
def test_types_whose_texts_are_special(
    engine_case: Case, run_sql: Run, kind: str, role: str
) -> None:
    """DuckDB hands out both as texts, and collates neither."""
    if engine_case.name == "postgres" and kind == "JSON" and role == "keep":
        kind = "JSONB"  # json has no equality in PostgreSQL
    series = "range(40) t(i)" if engine_case.name == "duckdb" else "generate_series(0, 39) AS i"
    text = f"CAST({'100 + i % 20' if role == 'person' else 'i % 2'} AS VARCHAR)"
    if kind == "UUID":
        zeros = "'00000000-0000-0000-0000-000000000000'"
        text = f"substr({zeros}, 1, 36 - length({text})) || {text}"
    run_sql(
        f"CREATE TABLE {{s}}people AS SELECT CAST({text} AS {kind}) AS u, "
        f"CASE WHEN i % 20 < 10 THEN 1 ELSE 2 END AS a FROM {series}"
    )
    asked: dict[str, Any] = {"quasi": ["a", "u"] if role == "quasi" else ["a"]}
    if role != "quasi":
        asked[role] = {"u": {"l": 2}} if role == "sensitive" else ["u"]
    if role == "person":
        asked["keep"] = []
    rows = made(engine_case, algorithm="mondrian", **asked)
    assert len(rows) == 40
    assert ("u" in rows[0]) == (role != "person")


def test_a_column_that_is_missing_everywhere(engine_case: Case, run_sql: Run) -> None:
    series = "range(40) t(i)" if engine_case.name == "duckdb" else "generate_series(0, 39) AS i"
    run_sql(
        "CREATE TABLE {s}people AS SELECT CAST(NULL AS INTEGER) AS u, '' AS v, i % 3 AS a "
        f"FROM {series}"
    )
    rows = made(engine_case, quasi=["a", "u", "v"])
    assert len(rows) == 40 and all(row["u"] is None and not row["v"] for row in rows)


def test_a_name_that_the_engine_would_cut(postgres_case: Case) -> None:
    name = "x" * 60
    postgres_case.create("people", pa.table({name: [i % 4 for i in range(40)]}))
    with pytest.raises(lookalike.ConfigError) as caught:
        made(postgres_case, quasi=[name], k=15, publish="bounds")
    assert caught.value.code == "name-taken" and postgres_case.tables() == {"people"}
