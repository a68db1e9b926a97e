"""Compile functions with numba. Modules that do it at import are themselves imported where they are used."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from kgmi.progress import tell

__all__ = ["compiled", "inlined", "kernels"]

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


@lru_cache(maxsize=1)
def kernels() -> Any:
    """Return the module of compiled counting loops; the first use on a machine, which compiles them, is announced."""
    from importlib import import_module

    module = import_module("kgmi.counts.kernels")
    if not module.family_worth.stats.cache_path or not any(
        Path(module.family_worth.stats.cache_path).glob("kernels.*.nbi")
    ):
        tell("compiling", 0, None, "once on this machine")
    return module
