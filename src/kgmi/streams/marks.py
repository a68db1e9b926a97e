"""Fingerprints: what says that rows are the same as before, without reading all of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from kgmi.errors import DataError
from kgmi.types import Codes

__all__ = [
    "PassingMark",
    "content_mark",
    "edges_mark",
    "file_mark",
    "fragment_mark",
    "occurrences",
    "parquet_mark",
]

_EDGE = 1 << 16
_MOST_FOOTER = 1 << 28
_PROBES = 64  # blocks of a file that are looked at


def parquet_mark(path: Path) -> str:
    """Of a Parquet file: its size, its footer, and its bytes: all of 4 MB, of larger files 64 blocks of 64 KB.

    The footer has the place, size, count and bounds of every piece, but small files of different rows often agree
    in all of these. In a large file, a change of single values that keeps sizes and bounds may stay hidden.
    """
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        stream.seek(max(0, size - 8))
        tail = stream.read(8)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != b"PAR1" or length > min(size - 8, _MOST_FOOTER):
            raise DataError(f"{path} does not end as a Parquet file does: it is cut off or damaged; write it again")
        stream.seek(size - 8 - length)
        mark = sha256(stream.read(length))
        for probe in range(_PROBES):
            stream.seek(probe * max(_EDGE, size // _PROBES))
            mark.update(stream.read(_EDGE))
    return _hashed("parquet", size, mark.hexdigest())


def edges_mark(path: Path) -> str:
    """Of any other file: its size, when it was last written, and its first and last 64 KB.

    A change in between that keeps the size and sets back the time stays hidden; a copy with a new time is new.
    """
    with path.open("rb") as stream:
        status = os.fstat(stream.fileno())
        first = stream.read(_EDGE)
        stream.seek(max(0, status.st_size - _EDGE))
        last = stream.read(_EDGE)
    return _hashed("file", status.st_size, status.st_mtime_ns, sha256(first).hexdigest(), sha256(last).hexdigest())


def content_mark(stream: BinaryIO) -> str:
    """Of the bytes of a file only: all of 4 MB; of a larger one its size, its end and 64 blocks of 64 KB.

    Large files of the same size that differ in a few places may have the same mark.
    """
    mark, size = sha256(), stream.seek(0, os.SEEK_END)
    for probe in range(_PROBES):
        stream.seek(probe * max(_EDGE, size // _PROBES))
        mark.update(stream.read(_EDGE))
    stream.seek(max(0, size - _EDGE))
    mark.update(stream.read(_EDGE))
    return _hashed("content", size, mark.hexdigest())


def file_mark(content: str, constants: Sequence[tuple[str, Any]]) -> str:
    """Of a file whose folders give it columns (name, value), the same in all its rows."""
    return _hashed("in folders", content, tuple(constants)) if constants and content else content


def occurrences(marks: Iterable[str]) -> list[int]:
    """For every mark how often it came before, so that a file that is there twice counts twice."""
    before: Counter[str] = Counter()
    found = []
    for mark in marks:
        found.append(before[mark])
        before[mark] += 1
    return found


def fragment_mark(content: str, occurrence: int, pieces: Sequence[int], columns: Sequence[str], where: str) -> str:
    """Of some pieces of a file: its mark, which of files with the same mark it is, and what is read of it."""
    return _hashed("fragment", content, occurrence, tuple(pieces), tuple(columns), where)


class PassingMark:
    """The mark of rows that cannot be looked at before: a hash of their codes, however they are cut in batches."""

    def __init__(self, number: int, columns: Sequence[str]) -> None:
        self._head = ("passing", number, tuple(columns))
        self._columns = [sha256() for _ in columns]

    def add(self, codes: Codes) -> None:
        """Take note of the next rows."""
        for mark, column in zip(self._columns, codes, strict=True):
            mark.update(column.astype("<i4").tobytes())

    def finished(self, texts: Sequence[Sequence[str]]) -> str:
        """The mark, once all rows have passed and it is known what their codes mean."""
        return _hashed(*self._head, tuple(map(tuple, texts)), tuple(mark.hexdigest() for mark in self._columns))


def _hashed(*parts: Any) -> str:
    return sha256(repr(parts).encode()).hexdigest()
