"""The functions of the package: one for each command that has a table in and a result out."""

from __future__ import annotations

import functools
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from types import CodeType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias, TypeVar, Unpack

from . import _lookalike, _tables
from ._config import (
    ApplyChanges,
    Changes,
    CheckChanges,
    CompareChanges,
    Config,
    ConfigLike,
    ExplainChanges,
    Names,
    ReportChanges,
    RoleChanges,
    Rules,
    Share,
    VerifyChanges,
    config_of,
    fitted,
    names_of,
    no_keyword,
    quasi_of,
    refuse_unknown,
    request_text,
    suggested,
    unused_of,
    whole,
    without_search,
)
from ._errors import ConfigError, DataError, LookalikeWarning, read_text
from ._progress import Progress, Watch
from ._results import (
    Answers,
    Comparison,
    Explanation,
    Plan,
    Plot,
    Release,
    Report,
    Verdict,
    verdict,
)

if TYPE_CHECKING:
    from ._tables import Source, Table

Effort: TypeAlias = Literal["none", "quick", "full", "tight"]
T = TypeVar("T")
M = TypeVar("M", Release, Plan)
P = ParamSpec("P")


def _keywords(function: Callable[..., Any]) -> tuple[str, ...]:
    """The keyword arguments that a function names itself."""
    code: CodeType = function.__code__
    return code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]


def _named(function: Callable[P, T]) -> Callable[P, T]:
    """The function, with a hint where a keyword argument has a wrong name."""
    known = _keywords(function)

    @functools.wraps(function)
    def call(*args: P.args, **keywords: P.kwargs) -> T:
        for name in keywords:
            if name not in known:
                raise no_keyword(function.__name__, name, known)
        return function(*args, **keywords)

    return call


