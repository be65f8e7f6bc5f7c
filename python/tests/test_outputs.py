"""What goes out: types of columns, intervals, and nothing that was not released."""

from __future__ import annotations

import hmac
from datetime import date, datetime, time
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import ROLES, people

import lookalike as la


def typed(rows: int = 300) -> pd.DataFrame:
    """A column of each type that a frame may have."""
    df = people(rows)
    numbers = range(rows)
    return df.assign(
        int64=[number % 7 for number in numbers],
        int8=pd.array([number % 5 for number in numbers], dtype="int8"),
        Int64=pd.array([None if number % 9 == 0 else number % 4 for number in numbers], "Int64"),
        float32=pd.array([number % 3 / 2 for number in numbers], dtype="float32"),
        gaps=pd.Series([None if number % 8 == 0 else number % 3 / 2 for number in numbers]),
        boolean=[number % 2 == 0 for number in numbers],
        nullable=pd.array([None if number % 6 == 0 else True for number in numbers], "boolean"),
        string=pd.array([None if number % 6 == 0 else "x" for number in numbers], "string"),
        objects=pd.Series([f"o{number % 3}" for number in numbers], dtype=object),
        zoned=pd.DatetimeIndex(
            [pd.Timestamp("2024-03-30 12:00", tz="Europe/Berlin")] * rows
        ).as_unit("ms"),
        seconds=pd.DatetimeIndex([pd.Timestamp("2024-03-30 12:00:01")] * rows).as_unit("s"),
        span=pd.to_timedelta([number % 3 for number in numbers], unit="h"),
        category=pd.Categorical([f"c{number % 3}" for number in numbers],
                                categories=["c2", "c1", "c0", "Canary-unused"]),
        ordered=pd.Categorical([f"c{number % 3}" for number in numbers],
                               categories=["c2", "c1", "Canary-unused", "c0"], ordered=True),
        numbered=pd.Categorical([number % 3 for number in numbers], categories=[2, 1, 0, 99]),
    )  # fmt: skip


KEPT = [name for name in typed(10).columns if name not in people(1).columns]


def test_kept_columns_keep_their_type_and_their_values() -> None:
    df = typed()
    keep = {name: {"role": "keep", "dependent": True} for name in KEPT}
    out = la.anonymize(df, {"columns": keep}, k=5, steps=300, **ROLES)
    frame = out.frame
    for name in KEPT:
        before, after = df[name], frame[name]
        if isinstance(before.dtype, pd.CategoricalDtype):
            assert isinstance(after.dtype, pd.CategoricalDtype), name
            assert after.dtype.categories.dtype == before.dtype.categories.dtype, name
        else:
            assert after.dtype == before.dtype, name
        assert before.isna().sum() == after.isna().sum(), name
        counts, found = before.value_counts().to_dict(), after.value_counts().to_dict()
        assert {k: v for k, v in counts.items() if v} == {k: v for k, v in found.items() if v}, name


BIG = 2**53 + 1
"""A whole number that a float cannot hold."""


