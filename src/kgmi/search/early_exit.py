"""The early exit: one bound on what any other graph or kernel could gain, for two parents and a shared kernel.

Every node with two parents must prefer them, under the shared kernel, to whatever any other parents could gain with
a kernel of their own; that bounds what they gain under any kernel. No set of nodes may follow the kernel so badly
that another kernel could pay for itself. The others must be roots beyond doubt, each and all of them together. Then
no search could end with another graph, and none is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import lgamma, log
from statistics import NormalDist

import numpy as np

from kgmi.counts.bits import RowCounts
from kgmi.guides.likelihood import IMPOSSIBLE, Likelihood
from kgmi.penalty import log_choices
from kgmi.problem import Problem
from kgmi.score import (
    Group,
    block_laws,
    degree_costs,
    degrees_cost,
    drawn_gain,
    kernel_price,
    kernel_prices,
    make_group,
    root_price,
)
from kgmi.search.roots import root_groups
from kgmi.search.rounds import State, implied_tables, make_state
from kgmi.search.scan import Scan
from kgmi.types import Bools, Floats, Ints, Parents, ScoreTable

__all__ = ["Clear", "clear_case"]

_CLEAR = 10.0  # nats by which everything must be better than what else there is
_TURNED = 5.0  # nats by which the order of the parents of every node must be better than the other
_SURE = 2.0  # nats by which roots must be better without a parent: here scores are compared, not bounds
_IMPLIED_PRICE = 3.0  # see rounds
_MOST_STATES = 8  # from where on bits are not the quickest way to count
_ALIGNING_ROUNDS = 20
_CHOOSING_ROUNDS = 5
_MOST_STEPS = 12  # numbers of roots with a parent that are compared


@dataclass(frozen=True, eq=False)
class Clear:
    """A graph that no search would change.

    Attributes
    ----------
    state
        The graph with its kernel.
    node_score
        Score with a kernel for each node; None where that was not to be looked at.
    margin
        Nats by which every node, at least, prefers its parents to any others.
    heads
        [head, child, candidate]: scores of the heads.
    """

    state: State
    node_score: float | None
    margin: float
    heads: ScoreTable


def clear_case(problem: Problem) -> Clear | None:
    """Return the graph of a clear case; None where a search is needed."""
    counts = problem.counts
    if not _may_be_clear(problem) or not isinstance(counts, RowCounts):
        return None
    scan = Scan(counts)
    if scan.singles.min() == 0:
        return None
    seen = _Evidence(problem, scan)
    if len(seen.children) < 2 or not len(seen.rest):
        return None
    families, group, turn_margin = _shared_kernel(problem, seen)
    if turn_margin < _TURNED:
        return None
    roots = _Roots(problem, seen, group)
    margin = _least_margin(problem, seen, group, roots)
    if margin < _CLEAR or _has_classes(seen, group):
        return None
    state = make_state(problem, [group, *root_groups(problem, roots.alone)], roots.together)
    node_score = None
    if problem.share == "auto":
        degrees = seen.degrees.tolist()
        node_score = float(seen.values[np.arange(scan.n_nodes), degrees].sum()) - degrees_cost(problem, degrees)
        if state.total < node_score + _CLEAR:
            return None
    logs = np.log(np.maximum(group.seen, IMPOSSIBLE))
    heads = scan.head_sums(families, logs) - scan.alone[:, None]
    return Clear(state.after(1, settled=True), node_score, margin, heads)


def _may_be_clear(problem: Problem) -> bool:
    """Return whether the bound covers this problem."""
    counts = problem.counts
    return (
        isinstance(counts, RowCounts)
        and counts.weights is None
        and not counts.has_gaps
        and len({*counts.alphabets}) == 1
        and 2 <= counts.sizes[0] <= _MOST_STATES
        and problem.share in ("auto", "shared")
        and problem.n_heads == 2
        and isinstance(problem.guide, Likelihood)
        and not problem.known
        and not problem.is_open
        and problem.n_choices is None
        and problem.error == 0
        and problem.roots is None
        and problem.search != "heads"
        and len({*problem.labels}) == 1
        and problem.candidates.is_full
        and not problem.candidates.is_sequence
    )


class _Evidence:
    """What every node says by itself: its best parents of each number. Gains are over its own distribution."""

    def __init__(self, problem: Problem, scan: Scan) -> None:
        self.problem, self.scan = problem, scan
        n_states = scan.n_states
        self.leads, single_fits = scan.best_singles()
        self.pairs, pair_fits = scan.best_pairs(self.leads)
        self.pairs.sort(axis=1)
        there = np.flatnonzero(self.pairs[:, 0] >= 0)
        self.tables = np.zeros((scan.n_nodes, n_states, n_states, n_states), dtype=np.int64)
        self.tables[there] = scan.tables(np.column_stack([self.pairs[there], there]))
        singles = scan.pair_tables(self.leads, np.arange(scan.n_nodes))
        self.prices = np.zeros((scan.n_nodes, 3))  # [child, degree], of the best parents of each number
        for degree, counts in enumerate((scan.singles, singles, self.tables[there])):
            tables = counts.reshape(len(counts), n_states**degree, n_states).astype(np.float64)
            prices = kernel_prices(problem, tables, n_states, n_states**degree)
            self.prices[there if degree == 2 else slice(None), degree] = prices
        self.single_gains = single_fits - scan.alone
        self.pair_gains, self.next_gains = pair_fits.T - scan.alone
        self.choices = _choices(scan.n_nodes)  # [child, degree]
        gains = np.column_stack([np.zeros(scan.n_nodes), self.single_gains, self.pair_gains])
        with np.errstate(invalid="ignore"):  # too few candidates: -inf
            self.values = np.where(np.isfinite(self.choices), gains - self.prices - self.choices, -np.inf)
        self.values[:, [degree for degree in range(3) if degree not in problem.degrees]] = -np.inf

    @cached_property
    def degrees(self) -> Ints:
        """[child]: the number of parents with which it is described best, each by what the others have."""
        free = np.array(sorted(self.problem.free), dtype=np.intp)
        degrees: Ints = self.values.argmax(axis=1)
        for _ in range(_CHOOSING_ROUNDS):
            costs = degree_costs(self.problem, degrees.tolist())
            priced = self.values.copy()
            priced[free] -= np.array([costs.get(degree, 0.0) for degree in range(3)])
            before, degrees = degrees, priced.argmax(axis=1)
            if (degrees == before).all():
                break
        return degrees

    @cached_property
    def children(self) -> Ints:
        """Nodes with two parents."""
        return np.flatnonzero(self.degrees == 2)

    @cached_property
    def rest(self) -> Ints:
        """Nodes with fewer."""
        return np.flatnonzero(self.degrees < 2)


@lru_cache(maxsize=4)
def _choices(n_nodes: int) -> Floats:
    return np.array([[log_choices(child, degree) for degree in range(3)] for child in range(n_nodes)])


# ---- the kernel -------------------------------------------------------------------------------------------------


def _shared_kernel(problem: Problem, seen: _Evidence) -> tuple[Ints, Group, float]:
    """Return families (first, second, child) of nodes with two parents in role order, their kernel and a margin.

    The margin is the least by which a family is better in this order than the other way round.
    """
    children, scan = seen.children, seen.scan
    tables = seen.tables[children]
    turned, margin = _aligned(tables, int(seen.values[children, 2].argmax()))
    pairs = np.where(turned[:, None], seen.pairs[children][:, ::-1], seen.pairs[children])
    tables[turned] = tables[turned].transpose(0, 2, 1, 3)
    families = dict(zip(children.tolist(), map(tuple, pairs.tolist()), strict=True))
    for (child, parents), table in zip(families.items(), tables.astype(np.float64), strict=True):
        problem.keep_family(child, parents, table)
    for node, counts in enumerate(scan.singles.astype(np.float64)):
        problem.keep_family(node, (), counts)
    group = make_group(problem, families, tables.sum(axis=0).astype(np.float64))
    return np.column_stack([pairs, children]), group, np.inf if group.symmetric else margin


def _aligned(tables: Ints, first: int) -> tuple[Bools, float]:
    """Return which families have their parents the other way round than the first, and the least margin of that."""
    flat = tables.reshape(len(tables), -1)
    mirrored = tables.transpose(0, 2, 1, 3).reshape(len(tables), -1)
    size, turned, total = tables.shape[-1], np.zeros(len(tables), dtype=np.bool_), flat[first]
    better = np.zeros(len(tables))
    for number in range(_ALIGNING_ROUNDS):
        table = total.reshape(-1, size) + 1 / size
        logs = np.log(table / table.sum(axis=1, keepdims=True)).ravel()
        better = mirrored @ logs - flat @ logs
        before, turned = turned, better > 0
        if number and (turned == before).all():
            break
        total = np.where(turned[:, None], mirrored, flat).sum(axis=0)
    return turned, float(np.abs(better).min())


def _gains(seen: _Evidence, group: Group) -> Floats:
    """Return [child with two parents]: its gain under the shared kernel."""
    logs = np.log(np.maximum(group.seen, IMPOSSIBLE))
    problem = seen.problem
    fits = [float((problem.family(child, ps) * logs).sum()) for child, ps in group.families.items()]
    return np.array(fits) - seen.scan.alone[seen.children]


def _has_classes(seen: _Evidence, group: Group) -> bool:
    """Return whether some nodes follow the kernel so badly that another one could pay for itself."""
    n_states = seen.scan.n_states
    misfits = seen.pair_gains[seen.children] - _gains(seen, group)
    return _heaviest_tail(misfits, n_states**2 * (n_states - 1), float(seen.prices[seen.children, 2].min())) > 0


def _heaviest_tail(misfits: Floats, freedom: int, price: float, tries: Floats | float = 1.0) -> float:
    """Return by how much the largest misfits exceed half of the price of another kernel; negative if never.

    The misfit of a node is what a kernel of its own fits better than what it has. Where nothing is missed it is
    half a χ² of so many degrees of freedom, or the largest of as many ``tries`` [node] of it. For every number m of
    nodes the sum of the m largest is compared with what chance would give; that m of n nodes are another class
    costs the kernel and log C(n, m) besides, and as much as for half of the nodes where it is more of them.
    """
    n = len(misfits)
    many = np.broadcast_to(np.asarray(tries, dtype=np.float64), (n,))
    order = np.argsort(_usual(np.full(n, 0.5), freedom, many) - misfits, kind="stable")
    ranks = (n - np.arange(n) - 0.5) / n
    excess = np.cumsum(misfits[order] - _usual(ranks, freedom, many[order]))
    ways = np.array([lgamma(n + 1) - lgamma(m + 1) - lgamma(n - m + 1) for m in range(1, n + 1)])
    return float((excess - (price + np.maximum.accumulate(ways)) / 2).max())


def _usual(shares: Floats, freedom: int, tries: Floats) -> Floats:
    """Return below what the largest of some tries of half a χ² is with this probability (Wilson and Hilferty)."""
    normal = NormalDist()
    each = np.minimum(shares ** (1 / tries), 1 - 1e-15)
    z = np.array([normal.inv_cdf(share) for share in each.tolist()])
    return np.asarray(freedom / 2 * np.maximum(1 - 2 / (9 * freedom) + z * np.sqrt(2 / (9 * freedom)), 0.0) ** 3)


# ---- roots ------------------------------------------------------------------------------------------------------


class _Roots:
    """Roots once the kernel is known: alone, or drawn with an earlier one that nobody follows from yet.

    Attributes
    ----------
    together
        For every node the earlier root that it is drawn with.
    worth
        [node]: what it is worth as a root; NaN for nodes with parents.
    alone
        Roots that are not drawn with an earlier one.
    """

    def __init__(self, problem: Problem, seen: _Evidence, group: Group) -> None:
        scan, rest = seen.scan, seen.rest
        self.worth = np.full(scan.n_nodes, np.nan)
        self.worth[rest] = -root_price(problem, int(rest[0]))
        shared = [one for one in root_groups(problem, rest.tolist()) if one.size > 1]
        if shared:
            logs = np.log(np.maximum([one.seen for one in shared], IMPOSSIBLE))
            common = scan.singles[rest] @ logs.T - scan.alone[rest, None]
            self.worth[rest] = np.maximum(self.worth[rest], common.max(axis=1))
        laws = block_laws(problem, [group])
        logs_of_laws = [np.log(np.maximum(law, IMPOSSIBLE)) for some in laws.values() for law in some]
        together: list[tuple[int, ...]] = [()] * scan.n_nodes
        is_open: dict[int, None] = {}  # roots that a later one may join, in their order
        for node in range(scan.n_nodes):
            if node in group.families:
                for parent in group.families[node]:
                    is_open.pop(parent, None)
                continue
            if is_open and logs_of_laws:
                earlier = np.array(list(is_open))
                tables = scan.pair_tables(earlier, np.full(len(earlier), node)).reshape(len(earlier), -1)
                gains = np.max([tables @ law.ravel() for law in logs_of_laws], axis=0) - scan.alone[node]
                best = int(gains.argmax())
                drawn = drawn_gain(problem, laws, node, (int(earlier[best]),))
                joined = drawn - log(len(earlier))
                if joined > self.worth[node]:
                    together[node] = (int(earlier[best]),)
                    self.worth[node] = joined
                    del is_open[int(earlier[best])]
                    continue
            is_open[node] = None
        self.together: Parents = tuple(together)
        self.alone = [node for node in rest.tolist() if not together[node]]


def _hide_kernel(seen: _Evidence, roots: _Roots, nodes: Ints, gains: Floats, degree: int) -> bool:
    """Return whether many roots depend on others, each too little to pay for a kernel, but all of them enough.

    ``gains`` [root] are those of its best parents with a kernel of its own; where all pairs were looked at one root
    may be enough, if it depends on two parents that tell nothing each by itself. What is best of many parents fits
    well by chance; that is allowed for. Of pairs there are so many that this hides much of what is real, so half of
    the price is enough for a doubt.
    """
    n_states = seen.scan.n_states
    misfits = gains - np.maximum(roots.worth[nodes], 0.0)
    freedom = (n_states**degree - 1) * (n_states - 1)
    tries = np.exp(seen.choices[nodes, degree])
    return _heaviest_tail(misfits, freedom, float(seen.prices[nodes, degree].min()) / degree, tries) > 0


# ---- margins ----------------------------------------------------------------------------------------------------


def _least_margin(problem: Problem, seen: _Evidence, group: Group, roots: _Roots) -> float:
    """Return the least margin of all nodes; once it is too small no more is looked at."""
    children, choices = seen.children, seen.choices[seen.children]
    worth = _gains(seen, group) - choices[:, 2] - group.role_cost
    another = seen.next_gains[children] - choices[:, 2] - group.role_cost
    single = seen.single_gains[children] - choices[:, 1]
    found = float((worth - np.max([another, single, np.zeros(len(children))], axis=0)).min())
    if found < _CLEAR or _single_parents(problem, seen, group, roots) < _SURE:
        return -np.inf
    return min(found, _two_parents(problem, seen, group, roots))


def _two_parents(problem: Problem, seen: _Evidence, group: Group, roots: _Roots) -> float:
    """Return the margin of roots against two parents under the shared kernel, as far as a search would look."""
    wide = seen.rest[seen.rest >= 2]
    if not len(wide):
        return np.inf
    leads = np.where(problem.is_exhaustive, -1, seen.leads[wide])
    fits = (
        seen.scan.best_fits(wide, leads, np.log(np.maximum(group.seen, IMPOSSIBLE))) - seen.scan.alone[wide, None]
    )
    if _hide_kernel(seen, roots, wide, np.maximum(fits[:, 1], seen.pair_gains[wide]), 2):
        return -np.inf
    gains = fits[:, 0] - seen.choices[wide, 2] - group.role_cost
    return float((roots.worth[wide] - gains).min())


def _single_parents(problem: Problem, seen: _Evidence, group: Group, roots: _Roots) -> float:
    """Return the margin of roots against one parent, for any number of them at once, as they would share a kernel.

    It may be implied by that of two parents and cost next to nothing, or be learned from those roots that would pay
    for a parent even by themselves.
    """
    rest = seen.rest[seen.rest >= 1]
    if 1 not in problem.degrees or not len(rest):
        return np.inf
    alone = rest[seen.degrees[rest] == 1]
    if not all(roots.together[node] for node in alone.tolist()):
        return -np.inf  # parents that are no root block: a kernel of one parent is needed
    if _hide_kernel(seen, roots, rest, seen.single_gains[rest], 1):
        return -np.inf
    worth = roots.worth[rest] + seen.choices[rest, 1]
    found = _IMPLIED_PRICE - _best_sum(problem, seen, seen.single_gains[rest] - worth)  # no kernel gives more
    if found < _SURE:
        implied = implied_tables(problem, [group]) if len(rest) > 1 else {}
        tables = [table for some in implied.values() for table in some]
        gains = _gains_under(seen, rest, tables) if tables else ()
        found = _IMPLIED_PRICE + min((-_best_sum(problem, seen, one - worth) for one in gains), default=np.inf)
    if len(alone):
        found = min(found, _learned_singles(problem, seen, roots, alone))
    return found


def _best_sum(problem: Problem, seen: _Evidence, advantages: Floats) -> float:
    """Return the most that any number of roots would gain by one parent, less what their in-degrees cost more."""
    n_roots, n_nodes = len(seen.rest), len(seen.degrees)
    sums = np.cumsum(-np.sort(-advantages))
    steps = np.arange(1, len(sums) + 1)
    if len(steps) > _MOST_STEPS:  # a few numbers of nodes show the course
        steps = np.unique(np.geomspace(1, len(sums), num=_MOST_STEPS).astype(int))

    def cost(n_single: int) -> float:
        return degrees_cost(problem, [0] * (n_roots - n_single) + [1] * n_single + [2] * (n_nodes - n_roots))

    return float((sums[steps - 1] - np.array([cost(k) for k in steps.tolist()])).max() + cost(0))


def _gains_under(seen: _Evidence, nodes: Ints, tables: Sequence[Floats]) -> Floats:
    """Return [kernel, node]: what the best single parent gains under each of some kernels of one parent."""
    scan = seen.scan
    logs = np.column_stack([np.log(np.maximum(table, IMPOSSIBLE)).ravel() for table in tables])
    sums = []
    for node in nodes.tolist():
        counts = scan.pair_tables(np.arange(node), np.full(node, node)).reshape(node, -1)
        sums.append((counts @ logs).max(axis=0))
    return np.asarray((np.array(sums) - scan.alone[nodes, None]).T)


def _learned_singles(problem: Problem, seen: _Evidence, roots: _Roots, nodes: Ints) -> float:
    """Return how much better these roots are drawn together than children under one kernel learned from them."""
    scan = seen.scan
    counts = scan.pair_tables(seen.leads[nodes], nodes).sum(axis=0).astype(np.float64)
    logs = np.log(np.maximum(counts, 1e-300) / counts.sum(axis=1, keepdims=True))
    said = float(scan.alone[nodes].sum() + seen.choices[nodes, 1].sum())
    price = kernel_price(problem, counts, scan.n_states, scan.n_states)
    followed = float((counts * logs).sum()) - said - price
    degrees = np.where(seen.degrees == 2, 2, 0)
    more = degrees_cost(problem, seen.degrees.tolist()) - degrees_cost(problem, degrees.tolist())
    return float(roots.worth[nodes].sum()) - followed + more
