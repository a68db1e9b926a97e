"""THE score of a graph with its kernels: a description length in nats, less that of independent columns.

    score = Σ_groups  fit(group) - price(group) - roles(group)
          - Σ_nodes   alone(node) + sets(node) + gaps(node)
          - degrees - sharing + Σ_drawn roots  gain(root)

A *group* is the nodes that share one kernel; a root is in a group too, whose kernel has no arguments.

fit      Log-likelihood of the cases of all members under their kernel (the best one, or a given one).
price    Of the free parameters of the kernel; see :mod:`kgmi.penalty`. A given kernel costs nothing.
roles    log of the orders of the parents, for each member of a shared kernel that depends on their order.
alone    Log-likelihood of the node's own distribution in the cases of its family.
sets     log of the number of parent sets of the same size, and 1e-6 for each parent, so that ties have no edges.
gaps     Of the rows in which a node has a value and its parents do not.
degrees  Of saying how many parents each node has.
sharing  Of saying which nodes share kernels.
gain     Of roots that are drawn together from the stationary distribution of a kernel.

With a kernel for each node the score is the same for equivalent graphs. An exact distribution pays no prices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations
from math import comb, exp, factorial, lgamma, log, prod

import numpy as np

from kgmi.errors import KernelError
from kgmi.guides.likelihood import gain_table
from kgmi.kernel.stationary import stationary_law
from kgmi.problem import Family, Key, Problem
from kgmi.types import Floats, Ints, Parents

__all__ = [
    "Block",
    "Group",
    "OpenBlocks",
    "Score",
    "block_laws",
    "degree_costs",
    "degrees_cost",
    "drawn_gain",
    "forming_cost",
    "gap_price",
    "joinable",
    "kernel_price",
    "kernel_prices",
    "kernel_values",
    "log_orders",
    "make_group",
    "node_part",
    "partition_cost",
    "root_price",
    "roots_cost",
    "score",
    "sharing_cost",
    "unordered_cells",
    "with_errors",
    "x_log_x",
]

Block = tuple[int, ...]
"""The earlier roots that a root is drawn together with; empty for most."""

_HALF = 0.5  # pseudo-nodes of every in-degree (Krichevsky and Trofimov)
_EM_ROUNDS = 50  # to take known errors out of a kernel
# Nats a kernel, where neither all nodes share one nor each has its own: kernels that resemble each other are not
# the same, and nodes that are taken for alike get wrong parents by it (ALARM at 300 rows loses 0.02 of F1 without).
_RESERVE = 2.0
_SAID = 2.0  # nats for saying that a root is drawn with others: M_π may be that of independent roots
_MOST_TUPLES = 2_000  # states of K parents for which a stationary distribution is found in no time
_MOST_ORDERS = 6  # orders of the parents of a learned kernel that are tried: all of them up to three parents
_ROUNDING = 1e-12  # nats between exact distributions that are rounding


# ---- kernels ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes that share one kernel, and what was counted for it.

    Attributes
    ----------
    key
        Label, alphabets of the parents in role order, alphabet of the child.
    families
        Parents of every member, in role order.
    counts
        [states of the parents …, state of the child] over all members; without an order of the parents their mean.
    fit, price, roles
        See the formula of the score.
    symmetric
        Whether the parents have no order: exchanging them changes nothing.
    given
        The kernel, where it is known or implied; None where it is estimated from the counts.
    implied
        Whether it follows from the kernel of the most parents, the missing ones averaged out (appendix A).
    smoothing, error
        Pseudo-cases for each joint state of the parents, and ε, the share of readings that are random.
    """

    key: Key
    families: Mapping[int, Family]
    counts: Floats
    fit: float
    price: float
    roles: float
    symmetric: bool
    given: Floats | None = None
    implied: bool = False
    smoothing: float = 0.0
    error: float = 0.0

    @property
    def size(self) -> int:
        """How many nodes share the kernel."""
        return len(self.families)

    @property
    def n_parents(self) -> int:
        """Number of parents of its nodes."""
        return len(self.key[1])

    @property
    def known(self) -> bool:
        """Whether the kernel was given by the user."""
        return self.given is not None and not self.implied

    @property
    def value(self) -> float:
        """Fit less prices."""
        return self.fit - self.price - self.roles

    @property
    def role_cost(self) -> float:
        """Price of choosing the roles of the parents of one more node."""
        return 0.0 if self.symmetric else log_orders(self.key[1])

    @cached_property
    def table(self) -> Floats:
        """The kernel [states of the parents …, state of the child], free of errors."""
        return self.given if self.given is not None else _estimate(self.counts, self.smoothing, self.error)

    @cached_property
    def seen(self) -> Floats:
        """The kernel as it shows in the data, errors included."""
        return with_errors(self.table, self.error)

    @cached_property
    def cases(self) -> Floats:
        """[states of the parents …]: cases behind each distribution; of a symmetric kernel those of all orders."""
        seen = self.counts.sum(axis=-1)
        if not self.symmetric or self.n_parents < 2:
            return np.asarray(seen)
        cell, sizes = unordered_cells(seen.shape)
        return np.asarray(seen * sizes[cell].reshape(seen.shape))

    @cached_property
    def standard_errors(self) -> Floats:
        """Standard error of every probability; infinite where the parents' states were never seen."""
        spread = np.sqrt(self.seen * (1 - self.seen)) / max(1 - self.error, 1e-300)
        cases = self.cases[..., None]
        return np.asarray(np.divide(spread, np.sqrt(cases), out=np.full(spread.shape, np.inf), where=cases > 0))