@pytest.mark.parametrize(
    "cells",
    [
        pd.Series([1, None, BIG, 3], dtype=object),
        pd.Series(["a", None, "b", "a"], dtype=object),
        pd.Series([True, None, False, True], dtype=object),
        pd.Series([1.5, None, 2.0, 3.0], dtype=object),
        pd.Series([datetime(2024, 3, 1, 12), None, datetime(2024, 3, 2), None], dtype=object),
        pd.Series([date(2024, 3, 1), None, date(2024, 3, 2), None], dtype=object),
        pd.Series([time(12), None, time(13), None], dtype=object),
        pd.Series([Decimal("1.20"), None, Decimal("3.00"), None], dtype=object),
        pd.Series([b"x", None, b"y", b"x"], dtype=object),
        pd.Series([["a"], None, ["b", "c"], []], dtype=object),
        pd.Series([{"a": 1}, None, {"a": 2}, None], dtype=object),
        pd.Series(pd.Categorical([BIG, 2, None, 2])),
        pd.Series(pd.Categorical([1.5, 2.5, None, 1.5])),
        pd.Series(pd.Categorical([True, False, None, True])),
        pd.Series(pd.Categorical(["b", "a", None, "b"], categories=["b", "a"], ordered=True)),
        pd.Series([pd.Timestamp("2024-03-01"), pd.NaT, pd.Timestamp("2024-03-02"), pd.NaT]).astype(
            "category"
        ),
        pd.Series(pd.cut([1.0, float("nan"), 3.0, 4.0], [0, 2, 4])),
        pd.Series(pd.interval_range(0, 4)),
        pd.Series(pd.period_range("2024-01", periods=4, freq="M")),
        pd.Series([BIG, None, 3, 4], dtype="Int64"),
        pd.Series([None] * 4, dtype=object),
        pd.Series(pd.Categorical([None] * 4, categories=["Canary"])),
    ],
    ids=lambda cells: f"{cells.dtype}-{cells[0]}",
)
def test_a_kept_cell_keeps_its_value_and_its_type(cells: pd.Series[Any]) -> None:
    frame = pd.DataFrame({"sex": ["f"] * 4, "kept": cells})
    after = la.anonymize(frame, k=4, quasi="sex", keep="kept", steps=5).frame["kept"]
    if isinstance(cells.dtype, pd.CategoricalDtype):
        cells = cells.cat.remove_unused_categories()
    assert after.dtype == cells.dtype

    def typed(column: pd.Series[Any]) -> list[str]:
        return sorted(f"{type(cell).__name__} {cell!r}" for cell in column)

    assert typed(after) == typed(cells)


def test_categories_that_no_released_row_has_are_gone() -> None:
    df = typed()
    out = la.anonymize(df, k=5, keep=["category", "ordered", "numbered"], quasi=["sex"],
                       rest="drop", steps=100)  # fmt: skip
    frame = out.frame
    assert sorted(frame["category"].cat.categories) == ["c0", "c1", "c2"]
    assert list(frame["ordered"].cat.categories) == ["c2", "c1", "c0"]
    assert frame["ordered"].cat.ordered and not frame["category"].cat.ordered
    assert sorted(frame["numbered"].cat.categories) == [0, 1, 2]


def test_labels_of_quasi_identifiers_are_in_the_order_of_their_ranges(df: pd.DataFrame) -> None:
    for out in (la.anonymize(df, k=5, steps=300, **ROLES),
                la.anonymize(df, k=25, steps=300, algorithm="mondrian", **ROLES)):  # fmt: skip
        ages = list(out.frame["age"].cat.categories)
        least = [float(age.strip("[]").split("-")[0]) for age in ages if age != "*"]
        assert len(least) > 3
        assert least == sorted(least)
        assert set(ages) == set(out.frame["age"].dropna())
    pl = pytest.importorskip("polars")
    frame = out.to_polars()
    assert isinstance(frame["age"].dtype, pl.Enum)
    assert frame["age"].dtype.categories.to_list() == ages


def test_polars_columns_keep_their_types(df: pd.DataFrame) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.from_pandas(df).with_columns(
        pl.col("stay").cast(pl.Int16),
        level=pl.col("stay").cast(pl.String).cast(pl.Enum(["9", "5", "4", "3", "2", "1"])),
        kind=pl.col("diagnosis").cast(pl.Categorical),
        when=pl.lit("2024-03-30T12:00").str.to_datetime().dt.replace_time_zone("Europe/Berlin"),
        money=pl.lit("12.50").cast(pl.Decimal(10, 2)),
    )
    kept = ["stay", "level", "kind", "when", "money"]
    out = la.anonymize(frame, k=5, quasi=["age", "sex"], keep=kept, rest="drop", steps=100).frame
    for name in ["stay", "kind", "when", "money"]:
        assert out.schema[name] == frame.schema[name], name
    assert out["level"].dtype.categories.to_list() == ["5", "4", "3", "2", "1"]
    assert out["stay"].sum() == frame["stay"].sum()


