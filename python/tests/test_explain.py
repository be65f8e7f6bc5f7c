"""What costs the detail, and what would help."""

from __future__ import annotations

from typing import Any

import pandas as pd

import lookalike as la


def test_the_greatest_gain_comes_first(df: pd.DataFrame) -> None:
    found = la.explain(df, k=5, quasi=["age", "zip", "sex"], rest="drop", time=600)
    gains = [help["now"] - help["then"] for help in found.numbers["helps"]]
    assert found.numbers["complete"] and gains == sorted(gains, reverse=True)
    assert len(found.helps) == len(gains) and 0 < found.loss < 1
    assert {column["name"] for column in found.columns} == {"age", "zip", "sex"}
    assert abs(sum(column["part"] for column in found.columns) - 1) < 1e-9
    assert found.numbers["smaller_k"]["k"] == 3
    assert list(found.frame["name"]) == [column["name"] for column in found.columns]
    assert "Explanation(loss=" in repr(found) and "sex" in found._repr_html_()


def test_suppression_has_a_price(df: pd.DataFrame) -> None:
    wish: dict[str, Any] = {"k": 10, "quasi": ["age", "zip"], "rest": "drop", "suppress": "10%"}
    wish["steps"] = 100
    dear = la.anonymize(df, **wish, seed=1, suppression_price=1)
    free = la.anonymize(df, **wish, seed=1, suppression_price=0)
    assert dear.suppressed <= free.suppressed <= 0.1 * len(df)
    loss = [out.numbers["published_loss"]["gcp"] for out in (dear, free)]
    assert loss[1] <= loss[0]
