"""The labelled χ² estimator of appendix B, as printed and factorised."""

from __future__ import annotations

from typing import Literal

import numpy as np

from kgmi.errors import SettingError
from kgmi.statistics import LabelledMoments
from kgmi.types import ScoreTable

__all__ = ["LabelledForm", "labelled_scores"]

LabelledForm = Literal["printed", "factorised"]


def labelled_scores(moments: LabelledMoments, form: LabelledForm = "printed") -> ScoreTable:
    """Estimate of Pearson-χ² KG-MI from labelled sequences, as [head, child, candidate].

    ``printed`` averages the product of the label factor and the pair factor over sequences, which is right for
    any law of the kernel. ``factorised`` multiplies the two averages, which has far lower variance but is right
    only when all sequences share one kernel. Both see the other parents *uniform*, not under M_π.
    """
    if form == "printed":
        values = moments.printed / moments.n_rows
    elif form == "factorised":
        label, weighted = moments.label / moments.n_rows, moments.weighted / moments.n_rows
        values = np.einsum("lts,ijts->lij", label, weighted)
    else:
        raise SettingError(f"form must be 'printed' or 'factorised', got {form!r}")
    candidate = np.tril(np.ones(values.shape[1:], dtype=bool), k=-1)
    return np.where(candidate, values - 1.0, np.nan)
