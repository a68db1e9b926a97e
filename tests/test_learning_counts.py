"""Learning from counts and from streams: the same result as from the rows themselves."""

from dataclasses import replace

import numpy as np
import pytest

import kgmi
from kgmi.alphabets import Rules, Seen
from kgmi.counts.tally import Tallier
from kgmi.errors import DataError, SettingError, TooLargeError
from kgmi.learning import shortlist
from kgmi.table import as_table
from tests.result_drills import as_frame, write


def counts_of(table, width=3):
    """Counts of a table in memory."""
    tallier = Tallier(table.sizes, width, bool(table.n_missing))
    tallier.add(np.ascontiguousarray(table.codes.T))
    seen = tuple(Seen(texts, has_gaps=bool(table.n_missing)) for texts in table.column_states)
    rules = Rules(missing="pairwise", alphabet="shared" if table.alphabets is None else "own")
    return kgmi.CountedTable(table.names, rules, seen, tallier.tally())


def sampled(n_nodes, n_rows, seed, n_parents=2):
    rng = np.random.default_rng(seed)
    kernel = kgmi.Kernel.random(int(rng.integers(2, 4)), n_parents, rng=rng)
    process = kgmi.Process(kgmi.Dag.random(n_nodes, n_parents, rng=rng), kernel)
    return process, kgmi.sample(process, n_rows, rng=rng)


def assert_same(one, other):
    """Graph, order, kernels, score and model, up to rounding."""
    assert (one.names, one.order) == (other.names, other.order)
    assert (one.dag.parents, one.dag.root_blocks) == (other.dag.parents, other.dag.root_blocks)
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-5, atol=1e-3)
    for mine, theirs in zip(one.kernels, other.kernels, strict=True):
        np.testing.assert_array_equal(mine.counts, theirs.counts)
        np.testing.assert_allclose(mine.table, theirs.table, rtol=1e-9)
    if one.fit is not None:
        assert one.fit.score == pytest.approx(other.fit.score, rel=1e-9, abs=1e-6)
        assert one.fit.share == other.fit.share
    for mine, theirs in zip(one.model.tables, other.model.tables, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)


OPTIONS = [
    {},
    {"share": "node"},
    {"share": "classes"},
    {"in_degree": "uniform"},
    {"order": "learn"},
    {"search": "heads"},
    {"search": "lists", "list_length": 3},
    {"tiers": [0, 0, 0, 1, 1, 1, 2, 2]},
    {"forbidden": [(0, 3)], "required": [(1, 5)]},
    {"penalty": "bic", "smoothing": 0.5},
    {"guide": "plain"},
    {"roots": [0, 1]},
    {"n_parents": 1},
    {"n_parents": 3},
]
FEW_OPTIONS = [{}, {"share": "node"}, {"order": "learn"}, {"guide": "plain"}, {"n_parents": 1}]


def plain(rng, rows):
    return as_table(rows)


def gappy(rng, rows):
    """A parent that is seen now and then, against stand-ins that always are."""
    gaps = rng.random(rows.shape) < rng.choice([0.0, 0.1, 0.5], size=rows.shape[1])
    return as_table(np.where(gaps, -1, rows), missing="pairwise")


def mixed(rng, rows):
    """Columns with alphabets of their own."""
    return as_table(np.where(np.arange(8) % 2, np.minimum(rows, 1), rows), alphabet="own")


CASES = [
    *((plain, options, seed) for seed in (101, 102) for options in OPTIONS),
    *((gappy, options, seed) for seed in range(111, 115) for options in FEW_OPTIONS),
    *((mixed, options, 104) for options in FEW_OPTIONS),
]


@pytest.mark.parametrize(
    ("make", "options", "seed"), CASES, ids=lambda value: getattr(value, "__name__", str(value))
)
def test_counts_give_what_the_rows_give(make, options, seed):
    _, rows = sampled(8, 60 if seed == 101 else 1_500, seed)
    table = make(np.random.default_rng(seed), rows)
    width = options.get("n_parents", 2) + 1 + (make is gappy)
    assert_same(kgmi.learn(table, **options), kgmi.learn(counts_of(table, width), **options))


