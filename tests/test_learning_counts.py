"""Learning from counts and from streams: the same result as from the rows themselves."""

import numpy as np
import pytest

import kgmi
from kgmi.counting.counts import Counts
from kgmi.errors import DataError, SettingError, TooLargeError
from kgmi.learning import shortlist
from kgmi.statistics.tallied import Tallied
from kgmi.statistics.tallying import tally_rows
from kgmi.table import as_table


def counts_of(table, width):
    tally = tally_rows(np.ascontiguousarray(table.codes.T), table.sizes, width)
    return Counts(table.names, table.states, table.alphabets, tally)


def sampled(n_nodes, n_rows, seed, n_parents=2):
    rng = np.random.default_rng(seed)
    kernel = kgmi.Kernel.random(int(rng.integers(2, 4)), n_parents, rng=rng)
    process = kgmi.Process(kgmi.Dag.random(n_nodes, n_parents, rng=rng), kernel)
    return process, kgmi.sample(process, n_rows, rng=rng)


def assert_same(one, other):
    """Graph, kernels, scores and all that is told, up to rounding."""
    assert one.dag.parents == other.dag.parents
    assert one.dag.root_blocks == other.dag.root_blocks
    assert one.names == other.names
    assert one.order == other.order
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-5, atol=1e-3)
    assert len(one.kernels) == len(other.kernels)
    for mine, theirs in zip(one.kernels, other.kernels, strict=True):
        np.testing.assert_array_equal(mine.counts, theirs.counts)
        np.testing.assert_allclose(mine.table, theirs.table, rtol=1e-9)
    if one.fit is not None:
        assert one.fit.score == pytest.approx(other.fit.score, rel=1e-9, abs=1e-6)
        assert one.fit.share == other.fit.share
    assert one.model is not None
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


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("n_rows", "seed"), [(60, 101), (1_500, 102)])
def test_counts_give_what_the_rows_give(options, n_rows, seed):
    _, rows = sampled(8, n_rows, seed)
    table = as_table(rows)
    width = options.get("n_parents", 2) + 1
    assert_same(kgmi.learn(table, **options), kgmi.learn(counts_of(table, width), **options))


@pytest.mark.parametrize("guide", ["likelihood", "contextual", "stationary"])
def test_a_known_kernel_gives_the_same_too(guide):
    process, rows = sampled(8, 500, 103)
    table = as_table(rows, n_states=process.kernel.n_states)
    options = {"guide": guide, "kernel": process.kernel}
    one, other = kgmi.learn(table, **options), kgmi.learn(counts_of(table, 3), **options)
    assert one.dag.parents == other.dag.parents
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-4, atol=1e-3)


def test_columns_with_alphabets_of_their_own():
    rng = np.random.default_rng(104)
    first = rng.integers(0, 2, size=800)
    second = rng.integers(0, 4, size=800)
    third = (first + second + (rng.random(800) < 0.1)) % 3
    table = as_table(np.column_stack([first, second, third]), alphabet="own")
    assert_same(kgmi.learn(table), kgmi.learn(counts_of(table, 3)))


@pytest.mark.parametrize(
    "options", [{}, {"share": "node"}, {"order": "learn"}, {"guide": "plain"}, {"n_parents": 1}], ids=str
)
@pytest.mark.parametrize("seed", range(111, 117))
def test_gaps_are_weighed_as_in_rows(options, seed):
    """A parent that is seen now and then against stand-ins that always are: on common rows, of counts too."""
    _, rows = sampled(7, 700, seed)
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(rows.shape) < rng.choice([0.0, 0.1, 0.5], size=7), -1, rows)
    table = as_table(codes, missing="pairwise")
    width = options.get("n_parents", 2) + 2
    tally = tally_rows(np.ascontiguousarray(table.codes.T), table.sizes, width, has_gaps=True)
    counts = Counts(table.names, table.states, None, tally)
    one, other = kgmi.learn(table, missing="pairwise", **options), kgmi.learn(counts, **options)
    assert one.dag.parents == other.dag.parents
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-4, atol=1e-3)
    said = [told for told in one.status.split(". ") if told.startswith("Missing")]
    assert said == [told for told in other.status.split(". ") if told.startswith("Missing")] != []


def test_large_numbers_of_rows_are_counted_and_not_made():
    """Counts of ten thousand million rows: nothing depends on their number but the numbers themselves."""
    _, rows = sampled(8, 2_000, 105)
    table = as_table(rows)
    few = counts_of(table, 3)
    tally = few.tally
    many = Counts(
        few.names, few.states, None, type(tally)(tally.sizes, 3, tally.n_rows * 5_000_000, tally.cells * 5_000_000)
    )
    one, other = kgmi.learn(few), kgmi.learn(many)
    assert other.configuration["n_rows"] == 10_000_000_000
    assert {*one.dag.edges} <= {*other.dag.edges}
    assert other.fit.score > 4_000_000 * one.fit.score


def test_a_result_from_counts_says_what_was_not_looked_at():
    _, rows = sampled(8, 2_000, 106)
    learned = kgmi.learn(counts_of(as_table(rows), 3))
    told = {check.name: check for check in learned.checks}
    assert told["kernels"].passed is not None
    assert told["rows"].passed is told["parents"].passed is None
    assert "only counts" in told["rows"].sentence
    assert any("Only counts" in reason.text for reason in learned.trust.reasons)
    with pytest.raises(DataError, match="needs rows, one by one"):
        learned.bootstrap(10)
    with pytest.raises(DataError, match="rows themselves"):
        _ = Tallied(counts_of(as_table(rows), 3).tally).codes


