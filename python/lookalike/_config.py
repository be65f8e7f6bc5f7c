"""The request as a Python value, and keyword arguments laid over it column by column."""

from __future__ import annotations

import json
import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack

from . import _html, _lookalike
from ._errors import ConfigError, write_text
from ._hierarchies import KEYS as HIERARCHY_KEYS
from ._hierarchies import Hierarchy

if TYPE_CHECKING:
    from ._tables import Source

Names: TypeAlias = str | Sequence[str]
"""The name of a column, or several."""

Share: TypeAlias = float | str
"""A share: ``0.01``, ``"1%"`` or ``"1/100"``."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules on a sensitive column, made by `rules`; None where there is none of the kind."""

    l: int | None = None
    alpha: Share | None = None
    values: Sequence[str] | None = None
    distinct: int | None = None
    entropy: float | None = None
    recursive: tuple[float, int] | None = None
    t: Share | None = None
    distance: Literal["equal", "ordered", "hierarchical"] | None = None
    kind: Literal["numeric", "date", "ordinal", "categorical"] | None = None
    order: Sequence[str] | None = None
    hierarchy: Hierarchy | None = None
    dependent: bool | None = None

    def __repr__(self) -> str:
        given = {name: getattr(self, name) for name in self.__slots__}
        for name in ("values", "order"):  # values of the table
            if given[name] is not None:
                given[name] = f"<{len(given[name])}>"
        shown = [f"{name}={value!r}" for name, value in given.items() if value is not None]
        return f"rules({', '.join(shown)})"


def rules(
    *,
    l: int | None = None,
    alpha: Share | None = None,
    values: Sequence[str] | None = None,
    distinct: int | None = None,
    entropy: float | None = None,
    recursive: tuple[float, int] | None = None,
    t: Share | None = None,
    distance: Literal["equal", "ordered", "hierarchical"] | None = None,
    kind: Literal["numeric", "date", "ordinal", "categorical"] | None = None,
    order: Sequence[str] | None = None,
    hierarchy: Hierarchy | None = None,
    dependent: bool | None = None,
) -> Rules:
    """The rules on a sensitive column: what has to be true of its values in every class.

    Parameters
    ----------
    l : int, optional
        l-diversity: no value fills more than 1/l of a class.
    alpha : float or str, optional
        No value fills more than this share of a class; with `values`, not these together.
    values : list of str, optional
        The values that `alpha` is about.
    distinct : int, optional
        At least so many different values in a class.
    entropy : float, optional
        The entropy of the values of a class is at least the logarithm of this.
    recursive : (c, l), optional
        The commonest value is rarer than c times all from the l-th commonest on.
    t : float or str, optional
        t-closeness: the greatest distance of a class from the whole table.
    distance : {"equal", "ordered", "hierarchical"}, optional
        The ground distance of `t`.
    kind, order, hierarchy : optional
        How the values relate, for `distance`.
    dependent : bool, optional
        Publish the column although it determines a quasi-identifier.

    Examples
    --------
    >>> rules(l=3)
    rules(l=3)
    """
    return Rules(
        l=l,
        alpha=alpha,
        values=values,
        distinct=distinct,
        entropy=entropy,
        recursive=recursive,
        t=t,
        distance=distance,
        kind=kind,
        order=order,
        hierarchy=hierarchy,
        dependent=dependent,
    )


class RoleChanges(TypedDict, total=False):
    """Keyword arguments of all functions that change a configuration; None leaves it as it is."""

    keep: Names | None
    identifiers: Names | None
    person: Names | None
    sampling_weight: str | None
    accept_dependent: Names | None
    round: Mapping[str, float] | None
    top: Mapping[str, float] | None
    bottom: Mapping[str, float] | None
    hash: Names | None
    hash_key: str | os.PathLike[str] | None
    reasons: Mapping[str, str] | None
    rest: Literal["drop", "keep", "error"] | None
    persons: Literal["whole", "rows"] | None
    pseudonyms: bool | None
    count: str | None
    missing: Names | None
    accept_unique: bool | None
    suppress: Share | None


