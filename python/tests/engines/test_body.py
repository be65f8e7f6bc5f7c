"""The body of the engines: the same tests on every engine, against plain Python and memory."""

from __future__ import annotations

import datetime
import hashlib
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import plain_truth as truth
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from conftest import REPOSITORY, Case, unavailable

import lookalike
from lookalike.engine import EngineRelease, _sql, _steps, engine

TEXTS = ["a b", "it's", 'q"t', "é,€", "new\nline", "back\\slash", "", "null", "-", "NULL'); --"]


def people(rows: int = 240, seed: int = 1, missing: float = 0.1) -> pa.Table:
    """A table with all kinds of columns, nulls in each, and texts that need quoting."""
    draw = random.Random(seed)

    def column(kind: pa.DataType, one: Callable[[], Any]) -> pa.Array:
        cells = [None if draw.random() < missing else one() for _ in range(rows)]
        return pa.array(cells, kind)

    return pa.table(
        {
            "age": column(pa.int64(), lambda: draw.randint(20, 40)),
            "zip": column(pa.string(), lambda: draw.choice(TEXTS)),
            "sex": column(pa.bool_(), lambda: draw.random() < 0.5),
            "born": column(
                pa.date32(),
                lambda: datetime.date(1960, 1, 1) + datetime.timedelta(draw.randint(0, 40)),
            ),
            "x": column(pa.float64(), lambda: draw.randint(0, 40) / 4),
            "ill": column(pa.string(), lambda: draw.choice(["flu", "cold", "it's", "é\n"])),
            "cost": column(pa.int32(), lambda: draw.randint(0, 5)),
        }
    )


QUASI = ["age", "zip", "sex", "born"]
USUAL: dict[str, Any] = {"seed": 7, "rest": "drop"}


def few_tuples() -> pa.Table:
    """Large tuples, and columns whose text is the same in all engines."""
    draw = random.Random(3)
    rows = range(200)
    return pa.table(
        {
            "age": [draw.choice([20, 20, 20, 20, 31, 32, None]) for _ in rows],
            "zip": [draw.choice(["a", "a", "a", "b", "é"]) for _ in rows],
            "note": [draw.choice(["x", "y'", None, "", "é€"]) for _ in rows],
            "day": [datetime.date(2020, 1, draw.randint(1, 9)) for _ in rows],
            "size": [draw.randint(-5, 5) for _ in rows],
            "is": [draw.random() < 0.5 for _ in rows],
        }
    )


@pytest.fixture
def splits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """For each run of a test, the pieces of its plan that do not begin with the first row."""
    found: list[int] = []
    pieces = _steps._pieces

    def counted(plan: Any, number_of: Any) -> Any:
        found.append(sum(row > 1 for row in plan.column("first_row").to_pylist()))
        return pieces(plan, number_of)

    monkeypatch.setattr(_steps, "_pieces", counted)
    return found


def anonymized(case: Case, table: pa.Table, into: str = "safe", **changes: Any) -> EngineRelease:
    if "people" not in case.tables():
        case.create("people", table)
    return engine(case.at).anonymize(
        f"{case.prefix}people",
        into=f"{case.prefix}{into}",
        **(USUAL | changes),
    )


def released(case: Case, name: str = "safe") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = case.read(name).to_pylist()
    return rows


