"""The five steps of a run in an engine: count, plan, apply, verify, publish."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from .. import _lookalike, _memory
from .._config import Config, request_text
from .._errors import ConfigError, DataError, LookalikeError, NotVerified
from .._progress import AFTER_SEARCH, Progress, Watch
from .._tables import needed
from . import _facts, _sql
from ._sql import Column, Kind, Layout, Names, quoted, rows_of

if TYPE_CHECKING:
    from ._duckdb import DuckDB
    from ._ibis import Ibis
    from ._postgres import Postgres
    from ._spark import Spark

    Database: TypeAlias = DuckDB | Postgres | Spark | Ibis

Made = TypeVar("Made")

COUNT = "lookalike_rows"
"""The name of the count column between engine and library."""

OWN = ("tuple", "first_row", "last_row", "suppressed")
"""Names of a plan; columns that are passed through may have them."""
SMALL = 1_000_000
"""Results of about so many rows are fetched at once."""
_ROW = ", data row [0-9,]+"
_RULES = ("alpha", "l", "distinct", "entropy", "recursive", "t")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run was asked for."""

    table: str
    into: str
    config: Config
    replace: bool
    bound: str
    threads: int | None
    progress: bool | Callable[[Progress], object]
    on_interrupt: Literal["raise", "keep"]
    cells: int | None = None


@dataclass(slots=True)
class Clock:
    """The seconds of each step, and who hears of them."""

    listener: Callable[[str], object]
    times: dict[str, float] = field(default_factory=dict)
    _step: str = ""
    _begun: float = 0.0

    def step(self, name: str) -> None:
        """Ends the step before, and begins one."""
        self.end()
        self._step, self._begun = name, time.perf_counter()
        self.listener(json.dumps({"event": "stage", "stage": name}))

    def end(self) -> None:
        """Ends the last step."""
        if self._step:
            self.times[self._step] = time.perf_counter() - self._begun


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan of a run, in the engine."""

    layout: Layout
    label_kinds: tuple[Kind, ...]
    numbers: dict[str, Any]


def layout_of(database: Database, source: str, config: Config) -> Layout:
    """The columns of a table, and what happens to each."""
    columns = database.columns(source)
    check_request(columns, config)
    keys = config.get("columns", {})
    of_rest = "keep" if config.get("rest") == "keep" else "identifier"
    role = {column.name: keys.get(column.name, {}).get("role", of_rest) for column in columns}
    ruled = {name for name, of in keys.items() if has_rule(of)}
    quasi = [column for column in columns if role[column.name] == "quasi"]
    sensitive = [
        column for column in columns if role[column.name] == "sensitive" and column.name in ruled
    ]
    unchanged = ("keep", "sensitive", "weight")
    passed = [column for column in columns if role[column.name] in unchanged]
    persons = [column for column in columns if role[column.name] == "person"]
    return Layout(
        source,
        tuple(columns),
        (*quasi, *sensitive),
        tuple(passed),
        persons=tuple(persons),
        missing=tuple(mark.strip() for mark in config.get("missing", ())),
    )


def has_rule(keys: Mapping[str, Any]) -> bool:
    """True where a rule is about a sensitive column."""
    return any(keys.get(rule) is not None for rule in _RULES)


def check_request(columns: Sequence[Column], config: Config) -> None:
    """Refuses a request that does not fit the columns, with the words of the library."""
    pyarrow = needed("pyarrow", "engines")
    if config.get("count") is not None:
        raise ConfigError(
            "a table in an engine is counted there: its rows stand for themselves, so `count` has "
            "no use here",
            code="count-in-engine",
        )
    if config.get("algorithm") == "ring":
        raise ConfigError(
            "ring is about single rows, and an engine gives tuples with counts: choose another "
            "algorithm",
            code="ring-in-engine",
        )
    if config.get("persons") == "rows" or config.get("pseudonyms"):
        raise ConfigError(
            "an engine counts whole persons, and publishes no pseudonyms: run it in memory "
            "(lookalike.anonymize)",
            code="persons-in-engine",
        )
    keys = config.get("columns", {})
    for name, of in keys.items():
        if {"round", "top", "bottom", "hash"} & set(of):
            raise ConfigError(
                f"column `{name}` is to be rounded, coded at the top or the bottom, or hashed, and "
                "here the engine publishes it unchanged: do it in a view, and keep the column",
                code="plan-coarsens",
                column=name,
            )
    for column in columns:
        of = keys.get(column.name, {})
        is_counted = of.get("role") == "quasi" or has_rule(of)
        if is_counted and column.name in (COUNT, *OWN):
            raise ConfigError(
                f"a run uses the name `{column.name}` for itself: rename the column, as in a view",
                code="name-taken",
                column=column.name,
            )
    # A table of these columns without rows: what is wrong with the request is said first.
    empty = pyarrow.table({column.name: pyarrow.array([], pyarrow.string()) for column in columns})
    try:
        _lookalike.check(empty, request_text(config), "{}")
    except DataError as error:
        if error.code != "no-rows":
            raise


def _refuse_without_role(layout: Layout, config: Config) -> None:
    """Refuses columns that nobody has decided on, as a run in memory does."""
    if config.get("rest") in ("drop", "keep"):
        return
    named = config.get("columns", {})
    without = [f"`{column.name}`" for column in layout.columns if column.name not in named]
    if without:
        reason = f"no role for {', '.join(without)}"
        raise ConfigError(
            f'{reason}: give each a role (quasi=, sensitive=, keep=, identifiers=, or "columns" of '
            'the configuration), or decide for all of them with rest="drop" or rest="keep"',
            code="no-role",
            reason=reason,
        )


def counted_config(config: Config, layout: Layout) -> Config:
    """The request about the columns that are counted, with the count column."""
    return about(config, {column.name for column in layout.counted})


def about(config: Config, names: Set[str]) -> Config:
    """The request about these columns alone, with the count column."""
    columns = {name: keys for name, keys in config.get("columns", {}).items() if name in names}
    plain = {
        key: value
        for key, value in config.items()
        if key not in ("columns", "rest", "accept_unique", "input", "persons", "pseudonyms")
    }
    return Config({**plain, "columns": columns, "count": COUNT})


def row_key(config: Config) -> str:
    """The secret key of the row numbers: from the seed, or from the system."""
    seed = config.get("seed")
    if seed is None:
        return secrets.token_hex(16)
    return hashlib.sha256(f"lookalike rows {seed}".encode()).hexdigest()[:32]


def anonymize(database: Database, asked: Asked) -> tuple[dict[str, Any], dict[str, float]]:
    """Makes a release of a table in an engine; returns the numbers and the times of the steps."""
    watch = Watch(asked.progress)
    try:
        with watch as listener:
            clock = Clock(listener)
            numbers = _anonymize(database, asked, clock, listener)
            clock.end()
    except BaseException as error:
        with contextlib.suppress(LookalikeError):  # the first error is the one to know
            database.end()
        forget_words(error)
        raise
    database.end()
    return numbers, clock.times


def forget_words(error: BaseException) -> None:
    """Takes the engine's own exception, whose words may hold cells, from one of this package."""
    if isinstance(error, LookalikeError):
        error.__context__ = None