def make_group(
    problem: Problem,
    families: Mapping[int, Family],
    counts: Floats | None = None,
    *,
    implied: Floats | None = None,
    price: float = 0.0,
) -> Group:
    """Return the group of these families, whose parents have the same alphabets in the same order.

    The kernel depends on the order of the parents or not, whichever is the shorter description. It may be
    ``implied`` by another one at a price.
    """
    child, parents = next(iter(families.items()))
    key = problem.key(child, parents)
    if counts is None:
        counts = np.add.reduce([problem.family(node, ps) for node, ps in families.items()])
    smoothing = 0.0 if problem.is_exact else problem.smoothing
    error = (problem.error or 0.0) if parents else 0.0
    known = problem.known.get(len(parents)) if parents else None
    given = known if implied is None else implied
    if given is not None:
        symmetric = _is_symmetric(given)
        roles = 0.0 if symmetric or problem.is_exact else log_orders(key[1]) * len(families)
        fit = _log_likelihood(counts, with_errors(given, error))
        return Group(
            key, families, counts, fit, price, roles, symmetric, given, implied is not None, smoothing, error
        )
    n_states, n_roles = _sizes(problem, families)
    fit = _best_fit(counts, smoothing, error)
    ordered = fit - kernel_price(problem, counts, n_states, prod(n_roles))
    shared = len(families) > 1
    roles = log_orders(key[1]) * len(families) if shared and not problem.is_exact else 0.0
    made = Group(
        key, families, counts, fit, fit - ordered, roles, len(parents) < 2, smoothing=smoothing, error=error
    )
    if not shared or len(parents) < 2 or len({*key[1]}) > 1:
        return made
    even = _symmetrised(counts)
    fit = _best_fit(even, smoothing, error)
    merged = _cells_matrix(counts.shape[:-1]) @ counts.reshape(-1, counts.shape[-1])
    n_parent_states = _n_states(problem, (parent for family in families.values() for parent in family))
    price = kernel_price(problem, merged, n_states, _n_unordered(n_parent_states, len(parents)))
    if made.value > fit - price + _ROUNDING:
        return made
    return Group(key, families, even, fit, price, 0.0, True, smoothing=smoothing, error=error)


