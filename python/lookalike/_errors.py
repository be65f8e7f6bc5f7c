"""Exceptions whose parts a program can read. No message holds the value of a cell."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any


class LookalikeWarning(UserWarning):
    """Something that the reader of a release should know; the run went on."""


class LookalikeError(Exception):
    """The base of all exceptions of this package.

    Attributes
    ----------
    code : str
        A stable name of the error, listed in docs/errors.md; match this, not the words.
    reason : str
        What is wrong, without the ways out.
    column, row, line, file : optional
        Where it is wrong: the name of a column, the number of a data row from 1, the line of a
        hierarchy or configuration file, the path of a file. None where that is not known.
    hints : list of dict
        Alternative ways out, the likeliest first; each has ``"way"`` and ``"words"``.

    Examples
    --------
    >>> try:
    ...     raise ConfigError("k must be at least 1", code="bad-rule-value")
    ... except LookalikeError as error:
    ...     print(error.code, "-", error)
    bad-rule-value - k must be at least 1
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        reason: str | None = None,
        column: str | None = None,
        row: int | None = None,
        line: int | None = None,
        file: str | None = None,
        hints: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = message if reason is None else reason
        self.column = column
        self.row = row
        self.line = line
        self.file = file
        self.hints: list[dict[str, Any]] = [dict(hint) for hint in hints]

    def __reduce__(self) -> tuple[Any, ...]:
        # The arguments of an exception are pickled by position; ours have names.
        return (type(self), self.args, self.__dict__)


class ConfigError(LookalikeError, ValueError):
    """The request makes no sense, or does not fit the table."""


class DataError(LookalikeError, ValueError):
    """The table is wrong, or another input is."""


class HierarchyError(DataError):
    """A hierarchy is wrong; ``column`` and ``line`` say where."""


class Infeasible(LookalikeError):
    """No release can meet the request; the message names the nearest request that can be met."""


class Exhausted(LookalikeError):
    """Time, memory or threads ran out before there was a release."""


class NotVerified(LookalikeError):
    """A bug of this package: the release did not pass its audit, and was not handed out."""


class RuleBroken(LookalikeError):
    """A table does not satisfy the rules: raised by `Verdict.raise_if_broken`."""


class FileError(LookalikeError, OSError):
    """A file cannot be read or written, or a stream failed.

    It is also a FileNotFoundError, FileExistsError, PermissionError or IsADirectoryError where
    that is the reason, and has ``errno`` and ``filename`` where they are known.
    """

    def __init__(self, message: str, *, errno: int | None = None, **fields: Any) -> None:
        super().__init__(message, **fields)
        self.errno, self.strerror, self.filename = errno, self.reason, self.file

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        parts = {name: getattr(self, name) for name in ("errno", "strerror", "filename")}
        return (type(self), self.args, {**vars(self), **parts})


class FileMissing(FileError, FileNotFoundError):
    """There is no such file."""


class FileExists(FileError, FileExistsError):
    """The file exists, and was not to be replaced."""


class FileDenied(FileError, PermissionError):
    """The system does not allow it."""


class FileIsFolder(FileError, IsADirectoryError):
    """The file is a folder."""


_KINDS: dict[str, type[LookalikeError]] = {
    "request": ConfigError,
    "hierarchy": HierarchyError,
    "data": DataError,
    "infeasible": Infeasible,
    "exhausted": Exhausted,
    "not-verified": NotVerified,
}

_FILES: dict[str, tuple[type[FileError], int]] = {
    "not-found": (FileMissing, errno.ENOENT),
    "no-hierarchy-file": (FileMissing, errno.ENOENT),
    "file-exists": (FileExists, errno.EEXIST),
    "permission-denied": (FileDenied, errno.EACCES),
    "is-a-folder": (FileIsFolder, errno.EISDIR),
    "read-only": (FileError, errno.EROFS),
    "disk-full": (FileError, errno.ENOSPC),
    "broken-pipe": (FileError, errno.EPIPE),
}


def raised(text: str, cause: str | None = None) -> BaseException:
    """The exception for an error of the native module.

    Parameters
    ----------
    text : str
        The error as JSON: kind, code, place, reason, hints, message, os_error.
    cause : str, optional
        The words of the producer of a stream that failed; they become ``__cause__``.

    Examples
    --------
    >>> error = raised('{"kind": "data", "code": "no-rows", "message": "the table has no rows"}')
    >>> type(error).__name__, str(error), error.code
    ('DataError', 'the table has no rows', 'no-rows')
    """
    fields: dict[str, Any] = json.loads(text)
    error = _exception(fields)
    if cause is not None:
        error.__cause__ = RuntimeError(cause)
    return error


def _exception(fields: dict[str, Any]) -> BaseException:
    kind, code = fields.get("kind", ""), fields.get("code") or ""
    reason = fields.get("reason") or fields.get("message") or ""
    message = fields.get("message") or reason
    place: dict[str, Any] = fields.get("place") or {}
    if kind == "interrupted":
        return KeyboardInterrupt(message)
    of: dict[str, Any] = {
        "code": code,
        "reason": reason,
        "hints": fields.get("hints") or (),
        **{name: place.get(name) for name in ("column", "row", "line", "file")},
    }
    if kind == "io" or code == "file-exists":
        made, number = _FILES.get(code, (FileError, None))
        number = fields.get("os_error") or number
        return made(message.removesuffix(f" (os error {number})"), errno=number, **of)
    return _KINDS.get(kind, LookalikeError)(message, **of)


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file."""
    try:
        with open(os.fspath(path), encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise _failed(error, path) from None


def write_text(
    path: str | os.PathLike[str], text: str, *, force: bool, secret: bool = False
) -> None:
    """Writes a file; a secret one is for its owner alone."""
    mode = 0o600 if secret else 0o666
    try:
        with open(
            os.fspath(path),
            "w" if force else "x",
            encoding="utf-8",
            opener=lambda name, flags: os.open(name, flags, mode),
        ) as file:
            if secret:  # also one that was there
                os.chmod(path, mode)
            file.write(text)
    except OSError as error:
        raise _failed(error, path) from None


def _failed(error: OSError, path: str | os.PathLike[str]) -> BaseException:
    """The exception of this package for one of the system."""
    codes = [code for code, (_, number) in _FILES.items() if number == error.errno]
    way = " (force=True replaces it)" if error.errno == errno.EEXIST else ""
    fields = {
        "kind": "io",
        "code": codes[0] if codes else "io",
        "message": f"{os.fspath(path)}: {error.strerror}{way}",
        "place": {"file": os.fspath(path)},
        "os_error": error.errno,
    }
    return _exception(fields)
