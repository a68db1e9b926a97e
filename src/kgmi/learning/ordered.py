"""Learning the order too: the search for it, and the columns brought into the order that was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.errors import SettingError
from kgmi.graph.naming import quoted, shown_list
from kgmi.learning.inputs import Input
from kgmi.learning.settings import SEARCHING, Settings
from kgmi.learning.status import shown_margin
from kgmi.search import Found, Opened, Plan, Share, discover_order, proved, reversals, settle_order
from kgmi.threads import one_blas_thread
from kgmi.types import Ints, Parents

__all__ = ["Ordering", "check_open", "learn_order", "tell_order"]

_SURE = 3.0  # nats: odds of twenty to one
_MOST_SHOWN = 6
_NOTHING = 0.05  # nats that are not worth a number
_ROUNDING = 1e-6  # nats a row of exact laws


@dataclass(frozen=True, eq=False)
class Ordering:
    """How an order was found.

    Attributes
    ----------
    opened
        The search, with the nodes numbered as they came.
    order
        ``order[node]``: the number that the node had there.
    parents, together
        The graph in the order, and with which earlier roots each is drawn.
    """

    opened: Opened
    order: Ints
    parents: Parents
    together: Parents

    @property
    def before(self) -> Parents:
        """The graph with the nodes numbered as they came."""
        order, place = self.order.tolist(), np.argsort(self.order).tolist()
        return tuple(tuple(order[parent] for parent in self.parents[node]) for node in place)

    @property
    def proved(self) -> bool:
        """Whether no graph without cycles is better under the kernels of this one; not where gaps have a price.

        Roots that are drawn together describe the rows better than the edge between them that was proved best.
        """
        opened, order = self.opened, self.order.tolist()
        blocks = [{order[one] for one in (*block, node)} for node, block in enumerate(self.together) if block]
        found = [
            {one for one in chosen if not any({node, one} <= block for block in blocks)}
            for node, chosen in enumerate(opened.found.state.parents)
        ]
        return opened.proved and found == [*map(set, self.before)] and not opened.plan.observed.has_gaps

    def directions(self, names: Sequence[str]) -> dict[tuple[str, str], float]:
        """Nats by which the best graph with an edge reversed is worse, by names of parent and child."""
        place = np.argsort(self.order).tolist()
        with one_blas_thread():
            found = reversals(self.opened, self.before)
        return {(names[place[parent]], names[place[child]]): nats for (parent, child), nats in found.items()}


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


def learn_order(data: Input, plan: Plan, share: Share) -> tuple[Input, Found, Ordering]:
    """Find order, parents and kernels; the data with their columns in that order, and what was found in it."""
    opened = proved(discover_order(plan, share))
    _check_possible(data, plan, opened.found.state.parents)
    order, found = settle_order(opened, share)
    return data.in_order(order.tolist()), found, Ordering(opened, order, found.state.parents, found.state.together)


def _check_possible(data: Input, plan: Plan, parents: Parents) -> None:
    """Refuse roots, required and forbidden edges that no order can satisfy."""
    for node, chosen in enumerate(parents):
        must = plan.roots is not None and node not in plan.roots
        if not {*plan.candidates.required[node]} <= {*chosen} or (must and len(chosen) not in plan.degrees[1:]):
            raise SettingError(
                f"no order was found in which {quoted(data.names[node])} has the parents that it must have: look "
                "at the roots that were told, the number of parents (in_degree='mixed' allows fewer), and required "
                "and forbidden edges"
            )


def tell_order(
    names: Sequence[str], ordering: Ordering | None, directions: dict[tuple[str, str], float] | None
) -> list[str]:
    """That the order was learned, and which edges might as well be the other way round."""
    if ordering is None or directions is None:
        return []
    more = f", … ({len(names)} in all)" if len(names) > 2 * _MOST_SHOWN else ""
    told = f"The order was learned: {shown_list(names[: 2 * _MOST_SHOWN])}{more}."
    if ordering.proved:
        told += " That no graph without cycles is better under these kernels is proved, not only searched for."
    if not directions:
        return [told]
    exact = ordering.opened.plan.observed.is_exact
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