def _sizes(problem: Problem, families: Mapping[int, Family]) -> tuple[int, list[int]]:
    """Return how many states of the children and of the parents in each role occur."""
    roles = zip(*families.values(), strict=True)
    return _n_states(problem, families), [_n_states(problem, parents) for parents in roles]


def _n_states(problem: Problem, nodes: Iterable[int]) -> int:
    """Return how many states occur in any of some nodes, which have one alphabet."""
    some = list(nodes)
    first = some[0]
    if len(some) == 1 or problem.occurring[first] == problem.counts.sizes[first]:
        return problem.occurring[first]
    occurs = np.any([problem.counts.marginals[node] > 0 for node in {*some}], axis=0)
    return int(np.count_nonzero(occurs))


def kernel_price(problem: Problem, counts: Floats, n_states: int, n_configurations: int) -> float:
    """Return the price of the kernel of counts [parents …, child], with so many states that may occur."""
    flat = counts.reshape(1, -1, counts.shape[-1])
    return float(kernel_prices(problem, flat, n_states, n_configurations)[0])


def _n_unordered(n_states: int, n_parents: int) -> int:
    """Return the number of joint states of parents without an order."""
    return comb(n_states + n_parents - 1, n_parents)


def kernel_values(problem: Problem, counts: Floats, sizes: Ints, group: Group) -> Floats:
    """Return [table]: values of groups of so many nodes with counts [table, parents …, child], shaped as ``group``.

    Equal to the value of :func:`make_group` where all states of the alphabets occur in the group, else a guess that
    is good enough to say which groups to join.
    """
    flat = counts.reshape(len(counts), -1, counts.shape[-1])
    n_states, n_roles = _sizes(problem, group.families)
    alphabets, several = group.key[1], np.asarray(sizes) > 1
    ordered = _fits(flat) - kernel_prices(problem, flat, n_states, prod(n_roles))
    if not problem.is_exact:
        ordered -= log_orders(alphabets) * np.where(several, sizes, 0)
    if len(alphabets) < 2 or len({*alphabets}) > 1:
        return np.asarray(ordered)
    even = _cells_matrix(counts.shape[1:-1]) @ flat
    unordered = _n_unordered(max(n_roles), len(alphabets))
    symmetric = _fits(even) - kernel_prices(problem, even, n_states, unordered)
    return np.where(several, np.maximum(ordered, symmetric), ordered)


def kernel_prices(problem: Problem, flat: Floats, n_states: int, n_configurations: int) -> Floats:
    """Return [table]: prices of the kernels of counts [table, joint state of the parents, state of the child]."""
    if problem.is_exact:
        return np.zeros(len(flat))
    seen, code = flat.sum(axis=2), problem.penalty.code
    cases = seen.sum(axis=1)
    total, of_parents = x_log_x(cases), x_log_x(seen).sum(axis=1)
    joint = x_log_x(flat).sum(axis=(1, 2))
    described = code(joint - total, cases, n_states * n_configurations, np.count_nonzero(flat, axis=(1, 2)))
    described -= code(of_parents - total, cases, n_configurations, np.count_nonzero(seen, axis=1))
    return np.asarray(joint - of_parents - described)


def _fits(flat: Floats) -> Floats:
    """Return [table]: log-likelihood of the best kernel for counts [table, configuration, state]."""
    return np.asarray(x_log_x(flat).sum(axis=(1, 2)) - x_log_x(flat.sum(axis=-1)).sum(axis=-1))


def _best_fit(counts: Floats, smoothing: float, error: float) -> float:
    """Return the log-likelihood of the best kernel for counts [parents …, child]."""
    if error > 0:  # with errors the best kernel has no formula
        return _log_likelihood(counts, with_errors(_estimate(counts, smoothing, error), error))
    return float(x_log_x(counts).sum() - x_log_x(counts.sum(axis=-1)).sum())


