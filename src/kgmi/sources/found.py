"""Files of rows: which ones are meant, whether they stay what they were, and what reading them has in common."""

from __future__ import annotations

import os
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from glob import glob, has_magic
from hashlib import sha256
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, TypeAlias
from urllib.parse import unquote

import numpy as np

from kgmi.alphabets import PREPARE_ADVICE
from kgmi.cells import Cells, cells_of_arrow
from kgmi.errors import DataError, KgmiError, TooLargeError, first_line
from kgmi.memory import thread_failures
from kgmi.outputs import is_ours, note_read
from kgmi.sources.base import Block, Fragment, Source
from kgmi.table import Batch

__all__ = [
    "DELIMITERS",
    "LOOSE_TEXT",
    "PROBE",
    "SMALL_FILES",
    "STARTS",
    "Files",
    "Held",
    "Piece",
    "check_file",
    "check_start",
    "ending_of",
    "find_files",
    "hashed",
    "held_files",
    "kind_of",
    "read_errors",
    "refuse",
]

DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""What separates the columns of a text file, by its ending."""
_NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
LOOSE_TEXT = (".txt", ".dat", ".tab", ".psv", ".data", ".text")
"""Text files whose ending does not say what separates the columns."""
_ARROW = (".parquet", ".pq", ".feather", ".arrow", ".ipc")
_READ = ".csv, .tsv, .csv.gz, .tsv.gz, .parquet, .feather, .arrow or .npy"
_SAVE_SHEET = "save the sheet as CSV (UTF-8) in the program that made it, and give that file"
STARTS = {  # first bytes of files that are often given a wrong name
    b"PAR1": "a Parquet file: name it .parquet",
    b"ARROW1": "an Arrow file: name it .arrow",
    b"FEA1": "a Feather file of the old version 1: write it again as version 2, or as Parquet",
    b"\x93NUMPY": "an array of NumPy: name it .npy",
    b"\x1f\x8b": "compressed with gzip: name it .csv.gz or .tsv.gz",
    b"PK\x03\x04": f"a spreadsheet or a zip archive: {_SAVE_SHEET}",
    b"\xd0\xcf\x11\xe0": f"an old spreadsheet: {_SAVE_SHEET}",
    b"%PDF": "a PDF document: give the table itself, as CSV",
}
Piece: TypeAlias = tuple[tuple[int, ...], int | None, int]
"""A piece of a file: its row groups or first and last row, its number of rows, and its first row."""
SMALL_FILES = 1 << 25  # bytes of files that are read at once
PROBE, _PROBES = 1 << 16, 64  # blocks of a file that its mark looks at


def find_files(source: Any) -> tuple[str, tuple[Path, ...], tuple[dict[str, Any], ...], str]:
    """Return the kind of the files behind a path, a folder, a pattern or a list of these; the files; for each of
    them the columns that the names of its folders give; and what messages call them all.
    """
    given = [source] if isinstance(source, str | PathLike) else list(source)
    listed: list[tuple[Path, Path]] = []
    for one in given:
        try:
            listed += _expanded(fspath(one))
        except OSError as error:
            raise DataError(f"{one} cannot be read ({error.strerror}); give another path") from None
    files: dict[object, Path] = {}
    kinds: dict[str, Path] = {}
    for path, _ in listed:
        check_file(path)
        status = path.stat()
        identity = (status.st_dev, status.st_ino) if status.st_ino else path.resolve()
        if identity in files:
            raise DataError(
                f"{path} and {files[identity]} are the same file, so that its rows would count twice; leave one out"
            )
        files[identity] = path
        kinds.setdefault(kind_of(path) or refuse(path), path)
    if len(kinds) > 1:
        shown = " and ".join(f"{kind} ({path})" for kind, path in kinds.items())
        raise DataError(f"the files are of several kinds: {shown}; give a pattern for one kind: 'data/*.parquet'")
    kind, paths = next(iter(kinds)), tuple(path for path, _ in listed)
    where = ", ".join(str(one) for one in given[:3]) + (" …" if len(given) > 3 else "")
    description = str(paths[0]) if len(paths) == 1 else f"{len(paths):,} {kind} files ({where})"
    return kind, paths, _folder_columns(listed), description


def _folder_columns(listed: Sequence[tuple[Path, Path]]) -> tuple[dict[str, Any], ...]:
    """Return the columns of each file that its folders (``year=2020``) name; whole numbers where all are."""
    found: list[dict[str, Any]] = []
    for path, base in listed:
        parts = [part.partition("=") for part in path.relative_to(base).parts[:-1] if "=" in part]
        found.append({name: None if text == _NULL_FOLDER else unquote(text) for name, _, text in parts})
    for name in dict.fromkeys(name for columns in found for name in columns):
        texts = [columns[name] for columns in found if columns.get(name) is not None]
        if all(text.lstrip("-").isdecimal() for text in texts):
            for columns in found:
                if columns.get(name) is not None:
                    columns[name] = int(columns[name])
    return tuple(found)


def _expanded(text: str) -> list[tuple[Path, Path]]:
    """Return the files of one path, folder or pattern, each with the folder below which names of folders count."""
    path = Path(text)
    if not text or "\0" in text or "://" in text:
        raise DataError(
            f"{text!r} is no path of a file or folder; give a pyarrow.dataset.Dataset of what lies elsewhere"
        )
    if path.is_dir():
        hidden = (".", "_")  # also notes of other programs, such as _SUCCESS and _metadata
        every = (file for file in sorted(path.rglob("*")) if file.is_file())
        visible = [file for file in every if not any(p.startswith(hidden) for p in file.relative_to(path).parts)]
        found = [file for file in visible if kind_of(file) and not _is_result(file)]
        if not found:
            raise DataError(
                f"there are no tables (.parquet, .arrow, .feather, .csv, .tsv, .npy) in the folder {text}"
            )
        return [(file, path) for file in found]
    if has_magic(text) and not path.exists():
        fixed = [part for part in path.parts if not has_magic(part)]
        first = next(place for place, part in enumerate(path.parts) if has_magic(part))
        files = [Path(file) for file in sorted(glob(text, recursive=True)) if Path(file).is_file()]
        if not files:
            raise DataError(f"no file matches {text}")
        return [(file, Path(*fixed[:first])) for file in files]
    return [(path, path.parent)]


def _is_result(path: Path) -> bool:
    """Return whether this is the list of edges of a result, which may lie beside the data."""
    return path.name == "edges.csv" and is_ours(path, "edges")


def ending_of(path: Path) -> str:
    """Return the ending that says how a file is read; ``.gz`` is skipped behind that of a text file."""
    ending = path.suffix.lower()
    inner = Path(path.stem).suffix.lower()
    return inner if ending == ".gz" and (inner in DELIMITERS or inner in LOOSE_TEXT) else ending


def kind_of(path: Path) -> str | None:
    """Return the kind of a file by its ending; None for those that are not read."""
    ending = ending_of(path)
    if ending in _ARROW:
        return "Parquet" if ending in (".parquet", ".pq") else "Arrow"
    return "text" if ending in DELIMITERS else "NumPy" if ending == ".npy" else None


def check_file(path: Path) -> None:
    """Refuse what is no file, and an empty one; note that it is read, so that no output replaces it."""
    if str(path) in ("-", "/dev/stdin") or (path.exists() and not path.is_file()):
        raise DataError(f"{path}: standard input, pipes and devices are not read; give a file")
    if not path.is_file():
        raise DataError(f"there is no file{'' if path.suffix else ' or folder'} {path}")
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty")
    note_read(path)


def refuse(path: Path) -> str:
    """Refuse a file whose ending says that it is not read."""
    ending = ending_of(path)
    if ending in (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers"):
        raise DataError(f"{path} is a spreadsheet, which is not read; {_SAVE_SHEET}")
    hint = f"name it .csv or .tsv, {PREPARE_ADVICE}" if ending in LOOSE_TEXT else "write the table as one of these"
    raise DataError(f"{path} is not a {_READ} file; {hint}")


def check_start(path: Path, start: bytes) -> None:
    """Refuse a text file that starts like a file of another kind."""
    for mark, what in STARTS.items():
        if start.startswith(mark) and not (mark == b"\x1f\x8b" and path.suffix.lower() == ".gz"):
            raise DataError(f"{path} is not text but {what}")
    if path.suffix.lower() == ".gz" and not start.startswith(b"\x1f\x8b"):
        raise DataError(f"{path} is not compressed with gzip; take .gz off its name")


def hashed(*parts: Any) -> str:
    """Return a mark of plain values."""
    return sha256(repr(parts).encode()).hexdigest()


@dataclass(frozen=True)
class Held:
    """A file as it was when the source was opened.

    Attributes
    ----------
    path
        Where it is; empty where no file of this machine is behind the rows.
    size, written
        Its size and time, by which a change is seen.
    mark
        Fingerprint of what it holds.
    content
        All of it, where it is small: it is read once.
    """

    path: Path
    size: int
    written: int
    mark: str
    content: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(cls, path: Path, *, keep: bool) -> Held:
        """Read a file that is kept; of others look at all of 4 MB, or at the end and 64 blocks of 64 KB."""
        with read_errors(path), path.open("rb") as stream:
            status = os.fstat(stream.fileno())
            size, seen = status.st_size, sha256()
            content = stream.read() if keep else None
            if content is not None:
                seen.update(content)
            elif size <= PROBE * _PROBES:
                seen.update(stream.read())
            else:
                for start in (*range(0, size, size // _PROBES), size - PROBE):
                    stream.seek(start)
                    seen.update(stream.read(PROBE))
        return cls(path, size, status.st_mtime_ns, f"{size}-{seen.hexdigest()}", content)

    @property
    def is_file(self) -> bool:
        """Whether a file of this machine is behind the rows."""
        return bool(self.path.name)

    def open(self) -> IO[bytes]:
        """Open the file, or what was read of it."""
        return self.path.open("rb") if self.content is None else BytesIO(self.content)

    def check_unchanged(self) -> None:
        """Refuse a file that changed since."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            raise _gone(self.path) from None
        if (status.st_size, status.st_mtime_ns) != (self.size, self.written):
            raise DataError(
                f"{self.path} changed while it was read, so that its rows cannot be trusted; wait until it is "
                "complete and start again"
            )

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"content": None, "path": self.path.absolute() if self.is_file else self.path}


