"""The statements of the body in dialects of engines that no test can run: they are read here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from lookalike.engine import _duckdb, _facts, _others, _postgres, _sql
from lookalike.engine._ibis import Ibis
from lookalike.engine._sql import Column, Dialect, Kind, Layout, Names

sqlglot = pytest.importorskip("sqlglot")

OTHERS = {of.name: of for of in _others.OF_BACKEND.values()}
ALL = OTHERS | {"postgres": _postgres.DIALECT, "duckdb": _duckdb.DIALECT}

AGE, ODD, ILL, X = (
    Column("age", "number"), Column('a "b".c', "text"), Column("ill", "text"), Column("x", "other"),
)  # fmt: skip
LAYOUT = Layout(
    '"clinic"."people"',
    (AGE, ODD, ILL, X),
    (AGE, ODD, ILL),
    (ILL, X),
    ("age", 'a "b".c'),
    ("age", 'a "b".c', "ill", "x"),
)
NAMES = Names(*(f'"clinic"."lookalike_{part}"' for part in Names.__dataclass_fields__))
KINDS: tuple[Kind, ...] = ("text", "text")
KEY = "it's a key"


def statements(dialect: Dialect) -> dict[str, str]:
    """Every statement of the body, in the dialect of DuckDB."""
    placed = _sql.placed(LAYOUT, NAMES, dialect, KEY)
    seen: list[str] = []

    class Database:
        """Remembers what it is asked."""

        def fetch_few(self, sql: str) -> Any:
            seen.append(sql)
            raise StopIteration

    database: Any = Database()
    database.dialect = dialect
    for ask in (
        lambda: _facts._values(database, NAMES, 1, "age"),
        lambda: _facts._groups(database, LAYOUT.source, ILL, LAYOUT.counted),
        lambda: _facts._unique(database, LAYOUT.source, LAYOUT.passed),
    ):
        with pytest.raises(StopIteration):
            ask()
    facts = {f"facts {at}": sql for at, sql in enumerate(seen)}
    named = [column for column in LAYOUT.columns if column.name in LAYOUT.order]
    return facts | {
        "tuples": f"CREATE TABLE {NAMES.tuples} AS {_sql.tuples(LAYOUT, dialect)}",
        "tuples out": _sql.tuples_out(LAYOUT, NAMES, "lookalike_rows"),
        "classes": f"CREATE TABLE {NAMES.classes} AS {_sql.classes(LAYOUT, NAMES)}",
        "pieces": f"CREATE TABLE {NAMES.pieces} AS {_sql.pieces(LAYOUT, NAMES, dialect, KINDS)}",
        "placed": f"CREATE TABLE {NAMES.placed} AS {placed}",
        "suppressed": _sql.placed(LAYOUT, NAMES, dialect, KEY, "pieces.class IS NULL"),
        "maps": _sql.by_maps(LAYOUT, NAMES, dialect, KINDS),
        "map": _sql.map_of(LAYOUT, NAMES, 1),
        "released": _sql.released(LAYOUT, NAMES, NAMES.placed),
        "counts": _sql.released_counts(NAMES.release, named, "lookalike_rows", dialect),
        "checksums": _sql.checksums(LAYOUT.source, ['"ill"', '"x"'], dialect, KEY),
        "row sum": _sql.row_sum(NAMES.release, ['"age"', '"ill"'], dialect, KEY),
        "class sum": _sql.class_sum(NAMES.release, ['"age"'], "count(*)", dialect, KEY),
        "expected": _sql.row_sum(*_sql.expected(LAYOUT, NAMES, dialect, KEY)),
        "rename": f'ALTER TABLE {NAMES.release} RENAME TO "safe"',
        "drop": f"DROP TABLE IF EXISTS {NAMES.plan}",
    }


def compiled(dialect: Dialect) -> Iterator[tuple[str, str]]:
    for name, sql in statements(dialect).items():
        (made,) = sqlglot.transpile(
            sql,
            read="duckdb",
            write=dialect.name,
            identify=True,
            unsupported_level=sqlglot.ErrorLevel.RAISE,
        )
        if dialect.name != "duckdb":
            assert made == _sql.translated(sql, dialect.name)
        yield name, made


@pytest.mark.parametrize("name", ALL)
def test_every_statement_compiles_and_is_read_again(name: str) -> None:
    for what, made in compiled(ALL[name]):
        if (name, what) == ("tsql", "rename"):
            assert "sp_rename" in made
            continue
        assert sqlglot.parse_one(made, read=name) is not None, what


@pytest.mark.parametrize("name", ALL)
def test_names_and_texts_are_quoted(name: str) -> None:
    open_quote, close_quote = {"bigquery": ("`", "`"), "tsql": ("[", "]")}.get(name, ('"', '"'))
    name_of_column = 'a "b".c' if open_quote != '"' else 'a ""b"".c'
    for what, made in compiled(ALL[name]):
        if what in ("tuples", "placed", "maps", "released", "expected"):
            assert f"{open_quote}{name_of_column}{close_quote}" in made, what
        if what in ("placed", "checksums", "row sum", "expected"):
            escaped = name in ("bigquery", "snowflake")
            assert ("'it\\'s a key'" if escaped else "'it''s a key'") in made, what


HASHES = {
    "snowflake": r"SHA2\(.*, 256\), 1, 16\)",
    "bigquery": r"SUBSTRING\(SHA256\(.*\), 1, 8\)",
    "trino": r"SUBSTR\(LOWER\(TO_HEX\(SHA256\(TO_UTF8\(.*\)\)\)\), 1, 16\)",
    "tsql": r"SUBSTRING\(HASHBYTES\('SHA2_256', .*\), 1, 8\)",
    "postgres": r'SUBSTRING\("pg_catalog"\.sha256\("pg_catalog"\.convert_to\(.*, .UTF8.\)\) '
    r"FROM 1 FOR 8\)",
}
SUMS = {
    "snowflake": r"SUM\(HASH\(",
    "bigquery": r"SUM\(CAST\(FARM_FINGERPRINT\(.* AS BIGNUMERIC\)",
    "trino": r"SUM\(CAST\(FROM_BIG_ENDIAN_64\(XXHASH64\(TO_UTF8\(CAST\(.* AS DECIMAL\(38, 0\)\)",
    "tsql": r"SUM\(CAST\(CAST\(SUBSTRING\(HASHBYTES\('SHA2_256', .*\), 1, 7\) AS BIGINT\) "
    r"AS (DECIMAL|NUMERIC)\(38, 0\)\)",
    "postgres": r'SUM\("pg_catalog"\.hashtextextended\(',
}


@pytest.mark.parametrize("name", HASHES)
def test_hashes_and_sums(name: str) -> None:
    made = dict(compiled(ALL[name]))
    for what in ("placed", "suppressed", "expected"):
        window = rf"ROW_NUMBER\(\) OVER \(PARTITION BY .* ORDER BY .*{HASHES[name]}"
        assert re.search(window, made[what]), what
        assert not re.search(r"RAND|RANDOM|UUID", made[what], re.IGNORECASE)
    for what in ("checksums", "row sum", "expected"):
        assert re.search(SUMS[name], made[what]), (what, made[what])


@pytest.mark.parametrize("name", ALL)
def test_null_equals_null_in_joins(name: str) -> None:
    for what, made in compiled(ALL[name]):
        if what not in ("pieces", "placed", "maps", "expected"):
            continue
        if name in ("postgres", "trino"):
            assert "IS DISTINCT" not in made and "IS NOT DISTINCT" not in made, what
            assert re.search(r"COALESCE\(.*\) = COALESCE\(.*IS NULL\) = \(.*IS NULL\)", made), what
        else:
            assert "IS NOT DISTINCT FROM" in made, what


def test_sql_server_has_no_booleans() -> None:
    """A condition is no value there, and a window needs an order."""
    for what, made in compiled(OTHERS["tsql"]):
        assert not re.search(r"OVER \(\)", made), what
        assert "LIMIT" not in made
        if what == "pieces":
            assert re.search(r"CASE WHEN [^,]* END AS \[is_whole\]", made)


def test_the_quoted_parts_of_a_statement_stay_as_they_are() -> None:
    """A name or text that looks like SQL is none."""
    layout = Layout('"t"', (Column("sha256(x)", "text"),), (Column("sha256(x)", "text"),), ())
    for dialect in ALL.values():
        made = _sql.translated(_sql.tuples(layout, dialect), dialect.name)
        assert "sha256(x)" in made


class Recorder:
    """A backend that runs nothing."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def raw_sql(self, sql: str) -> None:
        self.seen.append(sql)


def test_the_release_of_an_ibis_backend_is_written_in_statements_that_it_knows() -> None:
    for dialect in OTHERS.values():
        backend = Recorder()
        database = Ibis(backend, dialect)
        database._schema = ["clinic"]
        release = database.write(LAYOUT, NAMES, _sql.placed(LAYOUT, NAMES, dialect, KEY), "safe")
        database.publish(release, "clinic.safe", True)
        database.end()
        placed, released, dropped, renamed, *gone = backend.seen
        assert "lookalike_placed" in placed and "lookalike_release" in released
        assert dropped.startswith("DROP TABLE IF EXISTS")
        assert "safe" in dropped and "safe" in renamed and "release" in renamed
        assert len(gone) == 1 and "lookalike_placed" in gone[0]
        if dialect.name == "tsql":  # no order inside of a query that is read from
            assert not re.search(r"ORDER BY [^()]*\) AS \[temp\]", released)
        else:
            assert "ORDER BY" in released
