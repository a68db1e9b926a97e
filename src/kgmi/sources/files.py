"""Files of rows: which ones are meant, whether they stay what they were, and what all kinds have in common."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from glob import glob, has_magic
from hashlib import sha256
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

import numpy as np

from kgmi.alphabets import PREPARE_ADVICE
from kgmi.cells import Cells, Place, cells_of_arrow
from kgmi.errors import DataError, KgmiError, TooLargeError, first_line
from kgmi.memory import thread_failures
from kgmi.outputs import is_ours, note_read
from kgmi.sources.base import Block, Fragment, Stream
from kgmi.table import Batch

__all__ = [
    "DELIMITERS",
    "LOOSE_TEXT",
    "SMALL_FILES",
    "STREAM_END",
    "FileRows",
    "Files",
    "Held",
    "Piece",
    "check_kind",
    "ending_of",
    "find_files",
    "held_files",
    "kind_of",
    "read_errors",
]

DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""What separates the columns of a text file, by its ending."""
LOOSE_TEXT = (".txt", ".dat", ".tab", ".psv", ".data", ".text")
"""Text files whose ending does not say what separates the columns; :func:`kgmi.prepare` reads them."""
_KINDS = dict.fromkeys((".parquet", ".pq"), "Parquet") | dict.fromkeys((".feather", ".arrow", ".ipc"), "Arrow")
_KINDS |= dict.fromkeys(DELIMITERS, "text") | {".npy": "NumPy"}
_ENDINGS = ".csv, .tsv, .csv.gz, .tsv.gz, .parquet, .feather, .arrow, .ipc or .npy"
_SHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
_NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
SMALL_FILES = 1 << 25  # bytes of files that are read at once
_PROBE, _PROBES = 1 << 16, 64  # bytes of a block of a large file, and how many of them its mark looks at
_WHOLLY_MARKED = _PROBE * _PROBES
_STREAM, STREAM_END = b"\xff" * 4, b"\xff" * 4 + bytes(4)  # how saved Arrow streams begin and end
_STARTS = {  # first bytes of files, which are often given a wrong name
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    _STREAM: "Arrow",
    b"\x93NUMPY": "NumPy",
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "a spreadsheet or a zip archive",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet",
    b"%PDF": "PDF",
    b"FEA1": "Feather of the old version 1",
}

Piece: TypeAlias = tuple[tuple[int, ...], int | None, int]
"""A piece of a file: its row groups or first and last row, its number of rows, and its first row."""


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
        kinds.setdefault(kind_of(path), path)
        status = path.stat()
        identity = (status.st_dev, status.st_ino) if status.st_ino else path.resolve()
        if identity in files:
            raise DataError(
                f"{path} and {files[identity]} are the same file, whose rows would count twice; drop one"
            )
        files[identity] = path
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
    for name in {name for columns in found for name in columns}:
        filled = [columns for columns in found if columns.get(name) is not None]
        if all(columns[name].lstrip("-").isdecimal() for columns in filled):
            for columns in filled:
                columns[name] = int(columns[name])
    return tuple(found)


def _expanded(text: str) -> list[tuple[Path, Path]]:
    """Return the files of one path, folder or pattern, each with the folder below which names of folders count."""
    path = Path(text)
    if not text or "\0" in text or "://" in text:
        raise DataError(
            f"{text!r} is not the path of a file or folder; for files elsewhere give a pyarrow.dataset.Dataset"
        )
    if path.is_dir():
        inside = [(file, file.relative_to(path).parts) for file in sorted(path.rglob("*")) if file.is_file()]
        visible = [file for file, parts in inside if not any(part.startswith((".", "_")) for part in parts)]
        found = [file for file in visible if ending_of(file) in _KINDS and not _is_result(file)]
        if not found:
            raise DataError(f"there are no tables ({_ENDINGS}) in the folder {text}")
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
    ending, inner = path.suffix.lower(), Path(path.stem).suffix.lower()
    return inner if ending == ".gz" and (inner in DELIMITERS or inner in LOOSE_TEXT) else ending


def kind_of(path: Path, *, loose: bool = False) -> str:
    """Return the kind of a file by its ending, and note that it is read, so that no output replaces it.

    What is not a file, is empty or is not read is refused; with ``loose``, text files of any name are read.
    """
    if str(path) in ("-", "/dev/stdin") or (path.exists() and not path.is_file()):
        raise DataError(f"{path}: standard input, folders, pipes and devices are not read; give a file")
    if not path.is_file():
        raise DataError(f"there is no file{'' if path.suffix else ' or folder'} {path}")
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty")
    ending = ending_of(path)
    if ending not in _KINDS and not (loose and ending in LOOSE_TEXT):
        advice = f"save the table as one of these, {PREPARE_ADVICE}"
        if ending in _SHEETS:
            advice = "save the spreadsheet as CSV (UTF-8)"
        raise DataError(f"{path} is not a {_ENDINGS} file; {advice}")
    note_read(path)
    return _KINDS.get(ending, "text")


def check_kind(held: Held, kind: str) -> None:
    """Refuse a file that does not begin as its ending says."""
    with held.open() as stream:
        start = stream.read(8)
    found = next((name for mark, name in _STARTS.items() if start.startswith(mark)), "text")
    expected = "gzip" if kind == "text" and Path(held.path).suffix.lower() == ".gz" else kind
    if found != expected:
        raise DataError(
            f"{held.path} is {found}, not {expected}: give it the ending that says so, or save it as CSV"
        )


