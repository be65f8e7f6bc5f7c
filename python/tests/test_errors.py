"""Errors as data."""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import ROLES, people

import lookalike as la
from lookalike import _errors
from lookalike._errors import raised


def text(kind: str, code: str = "x", **more: object) -> str:
    return json.dumps({"kind": kind, "code": code, "reason": "why", "message": "why: how", **more})


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("request", la.ConfigError),
        ("hierarchy", la.HierarchyError),
        ("data", la.DataError),
        ("infeasible", la.Infeasible),
        ("exhausted", la.Exhausted),
        ("not-verified", la.NotVerified),
        ("something-new", la.LookalikeError),
    ],
)
def test_each_kind_has_its_class(kind: str, expected: type[la.LookalikeError]) -> None:
    hint = {"way": "set-k", "words": "k=5"}
    place = {"file": "f.csv", "line": 3, "column": "age", "row": 41}
    error = raised(text(kind, "code-x", place=place, hints=[hint]))
    assert type(error) is expected
    assert isinstance(error, la.LookalikeError)
    assert str(error) == "why: how" and error.reason == "why" and error.code == "code-x"
    assert (error.file, error.line, error.column, error.row) == ("f.csv", 3, "age", 41)
    assert error.hints == [hint]


def test_errors_of_input_are_value_errors() -> None:
    assert issubclass(la.ConfigError, ValueError) and issubclass(la.DataError, ValueError)
    assert issubclass(la.HierarchyError, la.DataError)
    assert not issubclass(la.Infeasible, ValueError)


def test_files_raise_os_errors() -> None:
    error = raised(text("io", "not-found", os_error=2, place={"file": "f.csv"}))
    assert isinstance(error, FileNotFoundError) and isinstance(error, la.FileError)
    assert (error.filename, error.errno, error.code) == ("f.csv", 2, "not-found")
    assert str(error) == "why: how" and error.reason == error.strerror == "why"
    kinds = {"permission-denied": PermissionError, "file-exists": FileExistsError,
             "is-a-folder": IsADirectoryError}  # fmt: skip
    for code, kind in kinds.items():
        error = raised(text("io", code, hints=[{"way": "force", "words": "force=True"}]))
        assert isinstance(error, kind) and isinstance(error, la.FileError)
        assert error.code == code and error.hints[0]["way"] == "force" and error.errno
    error = raised(text("io", "io"))
    assert type(error) is la.FileError and error.errno is None
    assert isinstance(error, la.LookalikeError) and isinstance(error, OSError)
    assert isinstance(raised(text("interrupted")), KeyboardInterrupt)


def test_the_words_of_a_producer_are_the_cause() -> None:
    error = raised(text("io", "io"), "it fell")
    assert isinstance(error.__cause__, RuntimeError) and str(error.__cause__) == "it fell"


def test_exceptions_pickle_and_copy() -> None:
    classes = [one for one in vars(_errors).values()
               if isinstance(one, type) and issubclass(one, la.LookalikeError)]  # fmt: skip
    assert len(classes) == 13
    for one in classes:
        error = one("words", code="c", column="age", row=3, hints=[{"way": "a", "words": "b"}])
        error.add_note("a note")
        for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert type(twin) is one and str(twin) == "words"
            assert vars(twin) == vars(error)
            assert (twin.code, twin.column, twin.row) == ("c", "age", 3)
    missing = raised(text("io", "not-found", place={"file": "f.csv"}))
    for twin in (pickle.loads(pickle.dumps(missing)), copy.copy(missing)):
        assert isinstance(twin, FileNotFoundError) and (twin.errno, twin.filename) == (2, "f.csv")


def test_a_wrong_cell_is_named_by_its_place(df: pd.DataFrame) -> None:
    df["age"] = df["age"].astype(str)
    df.loc[40, "age"] = "Canary"
    with pytest.raises(la.DataError) as caught:
        la.anonymize(df, k=5, **ROLES)
    error = caught.value
    assert (error.code, error.column, error.row) == ("text-among-numbers", "age", 41)
    assert "Canary" not in str(error) and "Canary" not in repr(error.hints)
    assert {hint["way"] for hint in error.hints} == {"plain", "name-missing", "set-kind"}
    assert all(hint["words"] for hint in error.hints)
    out = la.anonymize(df, k=5, steps=100, **ROLES | {"missing": ["Canary"]})
    assert out.rows == 400


