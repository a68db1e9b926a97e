"""``Source``: where rows come from; and what sources in files have in common, whatever kind of file it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol

from kgmi.streams.alphabets import Form
from kgmi.streams.files import File, place_in_file
from kgmi.streams.filters import Filter
from kgmi.streams.fragment import Fragment, Piece
from kgmi.streams.intact import check_rows, not_gone, unchanged
from kgmi.streams.marks import content_mark, edges_mark
from kgmi.streams.projection import Projection

__all__ = ["Files", "Projected", "Source"]


class Source(Protocol):
    """Where rows come from; made for one choice of columns and rows."""

    @property
    def form(self) -> Form:
        """What the rows come as."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, by the names that they have in the source."""
        ...

    @property
    def filter(self) -> Filter | None:
        """Which rows are read."""
        ...

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        """All pieces."""
        ...

    @property
    def description(self) -> str:
        """What people call it."""
        ...

    @property
    def rereadable(self) -> bool:
        """Whether the rows can be read more than once."""
        ...

    def read(self, fragment: Fragment) -> Iterator[Piece]:
        """The rows of a fragment, in blocks that fit into memory."""
        ...

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Where a row of the fragment, counted from 0, and the column with a label stand, in words."""
        ...


@dataclass(frozen=True)
class Projected:
    """A source of rows of which a projection is taken."""

    projection: Projection
    fragments: tuple[Fragment, ...]
    description: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.projection.columns

    @property
    def filter(self) -> Filter | None:
        """Which rows are read."""
        return self.projection.filter

    @property
    def declaring(self) -> tuple[str, ...]:
        """The columns whose types declare categories, in all files: one more file may end that for those before."""
        return tuple(name for name in self.columns if name not in self.projection.undeclared)


@dataclass(frozen=True)
class Files(Projected, ABC):
    """Files of one kind, as a source of rows; the kind says how they are read."""

    files: tuple[File, ...]
    form: Form
    rereadable: ClassVar[bool] = True

    @abstractmethod
    def _batches(self, file: File, fragment: Fragment) -> Iterator[Any]:
        """The rows of a fragment as the file has them, in batches that fit into memory."""

    def _pieces(self, batch: Any, file: File) -> Iterator[Piece]:
        """What is taken of a batch."""
        return self.projection.pieces(batch, file.constants)

    def _mark(self, path: Path) -> str:
        """Fingerprint of what a file holds."""
        return edges_mark(path)

    def read(self, fragment: Fragment) -> Iterator[Piece]:
        """The rows of a fragment; an error if its file changed since the files were listed."""
        file, n_rows = self.files[fragment.file], 0
        with not_gone(file.path, self._mark, file.mark):
            for batch in self._batches(file, fragment):
                n_rows += len(batch)
                yield from self._pieces(batch, file)
        unchanged(file.path, self._mark, file.mark)
        check_rows(fragment, n_rows)

    @cached_property
    def contents(self) -> tuple[str, ...]:
        """Marks of the bytes of all files of which something is read.

        A copy has the same mark, whatever it is called, when it was written, and which columns and rows of it are
        read.
        """
        found = []
        for number in sorted({fragment.file for fragment in self.fragments}):
            file = self.files[number]
            with not_gone(file.path, self._mark, file.mark):
                with file.path.open("rb") as stream:
                    found.append(content_mark(stream))
                unchanged(file.path, self._mark, file.mark)
        return tuple(found)

    def place(self, fragment: Fragment) -> Callable[[int, str], str]:
        """Where a cell stands, in words."""
        return place_in_file(self.files[fragment.file].path, fragment, self.filter)