@pytest.mark.parametrize("form", ["Struct", "List", "Array"])
def test_categories_inside_polars_types_are_those_of_the_release(form: str) -> None:
    pl = pytest.importorskip("polars")
    enum = pl.Enum(["Canary", "x", "y"])
    kinds = {"Struct": pl.Struct({"a": enum}), "List": pl.List(enum), "Array": pl.Array(enum, 1)}
    cell: Any = {"a": "x"} if form == "Struct" else ["x"]
    frame = pl.DataFrame({"sex": ["f"] * 4, "kept": pl.Series([cell] * 4, dtype=kinds[form])})
    out = la.anonymize(frame, k=4, quasi="sex", keep="kept", steps=5)
    assert out.frame["kept"].to_list() == [cell] * 4
    assert "Canary" not in str(out.frame.schema)
    assert b"Canary" not in buffers(pytest.importorskip("pyarrow").table(out))


def test_a_polars_column_of_nothing_is_a_column() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"sex": ["f"] * 4, "empty": [None] * 4})
    out = la.anonymize(frame, k=4, quasi="sex", keep="empty", steps=5).frame
    assert out.schema["empty"] == pl.Null and out["empty"].null_count() == 4
    assert la.check(frame, k=4, quasi=["sex"])


def test_bounds_are_typed_columns(df: pd.DataFrame) -> None:
    df = df.assign(when=pd.to_datetime("2024-01-01") + pd.to_timedelta(df["stay"], unit="D"))
    df.loc[::10, "age"] = None
    out = la.anonymize(df, k=5, quasi=["age", "when", "sex"], rest="drop", publish="bounds",
                       steps=300)  # fmt: skip
    frame = out.frame
    assert {"age_min", "age_max", "when_min", "when_max", "sex"} <= set(frame.columns)
    assert pd.api.types.is_numeric_dtype(frame["age_min"])
    assert (frame["age_min"] <= frame["age_max"]).fillna(True).all()
    intervals = out.to_pandas(intervals=True)
    assert isinstance(intervals["age"].dtype, pd.IntervalDtype)
    assert isinstance(intervals["when"].dtype, pd.IntervalDtype)
    assert "age_min" not in intervals and "age_max" not in intervals
    whens = intervals["when"].dropna()
    assert isinstance(whens.iloc[0].left, pd.Timestamp)
    assert intervals["age"].isna().sum() == frame["age_min"].isna().sum() > 0
    for low, interval in zip(frame["age_min"], intervals["age"], strict=True):
        assert pd.isna(low) if pd.isna(interval) else interval.left == low


def test_the_middle_of_bounds_is_a_further_column(df: pd.DataFrame) -> None:
    df = df.assign(when=pd.to_datetime("2024-01-01") + pd.to_timedelta(df["stay"], unit="D"))
    out = la.anonymize(df, k=5, quasi=["age", "when", "sex"], rest="drop", publish="center",
                       steps=100)  # fmt: skip
    frame = out.frame
    assert ((frame["age_min"] + frame["age_max"]) / 2 == frame["age_center"]).all()
    assert frame["when_center"].between(frame["when_min"], frame["when_max"]).all()
    assert isinstance(out.to_pandas(intervals=True)["age"].dtype, pd.IntervalDtype)
    assert la.verify(frame, out.config).holds
    frame.loc[0, "age_center"] += 0.5
    assert not la.verify(frame, out.config).holds