def _anonymize(
    database: Database, asked: Asked, clock: Clock, listener: Callable[[str], object]
) -> dict[str, Any]:
    from . import _in_cells

    config = asked.config
    source = database.source(asked.table)
    layout = layout_of(database, source, config)
    _refuse_without_role(layout, config)
    if asked.cells is not None:
        _in_cells.check(config, asked.cells)
    prefix = f"lookalike_{secrets.token_hex(6)}"
    clock.step("count")
    database.begin(asked.table, asked.into, asked.replace)
    names = database.names(prefix)
    layout = database.count(layout, names)
    persons = _facts.persons(database, layout)
    tuples = [(column, f"c{at}") for at, column in enumerate(layout.counted, 1)]
    _facts.refuse_infinite(database, names.tuples, tuples, "n")
    warnings = _facts.disclosures(database, layout, names, config)
    clock.step("plan")
    make = plan if asked.cells is None else _in_cells.plan
    planned = make(database, layout, names, asked, listener)
    clock.step("apply")
    key = row_key(config)
    applied = apply(database, planned, names, key, asked.into, config)
    clock.step("verify")
    verdict = verify(database, planned, applied, key, config)
    clock.step("publish")
    database.publish(applied.release, asked.into, asked.replace)
    # The truth of the release is that of its plan, and of the sums.
    numbers = {**planned.numbers, **verdict, "truth": planned.numbers.get("truth")}
    if persons is not None:
        _count_rows(numbers, persons, applied.expected)
    numbers["warnings"] = [*planned.numbers.get("warnings", ()), *warnings]
    return numbers


