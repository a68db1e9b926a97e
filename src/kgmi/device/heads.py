"""Scores of heads on a device: candidates under one kernel, and parents by a child's own likelihood."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from time import perf_counter
from typing import Any

import numpy as np
import torch

from kgmi.counts.torch import Tensor, TorchCounts, wait_for
from kgmi.guides.likelihood import IMPOSSIBLE
from kgmi.memory import at_most
from kgmi.penalty import Penalty
from kgmi.search.pools import Pool
from kgmi.types import Bools, Floats, Ints, Parents, ScoreTable

__all__ = [
    "Clock",
    "OwnValues",
    "best_singles",
    "best_tuples",
    "earlier",
    "family_tables",
    "head_scorer",
    "head_table",
    "log_table",
    "own_fits",
]

_INDIFFERENT = 1e-9  # nats by which a head must be better to move
_MOST_SWEEPS = 40
_FAMILY_CELLS = 2**25  # codes of families that are counted code by code at a time
_FAMILY_BYTES = 32  # of such a code


class Clock:
    """Seconds of every phase of a fit, the work on the device included."""

    def __init__(self, place: Any) -> None:
        self.seconds: dict[str, float] = {}
        self._place, self._last = place, perf_counter()

    def mark(self, phase: str) -> None:
        """Add the time since the last mark to a phase."""
        wait_for(self._place)
        now = perf_counter()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self._last
        self._last = now


def log_table(kernel: Floats) -> Floats:
    """Return log π; the child's own law, which gains are over, is the same for all of its candidates."""
    return np.asarray(np.log(np.maximum(kernel, IMPOSSIBLE)))


def own_fits(rows: TorchCounts) -> Floats:
    """Return [node]: log-likelihood of the node's own law."""
    margins = rows.margins.cpu().numpy()
    share = margins / rows.n_rows
    return np.asarray((margins * np.log(np.where(share > 0, share, 1.0))).sum(axis=1))


def earlier(rows: TorchCounts, start: int, end: int) -> Tensor:
    """Return [child, candidate]: whether the candidate comes first, for children start..end-1."""
    nodes = torch.arange(end, device=rows.place)
    return nodes[None] < nodes[start:end, None]


def _without(scores: Tensor, children: Tensor, others: Tensor) -> Tensor:
    """Set scores [item, candidate] of the other parent, and from the child on, to -inf."""
    columns = torch.arange(scores.shape[1], device=scores.device)[None]
    return scores.masked_fill_((columns >= children[:, None]) | (columns == others[:, None]), -np.inf)


def _single_scores(rows: TorchCounts, logs: Floats, start: int, end: int) -> Tensor:
    """Return [child, candidate]: log-likelihood of children start..end-1 with one parent."""
    scores = rows.weighed(rows.block(slice(start, end), end), logs)
    return scores.masked_fill_(~earlier(rows, start, end), -np.inf)


def _pair_scores(
    rows: TorchCounts, logs: Floats, head: int, children: Tensor, others: Tensor, width: int
) -> Tensor:
    """Return [item, candidate]: log-likelihood with each candidate for ``head``, the other parent as it is."""
    weights = np.moveaxis(logs, head, 0).reshape(len(logs), -1)  # [candidate, (other, child)]
    block = rows.block(torch.stack([others, children], dim=1), width)
    return _without(rows.weighed(block, weights), children, others)


def _tiles(rows: TorchCounts, children: Ints, others: Ints) -> Iterator[tuple[slice, Tensor, Tensor, int]]:
    """Yield rising children with one parent in tiles: which, they, their parents, and the number of candidates."""
    n_cells, start = rows.n_codes**2, 0
    while start < len(children):
        ahead = children[min(start + rows.tile_size(n_cells, 1), len(children)) - 1]
        here = slice(start, min(start + rows.tile_size(n_cells, int(ahead)), len(children)))
        yield here, rows.numbers(children[here]), rows.numbers(others[here]), int(children[here.stop - 1])
        start = here.stop


