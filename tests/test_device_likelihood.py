"""Search on a device: own values, heads, kernels and graph as on the CPU.

Gains agree to 1e-9 nats with those counted in double precision, and to 1e-5 of the largest with the CPU's score
table, which is in float32; graphs are the same.
"""

from __future__ import annotations

import numpy as np
import pytest

import kgmi
from kgmi.counts.bits import RowCounts
from kgmi.counts.torch import TorchCounts
from kgmi.errors import DataError, KernelError, SettingError
from kgmi.penalty import penalty_named
from kgmi.search.own import OwnSearch
from tests.device_drills import KERNEL, edges, fit_as_wide, paper_rows
from tests.test_device_counts import one_thread  # noqa: F401

pytestmark = pytest.mark.torch


def drawn(rows, child, parents, table, rng):
    """Draw a column of rows from its parents."""
    odds = table[tuple(rows[:, parent] for parent in parents)].cumsum(axis=1)
    rows[:, child] = (rng.random(len(rows))[:, None] > odds).sum(axis=1)


@pytest.mark.parametrize("penalty", ["nml", "bic"])
def test_own_values_are_those_of_the_cpu(penalty):
    from kgmi.device.heads import OwnValues

    rows = paper_rows(2, 600, 7301)
    rows[:, 4] = np.minimum(rows[:, 4], 1)  # a state less in one column
    price = penalty_named(penalty)
    own = OwnValues(TorchCounts(rows, (3,) * 20), price)
    search = OwnSearch(RowCounts(rows, (3,) * 20), price, 1)
    values, nodes = own.singles(4)
    for child in (1, 4, 9, 19):
        candidates, expected = search.extended(child, (), np.arange(child))
        order = np.argsort(-expected)[:4]
        assert nodes[child, : len(order)].tolist() == candidates[order].tolist()
        np.testing.assert_allclose(values[child, : len(order)], expected[order], atol=1e-9)
    assert (nodes[0] == -1).all()
    children, leads = np.array([4, 9, 19]), np.array([3, 5, 12])
    for child, lead, got, node in zip(
        children.tolist(), leads.tolist(), *own.seconds(children, leads), strict=True
    ):
        candidates, expected = search.extended(child, (lead,), np.arange(child))
        assert node == candidates[expected.argmax()]
        assert got == pytest.approx(expected.max(), abs=1e-9)


@pytest.mark.parametrize(("n_copies", "n_rows", "seed"), [(1, 1_000, 7303), (6, 1_000, 7304), (4, 3_000, 7305)])
def test_the_graph_is_that_of_the_cpu(n_copies, n_rows, seed):
    rows = paper_rows(n_copies, n_rows, seed)
    found, expected = kgmi.learn(rows, n_parents=2, device="cpu"), kgmi.learn(rows, n_parents=2)
    assert edges(found) == edges(expected) == sorted(kgmi.Dag.paper(10).copies(n_copies).edges)
    assert found.dag.root_blocks == expected.dag.root_blocks
    assert found.configuration["share"] == "shared"


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": KERNEL},
        {"kernel": KERNEL, "in_degree": "mixed"},
        {"n_parents": 2, "in_degree": "uniform"},
        {"n_parents": 1},
        {"n_parents": 2, "penalty": "bic"},
        {"kernel": KERNEL, "solver": "limit"},
    ],
)
def test_a_wide_fit_and_the_cpu_give_the_same(options):
    rows = paper_rows(3, 1_500, 7306)
    found, expected = kgmi.learn(rows, device="cpu", **options), kgmi.learn(rows, share="shared", **options)
    wide = fit_as_wide(rows, **options)
    assert edges(wide) == edges(found) == edges(expected)
    assert wide.dag.root_blocks == found.dag.root_blocks
    tolerance = 1e-5 * np.nanmax(found.scores)
    tables = found.scores, found.scores[::-1]  # roles may be the other way round
    assert any(np.allclose(one, expected.scores, atol=tolerance, equal_nan=True) for one in tables)
    finite = wide.wanted & np.isfinite(found.margins)
    np.testing.assert_allclose(wide.margins[finite], found.margins[finite], atol=1e-6)
    np.testing.assert_allclose(wide.kernel.table, found.kernel.table, atol=1e-9)
    assert wide.converged
    named = [tuple(wide.chosen[: len(ps), child].tolist()) for child, ps in enumerate(wide.dag.parents)]
    assert named == list(wide.dag.parents)


