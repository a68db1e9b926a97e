"""Compile functions with numba. Modules that do it at import are themselves imported where they are used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

__all__ = ["compiled", "inlined"]

_Function: TypeAlias = Callable[..., Any]

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},  # sums in any order, so that they vectorise
}


def compiled(function: _Function) -> _Function:
    """A function that is compiled when it is first called, and kept on disk for the next process."""
    from numba import njit

    try:
        return njit(cache=True, **_OPTIONS)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # nowhere to keep the compiled code: compile it in every process
        return njit(**_OPTIONS)(function)  # type: ignore[no-any-return]


def inlined(function: _Function) -> _Function:
    """A function that is written into those that call it; a call would cost small ones twice the time."""
    from numba import njit

    return njit(inline="always")(function)  # type: ignore[no-any-return]
