"""Counts as files: those of all rows, and those so far of a run that may be ended.

A file has a mark of eight bytes, a byte for the version of its format, the SHA-256 of all that follows, a line of
JSON and compressed arrays. Sizes are checked before memory is taken, nothing is unpickled, and files are written
under another name and then renamed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from glob import escape
from hashlib import sha256
from io import BytesIO
from math import prod
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias

import numpy as np

from kgmi.alphabets import Rules, Seen, in_order
from kgmi.counts.counted import MOST_BYTES, CountedTable, check_alike, code_sizes
from kgmi.counts.tally import Tally, smaller_sets, tally_bytes
from kgmi.errors import CountsError, DataError, SettingError, TooLargeError, first_line
from kgmi.files import as_path, atomic_write
from kgmi.memory import check_fits
from kgmi.outputs import COUNTS_MAGIC, is_ours, note_read
from kgmi.sources.base import Fragment, Stream
from kgmi.types import PathLike
from kgmi.version import __version__

VERSION = b"\6"
_MOST_BYTES = 500_000_000  # of a file, and of its arrays
_TYPES = {"|u1", "<u2", "<u4", "<u8"}
_OTHER_FILE = "choose another file, or delete this one to begin again"

Arrays: TypeAlias = dict[str, np.ndarray[Any, np.dtype[Any]]]


def write_container(path: Path, header: Mapping[str, Any], arrays: Arrays, *, force: bool = False) -> None:
    """Write plain values and arrays of whole numbers; the same content gives the same bytes."""
    kinds = {name: (array.dtype.str, array.shape) for name, array in arrays.items()}
    text = json.dumps(
        {"kgmi": __version__, **header, "arrays": kinds}, default=asdict, allow_nan=False, sort_keys=True
    ).encode()
    packed = zlib.compress(b"".join(arrays[name].tobytes() for name in sorted(arrays)), level=1)
    content = b"\n".join([text, packed])
    with atomic_write(path, "counts", force=force) as stream:
        stream.write(COUNTS_MAGIC + VERSION + sha256(content).digest() + content)


def read_container(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Read plain values and arrays; a damaged file raises ValueError, KeyError, TypeError or zlib.error."""
    try:
        with path.open("rb") as stream:
            if stream.read(len(COUNTS_MAGIC)) != COUNTS_MAGIC:
                raise CountsError(f"{path} is no file of counts of kgmi; kgmi count writes them from tables")
            _require(path.stat().st_size <= _MOST_BYTES, "it is too large")
            version, digest, content = stream.read(1), stream.read(32), stream.read()
    except OSError as error:
        raise CountsError(f"cannot read counts from {path} ({error.strerror}); kgmi count writes them") from None
    _require(len(digest) == 32, "it is cut off")
    if version != VERSION:
        raise CountsError(f"{path} was written by another version of kgmi: count again, or update kgmi")
    _require(sha256(content).digest() == digest, "its checksum does not fit")
    text, _, packed = content.partition(b"\n")
    header = json.loads(text)
    kinds = dict(header["arrays"])
    n_bytes = {name: prod(shape) * np.dtype(kind).itemsize for name, (kind, shape) in kinds.items()}
    needed = sum(n_bytes.values())
    _require({kind for kind, _ in kinds.values()} <= _TYPES, "it has arrays of another type")
    _require(0 <= needed <= _MOST_BYTES, f"it claims {needed:,} bytes of counts")
    check_fits(9 * needed, f"{path} takes", "count fewer columns (--columns) or fewer parents (--parents)")
    data = BytesIO(zlib.decompressobj().decompress(packed, needed + 1))  # never more than it claims
    flat = {name: np.frombuffer(data.read(n_bytes[name]), kind) for name, (kind, _) in kinds.items()}
    _require(not data.read(), "its arrays are larger than it claims")
    return header, {name: flat[name].reshape(shape) for name, (_, shape) in kinds.items()}


def _require(holds: bool, otherwise: str) -> None:
    """Raise an error on what a file holds."""
    if not holds:
        raise ValueError(otherwise)