def held_files(paths: Sequence[Path]) -> tuple[Held, ...]:
    """Look at files; all of them are kept in memory if they are small."""
    keep = sum(path.stat().st_size for path in paths) <= SMALL_FILES
    return tuple(Held.of(path, keep=keep) for path in paths)


def _gone(path: object) -> DataError:
    return DataError(f"{path} is gone: it was there when the files were listed; start again")


@contextmanager
def read_errors(what: object, held: Held | None = None) -> Iterator[None]:
    """Turn errors of readers into errors that name the file; one that changed is refused for that."""
    import pyarrow as pa

    try:
        with thread_failures():
            yield
    except MemoryError:
        raise TooLargeError(
            f"{what} holds a piece that does not fit into memory; write it in smaller pieces"
        ) from None
    except FileNotFoundError:
        raise _gone(what) from None
    except (pa.ArrowException, OSError, EOFError, ValueError, KeyError, NotImplementedError, zlib.error) as error:
        if held is not None and held.is_file:
            held.check_unchanged()
        if isinstance(error, KgmiError):
            raise
        raise DataError(
            f"{what} cannot be read, it may be damaged or cut off: {first_line(error)}; write it again"
        ) from None


@dataclass(frozen=True, eq=False)
class FileRows(Batch):
    """Rows of a file as an Arrow record batch.

    Attributes
    ----------
    constants
        Columns that are the same in all rows, by the names of folders.
    declaring
        Columns whose type lists their categories.
    """

    constants: Mapping[str, Any]
    declaring: Collection[str] = ()

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def part(self, first: int, last: int) -> FileRows:
        """Return some of the rows."""
        return replace(self, rows=self.rows.slice(first, last - first))

    def cells(self, name: str) -> Cells:
        """Return a column to be coded."""
        if name in self.constants:
            return Cells(np.zeros(len(self), dtype=np.int8), [self.constants[name]])
        return cells_of_arrow(self.rows.column(name), name, declares=name in self.declaring)

    def arrow(self, name: str) -> Any:
        """Return a column as an Arrow array."""
        import pyarrow as pa

        known = name in self.constants
        return pa.array([self.constants[name]] * len(self)) if known else self.rows.column(name)