def test_no_message_names_a_flag_of_the_command(df: pd.DataFrame) -> None:
    wrong: list[dict[str, Any]] = [
        {"k": 5, "quasi": ["age"]},
        {"quasi": ["age"], "rest": "drop"},
        {"k": 5, "rest": "drop"},
        {"k": 5, "quasi": ["ages"], "rest": "drop"},
        {"k": 500, "quasi": ["age"], "rest": "drop"},
        {"k": 5, "quasi": ["age"], "sensitive": {"diagnosis": la.rules(l=50)}, "rest": "drop"},
        {"k": 5, "quasi": ["age"], "rest": "drop", "algorithm": "magic"},
        {"k": 5, "quasi": ["age"], "rest": "drop", "algorithm": "ring"},
        {"k": 5, "quasi": ["age"], "rest": "drop", "time": "soon"},
        {"k": 5, "quasi": ["age"], "rest": "drop", "max_loss": "0.0001%"},
        {"k": 5, "quasi": {"sex": la.intervals(5)}, "rest": "drop"},
        {"k": 5, "quasi": {"sex": la.dates("year")}, "rest": "drop"},
        {"k": 5, "quasi": ["sex"], "rest": "keep"},
        {"k": 5, "quasi": ["sex"], "keep": ["age"], "count": "stay", "identifiers": ["stay"]},
    ]
    for wish in wrong:
        with pytest.raises(la.LookalikeError) as caught:
            la.anonymize(df, **wish)
        error = caught.value
        assert error.code and " --" not in str(error), (wish, str(error))
        assert all(hint.get("way") and hint.get("words") for hint in error.hints), error.hints


def test_infeasible_names_the_nearest_request(df: pd.DataFrame) -> None:
    with pytest.raises(la.Infeasible, match="largest feasible k is 400"):
        la.anonymize(df, k=500, quasi=["age"], rest="drop")


def test_a_wrong_hierarchy_names_column_and_line(tmp_path: Path, df: pd.DataFrame) -> None:
    file = tmp_path / "zips.csv"
    file.write_text("53703;a;*\n53711;a\n")
    with pytest.raises(la.HierarchyError) as caught:
        la.anonymize(df, k=5, quasi={"zip": file}, rest="drop")
    assert (caught.value.line, caught.value.file) == (2, str(file))
    rows = [["53703", "a", "*"]]
    with pytest.raises(la.HierarchyError) as caught:
        la.anonymize(df, k=5, quasi={"zip": la.hierarchy(rows)}, rest="drop")
    assert caught.value.column == "zip" and caught.value.code == "hierarchy-lacks-value"


def test_files_that_are_missing_or_exist(tmp_path: Path, df: pd.DataFrame) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        la.anonymize(tmp_path / "none.csv", k=5, quasi=["age"])
    assert caught.value.filename == str(tmp_path / "none.csv")
    with pytest.raises(FileNotFoundError, match="zip"):
        la.anonymize(df, k=5, quasi={"zip": tmp_path / "none.csv"}, rest="drop")
    out = la.anonymize(df, k=5, steps=100, **ROLES)
    target = tmp_path / "safe.csv"
    out.write(target)
    page, plot = out.report(queries=0), la.compare(df, k=5, algorithms="mondrian", **ROLES).plot()
    for writes in (out, page, plot, out.config):
        with pytest.raises(FileExistsError) as exists:
            writes.write(target)
        assert isinstance(exists.value, la.FileError)
        assert exists.value.code == "file-exists" and "force=True" in str(exists.value)
    with pytest.raises(la.FileError) as nowhere:
        page.write(tmp_path / "no" / "folder.html")
    assert nowhere.value.code == "not-found" and nowhere.value.file is not None
    with pytest.raises(FileNotFoundError):
        la.apply(tmp_path / "none.toml", df, k=5, quasi="age")
    out.write(target, force=True)
    assert len(pd.read_csv(target)) == 400


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_what_has_counts_of_the_source_is_for_its_owner_alone(
    tmp_path: Path, df: pd.DataFrame
) -> None:
    source = tmp_path / "people.csv"
    df.to_csv(source, index=False)
    out = la.anonymize(source, k=5, steps=100, **ROLES)
    plot = la.compare(df, k=5, algorithms="mondrian", queries=0, **ROLES).plot()
    old = tmp_path / "old.html"
    old.write_text("")
    old.chmod(0o644)
    out.report(old, force=True, queries=0)
    out.report(tmp_path / "new.html", queries=0)
    plot.write(tmp_path / "plot.svg")
    out.report(tmp_path / "public.html", queries=0, edition="public")
    modes = {name: (tmp_path / name).stat().st_mode & 0o077
             for name in ("old.html", "new.html", "plot.svg", "public.html")}  # fmt: skip
    assert modes.pop("public.html") != 0 and set(modes.values()) == {0}
    with pytest.raises(la.ConfigError) as caught:
        out.report(source, force=True, queries=0)
    assert caught.value.code == "output-is-input" and len(pd.read_csv(source)) == 400


