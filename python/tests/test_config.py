"""Configurations: mappings, files, and keyword arguments over them."""

from __future__ import annotations

import json
import pickle
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import PLAN

import lookalike as la
from lookalike._config import config_of

EVERYTHING = """
version = 1
k = 10
algorithm = "optimal"
rounds = 3
steps = 100000
scheme = "ghs"
cost = "ncp"
seed = 7
rest = "keep"
accept_unique = true
missing = ["?", "NA"]
count = "n"
persons = "whole"
rules = [{ k = 1000, columns = ["zip", "sex"] }]
[input]
path = "patients.csv"
delimiter = ";"
[output]
path = "safe.csv"
publish = "bounds"
order = "input"
snap = true
raw_formulas = true
pseudonyms = true
codebook = true
hash_key = "secret.key"
proof = "proof.csv"
[columns]
patient = { role = "person" }
name = { role = "identifier", hash = true }
age = { role = "quasi", weight = 2, hierarchy = { intervals = [5, 10], origin = 1, top = 80 } }
zip = { role = "quasi", hierarchy = { prefix = [4, 3, 2] } }
admission = { role = "quasi", hierarchy = { date = ["month", "year"] } }
education = { role = "quasi", order = ["school", "college"], scheme = "ops" }
district = { role = "quasi", hierarchy = { rows = [["Deutz", "Cologne", "*"]] } }
trade = { role = "quasi", hierarchy = { text = "baker;craft;*" } }
sex = { role = "quasi", kind = "categorical" }
diagnosis = { role = "sensitive", alpha = "1/2", values = ["HIV"], l = 3, distinct = 3 }
illness = { role = "sensitive", entropy = 2.5, recursive = { c = 3, l = 2 } }
height = { role = "quasi", hierarchy = { intervals = [5], bottom = 150 } }
income = { role = "sensitive", t = 0.3, distance = "ordered", round = 100, top = 9000, bottom = 0 }
ward = { role = "keep", dependent = true }
instance = { role = "weight" }
[limits]
time = "60s"
max_loss = "30%"
suppress = "1%"
[risk]
population = "register.csv"
sampling_fraction = "5%"
"""


def test_every_key_of_the_file_is_reachable_by_a_mapping() -> None:
    import tomllib

    mapping = tomllib.loads(EVERYTHING)
    config = la.Config(mapping)
    again = la.Config.parse(config.to_toml())
    assert again.to_toml() == config.to_toml()
    assert set(again) == set(config) == set(mapping)
    for name, keys in mapping["columns"].items():
        assert set(again["columns"][name]) == set(keys), name
    assert config["columns"]["age"]["hierarchy"]["intervals"] == [5, 10]
    assert la.Config.parse(EVERYTHING).to_toml() == config.to_toml()


