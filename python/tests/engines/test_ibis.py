"""Backends of ibis: DuckDB, unwrapped and by the general way. Run in an environment of its own."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import lookalike
from lookalike.engine import EngineError, _duckdb, _sql, _steps, engine
from lookalike.engine._ibis import Ibis, of_backend

ibis = pytest.importorskip("ibis")

DRAW = random.Random(4)
TABLE = pa.table(
    {
        "age": [DRAW.choice([20, 20, 20, 31, 32, None]) for _ in range(200)],
        "zip": [DRAW.choice(["a", "a", "b", "it's", "é"]) for _ in range(200)],
        "note": [DRAW.choice(["x", "y'", None, ""]) for _ in range(200)],
    }
)
ASKED: dict[str, Any] = {
    "k": 15, "quasi": ["age", "zip"], "keep": "note", "seed": 7, "steps": 500,
}  # fmt: skip


@pytest.fixture
def backend(tmp_path: Path) -> Any:
    made = ibis.duckdb.connect(tmp_path / "ibis.duckdb")
    made.create_table("people", TABLE)
    return made


@pytest.fixture
def general(backend: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An engine that reaches DuckDB by ibis alone."""
    at = engine(backend)
    monkeypatch.setattr(
        type(at), "_database", lambda self: Ibis(self._at, _duckdb.DIALECT), raising=True
    )
    return at


def rows(backend: Any, name: str = "safe") -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in backend.table(name).to_pyarrow().to_pylist())


def unwrapped(backend: Any) -> Counter[tuple[Any, ...]]:
    engine(backend.con).anonymize("people", into="direct", **ASKED)
    found = rows(backend, "direct")
    backend.con.execute("DROP TABLE direct")
    return found


def visible(backend: Any) -> set[str]:
    """The tables that another connection sees."""
    with backend.con.cursor() as other:
        found = other.execute("SELECT table_name FROM information_schema.tables").fetchall()
    return {name for (name,) in found}


def test_duckdb_is_unwrapped(backend: Any) -> None:
    assert isinstance(of_backend(backend), _duckdb.DuckDB)
    made = engine(backend).anonymize("people", into="safe", **ASKED)
    assert made.rows == 200
    assert rows(backend) == unwrapped(backend)


def test_the_general_way(backend: Any) -> None:
    expected = unwrapped(backend)
    seen: list[set[str]] = []
    database = Ibis(backend, _duckdb.DIALECT)
    asked = _steps.Asked(
        "people", "main.safe", lookalike.Config({}, **ASKED), False, "quick", None,
        lambda _: seen.append(visible(backend)), "raise",
    )  # fmt: skip
    numbers, times = _steps.anonymize(database, asked)
    assert numbers["holds"] and set(times) >= {"count", "publish"}
    assert rows(backend) == expected
    assert seen and all("safe" not in tables for tables in seen)
    assert set(backend.list_tables()) == {"people", "safe"}


def test_the_general_way_refuses_and_replaces(general: Any, backend: Any) -> None:
    general.anonymize("people", into="safe", **ASKED)
    with pytest.raises(lookalike.ConfigError) as caught:
        general.anonymize("people", into="safe", **ASKED)
    assert caught.value.code == "table-exists"
    general.anonymize("people", into="safe", replace=True, **(ASKED | {"k": 40}))
    assert min(Counter(row[:2] for row in rows(backend).elements()).values()) >= 40
    assert general.verify("safe", k=40, quasi=["age", "zip"], keep="note").holds
    with pytest.raises((lookalike.ConfigError, EngineError)):
        general.anonymize("nobody", into="other", **ASKED)
    assert set(backend.list_tables()) == {"people", "safe"}


@pytest.mark.parametrize("step", ["count", "plan", "apply", "verify", "publish"])
def test_a_failure_leaves_nothing(general: Any, backend: Any, step: str) -> None:
    def fail(progress: Any) -> None:
        if progress.stage == step:
            raise KeyError(step)

    with pytest.raises(KeyError):
        general.anonymize("people", into="safe", progress=fail, **ASKED)
    assert set(backend.list_tables()) == {"people"}


def test_a_wrong_release_is_found(
    general: Any, backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed = _sql.placed
    monkeypatch.setattr(_sql, "placed", lambda *of: f"SELECT * FROM ({placed(*of)}) AS a LIMIT 199")
    with pytest.raises(lookalike.NotVerified):
        general.anonymize("people", into="safe", **ASKED)
    assert set(backend.list_tables()) == {"people"}


def test_other_backends() -> None:
    snowflake = of_backend(SimpleNamespace(name="snowflake"))
    assert isinstance(snowflake, Ibis)
    assert snowflake.dialect.name == "snowflake"
    with pytest.raises(lookalike.ConfigError) as caught:
        of_backend(SimpleNamespace(name="sqlite"))
    assert caught.value.code == "no-engine"
