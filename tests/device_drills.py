"""Rows for the tests of devices."""

from __future__ import annotations

import numpy as np

import kgmi

KERNEL = kgmi.Kernel.paper()


def paper_rows(n_copies, n_rows, seed):
    """Rows of copies of the paper's graph."""
    process = kgmi.Process(kgmi.Dag.paper(10).copies(n_copies), KERNEL)
    return kgmi.sample(process, n_rows, rng=np.random.default_rng(seed))
