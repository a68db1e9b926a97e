"""Files of rows: which ones are meant, whether they stay what they were, and what reading them has in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import glob, has_magic
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from kgmi.alphabets import PREPARE_ADVICE
from kgmi.errors import DataError, KgmiError, TooLargeError, first_line
from kgmi.memory import thread_failures
from kgmi.outputs import is_ours, note_read
from kgmi.sources.base import Form, Fragment
from kgmi.where import Filter

__all__ = [
    "DELIMITERS",
    "LOOSE_TEXT",
    "PROBE",
    "STARTS",
    "Files",
    "Held",
    "absolute",
    "check_file",
    "check_start",
    "ending_of",
    "find_files",
    "fragment_marks",
    "hashed",
    "kind_of",
    "read_errors",
    "refuse",
]

DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""What separates the columns of a text file, by its ending."""
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
PROBE, _PROBES = 1 << 16, 64  # blocks of a file that its mark looks at


def find_files(source: Any) -> tuple[str, tuple[Path, ...], Path, str]:
    """Return the kind of the files behind a path, a folder, a pattern or a list of these; the files; the folder from
    which names of folders are columns; and what messages call them.
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
    return kind, paths, listed[0][1], description


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


def hashed(*parts: Any) -> str:
    return sha256(repr(parts).encode()).hexdigest()


@dataclass(frozen=True)
class Held:
    """A file as it was when the source was opened."""

    path: Path
    size: int
    written: int
    mark: str

    @classmethod
    def of(cls, path: Path, content: bytes | None = None) -> Held:
        """Look at a file: all of 4 MB; of a larger one its end and 64 blocks of 64 KB."""
        status = path.stat()
        if content is not None:
            return cls(path, status.st_size, status.st_mtime_ns, f"{status.st_size}-{sha256(content).hexdigest()}")
        size, seen = status.st_size, sha256()
        with path.open("rb") as stream:
            if size <= PROBE * _PROBES:
                seen.update(stream.read())
            else:
                for start in (*range(0, size, size // _PROBES), size - PROBE):
                    stream.seek(start)
                    seen.update(stream.read(PROBE))
        return cls(path, size, status.st_mtime_ns, f"{size}-{seen.hexdigest()}")

    def check_unchanged(self) -> None:
        """Refuse a file that changed since."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            raise _gone(self.path) from None
        if (status.st_size, status.st_mtime_ns) != (self.size, self.written):
            raise DataError(
                f"{self.path} changed while it was read, so that its rows cannot be trusted; wait until it is complete "
                "and start again"
            )


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
    except (pa.ArrowException, OSError, EOFError, ValueError, KeyError, NotImplementedError) as error:
        if held is not None:
            held.check_unchanged()
        if isinstance(error, KgmiError):
            raise
        raise DataError(
            f"{what} cannot be read, it may be damaged or cut off: {first_line(error)}; write it again"
        ) from None


@dataclass(eq=False)
class Files:
    """What sources in files have in common."""

    form: Form
    columns: tuple[str, ...]
    filter: Filter | None
    fragments: tuple[Fragment, ...]
    description: str
    held: tuple[Held, ...]
    rereadable: bool = field(default=True, init=False)

    @property
    def needed(self) -> tuple[str, ...]:
        """All columns that have to be read."""
        return tuple(dict.fromkeys((*self.columns, *(() if self.filter is None else self.filter.columns))))

    @property
    def marks(self) -> dict[str, str]:
        """Fingerprints of the files, and their paths."""
        used = sorted({fragment.file for fragment in self.fragments})
        return {self.held[number].mark: str(self.held[number].path) for number in reversed(used)}

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Return a function that says where a cell is."""
        which = " of those that pass the filter" if self.filter is not None else ""
        return lambda row, name: f"{fragment.label}: row {row}{which}, column '{name}'"


def fragment_marks(held: Sequence[Held]) -> list[str]:
    """Return marks that tell equal files apart: a file that is there twice counts twice."""
    before: Counter[str] = Counter()
    marks = []
    for one in held:
        marks.append(hashed(one.mark, before[one.mark]))
        before[one.mark] += 1
    return marks


def absolute(held: Held) -> Held:
    """Return what is held with a path that another process finds."""
    return held if not held.path.name else Held(held.path.absolute(), held.size, held.written, held.mark)
