"""A learned graph on disk: ``record.json`` and one array file beside it."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote

import numpy as np

from kgmi.errors import KgmiError, RecordError
from kgmi.learning import Learned
from kgmi.outputs import check_replaceable, is_ours
from kgmi.record import storage
from kgmi.record.content import arrays_of, content_of, learned_from
from kgmi.types import PathLike
from kgmi.version import __version__

__all__ = ["load", "save"]


def save(learned: Learned, folder: PathLike, *, seed: int | None = None, force: bool = False) -> Path:
    """Write a result into ``folder`` and return the path of its ``record.json``.

    ``seed`` is the seed of whatever randomness made the input; learning itself draws nothing at random. A
    ``record.json`` that kgmi did not write is replaced with ``force`` only.
    """
    if not isinstance(learned, Learned):
        raise RecordError(f"save writes a kgmi.Learned, got {type(learned).__name__}{_advice(learned)}")
    provenance = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"kgmi": __version__, "numpy": np.__version__, "python": platform.python_version()},
        "seed": None if seed is None else int(seed),
    }
    folder = Path(folder)
    check_replaceable(folder / "record.json", "record", force=force)  # before the files beside it are written
    return storage.write(folder, provenance | content_of(learned), arrays_of(learned), force=force)


def _advice(other: object) -> str:
    """What to save of an estimator, whose way of reading cells is no part of a record."""
    if isinstance(getattr(other, "learned_", None), Learned):
        return ": save its learned_ (how it reads cells is kept by pickle only)"
    return ", which is not fitted: fit it and save its learned_" if hasattr(other, "partial_fit") else ""


def load(path: PathLike) -> Learned:
    """Read a result from its folder or its ``record.json``; the pair joint is not part of it."""
    path = Path(path)
    path = path / "record.json" if path.is_dir() else path
    if is_ours(path, "counts"):
        raise RecordError(
            f"{path} is a file of counts, not a result: learn from it first, "
            f"kgmi learn {quote(str(path))} --out result"
        )
    record, arrays = storage.read(path)
    try:
        return learned_from(record, arrays)
    except KgmiError as error:
        raise RecordError(f"{path} is damaged: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise RecordError(f"{path} is damaged: {type(error).__name__}: {error}") from None
