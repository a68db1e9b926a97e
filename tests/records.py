"""A saved result and the means to damage it."""

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
