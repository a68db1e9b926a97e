"""Counts as files: one container of arrays and a JSON header; whole counts, and the parts of a checkpoint.

A file is a mark of eight bytes followed by a zip archive with ``header.json`` and arrays as ``.npy``; the archive
has a checksum for every member. Sizes are compared with what the file can hold before memory is taken, nothing is
unpickled, and files are written under another name first and then renamed.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from functools import reduce
from hashlib import sha256
from io import BytesIO
from math import comb, prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kgmi.alphabets import Rules, Seen, in_order
from kgmi.counts.counted import CountedTable, added, check_alike
from kgmi.counts.tally import Sets, Tally, all_sets, tally_bytes
from kgmi.errors import CountsError, DataError, KgmiError, first_line
from kgmi.files import as_path, atomic_write
from kgmi.memory import check_fits, free_bytes, shown_bytes
from kgmi.outputs import COUNTS_MAGIC, note_read
from kgmi.sources import Fragment, Stream
from kgmi.types import PathLike
from kgmi.version import __version__

__all__ = ["Checkpoint", "DamagedError", "load_counts", "read_container", "save_counts", "write_container"]

VERSION = 3
_MOST_HEADER = 256_000_000
_MOST_LISTED = 30_000_000  # columns of all sets together, which are listed one by one
_TYPES = ("|u1", "<u2", "<u4", "<i4", "<i8")
_DATE = (1980, 1, 1, 0, 0, 0)  # so that the same content gives the same bytes
_OTHER_FOLDER = "delete the folder to begin again, or choose another one"
_PART = "part-*.counts"  # names of files in a checkpoint
_MOST_PARTS = 64  # files in a checkpoint

_DAMAGE = zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, SyntaxError
"""What a damaged archive, and an array in it, raise when they are read."""

Arrays: TypeAlias = dict[str, np.ndarray[Any, np.dtype[Any]]]


class DamagedError(CountsError):
    """The content of a file is not what was written to it."""


def write_container(path: Path, header: Mapping[str, Any], arrays: Arrays, *, force: bool = False) -> None:
    """Write plain values and arrays of whole numbers; the same content gives the same bytes."""
    content = json.dumps({"version": VERSION, "kgmi": __version__, **header}, allow_nan=False, sort_keys=True)
    with atomic_write(path, "counts", force=force) as stream:
        stream.write(COUNTS_MAGIC)
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr(zipfile.ZipInfo("header.json", _DATE), content)
            for name, array in arrays.items():
                member = zipfile.ZipInfo(f"{name}.npy", _DATE)
                member.compress_type = zipfile.ZIP_DEFLATED
                with archive.open(member, "w", force_zip64=True) as out:
                    np.lib.format.write_array(out, np.ascontiguousarray(array), allow_pickle=False)


def read_container(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Read plain values and arrays, after every check that needs no knowledge of what they mean."""
    note_read(path)
    try:
        with path.open("rb") as stream:
            if stream.read(len(COUNTS_MAGIC)) != COUNTS_MAGIC:
                raise DamagedError(f"{path} is no file of counts of kgmi; kgmi count writes them from tables")
            with zipfile.ZipFile(stream) as archive:
                return _read_archive(path, archive)
    except FileNotFoundError:
        raise CountsError(f"there is no file of counts at {path}; kgmi count writes one") from None
    except IsADirectoryError:
        raise CountsError(f"{path} is a folder, not a file of counts") from None
    except KgmiError:
        raise
    except _DAMAGE as error:
        raise _damaged(path, first_line(error)) from None


def _damaged(path: Path, problem: str) -> DamagedError:
    return DamagedError(f"{path} is damaged or cut off ({problem}); count again, or fetch the file again")


def _read_archive(path: Path, archive: zipfile.ZipFile) -> tuple[dict[str, Any], Arrays]:
    members = {one.filename: one for one in archive.infolist()}
    if "header.json" not in members or members["header.json"].file_size > _MOST_HEADER:
        raise ValueError("it has no header")
    needed = 9 * sum(one.file_size for one in members.values())  # as stored, and as 64 bits each
    check_fits(needed, f"{path} takes", "count fewer columns (--columns) or fewer parents (--parents)")
    free = free_bytes()
    if free is not None and needed > free:
        raise ValueError(f"it claims {shown_bytes(needed)} of counts, and {shown_bytes(free)} of memory are free")
    header = json.loads(archive.read("header.json"))
    if not isinstance(header, dict):
        raise ValueError("its header is no JSON object")
    if (version := header.get("version")) != VERSION:
        advice = "update kgmi" if isinstance(version, int) and version > VERSION else "count again with this kgmi"
        raise CountsError(f"{path} has format version {version!r}, this kgmi reads version {VERSION}: {advice}")
    names = [name for name in members if name != "header.json"]
    return header, {name.removesuffix(".npy"): _array(archive.read(name)) for name in names}


