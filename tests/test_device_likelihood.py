"""Search on a device: own values, heads, kernels and graph as on the CPU.

Gains agree to 1e-9 nats with those counted in double precision, and to 1e-5 of the largest with the CPU's score
table, which is in float32; graphs are the same.
"""

from __future__ import annotations

import numpy as np
import pytest

import kgmi
from kgmi.device.place import open_device
from kgmi.device.rows import DeviceRows
from kgmi.errors import DataError, KernelError, SettingError
from kgmi.penalty import penalty_named
from kgmi.search.own import OwnSearch
from kgmi.statistics.observed import Observed
from tests.device_drills import KERNEL, edges, fit_as_wide, paper_rows
from tests.test_device_counts import one_thread  # noqa: F401

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("penalty", ["nml", "bic"])
def test_own_values_are_those_of_the_cpu(penalty):
    from kgmi.device.own import OwnValues

    rows = paper_rows(2, 600, 7301)
    rows[:, 4] = np.minimum(rows[:, 4], 1)  # a state less in one column
    price = penalty_named(penalty)
    own = OwnValues(DeviceRows(rows, 3, open_device("cpu")), price)
    search = OwnSearch(Observed(rows, (3,) * 20), price, 1)
    values, nodes = own.singles(4)
    for child in (1, 4, 9, 19):
        candidates, expected = search.extended(child, (), np.arange(child))
        order = np.argsort(-expected)[:4]
        assert nodes[child, : len(order)].tolist() == candidates[order].tolist()
        np.testing.assert_allclose(values[child, : len(order)], expected[order], atol=1e-9)
    assert (nodes[0] == -1).all()
    children, leads = np.array([4, 9, 19]), np.array([3, 5, 12])
    value, second = own.seconds(children, leads)
    for child, lead, got, node in zip(children.tolist(), leads.tolist(), value, second, strict=True):
        candidates, expected = search.extended(child, (lead,), np.arange(child))
        assert node == candidates[expected.argmax()]
        assert got == pytest.approx(expected.max(), abs=1e-9)


def test_roles_are_aligned_before_tables_are_pooled():
    from kgmi.device.first import aligned

    rng = np.random.default_rng(7302)
    tables = np.stack([KERNEL.table * rng.integers(200, 900, (3, 3, 1)) for _ in range(12)])
    mixed = tables.copy()
    mixed[::2] = mixed[::2].swapaxes(1, 2)
    found = aligned(mixed)
    assert np.allclose(found, tables) or np.allclose(found, tables.swapaxes(1, 2))


@pytest.mark.parametrize("seed", [7303, 7304, 7305])
@pytest.mark.parametrize(("n_copies", "n_rows"), [(1, 1_000), (6, 1_000), (4, 3_000)])
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
    ],
)
def test_other_settings(options):
    rows = paper_rows(3, 1_500, 7306)
    found, expected = kgmi.learn(rows, device="cpu", **options), kgmi.learn(rows, share="shared", **options)
    assert edges(found) == edges(expected)
    wide = fit_as_wide(rows, **options)
    assert edges(wide) == edges(found)
    assert wide.dag.root_blocks == found.dag.root_blocks
    table, turned = found.scores, found.scores[::-1]
    close = [
        np.allclose(one, expected.scores, atol=1e-5 * np.nanmax(table), equal_nan=True) for one in (table, turned)
    ]
    assert any(close)


@pytest.mark.parametrize("options", [{"n_parents": 2}, {"kernel": KERNEL, "solver": "limit"}, {"n_parents": 1}])
def test_a_wide_fit_is_the_same_fit(options):
    rows = paper_rows(4, 1_500, 7307)
    wide, usual = fit_as_wide(rows, **options), kgmi.learn(rows, device="cpu", **options)
    assert edges(wide) == edges(usual)
    on = wide.wanted
    finite = on & np.isfinite(usual.margins)
    np.testing.assert_allclose(wide.margins[finite], usual.margins[finite], atol=1e-6)
    assert wide.converged
    assert wide.kernel is not None
    np.testing.assert_allclose(wide.kernel.table, usual.kernel.table, atol=1e-9)
    named = [tuple(wide.chosen[: len(ps), child].tolist()) for child, ps in enumerate(wide.dag.parents)]
    assert named == list(wide.dag.parents)
    assert "Re-guided for" in wide.status


