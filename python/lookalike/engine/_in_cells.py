"""A plan made cell by cell, for more tuples than one machine can plan.

The engine finds the values of each column, a sample of the tuples and the rows of each cell; the
library makes the domain and the cells. On Spark the executors plan the cells, on other engines this
process does, one after the other. The plan has the form of one that was made whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import _errors, _lookalike
from .._config import Config, request_text
from .._errors import ConfigError, Infeasible, LookalikeError
from .._tables import needed
from . import _cells, _sql, _steps
from ._sql import Layout, Names, literal, quoted, rows_of

if TYPE_CHECKING:
    from ._steps import Asked, Database, Planned

SAMPLE = 1_000_000
"""So many tuples decide about the cuts."""
HELD = 2_000_000
"""So many pieces are held before they are brought into the engine."""
ROUND = 1_000_003

Planner: TypeAlias = Callable[[int, Any], Any]
"""From the number of a cell and its tuples (``tuple``, ``c1``.., ``n``) to its pieces."""


@dataclass(frozen=True, slots=True, repr=False)  # the domain has values of the table
class Work:
    """What every cell is planned by."""

    request: str
    domain: str
    columns: tuple[str, ...]
    """The names of the counted columns."""
    tuples: int
    """The tuples of the whole table."""
    schema: Any
    """The schema of the pieces."""


@dataclass(slots=True)
class Totals:
    """The numbers of all cells together: what adds up."""

    rows: int = 0
    suppressed: int = 0
    ncp: float = 0.0
    of_rows: float = 0.0
    by_attribute: dict[str, float] = field(default_factory=dict)
    matched: int = 0
    undecided: int = 0
    violations: int = 0
    cells: int = 0

    def add(self, found: dict[str, Any]) -> None:
        """Adds the numbers of a cell."""
        loss, truth = found["loss"], found["truth"]
        self.cells += 1
        self.rows += found["input_rows"]
        self.suppressed += found["suppressed"]
        self.ncp += loss["ncp"]
        # The denominator is that of a row, by the rows: it is the same in every cell.
        self.of_rows += loss["gcp"] * found["input_rows"]
        for name, part in loss["by_attribute"].items():
            self.by_attribute[name] = self.by_attribute.get(name, 0.0) + part
        self.matched += truth["rows_matched"]
        self.undecided += truth["rows_undecided"]
        self.violations += truth["violations"]


def check(config: Config, cells: int) -> None:
    """Refuses what cannot be planned in cells."""
    if cells < 1:
        raise ConfigError("a cell has at least one tuple", code="bad-cells")
    why = None
    if config.get("seed") is None:
        why = "a seed"
    elif (config.get("limits") or {}).get("time") is not None:
        why = "steps in place of time"
    elif config.get("algorithm") in (None, "auto") and config.get("steps") is None:
        why = "steps"
    if why is not None:
        raise ConfigError(
            f"a plan in cells needs {why}: a cell may be planned twice, and both plans must be the "
            "same",
            code="not-repeatable",
        )


def plan(
    database: Database,
    layout: Layout,
    names: Names,
    asked: Asked,
    listener: Callable[[str], object],
) -> Planned:
    """Plans the release cell by cell, in the engine or here, and has the plan in the engine."""
    assert asked.cells is not None
    config = _steps.counted_config(asked.config, layout)
    request = request_text(config)
    aliases = [f"c{at}" for at in range(1, len(layout.counted) + 1)]
    columns = tuple(column.name for column in layout.counted)
    ((whole,),) = rows_of(database, f"SELECT count(*) AS n FROM {names.tuples}")
    try:
        domain = _lookalike.domain(
            [_values(database, names, *of) for of in zip(aliases, columns, strict=True)],
            request,
            "{}",
        )
        schema = database.fetch(f"SELECT {', '.join(aliases)} FROM {names.tuples} LIMIT 0").schema
        sample = _sample(database, names, aliases, columns, int(whole), config)
        options = json.dumps({"tuples": asked.cells, "whole": int(whole)})
        cuts = _lookalike.cuts(sample, request, domain, options)
        missing = list(config.get("missing") or ())
        cell = _cells.cell_sql(_by_alias(cuts, columns), schema, missing)
        counts = _cell_counts(database, layout, names, cell, config)
        cuts = _lookalike.merge_cells(cuts, counts, request, domain, "{}")
        pieces, shown = _schema(sample, request, domain)
    except _errors.DataError as error:
        raise _steps._of_tuples(error) from None
    found = _by_alias(cuts, columns)
    del sample, counts
    cell = _cells.cell_sql(found, schema, missing)
    work = Work(request, domain, columns, int(whole), pieces)
    tuples = f"SELECT {cell} AS cell, tuple, {', '.join(aliases)}, n FROM {names.tuples}"
    is_spread = getattr(database, "plan_cells", None)
    if is_spread is not None:
        is_spread(names.plan, tuples, found.cells, _planner(work), pieces)
        texts = _numbers(database, names)
    else:
        texts = _one_by_one(database, names, tuples, found.cells, work, pieces, listener)
    label_kinds = tuple(_sql.kind_of(kind) for kind in pieces.types[1:-4])
    made = _steps._published(layout, shown, database.dialect)
    numbers = _together(database, names, made, texts, config, work.tuples)
    return _steps.Planned(made, label_kinds, numbers)


# what decides about the cells


def _values(database: Database, names: Names, alias: str, column: str) -> Any:
    """The values of a column with the rows of each."""
    return database.fetch(
        f"SELECT {alias} AS {quoted(column)}, CAST(sum(n) AS BIGINT) AS {quoted(_steps.COUNT)} "
        f"FROM {names.tuples} GROUP BY {alias}"
    ).read_all()


def _sample(
    database: Database,
    names: Names,
    aliases: Sequence[str],
    columns: Sequence[str],
    whole: int,
    config: Config,
) -> Any:
    """About so many tuples as decide about the cuts, by a hash of their cells: the same ones in
    every run."""
    out = [f"{of} AS {quoted(name)}" for of, name in zip(aliases, columns, strict=True)]
    where = ""
    if whole > SAMPLE:
        texts = [f"CASE WHEN {of} IS NULL THEN '-' ELSE '=' || CAST({of} AS VARCHAR) END"
                 for of in aliases]  # fmt: skip
        key = literal(f"lookalike sample {config.get('seed')}")
        number = database.dialect.checksum([key, *texts])
        where = f" WHERE abs({number}) % {ROUND} < {max(1, ROUND * SAMPLE // whole)}"
    found = database.fetch(
        f"SELECT {', '.join(out)}, n AS {quoted(_steps.COUNT)} FROM {names.tuples}{where}"
    )
    return found.read_all()


def _cell_counts(
    database: Database, layout: Layout, names: Names, cell: str, config: Config
) -> Any:
    """The rows of each cell and sensitive value, all of them counted."""
    sensitive = config.names("sensitive")
    of = [(f"c{at}", one.name) for at, one in enumerate(layout.counted, 1) if one.name in sensitive]
    inner = ", ".join([f"{cell} AS cell", *(alias for alias, _ in of), "n"])
    by = ", ".join(["cell", *(alias for alias, _ in of)])
    out = ", ".join(["cell", *(f"{alias} AS {quoted(name)}" for alias, name in of)])
    return database.fetch(
        f"SELECT {out}, CAST(sum(n) AS BIGINT) AS {quoted(_steps.COUNT)} "
        f"FROM (SELECT {inner} FROM {names.tuples}) AS cells GROUP BY {by}"
    ).read_all()


def _by_alias(cuts: str, columns: Sequence[str]) -> _cells.Cuts:
    """The cuts with the names that the columns have in the table of tuples."""
    alias = {name: f"c{at}" for at, name in enumerate(columns, 1)}
    found = json.loads(cuts)

    def renamed(node: dict[str, Any]) -> dict[str, Any]:
        if "cell" in node:
            return node
        return node | {
            "column": alias[node["column"]],
            "left": renamed(node["left"]),
            "right": renamed(node["right"]),
        }

    return _cells.cuts_from_json(json.dumps(found | {"tree": renamed(found["tree"])}))


def _schema(sample: Any, request: str, domain: str) -> tuple[Any, list[str]]:
    """The schema of the pieces of every cell, and the columns that are published."""
    pyarrow = needed("pyarrow", "engines")
    found = _cells.plan_schema(sample, request, domain, numbered=True)
    shown = [name.removeprefix("published_") for name in found.names[1:-3]]
    names = ["tuple", *(f"p{at}" for at in range(1, len(shown) + 1)), *found.names[-3:], "numbers"]
    kinds = [pyarrow.int64(), *found.types[1:], pyarrow.string()]
    return pyarrow.schema(list(zip(names, kinds, strict=True))), shown


# the plan of each cell


def _planner(work: Work) -> Planner:
    """The function that plans a cell, here or on an executor.

    It is local, so that Spark sends it as it is; what it calls is this package on the executor.
    """

    def planned(cell: int, tuples: Any) -> Any:
        from lookalike.engine._in_cells import pieces_of

        return pieces_of(work, cell, tuples)

    return planned


def pieces_of(work: Work, cell: int, tuples: Any) -> Any:
    """The pieces of a cell, with its numbers as JSON beside the first of them.

    An error of the library has no cells in it, and is passed on in the place of the numbers.
    """
    pyarrow = needed("pyarrow", "engines")
    aliases = [f"c{at}" for at in range(1, len(work.columns) + 1)]
    counted = tuples.select([*aliases, "n"]).rename_columns([*work.columns, _steps.COUNT])
    try:
        own = _cells.cell_request(work.request, cell, tuples.num_rows, work.tuples)
        native = _cells._planned(counted, own, work.domain, 1, numbered=True)
    except LookalikeError as error:
        return _alone(error, work.schema)
    table = _cells._plain(native)
    rows = pyarrow.compute.subtract(table.column(0), 1).combine_chunks()
    number = tuples.column("tuple").combine_chunks().cast(pyarrow.int64()).take(rows)
    texts = pyarrow.array([native.numbers, *[None] * (table.num_rows - 1)], pyarrow.string())
    return pyarrow.Table.from_arrays(
        [number, *table.columns[1:], texts], names=work.schema.names
    ).cast(work.schema)


def _alone(error: LookalikeError, schema: Any) -> Any:
    """A table of the schema of pieces with an error in the place of the numbers."""
    pyarrow = needed("pyarrow", "engines")
    said = {
        "class": type(error).__name__,
        "message": str(error),
        "code": error.code,
        "reason": error.reason,
        "column": error.column,
    }
    columns = [pyarrow.nulls(1, one.type) for one in schema]
    columns[-1] = pyarrow.array([json.dumps({"error": said})], pyarrow.string())
    return pyarrow.Table.from_arrays(columns, names=schema.names)


def _one_by_one(
    database: Database,
    names: Names,
    tuples: str,
    cells: int,
    work: Work,
    schema: Any,
    listener: Callable[[str], object],
) -> list[str]:
    """Plans one cell after the other in this process; returns the numbers of each."""
    planner = _planner(work)
    staged = f'{names.tuples[:-1]}_cells"'
    # In the order of the cells, so that an engine finds those of a cell without reading all.
    database.stage(staged, f"SELECT * FROM ({tuples}) AS cells ORDER BY cell")
    parts: list[str] = []
    held: list[Any] = []
    texts: list[str] = []
    for cell in range(cells):
        listener(json.dumps({"event": "progress", "share": cell / cells}))
        found = database.fetch(f"SELECT * FROM {staged} WHERE cell = {cell}").read_all()
        made = planner(cell, found)
        text = made.column("numbers")[0].as_py()
        _raise_error(text)
        texts.append(text)
        held.append(made)
        if sum(of.num_rows for of in held) >= HELD and cell + 1 < cells:
            parts.append(f'{names.plan[:-1]}_{len(parts)}"')
            database.upload(parts[-1], _reader(held, schema))
            held = []
    if not parts:
        database.upload(names.plan, _reader(held, schema))
        return texts
    parts.append(f'{names.plan[:-1]}_{len(parts)}"')
    database.upload(parts[-1], _reader(held, schema))
    database.stage(names.plan, " UNION ALL ".join(f"SELECT * FROM {part}" for part in parts))
    return texts


def _reader(tables: Sequence[Any], schema: Any) -> Any:
    pyarrow = needed("pyarrow", "engines")

    def batches() -> Iterator[Any]:
        for table in tables:
            yield from table.to_batches()

    return pyarrow.RecordBatchReader.from_batches(schema, batches())


# the numbers of the whole


def _numbers(database: Database, names: Names) -> list[str]:
    """The numbers of the cells, from the plan in the engine."""
    found = rows_of(database, f"SELECT numbers FROM {names.plan} WHERE numbers IS NOT NULL")
    texts = [text for (text,) in found]
    for text in texts:
        _raise_error(text)
    return texts


def _raise_error(text: str) -> None:
    error = json.loads(text).get("error")
    if error is not None:
        kind = getattr(_errors, error.pop("class"), LookalikeError)
        raise kind(error.pop("message"), **error)


def _together(
    database: Database,
    names: Names,
    layout: Layout,
    texts: Sequence[str],
    config: Config,
    tuples: int,
) -> dict[str, Any]:
    """The numbers of the plan: what cells have apart adds up, classes are counted anew."""
    totals = Totals()
    cells = sorted(
        (json.loads(text) for text in texts), key=lambda found: json.dumps(found["loss"])
    )
    for found in cells:  # in one order: sums of fractions depend on it
        totals.add(found)
    labels = ", ".join(f"p{at}" for at in range(1, len(layout.published) + 1))
    ((classes, squares),) = rows_of(
        database,
        "SELECT count(*) AS c, sum(CAST(n AS DOUBLE) * CAST(n AS DOUBLE)) AS s FROM "
        f"(SELECT sum(last_row - first_row + 1) AS n FROM {names.plan} WHERE NOT suppressed "
        f"GROUP BY {labels}) AS classes",
    )
    rows = totals.rows
    gcp = totals.of_rows / rows if rows else 0.0
    _refuse_loss(gcp, config)
    k = config.get("k")
    truth = {
        "carried_unchanged": True,
        "cells_checked": "piece by piece",
        "rows_matched": totals.matched,
        "rows_undecided": totals.undecided,
        "suppressed": totals.suppressed,
        "suppression_allowed": True,
        "violations": totals.violations,
        "statements": [
            {
                "finding": "ok",
                "text": "no row was suppressed"
                if not totals.suppressed
                else f"{totals.suppressed} of {rows} rows are suppressed, within the limit of the "
                "request",
            },
            {
                "finding": "ok",
                "text": "every tuple is cut into pieces from 1 to its count, and every published "
                "value covers the original",
            },
        ],
    }
    return {
        "version": 1,
        "algorithm": cells[0]["algorithm"] if cells else config.get("algorithm"),
        "bound": None,
        "cells": totals.cells,
        "classes": int(classes),
        "input_rows": rows,
        "released": rows - totals.suppressed,
        "suppressed": totals.suppressed,
        "tuples": tuples,
        "status": "heuristic",
        "truth": truth,
        "warnings": sorted({text for found in cells for text in found.get("warnings", ())}),
        "loss": {
            "ncp": totals.ncp,
            "gcp": gcp,
            "by_attribute": totals.by_attribute,
            "c_dm": int(squares or 0) + totals.suppressed * rows,
            "c_avg": rows / (int(classes) * int(k)) if classes and k else None,
        },
    }


def _refuse_loss(gcp: float, config: Config) -> None:
    """Refuses a plan with a loss above ``max_loss``, which is about the whole table."""
    given = (config.get("limits") or {}).get("max_loss")
    if given is None:
        return
    text = str(given).strip()
    most = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    if gcp > most + 1e-12:
        raise Infeasible(
            f"the release would lose {gcp:.1%} of the detail, and max_loss allows {most:.1%}: "
            "nothing was written",
            code="loss-too-great",
        )
