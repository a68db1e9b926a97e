"""One-layer attention over candidates: the paper's formulas, gradient ascent, its limit, and the graph read off it.

A score table [head, child, candidate] has NaN where a candidate is not allowed. Every column (head, child) is a
problem of its own. Compiled loops are in :mod:`kgmi.attention_loops`, the same on tensors in
:mod:`kgmi.attention_torch`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import prod
from typing import Any, Literal, TypeVar

import numpy as np

from kgmi.errors import DataError, GraphError, SettingError
from kgmi.graph import Dag
from kgmi.memory import at_most
from kgmi.threads import spread
from kgmi.types import Attention, Bools, Floats, Ints, ScoreTable

__all__ = [
    "USUAL_RISE",
    "Ascent",
    "DecodeRule",
    "Survey",
    "Trace",
    "ascend",
    "ascend_columns",
    "best_objective",
    "candidate_mask",
    "check_steps",
    "decode",
    "gradient",
    "has_tie",
    "limit",
    "masked_softmax",
    "objective",
    "survey",
]

USUAL_RISE = 0.25
"""Rise of a logit in the first epochs where the rate is chosen: about twenty epochs are enough then."""

_TIE = 1e-12  # relative difference of scores below which two candidates are tied
_FLAT = 1e-9  # spread of attention below which a column has not moved from uniform
_MOST_RATE = 1e100  # rate times score must be finite
_TRACE_BYTES = 64_000_000
_CHUNK = 200_000_000  # candidate-epochs between two calls of progress: some tenths of a second
_FIRST, _LEAST = 200, 20  # epochs of the first chunk, which most runs need no more than, and of any other
_THREADS_FROM = 1_000_000  # scores from which a look over them pays in threads,
_EPOCH_THREADS_FROM = 10_000_000  # and candidate-epochs: some milliseconds
_PIECES = 64  # enough of them that all threads end at about the same time

DecodeRule = Literal["argmax", "concentrated", "each"]
_Array = TypeVar("_Array", Floats, Ints)


def candidate_mask(scores: ScoreTable) -> Bools:
    """Return which (head, child, candidate) are allowed: where the score table has a number."""
    return ~np.isnan(scores)


def masked_softmax(weights: Floats, mask: Bools) -> Attention:
    """Return attn^ℓ = softmax(Mask(Q^ℓ)) over the candidates (last axis); a child without candidates gets zeros."""
    logits = np.where(mask, weights, -np.inf)
    top = logits.max(axis=-1, keepdims=True)
    powers = np.exp(logits - np.where(np.isfinite(top), top, 0.0))
    total = powers.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(powers, total, out=np.zeros(powers.shape), where=total > 0))


def objective(scores: ScoreTable, attention: Attention) -> float:
    """Return L = 1/(KT) Σ_ℓ Σ_{i,j} Ĩ^ℓ(S_i; S_j) attn^ℓ[j, i]."""
    return float((_known(scores) * attention).sum() / prod(scores.shape[:2]))


def best_objective(scores: ScoreTable) -> float:
    """Return the maximum of the objective: every column has all its attention on its best candidate.

    The paper's L* sums over non-root nodes and their best parent only: :func:`kgmi.theory.paper_optimum`.
    """
    best = np.where(candidate_mask(scores), scores, -np.inf).max(axis=-1)
    return float(np.where(np.isfinite(best), best, 0.0).sum() / prod(scores.shape[:2]))


def gradient(scores: ScoreTable, attention: Attention) -> Floats:
    """Return ∂L/∂Q^ℓ[j, i] = 1/(KT) attn[j, i] (Ĩ^ℓ(i; j) − Σ_k attn[k, i] Ĩ^ℓ(i; k)), [head, child, candidate]."""
    known = _known(scores)
    mean = (attention * known).sum(axis=-1, keepdims=True)
    return np.asarray(attention * (known - mean) / prod(scores.shape[:2]))


def _known(scores: Floats) -> Floats:
    return np.where(np.isnan(scores), 0.0, scores)


@dataclass(frozen=True, eq=False)
class Survey:
    """What a score table says of every column, each [head, child].

    Attributes
    ----------
    n_candidates
        Number of candidates.
    best, second, least
        The best, second best and worst score; with too few candidates -inf, -inf and inf.
    """

    n_candidates: Ints
    best: Floats
    second: Floats
    least: Floats

    @cached_property
    def enough(self) -> Floats:
        """The score from which a candidate counts as best; below the best by rounding only."""
        scale = np.maximum(np.maximum(np.abs(self.best), np.abs(self.least)), 1e-3)
        return np.asarray(self.best - _TIE * scale)

    @property
    def tied(self) -> Bools:
        """Whether several candidates are best, or there is none."""
        return np.asarray(self.second >= self.enough)

    @property
    def gaps(self) -> Floats:
        """Best minus second best score; inf with one candidate, NaN with none."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.best - self.second)