def test_a_codebook_is_data_and_two_files(df: pd.DataFrame, tmp_path: Path) -> None:
    out = la.anonymize(df, k=5, quasi=["age", "sex"], rest="drop", steps=100, codebook=True)
    assert out.codebook is not None
    assert [column["name"] for column in out.codebook["columns"]] == ["age", "sex"]
    labels = out.codebook["columns"][1]["labels"]
    assert {shown["label"]: shown["rows"] for shown in labels} == dict(
        out.frame["sex"].astype(object).value_counts()
    )
    out.write(tmp_path / "safe.csv")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["safe.codebook.html", "safe.codebook.json", "safe.csv"]
    without = la.anonymize(df, k=5, quasi=["age", "sex"], rest="drop", steps=100)
    assert without.codebook is None


def test_kept_numbers_are_published_rounded_and_with_limits() -> None:
    df = people()
    df["pay"] = [900 + 37 * row for row in range(len(df))]
    df["height"] = [150 + row % 400 / 10 for row in range(len(df))]
    roles = {**ROLES, "keep": ["stay", "pay", "height"]}
    limits: dict[str, Any] = {"round": {"pay": 1000, "height": 0.5}, "top": {"pay": 9000}}
    result = la.anonymize(df, k=5, steps=100, seed=1, **roles, **limits)
    released = result.frame
    expected = [min(9000, (pay + 500) // 1000 * 1000) for pay in df["pay"]]
    assert sorted(released["pay"]) == sorted(expected)
    assert (
        released["pay"].dtype == df["pay"].dtype and released["height"].dtype == df["height"].dtype
    )
    assert sorted(released["height"]) == sorted(
        int(height * 2 + 0.5) / 2 for height in df["height"]
    )
    assert la.verify(released, k=5, **roles, **limits).holds
    finer = released.assign(pay=released["pay"] + 1)
    assert not la.verify(finer, k=5, **roles, **limits).holds


def test_identifiers_are_published_as_hashes_with_a_key(df: pd.DataFrame, tmp_path: Path) -> None:
    key = tmp_path / "secret.key"
    key.write_bytes(b"sixteen bytes or more")
    roles = {**ROLES, "identifiers": []}
    released = la.anonymize(df, k=5, steps=100, hash=["name"], hash_key=key, **roles).frame
    expected = {
        hmac.new(key.read_bytes(), name.encode(), "sha256").hexdigest()[:32] for name in df["name"]
    }
    assert set(released["name"]) == expected
    drawn = la.anonymize(df, k=5, steps=100, hash=["name"], **roles).frame
    assert len(set(drawn["name"])) == len(df) and not set(drawn["name"]) & expected


def test_dates_of_the_calendar_become_intervals_of_timestamps(df: pd.DataFrame) -> None:
    pa = pytest.importorskip("pyarrow")
    days = pa.array([19000 + stay for stay in df["stay"]], pa.int32()).cast(pa.date32())
    table = pa.table({"day": days, "sex": df["sex"].to_list()})
    out = la.anonymize(table, k=20, quasi=["day", "sex"], publish="bounds", steps=100)
    day = out.to_pandas(intervals=True)["day"]
    assert isinstance(day.iloc[0].left, pd.Timestamp)


def test_intervals_of_labels_are_refused_with_the_way_out(df: pd.DataFrame) -> None:
    out = la.anonymize(df, k=5, steps=100, **ROLES)
    with pytest.raises(la.ConfigError, match='publish="bounds"'):
        out.to_pandas(intervals=True)


def test_kept_columns_are_no_bounds() -> None:
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "age_min": [0] * 4, "age_max": [10] * 4})
    out = la.anonymize(frame, k=4, quasi="age", keep=["age_min", "age_max"], steps=5)
    with pytest.raises(la.ConfigError) as caught:
        out.to_pandas(intervals=True)
    assert caught.value.code == "no-bounds"


