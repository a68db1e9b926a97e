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
from dataclasses import asdict
from functools import reduce
from hashlib import sha256
from io import BytesIO
from math import comb, prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kgmi.alphabets import Seen
from kgmi.counts.counted import CountedTable
from kgmi.counts.sets import Sets
from kgmi.counts.stream import Part
from kgmi.counts.tally import Tally, tally_bytes
from kgmi.errors import CountsError, DataError, KgmiError, first_line
from kgmi.files import as_path, atomic_write
from kgmi.memory import check_fits, free_bytes, shown_bytes
from kgmi.outputs import COUNTS_MAGIC, note_read
from kgmi.sources import Fragment, Stream
from kgmi.types import PathLike
from kgmi.version import __version__

__all__ = ["Checkpoint", "DamagedError", "load_counts", "read_container", "save_counts", "write_container"]

VERSION = 2
_MOST_HEADER = 256_000_000
_MOST_LISTED = 30_000_000  # columns of all sets together, which are listed one by one
_TYPES = ("|u1", "<u2", "<u4", "<i4", "<i8")
_DATE = (1980, 1, 1, 0, 0, 0)  # so that the same content gives the same bytes
_AGAIN = "count again, or fetch the file again"
_OTHER_FOLDER = "delete the folder to begin again, or choose another one"

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
    header = {
        "kind": "counts",
        "names": list(counts.names),
        "states": list(counts.states),
        "alphabets": None if counts.alphabets is None else [list(states) for states in counts.alphabets],
        "reading": counts.reading,
        "marks": sorted(counts.marks),
    }
    target = as_path(path, "the file of counts")
    write_container(target, header | _described(counts.tally), _arrays(counts.tally), force=force)
    return target


def load_counts(path: PathLike) -> CountedTable:
    """Read counts that :func:`save_counts` wrote; what is damaged or of another version is refused."""
    path = as_path(path, "the file of counts")
    header, arrays = read_container(path)
    if header.get("kind") != "counts":
        raise CountsError(
            f"{path} holds {header.get('kind')!r}, not counts; a part of a checkpoint is read by kgmi count"
        )
    names, states = (_texts(path, header.get(key), key) for key in ("names", "states"))
    own: Any = header.get("alphabets")
    if own is not None:
        if not isinstance(own, list) or len(own) != len(names):
            raise DamagedError(f"{path} has no alphabets that fit its columns")
        own = tuple(_texts(path, one, "alphabets") for one in own)
        if {state for alphabet in own for state in alphabet} != set(states):
            raise DamagedError(f"{path} has other states than those of its columns")
    tally = _tally(path, header, arrays, [len(states)] * len(names) if own is None else [len(one) for one in own])
    if not tally.agrees:
        raise DamagedError(f"{path} has tables of counts that contradict each other on columns that both have")
    reading: Any = header.get("reading")
    marks: Any = header.get("marks")
    plain = isinstance(reading, dict) and all(isinstance(value, str) for value in reading.values())
    if not plain or not isinstance(marks, list) or (tally.has_gaps and reading.get("missing") != "pairwise"):
        raise DamagedError(f"{path} does not say how its rows were read, or its counts are of rows read otherwise")
    return CountedTable(names, states, own, tally, tuple(map(str, marks)), reading)


def _texts(path: Path, texts: Any, key: str) -> tuple[str, ...]:
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise DamagedError(f"{path} has no list of {key}")
    if len(set(texts)) != len(texts) or (key == "names" and not all(one and one.isprintable() for one in texts)):
        raise DamagedError(f"{path} has {key} that are there twice, or cannot be shown")
    return tuple(texts)


def _described(tally: Tally) -> dict[str, Any]:
    return {
        "sizes": list(tally.sizes),
        "width": tally.width,
        "n_rows": tally.rows,
        "has_gaps": tally.has_gaps,
        "every_set": tally.sets is None,
    }


def _arrays(tally: Tally) -> Arrays:
    """Return cells in the narrowest type that holds them, and the sets where they are not all."""
    most = int(tally.cells.max(initial=0))
    narrow = next((name for name in _TYPES[:3] if most <= np.iinfo(name).max), "<i8")
    arrays: Arrays = {"cells": tally.cells.astype(narrow)}
    return arrays if tally.sets is None else arrays | {"sets": tally.sets.astype("<i4")}