def survey(scores: ScoreTable) -> Survey:
    """Return what a score table says of every column."""
    return _look_over(scores, np.empty((prod(scores.shape[:2]), 0)))


def has_tie(scores: ScoreTable) -> Bools:
    """Return [head, child]: whether several candidates are best, or there is none: training cannot choose."""
    return survey(scores).tied


def _look_over(scores: Floats, attention: Floats) -> Survey:
    """Survey scores […, candidate], and fill in uniform attention [column, candidate] or [column, 0]."""
    from kgmi.attention_loops import look_over

    flat = _flat(scores)
    n, numbers = np.empty(len(flat), dtype=np.int64), np.empty((3, len(flat)))
    step = max(1, _THREADS_FROM // (4 * flat.shape[1]))
    parts = [slice(first, first + step) for first in range(0, len(flat), step)]
    spread(
        lambda part: look_over(flat[part], n[part], *numbers[:, part], attention[part]),
        parts,
        parallel=flat.size >= _THREADS_FROM,
    )
    shape = scores.shape[:-1]
    return Survey(n.reshape(shape), *numbers.reshape(3, *shape))


def _flat(scores: Floats) -> Floats:
    """Return scores as [column, candidate]."""
    return _locked(np.ascontiguousarray(scores, dtype=np.float64).reshape(-1, scores.shape[-1]))


def _start(scores: ScoreTable, attention_too: bool) -> tuple[Survey, Floats]:
    """Check a score table; return what it says and uniform attention [column, candidate or nothing]."""
    if scores.ndim != 3 or scores.shape[1] != scores.shape[2]:
        raise DataError(f"scores must have shape [head, child, candidate], got {scores.shape}")
    attention = np.empty((prod(scores.shape[:2]), scores.shape[2] if attention_too else 0))
    seen = _look_over(scores, attention)
    if not seen.n_candidates.any():
        raise DataError("the score table is all NaN: no node has a candidate")
    if not (seen.best.max() < np.inf and seen.least.min() > -np.inf):
        head, child, candidate = np.argwhere(np.isinf(scores))[0]
        raise DataError(
            f"the score of head {head + 1}, child {child}, candidate {candidate} is infinite: a pair of states "
            "that the kernel allows never occurs together. Use smoothing > 0 on counts, or the divergence 'pearson'"
        )
    return seen, attention


def _locked(array: _Array) -> _Array:
    """Return a read-only view: the loops are compiled for read-only scores and epochs, and for no others."""
    view = array.view()
    view.setflags(write=False)
    return view


_NOTHING = _locked(np.empty(0, dtype=np.int64)), np.empty((0, 0)), np.empty((0, 0, 0))  # is kept of a block


@dataclass(frozen=True, eq=False)
class Trace:
    """What was kept along the ascent.

    Attributes
    ----------
    epochs
        Epochs at which something was kept, from 0 to the last.
    objective
        L at those epochs.
    best_objective
        Maximum of L over all columns, so that ``best_objective - objective`` is the suboptimality.
    attention
        [epoch, head, child, candidate] at those epochs, or None where that would take over 64 MB.
    """

    epochs: Ints
    objective: Floats
    best_objective: float
    attention: Floats | None


@dataclass(frozen=True, eq=False)
class Ascent:
    """Where the ascent ended.

    Attributes
    ----------
    attention
        [head, child, candidate].
    stopped
        [head, child]: epoch at which the column's largest attention first exceeded 1 − ε_attn; -1 if it did
        not. Columns with one candidate stop at 0, and at the limit point all that have one best candidate.
    epochs
        Epochs that were run.
    scores, kept
        What :attr:`trace` is made of: the score table; epochs, the values Σ attention · score [epoch, column], NaN
        from the stop of a column on, and attention [epoch, column, candidate or nothing]. None for the limit point.
    """

    attention: Attention
    stopped: Ints
    epochs: int
    scores: ScoreTable | None = field(default=None, repr=False)
    kept: tuple[Ints, Floats, Floats] | None = field(default=None, repr=False)

    @cached_property
    def trace(self) -> Trace | None:
        """Objective and attention along the way; None for the limit point."""
        if self.scores is None or self.kept is None:
            return None
        keep, value, path = self.kept
        n = int(np.searchsorted(keep, self.epochs))  # rows before the last epoch, which is one more
        last, ended = self.attention.reshape(value.shape[1], -1), np.isnan(value[: n + 1])
        final = np.vecdot(last, _known(self.scores).reshape(last.shape))
        attention = None
        if path.size:
            attention = np.where(ended[..., None], last, path[: n + 1]).reshape(-1, *self.scores.shape)
        means = np.where(ended, final, value[: n + 1]).sum(axis=1) / len(final)
        return Trace(np.append(keep[:n], self.epochs), means, best_objective(self.scores), attention)


def limit(scores: ScoreTable) -> Ascent:
    """Return the limit point of the ascent from Q = 0: all attention on the best candidate; ties share it."""
    seen, _ = _start(scores, attention_too=False)
    attention = (scores >= seen.enough[..., None]).astype(float)
    attention /= np.maximum(attention.sum(axis=-1, keepdims=True), 1.0)
    return Ascent(attention, np.where(seen.tied, -1, 0), 0)


def ascend(
    scores: ScoreTable,
    *,
    rate: float = 10.0,
    epochs: int = 50_000,
    stop: float = 0.1,
    wait_for: Bools | None = None,
    record_at: Sequence[int] | None = None,
    progress: Callable[[int, int], None] | None = None,
    freeze: bool = True,
) -> Ascent:
    """Run gradient ascent from Q = 0 with a constant rate: Q ← Q + η :func:`gradient`, all columns at once.

    Parameters
    ----------
    scores
        Score table; NaN masks a candidate.
    rate
        η, as in the paper.
    epochs
        Most iterations.
    stop
        ε_attn: a column stops at the first epoch at which its largest attention exceeds 1 − ε_attn. 0 never stops.
    wait_for
        [head, child] columns whose stop ends the whole run; by default all. Columns that are tied for their
        best candidate can never stop and are not waited for.
    record_at
        Epochs to keep in the trace, by default about 60 between 1 and the last, evenly on a log scale.
    progress
        Called now and then as ``progress(epoch, epochs)``.
    freeze
        Whether a column that has stopped is left as it is, or moves on to the end of the run. The epochs at which
        columns stop are the same.
    """
    check_steps(rate, epochs, stop)
    seen, attention = _start(scores, attention_too=True)
    n_columns, width = attention.shape
    wanted = np.ones(scores.shape[:2], dtype=bool) if wait_for is None else np.asarray(wait_for, dtype=bool)
    if wanted.shape != scores.shape[:2]:
        raise SettingError(f"wait_for must have shape [head, child] = {scores.shape[:2]}, got {wanted.shape}")
    n_candidates = seen.n_candidates.ravel()
    moves, waited = (seen.least < seen.enough).ravel(), (wanted & ~seen.tied).ravel()
    stopped = np.where(n_candidates == 1, 0, -1)
    keep = _epochs_to_keep(record_at, epochs)
    fits = (len(keep) + 1) * attention.nbytes <= at_most(_TRACE_BYTES, 1)
    path = np.empty((len(keep) + 1, n_columns, width if fits else 0))
    kept = (keep, np.full(path.shape[:2], np.nan), path)
    columns, step, epoch = (_flat(scores), attention, stopped), rate / n_columns, 0
    while epoch < epochs and (waited & (stopped < 0)).any():
        moving = moves & (stopped < 0)
        end = max(_LEAST, _CHUNK // int(n_candidates[moving].sum()))
        end = min(epochs, epoch + (end if epoch else min(end, _FIRST)))
        before = None if freeze else attention.copy()
        _advance(columns, np.flatnonzero(moving & waited), epoch, end, step, stop, kept)
        if not (waited & (stopped < 0)).any():
            end = int(stopped[waited].max())
        _advance(columns, np.flatnonzero(moving & ~waited), epoch, end, step, stop, kept)
        if before is not None:
            free = np.flatnonzero(moves & (stopped >= 0))
            attention[free] = before[free]
            _advance(columns, free, epoch, end, step, 0.0, kept)
        epoch = end
        if progress is not None:
            progress(epoch, epochs)
    return Ascent(attention.reshape(scores.shape), stopped.reshape(wanted.shape), epoch, scores, kept)


def ascend_columns(
    scores: Any, attention: Any = None, stopped: Any = None, *, start: int = 0, end: int, step: float, stop: float
) -> tuple[Any, Any]:
    """Return attention and stopping epochs of a block of columns, taken from epoch ``start`` to ``end``.

    Parameters
    ----------
    scores
        [column, candidate], NaN where a candidate is not allowed: an array, or a tensor, which is trained on its
        device and where -inf is as good as NaN.
    attention, stopped
        [column, candidate] and [column] of the same kind, as they were at ``start``; both are changed. By default
        attention is uniform, and columns with one candidate have stopped.
    start, end, step, stop
        Epochs, η/(KT) of the whole table, and ε_attn; a column that stops is left as it is.
    """
    if not isinstance(scores, np.ndarray):
        from kgmi import attention_torch

        return attention_torch.ascend_columns(scores, attention, stopped, start, end, step, stop)
    seen = _look_over(scores, started := np.empty(scores.shape))
    if attention is None:
        attention, stopped = started, np.where(seen.n_candidates == 1, 0, -1)
    moving = np.flatnonzero((stopped < 0) & (seen.least < seen.enough))
    _advance((_flat(scores), attention, stopped), moving, start, end, step, stop, _NOTHING)
    return attention, stopped


def _advance(
    columns: tuple[Floats, Floats, Ints], which: Ints, start: int, end: int, step: float, stop: float, kept: Any
) -> None:
    """Take the columns ``which`` from epoch ``start`` to ``end`` in place, or to where they stop."""
    from kgmi.attention_loops import advance

    steps = (int(start), int(end), float(step), float(stop))  # other types would be compiled once more
    if len(which) * columns[0].shape[1] * (end - start) < _EPOCH_THREADS_FROM:
        advance(columns, which, *steps, kept)
        return
    size = max(16, len(which) // _PIECES)
    parts = [which[first : first + size] for first in range(0, len(which), size)]
    spread(lambda part: advance(columns, part, *steps, kept), parts, parallel=True)


def _epochs_to_keep(record_at: Sequence[int] | None, epochs: int) -> Ints:
    if record_at is None:
        return _log_epochs(epochs)
    if any(e < 0 for e in record_at):
        raise SettingError("record_at lists epochs, which are not negative")
    return _locked(np.array(sorted({0, *(int(e) for e in record_at if e <= epochs)}), dtype=np.int64))


@lru_cache(maxsize=8)
def _log_epochs(epochs: int) -> Ints:
    grid = np.unique([0, *np.geomspace(1, max(epochs, 1), 60).astype(np.int64)])
    return _locked(grid[grid <= epochs])


def check_steps(rate: float, epochs: int, stop: float) -> None:
    """Refuse a rate, a number of epochs or a stop that make no sense."""
    if not 0 < float(rate) <= _MOST_RATE:
        raise SettingError(f"the rate η must be positive and at most {_MOST_RATE:g}, got {rate}")
    if not (epochs >= 0 and float(epochs).is_integer()):
        raise SettingError(f"epochs must be a whole number, zero or more, got {epochs}")
    if not 0 <= stop < 1:
        raise SettingError(f"stop (ε_attn) must lie in [0, 1), got {stop}")


def decode(
    attention: Attention,
    *,
    rule: DecodeRule = "argmax",
    threshold: float = 0.5,
    roots: Collection[int] | None = None,
    mask: Bools | None = None,
) -> Dag:
    """Read the graph off the attention.

    Parameters
    ----------
    attention
        [head, child, candidate], zero where the candidate is not allowed.
    rule
        ``argmax``: in-degree is 0 or K. Each head names its most attended candidate; a node with fewer than
        K candidates is a root. ``concentrated``: in-degree is 0..K (appendix A). Only heads with more than
        ``threshold`` of their attention on one candidate name it. Heads that agree name one parent, so
        collapsed heads show as fewer parents. A head that is tied names nobody, unless as many heads as
        candidates share one and the same tie (the parents of a symmetric kernel): these name them all.
        ``each``: every head that has candidates names its most attended one, however many heads a node uses.
    threshold
        For ``concentrated``.
    roots
        Nodes known to be roots; their heads are ignored. By default those with two candidates or more to all of
        which all heads attend alike.
    mask
        [child, candidate]: which candidates are allowed. By default all columns before the child, as in the paper,
        unless a head attends to another one: then those that some head attends to, which at the limit point are
        fewer than are allowed.
    """
    mask = _checked_mask(attention, rule, threshold, mask)
    n_heads, n_nodes, _ = attention.shape
    if not set(roots or ()) <= set(range(n_nodes)):
        raise SettingError(f"roots must be nodes 0..{n_nodes - 1}, got {sorted(roots or ())}")
    top, n_candidates = attention.max(axis=-1), np.count_nonzero(mask, axis=-1)
    if roots is None:
        spread_out = top - np.where(mask, attention, np.inf).min(axis=-1)
        roots = np.flatnonzero((spread_out <= _FLAT).all(axis=0) & (n_candidates > 1)).tolist()
    least = n_heads if rule == "argmax" else 1
    childless = {*roots, *np.flatnonzero(n_candidates < least).tolist()}
    sure = (top > (threshold if rule == "concentrated" else 0.0)).T.tolist()
    # [child][head] the most attended candidates, none where they are more than all heads could name. All columns at
    # once: on small graphs NumPy calls for each would cost more than everything else.
    best: list[list[list[int]]] = [[[] for _ in range(n_heads)] for _ in range(n_nodes)]
    near = (attention >= (top - _FLAT)[..., None]) & mask
    near[np.count_nonzero(near, axis=-1) > n_heads] = False
    for head, child, candidate in zip(*(each.tolist() for each in np.nonzero(near)), strict=True):
        best[child][head].append(candidate)
    return Dag([() if child in childless else _named(best[child], sure[child]) for child in range(n_nodes)])


def _named(best: list[list[int]], sure: list[bool]) -> list[int]:
    """Return the parents that the heads of one child name, in the order of the heads."""
    named: list[int] = []
    for candidates, heard in zip(best, sure, strict=True):
        if heard and len(candidates) <= best.count(candidates):
            named += candidates
    return list(dict.fromkeys(named))


def _checked_mask(attention: Attention, rule: str, threshold: float, given: Bools | None) -> Bools:
    """Return which candidates are allowed, after all checks."""
    if attention.ndim != 3 or attention.shape[1] != attention.shape[2] or attention.shape[0] < 1:
        raise GraphError(f"attention must have shape [head, child, candidate], got {attention.shape}")
    if not np.isfinite(attention).all():
        raise GraphError("attention has NaN or infinite entries, so no graph can be read off it")
    if rule not in ("argmax", "concentrated", "each"):
        raise SettingError(f"the decoding rule must be 'argmax', 'concentrated' or 'each', got {rule!r}")
    if not 0 <= threshold < 1:
        raise SettingError(f"the threshold must lie in [0, 1), got {threshold}")
    attended = np.asarray((attention > 0).any(axis=0))
    before = np.tri(len(attended), k=-1, dtype=bool)
    mask = np.asarray(given) if given is not None else attended if (attended & ~before).any() else before
    if mask.shape != attended.shape:
        raise SettingError(f"mask must have shape [child, candidate] = {attended.shape}, got {mask.shape}")
    if (attended & ~mask).any() or mask.diagonal().any():
        raise GraphError(
            "a head attends to a node that is not a candidate of the child, or to the child itself; mask the "
            "candidates first (kgmi.attention.masked_softmax)"
        )
    return mask