def multiset(rows: Sequence[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    names = sorted(rows[0])
    return Counter(tuple(None if row[n] is None else str(row[n]) for n in names) for row in rows)


def in_memory(table: pa.Table, **changes: Any) -> Counter[tuple[Any, ...]]:
    made = lookalike.anonymize(table, **(USUAL | changes))
    return multiset(pa.table(made).to_pylist())


def is_true(case: Case, table: pa.Table, k: int, passed: Sequence[str], **also: Any) -> None:
    """The release covers its source row by row, and k holds."""
    quasi = also.get("quasi", QUASI)
    rows = released(case)
    found = truth.matched(rows, table.to_pylist(), quasi, passed, also.get("trees"))
    assert found == len(rows)
    assert truth.smallest(rows, quasi) >= k


@pytest.mark.filterwarnings("ignore::lookalike.LookalikeWarning")
class TestReleases:
    """Releases of all kinds."""

    @pytest.mark.parametrize("algorithm", ["auto", "mondrian", "optimal", "incognito"])
    def test_covers_its_source(self, engine_case: Case, algorithm: str) -> None:
        table = people()
        search: dict[str, Any] = {"steps": 200} if algorithm == "auto" else {}
        made = anonymized(
            engine_case,
            table,
            k=4,
            quasi=QUASI,
            keep=["ill", "cost"],
            algorithm=algorithm,
            **search,
        )
        assert made.rows == table.num_rows == len(released(engine_case))
        assert made.verdict.holds
        assert set(made.times) == {"count", "plan", "apply", "verify", "publish"}
        is_true(engine_case, table, 4, ["ill", "cost"])

    @pytest.mark.parametrize("publish", ["bounds", "center"])
    def test_bounds(self, engine_case: Case, publish: str) -> None:
        table = people()
        anonymized(
            engine_case, table, k=4, quasi=[*QUASI, "x"], keep="cost", publish=publish, steps=100
        )
        names = engine_case.read("safe").column_names
        assert "age_min" in names and ("age_center" in names) == (publish == "center")
        is_true(engine_case, table, 4, ["cost"], quasi=[*QUASI, "x"])

    def test_sets(self, engine_case: Case) -> None:
        table = people().set_column(
            1, "zip", [[["ab", "cd", "ef", "gh"][i % 4] for i in range(240)]]
        )
        anonymized(engine_case, table, k=6, quasi=QUASI, publish="set", steps=100)
        assert any(str(row["zip"]).startswith("{") for row in released(engine_case))
        is_true(engine_case, table, 6, [])

    def test_a_hierarchy_of_values(self, engine_case: Case) -> None:
        tree = {"ab": "north", "cd": "north", "ef": "south", "gh": "south"}
        cells = [list(tree)[i % 4] for i in range(240)]
        table = people().set_column(1, "zip", [cells])
        rows = [[leaf, group, "*"] for leaf, group in tree.items()]
        quasi = dict.fromkeys(QUASI) | {"zip": lookalike.hierarchy(rows)}
        anonymized(engine_case, table, k=8, quasi=quasi, keep="ill", steps=100)
        trees = {"zip": {leaf: [group] for leaf, group in tree.items()}}
        is_true(engine_case, table, 8, ["ill"], trees=trees)
        assert {"north", "south"} & {row["zip"] for row in released(engine_case)}

    @pytest.mark.parametrize("algorithm", ["auto", "mondrian", "optimal"])
    def test_suppression(self, engine_case: Case, algorithm: str) -> None:
        rows = people().to_pylist()
        for number, row in enumerate(rows[:2]):  # far from all others
            born = datetime.date(1990 + number, 5, 1)
            row.update(age=1000 * (number + 2), zip=f"only {number}", sex=not number, born=born)
        table = pa.Table.from_pylist(rows, people().schema)
        made = anonymized(
            engine_case, table, k=12, quasi=QUASI, keep="ill", suppress="10%", algorithm=algorithm
        )
        assert 0 < made.suppressed <= 0.1 * table.num_rows
        assert len(released(engine_case)) == table.num_rows - made.suppressed
        is_true(engine_case, table, 12, ["ill"])

    @pytest.mark.parametrize("rule", ["l", "alpha", "t", "entropy"])
    def test_rules_on_a_sensitive_column(self, engine_case: Case, rule: str) -> None:
        table = people(missing=0.0)
        value = {"l": 2, "alpha": 0.5, "t": 0.3, "entropy": 2.0}[rule]
        anonymized(
            engine_case, table, k=4, quasi=QUASI, sensitive={"ill": {rule: value}}, keep="cost",
            steps=100,
        )  # fmt: skip
        rows = released(engine_case)
        is_true(engine_case, table, 4, ["ill", "cost"])
        if rule in ("l", "alpha"):
            assert truth.greatest_share(rows, QUASI, "ill") <= 0.5
        elif rule == "t":
            assert truth.greatest_distance(rows, QUASI, "ill") <= 0.3 + 1e-9
        else:
            assert truth.least_entropy(rows, QUASI, "ill") >= 2.0 - 1e-9

    def test_several_column_sets(self, engine_case: Case) -> None:
        table = people()
        config = {
            "k": 3,
            "rules": [{"k": 20, "columns": ["age", "sex"]}],
            "columns": {name: {"role": "quasi"} for name in QUASI} | {"ill": {"role": "keep"}},
            "rest": "drop",
            "seed": 7,
        }
        engine_case.create("people", table)
        engine(engine_case.at).anonymize(
            f"{engine_case.prefix}people", config, into=f"{engine_case.prefix}safe", steps=100
        )
        is_true(engine_case, table, 3, ["ill"])
        assert truth.smallest(released(engine_case), ["age", "sex"]) >= 20

    def test_split_tuples(self, engine_case: Case, splits: list[int]) -> None:
        """Few large tuples, whose rows go to several classes."""
        table = few_tuples()
        anonymized(engine_case, table, k=15, quasi=["age", "zip"], keep="note", steps=2000)
        assert splits[0] > 0
        is_true(engine_case, table, 15, ["note"], quasi=["age", "zip"])

    def test_rest_keep_and_weight(self, engine_case: Case) -> None:
        table = people().append_column("w", pa.array([1 + i % 3 for i in range(240)], pa.int64()))
        anonymized(
            engine_case, table, k=4, quasi=QUASI, sampling_weight="w", rest="keep", steps=100,
            accept_unique=True,
        )  # fmt: skip
        names = ["age", "zip", "sex", "born", "x", "ill", "cost", "w"]
        assert engine_case.read("safe").column_names == names
        is_true(engine_case, table, 4, ["x", "ill", "cost", "w"])

    def test_strange_names_of_columns(self, engine_case: Case) -> None:
        names = ['a "b".c', "select", "n", "class", "c1", "p1", "k1", "published_n", "rows", "it's",
                 "tuple", "pieces", "first_row", "number", "é €", "suppressed"]  # fmt: skip
        draw = random.Random(5)
        table = pa.table(
            {
                name: [draw.choice([1, 2, 3, None]) for _ in range(120)]
                if at % 2
                else [draw.choice(["x", "y", ""]) for _ in range(120)]
                for at, name in enumerate(names)
            }
        )
        quasi, keep = names[:8:2] + names[1:8:4], names[8:]
        anonymized(engine_case, table, k=4, quasi=quasi, keep=keep, steps=100)
        is_true(engine_case, table, 4, keep, quasi=quasi)

    def test_small_and_even_tables(self, engine_case: Case) -> None:
        even = pa.table({"age": [30] * 20, "ill": ["flu"] * 20})
        made = anonymized(engine_case, even, k=5, quasi=["age"], keep="ill")
        assert (made.rows, made.classes) == (20, 1)
        assert multiset(released(engine_case)) == Counter({("30", "flu"): 20})
        made = anonymized(engine_case, even, into="alone", k=5, quasi=["age"])
        assert multiset(released(engine_case, "alone")) == Counter({("30",): 20})

    def test_an_empty_table(self, engine_case: Case) -> None:
        with pytest.raises(lookalike.DataError) as caught:
            anonymized(engine_case, people().slice(0, 0), k=5, quasi=QUASI, keep="ill")
        assert caught.value.code == "no-rows"
        assert engine_case.tables() == {"people"}


class TestRefusals:
    """What a run in memory refuses, and what only an engine does."""

    def test_a_dependent_column(self, engine_case: Case) -> None:
        ages = [20 + i % 9 for i in range(240)]
        table = pa.table({"age": ages, "year": [2000 - age for age in ages]})
        asked: dict[str, Any] = {"k": 4, "quasi": ["age"], "keep": "year"}
        with pytest.raises(lookalike.ConfigError) as caught:
            anonymized(engine_case, table, **asked)
        with pytest.raises(lookalike.ConfigError) as memory:
            lookalike.anonymize(table, **asked)
        assert caught.value.code == memory.value.code == "dependent-column"
        assert caught.value.reason == memory.value.reason
        assert engine_case.tables() == {"people"}

    def test_a_rest_that_makes_rows_unique(self, engine_case: Case) -> None:
        table = pa.table({"age": [20 + i % 9 for i in range(240)], "id": list(range(240))})
        with pytest.raises(lookalike.ConfigError) as caught:
            anonymized(engine_case, table, k=4, quasi=["age"], rest="keep")
        assert caught.value.code == "unique-rest"

    def test_requests_that_do_not_fit(self, engine_case: Case) -> None:
        table = people()
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"quasi": ["nobody"]}, "unknown-column"),
            ({"quasi": QUASI, "algorithm": "ring"}, "ring-in-engine"),
            ({"quasi": QUASI, "count": "cost"}, "count-in-engine"),
        ]
        for changes, code in wrong:
            with pytest.raises(lookalike.ConfigError) as caught:
                anonymized(engine_case, table, k=4, **changes)
            assert caught.value.code == code
        with pytest.raises(lookalike.ConfigError) as caught:
            engine(engine_case.at).anonymize(
                f"{engine_case.prefix}nobody", into="safe", k=4, quasi=QUASI
            )
        assert caught.value.code == "no-table"
        assert engine_case.tables() == {"people"}

    def test_a_target_that_exists(self, engine_case: Case) -> None:
        table = people(missing=0)
        asked: dict[str, Any] = {"k": 4, "quasi": ["age"], "keep": "cost"}
        anonymized(engine_case, table, **asked)
        before = multiset(released(engine_case))
        with pytest.raises(lookalike.ConfigError) as caught:
            anonymized(engine_case, table, **(asked | {"k": 40}))
        assert caught.value.code == "table-exists"
        assert multiset(released(engine_case)) == before
        anonymized(engine_case, table, replace=True, **(asked | {"k": 40}))
        is_true(engine_case, table, 40, ["cost"], quasi=["age"])
        assert engine_case.tables() == {"people", "safe"}

    def test_a_target_that_is_the_source(self, engine_case: Case) -> None:
        table = people()
        for replace in (False, True):
            with pytest.raises(lookalike.ConfigError) as caught:
                anonymized(engine_case, table, into="people", k=4, quasi=QUASI, replace=replace)
            assert caught.value.code == "target-is-source"
        assert engine_case.read("people").num_rows == 240

    def test_the_source_in_another_spelling(self, duckdb_case: Case) -> None:
        duckdb_case.create("people", people())
        for table, into in [("people", "main.People"), ("engine.main.people", "PEOPLE")]:
            with pytest.raises(lookalike.ConfigError) as caught:
                engine(duckdb_case.at).anonymize(table, into=into, replace=True, k=4, quasi=QUASI,
                                                 rest="drop")  # fmt: skip
            assert caught.value.code == "target-is-source"
        assert duckdb_case.read("people").num_rows == 240