@_named
def anonymize(
    data: Table,
    config: ConfigLike | None = None,
    /,
    *,
    k: int | None = None,
    quasi: Names | Mapping[str, Any] | None = None,
    sensitive: Names | Mapping[str, Rules | Mapping[str, Any] | None] | None = None,
    keep: Names | None = None,
    identifiers: Names | None = None,
    rest: Literal["drop", "keep", "error"] | None = None,
    person: Names | None = None,
    persons: Literal["whole", "rows"] | None = None,
    pseudonyms: bool | None = None,
    suppress: Share | None = None,
    suppression_price: Share | None = None,
    max_loss: Share | None = None,
    publish: Literal["label", "set", "bounds", "center"] | None = None,
    snap: bool | None = None,
    codebook: bool | None = None,
    missing: Names | None = None,
    purpose: Names | None = None,
    count: str | None = None,
    sampling_weight: str | None = None,
    accept_unique: bool | None = None,
    accept_dependent: Names | None = None,
    round: Mapping[str, float] | None = None,
    top: Mapping[str, float] | None = None,
    bottom: Mapping[str, float] | None = None,
    hash: Names | None = None,
    hash_key: str | os.PathLike[str] | None = None,
    reasons: Mapping[str, str] | None = None,
    algorithm: str | None = None,
    time: float | str | timedelta | None = None,
    steps: int | None = None,
    rounds: int | None = None,
    seed: int | None = None,
    scheme: str | None = None,
    cost: str | None = None,
    non_homogeneous: bool | None = None,
    bound: Effort = "quick",
    verify: Literal["auto", "rules", "source", "full"] = "auto",
    threads: int | None = None,
    progress: bool | Callable[[Progress], object] = False,
    on_interrupt: Literal["raise", "keep"] = "raise",
) -> Release:
    """Makes a table k-anonymous and has the result audited.

    The rows of a release are sorted by what they show: nothing says which source row a row came
    from. Code that had no part in making the release has read it and found every rule satisfied.

    Parameters
    ----------
    data : table
        A DataFrame of pandas or polars, a lazy frame, a table or reader of pyarrow, a relation of
        duckdb, an ADBC cursor, anything else with ``__arrow_c_stream__``, or the path of a CSV,
        Parquet or Arrow file.
    config : Config, mapping or path, optional
        A `Config`, a mapping in the form of the TOML file, or the path of such a file. Keyword
        arguments win over it, column by column.
    k : int
        Every class has at least this many rows.
    quasi : list of str, or dict
        Quasi-identifiers: columns that others may know of a person; generalized. A dict gives each
        column a hierarchy (`intervals`, `prefix`, `dates`, `hierarchy`), None, or a dict of the
        keys of the column: ``{"zip": {"kind": "categorical", "weight": 2}}``.
    sensitive : list of str, or dict
        Columns that must not be inferred: published unchanged. A dict gives each its `rules`.
    keep, identifiers : list of str
        Columns to be published unchanged, and to be dropped.
    rest : {"drop", "keep", "error"}
        What happens to columns without a role.
    person : str or list of str
        The columns that name the person of a row: then persons are counted, not rows.
    persons : {"whole", "rows"}
        How rows of one person count; chosen by the table if absent.
    pseudonyms : bool
        Publish a random number for each person in place of the person key.
    suppress : float or str
        The greatest share of rows to suppress: 0.01 or "1%".
    suppression_price : float or str
        The price of a suppressed row, from 0 (every row goes that makes the others finer) to 1 (it
        costs as much as a row that publishes nothing); 0.25 if absent.
    max_loss : float or str
        The greatest loss to accept.
    publish : {"label", "set", "bounds", "center"}
        How ranges are published: ``[20-30]``, as sets, as two columns ``age_min``, ``age_max``, or
        as these and their middle, ``age_center``.
    snap : bool
        Publish the intervals of a hierarchy, not the exact ends of a class.
    codebook : bool
        Make a codebook: ``out.codebook``, and two files beside that of ``out.write``.
    missing : list of str
        Texts that mean missing, beside empty cells.
    purpose : list of str
        Kept or sensitive columns that the release is made for: quasi-identifiers without a weight
        of their own get one by what they tell about these columns.
    count : str
        The column that says for how many rows each row stands.
    sampling_weight : str
        The column with the sampling weight of a survey; published unchanged.
    accept_unique : bool
        With ``rest="keep"``: publish the columns although they make many rows unique.
    accept_dependent : list of str
        Publish these kept or sensitive columns although they determine a quasi-identifier.
    round, top, bottom : dict
        Numbers of kept or sensitive columns are published coarser: ``round={"pay": 100}`` as the
        nearest multiple of 100, ``top={"pay": 9000}`` at most as 9000, ``bottom`` at least so.
    hash : list of str
        Identifiers that are published as keyed hashes; no two rows may have the same.
    hash_key : path
        The file with the secret key of the hashes; a new random key when absent.
    reasons : dict
        Why each column has its role: texts for the record of `report`.
    algorithm : str
        "auto" if absent; docs/algorithms.md has the names.
    time : float, str or timedelta
        The time limit of the search: seconds, or a text such as "5m".
    steps : int
        The length of the search of "auto", in place of a time: the same release on every machine.
    rounds, scheme, cost, non_homogeneous : optional
        Options of some algorithms (docs/configuration.md).
    seed : int
        The random seed, only to repeat a run; keep it secret.
    bound : {"none", "quick", "full", "tight"}
        The effort for the lower bound on the loss.
    verify : {"auto", "rules", "source", "full"}
        The effort of the audit: the rules alone, also the comparison with the source, or with
        rows matched anew. "auto" compares where that takes no longer than the search.
    threads : int
        The number of threads; all cores if absent.
    progress : bool or callable
        True shows a bar (of tqdm, where it is installed). A callable gets a `Progress` some times
        a second; an exception in it ends the run.
    on_interrupt : {"raise", "keep"}
        What Ctrl-C does to a search: raise KeyboardInterrupt, or keep the best release so far,
        audited; its status is "stopped".

    Returns
    -------
    Release

    Raises
    ------
    ConfigError
        The request makes no sense, or a column has no role.
    DataError
        The table does not fit the request.
    HierarchyError
        A hierarchy is wrong; ``.column`` and ``.line`` say where.
    Infeasible
        No release can satisfy the rules; the message names the nearest request that can be met.
    FileError
        A file cannot be read, or a stream failed: then ``__cause__`` has the words of its producer.
        It is an OSError, and a FileNotFoundError where there is no such file.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [34, 36, 51, 58], "sex": ["f", "f", "m", "m"]})
    >>> release = anonymize(people, k=2, quasi=["age", "sex"])
    >>> release.frame
           age sex
    0  [34-36]   f
    1  [34-36]   f
    2  [51-58]   m
    3  [51-58]   m
    >>> release.verdict
    Verdict(holds=True, k=2, rows=4, classes=2)
    """
    changes: dict[str, object] = {
        "k": k,
        "quasi": quasi,
        "sensitive": sensitive,
        "keep": keep,
        "identifiers": identifiers,
        "rest": rest,
        "person": person,
        "persons": persons,
        "pseudonyms": pseudonyms,
        "suppress": suppress,
        "suppression_price": suppression_price,
        "max_loss": max_loss,
        "publish": publish,
        "snap": snap,
        "codebook": codebook,
        "missing": missing,
        "count": count,
        "purpose": purpose,
        "sampling_weight": sampling_weight,
        "accept_unique": accept_unique,
        "accept_dependent": accept_dependent,
        "round": round,
        "top": top,
        "bottom": bottom,
        "hash": hash,
        "hash_key": hash_key,
        "reasons": reasons,
        "algorithm": algorithm,
        "time": time,
        "steps": steps,
        "rounds": rounds,
        "seed": seed,
        "scheme": scheme,
        "cost": cost,
        "non_homogeneous": non_homogeneous,
    }
    source = _tables.source_of(data)
    request = fitted(config_of(config, changes), source)
    texts = {
        "recoding": request.get("algorithm") in ("optimal", "incognito"),
        "with_proof": _has_proof(request),
    }
    options = _options(threads, bound=bound, verify=verify, on_interrupt=on_interrupt, **texts)
    with Watch(progress) as watch:
        native = _read(
            source,
            request,
            lambda table: _lookalike.anonymize(table, request_text(request), options, watch),
        )
    return _warned(Release(native, source, request, _numbers(native)))


