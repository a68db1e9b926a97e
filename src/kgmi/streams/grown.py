"""Text files to which rows were added: they begin with a file that was read before."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from kgmi.data.kinds import DELIMITERS, ending_of
from kgmi.streams.marks import head_mark, prefix_mark
from kgmi.streams.stream import Stream

__all__ = ["grown_files"]

_CONTENT = re.compile("([0-9]{1,15})-([0-9a-f]{16})-[0-9a-f]{64}", re.ASCII)
_MOST_NAMES = 1 << 16  # bytes of a file that may be nothing but a line of names


def grown_files(stream: Stream, contents: Iterable[str]) -> list[str]:
    """The text files of a stream that begin with one of those that ``contents`` are the marks of, and go on.

    Of files above 4 MB not every byte is compared. A file that had a line of names only is none: all others with
    these names begin with it.
    """
    known = {(int(found[1]), found[2], found[0]) for one in contents if (found := _CONTENT.fullmatch(one))}
    sizes = {(size, head) for size, head, _ in known}
    marks = {mark for *_, mark in known}
    headed = stream.form != "text"
    return [
        path
        for path in stream.files.values()
        if ending_of(Path(path)) in DELIMITERS and _has_grown(Path(path), sizes, marks, headed)
    ]


def _has_grown(path: Path, sizes: Iterable[tuple[int, str]], marks: set[str], headed: bool) -> bool:
    if not path.is_file():  # it lies elsewhere, and PyArrow reads it there
        return False
    own = path.stat().st_size
    with path.open("rb") as stream:
        for size, head in sizes:
            if not 0 < size < own or head_mark(stream, size) != head or prefix_mark(stream, size) not in marks:
                continue
            stream.seek(0)
            if size > _MOST_NAMES or len(stream.read(size).strip().splitlines()) > headed:
                return True
    return False
