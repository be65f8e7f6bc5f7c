"""Persons with several rows, counted by the engine: against plain Python, along a column that
tells every row of the source from the others."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from conftest import Case

import lookalike
from lookalike.engine import _sql, engine

K = 9
ASKED: dict[str, Any] = {
    "k": K,
    "quasi": ["age", "zip"],
    "person": ["site", "number"],
    "keep": ["visit", "ward"],
    "rest": "drop",
    "seed": 7,
    "steps": 300,
}
WARDS = ["surgery", "heart", "eyes", None]


def visits(persons: int = 150, seed: int = 2) -> pa.Table:
    """Up to six visits a person, in any order; the person's age and zip are the same in all.

    The same number stands for two persons of two sites; a few persons have no site. Tuples are
    large, so that some are split.
    """
    draw = random.Random(seed)
    rows = []
    for person in range(persons):
        fixed = {
            "site": ["a", "it's"][person % 2],
            "number": person // 2,
            "age": draw.choice([30, 30, 30, 31, 33, 34, 36, None]),
            "zip": draw.choice(["x", "x", "é", "z z"]),
            "ill": draw.choice(["flu", "cold", "gout", "none"]),
        }
        if person % 7 == 0:
            fixed |= {"site": draw.choice(["", None]), "number": 1000 + person}
        rows += [dict(fixed, ward=draw.choice(WARDS)) for _ in range(draw.randint(1, 6))]
    draw.shuffle(rows)
    for at, row in enumerate(rows):
        row["visit"] = at
    return pa.Table.from_pylist(rows)


def person_of(row: dict[str, Any]) -> tuple[Any, Any]:
    return (row["site"] or None, row["number"])


def classes(source: pa.Table, released: pa.Table) -> dict[tuple[Any, Any], set[tuple[Any, Any]]]:
    """The persons of each class; cells that are passed through are those of the source, and all
    rows of a person are in one class."""
    of = {row["visit"]: row for row in source.to_pylist()}
    found: dict[tuple[Any, Any], set[tuple[Any, Any]]] = defaultdict(set)
    class_of: dict[tuple[Any, Any], tuple[Any, Any]] = {}
    for row in released.to_pylist():
        before = of.pop(row["visit"])
        assert row["ward"] == before["ward"]
        person, shown = person_of(before), (row["age"], row["zip"])
        assert class_of.setdefault(person, shown) == shown
        found[shown].add(person)
    for row in of.values():
        assert person_of(row) not in class_of, "a person is suppressed in part"
    return found


def released_by(case: Case, **changes: Any) -> tuple[Any, pa.Table]:
    made = engine(case.at).anonymize(
        f"{case.prefix}people", into=f"{case.prefix}safe", **(ASKED | changes)
    )
    return made, case.read("safe")


@pytest.mark.parametrize("suppress", [0, "10%"])
def test_classes_have_persons(engine_case: Case, suppress: Any) -> None:
    source = visits()
    engine_case.create("people", source)
    made, released = released_by(engine_case, suppress=suppress)
    found = classes(source, released)
    persons = {person_of(row) for row in source.to_pylist()}
    shown = set().union(*found.values())
    assert min(len(of) for of in found.values()) == made.verdict.k >= K
    assert made.verdict.unit == "persons" and made.verdict.holds
    assert len(found) == made.classes
    assert made.rows == released.num_rows == made.verdict.rows
    assert made.suppressed == source.num_rows - released.num_rows
    assert made.numbers["persons"] == {
        "count": len(persons),
        "reading": "whole",
        "changing": 0,
        "suppressed": len(persons) - len(shown),
    }
    assert "site" not in released.column_names and "number" not in released.column_names
    # The same plan as in memory, which deals the persons of a split tuple by a key of its own.
    memory = lookalike.anonymize(source, **(ASKED | {"suppress": suppress}))
    assert made.loss.ncp == pytest.approx(memory.loss.ncp, abs=1e-9)
    assert made.classes == memory.classes and made.verdict.k == memory.verdict.k
    of_memory = classes(source, pa.table(memory))
    assert {of: len(found[of]) for of in found} == {of: len(of_memory[of]) for of in of_memory}
    tuple_of = {person_of(row): (row["age"], row["zip"]) for row in source.to_pylist()}
    shown_as = defaultdict(set)
    for of, inside in found.items():
        for person in inside:
            shown_as[tuple_of[person]].add(of)
    assert max(len(of) for of in shown_as.values()) > 1  # else no person was numbered


def test_rules_on_sensitive_columns_count_persons(engine_case: Case) -> None:
    source = visits()
    engine_case.create("people", source)
    made, released = released_by(
        engine_case, sensitive={"ill": {"alpha": 0.5}}, algorithm="mondrian"
    )
    ill = {person_of(row): row["ill"] for row in source.to_pylist()}
    for persons in classes(source, released).values():
        values = [ill[person] for person in persons]
        assert max(values.count(one) for one in values) <= 0.5 * len(values)
    assert made.verdict.holds


def test_a_global_recoding(engine_case: Case) -> None:
    source = visits()
    engine_case.create("people", source)
    asked = {key: of for key, of in ASKED.items() if key != "steps"}
    made = engine(engine_case.at).anonymize(
        f"{engine_case.prefix}people",
        into=f"{engine_case.prefix}safe",
        **(asked | {"algorithm": "optimal"}),
    )
    found = classes(source, engine_case.read("safe"))
    assert min(len(of) for of in found.values()) == made.verdict.k >= K


def test_no_column_is_passed_through(engine_case: Case) -> None:
    source = visits()
    engine_case.create("people", source)
    made, released = released_by(engine_case, keep=[])
    assert released.column_names == ["age", "zip"]
    assert made.rows == source.num_rows == released.num_rows


def test_cells_count_persons(duckdb_case: Case) -> None:
    source = visits(persons=600)
    duckdb_case.create("people", source)
    made, released = released_by(duckdb_case, cells=5)
    found = classes(source, released)
    assert min(len(of) for of in found.values()) == made.verdict.k >= K


def test_check_counts_persons(engine_case: Case) -> None:
    source = visits()
    engine_case.create("people", source)
    asked = {key: ASKED[key] for key in ("quasi", "person")}
    at = engine(engine_case.at)
    tuples = defaultdict(set)
    for row in source.to_pylist():
        tuples[row["age"], row["zip"]].add(person_of(row))
    least = min(len(of) for of in tuples.values())
    assert at.check(f"{engine_case.prefix}people", k=2, **asked).k == least
    assert lookalike.check(source, k=2, **asked).k == least


@pytest.mark.parametrize("what", ["row_number", "no person"])
def test_a_wrong_number_is_found(
    engine_case: Case, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are numbered in place of persons, or all persons of a tuple have one number: what would
    be written is not published."""
    engine_case.create("people", visits())
    number = _sql._number

    def wrong(*of: Any) -> str:
        made = number(*of)
        if what == "row_number":
            return made.replace("dense_rank()", "row_number()")
        return "1"

    monkeypatch.setattr(_sql, "_number", wrong)
    with pytest.raises(lookalike.NotVerified):
        released_by(engine_case)
    assert engine_case.tables() == {"people"}