def plan(
    counts: Table,
    config: ConfigLike | None = None,
    /,
    *,
    bound: Effort = "quick",
    threads: int | None = None,
    progress: bool | Callable[[Progress], object] = False,
    on_interrupt: Literal["raise", "keep"] = "raise",
    **changes: Unpack[Changes],
) -> Plan:
    """Plans a release of a table that stays in its database, from distinct tuples with counts.

    Parameters
    ----------
    counts : table
        The distinct tuples of the quasi-identifiers and the sensitive columns under a rule, with
        the number of rows of each, as ``GROUP BY`` makes them.
    config, **changes
        As in `anonymize`; ``count="n"`` names the column with the numbers.

    Returns
    -------
    Plan
        What is published for how many rows of each tuple, to be joined with the rows
        (docs/plan.md). It has original values: it is as secret as the table.

    Examples
    --------
    >>> import pandas as pd
    >>> tuples = pd.DataFrame({"age": [34, 36, 51], "n": [1, 2, 3]})
    >>> plan(tuples, k=3, quasi=["age"], count="n").frame.columns.tolist()
    ['age', 'published_age', 'first_row', 'last_row', 'suppressed']
    """
    _refuse_unknown(plan, changes, Changes)
    source = _tables.source_of(counts)
    request = config_of(config, changes)
    options = _options(threads, bound=bound, on_interrupt=on_interrupt)
    with Watch(progress) as watch:
        native = _read(
            source,
            None,  # a plan is joined with the rows by their own cells
            lambda table: _lookalike.plan(table, request_text(request), options, watch),
        )
    return _warned(Plan(native, source, request, _numbers(native)))


