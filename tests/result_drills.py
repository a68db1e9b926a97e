"""Random problems as tables and files, and results that are compared in full."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

import kgmi

WORDS = np.array(["low", "middle", "high", "top"])


def make_rows(seed, n_nodes, n_states, n_rows, n_parents=2):
    """Rows [row, node] of a random graph with a random kernel, and the kernel."""
    rng = np.random.default_rng(seed)
    kernel = kgmi.Kernel.random(n_states, n_parents, rng=rng, concentration=0.4)
    process = kgmi.Process(kgmi.Dag.random(n_nodes, n_parents, rng=rng), kernel)
    return kgmi.sample(process, n_rows, rng=rng), kernel


def as_frame(rows, *, words=False, own=False, gaps=False):
    """The rows as an Arrow table; with words for states, with columns of different states, with gaps."""
    made = {}
    for node, column in enumerate(rows.T):
        if own and node % 3 == 0:
            column = np.minimum(column, 1)
        made[f"c{node}"] = WORDS[column] if words or (own and node % 2) else column
        if gaps:
            made[f"c{node}"] = pa.array(made[f"c{node}"], mask=np.arange(len(column)) % 23 == node)
    return pa.table(made)


def write(table, path):
    """One file, Parquet or text by its ending."""
    if path.suffix == ".csv":
        pc.write_csv(table, path)
    else:
        pq.write_table(table, path)
    return str(path)


def assert_same_result(one, other):
    """Graph, scores, attention, kernels and score of two results are the same."""
    assert one.names == other.names
    assert one.dag.parents == other.dag.parents
    assert one.dag.root_blocks == other.dag.root_blocks
    assert one.configuration["n_rows"] == other.configuration["n_rows"]
    largest = max(np.abs(other.scores[~np.isnan(other.scores)]), default=0.0)
    assert np.allclose(one.scores, other.scores, rtol=0, atol=1e-5 * largest, equal_nan=True)  # rows: in float32
    assert np.allclose(one.attention, other.attention, atol=1e-5)
    assert len(one.kernels) == len(other.kernels)
    for mine, theirs in zip(one.kernels, other.kernels, strict=True):
        assert np.array_equal(mine.counts, theirs.counts)
        assert np.allclose(mine.table, theirs.table, atol=1e-12)
        assert mine.children == theirs.children
    assert (one.fit is None) == (other.fit is None)
    if one.fit is not None:
        assert np.isclose(one.fit.score, other.fit.score, rtol=1e-10)
    assert one.configuration | {"origin": 0, "reading": 0} == other.configuration | {"origin": 0, "reading": 0}


def write_kernel(kernel, path):
    path.write_text(json.dumps(kernel.to_dict()))
    return str(path)
