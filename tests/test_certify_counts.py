"""Certificates from counts: those of the rows where order does not matter, and never more than these say."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.special import gammaln

import kgmi
from kgmi.certify import laws
from kgmi.certify.counts import count_sets
from kgmi.counts.bits import RowCounts
from kgmi.errors import DataError, SettingError
from tests.commands import expect_refused, run_kgmi

PROCESS = kgmi.Process(kgmi.Dag.paper(10), kgmi.Kernel.paper())
ROWS = kgmi.sample(PROCESS, 2_000, rng=611)
COUNTS = kgmi.count(ROWS, n_parents=2)
MIXED = pd.DataFrame({f"c{column}": np.minimum(ROWS[:, column], 2 - column % 2) for column in range(6)})


def plain(certificate):
    return certificate.to_dict() | {"method": None}


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": PROCESS.kernel},
        {"kernel": PROCESS.kernel, "error": 0.05, "roots": [0, 1]},
        {"n_parents": 2, "share": "node"},
        {"n_parents": 1, "share": "node"},
        {"n_parents": 2, "share": "node", "required": [(0, 3)], "max_lag": 4},
    ],
    ids=str,
)
def test_where_nothing_is_learned_from_earlier_rows_they_are_those_of_the_rows(options):
    from_rows = kgmi.certify(ROWS, alpha=0.01, **options)
    from_counts = kgmi.certify(COUNTS, alpha=0.01, **options)
    assert plain(from_counts) == plain(from_rows)
    assert from_counts.method == ("known" if "kernel" in options else "counted")


def test_columns_of_several_alphabets():
    from_rows = kgmi.certify(MIXED, alphabet="own", share="node", n_parents=2)
    counts = kgmi.count(MIXED, alphabet="own", n_parents=2)
    assert plain(kgmi.certify(counts, share="node", n_parents=2)) == plain(from_rows)


def test_kernels_that_are_shared_bet_less_from_counts():
    from_rows, from_counts = kgmi.certify(ROWS, n_parents=2), kgmi.certify(COUNTS, n_parents=2)
    assert set(from_counts.certified) <= set(from_rows.certified)
    assert len(from_counts.certified) >= 8
    decided = [name for name in from_rows.certified if np.isfinite(from_rows[name].log_e)]
    assert all(from_counts[name].log_e < from_rows[name].log_e for name in decided)


def test_a_stream_a_result_and_the_trust_in_it(tmp_path):
    pq.write_table(pa.table({f"X{node}": ROWS[:, node] for node in range(10)}), tmp_path / "rows.parquet")
    learned = kgmi.learn(kgmi.stream(tmp_path / "rows.parquet"), n_parents=2)
    assert learned.certificate == kgmi.certify(kgmi.stream(tmp_path / "rows.parquet"), n_parents=2)
    assert plain(learned.certificate) == plain(kgmi.certify(ROWS, n_parents=2, share="node")) | {
        "nodes": learned.certificate.to_dict()["nodes"]  # the names differ
    }
    assert learned.trust.count("certain") == len(learned.certificate.edges)
    kgmi.save(learned, tmp_path / "result")
    assert kgmi.load(tmp_path / "result").certificate == learned.certificate
    COUNTS.save(tmp_path / "all.counts")
    alone = kgmi.learn(kgmi.CountedTable.load(tmp_path / "all.counts"), n_parents=2)
    assert alone.trust.count("certain") == 0  # nobody can look whether rows are independent
    assert alone.certificate == kgmi.certify(COUNTS, n_parents=2)


def test_counts_that_are_not_of_all_complete_rows_are_refused():
    gappy = np.where(np.random.default_rng(612).random(ROWS.shape) < 0.05, -1, ROWS)
    with pytest.raises(DataError, match=r"complete rows only.* count again with gaps as a state"):
        kgmi.certify(kgmi.count(gappy[:, :5], missing="pairwise", n_parents=2), n_parents=2)
    with pytest.raises(SettingError, match="method='split' needs rows, one by one"):
        kgmi.certify(COUNTS, method="split", n_parents=2)
    with pytest.raises(DataError, match="a bootstrap needs rows, one by one; counts of them will not do"):
        kgmi.bootstrap(COUNTS, 10, n_parents=2)


def test_looked_up_is_counted():
    for size, nodes in ((0, ()), (1, (0, 2, 3)), (2, (0, 1, 4, 6))):
        looked_up = count_sets(COUNTS.tally, 7, nodes, size, 3, 3)
        assert np.array_equal(looked_up, count_sets(RowCounts(ROWS, (3,) * 10), 7, nodes, size, 3, 3))


def test_laws_of_very_many_rows_need_no_long_lists(monkeypatch):
    small = np.random.default_rng(613).integers(0, 5_000, size=(4, 3, 3, 2)).astype(float)
    listed = laws.best_fit(small), laws.predicted(small, 2)
    monkeypatch.setattr(laws, "_MOST_LISTED", 1)
    assert np.allclose(laws.best_fit(small), listed[0], rtol=1e-12)
    assert np.allclose(laws.predicted(small, 2), listed[1], rtol=1e-12)
    large = np.array([[3e9, 1e9]])
    expected = gammaln(3e9 + 0.5) + gammaln(1e9 + 0.5) - 2 * gammaln(0.5) - gammaln(4e9 + 1)
    assert laws.predicted(large, 2)[0] == pytest.approx(expected)
    assert laws.best_fit(large)[0] == pytest.approx(3e9 * np.log(0.75) + 1e9 * np.log(0.25))


def certified(*words):
    code, out, err = run_kgmi("certify", "--parents", "2", "--json", *map(str, words))
    assert (code, err) == (0, "")
    return json.loads(out)


def test_the_command_reads_rows_whole_or_counts_them_in_pieces(tmp_path):
    gappy = np.where(np.random.default_rng(614).random(ROWS.shape) < 0.01, "NA", ROWS.astype(str))
    for name, rows in (("gaps.csv", gappy), ("a.csv", ROWS.astype(str)), ("b.csv", ROWS.astype(str))):
        pd.DataFrame(rows).to_csv(tmp_path / name, index=False)
    told = certified(tmp_path / "gaps.csv", "--missing", "pairwise")
    assert (told["method"], told["n_left_out"]) == ("sequential", (gappy == "NA").any(axis=1).sum())
    twice = certified(tmp_path / "a.csv", tmp_path / "b.csv", "--stream")
    assert (twice["method"], twice["n_rows"]) == ("counted", 4_000)
    some = certified(tmp_path / "a.csv", "--columns", "0,1,2,3", "--where", "4 == 0")
    assert [node["name"] for node in some["nodes"]] == ["0", "1", "2", "3"]
    assert (some["method"], some["n_rows"]) == ("sequential", (ROWS[:, 4] == 0).sum())
    says = ["--columns goes with files"]
    expect_refused(2, "certify", "-", "--states", "0,1", "--until-certified", "--columns", "0", says=says)


def test_the_command_takes_counts_folders_and_patterns(tmp_path):
    data, counts = tmp_path / "data", tmp_path / "all.counts"
    table = pa.table({f"X{node}": ROWS[:, node] for node in range(10)})
    data.mkdir()
    for part in range(4):
        pq.write_table(table.slice(500 * part, 500), data / f"{part}.parquet")
    assert run_kgmi("count", str(data), "--out", str(counts))[0] == 0
    assert certified(data) == certified(f"{data}/*.parquet") == certified(*sorted(data.iterdir()))
    assert certified(data)["method"] == "sequential"
    in_any_order = [data / f"{part}.parquet" for part in (3, 1, 0, 2)]
    assert certified(data, "--stream") == certified(*in_any_order, "--stream") == certified(counts)
    assert certified(counts)["method"] == "counted"
    expect_refused(2, "certify", str(data), "--bootstrap", "9", "--stream", says=["--bootstrap needs all rows"])
    expect_refused(2, "certify", str(counts), "--until-certified", says=["only counts"])
    expect_refused(2, "certify", str(counts), "--method", "split", says=["needs rows"])