def _count_rows(numbers: dict[str, Any], persons: _facts.Persons, expected: Expected) -> None:
    """Puts rows where a plan and an audit of persons have these."""
    released = expected.rows[0]
    numbers["persons"] = {
        "count": persons.count,
        "reading": "whole",
        "changing": 0,
        "suppressed": numbers["suppressed"],
    }
    numbers["measures"]["persons"] = numbers["measures"]["rows"]
    numbers["measures"]["rows"] = numbers["released"] = released
    numbers["input_rows"] = persons.rows
    numbers["suppressed"] = persons.rows - released


def plan(
    database: Database,
    layout: Layout,
    names: Names,
    asked: Asked,
    listener: Callable[[str], object],
) -> Planned:
    """Plans the release from the tuples, and brings the plan into the engine."""
    options: dict[str, Any] = {
        "numbered": True,
        "bound": asked.bound,
        "on_interrupt": asked.on_interrupt,
    }
    if asked.threads is not None:
        options["threads"] = asked.threads
    request = counted_config(asked.config, layout)
    ids: list[Any] = []
    counts = database.fetch(_sql.tuples_out(layout, names, COUNT))
    try:
        native = handed(
            _without_ids(counts, ids),
            lambda tuples: _lookalike.plan(
                tuples, request_text(request), json.dumps(options), of_plan(listener)
            ),
        )
    except DataError as error:
        raise _of_tuples(error) from None
    numbers: dict[str, Any] = json.loads(native.numbers)
    pyarrow = needed("pyarrow", "engines")
    table = pyarrow.table(native)
    del native
    shown = [name.removeprefix("published_") for name in table.column_names[1:-3]]
    label_kinds = tuple(_sql.kind_of(kind) for kind in table.schema.types[1:-3])
    number_of = pyarrow.chunked_array(ids).combine_chunks() if ids else pyarrow.array([], "int64")
    database.upload(names.plan, _pieces(table, number_of))
    return Planned(_published(layout, shown, database.dialect), label_kinds, numbers)


def of_plan(listener: Callable[[str], object]) -> Callable[[str], object]:
    """A listener for the events of a plan, whose stages are parts of one step."""

    def hear(text: str) -> object:
        event: dict[str, Any] = json.loads(text)
        if event["event"] != "stage":
            return listener(text)
        if event["stage"] in AFTER_SEARCH:
            _memory.give_back()
        return listener(json.dumps(event | {"stage": f"plan: {event['stage']}"}))

    return hear


def handed(stream: Any, call: Callable[[Any], Made]) -> Made:
    """What a call of the library makes of a stream. An error of the stream is raised as it is: the
    library would know its words alone."""
    pyarrow = needed("pyarrow", "engines")
    failed: list[BaseException] = []

    def batches() -> Iterator[Any]:
        try:
            yield from stream
        except GeneratorExit:
            raise
        except BaseException as error:
            failed.append(error)
            raise

    try:
        return call(pyarrow.RecordBatchReader.from_batches(stream.schema, batches()))
    except KeyboardInterrupt:
        raise  # it may have ended the stream
    except BaseException:
        if not failed:
            raise
    raise failed[0]


def _without_ids(counts: Any, ids: list[Any]) -> Any:
    """The tuples without their numbers, which are put aside in the order in which they come."""
    pyarrow = needed("pyarrow", "engines")
    schema = pyarrow.schema(list(counts.schema)[1:])

    def batches() -> Iterator[Any]:
        for batch in counts:
            ids.append(batch.column(0).cast(pyarrow.int64()))
            yield pyarrow.RecordBatch.from_arrays(batch.columns[1:], schema=schema)

    return pyarrow.RecordBatchReader.from_batches(schema, batches())


def _of_tuples(error: DataError) -> DataError:
    """An error about the table of tuples, whose rows nobody has seen: without its row."""
    error.row = None
    error.reason = re.sub(_ROW, "", error.reason)
    error.args = (re.sub(_ROW, "", str(error)),)
    return error


