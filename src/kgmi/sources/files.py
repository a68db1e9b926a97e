"""Files of rows: which ones are meant, whether they stay what they were, and what all kinds have in common."""

from __future__ import annotations

import os
import re
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from glob import glob, has_magic
from hashlib import sha256
from io import BytesIO
from itertools import takewhile
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar, Self
from urllib.parse import unquote

from kgmi.alphabets import PREPARE_ADVICE
from kgmi.cells import Cells, Form, Place, check_names
from kgmi.errors import DataError, KgmiError, TooLargeError, first_line
from kgmi.memory import thread_failures
from kgmi.outputs import is_ours, note_read
from kgmi.sources.base import Choice, Fragment, Stream
from kgmi.table import Batch
from kgmi.where import Filter

DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""What separates the columns of a text file, by its ending."""
_LOOSE_TEXT = (".txt", ".dat", ".tab", ".psv", ".data", ".text")  # with any delimiter; kgmi.prepare reads them
_KINDS = dict.fromkeys((".parquet", ".pq"), "Parquet") | dict.fromkeys((".feather", ".arrow", ".ipc"), "Arrow")
_KINDS |= dict.fromkeys(DELIMITERS, "text") | {".npy": "NumPy"}
_ENDINGS = ".csv, .tsv, .csv.gz, .tsv.gz, .parquet, .feather, .arrow, .ipc or .npy"
_NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile("0|-?[1-9][0-9]*")  # 01 is a text
_PROBE, _PROBES = 1 << 16, 64  # bytes of a block of a large file, and how many of them its mark looks at
_WHOLLY_MARKED = _PROBE * _PROBES

_STARTS = {  # first bytes of files, which are often given a wrong name
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"\xff" * 4: "Arrow",
    b"\x93NUMPY": "NumPy",
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "a spreadsheet or a zip archive",
}


def find_files(source: Any) -> tuple[str, tuple[Path, ...], tuple[dict[str, Any], ...], str]:
    """Return the files behind a path, a folder, a pattern or a list of these.

    Returned are kind, paths, the columns that folder names give to each file, and a description.
    """
    given = [source] if isinstance(source, str | PathLike) else list(source)
    listed: list[tuple[Path, Path]] = []
    kinds: dict[str, Path] = {}
    for one in given:
        try:
            some = _expanded(fspath(one))
            kinds = {kind_of(path): path for path, _ in reversed(some)} | kinds
        except OSError as error:
            raise DataError(f"{one} cannot be read ({error.strerror}); give another path") from None
        listed += some
    files: dict[object, Path] = {}
    for path, _ in listed:
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
    kind, paths = next(iter(kinds)), tuple(files.values())
    where = ", ".join(str(one) for one in given[:3]) + (" …" if len(given) > 3 else "")
    description = str(paths[0]) if len(paths) == 1 else f"{len(paths):,} {kind} files ({where})"
    return kind, paths, _folder_columns(listed), description


def _expanded(text: str) -> list[tuple[Path, Path]]:
    """Return the files of one path, folder or pattern, each with the folder below which names of folders count."""
    if not text or "\0" in text or "://" in text:
        raise DataError(
            f"{text!r} is not the path of a file or folder; for files elsewhere give a pyarrow.dataset.Dataset"
        )
    path = Path(text)
    if path.is_dir():
        base, files = path, _tables_in(path)
    elif has_magic(text) and not path.exists():
        base = Path(*takewhile(lambda part: not has_magic(part), path.parts))
        files = [file for file in map(Path, sorted(glob(text, recursive=True))) if not file.is_dir()]
    else:
        base, files = path.parent, [path]
    if not files:
        problem = f"there are no tables ({_ENDINGS}) in" if path.is_dir() else "no file matches"
        raise DataError(f"{problem} {text}")
    return [(file, base) for file in files]


def _tables_in(folder: Path) -> list[Path]:
    """Return the tables of a folder and of those in it, without hidden files and ``edges.csv`` of a result."""

    def refuse(error: OSError) -> None:
        raise DataError(f"the folder {error.filename} cannot be read ({error.strerror}); check its permissions")

    found = list[Path]()
    for place, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]  # the others are not walked
        files = (Path(place, name) for name in names if not name.startswith((".", "_")))
        found += (one for one in files if ending_of(one) in _KINDS or not one.exists())  # a link that leads nowhere
    return sorted(one for one in found if not (one.name == "edges.csv" and is_ours(one, "edges")))


def _folder_columns(listed: Sequence[tuple[Path, Path]]) -> tuple[dict[str, Any], ...]:
    """Return the columns of each file that its folders (``year=2020``) name; whole numbers where all are."""
    found: list[dict[str, Any]] = []
    for path, base in listed:
        parts = [part.partition("=") for part in path.relative_to(base).parts[:-1] if "=" in part]
        found.append({name: None if text == _NULL_FOLDER else unquote(text) for name, _, text in parts})
        if found[-1].keys() != found[0].keys():
            raise DataError(
                f"{path} and {listed[0][0]} have different columns in the names of their folders; read them one by "
                "one, or move them so that all have the same"
            )
    for name in {name for columns in found for name in columns}:
        filled = [columns for columns in found if columns.get(name) is not None]
        if all(_WHOLE.fullmatch(columns[name]) for columns in filled):
            for columns in filled:
                columns[name] = int(columns[name])
    return tuple(found)


def ending_of(path: Path) -> str:
    """Return the ending by which a file is read; ``.gz`` is skipped behind that of a text file."""
    ending, inner = path.suffix.lower(), Path(path.stem).suffix.lower()
    return inner if ending == ".gz" and (inner in DELIMITERS or inner in _LOOSE_TEXT) else ending


def kind_of(path: Path, *, loose: bool = False) -> str:
    """Return the kind of a file by its ending, and note that it is read, so that no output replaces it.

    What is not a file, is empty or has another ending is refused; with ``loose``, text files of any name are read.
    """
    if not path.exists():
        raise DataError(f"{path} leads nowhere" if path.is_symlink() else f"there is no file or folder {path}")
    if not path.is_file():
        raise DataError(f"{path} is not a file (folders, pipes and devices are not read here); give a file")
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty")
    if (ending := ending_of(path)) == ".counts":
        raise DataError(
            f"{path} holds counts, not rows; kgmi merge adds counts up, and kgmi learn learns from them"
        )
    if ending not in _KINDS and not (loose and ending in _LOOSE_TEXT):
        advice = f", {PREPARE_ADVICE}" if ending in _LOOSE_TEXT else ""
        raise DataError(f"{path} is not a {_ENDINGS} file; save the table or spreadsheet as CSV (UTF-8){advice}")
    note_read(path)
    return _KINDS.get(ending, "text")


@dataclass(eq=False)
class File(ABC):
    """A file of rows as it was when the source was opened."""

    path: str
    system: Any = None  # the file system of PyArrow that has it; None for a file of this machine
    constants: dict[str, Any] = field(default_factory=dict)  # columns that are the same in all rows
    content: bytes | None = field(default=None, repr=False)  # all of it, if it is small: it is read once
    size: int = 0
    written: int = 0  # time of its last change; 0 if there is only the content
    mark: str = ""  # fingerprint of what it holds: of all of it up to 4 MB, of 64 blocks of 64 KB above

    form: ClassVar[Form] = "typed"
    unit: ClassVar[str] = "rows"  # what its pieces are

    def look(self, *, keep: bool = False) -> Self:
        """Note what the file is now, and ``keep`` its content in memory."""
        seen, content = sha256(), None
        with read_errors(self.path), self.open() as stream:
            size = stream.seek(0, 2)
            if keep or size <= _WHOLLY_MARKED:
                stream.seek(0)
                seen.update(content := stream.read())
            else:
                step = size if self.system is not None else size // _PROBES  # elsewhere every block takes a while
                for start in (*range(0, size, step), size - _PROBE):
                    stream.seek(start)
                    seen.update(stream.read(_PROBE))
            self.size, self.written = size, self._status()[1]
        self.mark, self.content = f"{size}-{seen.hexdigest()}", content if keep else None
        return self

    def open(self) -> Any:
        """Open the file, or what was read of it."""
        if self.content is not None:
            return BytesIO(self.content)
        return Path(self.path).open("rb") if self.system is None else self.system.open_input_file(self.path)

    def check_kind(self, kind: str) -> None:
        """Refuse a file that does not begin as its ending promises."""
        with self.open() as stream:
            start = stream.read(8)
        found = next((name for mark, name in _STARTS.items() if start.startswith(mark)), "text")
        expected = "gzip" if kind == "text" and self.path.lower().endswith(".gz") else kind
        if found != expected:
            raise DataError(f"{self.path} is {found}, not {expected}; rename it, or save it as CSV")

    def check_unchanged(self) -> None:
        """Refuse a file that changed since it was opened."""
        with read_errors(self.path):
            now = self._status()
        if now != (self.size, self.written):
            raise DataError(f"{self.path} changed while it was read; wait until it is complete and start again")

    def _status(self) -> tuple[int, int]:
        """Return size and time of the file."""
        if self.system is None:
            status = Path(self.path).stat()
            return status.st_size, status.st_mtime_ns
        info = self.system.get_file_info(self.path)
        if not info.is_file:
            raise FileNotFoundError(self.path)
        return info.size, info.mtime_ns or 0

    def __getstate__(self) -> dict[str, Any]:
        path = self.path if self.system is not None else str(Path(self.path).absolute())
        fields = {name: value for name, value in self.__dict__.items() if name != "part"}  # which opens the file
        return fields | {"content": None, "path": path}

    @property
    @abstractmethod
    def schema(self) -> Any:
        """Names and Arrow types of its columns."""

    def pieces(self, most: int, where: Filter | None) -> Sequence[Fragment]:
        """Return pieces of up to ``most`` rows, if it can be cut, in which rows may pass the filter."""
        return [Fragment()]

    @abstractmethod
    def batches(self, fragment: Fragment, names: Sequence[str]) -> Iterator[Any]:
        """Yield some columns of a piece as Arrow record batches."""

    def whole(self) -> Batch:
        """Return all of its rows, as :func:`kgmi.prepare` reads them."""
        import pyarrow as pa

        names = self.schema.names
        with read_errors(self.path):
            batches = [batch for piece in self.pieces(self.size, None) for batch in self.batches(piece, names)]
        if not batches:
            raise DataError(f"{self.path} has no rows")
        table = pa.Table.from_batches(batches).unify_dictionaries()
        return Batch(table, tuple(names), self.form, declared(self.schema))

    def row_place(self, row: int) -> str:
        """Return where a row is."""
        return f"{self.path}: row {row}"


def declared(schema: Any) -> list[str]:
    """Return the columns whose type lists their categories; a list of polars is shared by all of its columns."""
    from pyarrow import types

    listing = [one for one in schema if types.is_dictionary(one.type)]
    return [one.name for one in listing if not any(key.startswith(b"_PL_CATEG") for key in one.metadata or {})]


@contextmanager
def read_errors(what: object, file: File | None = None) -> Iterator[None]:
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
        raise DataError(f"{what} is gone: it was there when the files were listed; start again") from None
    except PermissionError:
        raise DataError(f"{what} cannot be read (permission denied); check its permissions") from None
    except (pa.ArrowException, OSError, EOFError, ValueError, KeyError, NotImplementedError, zlib.error) as error:
        if file is not None:
            file.check_unchanged()
        if isinstance(error, KgmiError):
            if file is None or type(error) is not DataError or file.path in str(error):
                raise
            raise DataError(f"{file.path}: {error}") from None
        raise DataError(f"{what} cannot be read; it may be damaged or cut off: {first_line(error)}") from None


@dataclass(eq=False)
class Files(Stream):
    """Rows of files of one kind."""

    held: tuple[File, ...]

    @classmethod
    def opened(cls, held: tuple[File, ...], choice: Choice, description: str, schema: Any = None) -> Files:
        """Look at the columns of all files, and cut them into fragments.

        ``schema`` has the columns that all files have; by default those of the first file and its folder names.
        """
        import pyarrow as pa

        first, what = held[0], held[0].path if schema is None else description
        if schema is None:
            own = {one.name: one.type for one in first.schema}
            given = {name: pa.array([one]).type for name, one in first.constants.items() if name not in own}
            schema = pa.schema(own | given)
        if not schema.names:
            raise DataError(f"{description} has no columns")
        is_text = first.form == "text"
        columns, where = choice.select(schema, is_text=is_text)
        made = cls(first.form, columns, where, description, held, has_header=is_text and choice.header)
        known = schema.names if choice.columns is None else None
        for file in held:
            names = file.schema.names
            check_names(file.path, names, header=made.has_header)
            made.check_columns(file.path, names, what, known, tuple(file.constants))
            if twice := {*made.needed}.intersection(names, file.constants):
                raise DataError(
                    f"{file.path} has a column {min(twice)!r}, and so has the name of its folder; rename one"
                )
            file.constants = {name: one for name, one in file.constants.items() if name in made.needed}
        made.fragments = made.numbered(made._cut(choice.fragment_rows))
        return made

    def _cut(self, most: int) -> Iterator[Fragment]:
        """Yield the pieces of all files, of up to ``most`` rows, in which rows may pass the filter."""
        import pyarrow as pa

        before = Counter[str]()
        for number, file in enumerate(self.held):
            given = sorted(file.constants.items())
            seen: tuple[Any, ...] = file.mark, before[file.mark], given, self.columns, self.where, self.has_header
            if file.size > _WHOLLY_MARKED:  # its mark does not see every change
                seen += (file.written,)
            before[file.mark] += 1  # a file of which there is a copy counts twice
            constants = {name: pa.array([one]) for name, one in given}
            if self.filter is not None and not len(self.filter.rows(constants, 1)):
                continue
            with read_errors(file.path):
                pieces = file.pieces(most, self.filter)
            for piece in pieces:
                end = f", {file.unit} {piece.pieces[0]:,} to {piece.pieces[-1]:,}" if len(pieces) > 1 else ""
                mark = sha256(repr((*seen, piece.pieces)).encode()).hexdigest()
                yield replace(piece, label=file.path + end, mark=mark, file=number)

    def read(self, fragment: Fragment) -> Iterator[list[Cells]]:
        """Yield the rows of a fragment, in blocks that fit into memory."""
        import pyarrow as pa

        file, n_rows = self.held[fragment.file], 0
        with read_errors(fragment.label, file):
            names = [name for name in self.needed if name not in file.constants] or file.schema.names[:1]
            declaring = declared(file.schema)
            for batch in file.batches(fragment, names):
                batch.validate()
                n_rows += batch.num_rows
                for name, one in file.constants.items():
                    batch = batch.append_column(name, pa.repeat(one, batch.num_rows))
                yield from self.blocks(Batch(batch, tuple(batch.schema.names), self.form, declaring))
            if fragment.n_rows not in (None, n_rows):
                raise EOFError(f"{n_rows:,} of {fragment.n_rows:,} rows are there")
        file.check_unchanged()

    @property
    def marks(self) -> tuple[str, ...]:
        """Fingerprints of the files of which rows are read."""
        return tuple(sorted({self.held[fragment.file].mark for fragment in self.fragments}))

    def place(self, fragment: Fragment) -> Place:
        """Return a function that describes where a cell is; rows are counted in the file, not in the fragment."""
        if self.filter is not None:
            return super().place(fragment)
        file = self.held[fragment.file]
        return lambda row, name: f"{file.row_place(row)}, column '{name}'"