class TestSameEverywhere:
    """One seed, one release."""

    def test_as_in_memory(self, engine_case: Case) -> None:
        table = people(missing=0.1).select(QUASI)
        ways: dict[str, dict[str, Any]] = {
            "a": {"steps": 300},
            "b": {"algorithm": "mondrian"},
            "c": {"algorithm": "optimal"},
            "d": {"algorithm": "mondrian", "suppress": "10%"},
        }
        for into, changes in ways.items():
            asked: dict[str, Any] = {"k": 5, "quasi": QUASI, **changes}
            anonymized(engine_case, table, into=into, **asked)
            assert multiset(released(engine_case, into)) == in_memory(table, **asked), into

    def test_two_engines(self, duckdb_case: Case, postgres_case: Case, splits: list[int]) -> None:
        table = few_tuples()
        asked: dict[str, Any] = {
            "k": 15, "quasi": ["age", "zip"], "keep": ["note", "day", "size", "is"], "steps": 2000,
        }  # fmt: skip
        for case in (duckdb_case, postgres_case):
            anonymized(case, table, **asked)
        assert splits[0] == splits[1] > 0
        assert multiset(released(duckdb_case)) == multiset(released(postgres_case))


def digest(rows: pa.Table) -> str:
    """A hash of the rows in any order: of the different ones with their numbers, sorted."""
    names = sorted(rows.column_names)
    texts = pa.table({name: rows[name].cast(pa.string()) for name in names})
    counted = texts.group_by(names).aggregate([([], "count_all")])
    lines = sorted(repr(tuple(row.values())) for row in counted.to_pylist())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


