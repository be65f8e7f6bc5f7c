"""Results: frozen, with counts and no cell values in what they show of themselves."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from . import _frames, _html, _lookalike, _tables
from ._config import Config
from ._errors import ConfigError, RuleBroken, write_text
from ._tables import Source

if TYPE_CHECKING:
    from ._tables import Table


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, and how well a table satisfies it.

    Attributes
    ----------
    text : str
        The rule: ``k = 5 on age, zip``.
    column : str or None
        The sensitive column that it is about.
    holds : bool
        True when every class satisfies it.
    violations, rows : int
        The classes that do not, and their rows.
    limit, worst : float
        What the rule demands, and the worst class; `measure` says of what.
    measure : str
        Such as "smallest class".
    """

    text: str
    column: str | None
    holds: bool
    violations: int
    rows: int
    limit: float
    worst: float
    measure: str


@dataclass(frozen=True, slots=True)
class Risk:
    """The risk that a row is found by somebody who knows the quasi-identifiers of a person.

    Attributes
    ----------
    highest, average : float
        One over the size of the smallest class; the mean over all rows.
    unique : int
        Rows that are alone in their class.
    """

    highest: float
    average: float
    unique: int


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """The result of an audit. It is true when every rule holds; without a rule it has no truth.

    Attributes
    ----------
    holds : bool or None
        True when every rule holds and, against a source, every comparison did. None where no rule
        was asked for: the table was only measured.
    k : int
        The size of the smallest class that was found; what was asked for is in `rules`.
    l : int or None
        The least l of all sensitive columns: no value fills more than 1/l of a class. None without
        a sensitive column.
    risk : Risk
    rules : tuple of Rule
    rows, classes : int
    unit : str
        What k counts: "rows", or "persons".
    findings : tuple of (str, str)
        Sentences about the comparison with the source, each with "ok" or what was found.
    leaks : tuple of str
        Sentences about what should not be in the release.
    warnings : tuple of str
    numbers : dict
        Everything, with the keys of ``lookalike check --json`` and ``verify --json``.
    """

    holds: bool | None
    k: int
    l: int | None
    risk: Risk
    rules: tuple[Rule, ...]
    rows: int
    classes: int
    unit: str
    findings: tuple[tuple[str, str], ...]
    leaks: tuple[str, ...]
    warnings: tuple[str, ...]
    numbers: dict[str, Any] = field(compare=False)

    def __bool__(self) -> bool:
        if self.holds is None:
            raise ConfigError(
                "the table was measured and no rule was asked for: give k, as in check(df, k=5, "
                "...), or read the numbers, such as verdict.k",
                code="no-rule",
            )
        return self.holds

    def raise_if_broken(self) -> Verdict:
        """Raises `RuleBroken` unless every rule holds; otherwise gives the verdict itself."""
        if self:
            return self
        reason = "; ".join(self._broken()) or "the audit found an error"
        raise RuleBroken(reason, code="rule-broken")

    def _broken(self) -> list[str]:
        broken = [
            f"{rule.text} does not hold: {rule.violations:,} of {self.classes:,} classes with "
            f"{rule.rows:,} {self.unit} ({rule.measure} {rule.worst:g})"
            for rule in self.rules
            if not rule.holds
        ]
        return [*broken, *self._not_rules()]

    def _not_rules(self) -> list[str]:
        """What is wrong beside the rules."""
        return [*self.leaks, *(text for finding, text in self.findings if finding == "broken")]

    def __repr__(self) -> str:
        diversity = "" if self.l is None else f", l={self.l}"
        return (
            f"Verdict(holds={self.holds}, k={self.k}{diversity}, rows={self.rows:,}, "
            f"classes={self.classes:,}{self._names_broken()})"
        )

    def _names_broken(self) -> str:
        """The broken rules by their texts, without counts."""
        broken = [*(rule.text for rule in self.rules if not rule.holds), *self._not_rules()]
        return f", broken={broken!r}" if broken else ""

    def _repr_html_(self) -> str:
        titles = {True: "Every rule holds", False: "A rule is broken", None: "Measures, no rule"}
        rows = [
            ["ok" if rule.holds else "BROKEN", rule.text, f"{rule.measure} {rule.worst:g}",
             f"{rule.violations:,}"]
            for rule in self.rules
        ]  # fmt: skip
        facts = [
            ("rows", f"{self.rows:,}"),
            ("classes", f"{self.classes:,}, the smallest has {_members(self.k, self.unit)}"),
            ("risk", f"{_html.percent(self.risk.highest)} highest, "
                     f"{_html.percent(self.risk.average)} average"),
        ]  # fmt: skip
        return _html.block(
            titles[self.holds],
            _html.table(["", "rule", "worst class", "classes that break it"], rows),
            _html.facts(facts),
            _html.notes(self.leaks),
            _html.notes([text for _, text in self.findings]),
            _html.notes(self.warnings),
        )