def test_nodes_with_one_parent_and_none():
    """A graph of all in-degrees with kernels of their own."""
    rng = np.random.default_rng(7308)
    one, two = (
        kgmi.Kernel.random(3, 1, rng=rng, concentration=0.3),
        kgmi.Kernel.random(3, 2, rng=rng, concentration=0.3),
    )
    rows = rng.integers(0, 3, (3_000, 30))
    parents = [()] * 30
    for child in range(5, 30):
        parents[child] = tuple(sorted(rng.choice(child, size=child % 3, replace=False).tolist()))
        law = {0: None, 1: one.table, 2: two.table}[len(parents[child])]
        if law is not None:
            odds = law[tuple(rows[:, parent] for parent in parents[child])].cumsum(axis=1)
            rows[:, child] = (rng.random(3_000)[:, None] > odds).sum(axis=1)
    found, expected = kgmi.learn(rows, n_parents=2, device="cpu"), kgmi.learn(rows, n_parents=2)
    assert {len(ps) for ps in found.dag.parents} == {0, 1, 2}
    assert edges(found) == edges(expected) == sorted(kgmi.Dag(parents).edges)
    assert edges(fit_as_wide(rows, n_parents=2)) == edges(expected)


@pytest.mark.parametrize("seed", [7324, 7328])
def test_few_rows_of_single_parents(seed):
    """Each node alone could not pay for a kernel of one parent, but together they can."""
    rng = np.random.default_rng(seed)
    table = kgmi.Kernel.random(3, 1, rng=rng, concentration=0.3).table
    rows, parents = rng.integers(0, 3, (60, 40)), [()] * 40
    for child in range(8, 40):
        parents[child] = (int(rng.integers(child)),)
        rows[:, child] = (rng.random(60)[:, None] > table[rows[:, parents[child][0]]].cumsum(axis=1)).sum(axis=1)
    found = kgmi.learn(rows, n_parents=2, device="cpu")
    expected = kgmi.learn(rows, n_parents=2, share="shared")
    assert edges(found) == edges(expected)
    assert found.fit.score == pytest.approx(expected.fit.score)


def test_three_columns():
    rng = np.random.default_rng(7315)
    rows = rng.integers(0, 3, (600, 3))
    odds = KERNEL.table[rows[:, 0], rows[:, 1]].cumsum(axis=1)
    rows[:, 2] = (rng.random(600)[:, None] > odds).sum(axis=1)
    assert edges(kgmi.learn(rows, n_parents=2, device="cpu")) == [(0, 2), (1, 2)]


def test_a_kernel_whose_parents_have_no_order():
    dag, rng = kgmi.Dag([()] * 6 + [(i - 6, i - 4) for i in range(6, 24)]), np.random.default_rng(7309)
    rows = rng.integers(0, 3, (2_000, 24))
    table = kgmi.Kernel.mendelian(0.5).table
    for child in range(6, 24):
        odds = table[rows[:, child - 6], rows[:, child - 4]].cumsum(axis=1)
        rows[:, child] = (rng.random(2_000)[:, None] > odds).sum(axis=1)
    found = kgmi.learn(rows, n_parents=2, device="cpu")
    assert edges(found) == sorted(dag.edges)
    assert found.kernels[0].symmetric


def test_independent_columns_have_no_parents():
    rows = np.random.default_rng(7310).integers(0, 3, (800, 12))
    assert kgmi.learn(rows, n_parents=2, device="cpu").dag.n_edges == 0
    wide = fit_as_wide(rows, n_parents=2)
    assert wide.dag.n_edges == 0
    assert wide.kernel is None
    assert wide.status.startswith("All nodes are roots")


def test_few_rounds_are_said():
    wide = fit_as_wide(paper_rows(2, 1_000, 7311), n_parents=2, rounds=1)
    assert "still changing: use more rounds" in wide.status


def test_what_has_no_engine_is_refused():
    rows = paper_rows(1, 100, 7312)
    with pytest.raises(SettingError, match="at most 2 parents"):
        kgmi.learn(rows, n_parents=3, device="cpu")
    with pytest.raises(SettingError, match="at most 16 states"):
        kgmi.learn(rows, n_states=17, n_parents=2, device="cpu")
    with pytest.raises(KernelError, match="the guide 'stationary' needs the kernel"):
        fit_as_wide(rows, guide="stationary")
    with pytest.raises(SettingError, match="does not go with order:"):
        kgmi.learn(rows, n_parents=2, order=np.arange(10)[::-1], device="cpu")
    with pytest.raises(KernelError, match="the data have 4 states, the kernel 3"):
        kgmi.learn(rows, n_states=4, kernel=KERNEL, device="cpu")
    with pytest.raises(DataError, match="missing"):
        kgmi.learn(np.where(rows == 2, np.nan, rows), n_parents=2, device="cpu")
