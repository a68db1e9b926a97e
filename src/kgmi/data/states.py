"""Alphabets: which texts are states, in which order, and which texts mean no value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal, InvalidOperation
from itertools import count

from kgmi.errors import DataError, SettingError, TooFewRowsError, TooLargeError
from kgmi.types import Names

__all__ = [
    "MISSING",
    "MOST_STATES",
    "agreed_order",
    "choose_states",
    "common_states",
    "foreign_state",
    "gap_state",
    "in_order",
    "same_number",
]

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "./.", ".|."})
"""Texts that mean «no value here»; the last two are genotypes that could not be called (VCF)."""
MOST_STATES = 1_000_000
"""A larger code is no state, and the labels alone would fill the memory."""


def choose_states(
    seen: Collection[str],
    states: Names | None = None,
    n_states: int | None = None,
    order: Names = (),
    *,
    least: int = 2,
) -> tuple[str, ...]:
    """The alphabet: as declared, or 0..S-1 where that fits, or what was seen, in order.

    Parameters
    ----------
    seen
        The different texts in the data.
    states
        Declared alphabet; what else was seen is an error at its cell.
    n_states
        Declared size S. Whole numbers below S are then codes; other texts must be exactly S different ones.
    order
        Categories that come first, in their own order, whether they were seen or not.
    least
        How many states there must be; a table whose gaps will be a state needs one other only.
    """
    if n_states is not None and n_states < 2:
        raise SettingError(f"n_states must be at least 2, got {n_states}")
    if n_states is not None and n_states > MOST_STATES:
        raise TooLargeError(f"n_states is {n_states:,}; the limit is {MOST_STATES:,} states")
    if states is not None:
        if n_states not in (None, len(states)):
            raise SettingError(f"n_states is {n_states}, but {len(states)} states are declared")
        if len(set(states)) != len(states) or len(states) < 2 or not all(isinstance(s, str) for s in states):
            raise DataError(f"the declared states must be two or more different texts, got {list(states)}")
        return tuple(states)
    ordered = in_order(seen, order)
    if n_states is not None and all(_is_code(text, n_states) for text in ordered):
        return tuple(str(code) for code in range(n_states))
    if n_states is not None and len(ordered) != n_states:
        failure = TooFewRowsError if len(ordered) < n_states else DataError
        raise failure(
            f"{n_states} states were expected, the data have {len(ordered)}: {_some(ordered)}; "
            "declare the states in their order"
        )
    if len(ordered) < least:
        shown = _some(ordered)
        raise TooFewRowsError(f"the whole table has one state only ({shown}), so there is nothing to learn")
    return ordered


def common_states(columns: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Return the states of each column: shared by columns over one set of values, else the column's own values.

    Columns with values in common, directly or through other columns, share all of their values where one of them
    has all, but for columns that have fewer than half; these are divided among themselves in the same way.
    """
    states = _shared(columns)
    return [states[values] for values in columns]


def _shared(columns: Iterable[frozenset[str]]) -> dict[frozenset[str], frozenset[str]]:
    """The states that go with each set of values."""
    group_of: dict[str, set[frozenset[str]]] = {}  # the same object for all values of a group
    for values in {*columns}:
        joined = {values}.union(*(group_of.get(value, ()) for value in values))
        group_of.update(dict.fromkeys((value for some in joined for value in some), joined))
    states = {values: values for values in columns}
    for group in {id(one): one for one in group_of.values()}.values():
        union = frozenset().union(*group)
        if union in group:
            few = {values for values in group if 1 < len(values) < len(union) / 2}
            states |= dict.fromkeys(group - few, union) | _shared(few)
    return states


def in_order(seen: Collection[str], order: Names = ()) -> tuple[str, ...]:
    """Categories as they are given, then the other texts: numbers by value, then words."""
    return (*order, *sorted(set(seen).difference(order), key=_number_or_text))


def agreed_order(declared: Iterable[Names]) -> tuple[str, ...]:
    """One order of all categories that keeps the order of every column; the usual order where columns disagree."""
    lists = list(dict.fromkeys(tuple(names) for names in declared))
    position = {text: place for place, text in enumerate(dict.fromkeys(text for names in lists for text in names))}
    for names in lists:
        places = [position[text] for text in names]
        if places != sorted(places):
            return in_order(position)
    return tuple(position)


def foreign_state(place: str, text: str, states: Names) -> DataError:
    """The error for a text that is not among the declared states."""
    return DataError(
        f"{place}: {text!r} is not among the states {', '.join(states)}; mend it, or declare it too; if it stands "
        "for a missing value, leave the cell empty, or write NA"
    )


def gap_state(taken: Collection[str]) -> str:
    """A name for the state «no value» that no other state has: missing, missing_2, …."""
    names = ("missing" if number == 1 else f"missing_{number}" for number in count(1))
    return next(name for name in names if name not in taken)


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