def _tally(path: Path, header: dict[str, Any], arrays: Arrays, expected: list[int]) -> Tally:
    """Return the counts, after all that can be known of them was compared."""
    values: list[Any] = [header.get(key) for key in ("width", "n_rows", "has_gaps", "every_set")]
    width, n_rows, has_gaps, every = values
    plain = type(width) is int and type(n_rows) is int and type(has_gaps) is type(every) is bool
    if not plain or header.get("sizes") != expected or not 1 <= width <= min(len(expected), 64) or n_rows < 0:
        raise DamagedError(f"{path} has counts of other columns or states than it names")
    if set(arrays) != {"cells", *(["sets"] * (not every))} or not 0 <= n_rows < 2**63:
        raise DamagedError(f"{path} does not say which sets of columns it counts")
    sets = None if every else _sets(path, arrays["sets"], width, len(expected))
    n_sets = comb(len(expected), width) if sets is None else len(sets)
    n_cells = tally_bytes(expected, width, has_gaps=has_gaps, sets=sets) // 8
    stored = arrays["cells"]
    if stored.shape != (n_cells,) or n_sets * width > _MOST_LISTED:
        raise DamagedError(f"{path} has {stored.size:,} counts, its columns and states need {n_cells:,}")
    tally = Tally(tuple(expected), width, n_rows, stored.astype(np.int64), has_gaps, sets)
    if not _adds_up(tally):
        raise DamagedError(f"{path} has counts that do not add up to its {n_rows:,} rows")
    return tally


