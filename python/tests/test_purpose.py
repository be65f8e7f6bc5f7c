"""Weights for a purpose."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import lookalike as la


@pytest.fixture
def pay() -> pd.DataFrame:
    """The degree decides the pay, the city says nothing."""
    pairs = [(20 + i * 13 % 30, "BUKJ"[i * 7 % 4]) for i in range(150)]
    rows = [(age, degree, city) for age, city in pairs for degree in ("no", "yes")]
    table = pd.DataFrame(rows, columns=["age", "degree", "city"])
    return table.assign(pay=table["degree"].map({"no": "low", "yes": "high"}))


WISH: dict[str, Any] = {"k": 4, "quasi": ["age", "degree", "city"], "sensitive": ["pay"]}


def test_a_column_weighs_what_it_tells(pay: pd.DataFrame) -> None:
    out = la.anonymize(pay, **WISH, purpose=["pay"], steps=100, seed=1, accept_dependent=["pay"])
    weights = {name: line["weight"] for name, line in out.numbers["purpose"].items()}
    assert weights["degree"] > 1 > weights["city"] > 0
    assert out.verdict.holds
    given = la.anonymize(
        pay,
        **{**WISH, "quasi": {name: {"weight": weight} for name, weight in weights.items()}},
        steps=100,
        seed=1,
        accept_dependent=["pay"],
    )
    assert given.frame.equals(out.frame), "a purpose changes weights and nothing else"


def test_compare_and_report_measure_it(pay: pd.DataFrame) -> None:
    wish = {**WISH, "accept_dependent": ["pay"], "purpose": "pay"}
    found = la.compare(pay, **wish, algorithms=["mondrian"], queries=0, bound="none")
    scores = found.numbers["runs"][0]["purpose"][0]
    assert scores["splits"] == 5 and scores["source"]["auc"]["mean"] > 0.9
    out = la.anonymize(pay, **wish, algorithm="mondrian")
    page = la.report(pay, out.frame, **wish, queries=0, bound="none")
    assert page.numbers["purpose"]["scores"][0]["column"] == "pay"


def test_what_is_no_purpose_is_refused(pay: pd.DataFrame) -> None:
    with pytest.raises(la.ConfigError, match="is a quasi-identifier") as caught:
        la.anonymize(pay, **WISH, purpose=["age"])
    assert (caught.value.code, caught.value.column) == ("bad-purpose", "age")
