"""Learning the order too: what it needs, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgmi.errors import SettingError
from kgmi.graph.naming import quoted, shown_list
from kgmi.learning.inputs import Input
from kgmi.learning.settings import SEARCHING, Settings
from kgmi.learning.status import shown_margin
from kgmi.search import Solution
from kgmi.threads import one_blas_thread

__all__ = ["check_open", "check_possible", "named_directions", "tell_order"]

_SURE = 3.0  # nats: odds of twenty to one
_MOST_SHOWN = 6
_NOTHING = 0.05  # nats that are not worth a number
_ROUNDING = 1e-6  # nats a row of exact laws


def named_directions(solution: Solution, names: Sequence[str]) -> dict[tuple[str, str], float] | None:
    """Nats by which the best graph with an edge reversed is worse, by names; None where the order was given."""
    with one_blas_thread():
        found = solution.directions
    return (
        None if found is None else {(names[parent], names[child]): nats for (parent, child), nats in found.items()}
    )


def check_open(data: Input, settings: Settings) -> None:
    """Refuse an open order where nothing can find it."""
    if not data.candidates.is_open:
        return
    if settings.guide not in SEARCHING:
        raise SettingError(
            f"the guide '{settings.guide}' needs an order; order='learn' goes with the guide 'likelihood'"
        )
    if not data.has_families:
        raise SettingError("order='learn' needs the rows, not only statistics of pairs")
    if settings.guide == "contextual":
        raise SettingError("order='learn' goes with the guide 'likelihood', not with 'contextual'")


def check_possible(data: Input, solution: Solution) -> None:
    """Refuse roots, required and forbidden edges that no order can satisfy."""
    problem = solution.problem
    for node, chosen in enumerate(solution.parents if solution.opened is not None else ()):
        must = problem.roots is not None and node not in problem.roots
        if not {*problem.candidates.required[node]} <= {*chosen} or (
            must and len(chosen) not in problem.degrees[1:]
        ):
            raise SettingError(
                f"no order was found in which {quoted(data.names[node])} has the parents that it must have: look "
                "at the roots that were told, the number of parents (in_degree='mixed' allows fewer), and required "
                "and forbidden edges"
            )


def tell_order(
    names: Sequence[str], solution: Solution, directions: dict[tuple[str, str], float] | None
) -> list[str]:
    """That the order was learned, and which edges might as well be the other way round."""
    if directions is None:
        return []
    names = [names[node] for node in solution.order]
    more = f", … ({len(names)} in all)" if len(names) > 2 * _MOST_SHOWN else ""
    told = f"The order was learned: {shown_list(names[: 2 * _MOST_SHOWN])}{more}."
    if solution.is_proved:
        told += " That no graph without cycles is better under these kernels is proved, not only searched for."
    if not directions:
        return [told]
    exact = solution.problem.is_exact
    unit, sure, nothing = ("nats a row", _ROUNDING, _ROUNDING) if exact else ("nats", _SURE, _NOTHING)
    unsure = sorted((nats, edge) for edge, nats in directions.items() if nats < sure)
    if not unsure:
        least, (parent, child) = min((nats, edge) for edge, nats in directions.items())
        if np.isinf(least):
            return [f"{told} No edge could have been reversed."]
        return [
            f"{told} The edge that is turned most easily is {quoted(parent)} → {quoted(child)}: the best graph "
            f"found with it reversed is worse by {shown_margin(least)} {unit}."
        ]
    shown = "; ".join(
        f"{quoted(parent)} → {quoted(child)} ({shown_margin(nats) if nats >= nothing else 'no'} {unit})"
        for nats, (parent, child) in unsure[:_MOST_SHOWN]
    )
    rest = f"; and {len(unsure) - _MOST_SHOWN} more" if len(unsure) > _MOST_SHOWN else ""
    return [
        f"{told} The data hardly direct {len(unsure)} of {len(directions)} edges, which might as well be the other "
        f"way round: {shown}{rest}; so much worse is the best graph found with that edge reversed."
    ]