def family_tables(rows: TorchCounts, children: Ints, *parents: Ints) -> Floats:
    """Return [item, states of the parents …, state of the child]: counts of chosen families.

    The children, and the parents of each place, have equally many states.
    """
    nodes = np.stack([*parents, children], axis=1)
    shape = [rows.sizes[node] for node in nodes[0].tolist()] if len(nodes) else [max(rows.sizes)] * nodes.shape[1]
    n_kinds, out = prod(shape) + rows.has_gaps, np.empty((len(nodes), prod(shape)))
    step = max(1, at_most(_FAMILY_CELLS, _FAMILY_BYTES) // max(len(rows.codes), n_kinds))
    for start in range(0, len(nodes), step):
        cells = rows.joint_states(rows.numbers(nodes[start : start + step]))[:, : len(rows.codes)].int()
        cells += n_kinds * torch.arange(len(cells), device=rows.place, dtype=torch.int32)[:, None]
        counts = torch.bincount(cells.reshape(-1), minlength=n_kinds * len(cells))
        out[start : start + step] = counts.view(-1, n_kinds)[:, : prod(shape)].cpu().numpy()
    return out.reshape(-1, *shape)


def best_singles(rows: TorchCounts, logs: Floats) -> Ints:
    """Return [child]: the best single parent under a kernel; -1 for the first node."""
    best = np.full(rows.n_nodes, -1)
    for start, end in rows.tiles(rows.n_codes):
        best[start:end] = _single_scores(rows, logs, start, end).argmax(1).cpu().numpy()
    best[0] = -1
    return best


def best_tuples(rows: TorchCounts, logs: Floats, starts: Ints) -> Ints:
    """Return ``starts`` [child, head] after its heads have moved one by one until none would.

    A start may leave one head open (-1), which then moves first; children without a start (all -1) stay so.
    """
    parents = np.array(starts)
    stale = np.stack([parents[:, 1] >= 0, parents[:, 0] >= 0], axis=1)  # heads to look at: the other is there
    for sweep in range(_MOST_SWEEPS):
        if not stale.any():
            break
        head = sweep % 2 if stale[:, sweep % 2].any() else 1 - sweep % 2
        items = np.flatnonzero(stale[:, head])
        stale[items, head] = False
        moved = _move(rows, logs, parents, head, items)
        stale[items[moved], 1 - head] = True
    return parents


def _move(rows: TorchCounts, logs: Floats, parents: Ints, head: int, items: Ints) -> Bools:
    """Move one head of some children to its best candidate, in place, and return which have moved."""
    moved = np.zeros(len(items), dtype=bool)
    for here, children, others, width in _tiles(rows, items, parents[items, 1 - head]):
        scores = _pair_scores(rows, logs, head, children, others, width)
        top, place = (one.cpu().numpy() for one in scores.max(1))
        some = items[here]
        now = parents[some, head]
        present = scores.gather(1, rows.numbers(np.maximum(now, 0))[:, None])[:, 0].cpu().numpy()
        better = ((now < 0) | (top > present + _INDIFFERENT)) & np.isfinite(top)
        parents[some[better], head] = place[better]
        moved[here] = better & (place != now)
    return moved


@dataclass(frozen=True, eq=False)
class OwnValues:
    """Values of parents with a kernel of the child's own, as :class:`kgmi.search.own.OwnSearch` has them."""

    rows: TorchCounts
    penalty: Penalty

    @cached_property
    def n_occurring(self) -> Tensor:
        """[node]: how many states occur; the others cost nothing."""
        return (self.rows.margins > 0).sum(1)

    @cached_property
    def prices(self) -> Tensor:
        """[occurring states of a child, n]: price of its law in a configuration that was seen n times."""
        seen = np.arange(self.rows.n_rows + 1)
        states = range(self.rows.n_codes + 1)
        cost = self.penalty.cost
        table = np.stack([cost(seen, n, self.rows.n_rows) if n > 1 else np.zeros(len(seen)) for n in states])
        return torch.as_tensor(table, device=self.rows.place)

    @cached_property
    def alone(self) -> Tensor:
        """[child]: Σ n log n of its states less N log N, its log-likelihood as a root."""
        return _x_log_x(self.rows.margins).sum(1) - self.rows.n_rows * float(np.log(max(self.rows.n_rows, 1)))

    def singles(self, n_top: int) -> tuple[Floats, Ints]:
        """Return [child, rank]: values and numbers of the best single parents; -inf and -1 where there are none."""
        rows = self.rows
        values, nodes = np.full((rows.n_nodes, n_top), -np.inf), np.full((rows.n_nodes, n_top), -1)
        price = self.prices[:, rows.margins.long()].sum(2)  # [occurring states of the child, candidate]
        given = _x_log_x(rows.margins).sum(1)
        for start, end, block in rows.pair_blocks():
            gain = -given[None, :end] - self.alone[start:end, None]
            for counts in block:
                gain += _x_log_x(counts.double()).sum(1)
            gain -= price[self.n_occurring[start:end], :end]
            gain.masked_fill_(~earlier(rows, start, end), -np.inf)
            top, place = (one.cpu().numpy() for one in gain.topk(min(n_top, end), dim=1))
            values[start:end, : top.shape[1]] = top
            nodes[start:end, : top.shape[1]] = np.where(np.isfinite(top), place, -1)
        return values, nodes

    def seconds(self, children: Ints, leads: Ints) -> tuple[Floats, Ints]:
        """Return [item]: value and second parent of the best pair with the given lead; children in rising order."""
        values, nodes = np.full(len(children), -np.inf), np.full(len(children), -1)
        for here, some, lead, width in _tiles(self.rows, children, leads):
            kinds = self.n_occurring[some][:, None, None]
            gain = -self.alone[some][:, None].repeat(1, width)
            for counts in self.rows.block(torch.stack([lead, some], dim=1), width):
                seen = counts.unflatten(1, (self.rows.n_codes, -1)).sum(2)  # [child, state of the lead, candidate]
                gain += _x_log_x(counts.double()).sum(1) - _x_log_x(seen.double()).sum(1)
                gain -= self.prices[kinds, seen.long()].sum(1)
            best, place = _without(gain, some, lead).max(1)
            values[here], nodes[here] = best.cpu().numpy(), place.cpu().numpy()
        return values, nodes


def _x_log_x(x: Tensor) -> Tensor:
    return torch.xlogy(x, x)


def head_scorer(
    rows: TorchCounts, parents: Parents, pools: Mapping[int, Pool], n_heads: int
) -> Callable[[int, int], Tensor]:
    """Return (start, end) → gains [head, child, candidate] of children start..end-1; -inf where there is no choice.

    As :func:`kgmi.search.head_table`: every candidate in the place of the head's parent, the other parent as it is.
    """
    degrees, own = np.array([len(chosen) for chosen in parents]), torch.as_tensor(own_fits(rows), device=rows.place)
    table = np.array([(*chosen, -1, -1)[:2] for chosen in parents])

    def scored(start: int, end: int) -> Tensor:
        out = torch.full((n_heads, end - start, end), -np.inf, dtype=torch.float64, device=rows.place)
        one, two = (np.flatnonzero(degrees[start:end] == degree) for degree in (1, 2))
        if len(one):
            which = rows.numbers(one)
            out[0, which] = _single_scores(rows, log_table(pools[1].seen), start, end)[which]
        if len(two):
            which, both = rows.numbers(two), rows.numbers(table[start + two])
            for head in range(2):
                logs = log_table(pools[2].seen)
                out[head, which] = _pair_scores(rows, logs, head, which + start, both[:, 1 - head], end)
        return out - own[None, start:end, None]

    return scored


def head_table(rows: TorchCounts, scored: Callable[[int, int], Tensor], n_heads: int) -> ScoreTable:
    """Return the gains of all children [head, child, candidate], NaN where there is no choice."""
    table = np.full((n_heads, rows.n_nodes, rows.n_nodes), np.nan)
    for start, end in rows.tiles(rows.n_codes**2):
        made = scored(start, end).cpu().numpy()
        table[:, start:end, :end] = np.where(np.isfinite(made), made, np.nan)
    return table
