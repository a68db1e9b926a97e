"""Alphabets: which states a column has, and which columns share them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from itertools import chain, count, pairwise
from numbers import Integral
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from kgmi.errors import CellError, DataError, SettingError, TooFewRowsError, TooLargeError
from kgmi.types import Codes, Ints, Names

__all__ = [
    "FEW_STATES",
    "MANY_STATES",
    "MISSING",
    "PREPARE_ADVICE",
    "Alphabet",
    "Alphabets",
    "Missing",
    "Rules",
    "Seen",
    "agreed_order",
    "check_minus_one",
    "check_variety",
    "choose_alphabets",
    "code_type",
    "gap_state",
    "in_order",
    "some_of",
    "whole_number",
]

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "./.", ".|."})
"""Texts that are missing values; the last two are genotypes that could not be called (VCF)."""
PREPARE_ADVICE = "or let kgmi.prepare (--prepare) do it"
"""What to do about a table that needs cleaning."""

Missing: TypeAlias = Literal["error", "category", "pairwise"]
"""What a missing value is: an error, one more state, or left out of the counts that need it (code -1)."""
Alphabet: TypeAlias = Literal["auto", "shared", "own"]
"""Whether all columns share one alphabet, each has its own, or the values decide."""
MANY_STATES = 1_000  # more different values than this are measurements or identifiers
FEW_STATES = 20  # up to here, a short table may show a new state in every other row
_MOST_STATES = 1_000_000
_TRUTH = ("False", "True")


@dataclass(frozen=True)
class Rules:
    """How cells become codes; :func:`kgmi.table.as_table` describes the choices."""

    states: Names | None = None
    n_states: int | None = None
    missing: Missing = "error"
    alphabet: Alphabet = "auto"

    def __post_init__(self) -> None:
        for name, chosen, choices in (
            ("missing", self.missing, get_args(Missing)),
            ("alphabet", self.alphabet, get_args(Alphabet)),
        ):
            if not isinstance(chosen, str) or chosen not in choices:
                raise SettingError(f"{name} must be one of {', '.join(map(repr, choices))}, got {chosen!r}")
        if self.n_states is not None:
            size = whole_number("n_states", self.n_states)
            if size < 2:
                raise SettingError(f"n_states must be at least 2, got {size}")
            if size > _MOST_STATES:
                raise TooLargeError(f"n_states is {size:,}; the limit is {_MOST_STATES:,} states")
            object.__setattr__(self, "n_states", size)
        if self.states is not None:
            object.__setattr__(self, "states", self._checked_states())
        if self.own and self.n_declared:
            name = "n_states" if self.states is None else "states"
            raise SettingError(
                f"{name} declares one alphabet for all columns, alphabet='own' gives each column its own: leave "
                f"{name} out, or declare the categories of each column in a data frame"
            )

    def _checked_states(self) -> tuple[str, ...]:
        if not isinstance(self.states, Iterable) or isinstance(self.states, str):
            raise SettingError(f"states must be a list of texts, got {self.states!r}")
        states = tuple(self.states)
        if len(set(states)) != len(states) or len(states) < 2 or not all(isinstance(s, str) for s in states):
            raise DataError(f"the declared states must be two or more different texts, got {list(states)}")
        if self.n_states not in (None, len(states)):
            raise SettingError(f"n_states is {self.n_states}, but {len(states)} states are declared")
        return states

    @property
    def own(self) -> bool:
        """Whether each column has its own alphabet."""
        return self.alphabet == "own"

    @property
    def n_declared(self) -> int:
        """Number of declared states, or 0."""
        return self.n_states or 0 if self.states is None else len(self.states)

    def column_states(self, values: Sequence[Collection[str]]) -> list[frozenset[str]]:
        """Return the states of each column, given the values that occur or are declared in each.

        With ``auto``, columns over one set of values share it: columns with values in common, directly or through
        other columns, share all of them where one column has all, except columns that have fewer than half, which
        are grouped among themselves in the same way.
        """
        own = [frozenset(some) for some in values]
        if self.own:
            return own
        if self.alphabet == "shared" or self.n_declared:
            return [frozenset().union(*own)] * len(own)
        states = _shared_sets(own)
        return [states[some] for some in own]


def whole_number(option: str, given: Any) -> int:
    """Return a whole number of any integer type as an int."""
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise SettingError(f"{option} must be a whole number, got {given!r}")
    return int(given)


def _shared_sets(columns: Iterable[frozenset[str]]) -> dict[frozenset[str], frozenset[str]]:
    """Return the states that go with each set of values."""
    group_of: dict[str, set[frozenset[str]]] = {}  # one object for all values of a group
    for values in {*columns}:
        joined = {values}.union(*(group_of.get(value, ()) for value in values))
        group_of.update(dict.fromkeys((value for some in joined for value in some), joined))
    states = {values: values for values in columns}
    for group in {id(one): one for one in group_of.values()}.values():
        union = frozenset().union(*group)
        if union in group:
            few = {values for values in group if 1 < len(values) < len(union) / 2}
            states |= dict.fromkeys(group - few, union) | _shared_sets(few)
    return states


@dataclass(frozen=True)
class Seen:
    """What was seen in one column so far; what several fragments saw is joined, in any order, to the same states.

    Attributes
    ----------
    texts
        ``texts[code]``: the state, in order of first appearance.
    declared
        The lists of categories that its type declared, each in its order; None where it declared none everywhere.
    has_gaps
        Whether a value was missing.
    is_truth
        Whether all values were truth values.
    minus_one
        First row of an array that holds the number -1, which may be a missing value.
    """

    texts: tuple[str, ...] = ()
    declared: tuple[tuple[str, ...], ...] | None = None
    has_gaps: bool = False
    is_truth: bool = False
    minus_one: int | None = None

    @property
    def categories(self) -> tuple[str, ...]:
        """The declared categories in one order that keeps the order of every list, or the usual order."""
        if self.declared is None:
            return _TRUTH if self.is_truth else ()
        return agreed_order(self.declared)

    def joined(self, other: Seen) -> Seen:
        """Return what was seen in both; codes of ``self`` keep their meaning."""
        has_gaps = self.has_gaps or other.has_gaps
        for one, empty in ((self, other), (other, self)):
            if not empty.texts and empty.declared is None:  # missing values at most
                return one if one.has_gaps == has_gaps else replace(one, has_gaps=has_gaps)
        declared = None
        if self.declared is not None and other.declared is not None:
            declared = tuple(sorted({*self.declared, *other.declared}))
        elif odd := [text for names in self.declared or other.declared or () for text in names if text in MISSING]:
            raise DataError(
                f"a column declares the category {odd[0]!r} in some rows and is plain text in others, where that "
                "is a missing value; declare the categories everywhere, or nowhere"
            )
        texts = tuple(dict.fromkeys((*self.texts, *other.texts)))
        first = min((one.minus_one for one in (self, other) if one.minus_one is not None), default=None)
        return Seen(texts, declared, has_gaps, self.is_truth and other.is_truth, first)


def agreed_order(lists: Iterable[Names]) -> tuple[str, ...]:
    """Return one order of all categories that keeps the order of every list; the usual one if they disagree."""
    different = sorted({tuple(names) for names in lists}, key=lambda names: (-len(names), names))
    position = {text: place for place, text in enumerate(dict.fromkeys(chain.from_iterable(different)))}
    sorter: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(position, ()))
    for before, after in chain.from_iterable(map(pairwise, different)):
        sorter.add(after, before)
    try:
        sorter.prepare()
    except CycleError:
        return in_order(position)
    order: list[str] = []
    ready: list[tuple[int, str]] = []
    while sorter.is_active():
        for text in sorter.get_ready():
            heappush(ready, (position[text], text))
        order.append(heappop(ready)[1])
        sorter.done(order[-1])
    return tuple(order)


def in_order(texts: Collection[str], first: Names = ()) -> tuple[str, ...]:
    """Return categories as given, then the other texts: numbers by value, then words."""
    return (*first, *sorted(set(texts).difference(first), key=_number_or_text))


def _number_or_text(text: str) -> tuple[bool, Decimal, str]:
    number = _number(text)
    return (True, Decimal(0), text) if number is None else (False, number, text)


def _number(text: str) -> Decimal | None:
    """Return the number that a text writes, exactly: long identifiers must not become equal as floats do."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return None if number.is_nan() or "_" in text else number  # 1_000 is Python's spelling, not the data's


