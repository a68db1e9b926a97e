"""What a record says of a learned graph, in plain values and arrays, and back again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kgmi.attention import Trace
from kgmi.checks import Check, checks_from, checks_to_dicts
from kgmi.errors import DataError, RecordError
from kgmi.graph import Dag
from kgmi.kernel import FiniteKernels, Kernel
from kgmi.learning import Learned
from kgmi.record.assumed import assumptions_content, assumptions_from
from kgmi.record.certified import certificate_content, keep_certificate
from kgmi.record.fitted import directions_from, fit_from, fitted_arrays, fitted_content, kernels_from, model_from
from kgmi.record.storage import Arrays

__all__ = ["arrays_of", "content_of", "learned_from"]

_KINDS = {"status": str, "converged": bool, "configuration": dict, "input": str, "names": list, "states": list}

_UNKNOWN_TO_VERSION_1: dict[str, Any] = {"alphabets": None, "kernels": [], "fit": None, "model": None}


def content_of(learned: Learned) -> dict[str, Any]:
    """The plain values of a record."""
    return {
        "input": learned.fingerprint,
        "configuration": learned.configuration,
        "status": learned.status,
        "converged": learned.converged,
        "names": list(learned.names),
        "states": list(learned.states),
        "graph": learned.dag.to_dict(),
        "undecided": list(learned.undecided),
        "kernel_weights": list(learned.kernel.weights) if isinstance(learned.kernel, FiniteKernels) else None,
        "assumptions": assumptions_content(learned.assumptions),
        "best_objective": learned.trace.best_objective if learned.trace else None,
        "alphabets": None if learned.alphabets is None else [list(states) for states in learned.alphabets],
        "order": list(learned.order),
        **fitted_content(learned),
        **certificate_content(learned),
        "checks": checks_to_dicts(learned.checks),
    }


def arrays_of(learned: Learned) -> Arrays:
    """The arrays of a record."""
    arrays = {"attention": learned.attention, "scores": learned.scores, "stopped": learned.stopped}
    if isinstance(learned.kernel, Kernel | FiniteKernels):
        kernels = [learned.kernel] if isinstance(learned.kernel, Kernel) else learned.kernel.kernels
        arrays["kernel"] = np.stack([kernel.table for kernel in kernels])
        if any(kernel.parent_law is not None for kernel in kernels):
            none = np.full(arrays["kernel"].shape[1:-1], np.nan)
            arrays["parent_law"] = np.stack([none if k.parent_law is None else k.parent_law for k in kernels])
    if learned.trace is not None:
        arrays["trace_epochs"] = learned.trace.epochs
        arrays["trace_objective"] = learned.trace.objective
        if learned.trace.attention is not None:
            arrays["trace_attention"] = learned.trace.attention
    if learned.assumptions is not None:
        arrays["marginal_distance"] = learned.assumptions.marginal_distance
        arrays["parent_distance"] = learned.assumptions.parent_distance
    return arrays | fitted_arrays(learned)


def learned_from(record: dict[str, Any], arrays: Arrays) -> Learned:
    """The result that a record tells of; the arrays must fit its graph and each other."""
    dag = Dag.from_dict(record["graph"])
    if record["version"] == 1:
        record = record | _UNKNOWN_TO_VERSION_1 | {"order": list(range(dag.n_nodes))}
    if record["version"] < 3 and record["order"] != list(range(dag.n_nodes)):
        raise RecordError(
            "this result was saved by kgmi 0.12 or before with its columns in another order than in the table (a "
            "learned order, tiers or a list): learn it again"
        )
    for key, kind in _KINDS.items():
        if not isinstance(record[key], kind):
            raise RecordError(f"{key!r} is not what it should be: {str(record[key])[:40]}")
    for key in ("names", "states"):
        _check_texts(key, record[key])
    alphabets = _alphabets(record, dag.n_nodes)
    sizes = [len(states) for states in alphabets or (record["states"],) * dag.n_nodes]
    _check_shapes(dag, record, arrays, sizes)
    trace = None
    if "trace_epochs" in arrays:
        trace = Trace(
            arrays["trace_epochs"],
            arrays["trace_objective"],
            float(record["best_objective"]),
            arrays.get("trace_attention"),
        )
    report = assumptions_from(record["assumptions"], arrays)
    model = model_from(record["model"], arrays, sizes)
    checks = _checks(record.get("checks", []))
    directions = directions_from(record.get("directions"), dag, record["names"])
    learned = Learned(
        dag=dag,
        attention=arrays["attention"],
        scores=arrays["scores"],
        converged=record["converged"],
        kernel=_kernel(record, arrays),
        stopped=arrays["stopped"],
        undecided=tuple(int(node) for node in record["undecided"]),
        names=tuple(record["names"]),
        states=tuple(record["states"]),
        configuration=dict(record["configuration"]),
        kernels=kernels_from(record["kernels"], arrays, sizes),
        fit=fit_from(record["fit"]),
        alphabets=alphabets,
        order=_order(record["order"], dag.n_nodes),
        retrace=lambda: trace,
        identify=lambda: str(record["input"]),
        explain=lambda: str(record["status"]),
        assess=lambda: report,
        remodel=lambda: model,
        direct=lambda: directions,
        examine=lambda: checks,
    )
    keep_certificate(learned, record)
    return learned


def _checks(content: Any) -> tuple[Check, ...]:
    """The checks; records of earlier versions have none."""
    try:
        return checks_from(content)
    except DataError as error:
        raise RecordError(str(error)) from None


def _check_texts(key: str, texts: Any) -> None:
    if len(set(texts)) != len(texts) or not all(isinstance(text, str) for text in texts):
        raise RecordError(f"{key!r} must be different texts")


def _alphabets(record: dict[str, Any], n_nodes: int) -> tuple[tuple[str, ...], ...] | None:
    if record["alphabets"] is None:
        return None
    known = set(record["states"])
    for states in record["alphabets"]:
        _check_texts("alphabets", states)
        if not states or not known.issuperset(states):
            raise RecordError(f"'alphabets' must hold states of the record, got {str(states)[:40]}")
    if len(record["alphabets"]) != n_nodes:
        raise RecordError(f"there are alphabets for {len(record['alphabets'])} of {n_nodes} nodes")
    return tuple(tuple(states) for states in record["alphabets"])


def _order(numbers: Any, n_nodes: int) -> tuple[int, ...]:
    if sorted(numbers) != list(range(n_nodes)):
        raise RecordError(f"'order' must hold every column once, got {str(numbers)[:40]}")
    return tuple(map(int, numbers))


def _check_shapes(dag: Dag, record: dict[str, Any], arrays: Arrays, sizes: Sequence[int]) -> None:
    """The arrays must fit the graph and each other."""
    n_heads, n_nodes = len(arrays["attention"]), dag.n_nodes
    epochs = arrays["trace_epochs"].shape if "trace_epochs" in arrays else ()
    expected = {
        "attention": (n_heads, n_nodes, n_nodes),
        "scores": (n_heads, n_nodes, n_nodes),
        "stopped": (n_heads, n_nodes),
        "trace_objective": epochs,
        "trace_attention": (*epochs, n_heads, n_nodes, n_nodes),
        "marginal_distance": (n_nodes,),
        "parent_distance": (n_nodes,),
    }
    wrong = [name for name, shape in expected.items() if name in arrays and arrays[name].shape != shape]
    if len(record["names"]) != n_nodes:
        wrong.append("names")
    if "kernel" in arrays and arrays["kernel"].shape[-1] not in sizes:
        wrong.append("kernel")
    if wrong:
        raise RecordError(f"{', '.join(wrong)} and the graph of {n_nodes} nodes do not fit each other")


def _kernel(record: dict[str, Any], arrays: Arrays) -> Kernel | FiniteKernels | None:
    if "kernel" not in arrays:
        return None
    tables = arrays["kernel"]
    laws = arrays.get("parent_law", np.full(tables.shape[:-1], np.nan))
    kernels = [Kernel(table, None if np.isnan(law).all() else law) for table, law in zip(tables, laws, strict=True)]
    if record["kernel_weights"] is not None:
        return FiniteKernels(kernels, record["kernel_weights"])
    return kernels[0]
