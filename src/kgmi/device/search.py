"""A search for parents and kernels on a device: all children at once, until the graph stops changing."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import log

import numpy as np

from kgmi.counts.torch import TorchCounts
from kgmi.device.heads import Clock, OwnValues, best_singles, best_tuples, family_tables, log_table, own_fits
from kgmi.errors import KernelError
from kgmi.kernel import Kernel
from kgmi.penalty import Penalty, log_choices
from kgmi.progress import tell
from kgmi.search.pools import Pool, is_symmetric, make_pool
from kgmi.types import Floats, Ints, Parents

__all__ = ["DeviceFound", "Task", "aligned", "search_device"]

_HALF = 0.5  # pseudo-nodes of every in-degree (Krichevsky and Trofimov)
_LEADS = 4  # single parents of each child that are extended by a second one
_ROUNDS_FROM_LEADS = 2  # the first kernel may be poor: then heads start once more from where they began
_BATCH, _MOST_BATCHES = 256, 4  # children whose own pairs of parents are looked at
_ENOUGH = 16  # children with two parents make a first kernel
_TURNS = 5  # rounds of turning roles around
_MARGIN = 2.0  # nats by which two roots must be explained better together than alone, as in a search on the CPU


@dataclass(frozen=True)
class Task:
    """What a search on a device may do; see :class:`kgmi.search.plan.Plan`."""

    n_heads: int
    degrees: tuple[int, ...]
    penalty: Penalty
    smoothing: float = 1.0
    known: dict[int, Floats] = field(default_factory=dict)
    rounds: int = 50


@dataclass(frozen=True, eq=False)
class DeviceFound:
    """What a search on a device ended with: as :class:`kgmi.search.alternate.State`, kernels by in-degree."""

    parents: Parents
    together: Parents
    pools: dict[int, Pool]
    rounds: int
    settled: bool


def search_device(rows: TorchCounts, task: Task, clock: Clock) -> DeviceFound:
    """Return parents of all nodes and the kernels that they share.

    The parents of each child by its own likelihood give a first kernel; then heads and kernels take turns. Parents
    none of which tells anything by itself (XOR) are not found: that needs the search on the CPU.
    """
    return _Search(rows, task, clock).run()


@dataclass(frozen=True, eq=False)
class _Prices:
    """Gains less prices of all nodes, as :mod:`kgmi.search.tuples` and ``plan`` have them."""

    rows: TorchCounts
    task: Task

    @cached_property
    def margins(self) -> Floats:
        """[node, state]: counts."""
        return np.asarray(self.rows.margins.cpu().numpy())

    @cached_property
    def own_fit(self) -> Floats:
        """[node]: log-likelihood of its own law, which gains are over."""
        return own_fits(self.rows)

    @cached_property
    def of_roots(self) -> Floats:
        """[node]: price of its own law, or, for no parameters, what even odds fit worse."""
        total = self.rows.n_rows
        occurring = (self.margins > 0).sum(axis=1)
        prices = np.zeros(self.rows.n_codes + 1)
        for n in range(2, self.rows.n_codes + 1):
            prices[n] = self.task.penalty.cost(np.array([total]), n, total)[0]
        even = total * np.log(np.maximum(occurring, 1)) + self.own_fit
        return np.asarray(np.minimum(prices[occurring], np.maximum(even, 0.0)))

    def choices(self, degree: int) -> Floats:
        """Return [child]: log of the number of its parent sets of this size; infinite with fewer candidates."""
        from scipy.special import gammaln

        n = np.arange(self.rows.n_nodes, dtype=np.float64)
        many = gammaln(n + 1) - gammaln(degree + 1) - gammaln(np.maximum(n - degree, 0) + 1)
        return np.where(n >= degree, many, np.inf)

    def of_degrees(self, degrees: Ints | None) -> dict[int, float]:
        """Return the price of saying that a node has this in-degree, given those of all nodes."""
        seen = [] if degrees is None else degrees[max(self.task.degrees) :].tolist()
        total = len(seen) + _HALF * len(self.task.degrees)
        return {degree: -log((seen.count(degree) + _HALF) / total) for degree in self.task.degrees}

    def as_roots(self, shared: Pool | None) -> Floats:
        """Return [node]: worth of no parents: a law of its own, which costs parameters, or that of all roots."""
        if shared is None:
            return -self.of_roots
        return np.maximum(-self.of_roots, self.margins @ log_table(shared.seen) - self.own_fit)

    def of_families(self, pool: Pool, children: Ints, counts: Floats) -> Floats:
        """Return [item]: worth of the parents behind ``counts`` [item, states of the parents …, of the child]."""
        gains = counts.reshape(len(counts), -1) @ log_table(pool.seen).ravel() - self.own_fit[children]
        return np.asarray(gains - self.choices(pool.n_parents)[children] - pool.order_cost)


class _Search:
    """The state of a search, round by round."""

    def __init__(self, rows: TorchCounts, task: Task, clock: Clock) -> None:
        self.rows, self.task, self.clock = rows, task, clock
        self.prices = _Prices(rows, task)
        self.own = OwnValues(rows, task.penalty)
        self.values, self.leads = self.own.singles(_LEADS)
        clock.mark("leads")
        self.pools: dict[int, Pool] = {}
        self.tuples = np.full((rows.n_nodes, 2), -1)
        self.given_up: dict[int, Pool] = {}  # kernels that did not pay
        self.is_tried = False  # whether a kernel is new: for a round all in-degrees then cost the same

    def run(self) -> DeviceFound:
        """Take turns until nothing changes."""
        self._first_pools()
        self.clock.mark("first kernel")
        costs = self.prices.of_degrees(None)
        before: tuple[Parents, bytes] | None = None
        settled, number = False, 0
        for number in range(1, self.task.rounds + 1):
            tell("search", number - 1, None, "rounds")
            offered = {*self.pools}
            parents, partner = self._choose(costs, number)
            now = (parents, partner.tobytes())
            settled = now == before and offered == {*self.pools}  # else nodes have a kernel to try, or to leave
            if settled:
                break
            before = now
            degrees = np.array([len(chosen) for chosen in parents])
            costs = self.prices.of_degrees(None if self.is_tried else degrees)
            self.is_tried = False
            self._pool(parents)
        self.clock.mark("heads")
        together = tuple((int(one),) if one >= 0 else () for one in partner)
        return DeviceFound(parents, together, self.given_up | self.pools, number, settled)

    def _first_pools(self) -> None:
        """Make the kernels to begin with: those known, or those of children with strong evidence."""
        for degree, table in self.task.known.items():
            self.pools[degree] = Pool(np.zeros(table.shape), table, 0, is_symmetric(table), True)
        if self.task.known:
            return
        if self.task.n_heads == 2:
            families = self._first_families()
            if len(families):
                self.pools[2] = self._made(aligned(families).sum(axis=0), len(families))
        if 2 not in self.pools and 1 in self.task.degrees:
            self._first_single_pool(np.zeros(self.rows.n_nodes))

    def _first_families(self) -> Floats:
        """Return counts [family, s_1, s_2, s'] of some hundred children with strong evidence, strongest first."""
        n_nodes = self.rows.n_nodes
        nodes = np.arange(n_nodes)
        strength = np.where(nodes >= 2, self.values[:, 0] - np.log(np.maximum(nodes, 1)), -np.inf)
        order = np.argsort(-strength, kind="stable")
        order = order[np.isfinite(strength[order])]
        tables, weights = [np.zeros((0,) + (self.rows.n_codes,) * 3)], [np.zeros(0)]
        for number in range(_MOST_BATCHES):
            children = np.sort(order[number * _BATCH : (number + 1) * _BATCH])
            if not len(children) or sum(map(len, weights)) >= max(1, min(_ENOUGH, n_nodes // 4)):
                break
            value, first, second = self._best_pairs(children)
            paid = value - np.array([log_choices(int(child), 2) for child in children])
            good = paid > np.maximum(strength[children], 0.0)
            tables.append(family_tables(self.rows, children[good], first[good], second[good]))
            weights.append(paid[good])
        return np.asarray(np.concatenate(tables)[np.argsort(-np.concatenate(weights), kind="stable")])

    def _best_pairs(self, children: Ints) -> tuple[Floats, Ints, Ints]:
        """Return [child]: value, lead and second parent of the best pair that extends one of the leads."""
        best, first, second = (
            np.full(len(children), -np.inf),
            np.full(len(children), -1),
            np.full(len(children), -1),
        )
        for lead in self.leads[children].T:
            has = np.flatnonzero(lead >= 0)
            value, other = self.own.seconds(children[has], lead[has])
            better = value > best[has]
            which = has[better]
            best[which], first[which], second[which] = value[better], lead[which], other[better]
        return best, first, second

    def _first_single_pool(self, worth: Floats) -> None:
        """Make a kernel of one parent from the children that would rather have one, with a kernel of their own."""
        strength = self.values[:, 0] - self.prices.choices(1)
        children = np.flatnonzero((self.leads[:, 0] >= 0) & (strength > worth))
        if len(children):
            self.pools[1] = self._made(
                family_tables(self.rows, children, self.leads[children, 0]).sum(axis=0), len(children)
            )

    def _made(self, counts: Floats, n_nodes: int) -> Pool:
        return make_pool(
            counts, n_nodes, self.task.penalty, smoothing=self.task.smoothing, error=0.0, exchangeable=True
        )

    def _choose(self, costs: dict[int, float], number: int) -> tuple[Parents, Ints]:
        """Return in-degree and parents of every child under the present kernels, and with whom a root is drawn."""
        n_nodes = self.rows.n_nodes
        found: dict[int, tuple[Floats, Ints]] = {
            0: (self.prices.as_roots(self.pools.get(0)), np.zeros((n_nodes, 0), dtype=np.int64))
        }
        if 1 in self.pools:
            best = best_singles(self.rows, log_table(self.pools[1].seen))[:, None]
            found[1] = self._worth(self.pools[1], best), best
        if 2 in self.pools:
            found[2] = self._pairs(self.pools[2], number)
        is_free = np.arange(n_nodes) >= max(self.task.degrees)  # these can have any of the in-degrees
        paid = np.stack([worth - is_free * costs[degree] for degree, (worth, _) in found.items()])
        options = list(found.values())
        parents = [tuple(options[which][1][child].tolist()) for child, which in enumerate(paid.argmax(axis=0))]
        partner = self._drawn_together(parents, paid.max(axis=0), found[0][0], costs[0])
        if 1 in found and not self.task.known:
            self._weigh(parents, paid, list(found))
        elif 1 in self.task.degrees and not self.task.known and 1 not in self.given_up:
            self._first_single_pool(np.where(partner >= 0, np.inf, paid.max(axis=0)))
            self.is_tried = 1 in self.pools
        return tuple(parents), partner

    def _weigh(self, parents: list[tuple[int, ...]], paid: Floats, degrees: list[int]) -> None:
        """Give up the kernel whose nodes pay least for it, where that is too little: they can move elsewhere."""
        surplus: dict[int, float] = {}
        for row, degree in enumerate(degrees):
            if degree:
                mine = _having(degree, parents)
                others = np.delete(paid, row, axis=0)[:, mine].max(axis=0)
                cost = self.pools[degree].cost(self.task.penalty)
                surplus[degree] = float((paid[row, mine] - others).sum()) - cost
        worst = min(surplus, key=lambda degree: surplus[degree])
        if surplus[worst] <= 0:
            self.given_up[worst] = self.pools.pop(worst)

    def _pairs(self, pool: Pool, number: int) -> tuple[Floats, Ints]:
        """Return the best tuple of every child from several starts: its lead in either role, and where it was."""
        starts = []
        if number <= _ROUNDS_FROM_LEADS:
            lead, none = self.leads[:, 0], np.full(self.rows.n_nodes, -1)
            starts += [np.stack([lead, none], axis=1), np.stack([none, lead], axis=1)]
        if number > 1:
            starts += [self.tuples, self.tuples[:, ::-1]]
        if pool.symmetric:
            starts = starts[::2]
        worth = np.full(self.rows.n_nodes, -np.inf)
        for start in starts:
            ended = best_tuples(self.rows, log_table(pool.seen), start)
            now = self._worth(pool, ended)
            better = now > worth
            worth[better], self.tuples[better] = now[better], ended[better]
        return worth, self.tuples.copy()

    def _worth(self, pool: Pool, parents: Ints) -> Floats:
        """Return [child]: worth of parents [child, role]; -inf where one is missing."""
        children = np.flatnonzero((parents >= 0).all(axis=1))
        worth = np.full(self.rows.n_nodes, -np.inf)
        counts = family_tables(self.rows, children, *parents[children].T)
        worth[children] = self.prices.of_families(pool, children, counts)
        return worth

    def _pool(self, parents: Parents) -> None:
        """Make kernels from the families that were chosen; those of nobody stay as they were."""
        for degree in self.task.degrees:
            children = _having(degree, parents)
            if not len(children) or degree in self.given_up:
                continue
            chosen = np.array([parents[child] for child in children], dtype=np.int64).reshape(len(children), degree)
            counts = family_tables(self.rows, children, *chosen.T).sum(axis=0)
            if degree in self.task.known:
                table = self.task.known[degree]
                self.pools[degree] = Pool(counts, table, len(children), is_symmetric(table), True)
            elif degree or not self.task.known:
                self.pools[degree] = self._made(counts, len(children))

    def _drawn_together(self, parents: list[tuple[int, ...]], worth: Floats, alone: Floats, said: float) -> Ints:
        """Return [node]: the earlier root that it is drawn with, or -1; such a node loses its ``parents``.

        As in :mod:`kgmi.search.blocks`: a root is open as long as nobody follows from it or was drawn with it.
        Only nodes with less than two parents are looked at. ``worth`` is that of the parents that each node has,
        ``alone`` that of none, and ``said`` the price of saying that it has none.
        """
        partner = np.full(len(parents), -1)
        laws = _laws(self.pools.get(2))
        few = np.array([node for node, chosen in enumerate(parents) if len(chosen) < 2])
        if not laws or len(few) < 2:
            return partner
        gains = self._gains(laws, few) - log(len(laws))
        place = {int(node): number for number, node in enumerate(few)}
        is_open = np.zeros(len(few), dtype=bool)
        for node, chosen in enumerate(parents):
            number = place.get(node)
            if number is not None:
                row = np.where(is_open, gains[number], -np.inf)
                first = int(row.argmax())
                value = row[first] - log(max(int(is_open.sum()), 1))
                if value - said > worth[node] and value > alone[node] + _MARGIN:
                    partner[node] = few[first]
                    is_open[first] = False
                    parents[node] = chosen = ()
                elif not chosen:
                    is_open[number] = True
            for parent in chosen:
                if parent in place:
                    is_open[place[parent]] = False
        return partner

    def _gains(self, laws: list[Floats], nodes: Ints) -> Floats:
        """Return [node, earlier node]: gain of the node under the law that suits it best, given the other."""
        numbers = self.rows.numbers(nodes)
        found = []
        for here in numbers.split(self.rows.tile_size(self.rows.n_codes, len(nodes))):
            block = self.rows.block(here[:, None], numbers)
            gains = [self.rows.weighed(block, log_table(law)).cpu().numpy() for law in laws]
            found.append(np.max(gains, axis=0))
        return np.asarray(np.concatenate(found) - self.prices.own_fit[nodes][:, None])


def _having(degree: int, parents: list[tuple[int, ...]] | Parents) -> Ints:
    return np.array([child for child, chosen in enumerate(parents) if len(chosen) == degree], dtype=np.int64)


def _laws(pool: Pool | None) -> list[Floats]:
    """Return [earlier root, next root]: what the kernel implies, with its parents in either order."""
    if pool is None:
        return []
    tables = [pool.table] if pool.symmetric or pool.known else [pool.table, pool.table.swapaxes(0, 1)]
    found = []
    for table in tables:
        try:
            joint = Kernel(table).stationary
        except KernelError:  # zeros in the kernel trap the chain: no such law
            continue
        total = joint.sum(axis=-1, keepdims=True)
        found.append(np.divide(joint, total, out=np.full(joint.shape, 1 / len(joint)), where=total > 0))
    return found


def aligned(counts: Floats) -> Floats:
    """Return tables [family, s_1, s_2, s'] with the parents in the roles in which all fit one kernel best.

    Pooled as they come, half of them would have their parents the wrong way round, and the mean of a kernel and its
    mirror image guides nobody. As in :func:`kgmi.search.starts.grown`: one after the other first, then all again.
    """
    turned, out = counts.swapaxes(1, 2), counts.copy()
    for family in range(1, len(counts)):
        logs = _logs(out[:family].sum(axis=0))
        if float((turned[family] * logs).sum()) > float((counts[family] * logs).sum()):
            out[family] = turned[family]
    for _ in range(_TURNS):
        logs = _logs(out.sum(axis=0))
        fits = np.stack([np.einsum("fabc,abc->f", one, logs) for one in (counts, turned)])
        now = np.where((fits[1] > fits[0])[:, None, None, None], turned, counts)
        if (now == out).all():
            break
        out = now
    return out


def _logs(counts: Floats) -> Floats:
    """Return the log of the kernel that fits best, lightly smoothed."""
    overall = counts.reshape(-1, counts.shape[-1]).sum(axis=0) + 1e-9
    table = counts + overall / overall.sum()
    return np.asarray(np.log(table / table.sum(axis=-1, keepdims=True)))
