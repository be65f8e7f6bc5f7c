"""Errors of engines, without their words: those may hold cells of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from .._errors import ConfigError, LookalikeError

Made = TypeVar("Made")


class EngineError(LookalikeError):
    """An engine could not do a step. Its own words may hold cells, so they are left out.

    Attributes
    ----------
    engine : str
        Its name.
    engine_class : str
        The class of the engine's own exception.
    sqlstate : str or None
        Its SQLSTATE or condition, where it has one.
    """

    def __init__(self, engine: str, engine_class: str, sqlstate: str | None) -> None:
        state = f", {sqlstate}" if sqlstate else ""
        super().__init__(
            f"{engine} could not run a statement ({engine_class}{state}); its own words are left "
            "out, because they may hold cells of the table: its log has them",
            code="engine-failed",
        )
        self.engine = engine
        self.engine_class = engine_class
        self.sqlstate = sqlstate

    def __reduce__(self) -> tuple[object, ...]:
        return (EngineError, (self.engine, self.engine_class, self.sqlstate), self.__dict__)


def without_words(call: Callable[[], Made], failed: Callable[[Exception], BaseException]) -> Made:
    """What a call returns. Its error is replaced, and the new one keeps nothing of the old one:
    ``from None`` would only hide it.

    Examples
    --------
    >>> try:
    ...     without_words(lambda: int("a cell"), lambda _: EngineError("Any", "ValueError", None))
    ... except EngineError as error:
    ...     print(error.__cause__, error.__context__)
    None None
    """
    try:
        return call()
    except Exception as error:
        found = failed(error)
    raise found


def each_without_words(
    made: Iterator[Made], failed: Callable[[Exception], BaseException]
) -> Iterator[Made]:
    """As `without_words`, for what comes one by one."""
    end = object()
    while True:
        one = without_words(lambda: next(made, end), failed)
        if one is end:
            return
        yield one  # type: ignore[misc]


def no_table(_: object = None) -> ConfigError:
    """The error for a table that is not there."""
    return ConfigError(
        "the engine has no such table, or the name of its schema is missing; names are taken as "
        "they are written, as in 'schema.patients'",
        code="no-table",
    )


def taken(into: str) -> ConfigError:
    """The error for a target that exists."""
    return ConfigError(
        f"there is a table or file {into} already: choose another name, or pass replace=True",
        code="table-exists",
    )


def target_is_source() -> ConfigError:
    """The error for a release that would replace its source."""
    return ConfigError(
        "the release would replace its source: choose another name", code="target-is-source"
    )
