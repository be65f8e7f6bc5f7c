"""The native module: requests and results as JSON, tables as Arrow C streams or paths.

Every function lets other Python threads run, looks for signals fifty times a second, and raises
the exceptions of `lookalike._errors`.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias, final

class ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

Table: TypeAlias = str | ArrowStream
"""A path, or anything with ``__arrow_c_stream__``; a stream is read once."""

Watch: TypeAlias = Callable[[str], object]
"""Gets each event of a run as JSON: ``{"event": "stage", "stage": "search"}``,
``{"event": "warning", "code": ..., "message": ...}``,
``{"event": "progress", "share": ..., "left": seconds, "loss": NCP, "bound": ..., "gap": ...}``.
It is called in the thread of the caller; what it raises ends the run."""

@final
class Release:
    """A release that passed the audit, in the buffers that were audited."""

    @property
    def numbers(self) -> str:
        """The numbers of the run, as the command's ``--json``."""
    @property
    def recoding(self) -> str | None:
        """The text of the recoding file, where one was asked for."""
    @property
    def proof(self) -> str | None:
        """The text of the proof file, where one was asked for."""
    @property
    def codebook(self) -> str | None:
        """The codebook as JSON, where one was asked for."""
    @property
    def labels(self) -> str:
        """The labels of each dictionary column in their order, by column."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def write(self, path: str, options: str) -> None:
        """Written, synced, read back, audited, renamed. Options: ``{"force": bool}``."""

# Options are a JSON object. Of every function: "threads" (a number, or absent). Of functions with a
# watch: "on_interrupt" ("raise" or "keep").

def version() -> str: ...
def anonymize(data: Table, request: str, options: str, watch: Watch | None) -> Release:
    """Options: "bound" (none, quick, full, tight), "verify" (auto, rules, source, full),
    "recoding" and "with_proof" (true to have their texts)."""

def plan(counts: Table, request: str, options: str, watch: Watch | None) -> Release:
    """From distinct tuples with counts (``count`` in the request) to a plan. Options: "bound",
    "domain" (the text of the domain of the whole table, of which these are the tuples of a part;
    the request then has a seed, and ``steps`` in place of ``limits.time``)."""

def domain(columns: list[Table], request: str, options: str) -> str:
    """The domain of a table as JSON. Each table has two columns: one of the table with its distinct
    values, and the count column of the request; one for each quasi-identifier and each sensitive
    column under a rule, others are ignored."""

def cuts(sample: Table, request: str, domain: str, options: str) -> str:
    """Cells by a sample of the tuples (quasi-identifiers and the count column; others are ignored).
    Options: "tuples" (about so many in a cell at most), "whole" (the tuples of the whole table).
    ``{"version": 1, "cells": 2, "tree": NODE}``: a leaf is ``{"cell": 0}``; any other node has
    "column", "missing" ("left" or "right"), "left", "right", and "kind": "number", "date" or
    "time" with a "limit" (left: up to it), or "values" with "values" (left: one of them)."""

def merge_cells(cuts: str, counts: Table, request: str, domain: str, options: str) -> str:
    """The cells united until each satisfies the rules on its own, numbered from 0, with "rows":
    those of each cell. The counts have a column "cell", the sensitive columns under a rule, and
    the count column of the request."""

def apply(recoding: str, data: Table, request: str, options: str, watch: Watch | None) -> Release:
    """``recoding`` is the text of a recoding file. Options: "verify"."""

def check(data: Table, request: str, options: str) -> str: ...
def explain(data: Table, request: str, options: str) -> str: ...
def verify(release: Table, request: str, source: Table | None, options: str) -> str:
    """Options: "proof" (the text of a proof file), "plan" (true: the release is a plan, and the
    source its table of tuples)."""

def compare(data: Table, request: str, options: str, watch: Watch | None) -> str:
    """Options: "k" (a list), "algorithms" (names; absent: the usual), "random" (the number of
    queries), "bound". The result has the keys of the command's ``--json`` and ``"plots"``: SVG
    texts by name. The watch also gets
    ``{"event": "search", "number", "searches", "algorithm", "k"}``."""

def suggest(data: Table, options: str) -> str:
    """``{"toml": ..., "columns": [{"name", "role", "reason", "looks", "distinct", "missing",
    "unique_share"}], "quasi": {...} or null, "warnings": [...]}``"""

def report(
    source: Table, release: Table, request: str, options: str, watch: Watch | None
) -> tuple[str, str]:
    """The page as HTML, the numbers as JSON. Options: "edition" (internal, public), "random",
    "bound", "date" (2026-11-18), "proof" (text)."""

def query(source: Table, release: Table, request: str, options: str) -> str:
    """Options: "queries" (the text of a TOML file of queries), or "random" (their number) with "on"
    (columns), "sum" (a column) and "seed"; "each" (true: every query with its true answer)."""

def read_request(path: str) -> str:
    """A TOML file as JSON; paths in it are relative to its folder, and absolute in the result."""

def parse_toml(text: str) -> str: ...
def write_toml(request: str) -> str: ...
