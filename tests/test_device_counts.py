"""Counts on a device beyond the contract of ``Counts``: all shapes, formats and blocks count what bits count."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from kgmi.counts import torch as device_counts
from kgmi.counts.bits import RowCounts
from kgmi.counts.torch import TorchCounts, exact_formats, open_device
from kgmi.errors import KgmiError, SettingError, TooLargeError
from kgmi.memory import within

from .counts.tables import random_codes

pytestmark = pytest.mark.torch
MIXED = (2, 3, 3, 2, 5)


@pytest.fixture(autouse=True)
def one_thread():
    """Small products on several threads are slower than on one, many times so where the other core is busy."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def codes(n_rows, sizes, gaps=False):
    return random_codes(np.random.default_rng(7101), n_rows, sizes, gaps=gaps, dtype=np.int16)


def check_alike(found, expected):
    """Compare pairs, and the families of tuples of one and two nodes of every size."""
    np.testing.assert_array_equal(found.pairs().counts, expected.pairs().counts)
    nodes = [np.flatnonzero(np.equal(found.sizes, size))[:3] for size in {*found.sizes}]
    for left, right, width, child in product(nodes, nodes, (1, 2), (0, found.n_nodes - 1)):
        tuples = np.array([[one, left[-1]][:width] for one in left])
        blocks = (one.families(child, tuples, right) for one in (found, expected))
        for (part, one), (same, other) in zip(*blocks, strict=True):
            assert part == same
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("n_rows", "sizes"), [(1, (2, 2)), (130, (3,) * 15), (257, (2,) * 16), (5_003, MIXED), (90, (2, 12, 130, 2))]
)
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("name", ["fp8", "int8", "float32"])
def test_counts_are_those_of_rows_in_memory(n_rows, sizes, gaps, name):
    data = codes(n_rows, sizes, gaps)
    data.setflags(write=False)  # they are not written to
    found = TorchCounts(data, sizes)
    found.formats = (name,)
    check_alike(found, RowCounts(data, sizes))


@pytest.mark.parametrize(
    ("capability", "first"), [((7, 5), "float16"), ((8, 6), "int8"), ((8, 9), "fp8"), ((12, 0), "fp8")]
)
def test_the_order_of_formats_follows_from_the_device(capability, first, monkeypatch):
    monkeypatch.setattr("torch.cuda.get_device_capability", lambda place: capability)
    formats = exact_formats(SimpleNamespace(type="cuda"))
    assert (formats[0], formats[-1]) == (first, "float32")


def test_little_memory_means_smaller_blocks_or_an_error():
    data, sizes = codes(400, MIXED * 40, gaps=True), MIXED * 40
    with within(2_000_000):
        found = TorchCounts(data, sizes)
    assert len([*found.pair_blocks()]) > 2 * len([*TorchCounts(data, sizes).pair_blocks()])
    check_alike(found, RowCounts(data, sizes))
    with within(1_000_000), pytest.raises(TooLargeError):
        TorchCounts(data, sizes)


def test_a_format_that_counts_wrongly_is_given_up(monkeypatch):
    right = device_counts.product
    monkeypatch.setattr(device_counts, "product", lambda a, b, name: right(a, b, name) // (1 + (name == "int8")))
    data, sizes = codes(503, (3,) * 20), (3,) * 20
    found = TorchCounts(data, sizes)
    check_alike(found, RowCounts(data, sizes))
    assert (found.given_up, found.format) == (["int8"], "float32")
    monkeypatch.setattr(device_counts, "product", lambda a, b, name: right(a, b, name) // 2)
    with pytest.raises(KgmiError, match="int8, float32"):
        TorchCounts(data, sizes).pairs()


def test_a_device_that_is_not_there():
    with pytest.raises(SettingError, match="cuda:99"):
        open_device("cuda:99")
