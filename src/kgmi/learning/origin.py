"""Where the rows of a result came from: which table, how it was read, and by which command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgmi.table import Table

__all__ = ["flat_settings", "keep_origin", "origin_of", "reading_of", "stream_of"]

_OPTIONS = ("n_states", "states", "missing", "missing_values", "alphabet", "header", "names", "columns", "drop")


def reading_of(given: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """How :func:`kgmi.learn` was told to read its rows, where that is not as usual; ``names`` where given anew."""
    rows, names = given["rows"], given["names"]
    found = {name: given[name] for name in ("missing", "alphabet") if given[name] != usual[name]}
    if given["n_states"] is not None:
        found["n_states"] = int(given["n_states"])
    if given["states"] is not None:
        found["states"] = [str(state) for state in given["states"]]
    frame = type(rows).__name__ == "DataFrame"  # of pandas or Polars, neither of which need be there
    own = rows.names if isinstance(rows, Table) else rows.columns if frame else ()
    if names is not None and [*map(str, own)] != [*map(str, names)]:
        found["names"] = True
    return found


def keep_origin(
    configuration: dict[str, Any],
    table: str | None,
    reading: Mapping[str, Any],
    command: str | None = None,
    stream: Mapping[str, Any] | None = None,
) -> None:
    """Tell the configuration of a result the ``table`` and the ``command`` behind it, and how the file was read.

    ``reading`` are options of :func:`kgmi.read_table`, or of :func:`kgmi.prepare`, that are not as usual;
    ``stream`` is what else :func:`kgmi.stream` was told, where rows came in pieces (sources, columns, where).
    """
    configuration.pop("reading", None)  # learn only saw what came of the file
    if reading:
        configuration["reading"] = dict(reading)
    configuration["origin"] = {"table": table, "command": command} | ({"stream": dict(stream)} if stream else {})


def origin_of(configuration: Mapping[str, Any]) -> tuple[str | None, str | None, dict[str, Any]]:
    """Table, command, and how it was read; None and nothing where a result (of an earlier version) is silent."""
    origin, reading = (configuration.get(key) for key in ("origin", "reading"))
    known = origin if isinstance(origin, dict) else {}
    table, command = (known.get(key) if isinstance(known.get(key), str) else None for key in ("table", "command"))
    told = reading if isinstance(reading, dict) else {}
    return table, command, {name: value for name, value in told.items() if name in _OPTIONS}


def stream_of(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """What :func:`kgmi.stream` was told beside how cells are read; nothing where rows were in memory."""
    origin = configuration.get("origin")
    told = origin.get("stream") if isinstance(origin, dict) else None
    return dict(told) if isinstance(told, dict) else {}


def flat_settings(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without origin and names, which are none, and with each option of reading by its own name."""
    all_of_them = {**configuration, **origin_of(configuration)[2]}
    return {name: value for name, value in all_of_them.items() if name not in ("origin", "reading", "names")}
