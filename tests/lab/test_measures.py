"""Measures on attention that was made by hand."""

import numpy as np
import pytest

from kgmi import Dag, scores
from kgmi.attention import gradient
from kgmi.exact import exact_joint
from kgmi.lab.measures import alignment, child_outcomes, edge_f1, head_overlap, parent_attention

from .laws import PROCESSES

pytestmark = pytest.mark.lab

DAG = Dag([(), (), (0, 1), (1, 2), (0, 3)])


def on(*heads):
    """Attention with all mass of child i on ``head[i]``."""
    made = np.zeros((len(heads), 5, 5))
    for attention, head in zip(made, heads, strict=True):
        attention[range(1, 5), head] = 1.0
    return made


RIGHT, SAME = on((0, 0, 1, 0), (0, 1, 2, 3)), on((0, 0, 1, 0), (0, 0, 1, 0))
WRONG = on((0, 0, 0, 1), (0, 1, 0, 2))


def test_parent_attention_is_the_mass_on_true_parents():
    assert parent_attention(RIGHT, DAG).tolist() == [1, 1]
    assert np.allclose(parent_attention(WRONG, DAG), [1 / 3, 1 / 3])
    assert np.allclose(parent_attention((RIGHT + WRONG) / 2, DAG), [2 / 3, 2 / 3])
    uniform = np.tri(5, k=-1)[None] / np.maximum(np.arange(5), 1)[:, None]
    assert np.allclose(parent_attention(uniform, DAG), np.mean([2 / 2, 2 / 3, 2 / 4]))


def test_f1_counts_the_edges_that_heads_name():
    assert edge_f1(RIGHT, DAG) == 1
    assert edge_f1(SAME, DAG) == pytest.approx(2 * 1 * 0.5 / 1.5)  # three of six edges, none wrong
    assert edge_f1(WRONG, DAG) == pytest.approx(2 * 2 / (5 + 6))  # two of five named are true
    assert edge_f1(RIGHT + np.eye(5), DAG) == 1  # attention of a node on itself names nobody


def test_overlap_is_the_mass_that_heads_share():
    assert head_overlap(SAME, DAG) == 1
    assert head_overlap(RIGHT, DAG) == 0
    assert head_overlap((SAME + RIGHT) / 2, DAG) == pytest.approx(0.5)
    assert np.isnan(head_overlap(RIGHT[:1], DAG))


def test_outcomes_tell_split_heads_from_collapsed_ones():
    assert child_outcomes(RIGHT, DAG) == {"split": 3, "collapsed": 0, "other": 0}
    assert child_outcomes(SAME, DAG) == {"split": 0, "collapsed": 3, "other": 0}
    assert child_outcomes(WRONG, DAG) == {"split": 1, "collapsed": 1, "other": 1}
    assert sum(child_outcomes(RIGHT, Dag([(), (0,), (1,), (1, 2), (3,)])).values()) == 1


@pytest.mark.parametrize("name", ["paper", "mixed"])
def test_the_gradient_of_the_information_objective_is_aligned_with_itself(name):
    process = PROCESSES[name]
    table = scores(exact_joint(process), process.kernel, n_heads=2)
    attention = np.random.default_rng(0).random((2, 10, 10)) * np.tri(10, k=-1)
    attention /= np.maximum(attention.sum(axis=-1, keepdims=True), 1e-9)
    way = gradient(table, attention)
    stacked = np.stack([7 * way, -way, 0 * way])
    found = alignment(stacked, np.stack([attention] * 3), np.stack([table] * 3), [process.dag] * 3)
    assert np.allclose(found, [1, -1, np.nan], equal_nan=True)
