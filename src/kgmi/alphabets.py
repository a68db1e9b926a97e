"""Alphabets: which states a column has, and which columns share them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from itertools import chain, count
from numbers import Integral
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from kgmi.errors import DataError, SettingError, TooFewRowsError, TooLargeError
from kgmi.types import Codes, Ints, Names

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "./.", ".|."})
"""Texts that are missing values; the last two are genotypes that could not be called (VCF)."""
PREPARE_ADVICE = "or let kgmi.prepare (kgmi learn --prepare) do it"
"""What to do about a table that needs cleaning."""

Missing: TypeAlias = Literal["error", "category", "pairwise"]
"""What a missing value is: an error, one more state, or left out of the counts that need it (code -1)."""
Alphabet: TypeAlias = Literal["auto", "shared", "own"]
"""Whether all columns share one alphabet, each has its own, or the values decide."""
MANY_STATES = 1_000  # more different values than this are measurements or identifiers
FEW_STATES = 20  # up to here, a short table may show a new state in every other row
_MOST_STATES = 1_000_000


@dataclass(frozen=True)
class Rules:
    """How cells become codes; :func:`kgmi.table.as_table` describes the choices."""

    states: Names | None = None
    n_states: int | None = None
    missing: Missing = "error"
    alphabet: Alphabet = "auto"

    def __post_init__(self) -> None:
        for name, choices in (("missing", get_args(Missing)), ("alphabet", get_args(Alphabet))):
            if (chosen := getattr(self, name)) not in choices:
                raise SettingError(f"{name} must be one of {', '.join(map(repr, choices))}, got {chosen!r}")
        if self.n_states is not None:
            size = whole_number("n_states", self.n_states, least=2)
            if size > _MOST_STATES:
                raise TooLargeError(f"n_states is {size:,}; the limit is {_MOST_STATES:,} states")
            object.__setattr__(self, "n_states", size)
        if self.states is not None:
            states = listed("states", self.states)
            if not all(isinstance(one, str) for one in states) or len({*states}) < max(2, len(states)):
                raise DataError(f"states must be two or more different texts, got {list(states)}")
            if self.n_states not in (None, len(states)):
                raise SettingError(f"n_states is {self.n_states}, but {len(states)} states are declared")
            object.__setattr__(self, "states", states)
        if self.own and self.n_declared:
            raise SettingError(
                "states and n_states declare one alphabet for all columns, and alphabet='own' gives each its own; "
                "leave one of them out, or declare the categories of each column in a data frame"
            )

    @property
    def own(self) -> bool:
        """Whether each column has its own alphabet."""
        return self.alphabet == "own"

    @property
    def n_declared(self) -> int:
        """Number of declared states, or 0."""
        return self.n_states or 0 if self.states is None else len(self.states)

    @property
    def declared(self) -> tuple[str, ...]:
        """The declared states, or 0..S-1 where only their number is declared."""
        return tuple(self.states or map(str, range(self.n_declared)))

    def column_states(self, values: Sequence[Collection[str]]) -> list[frozenset[str]]:
        """Return the states of each column, given the values that occur or are declared in each.

        With ``auto``, columns that are linked by common values form a group. A group shares one alphabet if one of
        its columns has all values of the group; columns with fewer than half of them are grouped separately, by the
        same rule.
        """
        own = [frozenset(some) for some in values]
        if self.own:
            return own
        if self.alphabet == "shared" or self.n_declared:
            return [frozenset().union(*own)] * len(own)
        states = _shared_sets(own)
        return [states[some] for some in own]


def whole_number(option: str, given: Any, least: int | None = None) -> int:
    """Return a whole number of any integer type as an int."""
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise SettingError(f"{option} must be a whole number, got {given!r}")
    if least is not None and given < least:
        raise SettingError(f"{option} must be at least {least}, got {given!r}")
    return int(given)


def listed(option: str, given: Any) -> tuple[Any, ...]:
    """Return a list, which may be of any type but a text, as a tuple."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SettingError(f"{option} must be a list of texts, got {given!r}")
    return tuple(given)


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
    """What was seen in one column; joining several fragments gives the same states in any order."""

    texts: tuple[str, ...] = ()  # texts[code]: the state, in order of first appearance
    declared: tuple[tuple[str, ...], ...] | None = None  # lists of categories; None where some rows declare none
    has_gaps: bool = False  # whether a value was missing

    @property
    def categories(self) -> tuple[str, ...]:
        """The declared categories in one order."""
        return agreed_order(self.declared or ())

    def joined(self, other: Seen) -> Seen:
        """Return what was seen in both; codes of ``self`` keep their meaning."""
        has_gaps = self.has_gaps or other.has_gaps
        for one, empty in ((self, other), (other, self)):
            if not empty.texts and empty.declared is None:  # missing values at most
                return replace(one, has_gaps=has_gaps)
        declared = None
        if self.declared is not None and other.declared is not None:
            declared = tuple(sorted({*self.declared, *other.declared}))
        elif odd := MISSING.intersection(chain.from_iterable(self.declared or other.declared or ())):
            raise DataError(
                f"a column declares the category {min(odd)!r} in some rows and is plain text in others, where that "
                "is a missing value; declare the categories everywhere, or nowhere"
            )
        texts = tuple(dict.fromkeys((*self.texts, *other.texts)))
        return Seen(texts, declared, has_gaps)