def code_type(n_states: int) -> np.dtype[Any]:
    """Return the smallest signed type that holds so many codes."""
    return np.min_scalar_type(-max(n_states, 2))


@dataclass(frozen=True, eq=False)
class Alphabets:
    """What the states are in the end.

    Attributes
    ----------
    states
        The alphabet that all columns share, or the states of all columns together.
    own
        The alphabet of each column; None where all share ``states``.
    maps
        ``maps[column][code]``: the final code of each code of a coder; the last entry is what a missing value
        becomes.
    gap
        The state that missing values are, or would be; None where they are none.
    """

    states: tuple[str, ...]
    own: tuple[tuple[str, ...], ...] | None
    maps: tuple[Ints, ...]
    gap: str | None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of states of every column."""
        return (len(self.states),) * len(self.maps) if self.own is None else tuple(map(len, self.own))

    def coded(self, columns: Sequence[Codes]) -> Codes:
        """Return final codes [row, column] from the codes of the coders."""
        dtype = code_type(max(self.sizes))
        out: Codes = np.empty((len(columns[0]), len(columns)), dtype=dtype)
        for number, (codes, final) in enumerate(zip(columns, self.maps, strict=True)):
            out[:, number] = final.astype(dtype)[codes]  # -1 looks up the last
        return out


def choose_alphabets(
    seen: Sequence[Seen], names: Names, rules: Rules, filled: Sequence[int], *, header: Names | None = None
) -> Alphabets:
    """Return the final alphabets of all columns.

    Parameters
    ----------
    seen
        What was seen in each column.
    names
        What messages call the columns.
    rules
        What the states are, and what a missing value is.
    filled
        Number of rows in which each column has a value.
    header
        The first line of a text file, which is refused if it looks like a row.
    """
    if not any(one.texts or one.has_gaps for one in seen):
        raise TooFewRowsError("there are no rows")
    for one, name, n_filled in zip(seen, names, filled, strict=True):
        if not one.texts:
            failure = DataError if rules.missing == "error" else TooFewRowsError
            raise failure(f"column '{name}' has no value in any row; leave it out, {PREPARE_ADVICE}")
        check_variety(name, len(one.texts), int(n_filled), max(rules.n_declared, len(one.categories)))
    check_minus_one(seen, names, rules)
    _check_numbers(seen, names, rules)
    texts = {text for one in seen for text in one.texts}
    wanted = rules.column_states([(*one.texts, *one.categories) for one in seen])
    has_gaps = any(one.has_gaps for one in seen)
    states = _all_states(texts, rules, seen, least=1 if has_gaps and rules.missing == "category" else 2)
    if header is not None and {*header} <= {*texts, *states}:
        raise DataError(
            f"the first line looks like data ({some_of(header)} {'is' if len(header) == 1 else 'are'} also "
            f"{'a state' if len(header) == 1 else 'states'}): if it is, say so with header=False (--no-header); if "
            "not, rename the columns"
        )
    shared = not rules.own and len({*wanted}) == 1
    own = None if shared else _own_alphabets(seen, wanted, rules)
    return _with_gaps(states, own, seen, rules)


def check_variety(name: str, n_values: int, n_rows: int, n_declared: int) -> None:
    """Refuse a column of measurements or identifiers: many values, or a new one in more than every other row."""
    many = n_values > MANY_STATES or (n_values > FEW_STATES and 2 * n_values > n_rows)
    if many and n_values > n_declared:
        more_rows_help = n_values <= MANY_STATES and not n_declared
        raise (TooFewRowsError if more_rows_help else DataError)(
            f"column '{name}' has {n_values:,} different values in {n_rows:,} rows; it looks like a measurement or "
            f"an identifier, not a state. Leave it out, bin it, or declare the states, {PREPARE_ADVICE}"
        )


def check_minus_one(seen: Sequence[Seen], names: Names, rules: Rules) -> None:
    """Refuse -1 in arrays where it may be a missing value, and the rules do not say so."""
    found = [(one.minus_one, name) for one, name in zip(seen, names, strict=True) if one.minus_one is not None]
    others = (text for one in seen for text in one.texts)
    if not found or rules.missing != "error" or any(text.startswith("-") and text != "-1" for text in others):
        return
    row, name = found[0]
    raise CellError(
        f"row {row}, column '{name}' is -1, the only number below 0; if -1 is a missing value, say so with "
        "missing='pairwise'; if it is a state, recode it or give texts: rows.astype(str), or a CSV file",
        column=name,
        row=row,
        value=-1,
    )


def _check_numbers(seen: Sequence[Seen], names: Names, rules: Rules) -> None:
    """Refuse one number written in two ways (1 and 1.0): as texts they would be two states."""
    if rules.states is not None:
        return
    columns = [(name, one.texts) for name, one in zip(names, seen, strict=True) if not one.declared]
    for group in [[one] for one in columns] if rules.own else [columns]:
        first: dict[Decimal, tuple[str, str]] = {}
        for name, texts in group:
            for text in sorted(texts):
                number = None if text.isdecimal() and text[0] != "0" else _number(text)
                key = Decimal(text) if number is None and text.isdecimal() else number
                if key is None:
                    continue
                other, where = first.setdefault(key, (text, name))
                if other != text:
                    raise DataError(
                        f"{other!r} (column '{where}') and {text!r} (column '{name}') are the same number: write "
                        f"them alike, or declare the states, {PREPARE_ADVICE}"
                    )


def _all_states(texts: set[str], rules: Rules, seen: Sequence[Seen], least: int) -> tuple[str, ...]:
    """Return the alphabet as declared, or 0..S-1 where that fits, or what was seen, in order."""
    if rules.states is not None:
        return tuple(rules.states)
    ordered = in_order(texts, agreed_order(one.categories for one in seen if one.categories))
    n_states = rules.n_states
    if n_states is not None:
        if all(text.isdecimal() and str(int(text)) == text and int(text) < n_states for text in ordered):
            return tuple(map(str, range(n_states)))
        if len(ordered) != n_states:
            raise (TooFewRowsError if len(ordered) < n_states else DataError)(
                f"{n_states} states were expected, the data have {len(ordered)}: {some_of(ordered)}; declare the "
                "states in their order"
            )
    if len(ordered) < least:
        raise TooFewRowsError(
            f"the whole table has one state only ({some_of(ordered)}), so there is nothing to learn"
        )
    return ordered


def _own_alphabets(
    seen: Sequence[Seen], wanted: Sequence[frozenset[str]], rules: Rules
) -> tuple[tuple[str, ...], ...]:
    """Return the states of each column in order; columns that share them agree on one order."""
    if rules.own:
        return tuple(in_order(some, one.categories) for one, some in zip(seen, wanted, strict=True))
    orders: dict[frozenset[str], list[Names]] = {}
    for one, some in zip(seen, wanted, strict=True):
        orders.setdefault(some, []).append(one.categories)
    ordered = {some: in_order(some, agreed_order(lists)) for some, lists in orders.items()}
    return tuple(ordered[some] for some in wanted)


def _with_gaps(
    states: tuple[str, ...], own: tuple[tuple[str, ...], ...] | None, seen: Sequence[Seen], rules: Rules
) -> Alphabets:
    """Return the alphabets with one more state for missing values, where these are a state."""
    gap, has_gaps = None, any(one.has_gaps for one in seen)
    if rules.missing == "category":
        is_declared = rules.states is not None and states[-1] == "missing"
        if is_declared or has_gaps:
            gap = "missing" if is_declared else gap_state(states)
        if has_gaps and not is_declared:
            states = (*states, str(gap))
        if has_gaps and own is not None and not is_declared:
            own = tuple(
                (*alphabet, str(gap)) if one.has_gaps else alphabet for alphabet, one in zip(own, seen, strict=True)
            )
    maps = []
    for column, one in enumerate(seen):
        code = {state: number for number, state in enumerate(states if own is None else own[column])}
        is_state = gap is not None and one.has_gaps
        maps.append(np.array([*(code[text] for text in one.texts), code[str(gap)] if is_state else -1]))
    return Alphabets(states, own, tuple(maps), gap)


def gap_state(taken: Collection[str]) -> str:
    """Return a name for missing values that no other state has: missing, missing_2, …."""
    names = ("missing" if number == 1 else f"missing_{number}" for number in count(1))
    return next(name for name in names if name not in taken)


def some_of(texts: Sequence[str]) -> str:
    """Return the first few of some texts."""
    return ", ".join(texts[:8]) + (" …" if len(texts) > 8 else "")
