"""Every kind of table that may come in, and the traps on the way."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import ROLES, people

import lookalike as la

WISH: dict[str, Any] = {"k": 5, "steps": 500, "seed": 7, **ROLES}


def _pandas(df: pd.DataFrame, folder: Path) -> Any:
    return df


def _polars(df: pd.DataFrame, folder: Path) -> Any:
    return pytest.importorskip("polars").from_pandas(df)


def _lazy(df: pd.DataFrame, folder: Path) -> Any:
    return pytest.importorskip("polars").from_pandas(df).lazy()


def _arrow(df: pd.DataFrame, folder: Path) -> Any:
    return pytest.importorskip("pyarrow").table(df)


def _reader(df: pd.DataFrame, folder: Path) -> Any:
    return pytest.importorskip("pyarrow").table(df).to_reader(max_chunksize=64)


def _duckdb(df: pd.DataFrame, folder: Path) -> Any:
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_df(df)


def _duckdb_result(df: pd.DataFrame, folder: Path) -> Any:
    duckdb = pytest.importorskip("duckdb")
    df.to_parquet(folder / "p.parquet")
    warnings.filterwarnings("ignore", "Arrow output on a DB-API result")
    return duckdb.connect().execute(f"select * from '{folder / 'p.parquet'}'")


def _adbc(df: pd.DataFrame, folder: Path) -> Any:
    dbapi = pytest.importorskip("adbc_driver_sqlite.dbapi")
    pyarrow = pytest.importorskip("pyarrow")
    connection = dbapi.connect(str(folder / "p.db"))
    cursor = connection.cursor()
    cursor.adbc_ingest("people", pyarrow.table(df))
    cursor.execute("select * from people")
    return cursor


def _csv(df: pd.DataFrame, folder: Path) -> Any:
    df.to_csv(folder / "p.csv", index=False)
    return folder / "p.csv"


def _csv_text_path(df: pd.DataFrame, folder: Path) -> Any:
    return str(_csv(df, folder))


def _parquet(df: pd.DataFrame, folder: Path) -> Any:
    df.to_parquet(folder / "p.parquet")
    return folder / "p.parquet"


class Stream:
    """Anything with Arrow data: a class of nobody."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def _stranger(df: pd.DataFrame, folder: Path) -> Any:
    return Stream(_arrow(df, folder))


def _categorical(df: pd.DataFrame, folder: Path) -> Any:
    return df.astype({"zip": "category", "sex": "category", "diagnosis": "category"})