ACS: dict[str, Any] = {
    "k": 10,
    "quasi": ["STATE", "AGEP", "SEX", "RAC1P", "HISP", "CIT", "SCHL", "MAR", "COW"],
    "algorithm": "mondrian",
    "seed": 7,
}


@pytest.fixture(scope="session")
def acs() -> pa.Table:
    """The census sample, all columns as text but those that are numbers."""
    path = REPOSITORY / ".." / "shared" / "data" / "acs2024_p49.csv.zst"
    path = Path(os.environ.get("LOOKALIKE_DATA", path.parent)) / path.name
    if not path.exists():
        unavailable(f"no {path.name}", "LOOKALIKE_DATA=FOLDER, where the real tables are")
    from pyarrow import csv

    with pa.input_stream(str(path), compression="zstd") as stream:
        return csv.read_csv(stream).select(ACS["quasi"])


@pytest.fixture(scope="session")
def acs_digest(acs: pa.Table) -> str:
    """The release in memory."""
    return digest(pa.table(lookalike.anonymize(acs, **ACS)))


@pytest.mark.filterwarnings("ignore::lookalike.LookalikeWarning")
def test_the_census_sample(engine_case: Case, acs: pa.Table, acs_digest: str) -> None:
    anonymized(engine_case, acs, **ACS)
    assert digest(engine_case.read("safe")) == acs_digest