@dataclass(eq=False)
class Files(Source):
    """What sources in files have in common.

    Attributes
    ----------
    held
        The files.
    constants
        ``constants[file]``: columns that are the same in all its rows, by the names of its folders.
    has_header
        Whether the first line of text files has the names of their columns; None for files of other kinds.
    """

    held: tuple[Held, ...]
    constants: tuple[dict[str, Any], ...]
    has_header: bool | None = field(default=None, kw_only=True)

    @property
    def marks(self) -> dict[str, str]:
        """Fingerprints of the files, and their paths."""
        used = sorted({fragment.file for fragment in self.fragments})
        return {self.held[number].mark: str(self.held[number].path) for number in reversed(used)}

    def label(self, file: int) -> str:
        """Return what messages call a file."""
        return str(self.held[file].path)

    def container(self, fragment: Fragment) -> str:
        """Return what messages put before the number of a row."""
        return f"{self.label(fragment.file)}: "

    def cut_files(self, pieces: Sequence[Sequence[Piece]], unit: str = "") -> None:
        """Set the fragments from ``pieces[file]``."""
        made, before = [], Counter[str]()
        text = "" if self.filter is None else self.filter.text
        for file, (held, some) in enumerate(zip(self.held, pieces, strict=True)):
            read = sorted((name, one) for name, one in self.constants[file].items() if name in self.needed)
            seen = held.mark, before[held.mark], read, self.columns, text, self.has_header
            before[held.mark] += 1  # a file of which there is a copy counts twice
            for piece, n_rows, first in some:
                label = self.label(file) + (f", {unit} {piece[0]:,} to {piece[-1]:,}" if len(some) > 1 else "")
                mark = hashed(*seen, piece) if held.mark else ""
                made.append(Fragment(label, 0, mark, n_rows, file, piece, first))
        self.cut(made)

    def file_blocks(self, batch: Any, file: int, declaring: Collection[str] = ()) -> Iterator[Block]:
        """Yield the rows of an Arrow record batch of a file."""
        return self.blocks(FileRows(batch, (), self.form, self.constants[file], declaring))

    def can_pass(self, file: int) -> bool:
        """Return whether rows of a file may pass, as far as the names of its folders say."""
        import pyarrow as pa

        given = {name: pa.array([value]) for name, value in self.constants[file].items()}
        return self.filter is None or bool(len(self.filter.rows(given, 1)))