KINDS: list[Callable[[pd.DataFrame, Path], Any]] = [
    _pandas, _polars, _lazy, _arrow, _reader, _duckdb, _duckdb_result, _adbc, _csv, _csv_text_path,
    _parquet, _stranger, _categorical,
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_release(
    kind: Callable[[pd.DataFrame, Path], Any], df: pd.DataFrame, tmp_path: Path
) -> None:
    expected = la.anonymize(df, **WISH).to_pandas().astype(str)
    table = kind(df, tmp_path)
    out = la.anonymize(table, **WISH)
    if kind is _adbc:
        table.close()
        table.connection.close()
    pd.testing.assert_frame_equal(out.to_pandas().astype(str), expected, check_dtype=False)


def test_a_frame_goes_out_as_the_kind_that_came_in(df: pd.DataFrame, tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    assert isinstance(la.anonymize(df, **WISH).frame, pd.DataFrame)
    assert isinstance(la.anonymize(_polars(df, tmp_path), **WISH).frame, pl.DataFrame)
    assert isinstance(la.anonymize(_lazy(df, tmp_path), **WISH).frame, pl.DataFrame)
    for kind in (_arrow, _reader, _duckdb, _csv):
        assert isinstance(la.anonymize(kind(df, tmp_path), **WISH).frame, pa.Table), kind


def test_an_unnamed_index_of_row_numbers_is_dropped(df: pd.DataFrame) -> None:
    out = la.anonymize(df, k=5, quasi=["age", "sex"], rest="drop", steps=100)
    assert list(out.frame.columns) == ["age", "sex"]
    assert isinstance(out.frame.index, pd.RangeIndex)
    kept = la.anonymize(
        df[["age", "sex", "stay"]], k=5, quasi=["age", "sex"], rest="keep", steps=100
    )
    assert list(kept.frame.columns) == ["age", "sex", "stay"]


@pytest.mark.parametrize("rest", ["drop", "keep"])
def test_any_other_index_is_refused_by_name(df: pd.DataFrame, rest: Any) -> None:
    indexed = df.set_index("name")
    with pytest.raises(la.ConfigError, match=r"`name`.*reset_index\(\).*drop=True") as caught:
        la.anonymize(indexed, k=5, quasi=["age"], rest=rest)
    assert caught.value.code == "index-column" and caught.value.column == "name"
    with pytest.raises(la.ConfigError, match="reset_index"):
        la.check(df[df["age"] > 30], k=5, quasi=["age"])
    with pytest.raises(la.ConfigError, match="`zip`, `sex`"):
        la.anonymize(df.set_index(["zip", "sex"]), k=5, quasi=["age"], rest=rest)


def test_column_names_that_are_no_texts_are_refused(df: pd.DataFrame) -> None:
    with pytest.raises(la.ConfigError, match="names of columns are texts"):
        la.anonymize(pd.DataFrame([[1, 2], [3, 4]]), k=2, quasi=["0", "1"])
    wide = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    with pytest.raises(la.ConfigError, match="several levels"):
        la.anonymize(wide, k=2, quasi=["a"])
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(la.DataError, match="two columns have the name `a`"):
        la.anonymize(twice, k=2, quasi=["a"])


def test_a_frame_of_spark_is_refused_with_the_way_out(df: pd.DataFrame) -> None:
    read = []

    class DataFrame:
        """A stand-in: like that of Spark 4 it has Arrow data, which would be collected."""

        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            read.append(1)
            return None

    DataFrame.__module__ = "pyspark.sql.classic.dataframe"
    with pytest.raises(la.ConfigError, match=r"toPandas.*lookalike\.engine") as caught:
        la.anonymize(DataFrame(), k=5, quasi=["age"])
    assert caught.value.code == "spark-frame"
    assert not read


def test_a_stream_that_was_read_is_refused(df: pd.DataFrame, tmp_path: Path) -> None:
    reader = _reader(df, tmp_path)
    out = la.anonymize(reader, **WISH)
    with pytest.raises(la.ConfigError, match="can be read once.*read_all"):
        la.verify(out, source=reader)
    with pytest.raises(la.ConfigError, match="source="):
        out.report()
    with pytest.raises(la.ConfigError, match="can be read once"):
        out.query()
    assert out.query(source=df, random=20).workloads[0].queries == 20
    assert la.verify(out, source=df)


def test_a_stream_that_somebody_else_has_read_is_explained(
    df: pd.DataFrame, tmp_path: Path
) -> None:
    reader = _reader(df, tmp_path)
    reader.read_all()
    with pytest.raises(la.DataError) as caught:
        la.anonymize(reader, **WISH)
    assert caught.value.code == "no-rows"
    assert "read before" in caught.value.__notes__[0]


class Drained:
    """A stream of nobody that was read before: it has no rows any more."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        pa = pytest.importorskip("pyarrow")
        return pa.table({"age": pa.array([], pa.int64())}).__arrow_c_stream__(requested_schema)


def test_every_stream_that_somebody_else_has_read_is_explained(df: pd.DataFrame) -> None:
    out = la.anonymize(df, k=5, quasi="age", rest="drop", steps=10)
    calls: list[Callable[[], object]] = [
        lambda: la.check(Drained(), k=5, quasi="age"),
        lambda: la.verify(out, source=Drained()),
        lambda: la.report(df, Drained(), out.config),
    ]
    for call in calls:
        with pytest.raises(la.DataError) as caught:
            call()
        assert caught.value.code == "no-rows" and "read before" in caught.value.__notes__[0]


def test_frames_and_relations_can_be_read_again(df: pd.DataFrame, tmp_path: Path) -> None:
    for kind in (_pandas, _polars, _lazy, _arrow, _duckdb, _csv):
        out = la.anonymize(kind(df, tmp_path), **WISH)
        assert out.query(random=10).workloads[0].queries == 10, kind


def test_the_source_is_kept_and_not_copied(df: pd.DataFrame) -> None:
    assert la.anonymize(df, **WISH)._source.given is df


def test_a_generator_behind_a_stream_runs_in_python(df: pd.DataFrame, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    table = _arrow(df, tmp_path)
    seen = []

    def batches() -> Iterator[Any]:
        for batch in table.to_batches(max_chunksize=50):
            seen.append(batch.num_rows)
            yield batch

    out = la.anonymize(pa.RecordBatchReader.from_batches(table.schema, batches()), **WISH)
    assert sum(seen) == len(df) == out.rows


def test_a_generator_that_raises_is_the_cause(df: pd.DataFrame, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    table = _arrow(df, tmp_path)

    def batches() -> Iterator[Any]:
        yield table.to_batches(max_chunksize=50)[0]
        raise LookupError("the sensor fell into the sea")

    with pytest.raises(OSError) as caught:
        la.anonymize(pa.RecordBatchReader.from_batches(table.schema, batches()), **WISH)
    assert "the sensor fell into the sea" in str(caught.value.__cause__)
    assert "the sensor fell" not in str(caught.value)


def test_cells_of_several_types_are_refused_without_their_values() -> None:
    mixed = pd.DataFrame({"age": [1, "Canary", 3], "sex": ["f", "m", "m"]}, dtype=object)
    with pytest.raises(la.DataError, match="column `age`.*several types") as caught:
        la.anonymize(mixed, k=2, quasi=["age", "sex"])
    assert caught.value.column == "age"
    assert "Canary" not in str(caught.value) and caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", ["Object", "Int128", "UInt128", "List(Int128)", "List(Null)"])
def test_polars_columns_without_an_arrow_form_are_refused_by_name(kind: str) -> None:
    pl = pytest.importorskip("polars")
    if not hasattr(pl, "UInt128") and "128" in kind:
        pytest.skip("this version of polars has no such type")
    series = {
        "Object": lambda: pl.Series([object()] * 4, dtype=pl.Object),
        "Int128": lambda: pl.Series([1] * 4, dtype=pl.Int128),
        "UInt128": lambda: pl.Series([1] * 4, dtype=pl.UInt128),
        "List(Int128)": lambda: pl.Series([[1]] * 4, dtype=pl.List(pl.Int128)),
        "List(Null)": lambda: pl.Series([[]] * 4, dtype=pl.List(pl.Null)),
    }
    frame = pl.DataFrame({"sex": ["f"] * 4, "odd": series[kind]()})
    with pytest.raises(la.DataError, match="column `odd`") as caught:
        la.anonymize(frame, k=4, quasi="sex", keep="odd")
    assert caught.value.code == "no-arrow-type" and caught.value.column == "odd"


def test_a_name_with_nul_is_refused() -> None:
    pl = pytest.importorskip("polars")
    for frame in (pl.DataFrame({"a\0b": [1, 2]}), pd.DataFrame({"a\0b": [1, 2]})):
        with pytest.raises(la.LookalikeError, match="NUL"):
            la.check(frame, k=2, quasi=["a"], rest="drop")


def test_cells_that_arrow_cannot_hold_are_refused_by_name() -> None:
    for cells in ([2**70, 1], ["\ud800", "a"]):
        frame = pd.DataFrame({"sex": ["f", "f"], "odd": pd.Series(cells, dtype=object)})
        with pytest.raises(la.DataError, match="column `odd`") as caught:
            la.anonymize(frame, k=2, quasi="sex", rest="keep")
        assert caught.value.code == "no-arrow-type" and caught.value.column == "odd"


def test_a_column_may_have_the_name_of_one_of_its_cells() -> None:
    frame = pd.DataFrame({"f": ["f", "m", "f", "m"], "1": [1, 2, 1, 2]})
    assert la.check(frame, k=2, quasi=["f"])
    assert la.anonymize(frame, k=2, quasi=["f", "1"], steps=5).rows == 4
    assert la.suggest(frame).reasons.keys() == {"f", "1"}


WHEN = pd.to_datetime(
    ["2024-03-01 12:00", "2024-03-02 13:30", "2024-03-01 12:00", "2024-03-04 00:00"]
)
UNIQUE: dict[str, Any] = {
    "text": ["a", "b", "a", "c"],
    "int64": [1, 2, 1, 3],
    "Int64": pd.array([1, None, 1, 3], "Int64"),
    "gaps": [1.0, None, 1.0, 3.0],
    "float64": [1.0, 2.5, 1.0, 1e20],
    "float32": pd.array([0.1, 2.5, 0.1, 1.0], dtype="float32"),
    "Float64": pd.array([0.1, 2.5, None, 1.0], dtype="Float64"),
    "bool": [True, False, True, True],
    "boolean": pd.array([True, None, True, False], "boolean"),
    "days": WHEN.normalize(),
    "seconds": WHEN.as_unit("s"),
    "nanoseconds": WHEN.as_unit("ns"),
    "zoned": WHEN.tz_localize("Europe/Berlin"),
    "date": [day.date() for day in WHEN],
    "decimal": [Decimal("4.00"), Decimal("4.50"), Decimal("4.00"), Decimal("5.00")],
    "category": pd.Categorical(["a", "b", "a", "c"]),
    "numbered": pd.Categorical([1, 2, 1, 3]),
}


@pytest.mark.parametrize("kind", UNIQUE)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_hierarchy_of_the_values_of_a_column_fits_the_column(kind: str, library: str) -> None:
    frame = pd.DataFrame({"x": UNIQUE[kind], "sex": ["f"] * 4})
    table: Any = frame
    values: Any = frame["x"].dropna().unique()
    if library == "polars":
        table = pytest.importorskip("polars").from_pandas(frame)
        values = table["x"].drop_nulls().unique().to_list()
    elif library == "pyarrow":
        table = pytest.importorskip("pyarrow").table(frame)
        values = table["x"].unique().drop_null().to_pylist()
    forms = [la.hierarchy({"all": list(values)}), la.hierarchy([[one, "all"] for one in values])]
    for hierarchy in forms:
        quasi = {"x": hierarchy, "sex": None}
        out = la.anonymize(table, k=2, quasi=quasi, suppress="75%", steps=20)
        assert la.verify(out, source=table)
        assert la.check(table, k=1, quasi=quasi).k == 1
        assert out.query(random=1, on="sex").workloads


def test_a_hierarchy_of_whole_numbers_fits_floats() -> None:
    pl = pytest.importorskip("polars")
    for frame in (pd.DataFrame({"x": [1.0, 2.0, None, 2.5]}),
                  pl.DataFrame({"x": [1.0, 2.0, None, 2.5]})):  # fmt: skip
        for values in ([1, 2, 2.5], ["1", "2", "2.5"], ["1.0", "2.00", "2.50"]):
            hierarchy = la.hierarchy({"all": values})
            out = la.anonymize(frame, k=2, quasi={"x": hierarchy}, suppress="75%", steps=20)
            assert set(out.to_pandas()["x"].dropna()) <= {"all", *map(str, values)}
        short = la.hierarchy({"all": [1, 2]})
        with pytest.raises(la.HierarchyError):
            la.anonymize(frame, k=2, quasi={"x": short}, steps=20)


GRADES = ["low", "Canary-unused", "mid", "high"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_order_of_categories_is_the_order_of_a_quasi_identifier(library: str) -> None:
    grades = ["low", "mid", "high", "mid"] * 3
    frame: Any = pd.DataFrame({"grade": pd.Categorical(grades, GRADES, ordered=True)})
    if library == "polars":
        pl = pytest.importorskip("polars")
        frame = pl.DataFrame({"grade": pl.Series(grades, dtype=pl.Enum(GRADES))})
    out = la.anonymize(frame, k=4, quasi="grade", steps=100)
    assert out.config["columns"]["grade"]["order"] == ["low", "mid", "high"]
    labels = out.to_pandas()["grade"].cat.categories.tolist()
    ranges = ["low", "[low-mid]", "[low-high]", "mid", "[mid-high]", "high"]
    assert [label for label in ranges if label in labels] == labels
    assert {"[low-mid]", "[mid-high]"} & set(labels)
    assert la.verify(out, source=frame) and la.verify(out.frame, k=4, quasi="grade", source=frame)
    assert out.query(random=2).workloads
    plain = la.anonymize(frame, k=4, quasi={"grade": {"kind": "categorical"}}, steps=100)
    assert "order" not in plain.config["columns"]["grade"]
    if library == "pandas":
        gaps = pd.Categorical(["a", "", "?", None] * 2, ["?", "a", ""], ordered=True)
        found = la.anonymize(pd.DataFrame({"g": gaps}), k=2, quasi="g", missing="?", steps=10)
        assert found.config["columns"]["g"]["order"] == ["a"] and found.rows == 8
        unordered = la.anonymize(frame.astype(str), k=4, quasi="grade", steps=100)
        assert "order" not in unordered.config["columns"]["grade"]
        numbers = pd.DataFrame({"grade": pd.Categorical([3, 1, 3, 1], ordered=True)})
        assert la.anonymize(numbers, k=2, quasi="grade", steps=10).rows == 4


def test_what_is_no_table_is_refused() -> None:
    for thing in ([1, 2], {"age": [1, 2]}, 5, None, pd.Series([1, 2], name="age")):
        with pytest.raises(TypeError, match="table"):
            la.anonymize(thing, k=2, quasi=["age"])  # type: ignore[arg-type]


def test_missing_values_of_every_kind_are_missing() -> None:
    pl = pytest.importorskip("polars")
    ages = [30.0, None, 30.0, None, 30.0, None]
    cities = ["Bonn", None, "Bonn", None, "Bonn", None]
    frames = [
        pd.DataFrame({"age": ages, "city": cities}),
        pd.DataFrame({"age": pd.array(ages, dtype="Int64"), "city": cities}, dtype=None),
        pd.DataFrame({"age": ages, "city": pd.Categorical(cities)}),
        pl.DataFrame({"age": ages, "city": cities}),
    ]
    for frame in frames:
        out = la.anonymize(frame, k=3, quasi=["age", "city"], steps=100).to_pandas()
        assert out["age"].isna().sum() == 3 and out["city"].isna().sum() == 3
        assert sorted(out["city"].dropna().astype(str)) == ["Bonn"] * 3


def test_an_empty_table_is_an_error_of_the_data(df: pd.DataFrame) -> None:
    with pytest.raises(la.DataError) as caught:
        la.anonymize(df.iloc[:0], k=2, quasi=["age"], rest="drop")
    assert caught.value.code == "no-rows"


def test_a_column_of_bytes_or_lists_is_refused_as_data() -> None:
    frame = pd.DataFrame({"age": [1, 2, 3], "tags": [["a"], ["b"], ["c"]]})
    with pytest.raises(la.LookalikeError):
        la.anonymize(frame, k=3, quasi=["age", "tags"])


def test_a_real_table(shared_data: Path) -> None:
    adult = shared_data / "adult_30162.csv.zst"
    out = la.anonymize(adult, k=10, quasi=["age", "sex", "race", "education"], rest="drop",
                       algorithm="mondrian")  # fmt: skip
    frame = out.to_pandas()
    assert len(frame) == 30162
    assert frame.groupby(list(frame.columns), observed=True, dropna=False).size().min() >= 10


def test_people_is_the_same_on_every_run() -> None:
    pd.testing.assert_frame_equal(people(50), people(50))


def test_whole_numbers_that_pandas_made_floats_are_whole_numbers(df: pd.DataFrame) -> None:
    codes = df["zip"].astype(int)
    gaps = df.assign(age=df["age"].where(df.index % 10 > 0), zip=codes.where(df.index % 7 > 0))
    assert gaps["age"].dtype == gaps["zip"].dtype == "float64"
    quasi = {"age": None, "zip": la.prefix(4, 3, 2)}
    out = la.anonymize(gaps, k=10, quasi=quasi, rest="drop", steps=300)
    for label in [*out.frame["age"].cat.categories, *out.frame["zip"].cat.categories]:
        assert ".0" not in label
    assert {label for label in out.frame["zip"].dropna() if len(label) not in (1, 4, 5)} == set()
    assert la.verify(out, source=gaps)
    assert out.query(random=10).workloads[0].queries == 10
    bounds = la.anonymize(gaps, k=10, quasi="age", rest="drop", publish="bounds", steps=100)
    assert pd.api.types.is_integer_dtype(bounds.frame["age_min"].dtype)
    halves = gaps.assign(age=gaps["age"] / 2)
    assert la.anonymize(halves, k=10, quasi="age", rest="drop", steps=100).rows == 400


def test_floats_that_are_kept_stay_floats(df: pd.DataFrame, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    out = la.anonymize(df.astype({"stay": float}), k=5, quasi="age", keep="stay", rest="drop",
                       steps=50)  # fmt: skip
    assert out.frame["stay"].dtype == "float64"
    assert pa.table(out).schema.field("stay").type == pa.float64()


def test_days_that_pandas_made_timestamps_are_days(df: pd.DataFrame) -> None:
    days = df.assign(when=pd.Timestamp("2024-03-01") + pd.to_timedelta(df["stay"], unit="D"))
    out = la.anonymize(days, k=120, quasi="when", rest="drop", steps=50)
    labels = list(out.frame["when"].cat.categories)
    assert labels and all("T00" not in label and "2024-03-0" in label for label in labels)
    assert la.verify(out, source=days)
    hours = days.assign(when=days["when"] + pd.to_timedelta(df["age"], unit="h"))
    assert "T" in la.anonymize(hours, k=20, quasi="when", rest="drop", steps=50).frame["when"][0]


def test_a_plan_has_the_cells_of_the_table(df: pd.DataFrame) -> None:
    counts = df.groupby(["age", "stay"]).size().reset_index(name="n").astype({"age": "float64"})
    plan = la.plan(counts, k=20, quasi=["age", "stay"], count="n", steps=100).frame
    assert plan["age"].dtype == "float64" and plan["stay"].dtype == counts["stay"].dtype
    assert len(plan.merge(counts, on=["age", "stay"])) == len(plan)


def test_periods_and_intervals_are_no_quasi_identifiers(df: pd.DataFrame) -> None:
    days = pd.Series(pd.date_range("2020-01-01", periods=400))
    frame = df[["sex"]].assign(
        month=days.dt.to_period("M"),
        group=pd.cut(df["age"], [-1, 30, 60, 100]),
        interval=pd.arrays.IntervalArray.from_arrays(df["age"], df["age"] + 1),
    )
    for name, way in [("month", "to_timestamp"), ("group", "astype"), ("interval", "astype")]:
        with pytest.raises(la.DataError, match=way) as caught:
            la.anonymize(frame, k=5, quasi=["sex", name], rest="drop", steps=10)
        assert caught.value.code == "no-arrow-type" and caught.value.column == name
        out = la.anonymize(frame, k=5, quasi=["sex"], keep=[name], rest="drop", steps=10)
        assert sorted(map(str, out.frame[name])) == sorted(map(str, frame[name]))
        texts = frame.assign(**{name: frame[name].astype(str)})
        la.anonymize(texts, k=5, quasi=["sex", name], rest="drop", steps=10)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_without_an_order_are_categorical(library: str) -> None:
    frame: Any = pd.DataFrame({"code": ["1", "2", "3", "4"] * 2, "number": [1, 2, 3, 4] * 2})
    frame["number"] = frame["number"].astype("category")
    frame["code"] = frame["code"].astype("category")
    if library == "polars":
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame(
            {"code": polars.Series(list("12341234"), dtype=polars.Categorical)}
        )
    names = ["code", "number"] if library == "pandas" else ["code"]
    for name in names:
        out = la.anonymize(frame, k=4, quasi=[name], rest="drop", steps=10)
        assert out.config["columns"][name]["kind"] == "categorical"
        assert set(out.frame[name]) == {"*"}
        ranged = la.anonymize(frame, k=4, quasi={name: {"kind": "numeric"}}, rest="drop", steps=10)
        assert set(ranged.frame[name]) == {"[1-2]", "[3-4]"}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_that_is_dropped_may_be_of_any_type(df: pd.DataFrame, library: str) -> None:
    frame: Any = df[["sex", "stay"]]
    mixed = [1, "x"] * 200
    if library == "pandas":
        frame = frame.assign(note=mixed)
        frame["self"] = mixed
    else:
        polars = pytest.importorskip("polars")
        note = polars.Series("note", mixed, dtype=polars.Object)
        frame = polars.from_pandas(frame).with_columns(note, note.alias("self"))
    wish: dict[str, Any]
    for wish in ({"rest": "drop"}, {"identifiers": ["note", "self"], "keep": ["stay"]}):
        out = la.anonymize(frame, k=5, quasi=["sex"], steps=10, **wish)
        assert "note" not in out.frame.columns
        assert la.verify(out, source=frame) and out.report(queries=0).holds
    assert la.check(frame, k=5, quasi=["sex"])
    for wish in ({"rest": "keep"}, {"keep": ["note"], "rest": "drop"}):
        with pytest.raises(la.DataError) as caught:
            la.anonymize(frame, k=5, quasi=["sex"], steps=10, **wish)
        assert caught.value.code == "no-arrow-type" and caught.value.column == "note"


def test_a_source_that_has_changed_is_refused(df: pd.DataFrame) -> None:
    out = la.anonymize(df, k=5, quasi=["age", "sex"], rest="drop", steps=10)
    whole = df.copy()
    df["new"] = 1
    assert out.report(queries=0).holds and out.query(random=5)
    df["age"] = df["age"].astype(str)
    with pytest.raises(la.ConfigError, match="has changed since") as caught:
        out.report(queries=0)
    assert caught.value.code == "source-changed" and caught.value.column == "age"
    del df["age"]
    with pytest.raises(la.ConfigError, match="column `age`"):
        out.query(random=5)
    df["age"] = whole["age"]
    df.loc[len(df)] = df.loc[0]
    with pytest.raises(la.ConfigError, match="the number of its rows"):
        out.report(queries=0)
    assert out.report(queries=0, source=whole).holds
