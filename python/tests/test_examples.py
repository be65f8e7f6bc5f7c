"""The ten first tasks of a user, as they would be written."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from conftest import people

import lookalike as la


def test_1_pandas_in_pandas_out(df: pd.DataFrame) -> None:
    out = la.anonymize(
        df,
        k=5,
        quasi=["age", "zip", "sex"],
        sensitive=["diagnosis"],
        identifiers=["name"],
        rest="drop",
        steps=1000,
    )
    assert isinstance(out.frame, pd.DataFrame)
    assert list(out.frame.columns) == ["age", "zip", "sex", "diagnosis"]
    for column in ["age", "zip", "sex"]:
        assert isinstance(out.frame[column].dtype, pd.CategoricalDtype), column
        assert out.frame[column].cat.ordered, column
    assert out.frame.groupby(["age", "zip", "sex"], observed=True).size().min() >= 5
    assert len(out.frame) == len(df)


def test_2_hierarchies_diversity_and_suppression(df: pd.DataFrame) -> None:
    out = la.anonymize(
        df,
        k=5,
        quasi={"age": la.intervals(5, 10, 20, top=90), "zip": la.prefix(4, 3, 2), "sex": None},
        sensitive={"diagnosis": la.rules(l=3)},
        rest="drop",
        suppress="1%",
        snap=True,
        steps=1000,
    )
    classes = out.frame.groupby(["age", "zip", "sex"], observed=True)["diagnosis"]
    assert classes.apply(lambda values: values.value_counts(normalize=True).max()).max() <= 1 / 3
    assert out.suppressed <= 4 and out.rows + out.suppressed == 400


def test_3_intervals_for_numeric_work(df: pd.DataFrame, plan_toml: Path) -> None:
    out = la.anonymize(df, plan_toml, publish="bounds")
    ages = out.to_pandas(intervals=True)["age"]
    assert isinstance(ages.dtype, pd.IntervalDtype)
    assert ages.array.mid.to_numpy().mean() == pytest.approx(df["age"].mean(), abs=2)
    assert ages.array.closed == "both"


def test_4_polars_lazily_prepared(plan_toml: Path, tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    path = tmp_path / "visits.parquet"
    pl.from_pandas(people()).with_columns(year=2024 + pl.col("stay") % 2).write_parquet(path)
    visits = pl.scan_parquet(path).filter(pl.col("year") == 2025).drop("year")
    assert pl.DataFrame(la.anonymize(visits.collect(), plan_toml)).height > 100
    assert isinstance(la.anonymize(visits, plan_toml).frame, pl.DataFrame)


def test_5_duckdb_to_a_file(plan_toml: Path, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    folder = tmp_path / "visits"
    folder.mkdir()
    people(200, seed=1).to_parquet(folder / "a.parquet")
    people(200, seed=2).to_parquet(folder / "b.parquet")
    safe = tmp_path / "safe.parquet"
    visits = duckdb.sql(f"select * from '{folder}/*.parquet'")
    la.anonymize(visits, plan_toml).write(safe)
    assert len(pd.read_parquet(safe)) == 400


def test_6_a_dict_in_place_of_toml(df: pd.DataFrame) -> None:
    out = la.anonymize(
        df,
        {
            "k": 11,
            "rest": "drop",
            "steps": 1000,
            "columns": {
                "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
                "diagnosis": {"role": "sensitive", "l": 2},
            },
        },
    )
    assert out.verdict.k >= 11
    assert out.frame.groupby("age", observed=True).size().min() >= 11


def test_7_yes_or_no_in_a_test(df: pd.DataFrame) -> None:
    assert la.check(df, quasi=["sex"], k=5), "not 5-anonymous"
    assert not la.check(df, quasi=["age", "zip"], k=5)


def test_8_somebody_elses_file_against_its_source(df: pd.DataFrame, plan_toml: Path) -> None:
    theirs = la.anonymize(df, plan_toml).frame
    la.verify(theirs, plan_toml, source=df).raise_if_broken()
    wrong = theirs.astype({"age": object})
    wrong.loc[0, "age"] = "150"
    with pytest.raises(la.RuleBroken, match="k = 5"):
        la.verify(wrong, plan_toml).raise_if_broken()


def test_9_which_k(df: pd.DataFrame, plan_toml: Path) -> None:
    found = la.compare(
        df, plan_toml, k=[2, 5, 11, 20], algorithms=["mondrian", "top-down"], progress=True
    )
    frame = found.frame
    assert isinstance(frame, pd.DataFrame)
    assert sorted(set(frame["k"])) == [2, 5, 11, 20] and len(frame) == 8
    mondrian = frame[frame["algorithm"] == "mondrian"].sort_values("k")
    assert mondrian["gcp"].is_monotonic_increasing
    assert "<svg" in found._repr_html_() or "&lt;svg" in found._repr_html_()


def test_10_a_notebook_with_progress_and_a_page(df: pd.DataFrame, plan_toml: Path) -> None:
    out = la.anonymize(df, plan_toml, time=1, progress=True, on_interrupt="keep")
    assert '<iframe sandbox=""' in out.report()._repr_html_()
