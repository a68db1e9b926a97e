"""Options that a function hands on to another: one that neither knows is refused by name."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable
from difflib import get_close_matches

from kgmi.errors import SettingError

__all__ = ["check_options", "stream_options"]


def stream_options() -> tuple[str, ...]:
    """The names of the options of :func:`kgmi.stream`."""
    from kgmi.sources import stream

    return tuple(inspect.signature(stream).parameters)[1:]


def check_options(given: Iterable[str], known: Collection[str], function: str, own: Collection[str] = ()) -> None:
    """Refuse an option that a function neither hands on (``known``) nor has itself (``own``)."""
    for name in given:
        if name not in known:
            close = get_close_matches(name, [*own, *known], 1)
            meant = f"did you mean {close[0]}?" if close else f"there are {', '.join((*own, *known))}"
            raise SettingError(f"{function} has no option {name}; {meant}")
