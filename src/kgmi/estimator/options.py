"""Options that scikit-learn and kgmi understand differently."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from kgmi.errors import SettingError

__all__ = ["generator", "most_parents"]


def most_parents(n_parents: Any, n_nodes: int, *, kernel_is_known: bool) -> tuple[int | None, list[str]]:
    """K as far as the columns allow, with a sentence where that is less than was asked for."""
    if n_parents is None:
        return None, []
    if isinstance(n_parents, bool) or not isinstance(n_parents, Integral):
        raise SettingError(f"n_parents must be a whole number or None, got {n_parents!r}")
    asked = int(n_parents)
    if kernel_is_known or asked < n_nodes:
        return asked, []
    return n_nodes - 1, [f"With {n_nodes} columns a node has {n_nodes - 1} parents at most, not {asked}."]


def generator(random_state: Any) -> np.random.Generator:
    """A generator from what scikit-learn takes for one; None is another one every time."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)