class CheckChanges(RoleChanges, total=False):
    """Those of `check`, beside the ones that it names itself."""

    population: str | os.PathLike[str] | None
    sampling_fraction: Share | None


class ExplainChanges(RoleChanges, total=False):
    """Those of `explain`, beside the ones that it names itself."""

    purpose: Names | None
    suppression_price: Share | None


class CompareChanges(RoleChanges, total=False):
    """Those of `compare`, beside the ones that it names itself."""

    purpose: Names | None
    publish: Literal["label", "set", "bounds", "center"] | None
    snap: bool | None
    suppression_price: Share | None
    steps: int | None
    rounds: int | None
    scheme: str | None
    cost: str | None
    non_homogeneous: bool | None


class VerifyChanges(RoleChanges, total=False):
    """Those of `verify`."""

    k: int | None
    quasi: Names | Mapping[str, Any] | None
    sensitive: Names | Mapping[str, Rules | Mapping[str, Any] | None] | None
    non_homogeneous: bool | None


class ApplyChanges(VerifyChanges, total=False):
    """Those of `apply`."""

    max_loss: Share | None
    codebook: bool | None
    publish: Literal["label", "set", "bounds", "center"] | None
    snap: bool | None


class ReportChanges(VerifyChanges, CheckChanges, total=False):
    """Those of `report`."""

    purpose: Names | None


class Changes(ApplyChanges, ReportChanges, CompareChanges, total=False):
    """All: those of `Config`, `anonymize` and `plan`."""

    algorithm: str | None
    time: float | str | timedelta | None
    seed: int | None