@pytest.mark.parametrize("guide", ["likelihood", "contextual", "stationary"])
def test_a_known_kernel_gives_the_same_too(guide):
    process, rows = sampled(8, 500, 103)
    table = as_table(rows, n_states=process.kernel.n_states)
    options = {"guide": guide, "kernel": process.kernel}
    assert_same(kgmi.learn(table, **options), kgmi.learn(counts_of(table), **options))


def test_large_numbers_of_rows_are_counted_and_not_made():
    """Counts of ten thousand million rows: nothing depends on their number but the numbers themselves."""
    _, rows = sampled(8, 2_000, 105)
    few = counts_of(as_table(rows))
    many = replace(few, part=replace(few.part, rows=few.n_rows * 5_000_000, cells=few.part.cells * 5_000_000))
    one, other = kgmi.learn(few), kgmi.learn(many)
    assert other.configuration["n_rows"] == 10_000_000_000
    assert {*one.dag.edges} <= {*other.dag.edges}
    assert other.fit.score > 4_000_000 * one.fit.score


def test_what_takes_rows_is_not_done_with_counts():
    _, rows = sampled(8, 2_000, 106)
    learned = kgmi.learn(counts_of(as_table(rows)))
    passed = {check.name: check.passed for check in learned.checks}
    assert passed["kernels"] is not None
    assert passed["rows"] is passed["parents"] is None
    with pytest.raises(DataError, match="rows"):
        learned.bootstrap(10)


def test_counts_that_hold_too_little_are_refused():
    process, rows = sampled(6, 300, 107)
    pairs, triples, some = kgmi.count(rows, n_parents=1), kgmi.count(rows), rows.astype(float)
    some[:5] = np.nan
    gappy, gappy_pairs = (kgmi.count(some, missing="pairwise", width=width) for width in (3, 2))
    for counts, options in (
        (triples, {"n_parents": 3}),
        (triples, {"n_states": 9}),
        (pairs, {"n_parents": 3}),
        (pairs, {"kernel": process.kernel}),
        (gappy, {"n_parents": 2}),
        (gappy_pairs, {}),
    ):
        with pytest.raises(SettingError):
            kgmi.learn(counts, **options)
    assert kgmi.learn(gappy).n_heads == 1
    assert kgmi.learn(gappy, guide="plain").dag.n_nodes == 6
    assert kgmi.learn(kgmi.count(rows, missing="pairwise", width=2)).n_heads == 1  # no value is missing


def test_counts_for_one_parent_are_learned_from_with_one():
    _, rows = sampled(6, 300, 108)
    counts, remark = kgmi.count(rows, n_parents=1), "No more than one parent"
    learned = kgmi.learn(counts)
    assert_same(learned, kgmi.learn(rows, n_parents=1))
    assert remark in learned.status
    for source, options in (
        (counts, {"n_parents": 1}),
        (kgmi.stream(rows), {"n_parents": 1}),
        (counts, {"guide": "plain"}),
    ):
        assert remark not in kgmi.learn(source, **options).status


def test_short_lists_find_the_parents_where_all_sets_are_too_many(tmp_path, monkeypatch):
    _, rows = sampled(30, 6_000, 108)
    path = write(as_frame(rows), tmp_path / "rows.parquet")
    whole = kgmi.learn(kgmi.stream(path, fragment_rows=1_000))
    monkeypatch.setattr(shortlist, "MOST_BYTES", 150_000)
    listed = kgmi.learn(kgmi.stream(path, fragment_rows=1_000))
    assert "candidates for each, and all rows decided among these" in listed.status
    assert listed.dag.parents == whole.dag.parents
    assert np.isfinite(listed.scores).sum() < np.isfinite(whole.scores).sum()
    with pytest.raises(TooLargeError, match="order"):
        kgmi.learn(kgmi.stream(path), order="learn")
    with pytest.raises(DataError, match="once"):
        kgmi.learn(kgmi.stream(iter([rows])))
    monkeypatch.setattr(shortlist, "_MOST_COLUMNS", 20)
    with pytest.raises(TooLargeError, match="20 columns"):
        kgmi.learn(kgmi.stream(path))


def test_pairs_of_very_many_states_are_refused_before_they_are_made():
    rng = np.random.default_rng(120)
    rows = np.column_stack([rng.integers(0, 2, size=(4_000, 60)), rng.integers(0, 900, size=4_000)])
    counts = kgmi.count(rows, alphabet="own", width=2)
    with pytest.raises(TooLargeError):
        kgmi.learn(counts, guide="plain")
