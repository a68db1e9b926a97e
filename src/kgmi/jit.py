"""Compile functions with numba. Modules that do it at import are themselves imported where they are used."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

from kgmi.progress import tell

__all__ = ["compiled", "inlined"]

_Function: TypeAlias = Callable[..., Any]

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},  # sums in any order, so that they vectorise
}


def compiled(function: _Function) -> _Function:
    """Return a function that is compiled when it is first called, and kept on disk for the next process."""
    from numba import njit

    _announce_compiling()
    try:
        return njit(cache=True, **_OPTIONS)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # nowhere to keep the compiled code: compile it in every process
        return njit(**_OPTIONS)(function)  # type: ignore[no-any-return]


def inlined(function: _Function) -> _Function:
    """Return a function that is written into those that call it; a call would cost small ones twice the time."""
    from numba import njit

    return njit(inline="always")(function)  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _announce_compiling() -> None:
    """Report the first time in a process that a function of this package is compiled: it takes seconds."""
    from numba.core import event

    class Announcer(event.Listener):  # type: ignore[misc]
        announced = False

        def on_start(self, started: Any) -> None:
            if not self.announced and started.data["dispatcher"].py_func.__module__.startswith("kgmi."):
                self.announced = True
                tell("compiling", 0, None, "once on this machine")

        def on_end(self, ended: Any) -> None:
            pass

    event.register("numba:compile", Announcer())