def test_persons_that_an_engine_refuses(engine_case: Case) -> None:
    source = visits()
    rows = source.to_pylist()
    changed = [dict(row, age=99) if row["visit"] == 3 else row for row in rows]
    nobody = [dict(row, site="?", number=-1) if row["visit"] == 3 else row for row in rows]
    names = {"people": source, "changed": changed, "nobody": nobody}
    for name, of in names.items():
        engine_case.create(name, of if name == "people" else pa.Table.from_pylist(of))
    at, prefix = engine(engine_case.at), engine_case.prefix
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("changed", {}, "persons-in-engine"),
        ("nobody", {"missing": ["?", "-1"]}, "no-person"),
        ("people", {"persons": "rows"}, "persons-in-engine"),
        ("people", {"pseudonyms": True, "person": "number"}, "persons-in-engine"),
    ]
    for name, changes, code in wrong:
        with pytest.raises(lookalike.LookalikeError) as caught:
            at.anonymize(f"{prefix}{name}", into=f"{prefix}safe", **(ASKED | changes))
        assert caught.value.code == code, name
    # That one row has a key: it is a person of its own.
    made = at.anonymize(f"{prefix}nobody", into=f"{prefix}safe", **ASKED)
    assert made.verdict.holds
    shown = {key: ASKED[key] for key in ("k", "quasi", "person")}
    with pytest.raises(lookalike.ConfigError) as refused:
        at.verify(f"{prefix}safe", **shown)
    assert refused.value.code == "persons-in-engine"
    assert engine_case.tables() == {*names, "safe"}


def test_one_person_in_two_spellings(engine_case: Case) -> None:
    """Numbers that are equal are one person; so are keys that mean missing, beside another one."""
    if engine_case.name == "postgres":
        from adbc_driver_postgresql import dbapi  # type: ignore[import-untyped]

        with dbapi.connect(engine_case.at, autocommit=True) as other, other.cursor() as cursor:
            cursor.execute(
                f"CREATE TABLE {engine_case.prefix}people AS SELECT p, a FROM (VALUES (1.0, 30), "
                "(1.00, 30), (2, 40), (2.0, 40)) AS rows (p, a)"
            )
    else:
        rows = {"p": [-0.0, 0.0, 2.0, 2.0], "a": [30, 30, 40, 40]}
        engine_case.create("people", pa.table(rows))
    marks = {"p": ["?", "\t?", None, "\u00a0? "], "q": [1, 1, 1, 1], "a": [30, 30, 30, 30]}
    engine_case.create("marks", pa.table(marks))
    at, prefix = engine(engine_case.at), engine_case.prefix
    assert at.check(f"{prefix}people", k=1, quasi=["a"], person=["p"]).k == 1
    found = at.check(f"{prefix}marks", k=1, quasi=["a"], person=["p", "q"], missing=["?"])
    assert found.k == 1


def test_persons_in_spark(any_spark: Any, spark_schema: str) -> None:
    import duckdb

    source = visits()
    any_spark.createDataFrame(source).write.saveAsTable(f"{spark_schema}.people")
    made = engine(any_spark).anonymize(
        f"{spark_schema}.people", into=f"{spark_schema}.safe", **(ASKED | {"suppress": "5%"})
    )
    released = any_spark.table(f"{spark_schema}.safe").toArrow()
    found = classes(source, released)
    assert min(len(of) for of in found.values()) == made.verdict.k >= K
    with duckdb.connect() as connection:
        connection.register("people", source)
        engine(connection).anonymize("people", into="safe", **(ASKED | {"suppress": "5%"}))
        other = connection.sql("SELECT * FROM safe").to_arrow_table()
    by_visit = [
        sorted(of.to_pylist(), key=lambda row: int(row["visit"])) for of in (released, other)
    ]
    assert by_visit[0] == by_visit[1]