def test_warnings_are_python_warnings(df: pd.DataFrame) -> None:
    with pytest.warns(la.LookalikeWarning, match="no rule protects") as caught:
        out = la.anonymize(df, k=5, quasi=["age"], sensitive=["diagnosis"], rest="drop", steps=10)
    assert [str(one.message) for one in caught] == out.warnings
    assert caught[0].filename == __file__
    with pytest.warns(la.LookalikeWarning, match="protects nobody") as caught:
        found = la.check(df, k=1, quasi=["age"])
    assert [str(one.message) for one in caught] == list(found.warnings)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"k": 0}, "k is a whole number from 1"),
        ({"k": -1}, "k is a whole number from 1"),
        ({"k": 5, "seed": -1}, "seed is a whole number from 0"),
        ({"k": 5, "suppress": 1}, 'for 1 percent write 0.01 or "1%"'),
        ({"k": 5, "suppress": "2.5"}, 'for 2.5 percent write 0.025 or "2.5%"'),
        ({"k": 5, "suppress": "100%"}, "suppress must be below 100%"),
        ({"k": 5, "rest": "maybe"}, "rest: unknown name, expected `drop` or `keep`"),
        ({"k": 5, "quasi": {"age": {"wight": 2}}}, r"columns.age.wight: unknown field"),
        ({"k": 5, "suppress": 0.1 + 0.2}, "not a ratio"),
        ({"k": 5, "threads": 0}, "threads is a whole number from 1"),
        ({"k": 5, "on_interrupt": "stop"}, "on_interrupt is one of 'raise', 'keep'"),
        ({"k": 5, "bound": "best"}, "bound is one of"),
        ({"k": 5, "verify": "no"}, "verify is one of"),
    ],
)
def test_wrong_arguments_are_named(df: pd.DataFrame, wish: dict[str, Any], words: str) -> None:
    with pytest.raises(la.ConfigError, match=words) as caught:
        la.anonymize(df, **{"quasi": ["age"], **wish})
    assert "line 1" not in str(caught.value) and caught.value.code


SEARCH: dict[str, Any] = {"algorithm": "mondrian", "time": 1, "steps": 5, "rounds": 2,
                          "scheme": "ops", "cost": "ncp", "seed": 1, "max_loss": 0.5,
                          "suppression_price": 0.5}  # fmt: skip


@pytest.mark.parametrize(
    ("function", "also"),
    [
        (la.check, ["publish", "snap", "non_homogeneous"]),
        (la.explain, ["publish", "snap", "non_homogeneous"]),
        (la.verify, ["publish", "snap", "population"]),
        (la.report, ["publish", "snap"]),
        (la.query, ["publish", "snap", "k"]),
        (la.compare, ["population"]),
        (la.apply, ["population"]),
    ],
)
def test_arguments_that_would_be_ignored_are_refused(function: Any, also: list[str]) -> None:
    values = SEARCH | {"publish": "set", "snap": True, "non_homogeneous": True, "population": "p",
                       "k": 5}  # fmt: skip
    own: set[str] = {
        la.compare: {"suppression_price", "time", "steps", "rounds", "scheme", "cost", "seed"},
        la.query: {"seed"},
        la.apply: {"max_loss"},
        la.explain: {"time", "suppression_price"},
    }.get(function, set())
    for name in [*SEARCH, *also]:
        if name in own:
            continue
        with pytest.raises(TypeError, match=rf"{function.__name__}\(\) has no .* '{name}'"):
            function("a.csv", "b.csv", **{name: values[name]})