def apply(
    recoding: str | os.PathLike[str] | Release,
    data: Table,
    config: ConfigLike | None = None,
    /,
    *,
    verify: Literal["auto", "rules", "source", "full"] = "auto",
    threads: int | None = None,
    progress: bool | Callable[[Progress], object] = False,
    on_interrupt: Literal["raise", "keep"] = "raise",
    **changes: Unpack[ApplyChanges],
) -> Release:
    """Releases further rows with the recoding of an earlier release.

    Parameters
    ----------
    recoding : Release, text or path
        An earlier release of "optimal" or "incognito", the text of its recoding, or the path of a
        recoding file.
    data : table
        The further rows.
    config, **changes
        As in `anonymize`; if absent, the configuration of the earlier release.

    Examples
    --------
    >>> import pandas as pd
    >>> from lookalike import intervals
    >>> people = pd.DataFrame({"age": [34, 36, 51, 58]})
    >>> first = anonymize(people, k=2, quasi={"age": intervals(10, 20)}, algorithm="optimal")
    >>> apply(first, people).frame["age"].tolist()
    ['[34-36]', '[34-36]', '[51-58]', '[51-58]']
    """
    _refuse_unknown(apply, changes, ApplyChanges)
    if isinstance(recoding, Release):
        config = without_search(recoding.config) if config is None else config
        if recoding.recoding is None:
            raise ConfigError(
                'this release has no recoding: only algorithm="optimal" and "incognito" make one',
                code="no-recoding",
            )
        text = recoding.recoding
    else:
        text = _text(recoding)
    source = _tables.source_of(data)
    request = fitted(config_of(config, changes), source)
    options = _options(threads, verify=verify, on_interrupt=on_interrupt)
    with Watch(progress) as watch:
        native = _read(
            source,
            request,
            lambda table: _lookalike.apply(text, table, request_text(request), options, watch),
        )
    return _warned(Release(native, source, request, _numbers(native)))


def check(
    data: Table,
    config: ConfigLike | None = None,
    /,
    *,
    k: int | None = None,
    quasi: Names | Mapping[str, Any] | None = None,
    sensitive: Names | Mapping[str, Rules | Mapping[str, Any] | None] | None = None,
    threads: int | None = None,
    **changes: Unpack[CheckChanges],
) -> Verdict:
    """Measures a table as it is: does it satisfy the rules already?

    Parameters
    ----------
    data, config, k, quasi, sensitive, **changes
        As in `anonymize`. ``population=`` (the path of a table of the population) and
        ``sampling_fraction=`` are for the measures of risk in ``.numbers``.

    Returns
    -------
    Verdict
        True when every rule holds.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [34, 34, 51, 58], "sex": ["f", "f", "m", "m"]})
    >>> check(people, k=2, quasi=["age", "sex"])
    Verdict(holds=False, k=1, rows=4, classes=3, broken=['k = 2 on age, sex'])
    >>> assert check(people, k=2, quasi=["sex"])
    """
    _refuse_unknown(check, changes, CheckChanges)
    given: dict[str, object] = {"k": k, "quasi": quasi, "sensitive": sensitive, **changes}
    source = _tables.source_of(data)
    request = fitted(config_of(config, given), source)
    text = _read(
        source,
        request,
        lambda table: _lookalike.check(table, request_text(request), _options(threads)),
    )
    found = verdict(json.loads(text))
    _warn(found.warnings)
    return found


