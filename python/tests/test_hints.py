"""The words of hints name arguments and functions that exist."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import lookalike as la
from lookalike._config import Changes

WORDS = Path(__file__).parents[2] / "crates/lookalike-python/src/hints.rs"


def test_every_argument_and_function_of_a_hint_exists() -> None:
    text = WORDS.read_text()
    body = text[text.index("pub(crate) fn words") :]
    said = " ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', body, re.DOTALL))
    functions = [getattr(la, name) for name in la.__all__ if inspect.isfunction(getattr(la, name))]
    known = set(Changes.__annotations__)
    for function in [*functions, la.Release.write]:
        known |= set(inspect.signature(function).parameters)
    arguments = set(re.findall(r"\b([a-z_]+)=", said))
    assert len(arguments) > 20
    assert arguments <= known, arguments - known
    names = set(re.findall(r"lookalike\.([a-z_]+)\(", said))
    assert {"rules", "intervals"} <= names
    assert names <= set(la.__all__), names - set(la.__all__)
    keys = set(re.findall(r'\\"(kind|order|columns|input|delimiter|output)\\"', said))
    assert {"kind", "order", "input"} <= keys


def test_a_hint_can_be_followed() -> None:
    import pandas as pd

    people = pd.DataFrame({"age": [1, 2, 3, 4], "city": ["a", "b", "a", "b"]})
    with pytest.raises(la.ConfigError) as caught:
        la.anonymize(people, k=2, quasi=["age"])
    words = [hint["words"] for hint in caught.value.hints]
    assert any('rest="drop"' in said for said in words), words
    assert la.anonymize(people, k=2, quasi=["age"], rest="drop").rows == 4
