"""A saved result, the means to damage it, and what makes two results the same."""

from __future__ import annotations

import io
import json
from hashlib import sha256

import numpy as np

from kgmi import Dag, Kernel, Process, exact_joint, learn

LEARNED = learn(exact_joint(Process(Dag.paper(5), Kernel.paper())), kernel=Kernel.paper(), epochs=20)


def edit(folder, change):
    """Change the content of record.json."""
    path = folder / "record.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def swap(folder, change, declare=True):
    """Replace the array file; its checksum, and if asked the declared shapes and types, are made to fit."""
    content = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    with np.load(folder / content["arrays"]["file"]) as archive:
        arrays = dict(archive)
    change(arrays)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    put(folder, buffer.getvalue(), arrays if declare else None)


def put(folder, data, arrays=None):
    (folder / "arrays-new.npz").write_bytes(data)

    def change(content):
        content["arrays"] |= {"file": "arrays-new.npz", "sha256": sha256(data).hexdigest()}
        if arrays is not None:
            listed = {k: {"dtype": a.dtype.str, "shape": list(a.shape)} for k, a in arrays.items()}
            content["arrays"]["content"] = listed

    edit(folder, change)


def declare(folder, headers):
    listed = {name: {"dtype": dtype, "shape": list(shape)} for name, (dtype, shape) in headers.items()}
    edit(folder, lambda c: c["arrays"].update(content=listed))


def assert_same(found, expected):
    """Whether two results are the same, down to the last bit."""
    assert found.dag == expected.dag
    assert found.dag.root_blocks == expected.dag.root_blocks
    for name in ("attention", "scores", "stopped"):
        assert_same_array(getattr(found, name), getattr(expected, name))
    plain = ("status", "converged", "names", "states", "configuration", "fingerprint", "kernel", "undecided")
    for name in (*plain, "fit", "alphabets", "order"):
        assert getattr(found, name) == getattr(expected, name)
    assert_same_kernels(found.kernels, expected.kernels)
    assert_same_model(found.model, expected.model)
    assert (found.trace is None) == (expected.trace is None)
    if expected.trace is not None:
        for name in ("epochs", "objective", "best_objective", "attention"):
            np.testing.assert_array_equal(getattr(found.trace, name), getattr(expected.trace, name))
    assert (found.assumptions is None) == (expected.assumptions is None)
    if expected.assumptions is not None:
        assert found.assumptions.assumptions == expected.assumptions.assumptions
        assert found.assumptions.n_rows == expected.assumptions.n_rows
        for name in ("marginal_distance", "parent_distance"):
            np.testing.assert_array_equal(getattr(found.assumptions, name), getattr(expected.assumptions, name))


def assert_same_kernels(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        for name in ("table", "counts", "cases", "standard_errors"):
            assert_same_array(getattr(one, name), getattr(other, name))
        for name in ("children", "symmetric", "known", "error", "n_parents"):
            assert getattr(one, name) == getattr(other, name)
            assert type(getattr(one, name)) is type(getattr(other, name))


def assert_same_model(found, expected):
    assert (found is None) == (expected is None)
    if expected is None:
        return
    assert found.given == expected.given
    for one, other in zip((found.tables, found.marginals), (expected.tables, expected.marginals), strict=True):
        assert len(one) == len(other)
        for first, second in zip(one, other, strict=True):
            assert_same_array(first, second)


def assert_same_array(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    assert not found.flags.writeable