def _log_likelihood(counts: Floats, table: Floats) -> float:
    return float((counts * np.log(np.maximum(table, 1e-300))).sum())


def _estimate(counts: Floats, smoothing: float, error: float) -> Floats:
    """Return frequencies with pseudo-cases for each joint state of the parents, spread as the child is overall.

    Known errors are taken out by EM: a case is either a true state or noise.
    """
    n_states = counts.shape[-1]
    overall = counts.reshape(-1, n_states).sum(axis=0)
    prior = smoothing * (overall + 1 / n_states) / (overall.sum() + 1)
    table = _shares(counts + prior)
    if error > 0:
        for _ in range(_EM_ROUNDS):
            true = (1 - error) * table / np.maximum(with_errors(table, error), 1e-300)
            table = _shares(counts * true + prior)
    return table


def _shares(counts: Floats) -> Floats:
    totals = counts.sum(axis=-1, keepdims=True)
    out = np.full(counts.shape, 1 / counts.shape[-1])
    return np.asarray(np.divide(counts, totals, out=out, where=totals > 0))


def with_errors(table: Floats, error: float) -> Floats:
    """Return (1 - ε) π + ε / S: how a kernel shows when a share ε of the readings is random."""
    return table if error == 0 else (1 - error) * table + error / table.shape[-1]


def _is_symmetric(table: Floats) -> bool:
    axes = range(1, table.ndim - 1)
    return all(np.allclose(table, np.swapaxes(table, 0, axis), atol=1e-12) for axis in axes)


def _symmetrised(table: Floats) -> Floats:
    """Return the mean over all orders of the parents."""
    cell, sizes = unordered_cells(table.shape[:-1])
    means = (_cells_matrix(table.shape[:-1]) @ table.reshape(-1, table.shape[-1])) / sizes[:, None]
    return np.asarray(means[cell].reshape(table.shape))


@lru_cache(maxsize=64)
def unordered_cells(shape: tuple[int, ...]) -> tuple[Ints, Floats]:
    """Return [joint state of the parents]: its number without an order; and how many have each number."""
    grid = np.indices(shape).reshape(len(shape), -1).T
    _, cell, sizes = np.unique(np.sort(grid, axis=1), axis=0, return_inverse=True, return_counts=True)
    return cell.ravel(), sizes.astype(np.float64)


@lru_cache(maxsize=64)
def _cells_matrix(shape: tuple[int, ...]) -> Floats:
    """Return [joint state without an order, joint state]: 1 where they are the same."""
    cell, sizes = unordered_cells(shape)
    return np.asarray(cell == np.arange(len(sizes))[:, None], dtype=np.float64)


@lru_cache(maxsize=256)
def log_orders(alphabets: tuple[int, ...]) -> float:
    """Return the log of the number of orders of parents that leave their alphabets in place."""
    return log(prod(factorial(n) for n in Counter(alphabets).values()))


def x_log_x(counts: Floats) -> Floats:
    """Return x log x, 0 for x = 0."""
    return np.asarray(counts * np.log(np.where(counts > 0, counts, 1.0)))


# ---- nodes ------------------------------------------------------------------------------------------------------


def node_part(problem: Problem, child: int, parents: Sequence[int]) -> float:
    """Return what the score has of one family beside its kernel."""
    return -sum(_node_prices(problem, child, parents))


def _node_prices(problem: Problem, child: int, parents: Sequence[int]) -> tuple[float, float, float]:
    """Return of a family what the child alone explains, the price of choosing the set, and that of gaps."""
    alone, cases = _alone(problem, child, parents)
    sets = problem.choice_cost(child, len(parents)) + problem.indifference * len(parents)
    if problem.is_exact or not problem.counts.has_gaps:
        return alone, sets, 0.0
    return alone, sets, float(gap_price(problem, child, np.asarray(cases), excused=1.0))


