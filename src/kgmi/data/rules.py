"""``Rules``: the choices by which cells become codes, the same for files, frames and arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, TypeAlias, get_args

from kgmi.data.states import choose_states, common_states
from kgmi.errors import SettingError
from kgmi.types import Names

__all__ = ["MISSING_ADVICE", "Alphabet", "Missing", "Rules", "listed", "whole"]

Missing: TypeAlias = Literal["error", "category", "pairwise"]
"""What a cell without a value is: an error, a state of its own, or nothing (code -1)."""
Alphabet: TypeAlias = Literal["auto", "shared", "own"]
"""Whether all columns share one alphabet, each has its own, or the values decide (``auto``)."""

MISSING_ADVICE = (
    "missing='pairwise' (--missing pairwise) leaves it out of the counts that need it, missing='category' makes it "
    "a state"
)
"""What else can be done about a missing value than to fill it in."""


@dataclass(frozen=True)
class Rules:
    """How cells become codes; see :func:`kgmi.data.as_table` for what each choice means."""

    states: Names | None = None
    n_states: int | None = None
    missing: Missing = "error"
    alphabet: Alphabet = "auto"

    def __post_init__(self) -> None:
        _check_choice("missing", self.missing, get_args(Missing))
        _check_choice("alphabet", self.alphabet, get_args(Alphabet))
        if self.n_states is not None:
            object.__setattr__(self, "n_states", whole("n_states", self.n_states))
        if self.states is not None:
            object.__setattr__(self, "states", listed("states", self.states))
            choose_states((), self.states, self.n_states)
        if self.own and (self.states is not None or self.n_states is not None):
            declared = "states" if self.states is not None else "n_states"
            raise SettingError(
                f"{declared} declares one alphabet for all columns, alphabet='own' gives each column its own: "
                f"leave {declared} out, or declare the categories of each column in a data frame"
            )

    @property
    def own(self) -> bool:
        """Whether each column has an alphabet of its own."""
        return self.alphabet == "own"

    def column_states(self, values: Sequence[Collection[str]]) -> list[frozenset[str]]:
        """Return the states of each column, given the values that occur or are declared in each.

        With ``auto`` columns over one set of values share it, see :func:`kgmi.data.states.common_states`.
        """
        own = [frozenset(some) for some in values]
        if self.own:
            return own
        if self.alphabet == "shared" or self.n_declared:
            return [frozenset().union(*own)] * len(own)
        return common_states(own)

    @property
    def n_declared(self) -> int:
        """Number of states that were declared, or 0."""
        return self.n_states or 0 if self.states is None else len(self.states)


def listed(option: str, given: Any) -> tuple[Any, ...]:
    """What an option lists, as often as it is asked for; refused where it lists nothing."""
    if not isinstance(given, Iterable):
        raise SettingError(f"{option} must be a list of texts, got {given!r}")
    return tuple(given)


def whole(option: str, given: Any) -> int:
    """A whole number, of whatever library; refused where it is none."""
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise SettingError(f"{option} must be a whole number, got {given!r}")
    return int(given)


def _check_choice(option: str, chosen: object, choices: tuple[str, ...]) -> None:
    if not isinstance(chosen, str) or chosen not in choices:
        raise SettingError(f"{option} must be one of {', '.join(map(repr, choices))}, got {chosen!r}")