def test_bounds_that_are_labels_stay_two_columns() -> None:
    frame = pd.DataFrame({"grade": ["low", "mid", "high", "mid"], "age": [1, 2, 3, 4]})
    out = la.anonymize(frame, k=4, quasi={"grade": {"order": ["low", "mid", "high"]}, "age": None},
                       publish="bounds", steps=5)  # fmt: skip
    shown = out.to_pandas(intervals=True)
    assert isinstance(shown["age"].dtype, pd.IntervalDtype)
    assert shown["grade_min"].unique().tolist() == ["low"]
    assert shown["grade_max"].unique().tolist() == ["high"]


def buffers(table: Any) -> bytes:
    """All bytes of all buffers of an Arrow table, with those of dictionaries and the schema."""
    pa = pytest.importorskip("pyarrow")

    def of(array: Any) -> bytes:
        found = b"".join(bytes(buffer) for buffer in array.buffers() if buffer is not None)
        if isinstance(array, pa.DictionaryArray):
            found += of(array.dictionary)
        return found

    chunks = b"".join(of(chunk) for column in table.columns for chunk in column.chunks)
    return chunks + bytes(table.schema.serialize())


def canary_table() -> pd.DataFrame:
    """One row that must be suppressed, identifiers, and a category that nobody has."""
    df = people(300)
    df["diagnosis"] = pd.Categorical(df["diagnosis"], categories=[
        *sorted(set(df["diagnosis"])), "Canary-unused"])  # fmt: skip
    df["ward"] = [f"W{stay}" for stay in df["stay"]]
    odd = {"name": "Canary-odd", "age": 3, "zip": "Canary-zip", "sex": "Canary-sex",
           "diagnosis": "flu", "stay": 5, "ward": "Canary-ward"}  # fmt: skip
    df = pd.concat([df, pd.DataFrame([odd])], ignore_index=True)
    df["diagnosis"] = df["diagnosis"].astype(
        pd.CategoricalDtype([*sorted(set(df["diagnosis"])), "Canary-unused"])
    )
    return df


CANARY_WISH: dict[str, Any] = {
    "k": 5, "quasi": {"age": {"weight": 5}, "sex": {"weight": 5}}, "keep": ["ward", "diagnosis"],
    "identifiers": ["name", "stay", "zip"], "suppress": "1%", "steps": 500,
}  # fmt: skip


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_no_byte_of_what_was_not_released_is_in_the_buffers(kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    df = canary_table()
    table: Any = df
    if kind == "polars":
        table = pytest.importorskip("polars").from_pandas(df)
    if kind == "pyarrow":
        table = pa.table(df).replace_schema_metadata({"note": "Canary-metadata"})
    out = la.anonymize(table, **CANARY_WISH)
    assert out.suppressed >= 1, "the odd row was meant to be suppressed"
    assert b"Canary" in buffers(pa.table(df)), "the canary is in the source"
    assert b"Canary" not in buffers(pa.table(out))
    assert b"Canary" not in buffers(pa.table(out.to_pandas()))
    if find_spec("polars"):
        assert b"Canary" not in buffers(out.to_polars().to_arrow())
    assert "Canary" not in out.frame.__repr__()
    for name in out.to_pandas().columns:
        dtype = out.to_pandas()[name].dtype
        if isinstance(dtype, pd.CategoricalDtype):
            assert not [label for label in dtype.categories if "Canary" in str(label)]


def test_no_value_is_in_any_text_that_a_result_shows() -> None:
    df = canary_table()
    df["age"] = df["age"] + 7_000_000  # a number that no count can be
    out = la.anonymize(df, **CANARY_WISH)
    verdict = la.check(df, k=5, quasi=["age", "sex"])
    audit = la.verify(out, source=df)
    answers = out.query(random=20, each=True)
    comparison = la.compare(df, k=[3], quasi=["age", "sex"], rest="drop", algorithms=["mondrian"])
    suggested = la.suggest(df)
    shown = [out, out.verdict, out.loss, out.bound, verdict, audit, answers, answers.workloads,
             comparison, suggested, out.config]  # fmt: skip
    texts = [repr(result) for result in shown]
    texts += [result._repr_html_() for result in shown if hasattr(result, "_repr_html_")]
    texts += out.warnings
    labels = {str(label) for name in ("age", "sex") for label in out.frame[name].cat.categories}
    values = {str(value) for name in ("age", "zip", "name", "ward") for value in df[name]}
    for text in texts:
        assert "Canary" not in text
        assert "70000" not in text
        for value in (labels | values) - {"f", "m", "*"}:
            assert value not in text


def test_a_release_can_be_read_any_number_of_times(df: pd.DataFrame) -> None:
    pa = pytest.importorskip("pyarrow")
    duckdb = pytest.importorskip("duckdb")
    out = la.anonymize(df, k=5, steps=100, **ROLES)
    first, second = pa.table(out), pa.table(out)
    assert first.equals(second) and first.num_rows == out.rows
    assert [a.address for a in first["stay"].chunk(0).buffers() if a is not None] == [
        a.address for a in second["stay"].chunk(0).buffers() if a is not None
    ], "the buffers that were audited are the ones handed out"
    found = duckdb.sql("select count(*) from out").fetchall()
    assert found == [(out.rows,)]
    assert out.frame is out.frame


def test_without_pandas_polars_or_pyarrow_the_extra_is_named(
    df: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    import sys

    df.to_csv(tmp_path / "p.csv", index=False)
    out = la.anonymize(tmp_path / "p.csv", k=5, steps=100, **ROLES)
    for missing, extra, convert in [
        ("pandas", "pandas", out.to_pandas),
        ("polars", "polars", out.to_polars),
        ("pyarrow", "pandas", out.to_arrow),
    ]:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, missing, None)
            with pytest.raises(ImportError, match=rf"pip install 'lookalike\[{extra}\]'"):
                convert()
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, "pyarrow")
        patch.setattr("importlib.util.find_spec", lambda name: None)
        assert la.anonymize(tmp_path / "p.csv", k=5, steps=100, **ROLES).frame.rows == 400


