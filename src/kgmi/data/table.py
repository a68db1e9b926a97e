"""``Table``: rows as state codes, with the names of the columns and of the states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kgmi.data.rules import listed
from kgmi.errors import DataError
from kgmi.types import Codes, Ints, Names

__all__ = ["Table", "checked_names", "default_names"]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows over one shared alphabet, or over one alphabet for each column.

    Attributes
    ----------
    codes
        ``codes[row, column]``: position of the cell's state in the alphabet of its column; -1 where the value is
        missing, which only tables made with ``missing="pairwise"`` have.
    names
        Column names, in the order of the graph: earlier columns may be parents of later ones.
    states
        The alphabet that all columns share, or else the states of all columns together. A state that never
        occurs is still a state.
    alphabets
        ``alphabets[column]``: the column's own states; None where all columns share ``states``.
    gap
        The state that missing values are, or would be; None where they are none, or where there are none.
    """

    codes: Codes
    names: tuple[str, ...]
    states: tuple[str, ...]
    alphabets: tuple[tuple[str, ...], ...] | None = None
    gap: str | None = None

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.codes.shape[1] != len(self.names):
            raise DataError(f"{len(self.names)} names do not fit codes of shape {self.codes.shape}")
        if self.alphabets is None:
            return
        if len(self.alphabets) != len(self.names):
            raise DataError(f"{len(self.names)} columns need as many alphabets, got {len(self.alphabets)}")
        known = set(self.states)
        for name, alphabet in zip(self.names, self.alphabets, strict=True):
            if not known.issuperset(alphabet):
                foreign = next(state for state in alphabet if state not in known)
                raise DataError(f"{foreign!r} of column '{name}' is not among the states of the table")

    @property
    def n_states(self) -> int:
        """Number of states S; of all columns together, where each has its own."""
        return len(self.states)

    @property
    def own_alphabets(self) -> bool:
        """Whether each column has an alphabet of its own."""
        return self.alphabets is not None

    @property
    def column_states(self) -> tuple[tuple[str, ...], ...]:
        """``column_states[column]``: what the codes of the column mean, shared or not."""
        return (self.states,) * len(self.names) if self.alphabets is None else self.alphabets

    @property
    def sizes(self) -> tuple[int, ...]:
        """``sizes[column]``: number of states of the column."""
        return tuple(len(states) for states in self.column_states)

    @cached_property
    def missing_by_column(self) -> Ints:
        """``missing_by_column[column]``: number of cells without a value."""
        if self.codes.dtype.kind != "i" or self.codes.min(initial=0) >= 0:  # mostly so, and cheap to see
            return np.zeros(len(self.names), dtype=np.int64)
        gaps: Ints = (self.codes < 0).sum(axis=0, dtype=np.int64)
        return gaps

    @property
    def n_missing(self) -> int:
        """Number of cells without a value."""
        return int(self.missing_by_column.sum())


def default_names(n_nodes: int) -> tuple[str, ...]:
    """X1, X2, …: names for columns that have none, numbered as in the paper."""
    return tuple(f"X{number}" for number in range(1, n_nodes + 1))


def checked_names(names: Names | None, n_nodes: int) -> tuple[str, ...]:
    """Names for all columns, each of them once."""
    if names is None:
        return default_names(n_nodes)
    chosen = tuple(str(name) for name in listed("names", names))
    if len(chosen) != n_nodes:
        raise DataError(f"{n_nodes} columns need as many names, got {len(chosen)}")
    if len(set(chosen)) < len(chosen):
        twice = next(name for place, name in enumerate(chosen) if name in chosen[:place])
        raise DataError(f"two columns are named {twice!r}; names must differ")
    return chosen
