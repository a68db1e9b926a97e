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
from kgmi.counts.tally import Sets, Tally, tally_bytes
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
_AGAIN = "count again, or fetch the file again"
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
        raise DamagedError(f"{path} is damaged or cut off ({first_line(error)}); {_AGAIN}") from None


def _read_archive(path: Path, archive: zipfile.ZipFile) -> tuple[dict[str, Any], Arrays]:
    members = {one.filename: one for one in archive.infolist()}
    if "header.json" not in members or members["header.json"].file_size > _MOST_HEADER:
        raise DamagedError(f"{path} has no header; {_AGAIN}")
    needed = 9 * sum(one.file_size for one in members.values())  # as stored, and as 64 bits each
    check_fits(needed, f"{path} takes", "count fewer columns (--columns) or fewer parents (--parents)")
    free = free_bytes()
    if free is not None and needed > free:
        raise DamagedError(
            f"{path} claims {shown_bytes(needed)} of counts, and {shown_bytes(free)} of memory are free"
        )
    header = json.loads(archive.read("header.json"))
    if not isinstance(header, dict):
        raise DamagedError(f"{path} has a header that is no JSON object; {_AGAIN}")
    if (version := header.get("version")) != VERSION:
        advice = "update kgmi" if isinstance(version, int) and version > VERSION else "count again with this kgmi"
        raise CountsError(f"{path} has format version {version!r}, this kgmi reads version {VERSION}: {advice}")
    names = [name for name in members if name != "header.json"]
    return header, {name.removesuffix(".npy"): _array(path, archive.read(name)) for name in names}


def _array(path: Path, content: bytes) -> np.ndarray[Any, np.dtype[Any]]:
    """Return the array of a member, whose header must fit its size."""
    stream = BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise DamagedError(f"{path} has an array of an unknown format; {_AGAIN}")
    shape, by_column, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.str not in _TYPES or by_column or len(shape) > 2 or min(shape, default=0) < 0:
        raise DamagedError(f"{path} has an array of type {dtype} and shape {shape}; {_AGAIN}")
    if prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise DamagedError(f"{path} has an array of shape {shape} in {len(content):,} bytes; {_AGAIN}")
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
    if not counts.part.agrees:
        raise DamagedError(f"{path} has tables of counts that contradict each other on columns that both have")
    try:
        counts.final_alphabets()
    except DataError as error:
        raise DamagedError(f"{path} has states that cannot be: {error}") from None
    return counts


def _write(path: Path, counts: CountedTable, *, force: bool = False) -> None:
    """Write counts."""
    part = counts.part
    header = {
        "kind": "counts",
        "names": counts.names,
        "rules": asdict(counts.rules),
        "seen": [asdict(one) for one in counts.seen],
        "marks": counts.marks,
        "where": counts.where,
        "width": part.width,
        "n_rows": part.rows,
        "every_set": part.sets is None,
    }
    most = int(part.cells.max(initial=0))
    narrow = next((name for name in _TYPES[:3] if most <= np.iinfo(name).max), "<i8")
    arrays = {"cells": part.cells.astype(narrow)}
    if part.sets is not None:
        arrays["sets"] = part.sets.astype("<i4")
    write_container(path, header, arrays, force=force)


def _read(path: Path) -> CountedTable:
    """Read counts and check everything that can be known of them."""
    header, arrays = read_container(path)
    try:
        if header["kind"] != "counts":
            raise ValueError(f"it holds {header['kind']!r}")
        names, marks, where = _texts(header["names"]), _texts(header["marks"]), header["where"]
        seen = tuple(map(_seen, header["seen"]))
        if not isinstance(where, str) or not all(name and name.isprintable() for name in names):
            raise ValueError("its names or its filter are not texts that can be shown")
        tally = _tally(header, arrays, seen)
        return CountedTable(names, Rules(**header["rules"]), seen, tally, marks, where)
    except (KeyError, TypeError, ValueError, KgmiError) as error:
        raise DamagedError(f"{path} does not hold counts of columns ({first_line(error)}); {_AGAIN}") from None


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
    width, n_rows, every = header["width"], header["n_rows"], header["every_set"]
    if type(width) is not int or not 1 <= width <= min(len(sizes), 64) or type(every) is not bool:
        raise ValueError("it does not say which sets of columns it counts")
    if type(n_rows) is not int or not 0 <= n_rows < 2**63 or set(arrays) != {"cells", *(["sets"] * (not every))}:
        raise ValueError("it does not say how many rows it counts")
    sets = None if every else _sets(arrays["sets"], width, len(sizes))
    n_sets = comb(len(sizes), width) if sets is None else len(sets)
    n_cells, stored = tally_bytes(sizes, width, has_gaps=has_gaps, sets=sets) // 8, arrays["cells"]
    if stored.shape != (n_cells,) or n_sets * width > _MOST_LISTED:
        raise ValueError(f"it has {stored.size:,} counts, its columns and states need {n_cells:,}")
    tally = Tally(sizes, width, n_rows, stored.astype(np.int64), has_gaps, sets)
    if not _adds_up(tally):
        raise ValueError(f"its counts do not add up to its {n_rows:,} rows")
    return tally


def _sets(stored: Any, width: int, n_nodes: int) -> Sets:
    """Return the sets of columns, which must be in their order."""
    sets = stored.astype(np.int32)
    whole = sets.ndim == 2 and sets.shape[1] == width and stored.dtype == np.int32
    if whole and sets.size:
        inside = sets.min() >= 0 and sets.max() < n_nodes and (sets[:, 1:] > sets[:, :-1]).all()
        ordered = (np.lexsort(sets.T) == np.arange(len(sets))).all()
        whole = inside and ordered and len(np.unique(sets, axis=0)) == len(sets)
    if not whole:
        raise ValueError("its sets of columns are not in their order")
    sets.setflags(write=False)
    return np.asarray(sets)


def _adds_up(tally: Tally) -> bool:
    """Return whether no count is negative, and every table has each row once."""
    if not tally.cells.size or not np.diff(tally.starts).all():
        return tally.rows == 0
    if int(tally.cells.min()) < 0 or int(tally.cells.max()) > tally.rows:
        return False
    rough = np.add.reduceat(tally.cells, tally.starts[:-1], dtype=np.float64)  # whole numbers may wrap around
    return bool(
        (rough < 1.5 * 2.0**63).all() and (np.add.reduceat(tally.cells, tally.starts[:-1]) == tally.rows).all()
    )


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
            if self.folder.exists() and not self.folder.is_dir():
                raise DataError(f"{self.folder} is a file; a checkpoint needs a folder")
            self.folder.mkdir(parents=True, exist_ok=True)
            usual = {"lock", *(path.name for path in self._files())}
            other = sorted(
                one.name for one in self.folder.iterdir() if one.name not in usual and one.name[0] != "."
            )
            if other:
                raise DataError(
                    f"{self.folder} holds other files ({other[0]} …), not a checkpoint: choose another folder"
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
        except DamagedError as error:
            self.notes.append(f"{error}: its fragments are counted again")
            path.unlink()
            return None
        try:
            check_alike(nothing, part, "this count", str(path))
            if part.where != nothing.where:
                raise CountsError(f"{path} has the filter {part.where or 'none'}, not {nothing.where or 'none'}")
        except CountsError as error:
            raise DataError(f"the checkpoint {self.folder} is of another count: {error}; {_OTHER_FOLDER}") from None
        return part
