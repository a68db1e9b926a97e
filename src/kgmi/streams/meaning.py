"""``Meaning``: which state a value of a column is, by the rules of :mod:`kgmi.data`; every value is asked once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kgmi.data.checks import MANY_STATES, NUL_ADVICE, check_variety
from kgmi.data.columns import no_state, reading_of
from kgmi.data.origin import Origin
from kgmi.data.rules import Rules
from kgmi.data.states import MISSING, foreign_state
from kgmi.errors import DataError
from kgmi.streams.alphabets import Form
from kgmi.streams.seen import NUMBER, TEXT, TRUTH_VALUE, Seen
from kgmi.streams.settled import ROWS
from kgmi.types import Names

__all__ = ["Meaning"]

_GAP = -1
_FRAGMENT_CATEGORIES = 1 << 40  # places of categories in one fragment, so that those of the next come behind


class Meaning:
    """What the values of one column mean, as far as they were met.

    Parameters
    ----------
    label
        What messages call the column.
    name
        The name that it has where it comes from.
    rules, form, number
        See :class:`kgmi.streams.coding.Coder`.
    """

    def __init__(self, label: str, name: str, rules: Rules, form: Form, number: int) -> None:
        self._label, self._rules, self._form = label, rules, form
        self._first_place = number * _FRAGMENT_CATEGORIES
        self._states = frozenset(rules.states or ())
        by_text = rules.n_declared == 0 or any(state.isdecimal() for state in self._states)
        self._by_text = form.endswith("text") or (form == "frame" and by_text)
        self._codes: dict[str, int] = {}
        self._categories: dict[str, int] | None = None
        self._kinds = 0
        self._name = name
        self._seen = Seen(name)
        self.has_gaps = self.has_plain = False

    @property
    def n_texts(self) -> int:
        """How many states were met."""
        return len(self._codes)

    def seen(self) -> Seen:
        """What was seen so far; the same object while nothing is new."""
        categories = self._categories
        now = self._seen
        is_mixed = self.has_plain and categories is not None
        known = len(now.texts), now.kinds, now.has_gaps, now.is_mixed, len(now.places), now.categories is None
        here = len(self._codes), self._kinds, self.has_gaps, is_mixed, len(categories or ()), categories is None
        if here != known:
            listed = None if categories is None else tuple(categories)
            places = () if categories is None else tuple(categories.values())
            self._seen = Seen(self._name, tuple(self._codes), listed, places, self.has_gaps, self._kinds, is_mixed)
        return self._seen

    def declare(self, categories: Names) -> None:
        """Note categories that the type of the column lists, behind those that it listed before."""
        if self._categories is None:
            self._categories = {}
        for text in categories:
            self._categories.setdefault(text, self._first_place + len(self._categories))

    def code_of(self, value: Any, place: Callable[[], str], n_rows: int) -> int:
        """The code of a value, -1 where it is none; ``place`` says where it stands, ``n_rows`` how many came."""
        reading = reading_of(value)
        if reading is None:
            if self._categories is None:
                raise no_state(place(), value)
            reading = str(value), None  # who declared dates to be categories meant them as states
        text, number = reading
        if text is None:
            return _GAP
        if number is None:
            kind = TEXT
            if self._form.endswith("text"):
                _check_line(text, place)
        else:
            kind = TRUTH_VALUE if text in ("False", "True") else NUMBER
        if self._form == "numbers":
            text = str(number)
        if text not in self._states and text not in (self._categories or ()):
            text = text.strip()
            if text in MISSING:
                return _GAP
        if self._form == "numbers" and number == -1 and self._rules.missing != "error":
            return _GAP
        if text not in self._codes:
            self._check(text, number, place)
            self._codes[text] = len(self._codes)
            self._check_variety(n_rows)
        self._kinds |= kind
        return self._codes[text]

    def _check(self, text: str, number: int | None, place: Callable[[], str]) -> None:
        """Refuse at once, with its place, what can be no state whatever else comes."""
        if self._states and text not in self._states and (self._by_text or number is None):
            raise foreign_state(place(), text, self._rules.states or ())
        if self._form != "numbers" or number is None:
            return
        n_declared = self._rules.n_declared
        if n_declared and not 0 <= number < n_declared:
            advice = "recode it: codes start at 0" if number < 0 else "recode it or raise n_states"
            raise DataError(f"{place()} is {number}, outside the alphabet 0..{n_declared - 1}; {advice}")
        if number < -1 and self._rules.missing != "error":
            raise DataError(
                f"{place()} is {number}, but with missing='{self._rules.missing}' numbers below 0 other than -1, "
                "which is a missing value, are no states; recode it or give texts"
            )

    def _check_variety(self, n_rows: int) -> None:
        """Stop when there are too many values for any column of states, however many rows follow."""
        if len(self._codes) > MANY_STATES:
            n_declared = max(self._rules.n_declared, len(self._categories or ()))
            check_variety(Origin(ROWS, lambda _, label: label), self._label, len(self._codes), n_rows, n_declared)


def _check_line(text: str, place: Callable[[], str]) -> None:
    """Refuse a text with a NUL byte or an end of line in it, as :func:`kgmi.data.read_table` does."""
    if "\0" in text:
        raise DataError(f"{place()}: the value {text!r} {NUL_ADVICE}")
    if "\n" in text or "\r" in text:
        raise DataError(
            f"{place()}: the value runs over the end of the line ({text[:30]!r}); is a quote not closed?"
        )
