"""Texts that are taken for states, but stand for a missing value in many tables: -1, -9, a dot, a dash."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kgmi.types import Names

__all__ = ["STAND_INS", "stand_in_columns"]

STAND_INS = ("-1", "-9", ".", "-")


def stand_in_columns(text: str, states: Names, occurring: Sequence[Collection[str]]) -> list[int]:
    """Columns in which one of :data:`STAND_INS` is a state and may be a gap, as all else in them looks different.

    Parameters
    ----------
    text
        The text that may stand for a missing value.
    states
        All states of the table. Where there are other numbers below 0, -1 and -9 are two of them, and no gaps.
    occurring
        For each column, the states that occur in it.
    """
    is_number = text[1:].isdecimal()
    if text not in states or (is_number and any(_is_below_zero(state) for state in states if state != text)):
        return []
    found = []
    for column, seen in enumerate(occurring):
        others = {*seen} - {text, "missing"}
        if text in seen and others and all(_looks_different(text, state) for state in others):
            found.append(column)
    return found


def _looks_different(text: str, state: str) -> bool:
    """-1 may be a code among words, but hardly among codes that begin at 0; signs are states among other signs."""
    return state.isdecimal() if text == "-1" else any(letter.isalnum() for letter in state)


def _is_below_zero(state: str) -> bool:
    return state.startswith("-") and state[1:].isdecimal()