class Stop(Exception):
    """A failure that a test plants."""


STEPS = ["count", "plan", "apply", "verify", "publish"]


KILLED = """
import os, signal, sys
import duckdb
from lookalike.engine import engine

def kill(progress):
    if progress.stage == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)

engine(duckdb.connect(sys.argv[1])).anonymize(
    "people", into="safe", k=5, quasi=["age"], keep="kind", seed=7, replace=True, progress=kill
)
"""


class TestAborts:
    """Nothing is visible before the end, and a failure leaves nothing."""

    def test_nothing_is_visible_before_the_end(self, engine_case: Case) -> None:
        engine_case.create("people", people())
        seen: dict[str, set[str]] = {}

        def look(progress: Any) -> None:
            if engine_case.is_open():
                seen[progress.stage] = engine_case.tables()

        anonymized(engine_case, people(), k=4, quasi=QUASI, keep="ill", steps=50, progress=look)
        if engine_case.is_open():
            assert set(STEPS) <= set(seen)
            assert all(tables == {"people"} for tables in seen.values()), seen
        assert engine_case.tables() == {"people", "safe"}

    @pytest.mark.parametrize("step", STEPS)
    @pytest.mark.parametrize("kind", [Stop, KeyboardInterrupt])
    def test_a_failure_leaves_nothing(
        self, engine_case: Case, step: str, kind: type[BaseException]
    ) -> None:
        def fail(progress: Any) -> None:
            if progress.stage == step:
                raise kind

        asked: dict[str, Any] = {"k": 4, "quasi": QUASI, "keep": "ill", "steps": 50}
        with pytest.raises(kind):
            anonymized(engine_case, people(), progress=fail, **asked)
        assert engine_case.tables() == {"people"}
        anonymized(engine_case, people(), **asked)
        assert engine_case.tables() == {"people", "safe"}

    @pytest.mark.parametrize("step", STEPS)
    def test_a_killed_process_leaves_nothing(self, tmp_path: Path, step: str) -> None:
        duckdb = pytest.importorskip("duckdb")
        path = tmp_path / "killed.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(
                "CREATE TABLE people AS SELECT 20 + i % 9 AS age, i % 4 AS kind FROM range(99) t(i)"
            )
            connection.execute("CREATE TABLE safe AS SELECT 1 AS a")
        made = subprocess.run(
            [sys.executable, "-c", KILLED, str(path), step],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            capture_output=True,
        )
        assert made.returncode == -signal.SIGKILL, made.stderr.decode()
        with duckdb.connect(str(path)) as connection:
            names = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
            assert sorted(names) == [("people",), ("safe",)]
            assert connection.execute("SELECT a FROM safe").fetchall() == [(1,)]

    def test_a_failure_keeps_the_table_that_was_to_be_replaced(
        self, engine_case: Case, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: dict[str, Any] = {"k": 4, "quasi": QUASI, "keep": "ill", "steps": 50}
        anonymized(engine_case, people(), **asked)
        before = multiset(released(engine_case))

        def fail(*_: Any) -> Any:
            raise Stop

        monkeypatch.setattr(_steps, "_compare", fail)
        with pytest.raises(Stop):
            anonymized(engine_case, people(), replace=True, **(asked | {"k": 20}))
        assert multiset(released(engine_case)) == before
        assert engine_case.tables() == {"people", "safe"}


def lost(sql: str) -> str:
    return f"SELECT * FROM ({sql}) AS all_rows LIMIT 199"


def doubled(sql: str) -> str:
    one = f"SELECT * FROM ({sql}) AS b LIMIT 1"
    return f"SELECT * FROM ({sql}) AS a UNION ALL SELECT * FROM ({one}) AS c"


def one_for_another(sql: str) -> str:
    """One row twice, and another not at all."""
    numbered = f"SELECT row_number() OVER (ORDER BY class, k1, k2) AS seq, * FROM ({sql}) AS a"
    return (
        f"SELECT class, k1, k2 FROM ({numbered}) AS b WHERE seq <> 1 "
        f"UNION ALL SELECT class, k1, k2 FROM ({numbered}) AS c WHERE seq = 200"
    )


def moved(sql: str) -> str:
    """A row of the greatest class in another one, where k still holds."""
    numbered = f"SELECT row_number() OVER (ORDER BY class, k1, k2) AS seq, * FROM ({sql}) AS a"
    return f"SELECT CASE WHEN seq = 1 THEN 2 ELSE class END AS class, k1, k2 FROM ({numbered}) AS b"


def swapped(sql: str) -> str:
    """The classes of the first and the last row, changed with each other."""
    numbered = f"SELECT row_number() OVER (ORDER BY class, k1, k2) AS seq, * FROM ({sql}) AS a"
    last = f"SELECT max(class) AS class FROM ({sql}) AS d"
    return (
        f"SELECT CASE WHEN seq = 1 THEN ({last}) WHEN seq = 200 THEN 1 ELSE class END AS class, "
        f"k1, k2 FROM ({numbered}) AS b"
    )


def other_cell(sql: str) -> str:
    numbered = f"SELECT row_number() OVER (ORDER BY class, k1, k2) AS seq, * FROM ({sql}) AS a"
    return f"SELECT class, CASE WHEN seq = 1 THEN 'z' ELSE k1 END AS k1, k2 FROM ({numbered}) AS b"


def null_to_empty(sql: str) -> str:
    return f"SELECT class, coalesce(k1, '') AS k1, k2 FROM ({sql}) AS a"


def cells_swapped(sql: str) -> str:
    """The first cells of two rows, changed with each other: the sums of the columns stay."""
    numbered = f"SELECT row_number() OVER (ORDER BY class, k1, k2) AS seq, * FROM ({sql}) AS a"
    first = f"SELECT min(seq) AS seq FROM ({numbered}) AS e WHERE k1 = 'x'"
    second = f"SELECT max(seq) AS seq FROM ({numbered}) AS g WHERE k1 = 'y'"
    return (
        f"SELECT class, CASE WHEN seq = ({first}) THEN 'y' WHEN seq = ({second}) THEN 'x' "
        f"ELSE k1 END AS k1, k2 FROM ({numbered}) AS b"
    )


class TestFaults:
    """A release that was written wrong is found, and is not published."""

    table = pa.table(
        {
            "age": [20 + i // 20 for i in range(200)],
            "note": [["x", "y", None, ""][i * i % 7 % 4] for i in range(200)],
            "size": [i * 7 % 31 for i in range(200)],
        }
    )
    asked: ClassVar[dict[str, Any]] = {
        "k": 5, "quasi": ["age"], "keep": ["note", "size"], "algorithm": "mondrian",
    }  # fmt: skip

    @pytest.mark.filterwarnings("ignore::lookalike.LookalikeWarning")
    @pytest.mark.parametrize(
        "fault",
        [lost, doubled, one_for_another, moved, swapped, other_cell, null_to_empty, cells_swapped],
    )
    def test_in_the_placed_rows(
        self, engine_case: Case, monkeypatch: pytest.MonkeyPatch, fault: Callable[[str], str]
    ) -> None:
        placed = _sql.placed
        monkeypatch.setattr(_sql, "placed", lambda *of: fault(placed(*of)))
        with pytest.raises(lookalike.NotVerified) as caught:
            anonymized(engine_case, self.table, **self.asked)
        assert caught.value.code == "not-verified"
        assert engine_case.tables() == {"people"}

    @pytest.mark.filterwarnings("ignore::lookalike.LookalikeWarning")
    @pytest.mark.parametrize("fault", [lost, doubled, one_for_another, moved, swapped])
    def test_in_the_rows_of_a_global_recoding(
        self, engine_case: Case, monkeypatch: pytest.MonkeyPatch, fault: Callable[[str], str]
    ) -> None:
        by_maps = _sql.by_maps
        runs: list[str] = []

        def wrong(*of: Any) -> str:
            runs.append(fault(by_maps(*of)))
            return runs[-1]

        monkeypatch.setattr(_sql, "by_maps", wrong)
        with pytest.raises(lookalike.NotVerified):
            anonymized(engine_case, self.table, **(self.asked | {"algorithm": "optimal"}))
        assert runs
        assert engine_case.tables() == {"people"}

    @pytest.mark.parametrize("keep", [["note", "size"], []])
    @pytest.mark.filterwarnings("ignore::lookalike.LookalikeWarning")
    def test_in_the_labels(
        self, engine_case: Case, monkeypatch: pytest.MonkeyPatch, keep: list[str]
    ) -> None:
        def exchanged(names: Any) -> str:
            """The first and the last class have each other's labels."""
            number = "CASE class WHEN 1 THEN 10 WHEN 10 THEN 1 ELSE class END"
            return f"SELECT {number} AS class, p1 FROM {names.classes}"

        released = _sql.released

        def wrong(layout: Any, names: Any, rows: str, where: str = "") -> str:
            # Only where the release is written: the rows have the numbers of the right table.
            made = f"({exchanged(names)}) AS classes"
            return released(layout, names, rows, where).replace(f"{names.classes} AS classes", made)

        monkeypatch.setattr(_sql, "released", wrong)
        asked = self.asked | {"keep": keep}
        table = self.table.slice(0, 193)  # the last class is smaller
        with pytest.raises(lookalike.NotVerified):
            anonymized(engine_case, table, **asked)
        assert engine_case.tables() == {"people"}

    @pytest.mark.parametrize("person", [None, "cost"])
    def test_tuples_that_are_exchanged(
        self, engine_case: Case, person: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The plan names tuples of the same size by each other's numbers: all sums are right, and
        the labels are not."""
        pieces = _steps._pieces

        def exchanged(plan: Any, number_of: Any) -> Any:
            size: Counter[int] = Counter()
            last = zip(plan.column(0).to_pylist(), plan.column("last_row").to_pylist(), strict=True)
            for tuple_, row in last:
                size[tuple_ - 1] = max(size[tuple_ - 1], row)
            new = number_of.to_pylist()
            for of in set(size.values()):
                same = [tuple_ for tuple_ in size if size[tuple_] == of]
                for one, other in zip(same, same[1:] + same[:1], strict=True):
                    new[one] = number_of[other].as_py()
            return pieces(plan, pa.array(new, number_of.type))

        monkeypatch.setattr(_steps, "_pieces", exchanged)
        rows = range(120)
        table = pa.table({"age": [20 + i % 30 for i in rows], "cost": [i % 60 for i in rows]})
        with pytest.raises(lookalike.NotVerified, match="labels in `age`"):
            anonymized(engine_case, table, k=2, quasi=["age"], person=person)
        assert engine_case.tables() == {"people"}

    def test_a_wrong_count(self, engine_case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
        tuples = _sql.tuples
        monkeypatch.setattr(
            _sql, "tuples", lambda *of: tuples(*of).replace("count(*) AS n", "count(*) + 1 AS n")
        )
        with pytest.raises(lookalike.NotVerified):
            anonymized(engine_case, self.table, **self.asked)
        assert engine_case.tables() == {"people"}


def test_check_verify_report_and_query(engine_case: Case) -> None:
    table = people(missing=0.0)
    asked: dict[str, Any] = {"k": 4, "quasi": QUASI, "sensitive": {"ill": {"l": 2}}}
    anonymized(engine_case, table, keep="cost", steps=100, **asked)
    at = engine(engine_case.at)
    source, safe = f"{engine_case.prefix}people", f"{engine_case.prefix}safe"
    assert not at.check(source, **asked).holds
    without = at.verify(safe, **asked)
    assert not without.holds and "`cost`" in without.leaks[0]
    asked["keep"] = "cost"
    assert at.verify(safe, **asked).holds
    assert at.verify(safe, source=source, **asked).holds
    memory = lookalike.verify(engine_case.read("safe").select([*QUASI, "ill", "cost"]), **asked)
    assert at.verify(safe, **asked).numbers["measures"] == memory.numbers["measures"]
    assert not at.verify(safe, **(asked | {"k": 100})).holds
    answers = at.query(source, safe, lookalike.Config(quasi=QUASI, sensitive=["ill"]), random=20)
    assert answers.workloads[0].queries == 20
    assert "<html" in at.report(source, safe, **asked).html