def _members(count: int, unit: str) -> str:
    """A number of rows or persons in words: ``1 row``, ``5 persons``."""
    return f"{count:,} {unit.removesuffix('s') if count == 1 else unit}"


def verdict(numbers: Mapping[str, Any]) -> Verdict:
    """The verdict in the numbers of a check, an audit or a run."""
    measures = numbers["measures"]
    rules = tuple(_rule(rule) for rule in numbers.get("rules") or ())
    truth = numbers.get("truth") or {}
    statements = tuple((said["finding"], said["text"]) for said in truth.get("statements") or ())
    leaks = tuple(str(leak) for leak in numbers.get("leaks") or ())
    least = [column["frequency"] for column in measures.get("sensitive") or ()]
    found_true = not truth.get("violations") and not leaks and all(rule.holds for rule in rules)
    sense = numbers.get("non_homogeneous")
    return Verdict(
        holds=numbers.get("holds", found_true),
        k=sense["candidates"] if sense else measures["k"],
        l=min(least) if least and not sense else None,
        risk=Risk(
            highest=measures["risk"]["highest"],
            average=measures["risk"]["average"],
            unique=measures["uniques"],
        ),
        rules=rules,
        rows=measures["rows"],
        classes=measures["classes"],
        unit="rows" if measures.get("persons") is None else "persons",
        findings=statements,
        leaks=leaks,
        warnings=tuple(numbers.get("warnings") or ()),
        numbers=dict(numbers),
    )


def _rule(rule: Mapping[str, Any]) -> Rule:
    return Rule(
        text=rule["rule"],
        column=rule["sensitive"],
        holds=rule["violations"] == 0,
        violations=rule["violations"],
        rows=rule["rows"],
        limit=rule["limit"],
        worst=rule["worst"],
        measure=rule["measure"],
    )


@dataclass(frozen=True, slots=True)
class Loss:
    """The detail that a release has lost.

    Attributes
    ----------
    gcp : float
        The share of the detail that is lost, from 0 to 1 (global certainty penalty).
    ncp : float
        The same as a sum over all cells (normalized certainty penalty).
    by_column : dict
        The part of `ncp` of each quasi-identifier.
    c_dm, c_avg : float
        Discernibility, the sum of the squared sizes of classes; the mean size of a class over k.
    """

    gcp: float
    ncp: float
    by_column: dict[str, float]
    c_dm: float
    c_avg: float | None


@dataclass(frozen=True, slots=True)
class Bound:
    """A lower bound on the loss (NCP) of any release under this k.

    Attributes
    ----------
    value : float
    kind : str
        How it was found. "estimate" is made from a sample of the rows: it is near the bound, above
        or below it, and differs from run to run. The others are true bounds, "exact" the greatest.
    gap : float or None
        Loss / bound; None where the bound does not know all rules. It can be below 1 where the
        bound is an estimate.
    """

    value: float
    kind: str
    gap: float | None


Status = Literal["optimal", "heuristic", "stopped", "applied"]


