"""Edges, tiers and other limits as they are written on the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from kgmi.errors import SettingError
from kgmi.types import Names

__all__ = [
    "QUOTES",
    "read_classes",
    "read_edges",
    "read_error",
    "read_limits",
    "read_names",
    "read_order",
    "read_penalty",
    "read_roots",
    "read_tiers",
]

QUOTES = 'Quote names with such signs: "a, b".'
"""What the help says of every list of names."""

_ADVICE = 'names that contain such signs stand in double quotes, and a quote inside them twice: "a, b"'


def read_names(text: str, option: str) -> list[str]:
    """``A,B`` as names."""
    names, _ = _split(text, ",", option)
    if "" in names:
        raise SettingError(f"{option} takes names separated by commas, got {text!r}; {_ADVICE}")
    return names


def read_roots(text: str | None, columns: Names) -> list[str] | Literal["test"]:
    """``A,B`` as names of columns; all other columns have parents. By default they are found."""
    if text is None:
        return "test"
    names = read_names(text, "--roots")
    for name in names:
        if name not in columns:
            raise SettingError(f"--roots names {name!r}, which is no column of the table; {_ADVICE}")
    return names


def read_edges(text: str | None, option: str) -> list[tuple[int | str, int | str]] | None:
    """``A>B,C>D`` as pairs (parent, child) of column names."""
    if text is None:
        return None
    names, signs = _split(text, ",>", option)
    if "" in names or not signs or "".join(signs) != ",".join(">" * (len(names) // 2)):
        raise SettingError(f"{option} takes edges PARENT>CHILD separated by commas, got {text!r}; {_ADVICE}")
    return list(zip(names[::2], names[1::2], strict=True))


def read_tiers(text: str | None) -> list[list[int | str]] | None:
    """``A,B|C,D|E`` as groups of column names, earliest first."""
    return _read_groups(text, "tiers")


def read_classes(text: str | None) -> list[list[int | str]] | None:
    """``A,B|C,D`` as groups of column names; the other columns are one more."""
    return _read_groups(text, "classes")


def _read_groups(text: str | None, what: str) -> list[list[int | str]] | None:
    if text is None:
        return None
    names, signs = _split(text, ",|", f"--{what}")
    if "" in names:
        raise SettingError(
            f"--{what} takes columns separated by commas and {what} separated by |, got {text!r}; {_ADVICE}"
        )
    groups: list[list[int | str]] = [[]]
    for name, sign in zip(names, [*signs, ""], strict=True):
        groups[-1].append(name)
        if sign == "|":
            groups.append([])
    return groups


def read_order(text: str) -> Literal["given", "learn"] | list[str]:
    """``given``, ``learn``, or ``A,B,C``: the columns in their order."""
    return text if text in ("given", "learn") else read_names(text, "--order")  # type: ignore[return-value]


def read_penalty(text: str) -> str | float:
    """A penalty by name, or nats per parameter."""
    try:
        return float(text)
    except ValueError:
        return text


def read_error(text: str) -> float | Literal["estimate"]:
    """A rate of errors, or ``estimate``."""
    if text == "estimate":
        return "estimate"
    try:
        return float(text)
    except ValueError:
        raise SettingError(f"--error takes a rate between 0 and 1, or estimate; got {text!r}") from None


def _split(text: str, signs: str, option: str) -> tuple[list[str], list[str]]:
    """The names in a text, without the spaces around them, and the signs between them.

    A name that begins with a double quote ends with one, and inside it signs are text; elsewhere a quote is nothing
    special, as in a file of commas.
    """
    sign = f"[{re.escape(signs)}]"
    one = re.compile(rf'\s*(?:"((?:[^"]|"")*)"\s*(?={sign}|$)|((?:(?!{sign}).)*))', re.DOTALL)
    names: list[str] = []
    between: list[str] = []
    place = 0
    while True:
        found = one.match(text, place)
        assert found is not None  # no letters at all are a match too
        inside, plain = found[1], (found[2] or "").strip()
        if plain.startswith('"'):
            raise SettingError(f"{option}: the quote in {text[place:]!r} is not closed behind the name; {_ADVICE}")
        names.append(plain if inside is None else inside.replace('""', '"'))
        place = found.end()
        if place == len(text):
            return names, between
        between.append(text[place])
        place += 1


def read_limits(told: Mapping[str, Any]) -> dict[str, Any]:
    """What a command was told of its columns, as options of :func:`kgmi.learn`."""
    return {
        "classes": read_classes(told["classes"]),
        "order": read_order(told["order"]),
        "error": read_error(told["error"]),
        "forbidden": read_edges(told["forbid"], "--forbid"),
        "required": read_edges(told["require"], "--require"),
        "tiers": read_tiers(told["tiers"]),
    }