def explain(
    data: Table,
    config: ConfigLike | None = None,
    /,
    *,
    k: int | None = None,
    quasi: Names | Mapping[str, Any] | None = None,
    sensitive: Names | Mapping[str, Rules | Mapping[str, Any] | None] | None = None,
    time: float | str | timedelta | None = None,
    threads: int | None = None,
    **changes: Unpack[ExplainChanges],
) -> Explanation:
    """Explains what costs the detail of a release, and what would help.

    Quick searches, all by one algorithm, and no release. The numbers are counted in the table: keep
    them as confidential.

    Parameters
    ----------
    data, config, k, quasi, sensitive, **changes
        As in `anonymize`.
    time : float, str or timedelta
        The time limit of all searches together; ten seconds if absent.

    Returns
    -------
    Explanation
        ``.helps`` has what would help, the greatest gain first; ``.frame`` a row for each column.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [34, 36, 51, 58], "sex": ["f", "m", "f", "m"]})
    >>> found = explain(people, k=2, quasi=["age", "sex"])
    >>> [column["name"] for column in found.columns], found.helps[0].split(",")[0]
    (['age', 'sex'], 'without column sex')
    """
    _refuse_unknown(explain, changes, ExplainChanges)
    given: dict[str, object] = {
        "k": k,
        "quasi": quasi,
        "sensitive": sensitive,
        "time": time,
        **changes,
    }
    source = _tables.source_of(data)
    request = fitted(config_of(config, given), source)
    text = _read(
        source,
        request,
        lambda table: _lookalike.explain(table, request_text(request), _options(threads)),
    )
    found = Explanation(json.loads(text))
    _warn(found.numbers["warnings"])
    return found


def verify(
    release: Table | Release | Plan,
    config: ConfigLike | None = None,
    /,
    *,
    source: Table | None = None,
    proof: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    **changes: Unpack[VerifyChanges],
) -> Verdict:
    """Checks a release with independent code, alone or against its source.

    Parameters
    ----------
    release : table or Release
        Any released table, also one that another program made. (A `Plan` is verified against the
        tuples that it was made from, with ``source=``.)
    config, **changes
        As in `anonymize`; if absent, the configuration of a `Release`.
    source : table, optional
        The table that the release was made from: every released row must cover a row of its own.
    proof : text or path, optional
        The proof of a release with persons or of rings; if absent, that of a `Release`.

    Returns
    -------
    Verdict
        ``verdict.raise_if_broken()`` raises `RuleBroken` unless every rule holds.

    Examples
    --------
    >>> import pandas as pd
    >>> theirs = pd.DataFrame({"age": ["[30-39]"] * 3, "sex": ["f", "f", "*"]})
    >>> verify(theirs, k=2, quasi=["age", "sex"]).holds
    False
    """
    _refuse_unknown(verify, changes, VerifyChanges)
    if isinstance(release, (Release, Plan)):
        config = release.config if config is None else config
    options: dict[str, Any] = {}
    if proof is not None:
        options["proof"] = _text(proof)
    elif isinstance(release, Release) and release.proof is not None:
        options["proof"] = release.proof
        source = release._again(source)  # a proof is about its rows
    if isinstance(release, Plan):
        options["plan"] = True
    of = _tables.source_of(release)
    against = None if source is None else _tables.source_of(source)
    request = config_of(config, changes)
    if against is not None and not isinstance(release, Plan):
        request = fitted(request, against)
    is_plan = isinstance(release, Plan)
    quasi, unused = ({}, None) if is_plan else (quasi_of(request), unused_of(request))
    text = _read(
        of,
        None,
        lambda table: _lookalike.verify(
            table,
            request_text(request),
            None if against is None else against.native(quasi, unused),
            _options(threads, **options),
        ),
        against,
    )
    return verdict(json.loads(text))