class Figures:
    """What is known of a table that was made and passed its audit: figures, no cells."""

    __slots__ = ()
    config: Config
    numbers: dict[str, Any]

    @property
    def verdict(self) -> Verdict:
        """The audit of the released rows."""
        return verdict(self.numbers)

    @property
    def loss(self) -> Loss:
        """The detail that is lost."""
        loss = self.numbers["loss"]
        return Loss(
            loss["gcp"], loss["ncp"], dict(loss["by_attribute"]), loss["c_dm"], loss["c_avg"]
        )

    @property
    def bound(self) -> Bound | None:
        """The lower bound on the loss; None where none was asked for or found."""
        bound = self.numbers.get("bound")
        if not bound or bound.get("value") is None:
            return None
        return Bound(bound["value"], bound["kind"], bound.get("gap"))

    @property
    def gap(self) -> float | None:
        """The loss as a multiple of the lower bound; ``bound.kind`` says if that is an estimate."""
        return None if self.bound is None else self.bound.gap

    @property
    def rows(self) -> int:
        """Released rows."""
        return int(self.numbers["released"])

    @property
    def suppressed(self) -> int:
        """Rows of the source that are not in the release: `suppress` is an upper limit."""
        return int(self.numbers["suppressed"])

    @property
    def classes(self) -> int:
        """Equivalence classes of the release."""
        return int(self.numbers["classes"])

    @property
    def status(self) -> Status:
        """How the search ended: "optimal", "heuristic", "stopped", or "applied".

        "optimal" is about global recodings alone, which publish a value the same way in all rows.
        "stopped": Ctrl-C or the end of the time broke the search off.
        """
        status: Status = self.numbers["status"]
        return status

    @property
    def warnings(self) -> list[str]:
        """What should be known before the release is used."""
        return list(self.numbers["warnings"])

    @property
    def times(self) -> dict[str, float]:
        """The seconds of each stage."""
        return dict(self.numbers["times"])

    def __repr__(self) -> str:
        k, smallest = self._k(), self.verdict.k
        mark = "~" if self.bound is not None and self.bound.kind == "estimate" else "="
        gap = "" if self.gap is None else f", gap{mark}{self.gap:.2f}"
        return (
            f"{type(self).__name__}(k={k}{'' if k == smallest else f', smallest={smallest}'}, "
            f"rows={self.rows:,}, "
            f"suppressed={self.suppressed:,}, classes={self.classes:,}, "
            f"loss={self.loss.gcp:.4f}{gap}, status={self.status!r})"
        )

    def _k(self) -> int:
        """The k that was asked for."""
        return int(self.config.get("k") or self.verdict.k)

    def _repr_html_(self) -> str:
        verdict, loss = self.verdict, self.loss
        asked = "" if self._k() == verdict.k else f" (k = {self._k():,} was asked for)"
        gap = "" if self.gap is None else f", {self.gap:.2f} × the lower bound"
        if gap and self.bound is not None and self.bound.kind == "estimate":
            gap = f", about {self.gap:.2f} × the lower bound, which is an estimate here"
        facts = [
            ("rows", f"{self.rows:,} released, {self.suppressed:,} suppressed"),
            (
                "classes",
                f"{self.classes:,}, the smallest has {_members(verdict.k, verdict.unit)}{asked}",
            ),
            ("loss", f"{_html.percent(loss.gcp)} of the detail{gap}"),
            ("search", f"{self.numbers.get('algorithm') or 'from a recoding'}, {self.status}"),
        ]
        shares = [
            [name, _html.percent(lost / loss.ncp) if loss.ncp else "0 %"]
            for name, lost in loss.by_column.items()
        ]
        return _html.block(
            f"{type(self).__name__}, verified",
            _html.facts(facts),
            _html.table(["column", "share of the loss"], shares),
            _html.notes([f"{'ok' if rule.holds else 'BROKEN'}: {rule.text}"
                         for rule in verdict.rules]),
            _html.notes(self.warnings),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Made(Figures):
    """A table that was made and passed its audit, in the buffers that were audited."""

    _native: _lookalike.Release
    _source: Source
    config: Config
    numbers: dict[str, Any]
    _cache: dict[str, Any] = field(default_factory=dict)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table as an Arrow C stream, without a copy, any number of times."""
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    @property
    def frame(self) -> Any:
        """The table as the kind that came in.

        pandas gives pandas, polars gives polars; everything else gives a `pyarrow.Table`, or this
        object itself where pyarrow is not installed.
        """
        if "frame" not in self._cache:
            self._cache["frame"] = self._frame()
        return self._cache["frame"]

    def _frame(self) -> Any:
        if self._source.kind == "pandas":
            return self.to_pandas()
        if self._source.kind == "polars":
            return self.to_polars()
        return self.to_arrow() if _tables.has("pyarrow") else self

    def to_pandas(self, *, intervals: bool = False) -> Any:
        """A `pandas.DataFrame`: quasi-identifiers as ordered Categorical, other columns as before.

        Parameters
        ----------
        intervals : bool
            Bounds of numbers and dates become one Interval column each, closed on both sides, to
            compute with. The release must have been made with ``publish="bounds"``.
        """
        publish = self.config.get("output", {}).get("publish")
        if intervals and publish not in ("bounds", "center"):
            raise ConfigError(
                "the release has labels, and an interval needs bounds: make it with "
                'publish="bounds"',
                code="no-bounds",
            )
        frame = _frames.to_pandas(self._native, self._types("pandas"))
        return _frames.with_intervals(frame, self.config.names("quasi")) if intervals else frame

    def _types(self, kind: _tables.Kind) -> dict[str, Any]:
        """The types of the source's columns that are published unchanged."""
        if self._source.kind != kind:
            return {}
        roles = {name: keys["role"] for name, keys in self.config.get("columns", {}).items()}
        of_rest = "keep" if self.config.get("rest") == "keep" else "identifier"
        unchanged = ("keep", "sensitive", "weight")
        types = self._source.types.items()
        return {name: of for name, of in types if roles.get(name, of_rest) in unchanged}

    def to_polars(self) -> Any:
        """A `polars.DataFrame`: quasi-identifiers as Enum, in the order of their ranges."""
        return _frames.to_polars(
            self._native, self._types("polars"), json.loads(self._native.labels)
        )

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` over the buffers that were audited."""
        return _tables.arrow_table(self._native)

    def write(self, path: str | os.PathLike[str], /, *, force: bool = False) -> None:
        """Writes a file as the command does: written, synced, read back, audited, renamed.

        Parameters
        ----------
        path : path
            The ending chooses the form: .csv, .csv.gz, .tsv, .parquet, .arrow, ...
        force : bool
            Replace a file that exists.
        """
        if not isinstance(force, bool):
            raise TypeError(f"force is True or False, not {type(force).__name__}")
        self._native.write(os.fsdecode(path), json.dumps({"force": force}))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Release(_Made):
    """A release that passed its audit. What is handed out are the buffers that were audited.

    Attributes
    ----------
    frame : DataFrame or Table
        The released table, as the kind that came in.
    verdict : Verdict
    loss : Loss
    bound : Bound or None
    gap : float or None
    rows, suppressed, classes : int
    status : {"optimal", "heuristic", "stopped", "applied"}
    warnings : list of str
    times : dict
        Seconds of each stage.
    config : Config
        The request of the run.
    numbers : dict
        Everything, with the keys of ``lookalike anonymize --json``.
    """

    @property
    def recoding(self) -> str | None:
        """The recoding of a global algorithm as text, for `apply`; as secret as the table."""
        return self._native.recoding

    @property
    def proof(self) -> str | None:
        """The proof of a release with persons or of rings, for `verify`; as secret as the table."""
        return self._native.proof

    @property
    def codebook(self) -> dict[str, Any] | None:
        """What each column has and how its cells are read, where ``codebook=True`` asked for it.

        It says nothing that the release does not say. `write` puts it beside the release, as
        ``NAME.codebook.json`` and as a page, ``NAME.codebook.html``.
        """
        text = self._native.codebook
        return None if text is None else json.loads(text)

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        /,
        *,
        edition: Literal["internal", "public"] = "internal",
        queries: int = 1000,
        bound: Literal["none", "quick", "full", "tight"] = "quick",
        date: str | date | None = None,
        source: Table | None = None,
        force: bool = False,
        threads: int | None = None,
    ) -> Report:
        """The page about this release: verdict, loss and remaining risk. See `lookalike.report`.

        The source is read again, as it is now: where its cells were changed since the release was
        made, the page says that the release does not fit it.

        Parameters
        ----------
        path : path, optional
            A file for the page; ``force=True`` replaces one that exists.
        date : date or str, optional
            The day of the record; today in UTC if absent.
        source : table, optional
            The source, where it was a stream, which cannot be read again, or has changed.
        """
        from . import _api

        page = _api.report(
            self._again(source),
            self,
            self.config,
            edition=edition,
            queries=queries,
            bound=bound,
            date=date,
            threads=threads,
        )
        if path is not None:
            _tables.refuse_input(path, self._source if source is None else source)
            page.write(path, force=force)
        return page

    def query(
        self,
        queries: Any = None,
        /,
        *,
        random: int = 1000,
        on: str | Sequence[str] = (),
        sum: str | None = None,
        seed: int = 1,
        each: bool = False,
        source: Table | None = None,
        threads: int | None = None,
    ) -> Answers:
        """Counts and sums from this release, compared with the truth. See `lookalike.query`.

        The source is read again, as it is now.
        """
        from . import _api

        return _api.query(
            self._again(source),
            self,
            self.config,
            queries,
            random=random,
            on=on,
            sum=sum,
            seed=seed,
            each=each,
            threads=threads,
        )

    def _again(self, source: Table | None) -> Any:
        """The source, to be read once more."""
        return self._source.again() if source is None else source


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Plan(_Made):
    """A plan: for each tuple of the source, what is published instead and for how many rows.

    It has original values: it is as secret as the table. docs/plan.md describes its columns.
    """

    def _types(self, kind: _tables.Kind) -> dict[str, Any]:
        """The types of all columns of the source: a plan is joined with the rows by their cells."""
        return self._source.types if self._source.kind == kind else {}


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """A page about a release.

    Attributes
    ----------
    html : str
        The page: one file that loads nothing and runs no script.
    numbers : dict
        The same numbers, with the keys of docs/report.md.
    edition : str
        "internal": as confidential as the source; "public": made to go with the release.
    holds : bool
        True when the release satisfies every rule.
    """

    html: str
    numbers: dict[str, Any]

    @property
    def edition(self) -> str:
        """For whom the page is: "internal" or "public"."""
        return str(self.numbers["edition"])

    @property
    def holds(self) -> bool:
        """True when the release satisfies every rule."""
        return bool(self.numbers["holds"])

    def write(self, path: str | os.PathLike[str], /, *, force: bool = False) -> None:
        """Writes the page; ``force=True`` replaces a file that exists.

        Others than the owner of the file cannot read an internal page.
        """
        write_text(path, self.html, force=force, secret=self.edition != "public")

    def __repr__(self) -> str:
        return (
            f"Report(edition={self.edition!r}, holds={self.holds}, {len(self.html):,} characters)"
        )

    def _repr_html_(self) -> str:
        return _html.framed(self.html, height=640)


@dataclass(frozen=True, slots=True, repr=False)
class Plot:
    """A picture. A notebook shows it; `svg` is its text."""

    name: str
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return _html.framed(self.svg, height=420)

    def write(self, path: str | os.PathLike[str], /, *, force: bool = False) -> None:
        """Writes the picture as an SVG file that only its owner can read.

        ``force=True`` replaces one that exists.
        """
        write_text(path, self.svg, force=force, secret=True)

    def __repr__(self) -> str:
        return f"Plot({self.name!r})"


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Algorithms and values of k on one table, one search a row.

    Attributes
    ----------
    rows : list of dict
        Each with algorithm, k, ncp, gcp, bound, gap, classes, search_seconds, ...; a request that
        cannot be met has the status "not met", the reason as ``why``, and None for the numbers.
    plots : dict
        Pictures by name.
    numbers : dict
        Everything, with the keys of ``lookalike compare --json``.
    """

    numbers: dict[str, Any]
    plots: dict[str, Plot]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each search; `bound` is the lower bound on its NCP."""
        runs = self.numbers["runs"]
        nothing = dict.fromkeys([*_FIRST, *(name for run in runs for name in run)])
        bounds = [(run.get("bound") or {}).get("value") for run in runs]
        return [{**nothing, **run, "bound": bound} for run, bound in zip(runs, bounds, strict=True)]

    @property
    def frame(self) -> Any:
        """The rows as a frame of pandas, else of polars, else as a list of dicts."""
        return frame_of(self.rows)

    def plot(self, name: str | None = None, /) -> Plot:
        """A picture: "loss-by-k", or another of `plots`."""
        if name is None:
            name = "loss-by-k"
        if name not in self.plots:
            known = ", ".join(repr(known) for known in self.plots) or "none: no request was met"
            raise KeyError(f"there is no plot {name!r}; there are {known}")
        return self.plots[name]

    def __repr__(self) -> str:
        return f"Comparison({len(self.numbers['runs'])} searches on {self.numbers['rows']:,} rows)"

    def _repr_html_(self) -> str:
        heads = ["algorithm", "k", "loss", "gap", "classes", "suppressed", "error of counts", "s"]
        body = [[run["algorithm"], run["k"], *_cells(run)] for run in self.numbers["runs"]]
        pictures = "".join(plot.svg for plot in self.plots.values())
        page = (
            "<style>body{font:14px sans-serif}td,th{padding:2px 10px;text-align:right}"
            "svg{max-width:32em;height:auto}</style>"
        )
        page += _html.table(heads, body) + pictures
        return _html.framed(page, height=520)


_FIRST = ("k", "algorithm", "status", "gcp", "gap", "ncp", "bound", "classes", "smallest",
          "released", "left_out", "median_count_error", "search_seconds")  # fmt: skip
"""The columns of a comparison that are first."""


def _cells(run: Mapping[str, Any]) -> list[str]:
    """The numbers of a search for people; its status alone where the request was not met."""
    if "gcp" not in run:
        return [run["status"], *[""] * 5]
    gap, error = run.get("gap"), run.get("median_count_error")
    return [
        _html.percent(run["gcp"]),
        "" if gap is None else f"{gap:.2f}",
        f"{run['classes']:,}",
        f"{run['left_out']:,}",
        "" if error is None else _html.percent(error),
        f"{run['search_seconds']:.2f}",
    ]


@dataclass(frozen=True, slots=True)
class Workload:
    """Queries of one kind, and how far the estimates are from the truth.

    Attributes
    ----------
    sum : str or None
        The column that is summed; None for counts.
    queries, undefined : int
        Their number, and how many have the true answer 0 and no relative error.
    mean_error, median_error, p90_error : float or None
        Of the relative errors: mean, median, and the error that 9 in 10 stay within.
    mean_absolute : float or None
        The mean distance of estimate and truth.
    """

    sum: str | None
    queries: int
    undefined: int
    mean_error: float | None
    median_error: float | None
    p90_error: float | None
    mean_absolute: float | None


@dataclass(frozen=True, slots=True, repr=False)
class Answers:
    """Answers of a release to counts and sums, compared with those of its source.

    Attributes
    ----------
    workloads : tuple of Workload
        Counts first, then the sums of each column.
    numbers : dict
        Everything, with the keys of ``lookalike query --json``; as confidential as the source.
    """

    numbers: dict[str, Any]

    @property
    def workloads(self) -> tuple[Workload, ...]:
        """The errors of counts, then of the sums of each column."""
        names = Workload.__slots__
        return tuple(
            Workload(**{name: workload.get(name) for name in names})
            for workload in self.numbers["workloads"]
        )

    @property
    def each(self) -> list[dict[str, Any]]:
        """Every query with estimate and true answer, where ``each=True`` asked for them."""
        return [query for workload in self.numbers["workloads"]
                for query in workload.get("each") or ()]  # fmt: skip

    @property
    def frame(self) -> Any:
        """The workloads as a frame of pandas, else of polars, else as a list of dicts."""
        names = Workload.__slots__
        return frame_of([{name: getattr(work, name) for name in names} for work in self.workloads])

    def __repr__(self) -> str:
        said = [
            f"{'count' if work.sum is None else f'sum of {work.sum}'}: {work.queries:,} queries"
            + ("" if work.median_error is None else f", median error {work.median_error:.3f}")
            for work in self.workloads
        ]
        return f"Answers({'; '.join(said)})"

    def _repr_html_(self) -> str:
        def share(error: float | None) -> str:
            return "" if error is None else _html.percent(error)

        heads = ["workload", "queries", "mean error", "median", "9 in 10 within"]
        rows = [
            ["count" if work.sum is None else f"sum of {work.sum}", f"{work.queries:,}",
             share(work.mean_error), share(work.median_error), share(work.p90_error)]
            for work in self.workloads
        ]  # fmt: skip
        return _html.block("Errors of queries", _html.table(heads, rows))


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """What costs the detail of a release, and what would help.

    Attributes
    ----------
    loss : float
        The loss of a quick search, from 0 to 1; "auto" loses less.
    columns : list of dict
        For each quasi-identifier its ``loss`` and its ``part`` of the whole, the loss of the
        ``others`` now and without it (``others_without``), with it ``coarser``, and the shares of
        rows that are unique on it alone and without it.
    helps : list of str
        What would help, the greatest gain first.
    numbers : dict
        Everything, with the keys of ``lookalike explain --json``; as confidential as the source.
    """

    numbers: dict[str, Any]

    @property
    def loss(self) -> float:
        """The loss of a quick search, from 0 to 1."""
        return float(self.numbers["loss"])

    @property
    def columns(self) -> list[dict[str, Any]]:
        """A dict for each quasi-identifier, the one that costs most first."""
        return list(self.numbers["columns"])

    @property
    def helps(self) -> list[str]:
        """What would help, in sentences, the greatest gain first."""
        return [
            f"{help['change']}, {help['of']} lose {_html.percent(help['then'])} instead of "
            f"{_html.percent(help['now'])}"
            for help in self.numbers["helps"]
        ]

    @property
    def frame(self) -> Any:
        """The columns as a frame of pandas, else of polars, else as a list of dicts."""
        flat = [
            {**column, "coarser": (column["coarser"] or {}).get("others")}
            for column in self.columns
        ]
        return frame_of(flat)

    def __repr__(self) -> str:
        first = "; ".join(self.helps[:1]) or "no single change helps"
        return f"Explanation(loss={self.loss:.3f}; {first})"

    def _repr_html_(self) -> str:
        def share(of: float | None) -> str:
            return "" if of is None else _html.percent(of)

        heads = ["column", "lost", "part", "others", "without it", "unique alone", "unique without"]
        rows = [
            [column["name"], share(column["loss"]), share(column["part"]), share(column["others"]),
             share(column["others_without"]), share(column["unique_alone"]),
             share(column["unique_without"])]
            for column in self.columns
        ]  # fmt: skip
        return _html.block("What costs the detail", _html.table(heads, rows))


def frame_of(rows: list[dict[str, Any]]) -> Any:
    """Rows as a frame of pandas, else of polars, else as they are."""
    if _tables.has("pandas"):
        return _tables.needed("pandas", "pandas").DataFrame(rows)
    if _tables.has("polars"):
        return _tables.needed("polars", "polars").DataFrame(rows, infer_schema_length=None)
    return rows
