"""Files that are copies of others that are read too: their rows count several times."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kgmi.data.kinds import DELIMITERS
from kgmi.streams.marks import WHOLE
from kgmi.streams.stream import Stream

__all__ = ["Copy", "copied_files"]

_MOST_NAMES = 1 << 16  # bytes of a file that may be nothing but a line of names


@dataclass(frozen=True)
class Copy:
    """A file with the bytes of another.

    Attributes
    ----------
    file, same_as
        The copy, and the first file with these bytes.
    compared
        Whether all bytes were looked at; of a large file only some are.
    """

    file: str
    same_as: str
    compared: bool


def copied_files(stream: Stream) -> list[Copy]:
    """The files of a stream that have the bytes of one before, in folders that give them the same columns.

    Files without rows are none: these are alike. Nothing is read that :attr:`Stream.contents` has not read, but for
    small text files that may be without rows.
    """
    first: dict[str, str] = {}
    found = []
    for content in getattr(stream.source, "contents", ()):
        same_as = first.setdefault(content.rows, content.path)
        size = int(content.mark.partition("-")[0])
        if same_as != content.path and not _is_empty(Path(content.path), size, stream.form != "text"):
            found.append(Copy(content.path, same_as, size <= WHOLE))
    return found


def _is_empty(path: Path, size: int, headed: bool) -> bool:
    """Whether a text file has nothing but a line of names; other files without rows are not even looked at."""
    if size > _MOST_NAMES or path.suffix.lower() not in DELIMITERS or not path.is_file():
        return False
    with suppress(OSError):  # it was there when it was counted
        return len(path.read_bytes().strip().splitlines()) <= headed
    return False
