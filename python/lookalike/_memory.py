"""Memory that the stages of a run have freed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache


def give_back() -> None:
    """Gives pages to the system that earlier stages of a run have freed.

    The C library of Linux keeps them for the threads that freed them, and the next stage, in other
    threads, takes new ones. On a million rows in Arrow's form the peak of a run was 2.2 times the
    size of the table above it without this, and is 1.5 times with it, for a twentieth of the time.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], object] | None:
    """`malloc_trim` of the C library; None where there is none."""
    if sys.platform != "linux":
        return None
    import ctypes

    return getattr(ctypes.CDLL(None), "malloc_trim", None)
