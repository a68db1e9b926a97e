"""``Table``: rows as state codes, with the names of the columns and of the states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np

from kgmi.errors import DataError, SettingError
from kgmi.types import Codes, Names

__all__ = ["MISSING", "Table", "as_codes", "choose_states", "default_names", "same_number"]

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"})
"""Texts that mean «no value here»."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows over one shared alphabet.

    Attributes
    ----------
    codes
        ``codes[row, column]``: position of the cell's state in ``states``.
    names
        Column names, in the order of the graph: earlier columns may be parents of later ones.
    states
        The alphabet. A state that never occurs is still a state.
    """

    codes: Codes
    names: tuple[str, ...]
    states: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.codes.shape[1] != len(self.names):
            raise DataError(f"{len(self.names)} names do not fit codes of shape {self.codes.shape}")

    @property
    def n_states(self) -> int:
        """Number of states S."""
        return len(self.states)


def default_names(n_nodes: int) -> tuple[str, ...]:
    """X1, X2, …: names for columns that have none, numbered as in the paper."""
    return tuple(f"X{number}" for number in range(1, n_nodes + 1))


def choose_states(seen: Sequence[str], states: Names | None = None, n_states: int | None = None) -> tuple[str, ...]:
    """The alphabet: as declared, or 0..S-1 where that fits, or what was seen, in order.

    Parameters
    ----------
    seen
        The different texts in the data.
    states
        Declared alphabet; what else was seen is an error at its cell.
    n_states
        Declared size S. Whole numbers below S are then codes; other texts must be exactly S different ones.
    """
    if n_states is not None and n_states < 2:
        raise SettingError(f"n_states must be at least 2, got {n_states}")
    if states is not None:
        if n_states not in (None, len(states)):
            raise SettingError(f"n_states is {n_states}, but {len(states)} states are declared")
        if len(set(states)) != len(states) or len(states) < 2:
            raise DataError(f"the declared states must be two or more different texts, got {list(states)}")
        return tuple(states)
    if n_states is not None and all(_is_code(text, n_states) for text in seen):
        return tuple(str(code) for code in range(n_states))
    ordered = sorted(seen, key=_number_or_text)
    if n_states is not None and len(ordered) != n_states:
        raise DataError(
            f"{n_states} states were expected, the data have {len(ordered)}: {_some(ordered)}; "
            "declare the states in their order"
        )
    if len(ordered) < 2:
        raise DataError(f"the whole table has one state only ({_some(ordered)}), so there is nothing to learn")
    return tuple(ordered)


def _is_code(text: str, n_states: int) -> bool:
    return text.isdecimal() and len(text) <= len(str(n_states)) and str(int(text)) == text and int(text) < n_states


def same_number(texts: Sequence[str]) -> tuple[str, str] | None:
    """Two texts that write the same number (1 and 1.0, 01 and 1), if there are any."""
    first: dict[Decimal, str] = {}
    for text in texts:
        number = _number(text)
        if number is not None and first.setdefault(number, text) != text:
            return first[number], text
    return None


def _number(text: str) -> Decimal | None:
    """The number that a text writes; exact, so that long identifiers do not fall together as floats do."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return None if number.is_nan() or "_" in text else number  # 1_000 is Python's spelling, not the data's


def _number_or_text(text: str) -> tuple[bool, Decimal, str]:
    """Sort key: numbers by value first, then texts."""
    number = _number(text)
    return (True, Decimal(0), text) if number is None else (False, number, text)


def _some(texts: Sequence[str]) -> str:
    return ", ".join(repr(text) for text in texts[:8]) + (" …" if len(texts) > 8 else "")


def as_codes(values: np.ndarray[tuple[int, ...], np.dtype[np.object_]], states: tuple[str, ...]) -> Codes:
    """Codes of an array of texts; -1 where a text is not in the alphabet."""
    number = {state: code for code, state in enumerate(states)}
    return np.array([number.get(text, -1) for text in values], dtype=np.int64)
