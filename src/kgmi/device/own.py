"""Parents of children by their own likelihood on a device: where a search without a kernel starts.

The same values as :class:`kgmi.search.own.OwnSearch` gives: the gain over the child's own law less the price of a
kernel of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kgmi.device.information import earlier
from kgmi.device.place import Tensor
from kgmi.device.rows import DeviceRows
from kgmi.penalty import Penalty
from kgmi.types import Floats, Ints

__all__ = ["OwnValues"]


@dataclass(frozen=True, eq=False)
class OwnValues:
    """Values of single candidates, and of pairs with one parent given.

    Attributes
    ----------
    rows
        The rows.
    penalty
        What the free parameters of a kernel cost.
    """

    rows: DeviceRows
    penalty: Penalty

    @cached_property
    def n_occurring(self) -> Tensor:
        """[node]: how many states occur; the others cost nothing."""
        return (self.rows.margins > 0).sum(1)

    @cached_property
    def prices(self) -> Tensor:
        """[occurring states of a child, n]: price of its law in a configuration that was seen n times."""
        import torch

        n_rows = self.rows.n_rows
        seen = np.arange(n_rows + 1, dtype=np.float64)
        states = range(self.rows.n_states + 1)
        table = np.stack([self.penalty.cost(seen, n, n_rows) if n > 1 else np.zeros(n_rows + 1) for n in states])
        return torch.as_tensor(table, device=self.rows.place)

    @cached_property
    def alone(self) -> Tensor:
        """[child]: Σ n log n of its states less N log N, its log-likelihood as a root."""
        return _x_log_x(self.rows.margins).sum(1) - self.rows.n_rows * float(np.log(max(self.rows.n_rows, 1)))

    def singles(self, n_top: int) -> tuple[Floats, Ints]:
        """[child, rank]: values and numbers of the best single parents; -inf and -1 where there are no more."""
        rows = self.rows
        values = np.full((rows.n_nodes, n_top), -np.inf)
        nodes = np.full((rows.n_nodes, n_top), -1)
        seen = rows.margins.long()
        price = self.prices[:, seen].sum(2)  # [occurring states of the child, candidate]
        given = _x_log_x(rows.margins).sum(1)
        for start, end, pairs in rows.counted_pairs():
            gain = -given[None, :end] - self.alone[start:end, None]
            for counts in pairs:
                gain += _x_log_x(counts.double()).sum(1)
            gain -= price[self.n_occurring[start:end], :end]
            gain.masked_fill_(~earlier(rows, start, end), -np.inf)
            top, place = gain.topk(min(n_top, end), dim=1)
            width = top.shape[1]
            values[start:end, :width] = top.cpu().numpy()
            nodes[start:end, :width] = np.where(np.isfinite(values[start:end, :width]), place.cpu().numpy(), -1)
        return values, nodes

    def seconds(self, children: Ints, leads: Ints) -> tuple[Floats, Ints]:
        """[item]: value and second parent of the best pair with the given lead; children in rising order."""
        import torch

        rows = self.rows
        n_states, n_cells = rows.n_states, rows.n_states**2
        values, nodes = np.full(len(children), -np.inf), np.full(len(children), -1)
        start = 0
        while start < len(children):
            size = rows.tile_size(n_cells, int(children[-1]))
            here = slice(start, min(start + size, len(children)))
            width = int(children[here.stop - 1])
            some, lead = (torch.as_tensor(np.array(nodes[here]), device=rows.place) for nodes in (children, leads))
            kinds = self.n_occurring[some][:, None, None]
            gain = -self.alone[some][:, None].repeat(1, width)
            for counts in rows.families(some, lead, width):
                cells = counts.unflatten(1, (n_states, n_states))  # [child, state of lead, own state, …]
                seen = cells.sum(2)
                gain += _x_log_x(counts.double()).sum(1) - _x_log_x(seen.double()).sum(1)
                gain -= self.prices[kinds, seen.long()].sum(1)
            columns = torch.arange(width, device=rows.place)[None]
            gain.masked_fill_((columns >= some[:, None]) | (columns == lead[:, None]), -np.inf)
            best, place = gain.max(1)
            values[here], nodes[here] = best.cpu().numpy(), place.cpu().numpy()
            start = here.stop
        return values, nodes


def _x_log_x(x: Tensor) -> Tensor:
    import torch

    return torch.xlogy(x, x)