def test_counts_that_hold_too_little_are_refused():
    _, rows = sampled(6, 300, 107)
    counts = counts_of(as_table(rows), 3)
    with pytest.raises(SettingError, match=r"sets of 3 columns, and 3 parents .* need sets of 4;"):
        kgmi.learn(counts, n_parents=3)
    with pytest.raises(SettingError, match="states in the counts"):
        kgmi.learn(counts, n_states=9)
    gaps = tally_rows(
        np.where(np.arange(300) < 5, -1, rows.T.astype(np.int8)), counts.tally.sizes, 3, has_gaps=True
    )
    lacking = Counts(counts.names, counts.states, None, gaps)
    told = "need sets of 4, as values are missing; count again with n_parents=2, or learn with n_parents=1$"
    with pytest.raises(SettingError, match=told):
        kgmi.learn(lacking, n_parents=2)
    assert kgmi.learn(lacking).n_heads == 1
    assert kgmi.learn(lacking, guide="plain").dag.n_nodes == 6


def test_counts_for_one_parent_are_learned_from_with_one(tmp_path):
    process, rows = sampled(6, 300, 108)
    counts = kgmi.count(rows, n_parents=1)
    learned = kgmi.learn(counts)
    assert_same(learned, kgmi.learn(rows, n_parents=1))
    said = "No more than one parent of a node was looked for, as these counts are of sets of 2 columns;"
    assert said in learned.status
    assert said not in kgmi.learn(counts, n_parents=1).status  # who asks for one knows it
    assert said not in kgmi.learn(kgmi.stream(rows), n_parents=1).status
    assert said not in kgmi.learn(counts, guide="plain").status  # as ever
    for options, told in (
        (
            {"n_parents": 3},
            "3 parents with .* sets of 4; count again with n_parents=3, or learn with n_parents=1$",
        ),
        ({"kernel": process.kernel}, "2 parents of the kernel with .* sets of 3; count again with n_parents=2$"),
    ):
        with pytest.raises(SettingError, match=told):
            kgmi.learn(counts, **options)
    gaps = kgmi.count(rows, missing="pairwise", width=2)
    assert kgmi.learn(gaps).n_heads == 1  # of which there are none
    gaps = kgmi.count(np.where(np.arange(300)[:, None] < 5, -1, rows), missing="pairwise", width=2)
    with pytest.raises(SettingError, match=r"one parent with .* needs sets of 3, as values are missing; .*=1$"):
        kgmi.learn(gaps)


def test_options_that_there_are_not_are_named():
    _, rows = sampled(4, 50, 109)
    with pytest.raises(SettingError, match=r"^kgmi.count has no option parents; did you mean n_parents"):
        kgmi.count(rows, parents=2)
    with pytest.raises(SettingError, match=r"^kgmi.count has no option xyz; there are n_parents, .*, header"):
        kgmi.count(kgmi.stream(rows), xyz=1)


def test_short_lists_find_the_parents_where_all_sets_are_too_many(tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    _, rows = sampled(30, 6_000, 108)
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({f"c{j}": rows[:, j] for j in range(30)}), path, row_group_size=1_000)
    whole = kgmi.learn(kgmi.stream(path, fragment_rows=1_000))
    monkeypatch.setattr(shortlist, "MOST_BYTES", 150_000)
    listed = kgmi.learn(kgmi.stream(path, fragment_rows=1_000))
    assert "candidates for each, and all rows decided among these" in listed.status
    assert listed.dag.parents == whole.dag.parents
    assert np.isfinite(listed.scores).sum() < np.isfinite(whole.scores).sum()
    with pytest.raises(TooLargeError, match="need an order"):
        kgmi.learn(kgmi.stream(path), order="learn")
    with pytest.raises(DataError, match="read once only"):
        kgmi.learn(kgmi.stream(pq.ParquetFile(path).iter_batches()))
    monkeypatch.setattr(shortlist, "_MOST_COLUMNS", 20)
    with pytest.raises(TooLargeError, match="up to 20 columns"):
        kgmi.learn(kgmi.stream(path))


def test_states_that_come_one_after_the_other_take_no_more_memory_than_all_at_once():
    """Rows sorted by a column bring a new state with every batch; what was counted before stays one tally."""
    rng = np.random.default_rng(118)
    days = np.repeat(np.arange(40), 25)
    rows = np.column_stack([rng.integers(0, 2, size=(1_000, 4)), days])
    pieces = (rows[start : start + 25] for start in range(0, 1_000, 25))
    sorted_by_day = kgmi.count(pieces, alphabet="own")
    whole = kgmi.count(rows, alphabet="own")
    assert sorted_by_day.alphabets == whole.alphabets
    assert (sorted_by_day.tally.cells == whole.tally.cells).all()


def test_counts_too_large_to_share_an_alphabet_are_refused_while_they_are_counted():
    rng = np.random.default_rng(119)
    rows = np.column_stack([rng.integers(0, 2, size=(3_000, 15)), rng.integers(0, 500, size=3_000)])
    with pytest.raises(TooLargeError, match="alphabet='own'"):
        kgmi.count(rows, alphabet="shared")
    assert kgmi.count(rows).n_rows == 3_000


def test_pairs_of_very_many_states_are_refused_before_they_are_made():
    rng = np.random.default_rng(120)
    rows = np.column_stack([rng.integers(0, 2, size=(4_000, 60)), rng.integers(0, 900, size=4_000)])
    counts = kgmi.count(rows, alphabet="own", width=2)
    with pytest.raises(TooLargeError, match="pair table"):
        kgmi.learn(counts, guide="plain")
