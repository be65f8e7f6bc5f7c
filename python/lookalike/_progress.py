"""Progress of a run: a bar of tqdm where it is installed, a plain line otherwise."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from . import _memory, _tables


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a run.

    Attributes
    ----------
    stage : str
        What is going on: "read", "encode", "bound", "search", "write", "verify"; in a comparison
        the search that begins, "mondrian, k = 5".
    share : float or None
        The share of the stage that is done, from 0 to 1.
    left : float or None
        Seconds that are left, at most.
    loss, bound, gap : float or None
        The loss (NCP) of the best release so far, the lower bound on it, and loss / bound.

    Examples
    --------
    >>> Progress("search", share=0.5, left=30.0, loss=314.2)
    Progress(stage='search', share=0.5, left=30.0, loss=314.2, bound=None, gap=None)
    """

    stage: str
    share: float | None = None
    left: float | None = None
    loss: float | None = None
    bound: float | None = None
    gap: float | None = None


Listener: TypeAlias = Callable[[Progress], object]


class Display(Protocol):
    """Shows the progress of a run, and removes or ends what it showed."""

    def show(self, progress: Progress) -> None: ...
    def end(self) -> None: ...


AFTER_SEARCH = ("bound", "write", "verify")
"""Stages before which much memory was freed; earlier ones would only take it again."""


class Watch:
    """Turns the events of the native module into calls of a listener, if there is one.

    `warnings` are those that came as events. After the search freed memory is given back.
    """

    __slots__ = ("_display", "_listener", "_stage", "warnings")

    def __init__(self, progress: bool | Listener) -> None:
        self._display: Display | None = None
        self._listener: Listener | None = None
        self._stage = "start"
        self.warnings: list[str] = []
        if callable(progress):
            self._listener = progress
        elif progress and sys.stderr is not None:
            self._display = _display()
            self._listener = self._display.show

    def __enter__(self) -> Callable[[str], object]:
        return self._event

    def __exit__(self, *_: object) -> None:
        if self._display is not None:
            self._display.end()

    def _event(self, text: str) -> None:
        event: dict[str, Any] = json.loads(text)
        match event["event"]:
            case "stage":
                self._stage = event["stage"]
                if self._stage in AFTER_SEARCH:
                    _memory.give_back()
            case "search":  # one of several, of a comparison
                self._stage = f"{event['algorithm']}, k = {event['k']}"
                event["share"] = (event["number"] - 1) / event["searches"]
            case "warning":
                self.warnings.append(event["message"])
                return
            case "progress":
                pass
            case _:
                return
        if self._listener is not None:
            parts = ("share", "left", "loss", "bound", "gap")
            self._listener(Progress(self._stage, **{name: event.get(name) for name in parts}))


def _display() -> Display:
    if _tables.has("tqdm"):
        return _Bar()
    return _Line()


def words(progress: Progress) -> str:
    """A moment in words.

    Examples
    --------
    >>> words(Progress("search", share=0.5, left=29.7, loss=314.2, gap=1.64))
    'search 50 %, loss 314.2, 1.64 × the bound, 30 s left'
    """
    stage = progress.stage
    if progress.share is not None:
        stage += f" {100 * progress.share:.0f} %"
    return ", ".join([stage, *_details(progress)])


def _details(progress: Progress) -> list[str]:
    parts = []
    if progress.loss is not None:
        parts.append(f"loss {progress.loss:,.1f}")
    if progress.gap is not None:
        parts.append(f"{progress.gap:.2f} × the bound")
    if progress.left is not None:
        parts.append(f"{progress.left:.0f} s left")
    return parts


class _Line:
    """One line on standard error, written over; on no terminal, a line for each stage."""

    __slots__ = ("_length", "_stage", "_terminal")

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty() or _in_notebook()
        self._length = 0
        self._stage = ""

    def show(self, progress: Progress) -> None:
        if not self._terminal:
            if progress.stage != self._stage:
                self._stage = progress.stage
                print(f"lookalike: {progress.stage}", file=sys.stderr, flush=True)
            return
        text = words(progress)
        print(f"\r{text:<{self._length}}", end="", file=sys.stderr, flush=True)
        self._length = len(text)

    def end(self) -> None:
        if self._length:
            print(f"\r{'':<{self._length}}\r", end="", file=sys.stderr, flush=True)
            self._length = 0


class _Bar:
    """A bar of tqdm; a widget in a notebook that can show one."""

    __slots__ = ("_bar",)

    def __init__(self) -> None:
        in_widget = _in_notebook() and _tables.has("ipywidgets")
        module = _tables.needed("tqdm.notebook" if in_widget else "tqdm.std", "notebook")
        form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}{postfix}"
        self._bar = module.tqdm(total=1.0, desc="start", bar_format=form, leave=False)

    def show(self, progress: Progress) -> None:
        self._bar.set_description_str(progress.stage, refresh=False)
        self._bar.set_postfix_str(", ".join(_details(progress)), refresh=False)
        self._bar.n = min(1.0, progress.share or 0.0)
        self._bar.refresh()

    def end(self) -> None:
        self._bar.close()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