def _alone(problem: Problem, child: int, parents: Sequence[int]) -> tuple[float, float]:
    """Return the log-likelihood of the child's own distribution in the cases of a family, and their number."""
    kept = problem.counts.kept.setdefault("alone", {})
    key = (child, *sorted(parents)) if problem.counts.has_gaps else child  # without gaps the cases are the same
    if key not in kept:
        counts = problem.family(child, parents)
        own = counts.reshape(-1, counts.shape[-1]).sum(axis=0)
        kept[key] = float(x_log_x(own).sum() - x_log_x(own.sum())), float(own.sum())
    found: tuple[float, float] = kept[key]
    return found


def root_price(problem: Problem, child: int) -> float:
    """Return the price of a node's own distribution, which it needs when it has no parents."""
    return (
        0.0
        if problem.is_exact
        else kernel_price(problem, problem.counts.marginals[child], problem.occurring[child], 1)
    )


def gap_price(problem: Problem, child: int, cases: Floats, excused: float = 0.0) -> Floats:
    """Return the price of the rows in which the child has a value and its parents do not, for numbers of cases.

    A distribution of S states that was estimated from n cases loses (S - 1) / 2n nats in each further one, compared
    with the one that fits all of them, which a root has; ``excused`` times n of them are free. A distribution of
    its own for the rest is never dearer.
    """
    if not problem.counts.has_gaps:
        return np.zeros(np.shape(cases))
    n_states = problem.occurring[child]
    rest = np.maximum(problem.counts.marginals[child].sum() - cases, 0.0)
    own = problem.penalty.cost(rest, np.full(np.shape(rest), float(n_states)))
    lost = (n_states - 1) / 2 * np.maximum(rest / np.maximum(cases, 1.0) - excused, 0.0)
    return np.where(rest > 0, np.minimum(own, lost), 0.0)


# ---- in-degrees and sharing -------------------------------------------------------------------------------------


def degree_costs(problem: Problem, degrees: Sequence[int]) -> dict[int, float]:
    """Return the price of saying that one more node has each number of parents, given those of all nodes."""
    if problem.is_exact:
        return dict.fromkeys(problem.degrees, 0.0)
    seen = Counter(degree for node, degree in enumerate(degrees) if node in problem.free)
    total = sum(seen.values()) + _HALF * len(problem.degrees)
    return {degree: -log((seen[degree] + _HALF) / total) for degree in problem.degrees}


def degrees_cost(problem: Problem, degrees: Sequence[int]) -> float:
    """Return the price of saying the numbers of parents of all nodes, one after the other."""
    if problem.is_exact:
        return 0.0
    seen = Counter(degree for node, degree in enumerate(degrees) if node in problem.free)
    kinds = len(problem.degrees)
    every = lgamma(sum(seen.values()) + kinds * _HALF) - lgamma(kinds * _HALF)
    return every - sum(lgamma(n + _HALF) - lgamma(_HALF) for n in seen.values())


def sharing_cost(problem: Problem, groups: Iterable[Group]) -> float:
    """Return the price of saying who shares a kernel, for the nodes of each key by themselves.

    One group for all nodes of a key and one for each node are said in a word, and nothing is said where all keys
    follow one of these two limits. Searches that form groups price the limits as any partition meanwhile
    (:func:`forming_cost`), or the first step away from them would never be taken.
    """
    if problem.is_exact:
        return problem.indifference * sum(1 for _ in groups)
    by_key: dict[Key, list[int]] = {}
    for group in groups:
        by_key.setdefault(group.key, []).append(group.size)
    if all(max(sizes) == 1 for sizes in by_key.values()):
        return 0.0
    if all(len(sizes) == 1 for key, sizes in by_key.items() if key[1]):
        return sum(roots_cost(sizes) for key, sizes in by_key.items() if not key[1])
    return sum(_said_cost(sizes) if key[1] else roots_cost(sizes) for key, sizes in by_key.items())


