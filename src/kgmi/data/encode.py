"""From columns of texts to a ``Table`` of codes, by the rules for alphabets and missing values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from kgmi.data.checks import check_header, check_lines, check_missing, check_numbers, check_variety
from kgmi.data.columns import Column
from kgmi.data.origin import Origin
from kgmi.data.recode import gaps_as_state
from kgmi.data.rules import Rules
from kgmi.data.states import MISSING, agreed_order, choose_states, foreign_state, in_order
from kgmi.data.table import Table
from kgmi.types import Codes, Names

__all__ = ["table_of"]

_OUTSIDE = -2  # a text that is not in the alphabet, until it is refused


@dataclass(frozen=True, eq=False)
class _Clean:
    """A column whose texts are states or None, with the states that occur in it and whether there are gaps."""

    column: Column
    seen: tuple[str, ...]
    has_gaps: bool

    @property
    def order(self) -> tuple[str, ...]:
        return self.column.declared or ()


def table_of(columns: Sequence[Column], rules: Rules, origin: Origin) -> Table:
    """A table from its columns.

    Parameters
    ----------
    columns
        All of the same length; the texts may still have spaces around them and may still mean «no value».
    rules
        What the states are and what becomes of missing values.
    origin
        What messages call the table and its cells.
    """
    clean = [_clean(column, rules, origin) for column in columns]
    wanted = rules.column_states([(*one.seen, *one.order) for one in clean])
    if rules.own:
        for one in clean:
            if one.column.declared is None:
                check_numbers(origin, [one.column.label], [one.seen])
    elif rules.states is None:
        check_numbers(origin, [one.column.label for one in clean], [(*one.seen, *one.order) for one in clean])
    seen = set(chain.from_iterable(one.seen for one in clean))
    order = agreed_order(one.order for one in clean)
    gaps_are_a_state = rules.missing == "category" and any(one.has_gaps for one in clean)
    states = choose_states(seen, rules.states, rules.n_states, order, least=1 if gaps_are_a_state else 2)
    names = tuple(column.name for column in columns)
    if origin.has_header:
        check_header(origin, names, {*seen, *states})
    shared = not rules.own and len({*wanted}) == 1
    alphabets = (states,) * len(columns) if shared else _alphabets(clean, wanted, rules)
    longest = max(len(alphabet) for alphabet in alphabets)
    codes = np.empty((columns[0].index.size, len(columns)), dtype=np.min_scalar_type(-longest))
    for number, (one, alphabet) in enumerate(zip(clean, alphabets, strict=True)):
        codes[:, number] = _coded(one.column, alphabet, codes.dtype, origin)
    table = Table(codes, names, states, None if shared else alphabets)
    return gaps_as_state(table, declared=rules.states is not None) if rules.missing == "category" else table


def _alphabets(
    clean: Sequence[_Clean], wanted: Sequence[frozenset[str]], rules: Rules
) -> tuple[tuple[str, ...], ...]:
    """The states of each column in order; columns that share them agree on one order."""
    if rules.own:
        return tuple(in_order(some, one.order) for one, some in zip(clean, wanted, strict=True))
    orders: dict[frozenset[str], list[Names]] = {}
    for one, some in zip(clean, wanted, strict=True):
        orders.setdefault(some, []).append(one.order)
    ordered = {some: in_order(some, agreed_order(those)) for some, those in orders.items()}
    return tuple(ordered[some] for some in wanted)


def _clean(column: Column, rules: Rules, origin: Origin) -> _Clean:
    """Spaces taken off, texts that mean «no value» set to None; gaps and measurements refused."""
    if origin.is_text:
        check_lines(origin, column)
    declared = {*(rules.states or ()), *(column.declared or ())}
    trimmed = [text if text is None or text in declared else text.strip() for text in column.texts]
    texts = tuple(None if text in MISSING and text not in declared else text for text in trimmed)
    occurs = np.bincount(np.add(column.index, 1, dtype=np.int64), minlength=len(texts) + 1)[1:] > 0
    seen = tuple(dict.fromkeys(text for text, used in zip(texts, occurs, strict=True) if used and text is not None))
    gaps = np.array([*(text is None for text in texts), True])[column.index]  # -1 looks at the last
    check_missing(origin, column.label, gaps, rules.missing, lambda row: _shown(column, trimmed, row))
    n_filled = int(gaps.size - np.count_nonzero(gaps))
    check_variety(origin, column.label, len(seen), n_filled, max(rules.n_declared, len(column.declared or ())))
    return _Clean(replace(column, texts=texts), seen, n_filled < gaps.size)


def _shown(column: Column, texts: Sequence[str | None], row: int) -> str:
    """How a cell without a value reads."""
    text = None if column.index[row] < 0 else texts[column.index[row]]
    return "no value" if text is None else repr(text)


def _coded(column: Column, alphabet: Names, dtype: np.dtype[np.generic], origin: Origin) -> Codes:
    """The codes of one column, -1 for a gap; a state outside the alphabet is an error at its first cell."""
    number = {state: code for code, state in enumerate(alphabet)}
    codes = [-1 if text is None else number.get(text, _OUTSIDE) for text in column.texts]
    coded: Codes = np.array([*codes, -1], dtype=dtype)[column.index]
    if _OUTSIDE in codes and (coded == _OUTSIDE).any():
        row = int(np.flatnonzero(coded == _OUTSIDE)[0])
        raise foreign_state(origin.place(row, column.label), str(column.texts[column.index[row]]), alphabet)
    return coded
