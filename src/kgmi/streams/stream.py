"""``stream``: rows from anywhere, in pieces that fit into memory whatever their number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kgmi.data.rules import Alphabet, Missing, Rules
from kgmi.data.table import checked_names
from kgmi.errors import DataError, SettingError
from kgmi.streams.alphabets import Form
from kgmi.streams.coding import Coded, Coder
from kgmi.streams.fragment import FRAGMENT_ROWS, Choice, Fragment
from kgmi.streams.marks import PassingMark
from kgmi.streams.opening import open_source
from kgmi.streams.sources import Source
from kgmi.types import Names

__all__ = ["Stream", "stream"]


@dataclass(frozen=True, eq=False)
class Stream:
    """Rows that are read piece by piece; made by :func:`stream`.

    Attributes
    ----------
    names
        The columns that are read, in their order.
    rules
        How cells become codes.
    source
        Where the rows come from.
    """

    names: tuple[str, ...]
    rules: Rules
    source: Source
    _marks: dict[int, str] = field(default_factory=dict, repr=False)

    @property
    def form(self) -> Form:
        """What the rows come as."""
        return self.source.form

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        """The pieces; they can be read in any order, and several at a time."""
        return self.source.fragments

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, where that is known before reading."""
        counts = [fragment.n_rows for fragment in self.fragments]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def where(self) -> str:
        """Which rows are read, in words; empty: all."""
        return "" if self.source.filter is None else self.source.filter.text

    @property
    def rereadable(self) -> bool:
        """Whether the rows can be read more than once."""
        return self.source.rereadable

    @property
    def description(self) -> str:
        """What people call it."""
        return self.source.description

    @cached_property
    def contents(self) -> tuple[str, ...]:
        """Fingerprints of what the files behind it hold, in order, each once, whatever of it is read.

        A copy has the same fingerprint: it depends on neither the name of a file nor when it was written. Files of
        which nothing can pass the filter are left out. Empty where the rows come from no files.
        """
        return tuple(sorted({*getattr(self.source, "contents", ())}))

    def batches(self, fragment: Fragment) -> Iterator[Coded]:
        """The rows of a fragment as codes; an error if they are not all there at the end."""
        coder = Coder(
            self.names, self.source.columns, self.rules, self.form, fragment.number, self.source.place(fragment)
        )
        mark = None if fragment.mark else PassingMark(fragment.number, self.source.columns)
        coded = None
        for raws, n_rows in self.source.read(fragment):
            coded = coder.code(raws, n_rows)
            if mark is not None:
                mark.add(coded.columns)
            yield coded
        if mark is not None:
            self._note(fragment, mark.finished(() if coded is None else coded.alphabets.texts))

    def mark_of(self, fragment: Fragment) -> str:
        """The mark of a fragment; where it was not known before, that of the rows that were read."""
        if fragment.mark:
            return fragment.mark
        if fragment.number not in self._marks:
            raise DataError(f"{fragment.label} was not read yet, so that there is no mark of its rows")
        return self._marks[fragment.number]

    def _note(self, fragment: Fragment, mark: str) -> None:
        """Keep the mark of rows that were read; other rows than the last time are an error."""
        if self._marks.setdefault(fragment.number, mark) != mark:
            raise DataError(
                f"{self.description} gave other rows than when it was read before ({fragment.label}); write it to "
                "a file and give that"
            )


def stream(
    source: Any,
    *,
    columns: Names | None = None,
    where: Any = None,
    names: Names | None = None,
    states: Names | None = None,
    n_states: int | None = None,
    missing: Missing = "error",
    alphabet: Alphabet = "auto",
    header: bool = True,
    fragment_rows: int | None = None,
) -> Stream:
    """Rows from anywhere, to be read in pieces: files may be larger than memory.

    Cells mean what they mean to :func:`kgmi.data.as_table` and :func:`kgmi.read_table`.

    Parameters
    ----------
    source
        - A file (Parquet, Feather or Arrow, CSV or TSV, also with ``.gz``, ``.npy``), a folder of files of one
          kind, a pattern (``data/*.parquet``), or a list of these. All files have the same columns; folders that
          are named like ``year=2020`` give a column more. Results of kgmi that lie in a folder are no part of it.
        - A ``pyarrow.dataset.Dataset``, a ``RecordBatchReader`` or whatever else hands out Arrow record batches.
        - A data frame (pandas, polars, PyArrow …) or an array [row, column]; a lazy frame of polars.
        - A ``dask.dataframe``, a ``dask.array`` [row, column], or a list of delayed tables: each partition is
          counted where it lies (:mod:`kgmi.cluster`).
        - An iterator of arrays, data frames or record batches with the same columns; like a reader, it can be read
          once.
    columns
        Which columns are read, in this order; by default all. Nothing else is unpacked.
    where
        Which rows are read: a list of conditions (column, operator, value) that must all hold, with the operators
        ==, !=, <, <=, >, >=, ``in`` and ``not in``, or a ``pyarrow.compute.Expression``. A row without a value in
        the column of a condition does not pass. Values are compared exactly, and one that the type of the column
        would round is refused. In text files cells are compared as numbers where the value is one. What bounds in a
        Parquet file rule out is not read, and polars gets the conditions with its query.
    names
        Other names for the columns that are read.
    states, n_states, missing, alphabet
        See :func:`kgmi.data.as_table`.
    header
        Whether the first line of a text file names the columns; without one they are X1, X2, ….
    fragment_rows
        About how many rows a fragment, which one thread or worker reads at a time, should have; by default 2
        million. Row groups of Parquet, record batches of Arrow files and text files are not divided.
    """
    rules = Rules(states, n_states, missing, alphabet)
    choice = Choice(columns, where, header, FRAGMENT_ROWS if fragment_rows is None else fragment_rows)
    if isinstance(source, Stream):
        raise SettingError("this is a stream already; give what it was made of")
    opened = open_source(source, choice)
    called = opened.columns if names is None else checked_names(names, len(opened.columns))
    return Stream(called, rules, opened)
