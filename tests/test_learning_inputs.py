"""What ``learn`` accepts and refuses, and how it marks what it was given."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl
import pytest

from kgmi import (
    Dag,
    FiniteKernels,
    Kernel,
    KernelSampler,
    LabelledRows,
    PairCounts,
    PairJoint,
    PairMixture,
    Process,
    Table,
    count_pairs,
    exact_joint,
    learn,
    sample,
)
from kgmi.errors import DataError, DivergenceError, KernelError, SettingError

KERNEL = Kernel.paper()
PAPER = Process(Dag.paper(), KERNEL)
ROWS = sample(PAPER, 300, rng=np.random.default_rng(0))
LABELLED = sample(PAPER, 300, rng=np.random.default_rng(1), labelled=True)
TABLE = Table(ROWS, tuple("abcdefghij"), tuple("012"))
BINARY = Kernel([[0.9, 0.1], [0.2, 0.8]])


def test_fingerprints_tell_inputs_apart_but_not_their_types():
    def mark(source, **options):
        return learn(source, solver="limit", **options).fingerprint

    rows = ROWS[:50, :4]
    counts = count_pairs(rows, 3)
    same = [mark(rows.astype(kind)) for kind in (np.int8, np.int64, np.uint16, np.float32)]
    assert len({*same, mark(rows.tolist()), mark(np.asfortranarray(rows))}) == 1
    assert same[0].startswith("sha256:")
    changed = rows.copy()
    changed[7, 2] = (changed[7, 2] + 1) % 3
    one, other = exact_joint(PAPER), exact_joint(Process(PAPER.dag, Kernel.paper(0.01)))
    labelled = LabelledRows(LABELLED.rows[:50], LABELLED.uniform[:50], LABELLED.label[:50])
    relabelled = LabelledRows(labelled.rows, labelled.uniform, labelled.label[::-1])
    marks = [
        *(same[0], mark(changed), mark(rows[:, ::-1]), mark(rows[::-1]), mark(rows, n_states=4)),
        *(mark(Table(rows, tuple("abcd"), ("x", "y", "z"))), mark(counts), mark(PairCounts(2 * counts.counts))),
        *(mark(one), mark(other), mark(PairJoint(one.joint, n_rows=9))),
        *(mark(PairMixture((one, other), w)) for w in ((0.5, 0.5), (0.4, 0.6))),
        mark(PairMixture((other, one), (0.5, 0.5))),
        *(mark(labelled), mark(relabelled)),
    ]
    assert len(set(marks)) == len(marks)


def with_cell(value, dtype=float):
    rows = ROWS.astype(dtype)
    rows[4, 2] = value
    return rows


@pytest.mark.parametrize(
    ("error", "match", "rows", "options"),
    [
        (DataError, "row 4, column 'X3' is 3, outside the alphabet 0..2", with_cell(3, int), {"kernel": KERNEL}),
        (DataError, r"row 4, column 'X3': the value is missing \(-1 in an array", with_cell(-1, int), {}),
        (DataError, r"column 'c': the value is missing \(NaN\)", with_cell(np.nan), {"names": list("abcdefghij")}),
        (DataError, "row 4, column 'X3' is 0.5; states must be whole numbers", with_cell(0.5), {}),
        (DataError, "column 'X2' is constant", np.array([[0, 1], [1, 1], [2, 1]]), {}),
        (DataError, "3 states and a value in 2 rows only", ROWS[:2], {"n_states": 3}),
        (DataError, "at least two columns", ROWS[:, :1], {}),
        (DataError, r"must be a table \[row, node\]", ROWS[:, 0], {}),
        (DataError, "column 'X1' is constant", np.full((5, 2), "low"), {}),
        (DataError, "column 'X2' has no value", [[0, None], [1, None]], {"missing": "pairwise"}),
        (DataError, "10 columns need as many names, got 2", ROWS, {"names": ["a", "b"]}),
        (DataError, "two columns are named 'a'", ROWS, {"names": ["a"] * 10}),
        (SettingError, "n_states must be at least 2, got 1", ROWS, {"n_states": 1}),
        (
            SettingError,
            "n_states is 4, but there are 3 states in the table",
            TABLE,
            {"n_states": 4},
        ),
        (
            SettingError,
            "n_states is 4, but there are 3 states in the statistics",
            count_pairs(ROWS, 3),
            {"n_states": 4},
        ),
        (DataError, "column 'X1' is constant", count_pairs(ROWS * [0, *[1] * 9], 3), {}),
        (DataError, "kgmi.read_table", "rows.csv", {}),
        (
            KernelError,
            r"the kernel is a ndarray; wrap a table .* as kgmi.Kernel\(table\)",
            ROWS,
            {"kernel": KERNEL.table},
        ),
        (SettingError, "labelled estimator is Pearson's χ²; it cannot use 'kl'", LABELLED, {"divergence": "kl"}),
        (DataError, "'labelled' needs rows with a labelled tail", ROWS, {"guide": "labelled"}),
    ],
)
def test_bad_rows_have_errors_that_say_what_and_where(error, match, rows, options):
    with pytest.raises(error, match=match):
        learn(rows, **options)


@pytest.mark.parametrize("guide", ["stationary", "uniform", "plain"])
@pytest.mark.parametrize(
    "source",
    [count_pairs(ROWS, 3), exact_joint(PAPER), TABLE],
    ids=["counts", "population", "table"],
)
def test_a_kernel_with_other_states_than_the_data_is_an_error(source, guide):
    with pytest.raises(KernelError, match="the data have 3 states, the kernel 2"):
        learn(source, kernel=BINARY, guide=guide)


def test_a_labelled_tail_and_a_kernel_must_agree():
    with pytest.raises(SettingError, match="the labelled tail has 2 parents, but the kernel has 1"):
        learn(LABELLED, kernel=BINARY)
    other = Kernel.random(4, 2, rng=np.random.default_rng(0))
    with pytest.raises(KernelError, match="the data have 3 states, the kernel 4"):
        learn(LABELLED, kernel=other, n_states=3)


@pytest.mark.parametrize(
    ("error", "match", "options"),
    [
        (SettingError, "10 parents need at least 11 columns, got 10", {"n_parents": 10}),
        (SettingError, "n_parents must be at least 1, got 0", {"n_parents": 0}),
        (SettingError, "n_parents is 3, but the kernel or labelled tail has 2", {"n_parents": 3, "kernel": KERNEL}),
        (SettingError, "rate η must be positive and at most .*, got 0", {"rate": 0}),
        (SettingError, "rate η must be positive and at most .*, got -1", {"rate": -1}),
        (SettingError, "rate η must be positive and at most .*, got nan", {"rate": np.nan}),
        (SettingError, "epochs must be a whole number, zero or more, got -1", {"epochs": -1}),
        (SettingError, "epochs must be a whole number, zero or more, got 2.5", {"epochs": 2.5}),
        (SettingError, r"stop \(ε_attn\) must lie in \[0, 1\), got 1", {"stop": 1}),
        (SettingError, r"smoothing must be from 0 to 1e\+12 pseudo-rows, got -1", {"smoothing": -1}),
        (SettingError, "smoothing must be from 0 to .*, got 1e.308", {"smoothing": 1e308}),
        (SettingError, "root_level must be between 0 and 1, got 0", {"root_level": 0}),
        (SettingError, r"kappa \(κ\) must be zero or more, got inf", {"kappa": np.inf}),
        (
            SettingError,
            "guide must be one of stationary, uniform, plain, labelled, .*; got 'best'",
            {"guide": "best"},
        ),
        (SettingError, "solver must be one of ascent, limit; got 'adam'", {"solver": "adam"}),
        (SettingError, "in_degree must be one of uniform, mixed; got 'any'", {"in_degree": "any"}),
        (SettingError, "labelled_form must be one of printed, factorised, reweighted", {"labelled_form": "both"}),
        (SettingError, "roots must be one of test; got 'all'", {"roots": "all"}),
        (SettingError, r"roots mentions 10: nodes are names, or numbers 0..9", {"roots": [10]}),
        (SettingError, r"roots mentions -1: nodes are names, or numbers 0..9", {"roots": [-1]}),
        (DivergenceError, "no divergence 'entropy'", {"divergence": "entropy"}),
        (KernelError, "the guide 'stationary' needs the kernel", {"guide": "stationary"}),
        (KernelError, "pooled counts have lost", {"kernel": FiniteKernels([KERNEL])}),
        (KernelError, "pooled counts have lost", {"kernel": KernelSampler(lambda rng: KERNEL, 3, 2)}),
        (SettingError, "record_at lists epochs", {"record_at": [-1]}),
    ],
)
def test_settings_that_make_no_sense_are_errors(error, match, options):
    with pytest.raises(error, match=match):
        learn(ROWS, **options)


def test_an_unseen_pair_of_states_without_smoothing_is_an_error_that_says_what_to_do():
    rows = np.array([[0, 0], [1, 1], [0, 0], [1, 1]] * 20)
    stationary = partial(learn, rows, kernel=BINARY, guide="stationary")
    with pytest.raises(DataError, match="never occurs together"):
        stationary(smoothing=0)
    assert stationary().dag == Dag([(), (0,)])
    assert stationary(smoothing=0, divergence="pearson").dag == Dag([(), (0,)])
    assert learn(rows, kernel=BINARY).dag == Dag([(), (0,)])  # likelihoods have no such trouble
    assert learn(rows, n_parents=1, smoothing=0).dag == Dag([(), (0,)])


class Frame:
    """What a data frame looks like from here."""

    columns = ("a", "b", *range(8))

    def __array__(self, dtype=None, copy=None):
        return ROWS.astype(dtype)


def test_a_data_frame_keeps_the_names_of_its_columns():
    learned = learn(Frame(), kernel=KERNEL, solver="limit")
    assert learned.names == ("a", "b", "0", "1", "2", "3", "4", "5", "6", "7")
    assert learned.dag == learn(ROWS, kernel=KERNEL, solver="limit").dag


def test_a_lazy_frame_is_computed_without_a_warning():
    lazy = pl.DataFrame(ROWS, schema=list("abcdefghij")).lazy()
    learned = learn(lazy, kernel=KERNEL, solver="limit")
    assert learned.names == tuple("abcdefghij")
    assert learned.dag == learn(ROWS, kernel=KERNEL, solver="limit").dag


def test_results_cannot_be_changed_by_accident():
    guided, learned = learn(ROWS, kernel=KERNEL, guide="stationary"), learn(ROWS)
    arrays = [guided.joint.joint, *guided.model.tables, *learned.model.tables, *learned.model.marginals]
    arrays += [array for one in (guided, learned) for array in (one.attention, one.scores, one.stopped)]
    arrays += [array for one in learned.kernels for array in (one.table, one.counts, one.standard_errors)]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
