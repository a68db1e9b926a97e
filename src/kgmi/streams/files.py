"""What all kinds of files have in common: their fragments, and a second look at a file after it was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kgmi.data.origin import row_place
from kgmi.errors import DataError, KgmiError, TooLargeError
from kgmi.streams.filters import Filter, read_filter
from kgmi.streams.fragment import Choice, Fragment, changed, chosen
from kgmi.streams.listing import Found
from kgmi.streams.marks import content_mark, file_mark, fragment_mark, occurrences
from kgmi.streams.projection import Projection
from kgmi.types import Names

__all__ = [
    "File",
    "as_constants",
    "check_rows",
    "contents_of",
    "listed_fragments",
    "not_gone",
    "place_in_file",
    "select",
    "unchanged",
]


@dataclass(frozen=True)
class File:
    """One file of a stream.

    Attributes
    ----------
    path
        Where it is.
    mark
        Fingerprint of what it held when the files were listed.
    constants
        Columns that the names of its folders give.
    delimiter
        What stands between its columns, where it is text.
    """

    path: Path
    mark: str
    constants: Mapping[str, str | int | None]
    delimiter: str = ","


def as_constants(found: Found, names: Names) -> list[dict[str, str | int | None]]:
    """For every file the columns that its folders name and it does not have itself; whole numbers where all are."""
    made: list[dict[str, str | int | None]] = [{} for _ in found.paths]
    for place, key in enumerate(found.keys):
        if key in names:
            continue
        texts = [values[place] for values in found.values]
        whole = all(text is None or (_is_whole(text)) for text in texts)
        for constants, text in zip(made, texts, strict=True):
            constants[key] = int(text) if whole and text is not None else text
    return made


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isdecimal() and digits.isascii() and len(digits) <= 18 and str(int(text)) == text


def select(names: Sequence[str], choice: Choice, schema: object = None) -> tuple[tuple[str, ...], Filter | None]:
    """The columns that are read, and the filter."""
    return chosen(names, choice.columns), read_filter(choice.where, names, schema)


def listed_fragments(
    files: Sequence[File],
    cut: Callable[[int], list[tuple[tuple[int, ...], int | None, int | None]]],
    projection: Projection,
    what: str = "",
) -> tuple[Fragment, ...]:
    """The fragments of all files: ``cut(file)`` gives the pieces, first row and number of rows of each of them.

    A file none of whose rows can pass, by the names of its folders, has none.
    """
    where = projection.filter
    text = "" if where is None else where.text
    fragments: list[Fragment] = []
    constants = [projection.constants_read(file.constants) for file in files]  # a moved file has other rows
    marks = [file_mark(file.mark, own) for file, own in zip(files, constants, strict=True)]
    for number, (file, occurrence) in enumerate(zip(files, occurrences(marks), strict=True)):
        if where is not None and where.passes_none(file.constants, is_text=projection.is_text):
            continue
        parts = cut(number)
        with not_gone(file.path):
            written = file.path.stat().st_mtime_ns
        for pieces, first_row, n_rows in parts:
            mark = fragment_mark(marks[number], occurrence, pieces, projection.columns, text)
            shown = f"{file.path}, {what} {_ranges(pieces)}" if len(parts) > 1 and what else str(file.path)
            known = n_rows if where is None else None
            place = len(fragments)
            fragments.append(Fragment(place, mark, known, shown, number, pieces, first_row, n_rows, written))
    return tuple(fragments)


def contents_of(
    files: Sequence[File], fragments: Sequence[Fragment], mark: Callable[[Path], str]
) -> dict[str, str]:
    """The marks of the bytes of all files of which something is read, with their paths.

    A copy has the same mark, whatever it is called, when it was written, and which columns and rows of it are read.
    """
    found: dict[str, str] = {}
    for number in sorted({fragment.file for fragment in fragments}):
        file = files[number]
        with not_gone(file.path, mark, file.mark):
            with file.path.open("rb") as stream:
                content = content_mark(stream)
            unchanged(file.path, mark, file.mark)
        found.setdefault(content, str(file.path))
    return found


def _ranges(pieces: Sequence[int]) -> str:
    """Numbers in words; long rows of them by their ends."""
    if len(pieces) == 1:
        return str(pieces[0])
    return (
        f"{pieces[0]}–{pieces[-1]}" if pieces[-1] - pieces[0] == len(pieces) - 1 else f"{pieces[0]} … {pieces[-1]}"
    )


@contextmanager
def not_gone(path: Path, mark: Callable[[Path], str] | None = None, before: str = "") -> Iterator[None]:
    """Say what is wrong with a file in words; one that is not what it was ``before`` is refused for that."""
    import pyarrow as pa

    try:
        yield
    except MemoryError:
        raise TooLargeError(
            f"{path} holds a piece that does not fit into memory; write it in smaller pieces"
        ) from None
    except FileNotFoundError:
        raise DataError(f"{path} is gone: it was there when the files were listed; start again") from None
    except (pa.ArrowException, OSError, EOFError, ValueError, KeyError) as error:
        if mark is not None:
            unchanged(path, mark, before)
        if isinstance(error, KgmiError):
            raise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path} cannot be read, it may be damaged or cut off: {reason}; write it again") from None


def unchanged(path: Path, mark: Callable[[Path], str], before: str) -> None:
    """Refuse a file that is not what it was when the files were listed."""
    try:
        now = mark(path)
    except FileNotFoundError:
        raise DataError(f"{path} is gone: it was there when the files were listed; start again") from None
    except (OSError, DataError):
        raise changed(path) from None
    if now != before:
        raise changed(path)


def check_rows(fragment: Fragment, n_rows: int) -> None:
    """Refuse a fragment that did not give all rows that it said it has."""
    if fragment.raw_rows is not None and n_rows != fragment.raw_rows:
        raise DataError(
            f"{fragment.label} gave {n_rows:,} rows where {fragment.raw_rows:,} were announced; the file is "
            "damaged: write it again"
        )


def place_in_file(file: File, fragment: Fragment, where: Filter | None) -> Callable[[int, str], str]:
    """Where a cell of a fragment stands; rows are counted from 0, as in a data frame."""
    if where is None and fragment.first_row is not None:
        first = fragment.first_row
        return lambda row, label: f"{file.path}: {row_place(first + row, label)}"
    passed = "" if where is None else " of those that the filter lets through"
    return lambda row, label: f"{fragment.label}: row {row}{passed}, {label}"
