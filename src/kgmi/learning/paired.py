"""Learning with the paper's guides: one score table from pairs of columns, heads independent of each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kgmi.attention import Ascent, DecodeRule, decode
from kgmi.errors import DataError, KernelError, SettingError
from kgmi.guides import scores
from kgmi.guides.labelled import labelled_scores
from kgmi.guides.stationary import find_roots
from kgmi.kernel import AnyKernel
from kgmi.learning.inputs import Input
from kgmi.learning.learned import Learned
from kgmi.learning.result import paired_result
from kgmi.learning.settings import Settings
from kgmi.types import Bools, ScoreTable

__all__ = ["learn_from_pairs"]


def learn_from_pairs(
    data: Input,
    kernel: AnyKernel | None,
    settings: Settings,
    climb: Callable[[ScoreTable, Bools], Ascent],
) -> Learned:
    """Score all pairs, train, decode."""
    if any(data.candidates.required):
        raise SettingError(f"required edges need the guide 'likelihood' or 'contextual', not '{settings.guide}'")
    if data.has_families and len(set(data.alphabets)) > 1 and settings.guide != "plain":
        raise DataError(
            f"the guide '{settings.guide}' needs one alphabet for all columns: read the rows with "
            "alphabet='shared' (--alphabet shared), or use 'likelihood'"
        )
    table = _score(data, kernel, settings)
    if not data.candidates.is_full:
        table = np.where(data.candidates.allowed, table, np.nan)
    roots = _known_roots(data, settings)
    wanted = np.ones(table.shape[:2], dtype=bool)
    wanted[:, list(roots)] = False
    ascent = climb(table, wanted)
    rule: DecodeRule = "argmax" if settings.in_degree == "uniform" else "concentrated"
    dag = decode(ascent.attention, rule=rule, roots=roots, mask=np.asarray(~np.isnan(table).all(axis=0)))
    return paired_result(data, kernel, settings, table, wanted, ascent, dag)


def _score(data: Input, kernel: AnyKernel | None, settings: Settings) -> ScoreTable:
    if settings.guide != "labelled":
        return scores(
            data.scorable(settings.smoothing),
            kernel,
            settings.divergence,
            settings.guide,
            n_heads=settings.n_heads,
            allowed=None if data.candidates.is_full else data.candidates.allowed,
        )
    if data.labelled is None:
        raise DataError("the guide 'labelled' needs rows with a labelled tail (kgmi.LabelledRows)")
    if kernel is not None and kernel.n_states != data.pairs.n_states:
        raise KernelError(f"the data have {data.pairs.n_states} states, the kernel {kernel.n_states}")
    return labelled_scores(data.labelled, settings.labelled_form, data.candidates.allowed)


def _known_roots(data: Input, settings: Settings) -> tuple[int, ...]:
    """Nodes that can have no parents: told or tested, and those with too few candidates."""
    if isinstance(settings.roots, str):
        found = {*find_roots(data.scorable(0.0), settings.root_level, data.candidates.allowed)}
    else:
        found = {data.candidates.sequence()[0], *settings.roots}
    least = settings.n_heads if settings.in_degree == "uniform" else 1
    found |= {*np.flatnonzero(data.candidates.allowed.sum(axis=1) < least).tolist()}
    return tuple(sorted(found))
