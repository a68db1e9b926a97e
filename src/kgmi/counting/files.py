"""Counts as files: settled ones, which are shipped and merged, and parts of a count that is under way.

A file that is read is believed only where it is consistent: every table of counts has to add up to the number of
rows, tables have to agree on the columns that they have in common, and names, states and rules have to go together.
"""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from kgmi.counting.container import Arrays, DamagedError, read_container, write_container
from kgmi.counting.counts import Counts
from kgmi.counting.part import Part
from kgmi.counting.plausible import adds_up, margins_agree, reading_fits, states_fit, wrong_name
from kgmi.errors import CountsError, DataError
from kgmi.files import as_path
from kgmi.statistics.tally import Tally, tally_bytes
from kgmi.streams import Alphabets
from kgmi.types import PathLike

__all__ = ["load_counts", "load_part", "save_counts", "save_part"]

_MOST_WIDTH = 64
_MOST_EMPTY = 10_000_000  # sets of columns without any cell that a file may claim
_MOST_LISTED = 30_000_000  # columns of all sets together, which are listed one by one
_NARROW = ("<u1", "<u2", "<u4")
_MOST_COUNT = 2**63 - 1


def save_counts(counts: Counts, path: PathLike, *, force: bool = False) -> Path:
    """Write counts to a file, whole or not at all; the same counts give the same bytes."""
    header = {
        "kind": "counts",
        "names": list(counts.names),
        "states": list(counts.states),
        "alphabets": None if counts.alphabets is None else [list(states) for states in counts.alphabets],
        "reading": counts.reading,
        "marks": sorted(counts.marks),
        "contents": sorted(counts.contents),
    }
    target = as_path(path, "the file of counts")
    write_container(target, header | _described(counts.tally), _arrays(counts.tally), force=force)
    return target


def load_counts(path: PathLike) -> Counts:
    """Counts from a file that :func:`save_counts` wrote; what is damaged or of another version is refused."""
    path = as_path(path, "the file of counts")
    header, arrays = _read(path, "counts")
    names, states, marks = (_texts(path, header, key) for key in ("names", "states", "marks"))
    own = header.get("alphabets")
    if own is not None and not (isinstance(own, list) and len(own) == len(names)):
        raise DamagedError(f"{path} has no alphabets that fit its columns")
    listed = (
        [states] * len(names) if own is None else [_texts(path, {"alphabets": one}, "alphabets") for one in own]
    )
    if not states_fit(states, None if own is None else listed):
        raise DamagedError(f"{path} has other states than those of its columns")
    tally = _tally(path, header, arrays, [len(one) for one in listed])
    if not margins_agree(tally):
        raise DamagedError(f"{path} has tables of counts that contradict each other on columns that both have")
    reading: Any = header.get("reading")
    if not reading_fits(reading, states, own=own is not None, has_gaps=tally.has_gaps):
        raise DamagedError(f"{path} does not say how its rows were read, or its counts are of rows read otherwise")
    return Counts(
        names=names,
        states=states,
        alphabets=None if own is None else tuple(listed),
        tally=tally,
        marks=marks,
        reading=reading,
        contents=_texts(path, header, "contents") if "contents" in header else (),  # older files have none
    )


def save_part(part: Part, path: Path, more: dict[str, Any]) -> None:
    """Write a part with its open alphabets, and what else is to be kept with it."""
    header = {
        "kind": "part",
        "names": list(part.names),
        "alphabets": part.alphabets.to_dict(),
        "marks": list(part.marks),
        "more": more,
    }
    write_container(path, header | _described(part.tally), _arrays(part.tally))


