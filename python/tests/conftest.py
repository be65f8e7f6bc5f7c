"""Small tables that the tests share. They are made up here."""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lookalike as la

ZIPS = ["53703", "53711", "53726", "60615", "60637", "02139"]
DIAGNOSES = ["flu", "asthma", "ulcer", "fracture", "diabetes"]


def people(rows: int = 400, seed: int = 1) -> pd.DataFrame:
    """A hospital's table: nobody in it exists."""
    draw = random.Random(seed)
    return pd.DataFrame(
        {
            "name": [f"Canary-{number:04}" for number in range(rows)],
            "age": [min(95, max(0, round(draw.gauss(45, 18)))) for _ in range(rows)],
            "zip": [draw.choice(ZIPS) for _ in range(rows)],
            "sex": [draw.choice("fm") for _ in range(rows)],
            "diagnosis": [draw.choice(DIAGNOSES) for _ in range(rows)],
            "stay": [draw.randrange(1, 6) for _ in range(rows)],
        }
    )


ROLES: dict[str, Any] = {
    "quasi": ["age", "zip", "sex"],
    "sensitive": {"diagnosis": la.rules(l=2)},
    "identifiers": ["name"],
    "keep": ["stay"],
}
"""Roles for the columns of `people`."""

PLAN = """
k = 5
steps = 2000
[columns]
name = { role = "identifier" }
age = { role = "quasi" }
zip = { role = "quasi", hierarchy = { prefix = [4, 3, 2] } }
sex = { role = "quasi" }
diagnosis = { role = "sensitive", l = 2 }
stay = { role = "keep" }
"""


@pytest.fixture
def df() -> pd.DataFrame:
    return people()


@pytest.fixture
def plan_toml(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture
def shared_data() -> Path:
    """Real tables, which are not part of the repository."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("LOOKALIKE_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"there are no real tables: {folder} is missing")
    return folder


@pytest.fixture(autouse=True)
def quiet_warnings() -> Iterator[None]:
    """Warnings of the package are data here; tests that are about them ask for them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", la.LookalikeWarning)
        yield
