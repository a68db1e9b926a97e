"""A result on disk: ``record.json`` and one array file beside it. Versioned, checked, without pickle.

The array file is named by its content and the JSON is renamed into place last, so a crash at any moment leaves
either the old result or the new one. Loading reads the headers of all arrays and compares them with the JSON
before anything is allocated.
"""

from __future__ import annotations

import io
import json
import platform
import zipfile
import zlib
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.ascent import Trace
from kgmi.errors import KgmiError, RecordError
from kgmi.files import atomic_write
from kgmi.graph import Dag
from kgmi.kernel import FiniteKernels, Kernel
from kgmi.learning import Learned
from kgmi.theory import Assumption, AssumptionReport
from kgmi.types import PathLike
from kgmi.version import __version__

__all__ = ["FORMAT", "VERSION", "load", "save"]

FORMAT = "kgmi-record"
VERSION = 1
_MOST_BYTES = 4_000_000_000  # of all arrays of a record together
_MOST_JSON = 200_000_000
_ZIP_ERRORS = (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error)


def save(learned: Learned, folder: PathLike, *, seed: int | None = None) -> Path:
    """Write a result into ``folder`` and return the path of its ``record.json``.

    ``seed`` is the seed of whatever randomness made the input; learning itself draws nothing at random.
    """
    folder = Path(folder)
    arrays = _arrays(learned)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    content = buffer.getvalue()
    mark = sha256(content).hexdigest()
    array_path = folder / f"arrays-{mark[:16]}.npz"
    with atomic_write(array_path) as stream:
        stream.write(content)
    record = {
        "format": FORMAT,
        "version": VERSION,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"kgmi": __version__, "numpy": np.__version__, "python": platform.python_version()},
        "seed": None if seed is None else int(seed),
        "input": learned.fingerprint,
        "configuration": learned.configuration,
        "status": learned.status,
        "converged": learned.converged,
        "names": list(learned.names),
        "states": list(learned.states),
        "graph": learned.dag.to_dict(),
        "kernel_weights": list(learned.kernel.weights) if isinstance(learned.kernel, FiniteKernels) else None,
        "assumptions": _assumptions_to_dict(learned.assumptions),
        "best_objective": learned.trace.best_objective if learned.trace else None,
        "arrays": {
            "file": array_path.name,
            "sha256": mark,
            "content": {k: {"dtype": a.dtype.str, "shape": list(a.shape)} for k, a in arrays.items()},
        },
    }
    path = folder / "record.json"
    with atomic_write(path) as stream:
        stream.write(json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False).encode())
    for old in folder.glob(f"arrays-{'[0-9a-f]' * 16}.npz"):
        if old != array_path:
            old.unlink()
    return path