def test_keyword_arguments_say_the_same_as_a_mapping() -> None:
    said = la.Config(
        k=10,
        quasi={
            "age": {"weight": 2, "hierarchy": la.intervals(5, 10, origin=1, bottom=20, top=80)},
            "zip": la.prefix(4, 3, 2),
            "admission": la.dates("month", "year"),
            "education": {"order": ["school", "college"], "scheme": "ops"},
            "district": la.hierarchy([["Deutz", "Cologne", "*"]]),
            "raw": {"intervals": [5]},
            "file": Path("zip.csv"),
            "sex": None,
        },
        sensitive={
            "diagnosis": la.rules(l=3, alpha="1/2", values=["HIV"], recursive=(3, 2)),
            "income": {"t": 0.3, "distance": "ordered"},
            "other": None,
        },
        keep="ward",
        accept_dependent=["ward"],
        reasons={"ward": "wanted by the clinic", "sex": "seen by everybody"},
        round={"income": 100},
        top={"income": 9000},
        bottom={"income": 0.0},
        identifiers=["name"],
        hash=["name"],
        hash_key=Path("secret.key"),
        person="patient",
        sampling_weight="instance",
        suppress="1%",
        suppression_price=0.5,
        max_loss=0.3,
        time=timedelta(minutes=1),
        publish="bounds",
        pseudonyms=True,
        codebook=True,
        missing="?",
        purpose="diagnosis",
        population=Path("register.csv"),
        sampling_fraction="5%",
    )
    columns = said["columns"]
    assert columns["age"]["hierarchy"] == {
        "intervals": [5, 10], "origin": 1, "bottom": 20, "top": 80
    }  # fmt: skip
    assert columns["zip"] == {"role": "quasi", "hierarchy": {"prefix": [4, 3, 2]}}
    assert columns["raw"]["hierarchy"] == {"intervals": [5]}
    assert columns["file"]["hierarchy"] == "zip.csv"
    assert columns["sex"] == {"role": "quasi", "reason": "seen by everybody"}
    assert said.reasons == {"ward": "wanted by the clinic", "sex": "seen by everybody"}
    assert columns["other"] == {"role": "sensitive"}
    assert columns["diagnosis"]["recursive"] == {"c": 3, "l": 2}
    assert columns["ward"] == {
        "role": "keep", "dependent": True, "reason": "wanted by the clinic"
    }  # fmt: skip
    assert columns["patient"] == {"role": "person"}
    assert columns["name"] == {"role": "identifier", "hash": True}
    assert {key: columns["income"][key] for key in ("round", "top", "bottom")} == {
        "round": 100, "top": 9000, "bottom": 0
    }  # fmt: skip
    assert columns["instance"] == {"role": "weight"}
    assert said["limits"] == {
        "suppress": "1%", "suppression_price": 0.5, "max_loss": 0.3, "time": "60.000000s"
    }  # fmt: skip
    assert said["output"] == {
        "publish": "bounds", "pseudonyms": True, "codebook": True, "hash_key": "secret.key"
    }  # fmt: skip
    assert said["missing"] == ["?"] and said["risk"]["population"] == "register.csv"


def test_keyword_arguments_win_column_by_column() -> None:
    base = la.Config.parse(PLAN)
    more = base.with_(k=11, quasi=["zip", "stay"], sensitive={"diagnosis": la.rules(alpha=0.5)})
    columns = more["columns"]
    assert more["k"] == 11 and base["k"] == 5
    assert columns["zip"] == base["columns"]["zip"], "the same role: the hierarchy stays"
    assert columns["stay"] == {"role": "quasi"}, "another role: its old keys would not fit"
    assert columns["diagnosis"] == {"role": "sensitive", "l": 2, "alpha": 0.5}
    assert columns["age"] == {"role": "quasi"}
    changed = base.with_(quasi={"zip": la.prefix(3)})["columns"]["zip"]
    assert changed["hierarchy"] == {"prefix": [3]}
    assert base.with_(quasi={"zip": None})["columns"]["zip"] == base["columns"]["zip"]
    assert "rest" not in la.Config(rest="drop").with_(rest="error")
    assert base.with_() == base


def test_a_column_has_one_role() -> None:
    with pytest.raises(la.ConfigError, match="both quasi and keep") as caught:
        la.Config(k=2, quasi=["age"], keep=["age"])
    assert caught.value.column == "age"


def test_one_name_is_a_list_of_one() -> None:
    assert la.Config(quasi="age").names("quasi") == ["age"]


def test_wrong_keys_and_types_are_refused_early() -> None:
    with pytest.raises(la.ConfigError):
        la.Config({"kay": 5})
    with pytest.raises(la.ConfigError):
        la.Config({"columns": {"age": {"role": "quasy"}}})
    with pytest.raises(la.ConfigError, match="complex"):
        la.Config({"k": 3j})
    with pytest.raises(la.ConfigError, match="finite"):
        la.Config({"limits": {"suppress": float("nan")}})
    with pytest.raises(TypeError, match="kay"):
        la.Config(kay=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        la.anonymize("x.csv", kay=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="keep is"):
        la.Config(keep={"ward": None})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="quasi"):
        la.Config(quasi={"age": 5})
    with pytest.raises(TypeError, match="configuration is"):
        la.check("x.csv", 5)  # type: ignore[arg-type]


