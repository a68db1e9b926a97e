"""How many labelled sequences the χ² estimator of appendix B needs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.guides.labelled import LabelledForm, labelled_scores
from kgmi.paper.experiment import Numbers
from kgmi.paper.setting import heads_right
from kgmi.process import Process
from kgmi.sampling import sample
from kgmi.statistics import LabelledMoments, count_labelled

__all__ = ["FORMS", "KAPPA", "SURE", "Stream", "follow_stream", "needed", "needs_table", "size_text", "summary"]

FORMS: tuple[LabelledForm, ...] = ("printed", "factorised")
KAPPA = 0.0  # a state that is counted occurs in its own sequence, so the denominator is never 0
SURE = 0.95  # share of streams that must be exact
_CHUNK = 20_000  # sequences at a time


@dataclass(frozen=True, eq=False)
class Stream:
    """One growing stream of labelled sequences.

    Attributes
    ----------
    right
        By form: heads of 16 whose best candidate is their parent, at each size of the grid. The best candidate is
        the limit of the ascent, so that nothing needs to be trained here.
    kept
        The sums at the sizes that were asked for.
    """

    right: dict[LabelledForm, list[int]]
    kept: dict[int, LabelledMoments]


def follow_stream(
    process: Process, grid: Sequence[int], rng: np.random.Generator, keep: Collection[int] = ()
) -> Stream:
    """Count ever more sequences of one stream and look at each size of the grid: sums are additive."""
    right: dict[LabelledForm, list[int]] = {form: [] for form in FORMS}
    kept: dict[int, LabelledMoments] = {}
    total: LabelledMoments | None = None
    for size in grid:
        while (done := 0 if total is None else total.n_rows) < size:
            rows = sample(process, min(_CHUNK, size - done), rng=rng, labelled=True)
            part = count_labelled(rows, process.n_states, KAPPA)
            total = part if total is None else total + part
        if total is not None:
            for form in FORMS:
                right[form].append(heads_right(labelled_scores(total, form), process.dag))
            if size in keep:
                kept[size] = total
    return Stream(right, kept)


def needed(grid: Sequence[int], share: Sequence[float]) -> int | None:
    """Smallest size at which, and at all larger ones, at least 95 % of the streams are exact; None if none is."""
    sizes = []
    for size, exact in zip(reversed(grid), reversed(share), strict=True):
        if exact < SURE:
            break
        sizes.append(size)
    return sizes[-1] if sizes else None


def summary(streams: Sequence[Stream], grid: Sequence[int], n_heads: int) -> Numbers:
    """Shares of streams in which all of the ``n_heads`` heads are right, and the sizes needed."""
    right = {form: np.array([stream.right[form] for stream in streams]) for form in FORMS}
    share = {form: (right[form] == n_heads).mean(axis=0).tolist() for form in FORMS}
    return {
        "grid": list(grid),
        "streams": len(streams),
        "share": share,
        "right": {form: right[form].mean(axis=0).tolist() for form in FORMS},
        "needed": {form: needed(grid, share[form]) for form in FORMS},
    }


def needs_table(numbers: Numbers) -> Numbers:
    """The summary as a table for the report."""
    rows = [
        [f"{size:,}", *(text for form in FORMS for text in _cells(numbers, form, place))]
        for place, size in enumerate(numbers["grid"])
    ]
    return {
        "title": "Labelled sequences and heads that are right",
        "columns": [
            "labelled sequences",
            *(text for form in FORMS for text in (f"{form}: streams with all heads right", "mean heads right")),
        ],
        "rows": rows,
        "note": f"Independent streams: {numbers['streams']}. «Needed» is the smallest size of the grid at which, "
        f"and at all larger ones, at least {SURE:.0%} of the streams have every head right: "
        + ", ".join(f"{form} {size_text(numbers, form)}" for form in FORMS)
        + ", known to about one step of the grid. A head is right when its best candidate, the limit of training, "
        "is its parent.",
    }


def size_text(numbers: Numbers, form: str) -> str:
    """The size needed by one form, in words."""
    size = numbers["needed"][form]
    return f"more than {numbers['grid'][-1]:,}" if size is None else f"{size:,}"


def _cells(numbers: Numbers, form: str, place: int) -> tuple[str, str]:
    return f"{numbers['share'][form][place]:.0%}", f"{numbers['right'][form][place]:.1f}"
