"""A learned graph on disk: ``record.json`` and one array file beside it."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from kgmi.counting import Counts
from kgmi.errors import KgmiError, RecordError
from kgmi.learning import Learned
from kgmi.outputs import check_replaceable, remove_ours
from kgmi.record import storage
from kgmi.record.content import arrays_of, content_of, learned_from
from kgmi.record.kept import (
    COUNTS_PATTERN,
    check_counts,
    counts_behind,
    counts_content,
    counts_name,
    kept_name,
    refuse_counts,
)
from kgmi.types import PathLike
from kgmi.version import __version__

__all__ = ["load", "save"]


def save(
    learned: Learned,
    folder: PathLike,
    *,
    seed: int | None = None,
    counts: Counts | None = None,
    force: bool = False,
) -> Path:
    """Write a result into ``folder`` and return the path of its ``record.json``.

    ``seed`` is the seed of whatever randomness made the input; learning itself draws nothing at random. ``counts``
    of its rows are written beside it, as ``rows-….counts``, so that :func:`kgmi.update` can add further rows; a
    result that was learned from a stream or from counts has its own. A ``record.json`` that kgmi did not write is
    replaced with ``force`` only.
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
    kept = counts_behind(learned) if counts is None else counts
    content = provenance | content_of(learned) | counts_content(kept)
    before, name = kept_name(folder), None if kept is None else counts_name(kept)
    if kept is not None and name is not None:
        check_counts(learned, kept)
        kept.save(folder / name, force=force)
    path = storage.write(folder, content, arrays_of(learned), force=force)
    for old in {*folder.glob(COUNTS_PATTERN), *([] if before is None else [folder / before])}:
        if old.name != name:  # last, as the record before needed them
            remove_ours(old, "counts")
    return path


def _advice(other: object) -> str:
    """What to save of an estimator, whose way of reading cells is no part of a record."""
    if isinstance(getattr(other, "learned_", None), Learned):
        return ": save its learned_ (how it reads cells is kept by pickle only)"
    return ", which is not fitted: fit it and save its learned_" if hasattr(other, "partial_fit") else ""


def load(path: PathLike) -> Learned:
    """Read a result from its folder or its ``record.json``; the pair joint is not part of it."""
    path = Path(path)
    path = path / "record.json" if path.is_dir() else path
    refuse_counts(path)
    record, arrays = storage.read(path)
    try:
        return learned_from(record, arrays)
    except KgmiError as error:
        raise RecordError(f"{path} is damaged: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise RecordError(f"{path} is damaged: {type(error).__name__}: {error}") from None