@pytest.mark.parametrize("keyword", ["quasi", "keep", "identifiers", "person", "missing"])
@pytest.mark.parametrize("value", [5, b"age", ["age", 0], [None]])
def test_names_of_a_wrong_type_are_refused_by_their_argument(keyword: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"^{keyword} "):
        la.Config(**{keyword: value})


@pytest.mark.parametrize("time", [True, float("nan"), float("inf"), [1], 3j])
def test_a_time_of_a_wrong_type_is_refused(time: Any) -> None:
    with pytest.raises(TypeError, match="^time "):
        la.Config(time=time)


def test_names_may_be_an_index() -> None:
    names: Any = pd.DataFrame(columns=["b", "a"]).columns
    assert la.Config(quasi=names).names("quasi") == ["b", "a"]


def test_a_column_is_not_published_by_accepting_it(df: pd.DataFrame) -> None:
    asked: dict[str, Any] = {"k": 2, "quasi": ["age"], "accept_dependent": ["stay"]}
    wrong: list[dict[str, Any]] = [{"rest": "drop"}, {}, {"quasi": "stay"}, {"identifiers": "stay"}]
    for roles in wrong:
        with pytest.raises(la.ConfigError, match="`stay`.*keep") as caught:
            la.Config(**asked | roles)
        assert caught.value.code == "no-role" and caught.value.column == "stay"
    right: list[dict[str, Any]] = [{"rest": "keep"}, {"keep": "stay"}, {"sensitive": "stay"}]
    for roles in right:
        config = la.Config(**asked | roles)
        assert config["columns"]["stay"]["dependent"] is True
    base = la.Config(k=2, rest="keep")
    assert base.with_(accept_dependent="stay").names("keep") == ["stay"]


def test_a_reason_needs_a_role_and_goes_with_it() -> None:
    with pytest.raises(la.ConfigError, match="`ward` of reasons has no role") as caught:
        la.Config(k=2, quasi="age", reasons={"ward": "why"})
    assert caught.value.code == "no-role" and caught.value.column == "ward"
    with pytest.raises(TypeError, match="reasons is a dict"):
        la.Config(k=2, quasi="age", reasons="why")  # type: ignore[arg-type]
    config = la.Config(k=2, quasi="age", reasons={"age": "known to neighbours"})
    assert la.Config.parse(config.to_toml()).reasons == {"age": "known to neighbours"}
    assert "known to neighbours" in config._repr_html_()
    assert config.with_(identifiers="age").reasons == {}


def test_rounding_needs_a_role_and_a_mapping() -> None:
    with pytest.raises(la.ConfigError, match="no role") as error:
        la.Config(quasi=["age"], round={"pay": 100})
    assert error.value.column == "pay"
    with pytest.raises(TypeError, match="top is a dict"):
        la.Config(quasi=["age"], top=100)  # type: ignore[arg-type]


def test_no_value_is_in_the_repr_of_rules() -> None:
    shown = repr(la.rules(t=0.2, values=["Canary"], order=["Canary", "b"]))
    assert shown == "rules(values='<1>', t=0.2, order='<2>')"


def test_a_config_is_frozen_and_hashable_and_pickles() -> None:
    config = la.Config.parse(PLAN)
    with pytest.raises(AttributeError, match="with_"):
        config.k = 3
    config["columns"]["age"]["role"] = "keep"
    assert config["columns"]["age"]["role"] == "quasi"
    assert pickle.loads(pickle.dumps(config)) == config
    assert len({config, la.Config.parse(PLAN)}) == 1


