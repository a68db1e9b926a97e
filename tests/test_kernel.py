import json
import math
import re

import numpy as np
import pytest
from hypothesis import settings

from kgmi import Kernel
from kgmi.errors import KernelError

STEP = np.array([[0.9, 0.1], [0.2, 0.8]])
some = settings(max_examples=40, deadline=None)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[0.5, 0.5], [0.7, 0.4]], "row (1) of the kernel sums to 1.1, 0.1 above 1"),
        ([[0.5, 0.499], [0.5, 0.5]], "row (0) of the kernel sums to 0.999, 0.001 below 1"),
        ([[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.4], [0.5, 0.2]]], "row (1, 1) of the kernel sums to 0.7, 0.3 below 1"),
        ([[0.5, 0.5], [1.2, -0.2]], "row (1) of the kernel has probability 1.2 for state 0; it must lie in [0, 1]"),
        ([[-0.25, 1.25], [0.5, 0.5]], "row (0) of the kernel has probability -0.25 for state 0"),
        ([[0.5, 0.5], [math.nan, 0.5]], "row (1) of the kernel has a NaN or infinite probability"),
        ([[0.5, 0.5], [math.inf, 0.5]], "row (1) of the kernel has a NaN or infinite probability"),
        (
            [0.5, 0.5],
            "a kernel has shape (S, …, S) with S ≥ 2 and one axis per parent and one for the child, got (2,)",
        ),
        ([[0.5, 0.5]], "got (1, 2)"),
        ([[1.0]], "got (1, 1)"),
        ([[0.5, 0.5], [1.0]], "all rows equally long"),
        ([["a", "b"], ["c", "d"]], "a kernel is a table of numbers"),
        (None, "a kernel has shape"),
    ],
)
def test_a_bad_table_is_named(table, message):
    with pytest.raises(KernelError, match=re.escape(message)):
        Kernel(table)


def test_the_input_is_copied_and_the_table_cannot_be_written():
    given_table = STEP.copy()
    kernel = Kernel(given_table)
    given_table[0, 0] = 0.0
    assert np.array_equal(kernel.table, STEP)
    for array in (kernel.table, kernel.stationary, kernel.marginal, kernel.marginal_kernels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.5


def test_rows_printed_with_nine_digits_are_scaled_to_one():
    rounded = [[0.333333333] * 3, [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    kernel = Kernel(rounded)
    assert np.allclose(kernel.table.sum(axis=-1), 1.0, rtol=0, atol=1e-15)
    assert np.allclose(kernel.table, rounded, rtol=0, atol=1e-8)
    assert Kernel(kernel.table) == kernel


def test_sizes_and_smallest_entry():
    kernel = Kernel.mendelian()
    assert (kernel.n_states, kernel.n_parents, kernel.min_entry, kernel.is_positive) == (3, 2, 0.0, False)
    assert Kernel(STEP).is_positive
    assert repr(Kernel(STEP)) == "Kernel(n_states=2, n_parents=1, min_entry=0.1)"


def test_json_equality_and_hash():
    for kernel in (Kernel.paper(0.01), Kernel.mendelian(0.2), Kernel.random(3, 2, rng=np.random.default_rng(0))):
        again = Kernel.from_dict(json.loads(json.dumps(kernel.to_dict())))
        assert again == kernel
        assert hash(again) == hash(kernel)
    mendel = Kernel.mendelian()
    assert mendel != Kernel(mendel.table)
    assert Kernel(mendel.table) != mendel
    assert mendel != Kernel.mendelian(0.4)
    assert Kernel.paper() != Kernel.paper(0.01)
    assert Kernel.paper() != "a kernel"
    signed = Kernel([[1.0, -0.0], [0.5, 0.5]])
    assert signed == Kernel([[1.0, 0.0], [0.5, 0.5]])
    assert hash(signed) == hash(Kernel([[1.0, 0.0], [0.5, 0.5]]))
    for content in ([], {}, {"tables": []}):
        with pytest.raises(KernelError, match="a kernel in JSON is an object with 'table'"):
            Kernel.from_dict(content)