def joined_seen(seen: Sequence[Seen], other: Sequence[Seen]) -> tuple[Seen, ...]:
    """Return what was seen in the columns of two fragments."""
    if seen == other:
        return tuple(seen)
    return tuple(mine.joined(theirs) for mine, theirs in zip(seen, other, strict=True))


@dataclass(frozen=True, eq=False)
class Coded:
    """Some rows as codes, numbered in the order in which values were met."""

    columns: Codes  # [column, row]: -1 where the value is missing
    seen: tuple[Seen, ...]  # what the codes of each column mean; later rows may have more states


def agreed_order(lists: Iterable[Names]) -> tuple[str, ...]:
    """Return all categories in the order of the longest list; those of other lists follow."""
    different = sorted({tuple(names) for names in lists}, key=lambda names: (-len(names), names))
    return tuple(dict.fromkeys(chain.from_iterable(different)))


def in_order(texts: Collection[str], first: Names = ()) -> tuple[str, ...]:
    """Return categories as given, then the other texts: numbers by value, then words."""
    others = [(_number(text), text) for text in set(texts).difference(first)]
    numbers = sorted((number, text) for number, text in others if number is not None)
    return (*first, *(text for _, text in numbers), *sorted(text for number, text in others if number is None))


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
    """What the states are in the end."""

    states: tuple[str, ...]  # the alphabet that all columns share, or the states of all columns together
    own: tuple[tuple[str, ...], ...] | None  # the alphabet of each column; None where all share ``states``
    gap: str | None  # the state for missing values; None if missing values are no state
    codes: tuple[Mapping[str, int], ...]  # codes[column][state]
    gaps: tuple[int, ...]  # gaps[column]: the code of missing values, -1 where they are no state

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of states of every column."""
        return tuple(map(len, self.codes))

    def maps(self, seen: Sequence[Seen]) -> list[Ints]:
        """Return [column][code]: the final code of every code; see :func:`code_maps`."""
        return code_maps(seen, self.codes, self.gaps)

    def coded(self, rows: Coded) -> Codes:
        """Return rows in final codes [row, column]."""
        dtype = code_type(max(self.sizes))
        out: Codes = np.empty(rows.columns.shape[::-1], dtype=dtype)
        for number, final in enumerate(self.maps(rows.seen)):
            out[:, number] = final.astype(dtype)[rows.columns[number]]  # -1 looks up the last
        return out


def choose_alphabets(
    seen: Sequence[Seen], names: Names, rules: Rules, filled: Sequence[int], *, header: Names | None = None
) -> Alphabets:
    """Return the final alphabets of all columns, by what was seen in each of them.

    ``filled[column]`` is the number of rows that have a value; ``names`` are for messages. ``header`` is the first
    line of a text file, which is refused if it looks like a row.
    """
    if not any(one.texts or one.has_gaps for one in seen):
        raise TooFewRowsError("there are no rows")
    for one, name, n_filled in zip(seen, names, filled, strict=True):
        check_variety(name, len(one.texts), int(n_filled), max(rules.n_declared, len(one.categories)))
    _check_numbers(seen, names, rules)
    states = _all_states(seen, rules)
    if header is not None and {*header} <= {*states}.union(*(one.texts for one in seen)):
        raise DataError(
            f"the first line looks like data: {some_of(header)} are also states. If it is data, use header=False "
            "(--no-header); if not, rename the columns"
        )
    own = _own_alphabets(seen, rules)
    gap, has_gap = None, [one.has_gaps and rules.missing == "category" for one in seen]
    if rules.missing == "category" and rules.states is not None and states[-1] == "missing":
        gap = "missing"
    elif any(has_gap):
        gap = next(name for name in chain(["missing"], map("missing_{}".format, count(2))) if name not in states)
        states = (*states, gap)
        own = own and tuple((*one, gap) if some else one for one, some in zip(own, has_gap, strict=True))
    codes = code_of_each([states] * len(seen) if own is None else own)
    gaps = tuple(code[str(gap)] if some else -1 for code, some in zip(codes, has_gap, strict=True))
    return Alphabets(states, own, gap, codes, gaps)


def code_of_each(states: Iterable[Names]) -> tuple[dict[str, int], ...]:
    """Return the code of every state of each column, from its ``states`` in order."""
    return tuple({state: code for code, state in enumerate(some)} for some in states)


def code_maps(seen: Sequence[Seen], codes: Sequence[Mapping[str, int]], gaps: Sequence[int]) -> list[Ints]:
    """Return [column][code]: what every code becomes; the last entry is for missing values, from ``gaps``."""
    each = zip(seen, codes, gaps, strict=True)
    return [np.array([*(new[text] for text in one.texts), gap]) for one, new, gap in each]


def check_variety(name: str, n_values: int, n_rows: int, n_declared: int) -> None:
    """Refuse a column of measurements or identifiers: many values, or a new one in more than every other row."""
    many = n_values > MANY_STATES or (n_values > FEW_STATES and 2 * n_values > n_rows)
    if many and n_values > n_declared:
        more_rows_help = n_values <= MANY_STATES and not n_declared
        raise (TooFewRowsError if more_rows_help else DataError)(
            f"column '{name}' has {n_values:,} different values in {n_rows:,} rows; it looks like a measurement or "
            f"an identifier, not a state. Leave it out, bin it, or declare the states, {PREPARE_ADVICE}"
        )


def _check_numbers(seen: Sequence[Seen], names: Names, rules: Rules) -> None:
    """Refuse one number written in two ways (1 and 1.0): as texts they would be two states."""
    first: dict[tuple[Decimal | None, str], tuple[str, str]] = {}
    for name, one in zip(names, seen, strict=True):
        for text in () if rules.states is not None or one.declared else sorted(one.texts):
            number = _number(text)
            other, where = first.setdefault((number, name if rules.own else ""), (text, name))
            if number is not None and other != text:
                raise DataError(
                    f"{other!r} (column '{where}') and {text!r} (column '{name}') are the same number: write them "
                    f"alike, or declare the states, {PREPARE_ADVICE}"
                )


def _all_states(seen: Sequence[Seen], rules: Rules) -> tuple[str, ...]:
    """Return the alphabet as declared, or 0..S-1 where that fits, or the states that were seen, in order."""
    if rules.states is not None:
        return tuple(rules.states)
    texts = {text for one in seen for text in one.texts}
    ordered = in_order(texts, agreed_order(one.categories for one in seen))
    if rules.n_states is not None:
        if {*ordered} <= {*rules.declared}:
            return rules.declared
        if len(ordered) != rules.n_states:
            raise (TooFewRowsError if len(ordered) < rules.n_states else DataError)(
                f"{rules.n_states} states were expected, the data have {len(ordered)}: {some_of(ordered)}; declare "
                "the states in their order"
            )
    return ordered


def _own_alphabets(seen: Sequence[Seen], rules: Rules) -> tuple[tuple[str, ...], ...] | None:
    """Return the alphabet of each column; None where all share one."""
    wanted = rules.column_states([(*one.texts, *one.categories) for one in seen])
    if not rules.own and len({*wanted}) == 1:
        return None
    groups: list[Any] = [*range(len(seen))] if rules.own else wanted
    orders: dict[Any, list[Names]] = {}
    for group, one in zip(groups, seen, strict=True):
        orders.setdefault(group, []).append(one.categories)
    return tuple(in_order(some, agreed_order(orders[group])) for group, some in zip(groups, wanted, strict=True))


def some_of(texts: Sequence[str]) -> str:
    """Return the first few of some texts."""
    return ", ".join(texts[:8]) + (" …" if len(texts) > 8 else "")
