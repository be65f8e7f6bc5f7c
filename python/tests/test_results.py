"""Verdicts, audits, reports, comparisons, queries, suggestions, plans, recodings, persons."""

from __future__ import annotations

import dataclasses
import html
import re
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import ROLES, people

import lookalike as la


def release(df: pd.DataFrame, **more: Any) -> la.Release:
    return la.anonymize(df, **{"k": 5, "steps": 300, **ROLES, **more})


def test_the_numbers_of_a_release(df: pd.DataFrame) -> None:
    out = release(df, seed=1)
    assert (out.rows, out.suppressed) == (400, 0)
    assert out.status == "heuristic" and out.verdict.holds and out.verdict.k >= 5
    assert out.verdict.l is not None and out.verdict.l >= 2
    assert [rule.column for rule in out.verdict.rules] == [None, "diagnosis"]
    assert out.loss.ncp == pytest.approx(sum(out.loss.by_column.values()))
    assert 0 < out.loss.gcp < 1 and set(out.loss.by_column) == {"age", "zip", "sex"}
    assert out.bound is not None and 0 < out.bound.value <= out.loss.ncp
    assert out.verdict.risk.highest == pytest.approx(1 / out.verdict.k)
    assert {"read", "search", "verify"} <= set(out.times)
    assert out.config["k"] == 5 and out.numbers["released"] == 400
    assert release(df, bound="none").bound is None
    assert out.proof is None and out.recoding is None


def test_results_are_frozen(df: pd.DataFrame) -> None:
    out = release(df)
    for result, name in [(out, "numbers"), (out.verdict, "k"), (out.loss, "gcp")]:
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
            setattr(result, name, 1)


def test_reprs_have_counts(df: pd.DataFrame) -> None:
    out = release(df)
    assert re.fullmatch(
        r"Release\(k=5(, smallest=\d+)?, rows=400, suppressed=0, classes=\d+, loss=0\.\d+"
        r"(, gap=[\d.]+)?, status='heuristic'\)",
        repr(out),
    )
    fewest = df["sex"].value_counts().min()
    shown = repr(la.check(df, k=2, quasi=["sex"]))
    assert shown == f"Verdict(holds=True, k={fewest}, rows=400, classes=2)"


def test_an_estimated_bound_is_marked(df: pd.DataFrame) -> None:
    out = release(df)
    for kind, shown, page in [("exact", "gap=0.71", ", 0.71 ×"), ("estimate", "gap~0.71", "about")]:
        bound = {"value": 9.0, "kind": kind, "gap": 0.71}
        other = dataclasses.replace(out, numbers={**out.numbers, "bound": bound})
        assert shown in repr(other) and page in other._repr_html_()
        assert ("an estimate" in other._repr_html_()) == (kind == "estimate")


def test_the_k_that_was_asked_for_is_beside_the_smallest_class(df: pd.DataFrame) -> None:
    fewest = df["sex"].value_counts().min()
    out = la.anonymize(df, k=2, quasi=["sex"], rest="drop", steps=10)
    assert repr(out).startswith(f"Release(k=2, smallest={fewest}, rows=")
    assert "(k = 2 was asked for)" in out._repr_html_()
    same = la.anonymize(df, k=int(fewest), quasi=["sex"], rest="drop", steps=10)
    assert repr(same).startswith(f"Release(k={fewest}, rows=")
    assert "asked for" not in same._repr_html_()


def test_the_repr_of_a_verdict_names_what_is_broken(df: pd.DataFrame) -> None:
    verdict = la.check(df, k=5, quasi=["age"], sensitive={"diagnosis": la.rules(l=3)})
    assert "broken=['k = 5 on age', 'l = 3 on diagnosis" in repr(verdict)
    leaked = la.verify(df[["sex", "stay"]], k=2, quasi=["sex"], rest="drop")
    assert repr(leaked).count("column `stay`") == 1
    with pytest.raises(la.RuleBroken, match="^column `stay` is in the release"):
        leaked.raise_if_broken()
    assert "<li>column `stay` is in the release" in leaked._repr_html_()


