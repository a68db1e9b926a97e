"""A search for parents and kernels on a device: all children at once, until the graph stops changing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgmi.device.blocks import drawn_together
from kgmi.device.choices import Prices, Task
from kgmi.device.first import first_counts
from kgmi.device.heads import best_singles, best_tuples, log_table
from kgmi.device.own import OwnValues
from kgmi.device.place import Clock
from kgmi.device.rows import DeviceRows
from kgmi.progress import tell
from kgmi.search.pools import Pool, is_symmetric, make_pool
from kgmi.types import Floats, Ints, Parents

__all__ = ["DeviceFound", "search_device"]

_LEADS = 4
_ROUNDS_FROM_LEADS = 2  # the first kernel may be poor: then heads start once more from where they began


@dataclass(frozen=True, eq=False)
class DeviceFound:
    """What a search on a device ended with: as :class:`kgmi.search.alternate.State`, kernels by in-degree."""

    parents: Parents
    together: Parents
    pools: dict[int, Pool]
    rounds: int
    settled: bool


def search_device(rows: DeviceRows, task: Task, clock: Clock) -> DeviceFound:
    """Parents of all nodes and the kernels that they share.

    The parents of each child by its own likelihood give a first kernel; then heads and kernels take turns. Parents
    none of which tells anything by itself (XOR) are not found: that needs the search on the CPU.
    """
    return _Search(rows, task, clock).run()


class _Search:
    """The state of a search, round by round."""

    def __init__(self, rows: DeviceRows, task: Task, clock: Clock) -> None:
        self.rows, self.task, self.clock = rows, task, clock
        self.prices = Prices(rows, task)
        self.own = OwnValues(rows, task.penalty)
        self.values, self.leads = self.own.singles(_LEADS)
        clock.mark("leads")
        self.pools: dict[int, Pool] = {}
        self.tuples = np.full((rows.n_nodes, 2), -1)
        self.given_up: dict[int, Pool] = {}  # kernels that did not pay
        self.is_tried = False  # whether a kernel is new: for a round all in-degrees then cost the same

    def run(self) -> DeviceFound:
        """Rounds until nothing changes."""
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
        """The kernels to begin with: those known, or those of children with strong evidence."""
        for degree, table in self.task.known.items():
            self.pools[degree] = Pool(np.zeros(table.shape), table, 0, is_symmetric(table), True)
        if self.task.known:
            return
        if self.task.n_heads == 2:
            counts, n_nodes = first_counts(self.own, self.values, self.leads)
            if n_nodes:
                self.pools[2] = self._made(counts, n_nodes)
        if 2 not in self.pools and 1 in self.task.degrees:
            self._first_single_pool(np.zeros(self.rows.n_nodes))

    def _first_single_pool(self, worth: Floats) -> None:
        """A kernel of one parent from the children that would rather have one, with a kernel of their own."""
        strength = self.values[:, 0] - self.prices.choices(1)
        children = np.flatnonzero((self.leads[:, 0] >= 0) & (strength > worth))
        if len(children):
            counts = self.rows.tables(children, self.leads[children, 0]).sum(axis=0)
            self.pools[1] = self._made(counts, len(children))

    def _made(self, counts: Floats, n_nodes: int) -> Pool:
        return make_pool(
            counts, n_nodes, self.task.penalty, smoothing=self.task.smoothing, error=0.0, exchangeable=True
        )

    def _choose(self, costs: dict[int, float], number: int) -> tuple[Parents, Ints]:
        """In-degree and parents of every child under the present kernels, and with whom a root is drawn."""
        n_nodes = self.rows.n_nodes
        found: dict[int, tuple[Floats, Ints]] = {
            0: (self.prices.as_roots(self.pools.get(0)), np.zeros((n_nodes, 0), dtype=np.int64))
        }
        if 1 in self.pools:
            found[1] = self._singles(self.pools[1])
        if 2 in self.pools:
            found[2] = self._pairs(self.pools[2], number)
        is_free = np.isin(np.arange(n_nodes), self.prices.free)
        paid = np.stack([worth - is_free * costs[degree] for degree, (worth, _) in found.items()])
        best = paid.argmax(axis=0)
        options = list(found.values())
        parents = [tuple(options[which][1][child].tolist()) for child, which in enumerate(best.tolist())]
        partner = drawn_together(self.prices, self.pools.get(2), parents, paid.max(axis=0), found[0][0], costs[0])
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
                mine = np.array([child for child, ps in enumerate(parents) if len(ps) == degree], dtype=np.int64)
                others = np.delete(paid, row, axis=0)[:, mine].max(axis=0)
                cost = self.pools[degree].cost(self.task.penalty)
                surplus[degree] = float((paid[row, mine] - others).sum()) - cost
        worst = min(surplus, key=lambda degree: surplus[degree])
        if surplus[worst] <= 0:
            self.given_up[worst] = self.pools.pop(worst)

    def _singles(self, pool: Pool) -> tuple[Floats, Ints]:
        best, _ = best_singles(self.rows, log_table(pool.seen))
        return self._worth(pool, best[:, None]), best[:, None]

    def _pairs(self, pool: Pool, number: int) -> tuple[Floats, Ints]:
        """The best tuple of every child from several starts: its lead in either role, and where it was."""
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
        """[child]: worth of parents [child, role]; -inf where one is missing."""
        children = np.flatnonzero((parents >= 0).all(axis=1))
        worth = np.full(self.rows.n_nodes, -np.inf)
        counts = self.rows.tables(children, *parents[children].T)
        worth[children] = self.prices.of_families(pool, children, counts)
        return worth

    def _pool(self, parents: Parents) -> None:
        """Kernels from the families that were chosen; those of nobody stay as they were."""
        for degree in self.task.degrees:
            children = np.array([child for child, ps in enumerate(parents) if len(ps) == degree], dtype=np.int64)
            if not len(children) or degree in self.given_up:
                continue
            chosen = np.array([parents[child] for child in children], dtype=np.int64).reshape(len(children), degree)
            counts = self.rows.tables(children, *chosen.T).sum(axis=0)
            if degree in self.task.known:
                table = self.task.known[degree]
                self.pools[degree] = Pool(counts, table, len(children), is_symmetric(table), True)
            elif degree or not self.task.known:
                self.pools[degree] = self._made(counts, len(children))