def compare(
    data: Table,
    config: ConfigLike | None = None,
    /,
    *,
    k: int | Sequence[int] = (2, 5, 10),
    algorithms: Names | None = None,
    time: float | str | timedelta | None = 10,
    queries: int = 1000,
    bound: Effort = "quick",
    threads: int | None = None,
    progress: bool | Callable[[Progress], object] = False,
    on_interrupt: Literal["raise", "keep"] = "raise",
    quasi: Names | Mapping[str, Any] | None = None,
    sensitive: Names | Mapping[str, Rules | Mapping[str, Any] | None] | None = None,
    seed: int | None = None,
    **changes: Unpack[CompareChanges],
) -> Comparison:
    """Compares algorithms and values of k on one table: loss, bound, error of queries, time.

    No release is made. The numbers are counted in the table: keep them as confidential.

    Parameters
    ----------
    data, config, quasi, sensitive, **changes
        As in `anonymize`.
    k : list of int
        The values of k.
    algorithms : list of str, optional
        Their names; if absent, the usual ones.
    time : float, str or timedelta
        The time limit of each search.
    queries : int
        The number of random counts that each result answers; 0 for none.

    Returns
    -------
    Comparison
        ``.frame`` has a row for each search, ``.plot()`` a picture; a notebook shows both.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": range(20, 60), "sex": ["f", "m"] * 20})
    >>> found = compare(people, k=[2, 5], algorithms=["mondrian"], quasi=["age", "sex"], queries=0)
    >>> [(row["algorithm"], row["k"], row["classes"]) for row in found.rows]
    [('mondrian', 2, 16), ('mondrian', 5, 8)]
    """
    _refuse_unknown(compare, changes, CompareChanges)
    given: dict[str, object] = {
        "time": time,
        "seed": seed,
        "quasi": quasi,
        "sensitive": sensitive,
        **changes,
    }
    source = _tables.source_of(data)
    request = fitted(config_of(config, given), source)
    several = k if isinstance(k, Iterable) else [k]
    options: dict[str, Any] = {"k": [whole("k", one, 1) for one in several], "bound": bound}
    options["random"] = whole("queries", queries, 0)
    if algorithms is not None:
        options["algorithms"] = names_of(algorithms, "algorithms")
    said = _options(threads, on_interrupt=on_interrupt, **options)
    watcher = Watch(progress)
    with watcher as watch:
        text = _read(
            source,
            request,
            lambda table: _lookalike.compare(table, request_text(request), said, watch),
        )
    _warn(watcher.warnings)
    found: dict[str, Any] = json.loads(text)
    if not found["runs"]:
        raise KeyboardInterrupt  # before there was anything to keep
    files: dict[str, str] = found.pop("plots")
    named = {file.removesuffix(".svg"): svg for file, svg in files.items()}
    return Comparison(found, {name: Plot(name, svg) for name, svg in named.items()})


def suggest(data: Table, /, *, threads: int | None = None) -> Config:
    """Suggests a role for each column, with a reason: read each and decide.

    Returns
    -------
    Config
        Its ``reasons`` say why; ``config.with_(keep=["ward"])`` corrects it; ``config.write(path)``
        keeps it.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"name": ["Ada", "Bob"], "age": [34, 36], "diagnosis": ["flu"] * 2})
    >>> suggest(people)
    Config(k=5, quasi=['age'], sensitive=['diagnosis'], identifiers=['name'])
    """
    source = _tables.source_of(data)
    text = _read(source, None, lambda table: _lookalike.suggest(table, _options(threads)))
    found: dict[str, Any] = json.loads(text)
    _warn(found["warnings"])
    return suggested(found)


