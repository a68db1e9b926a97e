import re

import numpy as np
import pytest

from kgmi import Dag, Kernel, PairJoint, Process, exact_joint
from kgmi.errors import DataError, TooLargeError
from kgmi.joint import check_pair_size

COIN = np.full((2, 2, 2, 2), 0.25)
COIN[[0, 1], [0, 1]] = np.diag([0.5, 0.5])


def changed(where, value):
    table = COIN.copy()
    table[where] = value
    return table


def test_a_pair_joint_knows_its_sizes_and_marginals():
    joint = PairJoint(COIN, n_rows=7)
    assert (joint.n_nodes, joint.n_states, joint.n_rows) == (2, 2, 7)
    assert joint.marginal.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert PairJoint(COIN).n_rows is None
    with pytest.raises(ValueError, match="read-only"):
        joint.joint[0, 0, 0, 0] = 1
    assert COIN.flags.writeable


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.ones((2, 2)), "a pair joint has shape [T, T, S, S], got (2, 2)"),
        (np.ones((2, 3, 2, 2)) / 4, "got (2, 3, 2, 2)"),
        (np.ones((2, 2, 2, 3)) / 6, "got (2, 2, 2, 3)"),
        (changed((0, 1, 0, 0), np.nan), "some are NaN or negative"),
        (changed((0, 1, 0), [-1e-12, 0.5]), "some are NaN or negative"),
        (changed((0, 1, 0, 0), np.inf), "some are NaN or negative"),
        (changed((1, 0, 0, 0), 0.3), "the joint of nodes 1 and 0 does not sum to one"),
    ],
)
def test_what_is_no_pair_joint_is_named(table, message):
    with pytest.raises(DataError, match=re.escape(message)):
        PairJoint(table)


def test_a_pair_table_that_would_not_fit_is_refused():
    check_pair_size(6_666, 3)
    with pytest.raises(
        TooLargeError, match=re.escape("10000 nodes with 3 states need a pair table of 900,000,000")
    ):
        check_pair_size(10_000, 3)


def test_a_joint_that_contradicts_itself_is_refused():
    good = exact_joint(Process(Dag.chain(3), Kernel([[0.9, 0.1], [0.2, 0.8]]))).joint
    spread = good.copy()
    spread[1, 1] = 0.25
    with pytest.raises(DataError, match="joint of a node with itself must be diagonal"):
        PairJoint(spread)
    lopsided = good.copy()
    lopsided[2, 0] = [[0.4, 0.1], [0.1, 0.4]]
    with pytest.raises(DataError, match=r"joint\[i, j\] and joint\[j, i\]"):
        PairJoint(lopsided)


def test_a_joint_does_not_change_with_the_array_it_was_made_from():
    table = exact_joint(Process(Dag.chain(3), Kernel([[0.9, 0.1], [0.2, 0.8]]))).joint.copy()
    joint = PairJoint(table)
    before = joint.joint.copy()
    table[:] = 0
    assert np.array_equal(joint.joint, before)