def test_polars_frames_are_the_same_without_pyarrow(
    df: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    pl = pytest.importorskip("polars")
    df.loc[::9, "zip"] = None
    out = la.anonymize(df, k=5, steps=100, **ROLES)
    marked = out.to_polars()
    monkeypatch.setattr("lookalike._frames.has", lambda module: False)
    cast = out.to_polars()
    assert cast.schema == marked.schema and isinstance(marked.schema["zip"], pl.Enum)
    assert cast.equals(marked)
    assert marked["zip"].null_count() == cast["zip"].null_count()


def test_bounds_do_not_take_the_type_of_a_column_that_is_dropped() -> None:
    df = pd.DataFrame(
        {"q": [100] * 4 + [200] * 4 + [300] * 4, "q_min": pd.Series([1] * 12).astype("int8")}
    )
    out = la.anonymize(df, k=3, quasi=["q"], rest="drop", publish="bounds", steps=20)
    assert sorted(out.frame["q_min"].unique()) == [100, 200, 300]


def test_objects_that_arrow_would_change_are_refused() -> None:
    import uuid

    quasi = [1, 1, 2, 2] * 3
    times = pd.Series([pd.Timestamp("2020-01-01T00:00:00.000000001"), None] * 6, dtype=object)
    for cells in (times, pd.Series([uuid.uuid4() for _ in quasi], dtype=object)):
        df = pd.DataFrame({"q": quasi, "kept": cells})
        with pytest.raises(la.DataError, match="column `kept`") as caught:
            la.anonymize(df, k=3, quasi=["q"], keep=["kept"], steps=20)
        assert caught.value.code == "no-arrow-type"
        assert "2020" not in str(caught.value)
    fine = pd.DataFrame({"q": quasi, "kept": pd.to_datetime(times)})
    kept = la.anonymize(fine, k=3, quasi=["q"], keep=["kept"], steps=20).frame["kept"]
    assert sorted(kept.dropna()) == sorted(fine["kept"].dropna())
