"""Learning on a device: counts come from there, the search and its result are the same."""

from __future__ import annotations

import numpy as np
import pytest

import kgmi
from kgmi.counts import torch as device_counts
from kgmi.errors import SettingError
from tests.device_drills import KERNEL, paper_rows

ROWS = paper_rows(1, 50, 7001)


@pytest.mark.parametrize("name", ["gpu", "mps", "cuda1", "", 0, True])
def test_a_device_that_cannot_be(name):
    with pytest.raises(SettingError, match="device"):
        device_counts.open_device(name)


def test_without_pytorch_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(device_counts, "torch", None)
    with pytest.raises(SettingError, match=r"kgmi\[gpu\]"):
        kgmi.learn(ROWS, device="cpu")


@pytest.mark.torch
@pytest.mark.parametrize(
    "source",
    [kgmi.count_pairs(ROWS, 3), kgmi.Process(kgmi.Dag.paper(5), KERNEL)],
    ids=["counts", "an exact distribution"],
)
def test_sources_without_rows_are_refused(source):
    with pytest.raises(SettingError, match="device"):
        kgmi.learn(source, kernel=KERNEL, device="cpu")


OPTIONS = {
    "unknown kernel": {"n_parents": 2},
    "known kernel": {"kernel": KERNEL},
    "the paper's guide": {"kernel": KERNEL, "guide": "stationary"},
    "contextual": {"kernel": KERNEL, "guide": "contextual"},
    "a kernel for each node": {"n_parents": 2, "share": "node"},
    "three parents": {"n_parents": 3, "share": "node"},
    "order learned": {"n_parents": 2, "order": "learn"},
    "tiers": {"n_parents": 2, "tiers": [[*range(4)], [*range(4, 10)]]},
}


@pytest.mark.torch
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("gaps", [0.0, 0.05])
def test_the_result_is_that_of_the_processor(options, gaps):
    rows = paper_rows(1, 250, 7002).astype(np.int8)
    rows[np.random.default_rng(7003).random(rows.shape) < gaps] = -1
    options = options | {"missing": "pairwise", "n_states": 3}
    here, there = (kgmi.learn(rows, **options, device=device) for device in (None, "cpu"))
    assert there.dag == here.dag
    assert there.order == here.order
    if here.fit is not None:
        assert there.fit.score == pytest.approx(here.fit.score, rel=1e-12)
    np.testing.assert_allclose(there.scores, here.scores, rtol=1e-9, atol=1e-9)