def _pieces(plan: Any, number_of: Any) -> Any:
    """The pieces with the numbers that their tuples have in the engine."""
    pyarrow = needed("pyarrow", "engines")
    labels = [f"p{at}" for at in range(1, plan.num_columns - 3)]
    names = ["tuple", *labels, "first_row", "last_row", "suppressed"]

    def batches() -> Iterator[Any]:
        for batch in plan.to_batches():
            rows = pyarrow.compute.subtract(batch.column(0), 1)
            columns = [number_of.take(rows), *batch.columns[1:]]
            yield pyarrow.RecordBatch.from_arrays(columns, names=names)

    schema = pyarrow.schema(
        [pyarrow.field(name, kind) for name, kind in zip(names, plan.schema.types, strict=True)]
    )
    return pyarrow.RecordBatchReader.from_batches(schema, batches())


def _published(layout: Layout, shown: Sequence[str], dialect: _sql.Dialect) -> Layout:
    """The layout with the columns of the release, which the plan knows."""
    made = replace(layout, published=tuple(shown))
    counted = {column.name for column in layout.counted}
    passed = {column.name for column in layout.passed}
    order: list[str] = []
    for column in layout.columns:
        if column.name in passed:
            order.append(column.name)
        elif column.name in counted:
            order += [shown[at - 1] for at in _sql.labels_of(made, column.name)]
    if doubled := {name for name in order if order.count(name) > 1}:
        name = min(doubled)
        raise ConfigError(
            f"two columns of the release would have the name `{name}`: rename one of the table",
            code="name-taken",
            column=name,
        )
    longest = dialect.longest_name
    if longest and (long := [name for name in order if len(name.encode()) > longest]):
        raise ConfigError(
            f"the release would have a column `{long[0]}`, and the engine cuts names after "
            f"{longest} bytes: give the column of the source a shorter name, as in a view",
            code="name-taken",
            column=long[0],
        )
    return replace(made, order=tuple(order))


@dataclass(frozen=True, slots=True)
class Expected:
    """The sums of a release: of the cells that are passed through, and of its rows with labels.

    Attributes
    ----------
    cells, rows : list of int
        The number of rows first, unless rows are counted by class.
    persons : pyarrow.Table or None
        Where persons are counted: the classes with the persons of each. The release does not have
        them, and where its rows are those that are expected, these are its persons.
    """

    cells: list[int]
    rows: list[int]
    persons: Any = None


@dataclass(frozen=True, slots=True)
class Applied:
    """The release under a name of its own, as SQL, and what it must add up to."""

    release: str
    expected: Expected


def apply(
    database: Database, planned: Planned, names: Names, key: str, into: str, config: Config
) -> Applied:
    """Makes the release in the engine, under a name of its own."""
    layout, dialect = planned.layout, database.dialect
    _check_labels(database, planned, names, config)
    database.stage(names.classes, _sql.classes(layout, names))
    if _is_map(database, planned, names):
        placed = _sql.by_maps(layout, names, dialect, planned.label_kinds)
    else:
        database.stage(names.pieces, _sql.pieces(layout, names, dialect, planned.label_kinds))
        placed = _sql.placed(layout, names, dialect, key)
    sums = expected(database, planned, names, key)
    return Applied(database.write(layout, names, placed, into), sums)


def _check_labels(database: Database, planned: Planned, names: Names, config: Config) -> None:
    """Has the audit compare what is published for each value of a quasi-identifier with the values
    of the source, counted anew: a label must cover its value, and all rows of a value are there.

    The plan was audited before it came to the engine, where its tuples have numbers, and perhaps
    codes: here they are read as the rows of the release will be joined to them.
    """
    layout = planned.layout
    compute = needed("pyarrow", "engines").compute
    is_small = planned.numbers.get("tuples", SMALL + 1) <= SMALL
    for at, column in enumerate(layout.counted, 1):
        labels = _sql.value_labels(layout, at)
        if not labels:
            continue
        kept = {key: config[key] for key in ("missing", "output", "limits") if key in config}
        columns = {column.name: config["columns"][column.name]}
        asked = Config({**kept, "k": 1, "columns": columns, "count": COUNT})
        sql = _sql.values(layout, names, at, database.dialect)
        found = (database.fetch_few(sql) if is_small else database.fetch(sql)).read_all()
        is_plan = found.column("is_plan")
        shown = [f"published_{layout.published[int(label[1:]) - 1]}" for label in labels]
        pieces = found.filter(is_plan).drop_columns(["is_plan"])
        pieces = pieces.rename_columns([column.name, *shown, *OWN[1:]])
        values = found.filter(compute.invert(is_plan)).select(["c", "last_row"])
        values = values.rename_columns([column.name, COUNT])
        if not _audit(pieces.to_reader(), asked, values)["holds"]:
            raise _not_verified(f"would have labels in `{column.name}` that are not true")