def test_a_broken_verdict_names_the_rule(df: pd.DataFrame) -> None:
    verdict = la.check(df, k=5, quasi=["age"], sensitive={"diagnosis": la.rules(l=3)})
    assert not verdict and verdict.holds is False
    with pytest.raises(la.RuleBroken, match=r"k = 5 on age.*l = 3 on diagnosis") as caught:
        verdict.raise_if_broken()
    assert caught.value.code == "rule-broken"
    good = la.check(df, k=5, quasi=["sex"])
    assert good.raise_if_broken() is good
    assert "BROKEN" in verdict._repr_html_() and "BROKEN" not in good._repr_html_()


def test_without_a_rule_there_are_measures_and_no_truth(df: pd.DataFrame) -> None:
    verdict = la.check(df, quasi=["sex"])
    assert verdict.holds is None and verdict.rules == ()
    assert verdict.k == df["sex"].value_counts().min() and verdict.risk.unique == 0
    for ask in (verdict.__bool__, verdict.raise_if_broken):
        with pytest.raises(la.ConfigError, match="give k") as caught:
            ask()
        assert caught.value.code == "no-rule"
    assert "broken" not in verdict._repr_html_() and "holds=None" in repr(verdict)


def test_html_escapes_names_of_columns(df: pd.DataFrame) -> None:
    evil = "<script>alert(1)</script>"
    frame = df.rename(columns={"age": evil})[[evil, "sex"]]
    out = la.anonymize(frame, k=5, quasi=[evil, "sex"], steps=50)
    checked = la.check(frame, k=5, quasi=[evil, "sex"])
    compared = la.compare(frame, k=5, quasi=[evil, "sex"], algorithms="mondrian", queries=10)
    page = out.report(queries=10)
    for shown in (
        out,
        out.verdict,
        checked,
        compared,
        la.suggest(frame),
        page,
        out.query(random=5),
    ):
        assert "<script" not in shown._repr_html_(), type(shown)
    assert "<script" not in page.html


def test_a_page_is_shown_in_a_frame_that_runs_nothing(df: pd.DataFrame, tmp_path: Path) -> None:
    out = release(df)
    page = out.report(tmp_path / "r.html", queries=50)
    assert page.holds and page.edition == "internal" and page.numbers["k"] >= 5
    assert (tmp_path / "r.html").read_text() == page.html
    with pytest.raises(FileExistsError):
        out.report(tmp_path / "r.html", queries=10)
    shown = page._repr_html_()
    assert shown.startswith('<iframe sandbox="" srcdoc="')
    source = re.fullmatch(r'<iframe sandbox="" srcdoc="([^"]*)".*</iframe>', shown, re.DOTALL)
    assert source is not None and html.unescape(source[1]) == page.html
    record = out.report(queries=0, date=date(2026, 11, 18)).numbers["record"]
    assert record["date"] == "2026-11-18" and record["source"]["sha256"] is None
    with pytest.raises(la.ConfigError, match="a date is written as") as caught:
        out.report(queries=0, date="yesterday")
    assert caught.value.code == "bad-date"
    public = out.report(edition="public", queries=0)
    assert public.edition == "public" and "public" in repr(public)
    assert la.report(df, out.frame, out.config, queries=0).holds


def test_a_report_on_a_bad_release_says_so(df: pd.DataFrame) -> None:
    out = release(df)
    worse = out.frame.astype({"age": object})
    worse.loc[0, "age"] = "150"
    assert not la.report(df, worse, out.config, queries=0).holds


