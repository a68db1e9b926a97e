"""Options that scikit-learn and kgmi understand differently."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from kgmi.errors import SettingError

__all__ = ["check_unchanged", "generator", "most_parents", "plain_choices"]

_OF_READING = ("states", "missing", "alphabet", "bins")


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


def plain_choices(choices: Mapping[str, Any]) -> dict[str, Any]:
    """How rows are read, in values that nobody can change meanwhile."""
    found = {name: choices[name] for name in _OF_READING}
    states = found["states"]
    return found | {"states": tuple(states) if isinstance(states, Iterable) else states}


def check_unchanged(before: Mapping[str, Any] | None, choices: Mapping[str, Any]) -> None:
    """Refuse to read further rows in another way than the first; None where it is not known how these were."""
    if before is None:
        return
    for name, now in plain_choices(choices).items():
        then = before[name]
        if isinstance(now, np.ndarray) or now != then:
            shown = [list(one) if isinstance(one, tuple) else one for one in (then, now)]
            raise SettingError(
                f"{name} was {shown[0]!r} when the first rows were read, now it is {shown[1]!r}: rows that join "
                f"them are read in the same way; set {name} back, or give all rows to fit"
            )