def roots_cost(sizes: Sequence[int]) -> float:
    """Return the price of saying which roots share a distribution.

    Which roots have their own is not paid for, or an edge could be the shorter way to give a column its own.
    """
    shared = tuple(sorted(size for size in sizes if size > 1))
    return partition_cost(shared) if len(shared) > 1 else 0.0


def _said_cost(sizes: Sequence[int]) -> float:
    n_nodes = sum(sizes)
    if n_nodes <= 2:  # there are only the limits
        return log(n_nodes) + _RESERVE * len(sizes)
    limit = len(sizes) in (1, n_nodes)
    return log(3) + (_RESERVE * len(sizes) if limit else forming_cost(sizes, has_parents=True))


def forming_cost(sizes: Iterable[int], *, has_parents: bool) -> float:
    """Return the price of groups of these sizes, of one key, with no better word for the limits."""
    some = tuple(sorted(sizes))
    return (partition_cost(some) if some else 0.0) + _RESERVE * len(some) * has_parents


@lru_cache(maxsize=2**16)
def partition_cost(sizes: tuple[int, ...]) -> float:
    """Return -log of the probability of a partition: the mean of two Chinese restaurants, of few and many tables.

    Under one of these, groups of n_1, n_2, … have probability Π α (n_j - 1)! / (α (α + 1) … (α + n - 1)).
    """
    total, inside = sum(sizes), sum(lgamma(size) for size in sizes)
    logs = [
        lgamma(alpha + total) - lgamma(alpha) - len(sizes) * log(alpha) - inside
        for alpha in (1.0, float(max(total, 1)))
    ]
    least = min(logs)
    return least - log(sum(exp(least - one) for one in logs) / len(logs))


# ---- roots that are drawn together ------------------------------------------------------------------------------


def block_laws(problem: Problem, groups: Iterable[Group]) -> dict[Key, list[Floats]]:
    """Return the distributions [states of earlier members …, next member] that kernels of K parents imply.

    The first K nodes of a component may be drawn from the stationary distribution M_π. The key names the alphabet
    of the members, and has as many places for parents as there are earlier members. The stationary distribution
    depends on which parent comes first, and a learned kernel knows its roles up to their order: every order gives
    one. Windows have no roots, and where the order is open it is not known which roots come first.
    """
    found: dict[Key, list[Floats]] = {}
    if problem.n_heads < 2 or problem.is_open or problem.candidates.is_sequence or len({*problem.labels}) > 1:
        return found
    of_most = [g for g in groups if g.n_parents == problem.n_heads and {*g.key[1]} == {g.key[2]}]
    for group in of_most if len({g.key for g in of_most}) == len(of_most) else ():
        label, alphabets, alphabet = group.key
        if group.table[..., 0].size > _MOST_TUPLES:
            continue
        for order in [*permutations(range(problem.n_heads))][
            : 1 if group.symmetric or group.known else _MOST_ORDERS
        ]:
            try:
                law, _ = stationary_law(group.table.transpose(*order, problem.n_heads))
            except KernelError:  # zeros in the kernel trap the chain: there is no such distribution
                continue
            for size in range(1, problem.n_heads):
                joint = law.sum(axis=tuple(range(size + 1, law.ndim)))
                found.setdefault((label, alphabets[:size], alphabet), []).append(_shares(joint))
    return found


def drawn_gain(problem: Problem, laws: Mapping[Key, list[Floats]], child: int, block: Block) -> float:
    """Return the gain of drawing a root together with earlier ones, less the prices of saying so and of gaps."""
    counts = problem.family(child, block)
    options = [
        float((counts * gain_table(problem.counts, child, law)).sum())
        for law in laws.get(problem.key(child, block), ())
    ]
    if not options or problem.is_exact:
        return max(options, default=-np.inf)
    price = _SAID + log(len(options)) + float(gap_price(problem, child, counts.sum(), excused=1.0))
    return max(options) - price