def test_queries_random_and_own(df: pd.DataFrame) -> None:
    out = release(df)
    counts, sums = out.query(random=50).workloads
    assert counts.sum is None and sums.sum == "age" and counts.queries == sums.queries == 50
    assert counts.median_error is not None and counts.median_error < 1
    own: list[dict[str, Any]] = [
        {"where": {"age": [20, 40], "sex": "f"}},
        {"where": {"zip": ["53703", "53711"]}},
        {"sum": "age", "where": {"sex": "m"}},
    ]
    answers = la.query(df, out, None, own, each=True)
    truth = {one["query"]: one["truth"] for one in answers.each}
    assert truth[1] == ((df["age"].between(20, 40)) & (df["sex"] == "f")).sum()
    assert truth[2] == df["zip"].isin(["53703", "53711"]).sum()
    assert truth[3] == df.loc[df["sex"] == "m", "age"].sum()
    toml = '[[query]]\nwhere = { sex = "f" }\n'
    assert la.query(df, out.frame, out.config, toml).workloads[0].queries == 1
    assert len(answers.frame) == 2 and not out.query(random=5).each
    with pytest.raises(la.ConfigError, match="wher"):
        out.query([{"wher": {}}])


def test_conditions_of_queries_are_quoted(df: pd.DataFrame) -> None:
    odd = 'a"b\\c\nd\x7fé\U0001f600='
    frame = pd.DataFrame({"city": [odd, odd, "x", "x"], "n": [1, 1, 2, 2]})
    out = la.anonymize(frame, k=2, quasi=["city"], rest="drop")
    answers = out.query([{"where": {"city": odd}}], each=True)
    assert answers.each[0]["truth"] == 2


def test_conditions_of_every_type(df: pd.DataFrame) -> None:
    numpy = pytest.importorskip("numpy")
    out = release(df)
    own: list[dict[str, Any]] = [
        {"where": {"age": [numpy.float64(20.0), numpy.int64(40)]}},
        {"where": {"zip": {"53703", "53711"}}},
        {"where": {"sex": numpy.str_("f")}},
    ]
    truth = {one["query"]: one["truth"] for one in out.query(own, each=True).each}
    assert truth[1] == df["age"].between(20, 40).sum()
    assert truth[2] == df["zip"].isin(["53703", "53711"]).sum()
    assert truth[3] == (df["sex"] == "f").sum()
    for wrong in (None, float("nan"), float("inf"), object(), numpy.float64("nan")):
        with pytest.raises(TypeError, match="condition of a query"):
            out.query([{"where": {"sex": wrong}}])


def test_a_comparison(df: pd.DataFrame) -> None:
    found = la.compare(
        df, k=[2, 5], algorithms=["mondrian", "cluster"], queries=20, time=5, **ROLES
    )
    assert {(row["algorithm"], row["k"]) for row in found.rows} == {
        (name, k) for name in ("mondrian", "cluster") for k in (2, 5)
    }
    assert all(row["holds"] and row["smallest"] >= row["k"] for row in found.rows)
    assert isinstance(found.frame, pd.DataFrame) and len(found.frame) == 4
    plot = found.plot()
    assert plot.svg.lstrip().startswith("<svg") and plot._repr_svg_() == plot.svg
    assert 'sandbox=""' in plot._repr_html_() and 'sandbox=""' in found._repr_html_()
    assert repr(found) == "Comparison(4 searches on 400 rows)"
    assert list(found.rows[0])[:5] == ["k", "algorithm", "status", "gcp", "gap"]
    assert list(found.frame.columns) == list(found.rows[0])
    assert plot.name == "loss-by-k" and found.plot("time-by-loss").svg != plot.svg
    with pytest.raises(KeyError, match="no plot"):
        found.plot("nothing")


def test_a_comparison_lists_what_cannot_be_met(df: pd.DataFrame) -> None:
    found = la.compare(df, k=[5, 5000], algorithms="mondrian", queries=0, **ROLES)
    assert [row["status"] for row in found.rows] == ["heuristic", "not met"]
    assert "largest feasible k is 400" in found.rows[1]["why"]
    assert [row.keys() == found.rows[0].keys() for row in found.rows] == [True, True]
    assert found.rows[1]["gcp"] is None and found.rows[0]["why"] is None and found.plot().svg
    assert "not met" in found._repr_html_() and len(found.frame) == 2
    nothing = la.compare(df, k=5000, algorithms="mondrian", queries=0, **ROLES)
    assert "not met" in nothing._repr_html_()
    with pytest.raises(KeyError, match="no request was met"):
        nothing.plot()


