"""Kernels and laws as tables that a person can read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from kgmi.kernel import Kernel
from kgmi.learning import Learned
from kgmi.learning.kernels import KernelEstimate
from kgmi.report.tables import shortened
from kgmi.types import Floats

__all__ = ["MOST_KERNELS", "MOST_LINES", "kernel_tables", "node_laws"]

MOST_KERNELS = 12
"""Kernels that are shown, those of the most parents and the most nodes first."""
MOST_LINES = 64
"""Configurations of the parents that are shown of a kernel."""
_MOST_STATES = 12  # columns of a table that still fit a page


def kernel_tables(learned: Learned) -> dict[str, Any]:
    """``tables`` of the first kernels, and how many there are in all (``count``).

    A table has ``lines`` [states of the parents, probabilities, standard errors, cases]; ``of`` says how many lines
    the whole kernel has.
    """
    if not learned.kernels and isinstance(learned.kernel, Kernel):  # the guides of pairs estimate none
        return {"count": 1, "tables": [_given_table(learned, learned.kernel)]}
    shown = learned.kernels[:MOST_KERNELS]
    return {"count": len(learned.kernels), "tables": [_table(learned, one) for one in shown]}


def _table(learned: Learned, one: KernelEstimate) -> dict[str, Any]:
    alphabets = learned.alphabets or (learned.states,) * learned.n_nodes
    child = one.children[0]
    given = [alphabets[node] for node in learned.dag.parents[child]]
    places = [p for p in np.ndindex(one.table.shape[:-1]) if not one.symmetric or list(p) == sorted(p)]
    lines = [
        _line(given, place, one.table)
        | {"errors": one.standard_errors[place][:_MOST_STATES].tolist(), "cases": float(one.cases[place])}
        for place in islice(places, MOST_LINES)
    ]
    return {
        "title": _title(one, learned),
        "children": list(one.children),
        "parents": one.n_parents,
        "given": _common_parents(learned, one),
        "symmetric": one.symmetric,
        "known": one.known,
        "implied": one.implied,
        "error": one.error,
        "states": list(alphabets[child])[:_MOST_STATES],
        "n_states": len(alphabets[child]),
        "lines": lines,
        "of": len(places),
    }


def _common_parents(learned: Learned, one: KernelEstimate) -> list[int] | None:
    """The parents whose states the lines tell, where they are the same for all children."""
    sets = {learned.dag.parents[child] for child in one.children}
    return list(sets.pop()) if len(sets) == 1 else None


def _given_table(learned: Learned, kernel: Kernel) -> dict[str, Any]:
    """A kernel that guided the heads and was not estimated."""
    places = list(np.ndindex(kernel.table.shape[:-1]))
    given = [learned.states] * kernel.n_parents
    return {
        "title": f"Kernel that guided the heads, of {kernel.n_parents} parent{'s' * (kernel.n_parents > 1)}",
        "children": [],
        "parents": kernel.n_parents,
        "given": None,
        "symmetric": False,
        "known": True,
        "implied": False,
        "error": 0.0,
        "states": list(learned.states)[:_MOST_STATES],
        "n_states": len(learned.states),
        "lines": [_line(given, place, kernel.table) for place in places[:MOST_LINES]],
        "of": len(places),
    }


def _line(given: Sequence[Sequence[str]], place: tuple[int, ...], table: Floats) -> dict[str, Any]:
    """The law of one configuration of the parents."""
    return {
        "given": [states[code] for states, code in zip(given, place, strict=True)],
        "law": table[place][:_MOST_STATES].tolist(),
        "errors": None,
        "cases": None,
    }


def _title(one: KernelEstimate, learned: Learned) -> str:
    how = "Known" if one.known else "Implied" if one.implied else "Learned"
    whose = (
        shortened(learned.names[one.children[0]]) if len(one.children) == 1 else f"the {len(one.children):,} nodes"
    )
    members = "" if one.class_name is None else f" of class {one.class_name}"
    order = " in any order" if one.symmetric and one.n_parents > 1 else ""
    return f"{how} kernel of {whose}{members} with {one.n_parents} parent{'s' * (one.n_parents > 1)}{order}"


def node_laws(learned: Learned) -> list[dict[str, Any]] | None:
    """[node]: its ``states`` and how often each of them occurs (``law``); None where no law of rows is known."""
    if learned.model is None:
        return None
    alphabets = learned.alphabets or (learned.states,) * learned.n_nodes
    return [
        {"states": None if learned.alphabets is None else list(states)[:_MOST_STATES], "law": law.tolist()}
        for states, law in zip(alphabets, (m[:_MOST_STATES] for m in learned.model.marginals), strict=True)
    ]