def report(
    source: Table,
    release: Table | Release,
    config: ConfigLike | None = None,
    /,
    *,
    edition: Literal["internal", "public"] = "internal",
    queries: int = 1000,
    bound: Effort = "quick",
    date: str | date | None = None,
    proof: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    **changes: Unpack[ReportChanges],
) -> Report:
    """Audits a release against its source and makes one page: verdict, loss, remaining risk.

    Parameters
    ----------
    source, release : table
        The table, and the release that was made from it.
    config, **changes
        As in `anonymize`; if absent, the configuration of a `Release`.
    edition : {"internal", "public"}
        "internal" has counts of the source: as confidential as the source. "public" is made to go
        with the release.
    queries : int
        The number of random counts with one, with two and with all conditions; 0 for none.
    date : date or str, optional
        The day of the record, "2026-11-18"; today in UTC if absent, or the day of
        ``SOURCE_DATE_EPOCH``.
    proof : text or path, optional
        The proof of a release with persons or of rings; if absent, that of a `Release`.

    Returns
    -------
    Report
        ``.html``, ``.numbers``, ``.write(path)``; a notebook shows the page in a frame that runs
        no script.
    """
    _refuse_unknown(report, changes, ReportChanges)
    options: dict[str, Any] = {"edition": edition, "bound": bound}
    options["random"] = whole("queries", queries, 0)
    if date is not None:
        options["date"] = str(date)
    if isinstance(release, Release):
        config = release.config if config is None else config
        proof = release.proof if proof is None else proof
    if proof is not None:
        options["proof"] = _text(proof)
    table = _tables.source_of(source)
    request = fitted(config_of(config, changes), table)
    of = _tables.source_of(release)
    said = _options(threads, **options)
    watcher = Watch(False)
    with watcher as watch:
        html, numbers = _read(
            table,
            request,
            lambda rows: _lookalike.report(rows, of.native(), request_text(request), said, watch),
            of,
        )
    _warn(watcher.warnings)
    return Report(html, json.loads(numbers))


def query(
    source: Table,
    release: Table | Release,
    config: ConfigLike | None = None,
    queries: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | None = None,
    /,
    *,
    random: int = 1000,
    on: Names = (),
    sum: str | None = None,
    seed: int = 1,
    each: bool = False,
    threads: int | None = None,
    quasi: Names | Mapping[str, Any] | None = None,
    sensitive: Names | Mapping[str, Rules | Mapping[str, Any] | None] | None = None,
    **changes: Unpack[RoleChanges],
) -> Answers:
    """Counts and sums from a release, compared with the true answers of its source.

    Parameters
    ----------
    source, release : table
        The table, and the release that was made from it.
    config, **changes
        As in `anonymize`; if absent, the configuration of a `Release`.
    queries : list of dict, text or path, optional
        Queries of your own (docs/queries.md), in place of random ones:
        ``{"where": {"age": [20, 30], "sex": "f"}}``, with ``"sum": "age"`` for a sum.
    random, on, sum, seed
        The number of random queries, the columns of their conditions, the column of the sums, and
        the seed.
    each : bool
        Also every query with its true answer, in ``.each``: as confidential as the source.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [34, 36, 51, 58], "sex": ["f", "f", "m", "m"]})
    >>> release = anonymize(people, k=2, quasi=["age", "sex"])
    >>> query(people, release, None, [{"where": {"sex": "f"}}])
    Answers(count: 1 queries, median error 0.000)
    """
    _refuse_unknown(query, changes, RoleChanges)
    options: dict[str, Any] = {"each": bool(each)}
    if queries is None:
        options |= {"random": whole("random", random, 1), "seed": whole("seed", seed, 0)}
        options["on"] = names_of(on, "on")
        if sum is not None:
            options["sum"] = names_of(sum, "sum")[0]
    elif on or sum is not None:
        raise ConfigError(
            "on and sum are for random queries: queries of your own have `where` and `sum`",
            code="bad-option",
        )
    else:
        options["queries"] = _queries(queries)
    if isinstance(release, Release) and config is None:
        config = release.config
    given: dict[str, object] = {"quasi": quasi, "sensitive": sensitive, **changes}
    table = _tables.source_of(source)
    request = fitted(config_of(config, given), table)
    of = _tables.source_of(release)
    text = _read(
        table,
        request,
        lambda rows: _lookalike.query(
            rows, of.native(), request_text(request), _options(threads, **options)
        ),
        of,
    )
    return Answers(json.loads(text))


def _refuse_unknown(function: Callable[..., Any], given: Mapping[str, object], of: Any) -> None:
    """Refuses keyword arguments that a function would ignore."""
    refuse_unknown(function.__name__, given, of, _keywords(function))


