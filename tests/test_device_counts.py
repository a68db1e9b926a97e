"""Counts on a device: bit for bit those of rows in memory, whatever the format, the blocks and the gaps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from kgmi.counts import torch as device_counts
from kgmi.counts.base import repeats
from kgmi.counts.bits import RowCounts
from kgmi.counts.torch import TorchCounts, exact_formats, open_device
from kgmi.errors import DataError, KgmiError, SettingError, TooLargeError
from kgmi.memory import within

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


def codes(n_rows, sizes, lowest=0, seed=7101):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(lowest, size, n_rows) for size in sizes]).astype(np.int16)


def check_alike(found, expected):
    """Compare everything that the protocol has."""
    n_nodes, rng = found.n_nodes, np.random.default_rng(7102)
    np.testing.assert_array_equal(found.pairs().counts, expected.pairs().counts)
    for one, other in zip(found.marginals, expected.marginals, strict=True):
        np.testing.assert_array_equal(one, other)
    for child, parents in [(0, ()), (1, (n_nodes - 1, 0)), (n_nodes - 1, (1, 0))]:
        np.testing.assert_array_equal(found.family(child, parents), expected.family(child, parents))
    nodes = {size: np.flatnonzero(np.equal(found.sizes, size))[:3] for size in {*found.sizes}}
    for (first, left), (second, right), width in product(nodes.items(), nodes.items(), (1, 2)):
        tuples = np.array([[one, left[-1]][:width] for one in left])
        for child in (0, n_nodes - 1):
            for (part, one), (same, other) in zip(
                found.families(child, tuples, right), expected.families(child, tuples, right), strict=True
            ):
                assert part == same
                np.testing.assert_array_equal(one, other)
            gains = rng.normal(size=(2, *(first,) * width, second, found.sizes[child]))
            known = ~repeats(child, tuples, right)
            scores = (one.scores(child, tuples, right, gains)[:, known] for one in (found, expected))
            np.testing.assert_allclose(*scores, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize(
    ("n_rows", "sizes"), [(1, (2, 2)), (130, (3,) * 15), (257, (2,) * 16), (700, MIXED), (90, (2, 12, 130, 2))]
)
@pytest.mark.parametrize("lowest", [0, -1])
def test_counts_are_those_of_rows_in_memory(n_rows, sizes, lowest):
    data = codes(n_rows, sizes, lowest)
    data.setflags(write=False)  # they are not written to
    check_alike(TorchCounts(data, sizes), RowCounts(data, sizes))


def test_counts_are_those_of_a_loop():
    data = codes(60, MIXED, -1)
    found = TorchCounts(data, MIXED)
    expected = np.zeros((5, 5, 5, 5), dtype=np.int64)
    family = np.zeros((3, 5, 2))
    for row in data:
        for i, j in product(range(5), range(5)):
            expected[i, j, row[i], row[j]] += row[i] >= 0 and row[j] >= 0
        family[row[1], row[4], row[0]] += min(row[1], row[4], row[0]) >= 0
    np.testing.assert_array_equal(found.pairs().counts, expected)
    np.testing.assert_array_equal(found.family(0, (1, 4)), family)
    assert (found.n_rows, found.has_gaps, found.is_whole) == (60, True, True)


def test_every_exact_format_gives_the_same_counts():
    data = codes(5_003, MIXED, -1)
    expected = RowCounts(data, MIXED)
    assert "float32" in exact_formats(open_device("cpu"))
    for name in exact_formats(open_device("cpu")):
        check_alike(TorchCounts(data, MIXED, formats=[name]), expected)


def test_little_memory_means_smaller_blocks_or_an_error():
    data, sizes = codes(400, MIXED * 40, -1), MIXED * 40
    with within(2_000_000):
        found = TorchCounts(data, sizes)
    assert len([*found.pair_blocks()]) > 2 * len([*TorchCounts(data, sizes).pair_blocks()])
    check_alike(found, RowCounts(data, sizes))
    with within(1_000_000), pytest.raises(TooLargeError):
        TorchCounts(data, sizes)


def test_order_and_merge():
    data, order = codes(300, MIXED, -1), [4, 0, 2, 1, 3]
    kinds = (0, 1, 1, 2, 3)
    found, expected = TorchCounts(data, MIXED, kinds), RowCounts(data, MIXED, None, kinds)
    check_alike(found.in_order(order), expected.in_order(order))
    assert found.in_order(order).alphabets == (3, 0, 1, 1, 2)
    more = codes(77, MIXED, 0, seed=7103)
    check_alike(found.merge(TorchCounts(more, MIXED, kinds)), expected.merge(RowCounts(more, MIXED, None, kinds)))
    with pytest.raises(DataError):
        found.merge(TorchCounts(more, MIXED))


@pytest.fixture
def coarse(monkeypatch):
    """Make one format a faulty one: its sums are right up to 256, then too coarse."""
    right = device_counts.product
    monkeypatch.setattr(
        device_counts,
        "product",
        lambda a, b, name: (a @ b.t()).float() if name == "bfloat16" else right(a, b, name),
    )


@pytest.mark.usefixtures("coarse")
def test_a_format_that_counts_wrongly_is_given_up():
    assert "bfloat16" not in exact_formats.__wrapped__(open_device("cpu"))
    data = codes(5_003, (3,) * 20)
    found = TorchCounts(data, (3,) * 20, formats=["bfloat16", "float32"])
    check_alike(found, RowCounts(data, (3,) * 20))
    assert (found.given_up, found.format) == (["bfloat16"], "float32")
    with pytest.raises(KgmiError, match="bfloat16"):
        TorchCounts(data, (3,) * 20, formats=["bfloat16"]).pairs()


def test_half_of_the_scores():
    data, nodes = codes(300, (3,) * 9), np.arange(8)
    gains = np.random.default_rng(7104).normal(size=(2, 3, 3, 3))
    kinds = TorchCounts(data, (3,) * 9), RowCounts(data, (3,) * 9)
    np.testing.assert_allclose(*(one.scores(8, nodes[:, None], nodes, gains, is_half=True) for one in kinds))


def test_too_many_joint_states():
    with pytest.raises(TooLargeError):
        TorchCounts(codes(50, (200,) * 5), (200,) * 5).family(0, (1, 2, 3))


@pytest.mark.parametrize("name", ["cuda:99", "cuda:x"])
def test_a_device_that_is_not_there(name):
    with pytest.raises(SettingError, match="device"):
        TorchCounts(codes(50, MIXED), MIXED, device=name)