class OpenBlocks:
    """Blocks of roots that a later root may join, node by node: nobody follows from their members yet.

    Inside a tier nobody comes after another node, so none closes a block there.
    """

    def __init__(self, problem: Problem) -> None:
        self.blocks: list[Block] = []
        self._followed: set[int] = set()
        self._stage = problem.candidates.stage

    def reach(self, node: int) -> list[Block]:
        """Return the blocks that a node may join."""
        if node and self._followed and self._stage[node] != self._stage[node - 1]:
            self.blocks = [block for block in self.blocks if not self._followed & {*block}]
            self._followed = set()
        return self.blocks

    def add(self, node: int, parents: Sequence[int], block: Block) -> None:
        """Take note of the parents of a node, or of the earlier roots that it is drawn with."""
        if parents:
            self._followed.update(parents)
        else:
            if block in self.blocks:
                self.blocks.remove(block)
            self.blocks.append((*block, node))


def joinable(problem: Problem, child: int, blocks: Iterable[Block]) -> list[Block]:
    """Return the blocks of the child's alphabet that have room and on which the child may depend."""
    may, alphabets = problem.candidates.may_be_drawn_with, problem.counts.alphabets
    return [
        block
        for block in blocks
        if len(block) < problem.n_heads
        and all(alphabets[one] == alphabets[child] and may(child, one) for one in block)
        and problem.counts.holds((*block, child))
    ]


# ---- the sum ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Score:
    """The parts of a score, in nats; they add up to ``total``.

    Attributes
    ----------
    gain
        Log-likelihood of the rows over that of independent columns.
    kernels, roles, sets, degrees, sharing, gaps
        Prices: of kernels, of the roles of parents, of the choice of parent sets and of roots to be drawn with, of
        the numbers of parents, of saying who shares kernels, of rows that families leave out.
    """

    gain: float
    kernels: float
    roles: float
    sets: float
    degrees: float
    sharing: float
    gaps: float

    @property
    def total(self) -> float:
        """Gain less all prices."""
        prices = self.kernels + self.roles + self.sets + self.degrees + self.sharing + self.gaps
        return self.gain - prices


def score(
    problem: Problem, groups: Sequence[Group], together: Parents, laws: Mapping[Key, list[Floats]] | None = None
) -> Score | None:
    """Return the score of a graph with its kernels; None where a node has parents that are not allowed.

    Parameters
    ----------
    problem
        What is searched.
    groups
        Every node is in one of them, but for roots that are drawn with earlier ones.
    together
        For every node the earlier roots that it is drawn with.
    laws
        Those of :func:`block_laws`, where they are known already.
    """
    parents: list[Family] = [()] * problem.n_nodes
    for group in groups:
        for child, family in group.families.items():
            parents[child] = family
            if not problem.allows(child, family):
                return None
    gain, sets, gaps = sum(group.fit for group in groups), 0.0, 0.0
    blocks, drawn = OpenBlocks(problem), any(together)
    for child, family in enumerate(parents):
        open_to = blocks.reach(child) if drawn else []
        if together[child]:
            laws = block_laws(problem, groups) if laws is None else laws
            n_open = len(joinable(problem, child, open_to))
            gain += drawn_gain(problem, laws, child, together[child])
            sets += 0.0 if problem.is_exact else log(max(n_open, 1))
        if drawn:
            blocks.add(child, family, together[child])
        if together[child]:
            continue
        alone, price, of_gaps = _node_prices(problem, child, family)
        gain, sets, gaps = gain - alone, sets + price, gaps + of_gaps
    return Score(
        gain=gain,
        kernels=sum(group.price for group in groups),
        roles=sum(group.roles for group in groups),
        sets=sets,
        degrees=degrees_cost(problem, [len(family) for family in parents]),
        sharing=sharing_cost(problem, groups),
        gaps=gaps,
    )