def write_counts(counts: CountedTable, path: PathLike, *, force: bool = False, is_part: bool = False) -> None:
    """Write counts to a file; the same counts give the same bytes. ``is_part`` marks those of a checkpoint."""
    seen = tuple(replace(one, texts=in_order(one.texts)) for one in counts.seen)
    part = counts.in_codes_of(seen).part
    header = {"names": counts.names, "rules": counts.rules, "seen": seen, "marks": counts.marks}
    header |= {"where": counts.where, "n_rows": part.rows, "is_part": is_part}
    arrays = {"cells": _narrow(part.cells), "sets": _narrow(part.sets)}
    write_container(as_path(path, "the file of counts"), header, arrays, force=force)


def _narrow(numbers: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[Any]]:
    """Return numbers that are not negative in the smallest type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))).newbyteorder("<"))


def read_counts(path: PathLike, *, is_part: bool = False) -> CountedTable:
    """Read counts, and check everything that can be known of them.

    ``is_part`` says that the file is a checkpoint: it will be replaced, and its states need not be final.
    """
    path = as_path(path, "the file of counts")
    if not is_part:
        note_read(path)
    try:
        header, arrays = read_container(path)
        if header["is_part"] and not is_part:
            raise CountsError(
                f"{path} is a checkpoint, in which some rows may not be counted; run the command that made it "
                "again: it continues from there"
            )
        if is_part and not header["is_part"]:
            raise CountsError(f"{path} is no checkpoint: it has the counts of all rows")
        names, marks = _texts(header["names"]), _texts(header["marks"])
        where, n_rows = header["where"], header["n_rows"]
        _require(isinstance(where, str) and type(n_rows) is int, "it has no filter, or no number of rows")
        _require(all(name and name.isprintable() for name in names), "its names cannot be shown")
        seen = tuple(map(_seen, header["seen"]))
        counts = CountedTable(names, Rules(**header["rules"]), seen, _tally(arrays, seen, n_rows), marks, where)
    except (CountsError, TooLargeError):
        raise
    except (KeyError, TypeError, ValueError, RecursionError, zlib.error) as error:
        raise CountsError(
            f"{path} is damaged or cut off ({first_line(error)}); count again, or fetch the file again"
        ) from None
    if not is_part:
        counts.final_alphabets()
    return counts


def _texts(texts: Any) -> tuple[str, ...]:
    """Return different texts."""
    are_texts = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    _require(are_texts and len({*texts}) == len(texts), f"{str(texts)[:80]} is no list of different texts")
    return tuple(texts)


def _seen(stored: dict[str, Any]) -> Seen:
    """Return what was seen in a column."""
    texts, declared, has_gaps = stored["texts"], stored["declared"], stored["has_gaps"]
    _require(isinstance(has_gaps, bool), "it does not say what was seen in a column")
    return Seen(_texts(texts), None if declared is None else tuple(map(_texts, declared)), has_gaps)


def _tally(arrays: Arrays, seen: tuple[Seen, ...], n_rows: int) -> Tally:
    """Return the counts; nothing large is made before it is known that they have the right size."""
    (sizes, has_gaps), cells, sets = code_sizes(seen), arrays["cells"], arrays["sets"]
    most = MOST_BYTES // 8  # cells; a column has two states at least
    are_few = sets.ndim == 2 and len(sets) <= most >> sets.shape[1]
    _require(are_few, "it has more sets of columns than can be counted")
    sets = sets.astype(np.int32)
    is_ascending = sets.size > 0 and sets.min() >= 0 and bool((np.diff(sets) > 0).all())
    _require(is_ascending and sets.max() < len(sizes), "it has no sets of its columns")
    _require(np.array_equal(sets, smaller_sets(sets, sets.shape[1])), "its sets of columns are not in their order")
    needed = tally_bytes(sizes, sets.shape[1], has_gaps=has_gaps, sets=sets) // 8
    _require(cells.shape == (needed,), f"it has {cells.size:,} counts, its columns and states need {needed:,}")
    _require(needed <= most, f"it has {needed:,} counts, which is more than can be counted")
    tally = Tally(sizes, sets, n_rows, cells.astype(np.int64), has_gaps)
    starts = tally.layout.starts
    has_cells = bool(np.diff(starts).all())  # without, there can be no rows
    totals = np.add.reduceat(tally.cells, starts[:-1]) if has_cells else np.zeros(1)
    in_range = tally.cells.min(initial=0) >= 0 and tally.cells.max(initial=0) <= n_rows
    _require(in_range and bool((totals == n_rows).all()), f"its counts do not add up to its {n_rows:,} rows")
    return tally


class Checkpoint(AbstractContextManager["Checkpoint"]):
    """The counts so far of one run, in a file from which the same run continues after a crash.

    The file is locked from :meth:`load` to the end of ``with``. It is written anew when parts are done, but not so
    often that writing takes more than a twentieth of the time, and at the end of ``with``.

    Parameters
    ----------
    path
        The file, which need not exist; one that holds anything else than counts of the same run is refused.

    Attributes
    ----------
    taken, taken_rows
        How many fragments, and rows, were counted before.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = as_path(path, "checkpoint")
        if self.path.is_dir():
            raise SettingError(f"the checkpoint {self.path} is a folder; give the name of a file")
        self.taken = self.taken_rows = 0
        self._lock: Any = None
        self._unsaved: CountedTable | None = None
        self._next = 0.0  # when the file is written again

    def __exit__(self, *error: object) -> None:
        try:
            self._save()
        finally:
            if self._lock is not None:
                self._lock.release()

    def load(self, rows: Stream, nothing: CountedTable) -> tuple[CountedTable, list[Fragment]]:
        """Return the counts so far, and the fragments that are still to be counted.

        ``nothing`` are the counts of none of the rows: counts that do not go with them are refused.
        """
        known = {fragment.mark for fragment in rows.fragments}
        if not rows.rereadable or "" in known or len(known) != len(rows.fragments):
            raise DataError("a checkpoint needs rows in files, which can be read again; write them to a file first")
        self._acquire()
        if not self.path.exists():
            return nothing, list(rows.fragments)
        try:
            total = read_counts(self.path, is_part=True)
            check_alike(nothing, total, "this run", str(self.path))
            if total.where != nothing.where:
                raise CountsError(f"its filter is {total.where or 'none'}, not {nothing.where or 'none'}")
        except CountsError as error:
            remedy = _OTHER_FILE if is_ours(self.path, "counts") else "choose another file"
            raise DataError(f"the checkpoint {self.path} cannot be continued: {error}; {remedy}") from None
        if not known.issuperset(total.marks):
            raise DataError(
                f"the checkpoint {self.path} has counts of rows that are not in this source, or were read in "
                f"another way (--no-header): a file was changed or removed; {_OTHER_FILE}"
            )
        done = {*total.marks}
        self.taken, self.taken_rows = len(done), total.n_rows
        return total, [fragment for fragment in rows.fragments if fragment.mark not in done]

    def store(self, total: CountedTable) -> None:
        """Keep the counts so far."""
        self._unsaved = total
        if (begun := monotonic()) >= self._next:
            self._save()
            self._next = monotonic() + 20 * (monotonic() - begun)

    def _save(self) -> None:
        if self._unsaved is not None:
            write_counts(self._unsaved, self.path, is_part=True)
            self._unsaved = None

    def _acquire(self) -> None:
        """Lock the file."""
        from filelock import FileLock, Timeout

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.path.with_name(f".{self.path.name}.lock"))
            self._lock.acquire(blocking=False)
            for left in self.path.parent.glob(f".{escape(self.path.name)}.*.part"):
                left.unlink()  # of a process that was killed while it wrote
        except Timeout:
            raise DataError(
                f"the checkpoint {self.path} is in use by another run of kgmi; wait for it, or choose another file"
            ) from None
        except (OSError, NotImplementedError) as error:
            raise DataError(
                f"the checkpoint {self.path} cannot be written ({first_line(error)}); choose another file"
            ) from None
