"""``learn`` from rows as they come: gaps, masks, tiers, alphabets of their own, copies, and what is refused."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest

from kgmi import Dag, FiniteKernels, Kernel, Process, Table, count_pairs, exact_joint, learn, sample
from kgmi.errors import DataError, KernelError, SettingError
from kgmi.plots import FIGURE_NAMES, save_figures

KERNEL = Kernel.paper()
PAPER = Process(Dag.paper(), KERNEL)
ROWS = sample(PAPER, 1_000, rng=8100)
NAMES = tuple("ABCDEFGHIJ")


@pytest.mark.parametrize("missing", ["pairwise", "category"])
def test_one_value_in_ten_may_be_missing(missing):
    rows = sample(PAPER, 2_000, rng=8150).astype(float)
    gone = np.random.default_rng(8151).random(rows.shape) < 0.1
    rows[gone] = np.nan
    learned = learn(rows, missing=missing, names=NAMES)
    assert learned.dag == PAPER.dag
    (one,) = learned.kernels
    if missing == "category":
        assert learned.states == ("0", "1", "2", "missing")
        assert one.counts.sum() == 16_000
        return
    seen = [~gone[:, [*parents, child]].any(axis=1) for child, parents in enumerate(PAPER.dag.parents) if parents]
    assert one.counts.sum() == np.sum(seen)  # a row drops out of exactly the counts that need its value
    most = gone.sum(axis=0)
    assert f"{gone.sum():,} of 20,000 values" in learned.status
    assert f"(most in {NAMES[most.argmax()]}: {most.max()})" in learned.status
    assert np.isfinite(learned.model.log_likelihood(np.where(gone, -1, rows).astype(int))).all()


def test_edges_may_be_forbidden_and_required():
    learned = learn(ROWS, names=NAMES, forbidden=[("A", "D"), (6, 9)], required=[("C", "F")])
    assert "A" not in learned.parents["D"]
    assert "G" not in learned.parents["J"]
    assert "C" in learned.parents["F"]
    assert learned.configuration["candidates"]["forbidden"] == [[0, 3], [6, 9]]
    assert "2 forbidden edges; 1 required edge" in learned.status
    assert np.isnan(learned.scores[:, 3, 0]).all()
    assert (
        learn(ROWS, forbidden=[(0, 9), (2, 8)], required=[(0, 2), (6, 9)]).dag.parents[2:9]
        == (PAPER.dag.parents[2:9])
    )


def test_tiers_free_the_order_inside_a_generation_and_columns_may_stand_anywhere():
    order = np.random.default_rng(8160).permutation(10)
    tiers = np.array([0, 0, 1, 2, 3, 4, 4, 5, 6, 6])
    names = [NAMES[column] for column in order]
    learned = learn(ROWS[:, order], names=names, tiers=tiers[order])
    assert {name: set(parents) for name, parents in learned.parents.items()} == {
        NAMES[child]: {NAMES[parent] for parent in parents} for child, parents in enumerate(PAPER.dag.parents)
    }
    assert learned.names == tuple(names)
    assert sorted(tiers[order]) == tiers[order][[*learned.order]].tolist()
    groups = [[name for name in names if tiers[NAMES.index(name)] == tier] for tier in range(7)]
    assert learn(ROWS[:, order], names=names, tiers=groups).parents == learned.parents
    assert "(roots: " in learned.status
    assert "2 with no parents, 8 with 2 parents" in learned.status


def test_a_maximal_lag():
    dag = Dag.chain(9, 2)
    rows = sample(Process(dag, KERNEL), 1_000, rng=8161)
    learned = learn(rows, max_lag=2)
    assert learned.dag == dag
    assert "lags up to 2 columns" in learned.status
    assert not np.isfinite(learned.scores[:, 8, :6]).any()
    assert learn(rows, max_lag=1).dag.max_in_degree == 1


def test_columns_with_alphabets_of_their_own():
    rows = ROWS.copy()
    rows[:, :2] = np.minimum(rows[:, :2], 1)
    alphabets = (("no", "yes"),) * 2 + (("low", "mid", "high"),) * 8
    table = Table(rows, NAMES, ("no", "yes", "low", "mid", "high"), alphabets)
    learned = learn(table)
    assert learned.alphabets == alphabets
    assert {node for one in learned.kernels for node in one.children} >= {3, 4, 5, 7, 8}
    for one in learned.kernels:
        for child in one.children:
            sizes = tuple(len(alphabets[node]) for node in (*learned.dag.parents[child], child))
            assert one.table.shape == sizes
    assert learned.dag.parents[7] == PAPER.dag.parents[7]
    assert learned.kernel is None


def test_alphabets_of_one_size_are_still_different(tmp_path):
    rng = np.random.default_rng(8192)
    first, second = rng.integers(2, size=(2, 500))
    third = np.where(rng.random(500) < 0.8, first & second, rng.integers(2, size=500))
    alphabets = (("a", "b"), ("c", "d"), ("e", "f"))
    learned = learn(Table(np.stack([first, second, third], axis=1), tuple("uvw"), tuple("abcdef"), alphabets))
    assert learned.dag == Dag([(), (), (0, 1)])
    assert learned.kernels[0].table.shape == (2, 2, 2)
    assert learned.kernel is None  # a kernel is over one alphabet
    drawn = [path.stem for path in save_figures(learned, tmp_path)]
    assert drawn == list(FIGURE_NAMES)  # kernels over alphabets of their own are drawn as well


def test_identical_columns_are_named():
    rows = np.concatenate([ROWS, ROWS[:, [3]]], axis=1)
    status = learn(rows, names=(*NAMES, "twin")).status
    assert "Identical columns: D, twin." in status
    assert "Identical" not in learn(ROWS).status


@pytest.mark.parametrize(
    "options", [{}, {"order": "learn"}, {"guide": "plain"}, {"forbidden": [("A", "D")]}], ids=str
)
@pytest.mark.parametrize("places", ["ACD", "ADC", "DAC", "ABCD", "CBAD", "AECD", "ACDX", "BDCAX"])
def test_of_identical_columns_the_edges_are_named_that_could_come_from_another(places, options):
    """A, C and X are one column, D follows it, B and E are others; every child chooses among earlier columns."""
    rng = np.random.default_rng(31)
    same, other, more = rng.integers(2, size=(3, 400))
    columns = {"D": same ^ (rng.random(400) < 0.1), "B": other, "E": more}
    rows = np.stack([columns.get(name, same) for name in places], axis=1)
    learned = learn(rows, names=tuple(places), n_parents=1, **options)
    twins, forbidden = {*"ACX"} & {*places}, {*options.get("forbidden", ())}
    arbitrary, in_order = set(), [learned.names[column] for column in learned.order]
    for child, parents in learned.parents.items():
        before = places if "order" in options else in_order[: in_order.index(child)]  # no order, no earlier columns
        earlier = {*before} - {*parents, child}
        open_to = {twin for twin in earlier & twins if (twin, child) not in forbidden}
        arbitrary |= {(parent, child) for parent in parents if parent in twins and open_to}
    sentence = learned.status.partition("Identical columns: ")[2]
    assert {*sentence.partition(".")[0].split(", ")} == twins
    assert {*re.findall(r"(\w) → (\w)", sentence.partition("leave the copies out")[0])} == arbitrary


def test_a_single_parent_is_not_said_to_show_together_with_others_only():
    """Of many states in few rows a test of pairs sees nothing, though the score does."""
    rng = np.random.default_rng(33)
    parent, other = rng.integers(30, size=(2, 150))
    learned = learn(np.stack([parent, np.where(rng.random(150) < 0.3, other, parent)], axis=1))
    assert learned.dag.edges == ((0, 1),)
    assert "Pairwise scores" not in learned.status


def test_of_identical_columns_that_are_both_parents_either_is_named():
    rng = np.random.default_rng(32)
    same = rng.integers(2, size=400)
    child = same ^ (rng.random(400) < 0.1)
    learned = learn(np.stack([same, same, child], axis=1), names=("A", "twin", "D"), in_degree="uniform")
    assert set(learned.parents["D"]) == {"A", "twin"}
    assert "the parent in A → D, twin → D is an arbitrary choice" in learned.status


def test_an_edge_from_a_copy_that_was_asked_for_is_no_arbitrary_choice():
    status = learn(ROWS[:, [3, 3, 4]], names=("D", "twin", "E"), n_parents=1, required=[("twin", "E")]).status
    assert "Identical columns: D, twin." in status
    assert "arbitrary" not in status


without_value = ROWS.astype(float)
without_value[:, 4] = np.nan


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        *(
            (
                DataError,
                "column 'E'",
                partial(learn, without_value, names=NAMES, missing=how),
            )
            for how in ("pairwise", "category", "error")
        ),
        (SettingError, "goes against forbidden", partial(learn, ROWS, forbidden=[(0, 3)], required=[(0, 3)])),
        (
            SettingError,
            "goes against max_lag = 3, as it goes back by 6",
            partial(learn, ROWS, required=[(0, 6)], max_lag=3),
        ),
        (SettingError, "against the tiers", partial(learn, ROWS, required=[(0, 1)], tiers=[0, 0, *range(1, 9)])),
        (
            SettingError,
            "every column once; missing or twice: 'J'",
            partial(learn, ROWS, names=NAMES, tiers=range(9)),
        ),
        (
            SettingError,
            "missing or twice: 'C'",
            partial(learn, ROWS, names=NAMES, tiers=[["A", "B"], [*"DEFGHIJ"]]),
        ),
        (
            SettingError,
            "has 3 required parents, more than 2",
            partial(learn, ROWS, required=[(0, 5), (1, 5), (2, 5)]),
        ),
        (SettingError, "no column may be a parent", partial(learn, ROWS, tiers=[0] * 10)),
        (SettingError, "cannot be estimated together with the kernel", partial(learn, ROWS, error="estimate")),
        (SettingError, "at least 0 and below 1", partial(learn, ROWS, error=1.0)),
        (SettingError, "needs the guide 'likelihood'", partial(learn, ROWS, guide="plain", error=0.1)),
        (DataError, "'likelihood' needs the rows", partial(learn, exact_joint(PAPER), guide="likelihood")),
        (DataError, "'likelihood' needs the rows", partial(learn, count_pairs(ROWS, 3), guide="likelihood")),
        (KernelError, "'contextual' needs the kernel", partial(learn, exact_joint(PAPER), guide="contextual")),
        (
            KernelError,
            "one kernel for all rows",
            partial(learn, ROWS, kernel=FiniteKernels([KERNEL]), guide="likelihood"),
        ),
        (SettingError, "takes no divergence; use guide='stationary'", partial(learn, ROWS, divergence="pearson")),
        (SettingError, "needs the kernel", partial(learn, ROWS, kernel_source="known")),
        (SettingError, "a kernel that is given", partial(learn, ROWS, kernel=KERNEL, kernel_source="learned")),
        (SettingError, "needs rows with a labelled tail", partial(learn, ROWS, kernel_source="labelled")),
        (SettingError, "required edges need", partial(learn, ROWS, guide="plain", required=[(0, 3)])),
        (SettingError, "search must be one of", partial(learn, ROWS, search="all")),
        (SettingError, "share must be one of", partial(learn, ROWS, share="some")),
        (SettingError, "no penalty 'mdl'", partial(learn, ROWS, penalty="mdl")),
        (SettingError, "starts must be at least 1", partial(learn, ROWS, starts=0)),
        (SettingError, "rounds must be at least 1", partial(learn, ROWS, rounds=0)),
        (SettingError, "list_length must be at least 1", partial(learn, ROWS, list_length=0)),
        (DataError, "a sequence is one column, got", partial(learn, ROWS, windows=3)),
    ],
)
def test_bad_input_has_an_error_that_says_what_is_wrong(error, match, call):
    with pytest.raises(error, match=match):
        call()