def test_numbers_of_numpy_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    config = la.Config(k=numpy.int64(5), quasi={"age": la.intervals(*numpy.array([5, 10]))})
    assert json.dumps(config["k"]) == "5"
    assert config["columns"]["age"]["hierarchy"]["intervals"] == [5, 10]


def test_a_file_is_read_relative_to_its_folder(tmp_path: Path) -> None:
    (tmp_path / "zips.csv").write_text("53703;*\n")
    path = tmp_path / "plan.toml"
    path.write_text('k = 2\n[columns]\nzip = { role = "quasi", hierarchy = "zips.csv" }\n')
    config = la.Config.read(path)
    assert Path(config["columns"]["zip"]["hierarchy"]) == tmp_path / "zips.csv"
    copy = tmp_path / "copy.toml"
    config.write(copy)
    assert la.Config.read(str(copy)) == config
    with pytest.raises(FileExistsError):
        config.write(copy)
    config.write(copy, force=True)
    with pytest.raises(FileNotFoundError):
        la.Config.read(tmp_path / "none.toml")


def test_hierarchies_from_rows_dicts_and_frames_are_the_same() -> None:
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    rows = [["Bonn", "West", "*"], ["Aachen", "West", "*"], ["Ulm", "South", "*"]]
    names = ["city", "region", "all"]
    frame = pd.DataFrame(rows, columns=names)
    same = [
        la.hierarchy(rows),
        la.hierarchy(tuple(map(tuple, rows))),
        la.hierarchy({"West": ["Bonn", "Aachen"], "South": ["Ulm"]}),
        la.hierarchy({"*": {"West": ["Bonn", "Aachen"], "South": ("Ulm",)}}),
        la.hierarchy({"*": {"West": {"Bonn": None, "Aachen": {}}, "South": {"Ulm": None}}}),
        la.hierarchy({"Bonn": "West", "Aachen": "West", "Ulm": "South"}),
        la.hierarchy(frame),
        la.hierarchy(pl.from_pandas(frame)),
        la.hierarchy(pa.table(frame)),
    ]
    for one in same:
        assert one.spec == {"rows": rows}, one
        assert "Bonn" not in repr(one)


def test_short_paths_are_padded() -> None:
    uneven = la.hierarchy({"West": {"NRW": ["Bonn"]}, "South": ["Ulm"]})
    assert uneven.spec == {"rows": [["Bonn", "NRW", "West", "*"], ["Ulm", "Ulm", "South", "*"]]}
    gaps = pd.DataFrame([["Bonn", "West", "*"], ["Ulm", "*", None]])
    assert la.hierarchy(gaps).spec == {"rows": [["Bonn", "West", "*"], ["Ulm", "Ulm", "*"]]}


def test_numbers_in_a_hierarchy_have_the_text_of_the_table() -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0], "group": ["low", "low"]})
    assert la.hierarchy(frame).spec == {"rows": [["1", "low"], ["2", "low"]]}


@pytest.mark.parametrize("wrong", [["low", "high"], [[]], [["a", "*"], []], {"a": 5, "b": "c"}])
def test_wrong_hierarchies_are_refused(wrong: Any) -> None:
    with pytest.raises(la.HierarchyError):
        la.hierarchy(wrong)
    for empty in (la.intervals, la.prefix, la.dates):
        with pytest.raises(la.HierarchyError):
            empty()


def test_a_hierarchy_in_memory_is_used(df: pd.DataFrame) -> None:
    groups = {"Wisconsin": ["53703", "53711", "53726"], "Chicago": ["60615", "60637"],
              "Boston": ["02139"]}  # fmt: skip
    out = la.anonymize(df, k=20, quasi={"age": None, "zip": la.hierarchy(groups), "sex": None},
                       rest="drop", steps=500, seed=7)  # fmt: skip
    known = {*groups, *(one for zips in groups.values() for one in zips), "*"}
    assert set(out.frame["zip"]) <= known
    assert set(out.frame["zip"]) & set(groups)