def _array(content: bytes) -> np.ndarray[Any, np.dtype[Any]]:
    """Return the array of a member, whose header must fit its size."""
    stream = BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("it has an array of an unknown format")
    shape, by_column, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.str not in _TYPES or by_column or len(shape) > 2 or min(shape, default=0) < 0:
        raise ValueError(f"it has an array of type {dtype} and shape {shape}")
    if prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError(f"it has an array of shape {shape} in {len(content):,} bytes")
    return np.frombuffer(content, dtype=dtype, offset=stream.tell()).reshape(shape)


def save_counts(counts: CountedTable, path: PathLike, *, force: bool = False) -> Path:
    """Write counts to a file; the same counts give the same bytes."""
    target = as_path(path, "the file of counts")
    ordered = tuple(replace(one, texts=in_order(one.texts)) for one in counts.seen)
    _write(target, counts.in_codes_of(ordered), force=force)
    return target


def load_counts(path: PathLike) -> CountedTable:
    """Read counts that :func:`save_counts` wrote; what is damaged or of another version is refused."""
    path = as_path(path, "the file of counts")
    counts = _read(path)
    try:
        counts.final_alphabets()
    except DataError as error:
        raise _damaged(path, f"it has states that cannot be: {error}") from None
    return counts


def _write(path: Path, counts: CountedTable, *, force: bool = False) -> None:
    """Write counts."""
    part = counts.part
    header = {
        "names": counts.names,
        "rules": asdict(counts.rules),
        "seen": [asdict(one) for one in counts.seen],
        "marks": counts.marks,
        "where": counts.where,
        "width": part.width,
        "n_rows": part.rows,
    }
    most = int(part.cells.max(initial=0))
    narrow = next((name for name in _TYPES[:3] if most <= np.iinfo(name).max), "<i8")
    arrays = {"cells": part.cells.astype(narrow)}
    if not part.is_complete:
        arrays["sets"] = part.sets.astype("<i4")
    write_container(path, header, arrays, force=force)


def _read(path: Path) -> CountedTable:
    """Read counts and check everything that can be known of them."""
    header, arrays = read_container(path)
    try:
        names, marks, where = _texts(header["names"]), _texts(header["marks"]), header["where"]
        seen = tuple(map(_seen, header["seen"]))
        if not isinstance(where, str) or not all(name and name.isprintable() for name in names):
            raise ValueError("its names or its filter are not texts that can be shown")
        tally = _tally(header, arrays, seen)
        return CountedTable(names, Rules(**header["rules"]), seen, tally, marks, where)
    except (KeyError, TypeError, ValueError, KgmiError) as error:
        raise _damaged(path, f"it does not hold counts of columns: {first_line(error)}") from None


def _texts(texts: Any) -> tuple[str, ...]:
    """Return different texts."""
    if not isinstance(texts, list) or {str, *map(type, texts)} != {str} or len({*texts}) != len(texts):
        raise ValueError(f"{str(texts)[:80]} is no list of different texts")
    return tuple(texts)


def _seen(stored: dict[str, Any]) -> Seen:
    """Return what was seen in a column."""
    texts, declared, *others = (stored[key] for key in ("texts", "declared", "has_gaps", "is_truth", "minus_one"))
    if [type(one) for one in others] not in ([bool, bool, int], [bool, bool, type(None)]):
        raise ValueError("it does not say what was seen in a column")
    return Seen(_texts(texts), None if declared is None else tuple(map(_texts, declared)), *others)


def _tally(header: dict[str, Any], arrays: Arrays, seen: Sequence[Seen]) -> Tally:
    """Return the counts; nothing large is made before it is known that they have the right size."""
    sizes, has_gaps = tuple(len(one.texts) for one in seen), any(one.has_gaps for one in seen)
    width, n_rows, cells = header["width"], header["n_rows"], arrays["cells"]
    if type(width) is not int or not 1 <= width <= min(len(sizes), 64):
        raise ValueError("it does not say which sets of columns it counts")
    if type(n_rows) is not int or not 0 <= n_rows < 2**63 or {*arrays} - {"sets"} != {"cells"}:
        raise ValueError("it does not say how many rows it counts")
    sets = _sets(arrays["sets"], width, len(sizes)) if "sets" in arrays else None
    n_sets = comb(len(sizes), width) if sets is None else len(sets)
    n_cells = tally_bytes(sizes, width, has_gaps=has_gaps, sets=sets) // 8
    if cells.shape != (n_cells,) or n_sets * width > _MOST_LISTED:
        raise ValueError(f"it has {cells.size:,} counts, its columns and states need {n_cells:,}")
    listed = all_sets(len(sizes), width) if sets is None else sets
    tally = Tally(sizes, listed, n_rows, cells.astype(np.int64), has_gaps)
    starts = tally.layout.starts
    if not n_cells or not np.diff(starts).all():
        adds_up = n_rows == 0
    else:
        adds_up = bool(tally.cells.min() >= 0 and tally.cells.max() <= n_rows)
        adds_up &= bool((np.add.reduceat(tally.cells, starts[:-1]) == n_rows).all())
    if not adds_up:
        raise ValueError(f"its counts do not add up to its {n_rows:,} rows")
    return tally


