"""Edges, tiers and other limits as they are written on the command line."""

from __future__ import annotations

from typing import Literal

from kgmi.errors import SettingError

__all__ = ["read_edges", "read_error", "read_penalty", "read_tiers"]


def read_edges(text: str | None, option: str) -> list[tuple[int | str, int | str]] | None:
    """``A>B,C>D`` as pairs (parent, child) of column names."""
    if text is None:
        return None
    edges: list[tuple[int | str, int | str]] = []
    for part in text.split(","):
        parent, arrow, child = (piece.strip() for piece in part.partition(">"))
        if not (parent and arrow and child):
            raise SettingError(f"{option} takes edges PARENT>CHILD separated by commas, got {part!r}")
        edges.append((parent, child))
    return edges


def read_tiers(text: str | None) -> list[list[int | str]] | None:
    """``A,B|C,D|E`` as groups of column names, earliest first."""
    if text is None:
        return None
    groups: list[list[int | str]] = [[name.strip() for name in part.split(",")] for part in text.split("|")]
    if any("" in group for group in groups):
        raise SettingError(f"--tiers takes columns separated by commas and tiers separated by |, got {text!r}")
    return groups


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
