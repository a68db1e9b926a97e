"""Which hypotheses about the parents of a node are open, and what a look at all of them costs."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

from kgmi.certify.counts import n_cells
from kgmi.search import Plan

__all__ = ["PATIENCE", "Family", "Hypotheses", "affordable", "hypotheses_of", "stages_of"]

PATIENCE = 60.0
"""Seconds that a look at all hypotheses may take."""
_CELLS_PER_SECOND = 2e7  # of tables that are counted and weighed, as measured on one core
_OPERATIONS_PER_SECOND = 2e10
_MOST_CELLS = 2e8  # of one node: 1.6 GB


@dataclass(frozen=True)
class Family:
    """All sets of one size from some nodes, as an explanation of one child.

    Attributes
    ----------
    nodes, size
        What sets are made of, and how many nodes are in each.
    as_parents
        Whether such a set may be the parents.
    as_block
        Whether such a set may be the earlier roots that the child, a root, is drawn with.
    """

    nodes: tuple[int, ...]
    size: int
    as_parents: bool
    as_block: bool


@dataclass(frozen=True)
class Hypotheses:
    """What may be true of the parents of one node.

    Attributes
    ----------
    child
        The node.
    families
        Sets of at least one node.
    root
        Whether it may have no parents.
    required
        Parents that it has in any case.
    most
        K.
    """

    child: int
    families: tuple[Family, ...]
    root: bool
    required: tuple[int, ...]
    most: int

    @property
    def degrees(self) -> tuple[int, ...]:
        """Numbers of parents that it may have."""
        sizes = [family.size for family in self.families if family.as_parents]
        return tuple(sorted({*sizes, *([0] if self.root else [])}))

    @property
    def candidates(self) -> tuple[int, ...]:
        """Nodes that may be parents."""
        return next((family.nodes for family in self.families if family.as_parents), ())

    @property
    def has_alternative(self) -> bool:
        """Whether there is anything to decide: more than one set of parents is open."""
        parents = [family for family in self.families if family.as_parents]
        if not parents:
            return False
        only = parents[0]
        told = len(parents) == 1 and not self.root
        return not (told and only.size in (len(only.nodes), len(self.required)))

    @property
    def only(self) -> tuple[int, ...]:
        """The one set of parents that is open, where there is no alternative."""
        parents = next((family for family in self.families if family.as_parents), None)
        if parents is None:
            return ()
        return parents.nodes if parents.size == len(parents.nodes) else self.required

    @property
    def may_be_drawn(self) -> bool:
        """Whether it may be a root that is drawn together with earlier ones."""
        return any(family.as_block for family in self.families)


def hypotheses_of(plan: Plan, child: int) -> Hypotheses:
    """Everything that the plan leaves open for one node.

    With known kernels the laws of roots that are drawn together follow from them; with learned ones they may be
    anything.
    """
    degrees = plan.degrees_of(child)
    candidates = tuple(plan.candidates.of(child).tolist())
    sizes = [degree for degree in degrees if degree > 0]
    drawn: tuple[int, ...] = ()
    if 0 in degrees and sizes and _blocks_exist(plan):
        may = plan.candidates.may_be_drawn_with
        stage = stages_of(plan)
        earlier = (node for node in range(len(stage)) if (stage[node], node) < (stage[child], child))
        drawn = tuple(node for node in earlier if may(child, node))
    blocks = range(1, min(plan.n_heads - 1, len(drawn)) + 1)
    same = drawn == candidates and not plan.known  # a known kernel says what the law of a block is
    families = [Family(candidates, size, True, same and size in blocks) for size in sizes]
    families += [Family(drawn, size, False, True) for size in blocks if not (same and size in sizes)]
    return Hypotheses(child, tuple(families), 0 in degrees, plan.candidates.required[child], plan.n_heads)


def stages_of(plan: Plan) -> list[int]:
    """[node]: its place in the order; nodes of one tier share it, as nobody knows who came first there."""
    return [int(plan.candidates.rules.stages[column]) for column in plan.candidates.order]


def _blocks_exist(plan: Plan) -> bool:
    """Whether the model knows roots that are drawn together, whatever their alphabets: docs/certificates.md."""
    windows = plan.candidates.rules.only_children is not None
    return plan.n_heads > 1 and not windows


def affordable(plan: Plan, n_rows: int, n_looks: int, patience: float = PATIENCE) -> frozenset[int]:
    """Nodes of which all hypotheses can be looked at in the given time, the cheapest first."""
    prices = sorted(
        (_seconds(plan, hypotheses_of(plan, c), n_rows, n_looks), c) for c in range(plan.observed.n_nodes)
    )
    chosen: list[int] = []
    total = 0.0
    for seconds, child in prices:
        total += seconds
        if total > patience:
            break
        chosen.append(child)
    return frozenset(chosen)


def _seconds(plan: Plan, open_to: Hypotheses, n_rows: int, n_looks: int) -> float:
    own = plan.observed.sizes[open_to.child]
    cells, operations = 0.0, 0.0
    for family in open_to.families:
        states = max(plan.observed.sizes[node] for node in family.nodes)
        orders = factorial(family.size) if plan.known and family.as_parents else 1
        cells += n_cells(len(family.nodes), family.size, states, own) * orders
        leads = float(len(family.nodes)) ** max(family.size - 2, 0)
        operations += 2.0 * n_rows * (len(family.nodes) * states) ** 2 * leads
    if cells > _MOST_CELLS:
        return float("inf")
    return cells * (1 + n_looks) / _CELLS_PER_SECOND + operations / _OPERATIONS_PER_SECOND