def _is_map(database: Database, planned: Planned, names: Names) -> bool:
    """True where each value of a column is published in one way, and no row is suppressed.

    The maps are staged: an engine that knows that they are small sends them to all its workers.
    """
    if planned.numbers.get("algorithm") not in ("optimal", "incognito"):
        return False
    if planned.numbers["suppressed"]:
        return False
    layout = planned.layout
    for at, column in enumerate(layout.counted, 1):
        if not _sql.labels_of(layout, column.name):
            continue
        staged = _sql.map_name(names, at)
        database.stage(staged, _sql.map_of(layout, names, at))
        doubled = f"SELECT c{at} FROM {staged} GROUP BY c{at} HAVING count(*) > 1"
        if rows_of(database, f"SELECT count(*) AS n FROM ({doubled}) AS doubled")[0][0]:
            return False
    return True


def verify(
    database: Database, planned: Planned, applied: Applied, key: str, config: Config
) -> dict[str, Any]:
    """Counts the written table anew, has it audited, and compares it with the source."""
    layout, release = planned.layout, applied.release
    columns = database.columns(release)
    if [column.name for column in columns] != list(layout.order):
        raise _not_verified("has other columns than planned")
    asked = counted_config(config, layout)
    if applied.expected.persons is not None:
        found = _audit(applied.expected.persons.to_reader(), asked)
    else:
        shown = [column for column in columns if column.name in _ruled(layout)]
        found = audited(database, release, shown, asked)
    if not found["holds"]:
        raise _not_verified("did not pass the audit")
    if found["measures"]["rows"] != planned.numbers["released"]:
        raise _not_verified("has another number of rows than planned")
    _compare(database, planned, applied, key)
    return found


def _ruled(layout: Layout) -> list[str]:
    """The columns of the release that rules are about."""
    counted = {column.name for column in layout.counted}
    return [name for name in layout.order if name in counted or name in layout.published]


def audited(
    database: Database, table: str, columns: Sequence[Column], config: Config
) -> dict[str, Any]:
    """The audit of a table on these columns, from the engine's own counts."""
    counts = database.fetch(_sql.released_counts(table, columns, COUNT, database.dialect))
    return _audit(counts, config)


def _audit(table: Any, config: Config, counts: Any = None) -> dict[str, Any]:
    """The audit of a table of counts, or of the plan for one."""
    options = json.dumps({"plan": counts is not None})
    request = request_text(config)
    text = handed(table, lambda of: _lookalike.verify(of, request, counts, options))
    found: dict[str, Any] = json.loads(text)
    return found


def expected(database: Database, planned: Planned, names: Names, key: str) -> Expected:
    """What the release must add up to, from source and plan.

    Sums of keyed hashes are equal where two tables have the same rows in any order. The second sum
    is made from the plan itself, without the tables that the release is made of.
    """
    layout, dialect = planned.layout, database.dialect
    passed = [quoted(column.name) for column in layout.passed]
    cells = _sums(database, _sql.checksums(layout.source, passed, dialect, key))
    if planned.numbers["suppressed"]:
        rows = _sql.placed(layout, names, dialect, key, "pieces.class IS NULL")
        aliases = [f"k{at}" for at in range(1, len(passed) + 1)]
        gone = _sums(database, _sql.checksums(f"({rows}) AS suppressed", aliases, dialect, key))
        cells = [one - other for one, other in zip(cells, gone, strict=True)]
    if _by_rows(layout):
        sql = _sql.row_sum(*_sql.expected(layout, names, dialect, key))
    else:
        sql = _sql.expected_classes(layout, names, dialect, key)
    whole = _sums(database, sql)
    if not layout.persons:
        return Expected(cells, whole)
    counted = _sql.expected_persons(layout, names, dialect, key, _ruled(layout), COUNT)
    return Expected(cells, whole, database.fetch(counted).read_all())


