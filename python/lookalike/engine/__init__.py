"""Tables that stay where they are: DuckDB, PostgreSQL, Spark, and what ibis can reach.

The engine counts distinct tuples, the library plans, the engine joins the plan to the rows, counts
what it wrote, and the audit checks that before anybody can see it under its name.

>>> import duckdb
>>> from lookalike.engine import engine
>>> connection = duckdb.connect()
>>> _ = connection.execute("CREATE TABLE people AS SELECT 20 + i % 9 AS age FROM range(90) t(i)")
>>> made = engine(connection).anonymize("people", into="safe", k=5, quasi=["age"], seed=7)
>>> made.rows, made.verdict.holds
(90, True)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack

from .. import _api
from .._config import ConfigLike, Names, config_of
from .._errors import ConfigError, LookalikeError
from .._progress import Progress
from .._results import Answers, Figures, Report, Verdict
from .._tables import is_of
from . import _steps
from ._errors import EngineError

if TYPE_CHECKING:
    from .._config import Changes, Config, RoleChanges, VerifyChanges

Made = TypeVar("Made")

__all__ = ["Engine", "EngineError", "EngineRelease", "engine"]


def engine(at: Any, /) -> Engine:
    """The engine that holds tables.

    Parameters
    ----------
    at : str, connection or session
        The address of a PostgreSQL server (``"postgresql://user@host/database"``), a connection of
        DuckDB or of ADBC to PostgreSQL, a SparkSession (also of Spark Connect), or a backend of
        ibis for one of them.
    """
    return Engine(at)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class EngineRelease(Figures):
    """A release that an engine holds; it was counted there and passed the audit.

    It has the figures of a `lookalike.Release` (`verdict`, `loss`, `bound`, `gap`, `rows`,
    `suppressed`, `classes`, `status`, `warnings`, `numbers`) and no rows.

    Attributes
    ----------
    into : str
        The table or file of the release.
    config : Config
        The request of the run.
    times : dict
        Seconds of the steps: count, plan, apply, verify, publish.
    """

    into: str
    config: Config
    numbers: dict[str, Any]


class Engine:
    """An engine that holds tables; made by `engine`."""

    __slots__ = ("_at",)

    def __init__(self, at: Any) -> None:
        self._at = at
        self._database()

    def _database(self) -> _steps.Database:
        """What runs the statements of one call."""
        at = self._at
        if isinstance(at, str):
            if not at.startswith(("postgresql://", "postgres://")):
                raise ConfigError(
                    "the address of an engine begins with postgresql://; DuckDB and Spark are "
                    "given as a connection or a session",
                    code="no-engine",
                )
            from ._postgres import Postgres

            return Postgres(at)
        if is_of("duckdb", at) or is_of("_duckdb", at):
            from ._duckdb import DuckDB

            return DuckDB(at)
        if is_of("pyspark", at):
            from ._spark import Spark

            return Spark(at)
        if is_of("adbc_driver_manager", at) or is_of("adbc_driver_postgresql", at):
            from ._postgres import Postgres

            return Postgres(at)
        if is_of("ibis", at):
            from ._ibis import of_backend

            return of_backend(at)
        raise TypeError(
            "an engine is the address of a PostgreSQL server, a connection of duckdb or ADBC, a "
            f"SparkSession or a backend of ibis, not {type(at).__name__}"
        )

    def __repr__(self) -> str:
        return f"Engine({type(self._at).__name__})"  # an address may have a password in it

    def anonymize(
        self,
        table: str,
        config: ConfigLike | None = None,
        /,
        *,
        into: str,
        replace: bool = False,
        cells: int | None = None,
        bound: _api.Effort = "quick",
        threads: int | None = None,
        progress: bool | Callable[[Progress], object] = False,
        on_interrupt: Literal["raise", "keep"] = "raise",
        **changes: Unpack[Changes],
    ) -> EngineRelease:
        """Makes a release of a table, in the engine.

        Nothing is visible under the name of the release before it was written, counted by the
        engine and audited. A run that fails or is interrupted leaves nothing.

        Parameters
        ----------
        table : str
            The name of a table or view, as in ``"schema.patients"``. In DuckDB also the path or
            pattern of Parquet or CSV files.
        config, **changes
            As in `lookalike.anonymize`.
        into : str
            The table of the release. In DuckDB also a Parquet file (``"safe.parquet"``) or a folder
            of them (``"safe/"``).
        replace : bool
            Replace a table or file of that name.
        cells : int, optional
            Plan in cells of about so many distinct tuples at most, such as 1,000,000: on Spark by
            the executors, elsewhere one after the other. Absent: this process plans all tuples at
            once. Cells need a seed, and steps in place of time.
        bound, threads, progress, on_interrupt
            As in `lookalike.anonymize`, about the plan.

        Returns
        -------
        EngineRelease
        """
        request = config_of(config, changes)
        options = {"bound": bound, "on_interrupt": on_interrupt}
        _api._options(threads, **options)  # refuses unknown words
        asked = _steps.Asked(
            table, into, request, replace, bound, threads, progress, on_interrupt, cells
        )
        numbers, times = _steps.anonymize(self._database(), asked)
        made = EngineRelease(into, request, {**numbers, "times": times})
        _api._warn(made.warnings)
        return made

    def check(
        self, table: str, config: ConfigLike | None = None, /, **changes: Unpack[Changes]
    ) -> Verdict:
        """Measures a table against rules, from the engine's counts. See `lookalike.check`."""
        request = config_of(config, changes)

        def run(database: _steps.Database) -> Verdict:
            counts, asked = _steps.counts(database, table, request, ())
            return _steps.handed(counts, lambda of: _api.check(of, asked, k=None))

        return self._counting(run)

    def verify(
        self,
        release: str,
        config: ConfigLike | None = None,
        /,
        *,
        source: str | None = None,
        **changes: Unpack[VerifyChanges],
    ) -> Verdict:
        """Checks a released table, alone or against its source. See `lookalike.verify`.

        Both are counted by the engine. Columns that are published unchanged, and that no rule is
        about, are not compared here; `anonymize` does that.
        """
        request = config_of(config, changes)

        def run(database: _steps.Database) -> Verdict:
            counts, asked = _steps.released_counts(database, release, request, ())
            against = None
            if source is not None:
                counts = counts.read_all()
                against = _steps.counts(database, source, request, ())[0].read_all()
                counts = counts.to_reader()
            found = _steps.handed(counts, lambda of: _api.verify(of, asked, source=against))
            leaks = tuple(_steps.leaks(database, release, request))
            if not leaks:
                return found
            return replace(found, holds=False, leaks=(*found.leaks, *leaks))

        return self._counting(run)

    def report(
        self,
        source: str,
        release: str,
        config: ConfigLike | None = None,
        /,
        *,
        edition: Literal["internal", "public"] = "internal",
        queries: int = 1000,
        bound: _api.Effort = "quick",
        **changes: Unpack[VerifyChanges],
    ) -> Report:
        """The page about a release, from the engine's counts. See `lookalike.report`."""
        request = config_of(config, changes)

        def run(database: _steps.Database) -> Report:
            sensitive = request.names("sensitive")
            before, asked = _steps.counts(database, source, request, sensitive)
            before = before.read_all()
            after, _ = _steps.released_counts(database, release, request, sensitive)
            return _steps.handed(
                after,
                lambda of: _api.report(
                    before, of, asked, edition=edition, queries=queries, bound=bound
                ),
            )

        return self._counting(run)

    def query(
        self,
        source: str,
        release: str,
        config: ConfigLike | None = None,
        queries: Sequence[Mapping[str, Any]] | None = None,
        /,
        *,
        random: int = 1000,
        on: Names = (),
        sum: str | None = None,
        seed: int = 1,
        each: bool = False,
        **changes: Unpack[RoleChanges],
    ) -> Answers:
        """Answers from a release beside those of its source. See `lookalike.query`."""
        request = config_of(config, changes)
        wanted = {*request.names("sensitive"), *([] if sum is None else [sum])}
        wanted |= set(on if not isinstance(on, str) else [on])
        for one in queries or ():
            wanted |= {*one.get("where", {}), *([one["sum"]] if one.get("sum") else [])}

        def run(database: _steps.Database) -> Answers:
            before, asked = _steps.counts(database, source, request, sorted(wanted))
            before = before.read_all()
            after, _ = _steps.released_counts(database, release, request, sorted(wanted))
            return _steps.handed(
                after,
                lambda of: _api.query(
                    before, of, asked, queries, random=random, on=on, sum=sum, seed=seed, each=each
                ),
            )

        return self._counting(run)

    def _counting(self, run: Callable[[_steps.Database], Made]) -> Made:
        """A call that only reads."""
        database = self._database()
        try:
            return run(database)
        except LookalikeError as error:
            _steps.forget_words(error)
            raise
        finally:
            database.end()
