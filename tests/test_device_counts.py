"""Counts on a device: bit for bit those of the CPU, whatever the format, the tiles and the chunks of rows."""

from __future__ import annotations

import numpy as np
import pytest

from kgmi.device.place import open_device
from kgmi.device.rows import DeviceRows
from kgmi.errors import KgmiError, SettingError, TooLargeError
from kgmi.statistics import count_pairs
from kgmi.statistics.observed import Observed

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def one_thread():
    """Small products on several threads are slower than on one, many times so where the other core is busy."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def codes(n_rows, n_nodes, n_states, seed=7101):
    return np.random.default_rng(seed).integers(0, n_states, (n_rows, n_nodes)).astype(np.int8)


def all_pairs(rows):
    """Counts [i, j, s', s] as the CPU has them, from tiles."""
    out = np.full((rows.n_nodes, rows.n_nodes, rows.n_states, rows.n_states), -1)
    for start, end, counts in rows.counted_pairs():
        for state, one in enumerate(counts):
            out[start:end, :end, :, state] = one.numpy().transpose(0, 2, 1)
            out[:end, start:end, state] = one.numpy().transpose(2, 0, 1)
    return out


@pytest.mark.parametrize(
    ("n_rows", "n_nodes", "n_states"), [(1, 2, 2), (130, 15, 3), (257, 16, 2), (1_000, 33, 5), (40, 7, 17)]
)
def test_pairs_are_those_of_the_cpu(n_rows, n_nodes, n_states):
    data = codes(n_rows, n_nodes, n_states)
    rows = DeviceRows(data, n_states, open_device("cpu"))
    assert (all_pairs(rows) == count_pairs(data, n_states).counts).all()


def test_every_exact_format_gives_the_same_counts():
    from kgmi.device.formats import exact_formats

    data, place = codes(5_000, 20, 3), open_device("cpu")
    expected = count_pairs(data, 3).counts
    formats = exact_formats(place)
    assert formats[-1].name == "float32" or "float32" in {one.name for one in formats}
    for one in formats:
        assert (all_pairs(DeviceRows(data, 3, place, (one,))) == expected).all()


def bad_format():
    """Sums in bfloat16: right up to 256, then too coarse."""
    import torch

    from kgmi.device.formats import Format

    return Format("coarse", lambda mask: mask.to(torch.bfloat16), lambda left, right: (left @ right.t()).float())


def test_a_format_that_counts_wrongly_is_given_up():
    from kgmi.device.formats import exact_formats

    data, place = codes(5_003, 20, 3), open_device("cpu")
    rows = DeviceRows(data, 3, place, (bad_format(), *exact_formats(place)))
    assert (all_pairs(rows) == count_pairs(data, 3).counts).all()
    assert rows.counter.given_up == ["coarse"]


def test_a_device_that_cannot_count_is_refused():
    rows = DeviceRows(codes(5_003, 20, 3), 3, open_device("cpu"), (bad_format(),))
    with pytest.raises(KgmiError, match="counts wrongly in every number format, the last being coarse"):
        rows.pairs(0, 20)


def test_the_trial_finds_no_format_that_is_wrong(monkeypatch):
    from kgmi.device import formats

    monkeypatch.setattr(formats, "FORMATS", (bad_format(), *formats.FORMATS))
    found = formats.measured_formats(open_device("cpu"))
    assert "coarse" not in found
    assert "float32" in found


def test_rows_in_many_chunks(monkeypatch):
    from kgmi.device import place

    data = codes(1_111, 20, 3)
    monkeypatch.setattr(place, "_CPU_MEMORY", 2_000_000)
    rows = DeviceRows(data, 3, open_device("cpu"))
    assert len(rows.counter.chunks) > 3
    assert (all_pairs(rows) == count_pairs(data, 3).counts).all()


def test_families_are_those_of_the_cpu():
    import torch

    data = codes(700, 12, 3)
    rows, observed = DeviceRows(data, 3, open_device("cpu")), Observed(data, (3,) * 12)
    children, others = np.array([5, 8, 11]), np.array([2, 7, 0])
    counts = rows.families(torch.as_tensor(children), torch.as_tensor(others), 11)
    for item, (child, other) in enumerate(zip(children, others, strict=True)):
        for candidate in range(11):
            expected = observed.family((int(other), candidate), int(child))  # [other, candidate, child]
            for state in range(3):
                assert (counts[state][item, :, candidate].numpy() == expected[:, state].ravel()).all()
    tables = rows.tables(children, others, children - 1)
    for item, (child, other) in enumerate(zip(children, others, strict=True)):
        assert (tables[item] == observed.family((int(other), int(child) - 1), int(child))).all()
    assert rows.tables(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)).shape == (0, 3, 3)


def test_rows_are_not_changed_and_may_be_read_only():
    data = codes(50, 5, 3)
    data.setflags(write=False)
    before = data.copy()
    DeviceRows(data, 3, open_device("cpu")).pairs(0, 5)
    assert (data == before).all()


def test_too_many_states():
    with pytest.raises(TooLargeError, match="at most 100"):
        DeviceRows(codes(50, 5, 3), 101, open_device("cpu"))


def test_a_device_that_is_not_there():
    import torch

    if torch.cuda.is_available():
        with pytest.raises(SettingError, match="there are"):
            open_device("cuda:99")
    else:
        with pytest.raises(SettingError, match="sees no NVIDIA device here"):
            open_device("cuda")
    with pytest.raises(SettingError, match="device must be"):
        open_device("cuda:x")