def test_nodes_with_one_parent_and_none():
    """A graph of all in-degrees with kernels of their own."""
    rng = np.random.default_rng(7308)
    tables = [kgmi.Kernel.random(3, n, rng=rng, concentration=0.3).table for n in (1, 2)]
    rows, parents = rng.integers(0, 3, (3_000, 30)), [()] * 30
    for child in range(5, 30):
        parents[child] = tuple(sorted(rng.choice(child, size=child % 3, replace=False).tolist()))
        if parents[child]:
            drawn(rows, child, parents[child], tables[len(parents[child]) - 1], rng)
    found = kgmi.learn(rows, n_parents=2, device="cpu")
    assert {len(ps) for ps in found.dag.parents} == {0, 1, 2}
    assert edges(found) == edges(kgmi.learn(rows, n_parents=2)) == sorted(kgmi.Dag(parents).edges)
    assert edges(fit_as_wide(rows, n_parents=2)) == edges(found)


@pytest.mark.parametrize("seed", [7324, 7328])
def test_few_rows_of_single_parents(seed):
    """Each node alone could not pay for a kernel of one parent, but together they can."""
    rng = np.random.default_rng(seed)
    table = kgmi.Kernel.random(3, 1, rng=rng, concentration=0.3).table
    rows = rng.integers(0, 3, (60, 40))
    for child in range(8, 40):
        drawn(rows, child, (int(rng.integers(child)),), table, rng)
    found, expected = (kgmi.learn(rows, n_parents=2, **one) for one in ({"device": "cpu"}, {"share": "shared"}))
    assert edges(found) == edges(expected)
    assert found.fit.score == pytest.approx(expected.fit.score)


def test_a_kernel_whose_parents_have_no_order():
    rng = np.random.default_rng(7309)
    rows = rng.integers(0, 3, (2_000, 24))
    for child in range(6, 24):
        drawn(rows, child, (child - 6, child - 4), kgmi.Kernel.mendelian(0.5).table, rng)
    found = kgmi.learn(rows, n_parents=2, device="cpu")
    assert edges(found) == sorted((child - step, child) for child in range(6, 24) for step in (4, 6))
    assert found.kernels[0].symmetric


def test_three_columns_and_independent_ones():
    rng = np.random.default_rng(7315)
    rows = rng.integers(0, 3, (600, 3))
    drawn(rows, 2, (0, 1), KERNEL.table, rng)
    assert edges(kgmi.learn(rows, n_parents=2, device="cpu")) == [(0, 2), (1, 2)]
    wide = fit_as_wide(rng.integers(0, 3, (800, 12)), n_parents=2)
    assert (wide.dag.n_edges, wide.kernel) == (0, None)


def test_few_rounds_are_said():
    assert "more rounds" in fit_as_wide(paper_rows(2, 1_000, 7311), n_parents=2, rounds=1).status


def test_what_has_no_engine_is_refused():
    rows = paper_rows(1, 100, 7312)
    for error, options in [
        (SettingError, {"n_parents": 3}),
        (SettingError, {"n_states": 17, "n_parents": 2}),
        (SettingError, {"n_parents": 2, "order": np.arange(10)[::-1]}),
        (KernelError, {"n_states": 4, "kernel": KERNEL}),
    ]:
        with pytest.raises(error):
            kgmi.learn(rows, device="cpu", **options)
    with pytest.raises(KernelError):
        fit_as_wide(rows, guide="stationary")
    with pytest.raises(DataError):
        kgmi.learn(np.where(rows == 2, np.nan, rows), n_parents=2, device="cpu")
