"""``memory_limit``: less memory than usual and the same result, or a refusal before any work."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import kgmi
from kgmi.counts.bits import RowCounts
from kgmi.errors import SettingError, TooLargeError
from kgmi.memory import read_bytes, within

PAPER = kgmi.Process(kgmi.Dag.paper(10).copies(3), kgmi.Kernel.paper())
ROWS = kgmi.sample(PAPER, 20_000, rng=np.random.default_rng(801)).astype(np.int8)
GAPS = np.where(np.random.default_rng(802).random(ROWS.shape) < 0.05, -1, ROWS)
# Options with which work in blocks is a good part of the memory.
CASES = {
    "kernel known": (ROWS, {"kernel": kgmi.Kernel.paper()}),
    "each node": (ROWS, {"share": "node", "solver": "limit"}),
    "gaps": (GAPS, {"missing": "pairwise", "n_states": 3, "share": "shared"}),
    "paper": (ROWS, {"kernel": kgmi.Kernel.paper(), "guide": "stationary", "solver": "limit"}),
}


def _fit(rows, **options):
    """The result with its status and checks, and the most memory that was held meanwhile."""
    tracemalloc.start()
    try:
        learned = kgmi.learn(rows, **options)
        _ = learned.status, learned.checks
        return learned, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _least(rows, **options):
    """The limit that an error asks for."""
    with pytest.raises(TooLargeError) as caught:
        kgmi.learn(rows, memory_limit="100kB", **options)
    return read_bytes(str(caught.value).rpartition(" give ")[2])


@pytest.mark.parametrize("case", CASES)
def test_a_fit_stays_below_the_limit_with_the_same_result(case):
    rows, options = CASES[case]
    kgmi.learn(rows[:500], **options)  # what is loaded and compiled once is no part of a fit
    usual, usual_peak = _fit(rows, **options)
    least = _least(rows, **options)
    limited, peak = _fit(rows, memory_limit=least, **options)
    assert peak <= least < usual_peak
    assert limited.dag == usual.dag
    assert limited.checks == usual.checks
    np.testing.assert_allclose(limited.scores, usual.scores, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("rows", [ROWS, GAPS], ids=["complete", "gaps"])
@pytest.mark.parametrize("room", [10_000, 100_000, 10**7])
def test_counts_are_the_same_bit_for_bit(rows, room):
    usual, limited = (RowCounts(rows, (3,) * 30) for _ in range(2))
    tuples, candidates = np.array([[0], [3]]), np.arange(20)
    [(_, tables)] = usual.families(29, tuples, candidates)
    with within(10**9, room):
        assert (limited.pairs().counts == usual.pairs().counts).all()
        for block, part in limited.families(29, tuples, candidates):
            assert np.array_equal(part, tables[block])


def test_too_little_is_refused_before_any_work():
    kgmi.learn(ROWS[:, :10], memory_limit=_least(ROWS[:, :10]))
    wide = np.tile(ROWS[:50], (1, 40))  # 1,200 columns
    with pytest.raises(TooLargeError, match="pairs"):
        kgmi.learn(wide, guide="plain", memory_limit="50MB", n_states=3)


def test_the_estimator_has_the_limit_too():
    limited = kgmi.KGMI(memory_limit="1GB").fit(ROWS[:1_000])
    assert limited.learned_.dag == kgmi.KGMI().fit(ROWS[:1_000]).learned_.dag
    with pytest.raises(TooLargeError):
        kgmi.KGMI(memory_limit=10).fit(ROWS[:1_000])


@pytest.mark.parametrize("amount", ["a lot", -1, 0, False])
def test_what_is_no_amount_of_memory_is_refused(amount):
    with pytest.raises(SettingError, match="memory_limit must be"):
        kgmi.learn(ROWS[:100], memory_limit=amount)