def load_part(path: Path) -> tuple[Part, dict[str, Any]]:
    """A part, and what was kept with it."""
    header, arrays = _read(path, "part")
    names, marks = (_texts(path, header, key) for key in ("names", "marks"))
    try:
        alphabets = Alphabets.from_dict(header["alphabets"])
        sizes = [len(texts) for texts in alphabets.texts]
    except (DataError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedError(f"{path} has no alphabets that can be read ({error!r})") from None
    if not isinstance(header.get("more"), dict):
        raise DamagedError(f"{path} does not say which count it belongs to")
    tally = _tally(path, header, arrays, sizes)
    if tally.has_gaps != alphabets.has_gaps:
        raise DamagedError(f"{path} has missing values in its counts or in its alphabets only")
    return Part(names=names, alphabets=alphabets, tally=tally, marks=marks), header["more"]


def _described(tally: Tally) -> dict[str, Any]:
    return {
        "sizes": list(tally.sizes),
        "width": tally.width,
        "n_rows": tally.n_rows,
        "has_gaps": tally.has_gaps,
        "every_set": tally.sets is None,
    }


def _arrays(tally: Tally) -> Arrays:
    """Cells in the narrowest type that holds them, and the sets where they are not all."""
    most = int(tally.cells.max(initial=0))
    narrow = next((name for name in _NARROW if most <= np.iinfo(name).max), "<i8")
    arrays: Arrays = {"cells": tally.cells.astype(narrow)}
    return arrays if tally.sets is None else arrays | {"sets": tally.sets.astype("<i4")}


def _read(path: Path, kind: str) -> tuple[dict[str, Any], Arrays]:
    header, arrays = read_container(path)
    if (found := header.get("kind")) != kind:
        what = {
            "part": "a part of a checkpoint; kgmi count --checkpoint goes on from it",
            "counts": "settled counts",
        }
        raise CountsError(f"{path} holds {what.get(str(found), 'something else than counts')}")
    return header, arrays


def _texts(path: Path, header: dict[str, Any], key: str) -> tuple[str, ...]:
    texts = header.get(key)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise DamagedError(f"{path} has no list of {key}")
    if key != "marks" and len(set(texts)) != len(texts):
        raise DamagedError(f"{path} has one of its {key} twice")
    if key == "names" and (wrong := wrong_name(texts)):
        raise DamagedError(f"{path}: {wrong}")
    return tuple(texts)


def _tally(path: Path, header: dict[str, Any], arrays: Arrays, expected: list[int]) -> Tally:
    """The counts, after all that can be known of them was compared."""
    width, n_rows, has_gaps, every = (header.get(key) for key in ("width", "n_rows", "has_gaps", "every_set"))
    if header.get("sizes") != expected or len(header.get("names", ())) != len(expected):
        raise DamagedError(f"{path} has counts of other columns or states than it names")
    if type(width) is not int or not 1 <= width <= min(len(expected), _MOST_WIDTH):
        raise DamagedError(f"{path} claims counts of sets of {width!r} columns")
    if type(n_rows) is not int or not 0 <= n_rows <= _MOST_COUNT:
        raise DamagedError(f"{path} claims {n_rows!r} rows")
    if type(has_gaps) is not bool or type(every) is not bool or set(arrays) != {"cells", *(["sets"] * (not every))}:
        raise DamagedError(f"{path} does not say which sets of columns it counts")
    stored, sets = arrays["cells"], None if every else _sets(path, arrays["sets"], width, len(expected))
    if sets is None:
        n_sets, n_cells = comb(len(expected), width), tally_bytes(expected, width, has_gaps=has_gaps) // 8
    else:  # in floats, which do not overflow, and are exact for every number of cells that a file can hold
        codes = np.array(expected, dtype=np.float64) + has_gaps
        n_sets, n_cells = len(sets), codes[sets].prod(axis=1).sum()
    if stored.shape != (n_cells,) or n_sets > max(len(stored), _MOST_EMPTY):
        raise DamagedError(f"{path} has {stored.size:,} counts, its columns and states need {n_cells:,}")
    if n_sets * width > _MOST_LISTED:
        raise DamagedError(f"{path} claims counts of {n_sets:,} sets of {width} columns, which is beyond reason")
    tally = Tally(tuple(expected), width, n_rows, stored.astype(np.int64), has_gaps, sets)
    if not adds_up(tally):
        raise DamagedError(f"{path} has counts that do not add up to its {n_rows:,} rows")
    return tally


def _sets(path: Path, stored: Any, width: int, n_nodes: int) -> Any:
    """The sets of columns, which have to stand in their order."""
    sets = stored.astype(np.int32)
    whole = sets.ndim == 2 and sets.shape[1] == width and len(sets) <= _MOST_EMPTY and stored.dtype == np.int32
    if whole and sets.size:
        inside = sets.min() >= 0 and sets.max() < n_nodes and (sets[:, 1:] > sets[:, :-1]).all()
        ordered = (np.lexsort(sets.T) == np.arange(len(sets))).all()
        whole = inside and ordered and len(np.unique(sets, axis=0)) == len(sets)
    if not whole:
        raise DamagedError(f"{path} has sets of columns that are none, or not in their order")
    sets.setflags(write=False)
    return sets