def _by_rows(layout: Layout) -> bool:
    """True where every row is in the sum of the rows. Without cells that are passed through the
    rows of a class are alike, and their number is enough, where the plan has it."""
    return bool(layout.passed or layout.persons)


def _compare(database: Database, planned: Planned, applied: Applied, key: str) -> None:
    """Refuses a release with other cells than the source in columns that are passed through, or
    with a row in another class than that of its tuple."""
    layout, dialect, release = planned.layout, database.dialect, applied.release
    passed = [quoted(column.name) for column in layout.passed]
    if _sums(database, _sql.checksums(release, passed, dialect, key)) != applied.expected.cells:
        raise _not_verified("has other cells than the source in columns that are passed through")
    shown = [quoted(name) for name in layout.order]
    if _by_rows(layout):
        sql = _sql.row_sum(release, shown, dialect, key)
    else:
        sql = _sql.class_sum(release, shown, "count(*)", dialect, key)
    if _sums(database, sql) != applied.expected.rows:
        raise _not_verified("has rows in other classes than planned")


def _sums(database: Database, sql: str) -> list[int]:
    (found,) = rows_of(database, sql)
    return [int(one or 0) for one in found]


def _not_verified(what: str) -> NotVerified:
    return NotVerified(
        f"the release that the engine wrote {what}; it was not published", code="not-verified"
    )


def counts(
    database: Database, table: str, config: Config, also: Sequence[str]
) -> tuple[Any, Config]:
    """The tuples of a table with counts, and the request about them.

    ``also`` are further columns to be counted.
    """
    layout = layout_of(database, database.source(table), config)
    wanted = {column.name for column in layout.counted} | set(also)
    columns = tuple(column for column in layout.columns if column.name in wanted)
    layout, dialect = replace(layout, counted=columns), database.dialect
    cells = [(column, quoted(column.name)) for column in columns]
    _facts.refuse_infinite(database, layout.source, cells, "1")
    _facts.persons(database, layout)
    source, by = _sql.counted_units(layout, dialect)
    names = [f"{of} AS {quoted(column.name)}" for of, column in zip(by, columns, strict=True)]
    counted = f"SELECT {', '.join(names)}, count(*) AS {quoted(COUNT)} FROM {source}"
    return database.fetch(f"{counted} GROUP BY {', '.join(by)}"), counted_config(config, layout)


def released_counts(
    database: Database, table: str, config: Config, also: Sequence[str]
) -> tuple[Any, Config]:
    """The classes of a released table with counts, and the request about them."""
    if config.names("person"):
        raise ConfigError(
            "a release in an engine does not say whose its rows are, so its persons cannot be "
            "counted; anonymize did that before it was published",
            code="persons-in-engine",
        )
    source = database.source(table)
    columns = database.columns(source)
    keys = config.get("columns", {})
    shown, named = [], set()
    for name, of in keys.items():
        found = [column for column in columns if column.name in shown_as(name, of, columns)]
        if of.get("role") == "quasi":
            if not found:
                raise ConfigError(
                    f"the release has no column `{name}`", code="unknown-column", column=name
                )
        elif name not in also and not has_rule(of):
            continue
        shown += found
        named.add(name)
    more = [column for column in columns if column.name in also and column not in shown]
    sql = _sql.released_counts(source, [*shown, *more], COUNT, database.dialect)
    return database.fetch(sql), about(config, named | set(also))


def shown_as(name: str, keys: Mapping[str, Any], columns: Sequence[Column]) -> list[str]:
    """The columns of a release that a column of the source is published as."""
    there = {column.name for column in columns}
    if keys.get("role") != "quasi" or name in there:
        return [name]
    return [f"{name}_{end}" for end in ("min", "max", "center", "missing")]


def leaks(database: Database, table: str, config: Config) -> list[str]:
    """What a released table has beside what the request publishes, in sentences."""
    columns = database.columns(database.source(table))
    keys = config.get("columns", {})
    published = {
        shown
        for name, of in keys.items()
        if of.get("role") not in ("identifier", "person")
        for shown in shown_as(name, of, columns)
    }
    found = []
    for column in columns:
        if column.name in published or (column.name not in keys and config.get("rest") == "keep"):
            continue
        what = "identifier" if column.name in keys else "column without a role"
        found.append(f"{what} `{column.name}` is in the release")
    return found
