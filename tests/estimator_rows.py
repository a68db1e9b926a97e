"""A small table, as codes and as words, for the tests of the estimator."""

from __future__ import annotations

import numpy as np

import kgmi
from kgmi.alphabets import Rules
from kgmi.estimator.columns import first_coding, take_rows

NAMES = ["a", "b", "c", "d", "e"]
TRUTH = kgmi.Dag([(), (), (0, 1), (1, 2), (0, 3)], root_blocks=[[0], [1]])
KERNEL = kgmi.Kernel.random(3, 2, rng=np.random.default_rng(5), concentration=0.5)
ROWS = kgmi.sample(kgmi.Process(TRUTH, KERNEL), 600, rng=1)
STATES = ["low", "middle", "high"]
WORDS = np.array(STATES)[ROWS]


def by_column(values):
    return {name: values[:, number] for number, name in enumerate(NAMES)}


def coded(*batches, bins=4, **rules):
    """Return the coding that rows make, their codes, and a function that codes later rows."""
    taken = [take_rows(kgmi.KGMI(), rows, reset=True) for rows in batches]
    coding, codes = first_coding(taken, Rules(**rules), bins)
    return coding, codes, lambda rows: coding.codes(take_rows(kgmi.KGMI(), rows, reset=True))