def test_whole_numbers_are_checked_by_name(df: pd.DataFrame) -> None:
    numpy = pytest.importorskip("numpy")
    roles: dict[str, Any] = {"quasi": ["sex"], "rest": "drop"}
    calls: list[tuple[str, Any]] = [
        ("k", lambda wrong: la.anonymize(df, k=wrong, **roles)),
        ("k", lambda wrong: la.Config(k=wrong)),
        ("steps", lambda wrong: la.anonymize(df, k=5, steps=wrong, **roles)),
        ("threads", lambda wrong: la.check(df, quasi=["sex"], k=2, threads=wrong)),
        ("k", lambda wrong: la.compare(df, k=[wrong], **roles)),
        ("queries", lambda wrong: la.compare(df, queries=wrong, **roles)),
        ("queries", lambda wrong: la.report(df, df, queries=wrong, **roles)),
        ("random", lambda wrong: la.query(df, df, random=wrong, **roles)),
        ("seed", lambda wrong: la.query(df, df, seed=wrong, **roles)),
    ]
    for name, call in calls:
        for wrong in ("2", 2.0, 2.5):
            with pytest.raises(TypeError, match=f"^{name} is a whole number, not "):
                call(wrong)
        with pytest.raises(la.ConfigError, match=f"^{name} is a whole number from"):
            call(-1)
    assert la.check(df, quasi=["sex"], k=numpy.int64(2), threads=numpy.int64(1))
    found = la.compare(df, k=numpy.int64(5), algorithms="mondrian", queries=numpy.int32(5), **roles)
    assert [row["k"] for row in found.rows] == [5]
    with pytest.raises(TypeError, match="^algorithms "):
        la.compare(df, algorithms=5, **roles)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^on "):
        la.query(df, df, on=5, **roles)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^sum "):
        la.query(df, df, sum=5, **roles)  # type: ignore[arg-type]
    own: Any = [{"where": {"sex": "f"}}]
    random_alone: list[dict[str, Any]] = [{"on": "sex"}, {"sum": "age"}]
    for more in random_alone:
        with pytest.raises(la.ConfigError, match="random queries"):
            la.query(df, df, None, own, **more, **roles)
    no_lists: list[Any] = [5, {"where": {"sex": "f"}}, {"age": [20, 30]}, ["age"]]
    for one in no_lists:
        with pytest.raises(TypeError, match="^queries "):
            la.query(df, df, None, one, **roles)
    with pytest.raises(TypeError, match="PathLike"):
        la.verify(df, k=2, proof=0, **roles)  # type: ignore[arg-type]


def test_every_function_passes_its_warnings_on(df: pd.DataFrame) -> None:
    visits = pd.concat([df, df], ignore_index=True).drop(columns="diagnosis")
    with pytest.warns(la.LookalikeWarning) as caught:
        la.suggest(visits)
    assert caught[0].filename == __file__
    numbers = random.Random(1)
    wide = pd.DataFrame({f"c{n}": [str(numbers.random()) for _ in range(20)] for n in range(30)})
    lost = la.anonymize(wide, k=20, quasi=list(wide.columns), algorithm="mondrian")
    with pytest.warns(la.LookalikeWarning, match="no random queries") as caught:
        lost.report(queries=5)
    assert caught[0].filename == __file__


def test_a_table_in_the_place_of_a_configuration_is_recognised(
    df: pd.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    df.to_csv(path, index=False)
    with pytest.raises(la.ConfigError, match="not a request") as caught:
        la.anonymize(df, path)
    assert "Canary" not in str(caught.value)
    with pytest.raises(FileNotFoundError) as missing:
        la.anonymize(df, tmp_path / "none.toml")
    assert missing.value.filename == str(tmp_path / "none.toml")
    assert "os error" not in str(missing.value)


@pytest.mark.parametrize(
    ("function", "name", "way"),
    [
        (la.anonymize, "supress", "did you mean 'suppress'"),
        (la.anonymize, "timeout", "did you mean 'time'"),
        (la.anonymize, "l", r"sensitive=\{'column': rules\(l=...\)\}"),
        (la.anonymize, "zzz", "'zzz'$"),
        (la.anonymize, "order", "'order'(?!.*sensitive)"),
        (la.check, "quasy", "did you mean 'quasi'"),
        (la.compare, "algorithm", "did you mean 'algorithms'"),
        (la.Config, "supress", "did you mean 'suppress'"),
    ],
)
def test_a_wrong_keyword_argument_has_a_proposal(function: Any, name: str, way: str) -> None:
    tables = [] if function is la.Config else ["people.csv"]
    with pytest.raises(TypeError, match=rf"has no keyword argument '{name}'") as caught:
        function(*tables, **{name: 1})
    assert re.search(way, str(caught.value))


def test_a_number_in_the_place_of_a_configuration_is_k(df: pd.DataFrame) -> None:
    with pytest.raises(TypeError, match="as in k=5"):
        la.anonymize(df, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [0, -1, 1025, 10**9])
def test_threads_have_limits(threads: int) -> None:
    with pytest.raises((la.ConfigError, TypeError), match="threads"):
        la.anonymize(people(50), k=5, threads=threads, steps=10, **ROLES)