def _sets(stored: Any, width: int, n_nodes: int) -> Sets:
    """Return the sets of columns, which must be ascending, in their order, and all different."""
    sets = stored.astype(np.int32)
    is_right = sets.ndim == 2 and sets.shape[1] == width and len(sets) > 0 and stored.dtype == np.int32
    if is_right:
        is_right = sets.min() >= 0 and sets.max() < n_nodes and bool((sets[:, 1:] > sets[:, :-1]).all())
        is_right &= np.array_equal(sets, np.unique(sets[:, ::-1], axis=0)[:, ::-1])
    if not is_right:
        raise ValueError("its sets of columns are not in their order")
    return np.asarray(sets)


class Checkpoint(AbstractContextManager["Checkpoint"]):
    """The parts of one count that are done, in a folder that is locked from :meth:`load` to the end of ``with``.

    A part is a file of counts, named by the fragments that it counts. Many parts are merged into one: the sum is
    written before the files that it replaces are removed, and a file whose fragments another one has too is never
    added.

    Parameters
    ----------
    folder
        Made where it is missing. It must be empty, or hold parts of the same count.

    Attributes
    ----------
    notes
        What happened that the user should know, in sentences.
    taken, taken_rows
        How many fragments, and rows, were taken from the folder.
    """

    def __init__(self, folder: PathLike) -> None:
        self.folder, self.notes = as_path(folder, "checkpoint"), list[str]()
        self.taken = self.taken_rows = 0
        self._lock: Any = None

    def __exit__(self, *error: object) -> None:
        if self._lock is not None:
            self._lock.release()

    def load(self, rows: Stream, nothing: CountedTable) -> tuple[CountedTable, list[Fragment]]:
        """Return the sum of what is stored, and the fragments that are still to be counted.

        ``nothing`` are the counts of none of the rows: parts that do not go with them are refused.
        """
        known = {fragment.mark for fragment in rows.fragments}
        if not rows.rereadable or "" in known or len(known) != len(rows.fragments):
            raise DataError(
                "a checkpoint needs rows that can be read again, such as files; write them to a file first"
            )
        self._open()
        found = {path: part for path in self._files() if (part := self._whole(path, nothing)) is not None}
        total, done = nothing, set[str]()
        for path, part in sorted(found.items(), key=lambda item: -len(item[1].marks)):
            if not done.isdisjoint(part.marks):  # the process ended before it removed what is in a sum
                path.unlink()
                continue
            if not known.issuperset(part.marks):
                raise DataError(
                    f"the source changed since it was counted in part: some of its rows in the checkpoint "
                    f"{self.folder} are gone or are not what they were; {_OTHER_FOLDER}"
                )
            total = added(total, part)
            done.update(part.marks)
        self.taken, self.taken_rows = len(done), total.n_rows
        return total, [fragment for fragment in rows.fragments if fragment.mark not in done]

    def store(self, part: CountedTable) -> None:
        """Keep a part that is done."""
        self._write(part)
        if len(files := self._files()) > _MOST_PARTS:
            made = self._write(reduce(added, map(_read, files)))
            for path in files:
                if path != made:
                    path.unlink()

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob(_PART))

    def _open(self) -> None:
        """Make and lock the folder; refuse one that holds other things, which parts would be mixed up with."""
        from filelock import FileLock, Timeout

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            usual = {"lock", *(path.name for path in self._files())}
            names = {one.name for one in self.folder.iterdir() if one.name[0] != "."}
            if names - usual:
                raise DataError(
                    f"{self.folder} holds other files ({min(names - usual)} …), not a checkpoint: choose another "
                    "folder"
                )
            self._lock = FileLock(self.folder / "lock")
            self._lock.acquire(blocking=False)
        except Timeout:
            raise DataError(
                f"{self.folder} is in use by another run of kgmi: wait for it, or choose another folder"
            ) from None
        except (OSError, NotImplementedError) as error:
            raise DataError(f"{self.folder} cannot be a folder for a checkpoint ({first_line(error)})") from None
        for left in self.folder.glob(".*.part"):
            left.unlink()  # of a process that was killed while it wrote

    def _write(self, part: CountedTable) -> Path:
        path = self.folder / f"part-{sha256(' '.join(part.marks).encode()).hexdigest()[:24]}.counts"
        _write(path, part)
        return path

    def _whole(self, path: Path, nothing: CountedTable) -> CountedTable | None:
        """Return a part that can be used; one that is damaged is removed."""
        try:
            part = _read(path)
            check_alike(nothing, part, "this count", str(path))
            if part.where != nothing.where:
                raise CountsError(f"{path} has the filter {part.where or 'none'}, not {nothing.where or 'none'}")
        except DamagedError as error:
            self.notes.append(f"{error}: its fragments are counted again")
            path.unlink()
            return None
        except CountsError as error:
            raise DataError(
                f"the checkpoint {self.folder} is of another count or version: {error}; {_OTHER_FOLDER}"
            ) from None
        return part