def _sets(path: Path, stored: Any, width: int, n_nodes: int) -> Sets:
    """Return the sets of columns, which must be in their order."""
    sets = stored.astype(np.int32)
    whole = sets.ndim == 2 and sets.shape[1] == width and stored.dtype == np.int32
    if whole and sets.size:
        inside = sets.min() >= 0 and sets.max() < n_nodes and (sets[:, 1:] > sets[:, :-1]).all()
        ordered = (np.lexsort(sets.T) == np.arange(len(sets))).all()
        whole = inside and ordered and len(np.unique(sets, axis=0)) == len(sets)
    if not whole:
        raise DamagedError(f"{path} has sets of columns that are not in their order")
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
    """Parts of one count in a folder, which is locked until :meth:`close` or the end of a ``with`` statement.

    A part is a file, named by the fragments that it counts. Many parts are merged into one: the sum is written
    before the files that it replaces are removed, and a file whose fragments another one has too is never added.

    Parameters
    ----------
    folder
        Made where it is missing. It must be empty, or hold parts of the same count.
    stream, width, sets
        What is counted; parts of another count are refused.

    Attributes
    ----------
    notes
        What happened that the user should know, in sentences.
    taken, taken_rows
        How many fragments, and rows, were taken from the folder.
    """

    _MOST_FILES = 64

    def __init__(self, folder: PathLike, stream: Stream, width: int, sets: Sets | None = None) -> None:
        from filelock import FileLock, Timeout

        if not stream.rereadable:
            raise DataError(
                "a checkpoint needs rows that can be read again, such as files; these can be read once only"
            )
        self.folder, self.notes = as_path(folder, "checkpoint"), list[str]()
        self.taken = self.taken_rows = 0
        held = getattr(stream.source, "held", ())  # marks of large files look at some of their bytes only
        self._written = {one.mark: held[one.file].written for one in stream.fragments if held}
        try:
            self._check_ours()
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self.folder / "lock")
            self._lock.acquire(blocking=False)
        except Timeout:
            raise DataError(
                f"{self.folder} is in use by another run of kgmi: wait for it, or choose another folder"
            ) from None
        except (OSError, NotImplementedError) as error:
            raise DataError(f"{self.folder} cannot be a folder for a checkpoint ({first_line(error)})") from None
        try:
            self._identity = self._agree(_identity_of(stream, width, sets))
            for left in self.folder.glob(".*.part"):
                left.unlink()  # of a process that was killed while it wrote
        except BaseException:
            self.close()
            raise

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the folder; what is stored stays."""
        self._lock.release()

    def load(self, fragments: Sequence[Fragment]) -> tuple[Part | None, list[Fragment]]:
        """Return the sum of what is stored, None for nothing, and the fragments that are still to be counted."""
        known = {fragment.mark for fragment in fragments}
        if "" in known or len(known) != len(fragments):
            raise DataError("a checkpoint needs rows that can be read again, such as files")
        total: Part | None = None
        done: set[str] = set()
        found = {path: part for path in sorted(self._files()) if (part := self._whole(path)) is not None}
        for path, part in sorted(found.items(), key=lambda item: -len(item[1].marks)):
            if not done.isdisjoint(part.marks):  # the process ended before it removed what is in a sum
                path.unlink()
                continue
            if not known.issuperset(part.marks):
                raise DataError(
                    f"the source changed since it was counted in part: some of its rows in the checkpoint "
                    f"{self.folder} are gone or are not what they were; {_OTHER_FOLDER}"
                )
            total = part if total is None else total.merge(part)
            done.update(part.marks)
        self.taken, self.taken_rows = len(done), 0 if total is None else total.tally.rows
        return total, [fragment for fragment in fragments if fragment.mark not in done]

    def store(self, part: Part) -> None:
        """Keep a part that is done."""
        self._write(part)
        if len(files := self._files()) > self._MOST_FILES:
            made = self._write(reduce(Part.merge, (_load_part(path)[0] for path in files)))
            for path in files:
                if path != made:
                    path.unlink()

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.counts"))

    def _write(self, part: Part) -> Path:
        path = self.folder / f"part-{sha256(' '.join(part.marks).encode()).hexdigest()[:24]}.counts"
        header = {
            "kind": "part",
            "marks": list(part.marks),
            "identity": self._identity,
            "seen": [asdict(one) for one in part.seen],
            "written": self._written_of(part),
        }
        write_container(path, header | _described(part.tally), _arrays(part.tally))
        return path

    def _written_of(self, part: Part) -> list[int | None]:
        """Return when the files of the fragments in a part were written."""
        return [self._written.get(mark) for mark in part.marks]

    def _whole(self, path: Path) -> Part | None:
        """Return a part that can be used; one that is damaged, or whose files were written again, is removed."""
        try:
            part, header = _load_part(path)
        except DamagedError as error:
            problem = str(error)
        else:
            if header.get("identity") != self._identity:
                raise DataError(f"{path} belongs to another count; {_OTHER_FOLDER}")
            gone = not self._written.keys() >= set(part.marks)
            if gone or header.get("written") == self._written_of(part):
                return part
            problem = f"{path} has counts of files that were written again"
        self.notes.append(f"{problem}: its fragments are counted again")
        path.unlink()
        return None

    def _agree(self, identity: dict[str, Any]) -> str:
        """Write what is counted, or check that it is what the folder says; return its fingerprint."""
        path = self.folder / "identity.json"
        text = json.dumps({"format": "kgmi-checkpoint", "version": VERSION, **identity}, sort_keys=True, indent=1)
        if not path.exists():
            with atomic_write(path, "internal") as stream:
                stream.write(text.encode())
        elif path.stat().st_size > _MOST_HEADER or (stored := path.read_bytes()) != text.encode():
            raise DataError(
                f"the checkpoint {self.folder} is of another count: {_difference(stored, text)}; {_OTHER_FOLDER}"
            )
        return sha256(text.encode()).hexdigest()

    def _check_ours(self) -> None:
        """Refuse a folder that holds other things: parts would be mixed up with them."""
        if self.folder.exists() and not self.folder.is_dir():
            raise DataError(f"{self.folder} is a file; a checkpoint needs a folder")
        names = {path.name for path in self.folder.iterdir()} if self.folder.exists() else set()
        other = sorted(name for name in names - {"lock"} if not name.startswith("."))
        if "identity.json" not in names and other:
            raise DataError(
                f"{self.folder} holds other files ({other[0]} …) and is no checkpoint: choose another folder"
            )


def _identity_of(stream: Stream, width: int, sets: Sets | None) -> dict[str, Any]:
    """Return what a count is in plain values; its fragments have marks of their own."""
    rules = {key: list(one) if isinstance(one, tuple) else one for key, one in asdict(stream.rules).items()}
    listed = None if sets is None else sha256(np.ascontiguousarray(sets, dtype="<i4").tobytes()).hexdigest()
    how = {"form": stream.source.form, "header": getattr(stream.source, "has_header", None), "where": stream.where}
    return {"columns": list(stream.names), "width": width, "sets": listed} | how | rules


def _difference(stored: bytes, text: str) -> str:
    """Return the first thing in which two counts differ."""
    try:
        here, there = json.loads(text), dict(json.loads(stored))
        key = next(key for key in sorted({*here, *there}) if here.get(key) != there.get(key))
    except (ValueError, TypeError, StopIteration):
        return "its identity.json is damaged"
    return f"{key} was {str(there.get(key))[:80]}, now it is {str(here.get(key))[:80]}"


def _load_part(path: Path) -> tuple[Part, dict[str, Any]]:
    """Return a part, and the header of its file."""
    header, arrays = read_container(path)
    try:
        seen = tuple(
            Seen(
                _texts(path, one["texts"], "texts"),
                None if one["declared"] is None else tuple(tuple(map(str, some)) for some in one["declared"]),
                bool(one["has_gaps"]),
                bool(one["is_truth"]),
                None if one["minus_one"] is None else int(one["minus_one"]),
            )
            for one in header["seen"]
        )
        marks = tuple(map(str, header["marks"]))
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"{path} is no part of a checkpoint ({error!r})") from None
    tally = _tally(path, header, arrays, [len(one.texts) for one in seen])
    if tally.has_gaps != any(one.has_gaps for one in seen):
        raise DamagedError(f"{path} has missing values in its counts or in its alphabets only")
    return Part(seen, tally, marks), header
