"""So many nodes that no tables are kept: through the door, the command and the benchmark."""

from __future__ import annotations

import json

import numpy as np
import pytest

import kgmi
from kgmi.learning.wide import Wide
from kgmi.metrics import compare
from tests.commands import expect_refused, run_kgmi
from tests.device_drills import KERNEL
from tests.test_device_counts import one_thread  # noqa: F401

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def rows():
    from kgmi.bench.speed.gpu import copied_rows

    return copied_rows(2_010, 3_000, 7401)


def test_copied_rows_have_the_law_of_copies():
    from kgmi.bench.speed.gpu import copied_rows

    rows = copied_rows(40, 3_000, 7402)
    assert rows.shape == (3_000, 40)
    learned = kgmi.learn(rows, n_parents=2)
    assert compare(learned.dag, kgmi.Dag.paper(10).copies(4)).f1 == 1.0


def test_the_door_gives_a_wide_result(rows):
    found = kgmi.learn(rows, kernel=KERNEL, guide="stationary", device="cpu")
    assert isinstance(found, Wide)
    assert found.n_nodes == 2_010
    assert found.seconds["transfer"] > 0
    assert compare(found.dag, kgmi.Dag.paper(10).copies(201)).recall > 0.9
    assert "roots, by a test at level 0.01" in found.status


def test_the_command_writes_it(rows, tmp_path):
    path, out = tmp_path / "rows.npy", tmp_path / "out"
    np.save(path, rows)
    options = ["--kernel", "paper", "--guide", "stationary", "--solver", "limit", "--device", "cpu"]
    truth = tmp_path / "truth.json"
    truth.write_text(json.dumps(kgmi.Dag.paper(10).copies(201).to_dict()))
    code, text, _ = run_kgmi("learn", str(path), *options, "--out", str(out), "--truth", str(truth))
    assert code == 0
    assert "F1 0.9" in text
    assert "edges among 2,010 nodes, from 3,000 rows" in text
    content = json.loads((out / "wide.json").read_text())
    assert len(content["parents"]) == 2_010
    assert f"wrote {out / 'edges.csv'}" in text
    expect_refused(
        2, "learn", str(path), *options, "--out", str(out), "--pictures", says=["no pictures of 2,010 nodes"]
    )


def test_the_benchmark_runs(tmp_path):
    code, text, _ = run_kgmi("bench", "gpu", "--quick", "--device", "cpu", "--seed", "7403", "--out", str(tmp_path))
    assert code == 0
    assert "share of the best product" in " ".join(text.split())
    content = json.loads((tmp_path / "gpu.json").read_text())
    fits = [one for one in content["results"] if one["what"] == "likelihood"]
    assert [one["f1"] for one in fits] == [1.0, 1.0]
    counted = [one for one in content["results"] if one["what"] == "counting"]
    assert all(one["share_of_best"] > 0 for one in counted)
    assert content["settings"]["best_tera_operations"] == max(
        content["settings"]["product_tera_operations"].values()
    )
