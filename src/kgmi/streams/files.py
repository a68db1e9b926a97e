"""What all kinds of files have in common: what is chosen of them, their fragments, and the places of cells."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgmi.data.origin import row_place
from kgmi.errors import DataError
from kgmi.streams.filters import Filter, read_filter
from kgmi.streams.fragment import Choice, Cuts, Fragment, chosen
from kgmi.streams.intact import not_gone
from kgmi.streams.listing import Found
from kgmi.streams.marks import file_mark, fragment_mark, occurrences
from kgmi.streams.projection import Projection
from kgmi.types import Names

__all__ = [
    "File",
    "as_constants",
    "check_doubled",
    "listed_fragments",
    "place_in_file",
    "select",
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


def check_doubled(
    path: Path, names: Sequence[str], first: Path, constants: Collection[str], projection: Projection
) -> None:
    """Refuse a file with a column that is read from the names of folders, because the first file has none."""
    doubled = next((name for name in projection.needed if name in constants and name in names), None)
    if doubled is not None:
        raise DataError(
            f"{path} has a column {doubled!r} itself, in {first} only the name of its folder ({doubled}=…) gives "
            "it; write the files with the same columns, or leave the column out with columns=… (--columns)"
        )


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isdecimal() and digits.isascii() and len(digits) <= 18 and str(int(text)) == text


def select(names: Sequence[str], choice: Choice, schema: object = None) -> tuple[tuple[str, ...], Filter | None]:
    """The columns that are read, and the filter."""
    return chosen(names, choice.columns), read_filter(choice.where, names, schema)


def listed_fragments(
    files: Sequence[File],
    cut: Callable[[int], Cuts],
    projection: Projection,
    what: str = "",
) -> tuple[Fragment, ...]:
    """The fragments of all files, which ``cut(file)`` says for each.

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


def _ranges(pieces: Sequence[int]) -> str:
    """Numbers in words; long rows of them by their ends."""
    if len(pieces) == 1:
        return str(pieces[0])
    return (
        f"{pieces[0]}–{pieces[-1]}" if pieces[-1] - pieces[0] == len(pieces) - 1 else f"{pieces[0]} … {pieces[-1]}"
    )


def place_in_file(path: object, fragment: Fragment, where: Filter | None) -> Callable[[int, str], str]:
    """Where a cell of a fragment of a file stands; rows are counted from 0, as in a data frame."""
    if where is None and fragment.first_row is not None:
        first = fragment.first_row
        return lambda row, label: f"{path}: {row_place(first + row, label)}"
    passed = "" if where is None else " of those that the filter lets through"
    return lambda row, label: f"{fragment.label}: row {row}{passed}, {label}"