@dataclass(frozen=True)
class Held:
    """A file as it was when the source was opened.

    Attributes
    ----------
    path
        Where it is.
    size, written
        Its size and time, by which a change is seen.
    mark
        Fingerprint of what it holds: of all of it up to 4 MB, of 64 blocks of 64 KB above.
    content
        All of it, where it is small: it is read once.
    system
        The file system of PyArrow that has it; None for a file of this machine.
    """

    path: str
    size: int
    written: int
    mark: str
    content: bytes | None = field(default=None, repr=False)
    system: Any = None

    @classmethod
    def of(cls, path: str, *, keep: bool, system: Any = None) -> Held:
        """Look at a file; read all of it where it is kept."""
        with read_errors(path), _opened(path, system) as stream:
            size, seen = stream.seek(0, 2), sha256()
            stream.seek(0)
            content = stream.read() if keep else None
            if content is not None or size <= _WHOLLY_MARKED:
                seen.update(stream.read() if content is None else content)
            else:
                step = size if system is not None else size // _PROBES  # elsewhere every block takes a while
                for start in (*range(0, size, step), size - _PROBE):
                    stream.seek(start)
                    seen.update(stream.read(_PROBE))
            return cls(path, size, _written(path, system)[1], f"{size}-{seen.hexdigest()}", content, system)

    def open(self) -> Any:
        """Open the file, or what was read of it."""
        return _opened(self.path, self.system) if self.content is None else BytesIO(self.content)

    def check_unchanged(self) -> None:
        """Refuse a file that changed since."""
        try:
            now = _written(self.path, self.system)
        except FileNotFoundError:
            raise _gone(self.path) from None
        if now != (self.size, self.written):
            raise DataError(f"{self.path} changed while it was read; wait until it is complete and start again")

    def __getstate__(self) -> dict[str, Any]:
        path = self.path if self.system is not None else str(Path(self.path).absolute())
        return self.__dict__ | {"content": None, "path": path}


def held_files(paths: Sequence[Path], kind: str) -> tuple[Held, ...]:
    """Look at files of a kind; all of them are kept in memory if they are small."""
    keep = sum(path.stat().st_size for path in paths) <= SMALL_FILES
    held = tuple(Held.of(str(path), keep=keep) for path in paths)
    for one in held:
        check_kind(one, kind)
    return held


def _opened(path: str, system: Any) -> Any:
    return Path(path).open("rb") if system is None else system.open_input_file(path)


def _written(path: str, system: Any) -> tuple[int, int]:
    """Return the size and the time of a file."""
    if system is None:
        status = Path(path).stat()
        return status.st_size, status.st_mtime_ns
    info = system.get_file_info(path)
    if not info.is_file:
        raise FileNotFoundError(path)
    return info.size, info.mtime_ns or 0


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
            f"{what} does not fit into memory; free some, or write smaller files or row groups"
        ) from None
    except FileNotFoundError:
        raise _gone(what) from None
    except (pa.ArrowException, OSError, EOFError, ValueError, KeyError, NotImplementedError, zlib.error) as error:
        if held is not None:
            held.check_unchanged()
        if isinstance(error, KgmiError):
            raise
        raise DataError(f"{what} cannot be read; it may be damaged or cut off: {first_line(error)}") from None


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
class Files(Stream):
    """What streams from files of any kind have in common.

    Attributes
    ----------
    held
        The files.
    constants
        ``constants[file]``: columns that are the same in all its rows, by the names of its folders.
    """

    held: tuple[Held, ...]
    constants: tuple[dict[str, Any], ...]

    @abstractmethod
    def batches_of(self, fragment: Fragment) -> Iterator[Batch]:
        """Yield the rows of a fragment as they come from its file."""

    def read(self, fragment: Fragment) -> Iterator[Block]:
        """Yield the rows of a fragment, in blocks that fit into memory."""
        held, n_rows = self.held[fragment.file], 0
        with read_errors(fragment.label, held):
            for batch in self.batches_of(fragment):
                n_rows += len(batch)
                yield from self.blocks(batch)
            if fragment.n_rows not in (None, n_rows):
                raise EOFError(f"{n_rows:,} of {fragment.n_rows:,} rows are there")
        held.check_unchanged()

    @property
    def marks(self) -> tuple[str, ...]:
        """Fingerprints of the files of which rows are read."""
        return tuple(sorted({self.held[fragment.file].mark for fragment in self.fragments}))

    def fragments_of(self, pieces: Sequence[Sequence[Piece]], unit: str = "") -> tuple[Fragment, ...]:
        """Return the fragments, from ``pieces[file]``."""
        made, before = [], Counter[str]()
        for file, (held, some) in enumerate(zip(self.held, pieces, strict=True)):
            read = sorted((name, one) for name, one in self.constants[file].items() if name in self.needed)
            seen: tuple[Any, ...] = held.mark, before[held.mark], read, self.columns, self.where, self.has_header
            if held.size > _WHOLLY_MARKED:  # its mark does not see every change
                seen += (held.written,)
            before[held.mark] += 1  # a file of which there is a copy counts twice
            for piece, n_rows, first in some:
                label = held.path + (f", {unit} {piece[0]:,} to {piece[-1]:,}" if len(some) > 1 else "")
                mark = sha256(repr((*seen, piece)).encode()).hexdigest()
                made.append(Fragment(label, 0, mark, n_rows, file, piece, first))
        return self.numbered(made)

    def place(self, fragment: Fragment) -> Place:
        """Return a function that says where a cell is; rows are counted in the file, not in the fragment."""
        return super().place(replace(fragment, label=self.held[fragment.file].path))

    def can_pass(self, file: int) -> bool:
        """Return whether rows of a file may pass the filter, as far as the names of its folders say."""
        import pyarrow as pa

        given = {name: pa.array([value]) for name, value in self.constants[file].items()}
        return self.filter is None or bool(len(self.filter.rows(given, 1)))