class Config(Mapping[str, Any]):
    """A request: roles of columns, rules, limits. It has the keys of the TOML file and is frozen.

    Parameters
    ----------
    request : mapping, optional
        Keys and values in the form of the TOML file (docs/configuration.md); hierarchies may also
        be those of `intervals`, `prefix`, `dates` and `hierarchy`.
    **changes
        The keyword arguments of `anonymize`, laid over the mapping column by column.

    Attributes
    ----------
    reasons : dict
        The reason for the role of each column that has one: its key ``reason``, else that of
        `suggest`.

    Examples
    --------
    >>> config = Config(k=5, quasi=["age", "zip"], sensitive=["diagnosis"], rest="drop")
    >>> config["k"], config["columns"]["age"]
    (5, {'role': 'quasi'})
    >>> config.with_(k=11, keep=["ward"])
    Config(k=11, rest='drop', quasi=['age', 'zip'], sensitive=['diagnosis'], keep=['ward'])
    >>> print(Config(k=2, quasi="age").to_toml().splitlines()[0])
    k = 2
    """

    __slots__ = ("_reasons", "_request")
    _request: dict[str, Any]
    _reasons: dict[str, str]

    def __init__(
        self, request: Mapping[str, Any] | None = None, /, **changes: Unpack[Changes]
    ) -> None:
        plain = _plain(dict(request or {}), "the request")
        merged = changed(plain, changes)
        _check(merged)
        object.__setattr__(self, "_request", merged)
        object.__setattr__(self, "_reasons", {})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Config cannot be changed: config.with_({name}=...) makes another")

    @classmethod
    def read(cls, path: str | os.PathLike[str], /) -> Config:
        """Reads a TOML file, or a JSON file if its name ends in ``.json``.

        Paths in the file are relative to its folder.
        """
        return cls(json.loads(_lookalike.read_request(os.fspath(path))))

    @classmethod
    def parse(cls, toml: str, /) -> Config:
        """Reads the text of a TOML file.

        Examples
        --------
        >>> Config.parse("k = 5")
        Config(k=5)
        """
        return cls(json.loads(_lookalike.parse_toml(toml)))

    def to_toml(self) -> str:
        """The text of a TOML file, for `read` and for the command ``lookalike``."""
        return _lookalike.write_toml(_json(self._request))

    def write(self, path: str | os.PathLike[str], /, *, force: bool = False) -> None:
        """Writes a TOML file; ``force=True`` replaces one that exists."""
        write_text(path, self.to_toml(), force=force)

    def with_(self, **changes: Unpack[Changes]) -> Config:
        """Another configuration: this one, with the keyword arguments of `anonymize` over it."""
        return _with_reasons(Config(self._request, **changes), self._reasons)

    @property
    def reasons(self) -> dict[str, str]:
        """The reason for the role of each column that has one."""
        columns = self._request.get("columns", {})
        own = {name: keys["reason"] for name, keys in columns.items() if keys.get("reason")}
        return {**self._reasons, **own}

    def names(self, role: str) -> list[str]:
        """The columns that have a role, in the order in which they were named.

        Those of a TOML file are in the order of the alphabet.

        Examples
        --------
        >>> Config(k=2, quasi=["zip", "age"]).names("quasi")
        ['zip', 'age']
        """
        columns = self._request.get("columns", {})
        return [name for name, keys in columns.items() if keys.get("role") == role]

    def __getitem__(self, key: str) -> Any:
        return json.loads(json.dumps(self._request[key]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._request)

    def __len__(self) -> int:
        return len(self._request)

    def __hash__(self) -> int:
        return hash(json.dumps(self._request, sort_keys=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuilt, (self._request, self._reasons))

    def __repr__(self) -> str:
        shown = {key: self._request[key] for key in ("k", "algorithm", "rest", "count")
                 if self._request.get(key) is not None}  # fmt: skip
        for role, name in _ROLE_NAMES.items():
            if names := self.names(role):
                shown[name] = names
        return f"Config({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def _repr_html_(self) -> str:
        rows = []
        for name, keys in self._request.get("columns", {}).items():
            others = ", ".join(key for key in keys if key not in ("role", "reason"))
            rows.append([name, keys.get("role", ""), others, self.reasons.get(name, "")])
        heads = ["column", "role", "further keys", "reason"]
        if not self.reasons:
            heads, rows = heads[:3], [row[:3] for row in rows]
        k = self._request.get("k")
        title = "Configuration" if k is None else f"Configuration, k = {k}"
        return _html.block(title, _html.table(heads, rows))


_ROLE_NAMES = {
    "quasi": "quasi",
    "sensitive": "sensitive",
    "identifier": "identifiers",
    "keep": "keep",
    "person": "person",
    "weight": "sampling_weight",
}

ConfigLike: TypeAlias = Config | Mapping[str, Any] | str | os.PathLike[str]
"""A configuration: a `Config`, a mapping in the form of the TOML file, or the path of a file."""


def _rebuilt(request: dict[str, Any], reasons: dict[str, str]) -> Config:
    return _with_reasons(Config(request), reasons)


def _with_reasons(config: Config, reasons: Mapping[str, str]) -> Config:
    object.__setattr__(config, "_reasons", dict(reasons))
    return config


def suggested(found: Mapping[str, Any]) -> Config:
    """The configuration that the native module suggests for a table."""
    reasons = {column["name"]: column["reason"] for column in found["columns"]}
    config = Config.parse(found["toml"])
    # Columns as the table has them, not by the alphabet.
    columns = config["columns"]
    ordered = {name: columns[name] for name in reasons if name in columns}
    return _with_reasons(Config({**config, "columns": {**ordered, **columns}}), reasons)


def config_of(config: ConfigLike | None, changes: Mapping[str, object]) -> Config:
    """The configuration of a call: what was given first, keyword arguments over it."""
    if isinstance(config, (str, os.PathLike)):
        config = Config.read(config)
    if config is not None and not isinstance(config, Mapping):
        way = "; k has its name before it, as in k=5" if isinstance(config, int) else ""
        raise TypeError(
            "a configuration is a lookalike.Config, a mapping in the form of the TOML file, or the "
            f"path of a file, not {type(config).__name__}{way}"
        )
    reasons = config._reasons if isinstance(config, Config) else {}
    merged = changed(_plain(dict(config or {}), "the request"), changes)
    return _with_reasons(Config(merged), reasons)


def quasi_of(config: Config) -> dict[str, dict[str, Any]]:
    """The quasi-identifiers with their keys."""
    columns = config._request.get("columns", {})
    return {name: keys for name, keys in columns.items() if keys.get("role") == "quasi"}


def unused_of(config: Config) -> Callable[[str], bool]:
    """Says of a column whether it is only dropped."""
    columns = config._request.get("columns", {})
    of_rest = "keep" if config.get("rest") == "keep" else "identifier"

    def unused(name: str) -> bool:
        role = columns.get(name, {}).get("role", of_rest)
        return role == "identifier" and name != config.get("count")

    return unused


def fitted(config: Config, source: Source) -> Config:
    """The request with what a frame says of its categories.

    Ordered ones are the order of a quasi-identifier that has no kind, order or hierarchy of its
    own, and those without an order make it categorical. Only categories that rows have go into
    the request.
    """
    columns = config.get("columns", {})
    for name, keys in quasi_of(config).items():
        if keys.keys() & {"kind", "order", "hierarchy"}:
            continue
        missing = ["", *config.get("missing", ())]
        order = [one for one in source.order(name) if one not in missing]
        if order:
            columns[name]["order"] = order
        elif source.has_codes(name):
            columns[name]["kind"] = "categorical"
    if columns == config.get("columns", {}):
        return config
    return _with_reasons(Config({**config, "columns": columns}), config._reasons)


def without_search(config: Config) -> Config:
    """The same request without the options of a search, for a recoding that is there already."""
    request = {key: value for key, value in config.items() if key not in _SEARCH}
    limits = request.pop("limits", {}).items()
    limits = {key: value for key, value in limits if key not in ("time", "suppression_price")}
    return Config(request | ({"limits": limits} if limits else {}))


_SEARCH = ("algorithm", "rounds", "steps", "scheme", "cost")


def request_text(config: Config) -> str:
    """The request as JSON, for the native module."""
    return _json(dict(config._request))


def refuse_unknown(
    function: str, given: Mapping[str, object], known: Any, own: Iterable[str] = ()
) -> None:
    """Refuses keyword arguments that a function would ignore; `own` are those that it names."""
    for name in given:
        if name not in known.__annotations__:
            raise no_keyword(function, name, [*known.__annotations__, *own])


def no_keyword(function: str, name: str, known: Iterable[str]) -> TypeError:
    """The error for a keyword argument that a function does not have.

    Examples
    --------
    >>> no_keyword("anonymize", "supress", ["k", "suppress"])
    TypeError("anonymize() has no keyword argument 'supress': did you mean 'suppress'?")
    """
    from difflib import get_close_matches

    close = get_close_matches("time" if name == "timeout" else name, list(known), 1)
    if name in ("l", "alpha", "distinct", "entropy", "recursive", "t") and "sensitive" in known:
        way = f": it is a rule on a sensitive column, sensitive={{'column': rules({name}=...)}}"
    else:
        way = f": did you mean {close[0]!r}?" if close else ""
    return TypeError(f"{function}() has no keyword argument {name!r}{way}")


def whole(name: str, number: Any, least: int) -> int:
    """A whole number, also one of numpy."""
    try:
        if isinstance(number, bool):
            raise TypeError
        found = operator.index(number)
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {type(number).__name__}") from None
    if found < least:
        raise ConfigError(f"{name} is a whole number from {least}", code="bad-option")
    return found


def _check_suppress(share: Any) -> None:
    """Refuses one percent that is written as 1."""
    try:
        percent = float(share)  # a text with % is none
    except (TypeError, ValueError):
        return
    if 1 <= percent < 100 and not isinstance(share, bool):
        raise ConfigError(
            "suppress is a share of the rows, below 1: for "
            f'{percent:g} percent write {percent / 100:g} or "{percent:g}%"',
            code="bad-suppress",
        )


def changed(request: dict[str, Any], changes: Mapping[str, object]) -> dict[str, Any]:
    """A request with keyword arguments over it, column by column.

    A column that is named for its role keeps its other keys if it had that role before; keys of
    another role would not fit and go.
    """
    refuse_unknown("Config", changes, Changes)
    given: dict[str, Any] = {name: value for name, value in changes.items() if value is not None}
    made = _copy(request)
    columns: dict[str, dict[str, Any]] = made.setdefault("columns", {})
    seen: dict[str, str] = {}
    for keyword, role in _KEYWORD_ROLES.items():
        if keyword not in given:
            continue
        for name, keys in _columns(given.pop(keyword), role, keyword).items():
            if seen.setdefault(name, keyword) != keyword:
                raise ConfigError(
                    f"column `{name}` is in both {seen[name]} and {keyword}: a column has one role",
                    code="column-conflict",
                    column=name,
                )
            before = columns.pop(name, {})
            same = before if before.get("role") == role else {}
            columns[name] = {"role": role, **same, **keys}
    for name in names_of(given.pop("accept_dependent", ()), "accept_dependent"):
        if given.get("rest", made.get("rest")) == "keep":
            columns.setdefault(name, {"role": "keep"})
        if columns.get(name, {}).get("role") not in ("keep", "sensitive"):
            raise ConfigError(
                f"column `{name}` of accept_dependent is neither kept nor sensitive: name it in "
                "keep or in sensitive too",
                code="no-role",
                column=name,
            )
        columns[name]["dependent"] = True
    for key in ("round", "top", "bottom"):
        limits = given.pop(key, {})
        if not isinstance(limits, Mapping):
            raise TypeError(f"{key} is a dict from the names of columns to numbers")
        for name, limit in limits.items():
            if name not in columns:
                raise ConfigError(
                    f"column `{name}` of {key} has no role: name it in keep or in sensitive too",
                    code="no-role",
                    column=name,
                )
            columns[name][key] = _plain(limit, name)
    for name in names_of(given.pop("hash", ()), "hash"):
        columns.setdefault(name, {"role": "identifier"})["hash"] = True
    if "hash_key" in given:
        given["hash_key"] = os.fspath(given["hash_key"])
    reasons = given.pop("reasons", {})
    if not isinstance(reasons, Mapping):
        raise TypeError("reasons is a dict from the names of columns to texts")
    for name, reason in reasons.items():
        if name not in columns:
            raise ConfigError(
                f"column `{name}` of reasons has no role: give it one too",
                code="no-role",
                column=name,
            )
        columns[name]["reason"] = str(reason)
    if given.get("rest") == "error":
        made.pop("rest", None)
        given.pop("rest")
    if "missing" in given:
        given["missing"] = names_of(given["missing"], "missing")
    if "purpose" in given:
        given["purpose"] = names_of(given["purpose"], "purpose")
    if "time" in given:
        given["time"] = _seconds(given["time"])
    if "suppress" in given:
        _check_suppress(given["suppress"])
    for name, least in _WHOLE.items():
        if name in given:
            given[name] = whole(name, given[name], least)
    for name, value in given.items():
        section = _SECTIONS.get(name)
        target = made if section is None else made.setdefault(section, {})
        target[name] = _plain(value, name)
    if not columns:
        del made["columns"]
    return made


_KEYWORD_ROLES = {
    "quasi": "quasi",
    "sensitive": "sensitive",
    "identifiers": "identifier",
    "keep": "keep",
    "person": "person",
    "sampling_weight": "weight",
}

_WHOLE = {"k": 1, "steps": 0, "rounds": 0, "seed": 0}

_SECTIONS = {
    "suppress": "limits",
    "suppression_price": "limits",
    "max_loss": "limits",
    "time": "limits",
    "publish": "output",
    "snap": "output",
    "pseudonyms": "output",
    "hash_key": "output",
    "codebook": "output",
    "population": "risk",
    "sampling_fraction": "risk",
}


def _columns(given: Any, role: str, keyword: str) -> dict[str, dict[str, Any]]:
    """The keys of each column that a keyword argument names."""
    if not isinstance(given, Mapping):
        return {name: {} for name in names_of(given, keyword)}
    of_value = _sensitive_keys if role == "sensitive" else _quasi_keys
    if role not in ("quasi", "sensitive"):
        raise TypeError(f"{keyword} is the name of a column or a list of names")
    return {str(name): of_value(value, str(name)) for name, value in given.items()}


def _quasi_keys(value: Any, name: str) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, Mapping):
        if value and set(value) <= HIERARCHY_KEYS:
            return {"hierarchy": _plain(value, name)}
        groups = (str, Mapping, list, tuple, set, frozenset)
        if not set(value) & _COLUMN_KEYS and all(isinstance(of, groups) for of in value.values()):
            raise ConfigError(
                f"quasi[{name!r}] is a dict that has no key of a column (kind, weight, order, "
                "hierarchy); a hierarchy as a dict is written hierarchy({...})",
                code="bad-request",
                column=name,
            )
        keys: dict[str, Any] = _plain(dict(value), name)
        return keys
    if isinstance(value, Hierarchy):
        return {"hierarchy": value.spec}
    if isinstance(value, (str, os.PathLike)):
        return {"hierarchy": str(os.fspath(value))}
    raise TypeError(
        f"quasi[{name!r}] is None, a hierarchy (intervals, prefix, dates, hierarchy), or a dict of "
        f"the keys of the column, such as {{'weight': 2}}, not {type(value).__name__}; a hierarchy "
        "as a list or a frame is written hierarchy(...)"
    )


_COLUMN_KEYS = {*Rules.__slots__, "role", "weight", "scheme", "reason", "conflict"}


def _sensitive_keys(value: Any, name: str) -> dict[str, Any]:
    if value is None:
        return {}
    keys = asdict(value) if isinstance(value, Rules) else value
    if not isinstance(keys, Mapping):
        raise TypeError(f"sensitive[{name!r}] is None, rules(...), or a dict of its keys")
    given = {key: value for key, value in keys.items() if value is not None}
    if isinstance(value, Rules) and value.hierarchy is not None:
        given["hierarchy"] = value.hierarchy
    if isinstance(given.get("recursive"), (tuple, list)):
        c, l = given["recursive"]
        given["recursive"] = {"c": c, "l": l}
    plain: dict[str, Any] = _plain(given, name)
    return plain


def names_of(names: Names, keyword: str) -> list[str]:
    """Names of columns; also those of a set, an Index or an array."""
    if isinstance(names, str):
        return [names]
    if not isinstance(names, Iterable) or isinstance(names, (bytes, Mapping)):
        raise TypeError(f"{keyword} is a text or a list of texts, not {type(names).__name__}")
    found = list(names)
    if strange := [type(name).__name__ for name in found if not isinstance(name, str)]:
        raise TypeError(f"{keyword} has texts, and one is of type {strange[0]}")
    return found


def _seconds(time: float | str | timedelta) -> str:
    if isinstance(time, timedelta):
        time = time.total_seconds()
    if isinstance(time, str):
        return time
    if isinstance(time, bool) or not hasattr(time, "__float__") or not math.isfinite(time):
        raise TypeError("time is a number of seconds, a text such as '5m', or a timedelta")
    return f"{float(time):f}s"


def _plain(value: Any, key: str) -> Any:
    """A value as JSON has it, also from tuples, paths, hierarchies and the numbers of numpy."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Hierarchy):
        return value.spec
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Rules):
        return _sensitive_keys(value, key)
    if isinstance(value, Mapping):
        inner = {str(name): _plain(of, str(name)) for name, of in value.items()}
        return {name: of for name, of in inner.items() if of is not None}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(of, key) for of in value]
    if hasattr(value, "item"):
        return value.item()
    raise ConfigError(
        f"`{key}` has a value of type {type(value).__name__}, which a configuration cannot have",
        code="bad-request",
    )


def _check(request: Mapping[str, Any]) -> None:
    """Refuses unknown keys and values of a wrong type."""
    try:
        _lookalike.write_toml(_json(request))
        return
    except ConfigError as error:
        if error.code != "bad-request":
            raise
        message = str(error)
    # The types are those of Rust.
    message = re.sub(r"invalid value, expected u(32|64)$", "expected a number from 0 on", message)
    message = re.sub(r"expected u(32|64)$", "expected a whole number", message)
    message = re.sub(r"expected f64$", "expected a number", message)
    raise ConfigError(message, code="bad-request")


def _copy(request: dict[str, Any]) -> dict[str, Any]:
    copied: dict[str, Any] = json.loads(_json(request))
    return copied


def _json(request: Mapping[str, Any]) -> str:
    try:
        return json.dumps(request, allow_nan=False)
    except ValueError:
        raise ConfigError("a number of the request is not finite", code="bad-request") from None