def load(path: PathLike) -> Learned:
    """Read a result from its folder or its ``record.json``; the pair joint is not part of it."""
    path = Path(path)
    path = path / "record.json" if path.is_dir() else path
    record = _read_json(path)
    arrays = _read_arrays(path, record)
    try:
        return _learned(record, arrays)
    except KgmiError as error:
        raise RecordError(f"{path} is damaged: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise RecordError(f"{path} is damaged: {type(error).__name__}: {error}") from None


def _arrays(learned: Learned) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
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
    return arrays


def _learned(record: dict[str, Any], arrays: dict[str, Any]) -> Learned:
    dag = Dag.from_dict(record["graph"])
    _check_shapes(dag, record, arrays)
    trace = None
    if "trace_epochs" in arrays:
        trace = Trace(
            arrays["trace_epochs"],
            arrays["trace_objective"],
            float(record["best_objective"]),
            arrays.get("trace_attention"),
        )
    return Learned(
        dag=dag,
        attention=arrays["attention"],
        scores=arrays["scores"],
        status=str(record["status"]),
        converged=bool(record["converged"]),
        kernel=_kernel(record, arrays),
        trace=trace,
        stopped=arrays["stopped"],
        names=tuple(record["names"]),
        states=tuple(record["states"]),
        configuration=dict(record["configuration"]),
        fingerprint=str(record["input"]),
        assumptions=_assumptions_from_dict(record["assumptions"], arrays),
    )


def _check_shapes(dag: Dag, record: dict[str, Any], arrays: dict[str, Any]) -> None:
    """The arrays must fit the graph and each other."""
    n_heads, n_nodes, n_states = len(arrays["attention"]), dag.n_nodes, len(record["states"])
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
    if "kernel" in arrays and arrays["kernel"].shape[-1] != n_states:
        wrong.append("kernel")
    if wrong:
        raise RecordError(f"{', '.join(wrong)} and the graph of {n_nodes} nodes do not fit each other")


def _kernel(record: dict[str, Any], arrays: dict[str, Any]) -> Kernel | FiniteKernels | None:
    if "kernel" not in arrays:
        return None
    tables = arrays["kernel"]
    laws = arrays.get("parent_law", np.full(tables.shape[:-1], np.nan))
    kernels = [Kernel(table, None if np.isnan(law).all() else law) for table, law in zip(tables, laws, strict=True)]
    if record["kernel_weights"] is not None:
        return FiniteKernels(kernels, record["kernel_weights"])
    return kernels[0]


def _assumptions_to_dict(report: AssumptionReport | None) -> dict[str, Any] | None:
    if report is None:
        return None
    # JSON has no infinity: a single head has no second kernel to differ from.
    checks = [
        {
            "name": a.name,
            "holds": a.holds,
            "value": a.value if np.isfinite(a.value) else None,
            "sentence": a.sentence,
        }
        for a in report.assumptions
    ]
    return {"n_rows": report.n_rows, "checks": checks}


def _assumptions_from_dict(content: dict[str, Any] | None, arrays: dict[str, Any]) -> AssumptionReport | None:
    if content is None:
        return None
    checks = tuple(
        Assumption(c["name"], c["holds"], np.inf if c["value"] is None else c["value"], c["sentence"])
        for c in content["checks"]
    )
    return AssumptionReport(checks, arrays["marginal_distance"], arrays["parent_distance"], content["n_rows"])


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise RecordError(f"there is no record at {path}")
    if path.stat().st_size > _MOST_JSON:
        raise RecordError(f"{path} is larger than any record is ({path.stat().st_size:,} bytes)")
    try:
        record = json.loads(path.read_bytes())
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(f"{path} is not JSON: {error}") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise RecordError(f"{path} is not a kgmi record")
    version = record.get("version")
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        advice = "update kgmi to read it" if newer else "learn it again"
        raise RecordError(f"{path} has record version {version}, this kgmi reads {VERSION}: {advice}")
    return record


def _read_arrays(path: Path, record: dict[str, Any]) -> dict[str, Any]:
    """All arrays, after their sizes and types were compared with the JSON."""
    try:
        listing = record["arrays"]
        name, mark, declared = str(listing["file"]), listing["sha256"], dict(listing["content"])
    except (KeyError, TypeError, ValueError):
        raise RecordError(f"{path} does not list its arrays") from None
    file = path.parent / name
    if Path(name).name != name or not file.is_file():
        raise RecordError(f"{path} names the array file {name!r}, which is not beside it")
    if file.stat().st_size > _MOST_BYTES:
        raise RecordError(f"{file} is larger than any record is")
    content = file.read_bytes()
    if sha256(content).hexdigest() != mark:
        raise RecordError(f"{file} does not match its checksum: it was changed or cut off")
    try:
        _check_headers(content, declared)
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except (ValueError, KeyError, TypeError, OSError, EOFError, RuntimeError, *_ZIP_ERRORS) as error:
        raise RecordError(f"{file} is damaged: {error}") from None


def _check_headers(content: bytes, declared: dict[str, Any]) -> None:
    total = 0
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = {name.removesuffix(".npy") for name in archive.namelist()}
        if found != set(declared):
            raise ValueError(f"it holds {sorted(found)}, the record lists {sorted(declared)}")
        for name in archive.namelist():
            with archive.open(name) as stream:
                version = np.lib.format.read_magic(stream)
                read = (
                    np.lib.format.read_array_header_1_0
                    if version == (1, 0)
                    else np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = read(stream)
            expected = declared[name.removesuffix(".npy")]
            if list(shape) != expected["shape"] or dtype.str != expected["dtype"]:
                raise ValueError(f"array {name} is {dtype.str}{shape}, the record says {expected}")
            if dtype.kind not in "fi" or any(length < 0 for length in shape):
                raise ValueError(f"array {name} is {dtype.str}{shape}; records hold arrays of numbers only")
            total += int(np.prod(shape, dtype=object)) * dtype.itemsize
    if total > _MOST_BYTES:
        raise ValueError(f"its arrays would take {total:,} bytes")
