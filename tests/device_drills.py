"""Rows and fits for the tests of the device engine."""

from __future__ import annotations

import numpy as np

import kgmi
from kgmi.learning.learn import learn
from kgmi.learning.ready import make_ready

KERNEL = kgmi.Kernel.paper()


def paper_rows(n_copies, n_rows, seed):
    """Rows of copies of the paper's graph."""
    process = kgmi.Process(kgmi.Dag.paper(10).copies(n_copies), KERNEL)
    return kgmi.sample(process, n_rows, rng=np.random.default_rng(seed))


def fit_as_wide(rows, **options):
    """What a fit on the device gives for so many nodes that no tables are kept, however few these are."""
    from kgmi.learning.wide_fit import fit_wide

    usual = learn.__kwdefaults__
    ready = make_ready(usual | {"rows": rows, "device": "cpu"} | options, usual)
    return fit_wide(ready.data, ready.kernel, ready.settings)


def edges(result):
    """The edges of a result, whatever their roles."""
    return sorted(result.dag.edges)
