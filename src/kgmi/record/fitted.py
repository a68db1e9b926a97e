"""Kernels, laws and the course of a search, in plain values and flat arrays, and back again.

A search may end with hundreds of small kernels, so these are laid end to end in a few arrays; their shapes are in
the JSON or follow from the graph and the alphabets, and are compared with the length of the arrays first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from kgmi.errors import RecordError
from kgmi.graph import Dag
from kgmi.graph.ordering import topological_order
from kgmi.learning import Learned
from kgmi.learning.kernels import KernelEstimate
from kgmi.learning.learned import Fit
from kgmi.model import Model
from kgmi.record.storage import Arrays
from kgmi.types import Floats

__all__ = ["directions_from", "fit_from", "fitted_arrays", "fitted_content", "kernels_from", "model_from"]

_KERNEL_ARRAYS = ("kernel_tables", "kernel_counts", "kernel_errors")  # of one shape
_ROUNDING = 1e-6  # by which a law may miss a sum of 1


def fitted_content(learned: Learned) -> dict[str, Any]:
    """The plain values: what each kernel is, how the search ended, and which law each node follows."""
    kernels = [
        {
            "shape": list(one.table.shape),
            "children": list(one.children),
            "symmetric": one.symmetric,
            "known": one.known,
            "error": one.error,
            "implied": one.implied,
            "class_name": one.class_name,
        }
        for one in learned.kernels
    ]
    model = None
    if learned.model is not None:
        places, _ = _distinct(learned.model.tables)
        model = {"given": [list(nodes) for nodes in learned.model.given], "laws": places}
    directions = None
    if learned.directions is not None:  # in the order of the edges; null where an edge cannot be reversed
        told = [edge["direction"] for edge in learned.edges]
        directions = [None if nats is None or nats == np.inf else nats for nats in told]
    fit = None if learned.fit is None else asdict(learned.fit)
    return {"kernels": kernels, "fit": fit, "model": model, "directions": directions}


def fitted_arrays(learned: Learned) -> Arrays:
    """The arrays, laid end to end."""
    arrays: Arrays = {}
    if learned.kernels:
        arrays["kernel_tables"] = _flat([one.table for one in learned.kernels])
        arrays["kernel_counts"] = _flat([one.counts for one in learned.kernels])
        arrays["kernel_cases"] = _flat([one.cases for one in learned.kernels])
        arrays["kernel_errors"] = _flat([one.standard_errors for one in learned.kernels])
    if learned.model is not None:
        arrays["model_laws"] = _flat(_distinct(learned.model.tables)[1])
        arrays["model_marginals"] = _flat(learned.model.marginals)
    return arrays


def kernels_from(content: Any, arrays: Arrays, sizes: Sequence[int]) -> tuple[KernelEstimate, ...]:
    """The kernels; ``sizes`` are the numbers of states of the nodes."""
    shapes = [_shape(one, sizes) for one in content]
    tables, counts, errors = (_split(arrays, name, shapes) for name in _KERNEL_ARRAYS)
    cases = _split(arrays, "kernel_cases", [shape[:-1] for shape in shapes])
    _check_laws(tables, "kernel_tables")
    return tuple(
        KernelEstimate(
            table=table,
            counts=count,
            cases=case,
            standard_errors=error,
            children=tuple(one["children"]),
            symmetric=_of(bool, one, "symmetric"),
            known=_of(bool, one, "known"),
            error=float(one["error"]),
            implied=_of(bool, one, "implied"),
            class_name=None if one.get("class_name") is None else _of(str, one, "class_name"),
        )
        for one, table, count, case, error in zip(content, tables, counts, cases, errors, strict=True)
    )


def fit_from(content: Any) -> Fit | None:
    """How the search ended."""
    if content is None:
        return None
    content = {"classes_score": None, "share": "shared" if content["shared"] else "node", **content}  # since 0.4
    scores = {
        name: None if content[name] is None else float(content[name])
        for name in ("shared_score", "node_score", "classes_score")
    }
    if content["share"] not in ("shared", "classes", "node"):
        raise RecordError(f"'share' is not what it should be: {str(content['share'])[:40]}")
    return Fit(
        score=float(content["score"]),
        rounds=_of(int, content, "rounds"),
        settled=_of(bool, content, "settled"),
        n_starts=_of(int, content, "n_starts"),
        shared=_of(bool, content, "shared"),
        share=content["share"],
        proved=_of(bool, content, "proved") if "proved" in content else False,
        **scores,
    )


def directions_from(content: Any, dag: Dag, names: Sequence[str]) -> dict[tuple[str, str], float] | None:
    """How sure the direction of every edge is; None where the order was given."""
    if content is None:
        return None
    if len(content) != dag.n_edges or not all(nats is None or type(nats) is float for nats in content):
        raise RecordError(f"'directions' must hold a number for each of the {dag.n_edges} edges")
    pairs = zip(dag.edges, content, strict=True)
    return {(names[j], names[i]): np.inf if nats is None else nats for (j, i), nats in pairs}


def model_from(content: Any, arrays: Arrays, sizes: Sequence[int]) -> Model | None:
    """The law of every node; nodes that follow the same one share its array again."""
    if content is None:
        return None
    given = tuple(_nodes(nodes, len(sizes), "given") for nodes in content["given"])
    places = content["laws"]
    if not len(given) == len(places) == len(sizes):
        raise RecordError(f"the model has laws for {len(given)} of {len(sizes)} nodes")
    topological_order(given)  # a cycle is an error
    shapes: list[tuple[int, ...]] = []
    for node, place in enumerate(places):
        shape = tuple(sizes[other] for other in (*given[node], node))
        if place == len(shapes):
            shapes.append(shape)
        elif not (isinstance(place, int) and 0 <= place < len(shapes) and shapes[place] == shape):
            raise RecordError(f"node {node} cannot follow law {place}")
    laws = _split(arrays, "model_laws", shapes)
    marginals = _split(arrays, "model_marginals", [(size,) for size in sizes])
    _check_laws([*laws, *marginals], "the model")
    return Model(given, tuple(laws[place] for place in places), tuple(marginals))


def _distinct(tables: Sequence[Floats]) -> tuple[list[int], list[Floats]]:
    """For every table its place among the different ones, and these; nodes that share a kernel have one law."""
    kept: dict[tuple[tuple[int, ...], bytes], Floats] = {}
    keys = [(table.shape, table.tobytes()) for table in tables]
    for key, table in zip(keys, tables, strict=True):
        kept.setdefault(key, table)
    places = {key: place for place, key in enumerate(kept)}
    return [places[key] for key in keys], list(kept.values())


def _flat(tables: Sequence[Floats]) -> Floats:
    return np.concatenate([np.asarray(table, dtype=np.float64).ravel() for table in tables])


def _split(arrays: Arrays, name: str, shapes: Sequence[tuple[int, ...]]) -> list[Floats]:
    """Tables of these shapes out of one array."""
    flat = arrays.get(name, np.empty(0))
    lengths = [prod(shape) for shape in shapes]
    if flat.shape != (sum(lengths),):
        raise RecordError(f"{name} has shape {flat.shape}, its tables need {sum(lengths):,} numbers")
    ends = accumulate(lengths)
    return [flat[end - n : end].reshape(shape) for end, n, shape in zip(ends, lengths, shapes, strict=True)]


def _shape(one: Any, sizes: Sequence[int]) -> tuple[int, ...]:
    """Of a kernel, after comparing it with the alphabets of its children."""
    children = _nodes(one["children"], len(sizes), "children")
    shape = tuple(one["shape"])
    plain = all(type(length) is int and length > 0 for length in shape)
    if not children or not plain or len(shape) < 2 or any(sizes[child] != shape[-1] for child in children):
        raise RecordError(f"a kernel of shape {list(shape)[:8]} does not fit its nodes")
    return shape


def _nodes(numbers: Any, below: int, name: str) -> tuple[int, ...]:
    """Different nodes, all of them ``below`` a number."""
    if len(set(numbers)) != len(numbers) or not all(type(n) is int and 0 <= n < below for n in numbers):
        raise RecordError(f"{name!r} must be different nodes below {below}, got {str(numbers)[:40]}")
    return tuple(numbers)


def _check_laws(tables: Sequence[Floats], name: str) -> None:
    for table in tables:
        if not ((table >= 0).all() and np.abs(table.sum(axis=-1) - 1).max() <= _ROUNDING):
            raise RecordError(f"{name}: probabilities must not be negative and must sum to 1")


def _of(kind: type, content: Any, name: str) -> Any:
    if type(content[name]) is not kind:
        raise RecordError(f"{name!r} is not what it should be: {str(content[name])[:40]}")
    return content[name]
