"""Columns that have nothing to do with each other get no edges, however they look."""

import numpy as np
import pytest
from benchmarks.independent import SHAPES, has_edge, main

from kgmi import learn

SHARES = {"even": [1 / 3] * 3, "uneven": [0.6, 0.3, 0.1]}


def noise(n_rows, n_nodes, shares, seed):
    return np.random.default_rng(seed).choice(len(shares), size=(n_rows, n_nodes), p=shares)


@pytest.mark.parametrize("shares", SHARES.values(), ids=SHARES)
@pytest.mark.parametrize("n_rows", [50, 100, 300])
def test_independent_columns(n_rows, shares):
    edges = [learn(noise(n_rows, 10, shares, seed), n_states=3).dag.n_edges for seed in range(8200, 8210)]
    assert sum(edges) <= 2  # a false edge now and then is what an error rate is


@pytest.mark.parametrize("shape", SHAPES)
def test_independent_columns_of_any_shape(shape):
    with_edges = 0
    for n_columns, n_rows, n_tables in ((2, 100, 20), (3, 100, 20), (3, 10_000, 10), (5, 1_000, 10), (10, 100, 10)):
        rng = np.random.default_rng([8260, n_columns, n_rows])
        tables = [SHAPES[shape](rng, n_rows, n_columns) for _ in range(n_tables)]
        with_edges += sum(has_edge(table) for table in tables)
    assert with_edges <= 1  # of 70, where 1 in 100 may have one


@pytest.mark.parametrize("shape", SHAPES)
def test_many_rows_of_independent_columns(shape):
    rng = np.random.default_rng(8270)
    assert not has_edge(SHAPES[shape](rng, 100_000, 2))
    assert not has_edge(SHAPES[shape](rng, 100_000, 10))


@pytest.mark.parametrize("shape", SHAPES)
def test_independent_columns_in_any_order(shape):
    rng = np.random.default_rng(8280)
    with_edges = [
        has_edge(SHAPES[shape](rng, n_rows, 3), order="learn") for n_rows in (100, 1_000) for _ in range(5)
    ]
    assert not any(with_edges)


def test_the_benchmark_prints_a_line_for_each_shape(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["independent.py", "--tables", "2", "--columns", "2", "--rows", "100,200"])
    main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [*SHAPES]
    assert all(line.count("%") == 2 for line in lines[1:])


@pytest.mark.parametrize("gaps", [0.3, 0.5])
def test_gaps_are_no_evidence(gaps):
    edges = 0
    for seed in range(8220, 8226):
        rows = noise(300, 8, SHARES["even"], seed)
        rows[np.random.default_rng(seed + 50).random(rows.shape) < gaps] = -1
        edges += learn(rows, n_states=3, missing="pairwise").dag.n_edges
    assert edges <= 1


def test_one_column_with_hardly_any_value():
    rows = noise(1000, 8, SHARES["even"], 8230)
    rows[50:, 3] = -1
    assert learn(rows, n_states=3, missing="pairwise").dag.n_edges == 0


@pytest.mark.parametrize(("n_states", "n_rows"), [(12, 30), (20, 100), (30, 100)])
def test_many_states_and_few_rows(n_states, n_rows):
    rows = np.random.default_rng(8240 + n_states).integers(n_states, size=(n_rows, 8))
    assert learn(rows, n_states=n_states).dag.n_edges == 0


def test_the_result_speaks_of_one_graph():
    from kgmi import Dag, Kernel, Process, sample

    for seed in range(8250, 8256):
        rng = np.random.default_rng(seed)
        rows = sample(Process(Dag.random(10, 2, rng=rng), Kernel.random(3, 2, rng=rng)), 200, rng=rng)
        for guide in ("likelihood", "contextual"):
            learned = learn(rows, n_states=3, guide=guide)
            assert sum(one.counts.sum() for one in learned.kernels) == 200 * sum(map(bool, learned.dag.parents))
            assert sorted(c for one in learned.kernels for c in one.children) == [
                child for child, parents in enumerate(learned.dag.parents) if parents
            ]