def _read(
    source: Source, request: Config | None, call: Callable[[Any], T], other: Source | None = None
) -> T:
    """Calls the native module with a table that the request is about; explains an empty stream."""
    try:
        if request is None:
            return call(source.native())
        return call(source.native(quasi_of(request), unused_of(request)))
    except DataError as error:
        if error.code == "no-rows" and any(one and one.may_be_empty for one in (source, other)):
            error.add_note("a stream can be read once: perhaps it was read before")
        raise


_CHOICES = {
    "bound": ("none", "quick", "full", "tight"),
    "verify": ("auto", "rules", "source", "full"),
    "on_interrupt": ("raise", "keep"),
    "edition": ("internal", "public"),
}


def _options(threads: int | None, **options: Any) -> str:
    given = {name: value for name, value in options.items() if value is not None}
    for name, choices in _CHOICES.items():
        if given.get(name, choices[0]) not in choices:
            known = ", ".join(repr(choice) for choice in choices)
            raise ConfigError(f"{name} is one of {known}", code="unknown-name")
    if threads is not None:
        given["threads"] = whole("threads", threads, 1)
    return json.dumps(given)


def _has_proof(config: Config) -> bool:
    """True where a release cannot be verified later without its proof."""
    return bool(config.get("non_homogeneous")) or bool(config.names("person"))


def _numbers(native: _lookalike.Release) -> dict[str, Any]:
    numbers: dict[str, Any] = json.loads(native.numbers)
    return numbers


def _warned(made: M) -> M:
    _warn(made.warnings)
    return made


def _warn(texts: Sequence[str]) -> None:
    """Warns in the name of the line that called the package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(f"{__package__}."):
        level, frame = level + 1, frame.f_back
    for text in texts:
        warnings.warn(text, LookalikeWarning, stacklevel=level)


def _text(text_or_path: str | os.PathLike[str]) -> str:
    """The text of a recoding or proof: itself, or what the file of that path has."""
    if isinstance(text_or_path, str) and "\n" in text_or_path:
        return text_or_path
    return read_text(text_or_path)


def _queries(queries: str | os.PathLike[str] | Sequence[Mapping[str, Any]]) -> str:
    """Queries as the text of a TOML file."""
    if isinstance(queries, (str, os.PathLike)):
        return _text(queries)
    parts = []
    listed = isinstance(queries, Iterable) and not isinstance(queries, Mapping)
    if not listed or not all(isinstance(one, Mapping) for one in queries):
        raise TypeError(
            "queries are a list of dicts, as in [{'where': {'age': [20, 30]}}], not "
            f"{type(queries).__name__ if not listed else 'a list of others'}"
        )
    for one in queries:
        unknown = set(one) - {"where", "sum"}
        if unknown:
            raise ConfigError(
                f"a query has `where` and `sum`, not {', '.join(sorted(map(repr, unknown)))}",
                code="bad-query",
            )
        parts.append("[[query]]")
        parts += [f"{key} = {_toml(value)}" for key, value in one.items() if value is not None]
    return "\n".join(parts) + "\n"


def _toml(value: Any) -> str:
    """A condition of a query as TOML.

    Examples
    --------
    >>> _toml({"age": [20, 30], "sex": "f"})
    '{ "age" = [20, 30], "sex" = "f" }'
    """
    if isinstance(value, str):
        # TOML's strings are those of JSON, except for one control character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_toml(str(key))} = {_toml(of)}" for key, of in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, (list, tuple, set, frozenset)):
        return f"[{', '.join(_toml(one) for one in value)}]"
    if isinstance(value, date):
        return value.isoformat()
    if hasattr(value, "item"):  # of numpy
        value = value.item()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return repr(value)
    raise TypeError(
        "a condition of a query has texts, finite numbers, truth values and dates, or a list of "
        f"them, not {type(value).__name__}"
    )
