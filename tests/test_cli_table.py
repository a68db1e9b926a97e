"""A table as people have them: fifty named columns of words, one of them with gaps."""

import csv
import json

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, sample

from .commands import run_kgmi

NAMES = [f"gene_{number}" for number in range(1, 51)]
STATES = ["low", "mid", "high"]
DAG = Dag.paper(10).copies(5)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rows = sample(Process(DAG, Kernel.paper()), 1000, rng=8300)
    gaps = np.random.default_rng(8301).random(len(rows)) < 0.15
    path = tmp_path_factory.mktemp("table") / "genes.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(NAMES)
        for row, gap in zip(rows, gaps, strict=True):
            writer.writerow(["" if gap and node == 22 else STATES[code] for node, code in enumerate(row)])
    return str(path)


def test_the_gaps_are_named_and_what_to_do_about_them(table):
    code, out, err = run_kgmi("learn", table, "--parents", "2")
    assert (code, out) == (1, "")
    assert "column 'gene_23'" in err
    assert "--missing pairwise" in err


def test_the_right_graph_by_name(table):
    code, out, err = run_kgmi("learn", table, "--parents", "2", "--missing", "pairwise", "--json")
    assert (code, err) == (0, "")
    content = json.loads(out)
    assert content["names"] == NAMES
    assert content["states"] == sorted(STATES)
    found = {child: set(parents) for child, parents in content["parents"].items()}
    assert found == {NAMES[child]: {NAMES[p] for p in ps} for child, ps in enumerate(DAG.parents)}
    assert content["root_blocks"] == [[NAMES[a], NAMES[b]] for a, b in DAG.root_blocks]


def test_a_summary_that_a_person_can_read(table):
    code, out, _ = run_kgmi("learn", table, "--parents", "2", "--missing", "pairwise")
    assert code == 0
    assert "80 edges among 50 nodes, from 1,000 rows (3 states: high, low, mid)" in out
    assert "gene_43   gene_41, gene_42" in out or "gene_43   gene_42, gene_41" in out
    assert "Learned kernel of the 40 nodes with 2 parents" in out
    assert "most in gene_23" in " ".join(out.split())