def test_a_suggestion_has_reasons(df: pd.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    config = la.suggest(df)
    assert config.names("quasi") and "diagnosis" in config.names("sensitive")
    assert config.names("identifier") == ["name"]
    assert set(config.reasons) == set(df.columns) and all(config.reasons.values())
    assert list(config["columns"]) == list(df.columns)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    assert "reason" in config._repr_html_()
    assert config.with_(k=3).reasons == config.reasons
    out = la.anonymize(df, config, time=0.2)
    assert out.verdict.k >= 5


def test_verify_without_a_source_and_with_keyword_arguments(df: pd.DataFrame) -> None:
    out = release(df)
    assert la.verify(out)
    assert la.verify(out.frame, k=5, quasi=["age", "zip", "sex"], rest="keep")
    assert not la.verify(out.frame, out.config, k=300)
    against = la.verify(out, source=df)
    assert against and [finding for finding, _ in against.findings]
    leaking = out.frame.assign(name="Canary-0001")
    leaked = la.verify(leaking, out.config)
    assert not leaked and leaked.leaks
    assert "Canary-0001" not in repr(leaked) + leaked._repr_html_()


def test_a_recoding_is_applied_to_further_rows(df: pd.DataFrame, tmp_path: Path) -> None:
    wish: dict[str, Any] = {
        "k": 5, "quasi": {"age": {"scheme": "ops"}, "sex": None}, "rest": "drop",
    }  # fmt: skip
    first = la.anonymize(df, algorithm="optimal", **wish)
    assert first.recoding is not None
    more = df.iloc[:200].reset_index(drop=True)
    path = tmp_path / "recoding.toml"
    path.write_text(first.recoding)
    for recoding in (first, first.recoding, path, str(path)):
        config = None if recoding is first else la.Config(**wish)
        out = la.apply(recoding, more, config, k=2, suppress="50%")
        assert out.frame["age"].cat.ordered, "labels as in any release"
        assert out.status == "applied" and out.verdict.k >= 2 and not out.warnings
        assert set(out.frame["age"]) <= set(first.frame["age"]) and out.rows > 100
    with pytest.raises(la.ConfigError, match="no recoding"):
        la.apply(release(df), more)


def test_a_plan_from_counts(df: pd.DataFrame) -> None:
    counts = df.groupby(["age", "sex"]).size().reset_index(name="n")
    plan = la.plan(counts, k=20, quasi=["age", "sex"], count="n", steps=200)
    frame = plan.frame
    assert isinstance(plan, la.Plan) and "Plan(" in repr(plan)
    assert {"age", "sex", "published_age", "published_sex", "first_row", "last_row",
            "suppressed"} == set(frame.columns)  # fmt: skip
    rows = frame["last_row"] - frame["first_row"] + 1
    assert rows.sum() == 400
    published = frame.assign(rows=rows).groupby(["published_age", "published_sex"], observed=True)
    assert published["rows"].sum().min() >= 20
    assert la.verify(plan, source=counts)
    assert not hasattr(plan, "report")


def test_counts_of_rows(df: pd.DataFrame) -> None:
    counts = df.groupby(["age", "sex"]).size().reset_index(name="n").astype({"n": "int8"})
    out = la.anonymize(counts, k=150, quasi=["age", "sex"], count="n", steps=200)
    assert out.frame["n"].max() >= 150, "a sum that int8 cannot hold"
    assert out.frame.groupby(["age", "sex"], observed=True)["n"].sum().min() >= 150
    assert out.frame["n"].sum() == 400
    whole = la.anonymize(df, k=150, quasi=["age", "sex"], rest="drop", steps=200)
    assert out.classes == whole.classes or out.loss.ncp == pytest.approx(whole.loss.ncp, rel=0.2)


def visits() -> pd.DataFrame:
    df = people(200)
    return pd.concat([df, df.assign(stay=9), df.iloc[:50].assign(stay=8)], ignore_index=True)


@pytest.mark.parametrize("persons", ["whole", "rows"])
def test_persons_with_several_rows(persons: Any) -> None:
    df = visits()
    wish: dict[str, Any] = {"k": 5, "quasi": ["age", "sex"], "person": "name", "rest": "drop",
                            "persons": persons, "steps": 200}  # fmt: skip
    out = la.anonymize(df, **wish)
    assert out.verdict.unit == "persons" and out.verdict.k >= 5
    assert "name" not in out.frame.columns
    assert out.proof is not None
    assert la.verify(out, source=df).k >= 5
    assert la.verify(out).k >= 5, "it has its proof and its source"
    assert out.report(queries=0).holds
    theirs = la.verify(out.frame, out.config, source=df, proof=out.proof)
    assert theirs.holds


def test_pseudonyms_count_persons() -> None:
    df = visits()
    out = la.anonymize(df, k=5, quasi=["age", "sex"], person="name", pseudonyms=True, rest="drop",
                       keep=["stay"], steps=200)  # fmt: skip
    assert pd.api.types.is_integer_dtype(out.frame["name"].dtype), "a number, not the key"
    assert out.frame.groupby(["age", "sex"], observed=True)["name"].nunique().min() >= 5
    assert out.frame["name"].nunique() == df["name"].nunique()


def test_rings_have_a_proof(df: pd.DataFrame) -> None:
    out = la.anonymize(df, k=5, quasi=["age", "sex"], rest="drop", algorithm="ring",
                       non_homogeneous=True)  # fmt: skip
    assert out.proof is not None and out.verdict.k >= 5
    assert la.verify(out, source=df)
    with pytest.raises(la.LookalikeError) as caught:
        la.anonymize(df, k=5, quasi=["age", "sex"], rest="drop", algorithm="ring")
    assert caught.value.code == "non-homogeneous"


@pytest.mark.parametrize(
    "name", ["safe.csv", "safe.csv.gz", "safe.tsv", "safe.parquet", "safe.arrow"]
)
def test_a_release_is_written_and_verified(df: pd.DataFrame, tmp_path: Path, name: str) -> None:
    out = release(df)
    path = tmp_path / name
    out.write(path)
    assert la.verify(path, out.config, source=df)
    if name.endswith("parquet"):
        back = pd.read_parquet(path)
        assert back["age"].astype(str).tolist() == out.frame["age"].astype(str).tolist()
    with pytest.raises(la.ConfigError):
        out.write(tmp_path / "safe.docx")


def test_the_same_seed_gives_the_same_release(df: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(release(df, seed=5).frame, release(df, seed=5).frame)


def test_a_kept_release_is_no_part_of_its_source(df: pd.DataFrame) -> None:
    """Changing the frame that was handed out changes neither the release nor the source."""
    out = release(df)
    before = out.to_pandas()
    frame = out.frame
    frame["stay"] = 0
    pd.testing.assert_frame_equal(out.to_pandas(), before)


@pytest.mark.parametrize("algorithm", ["optimal", "incognito"])
def test_a_global_recoding_of_persons_has_a_recoding_and_a_proof(algorithm: str) -> None:
    df = pd.DataFrame({"p": ["a", "b", "c", "a", "d", "e"], "x": [1, 1, 2, 1, 3, 3]})
    out = la.anonymize(df, k=2, quasi=["x"], person="p", algorithm=algorithm, time=1)
    assert out.recoding is not None and out.proof is not None
    assert out.proof.startswith("released_row,source_row,rows\n")
    assert la.verify(out, source=df).holds


def test_a_release_is_written_to_a_path_of_bytes(df: pd.DataFrame, tmp_path: Path) -> None:
    out = release(df)
    path: Any = bytes(tmp_path / "safe.csv")
    out.write(path)
    assert (tmp_path / "safe.csv").exists()
    no_truth: Any = "no"
    with pytest.raises(TypeError, match="^force is True or False, not str$"):
        out.write(path, force=no_truth)