def test_the_command_reads_what_a_config_writes() -> None:
    config = la.Config(k=5, quasi={"zip": la.prefix(4, 3)}, rest="drop", time=60)
    assert la.Config.parse(config.to_toml())["columns"] == config["columns"]


def test_a_configuration_of_a_call_may_have_any_form(plan_toml: Path) -> None:
    forms: list[Any] = [plan_toml, str(plan_toml), la.Config.read(plan_toml)]
    forms.append(dict(la.Config.read(plan_toml)))
    made = [config_of(form, {"k": 7}) for form in forms]
    assert all(one == made[0] for one in made) and made[0]["k"] == 7


def test_a_hierarchy_never_makes_one_value_of_two() -> None:
    times = ["2020-01-01T00:00:00.000000001", "2020-01-01T00:00:00.000000002"] * 6
    df = pd.DataFrame({"q": pd.to_datetime(times).astype("datetime64[ns]")})
    with pytest.raises(la.HierarchyError):
        la.anonymize(df, k=3, quasi={"q": la.hierarchy([[times[0], "g", "*"]])}, steps=20)
    large = pd.DataFrame({"q": [1e23, 2.5] * 6})
    tree = la.hierarchy({"g": [1e23], "h": [2.5], "i": ["sNaN"]})
    assert la.anonymize(large, k=3, quasi={"q": tree}, steps=20).rows == 12


def test_an_order_whose_labels_read_like_ranges_is_not_taken() -> None:
    labels = ["a", "[1-2]", "b"]
    df = pd.DataFrame({"q": pd.Categorical(labels * 4, categories=labels, ordered=True)})
    out = la.anonymize(df, k=3, quasi=["q"], steps=20)
    assert out.rows == 12 and "order" not in out.config["columns"]["q"]


def test_a_hierarchy_as_a_series_or_without_its_function() -> None:
    groups = {"a": "x", "b": "x", "c": "y"}
    assert la.hierarchy(pd.Series(groups)) == la.hierarchy(groups)
    with pytest.raises(TypeError, match="row numbers in its index"):
        la.hierarchy(pd.Series(["a", "b"]))
    with pytest.raises(la.HierarchyError, match="two groups"):
        la.hierarchy(pd.Series(["x", "y"], index=["a", "a"]))
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="not a Series"):
        la.hierarchy(polars.Series(["a", "b"]))
    for bare in (groups, {"x": ["a", "b"], "y": ["c"]}, {"x": {"y": ["a"]}}):
        with pytest.raises(la.ConfigError, match=r"written hierarchy\(\{...\}\)") as caught:
            la.Config(quasi={"q": bare})
        assert caught.value.column == "q"
    for other in ([["a", "x"]], pd.DataFrame({"a": ["b"]})):
        with pytest.raises(TypeError, match=r"written hierarchy\(...\)"):
            la.Config(quasi={"q": other})
    with pytest.raises(la.ConfigError, match="wight"):
        la.Config(quasi={"q": {"wight": 2}})


def test_the_index_of_a_hierarchy_frame_is_refused() -> None:
    frame = pd.DataFrame({"value": ["a", "b"], "group": ["x", "x"]})
    assert la.hierarchy(frame).spec == {"rows": [["a", "x"], ["b", "x"]]}
    for other in (
        frame.set_index("value"),
        frame.set_axis([9, 3]),
        frame.rename_axis("n"),
    ):
        with pytest.raises(la.HierarchyError, match="reset_index"):
            la.hierarchy(other)


@pytest.mark.parametrize("wrong", [[0, 18, 30], "5", (5, 10)])
def test_widths_of_intervals_are_numbers(wrong: Any) -> None:
    with pytest.raises(TypeError, match="^the widths of intervals are numbers"):
        la.intervals(wrong)
