"""From a stream of rows to counts that a fit starts from: how many passes, which sets of columns, who counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING, Any

from kgmi.counts.stream import count
from kgmi.counts.tally import family_width
from kgmi.errors import DataError, SettingError
from kgmi.learning.settings import SEARCHING
from kgmi.sources import stream
from kgmi.sources.base import Stream

if TYPE_CHECKING:
    from kgmi.learning.shortlist import ShortList

__all__ = ["check_streamed", "counted", "counted_parents", "is_streamed"]

_OF_LIMITS = ("order", "forbidden", "required", "tiers", "max_lag", "roots", "classes")
_OF_KERNELS = ("kernel", "kernel_source", "guide", "in_degree", "penalty", "share", "error", "smoothing")
_OF_SEARCH = ("search", "list_length", "starts", "rounds", *_OF_LIMITS, *_OF_KERNELS)
_FEW_SETS = 5_000  # that are counted in next to no time more than pairs


def is_streamed(rows: object) -> bool:
    """Whether rows come in pieces: a stream, or what lies on a Dask cluster."""
    return isinstance(rows, Stream) or _is_dask(rows)


def check_streamed(given: Mapping[str, Any]) -> None:
    """Refuse a checkpoint or a cluster for rows that are in memory."""
    for name in ("checkpoint", "cluster"):
        if given[name] is not None and not is_streamed(given["rows"]):
            raise SettingError(f"{name} goes with rows that come in pieces; give kgmi.stream(…)")


def counted(given: Mapping[str, Any], usual: Mapping[str, Any], guide: str, n_heads: int | None) -> dict[str, Any]:
    """What was given to :func:`kgmi.learn`, with counts in the place of a stream.

    Sets of K + 1 columns are counted, in one pass; for the guides of pairs, of many columns, only pairs.
    """
    for name in ("states", "n_states", "missing", "alphabet"):
        if given[name] != usual[name]:
            raise SettingError(f"{name} does not go with a stream here; give it to kgmi.stream")
    if given["windows"] is not None:
        raise SettingError("windows are cut from a sequence in memory, not from a stream; give the rows themselves")
    if given["device"] is not None:
        raise SettingError("a device learns from rows in memory, not from a stream; leave device out")
    rows, kernel = given["rows"], given["kernel"]
    rows = stream(rows) if _is_dask(rows) else rows
    rules, n_nodes = rows.rules, len(rows.names)
    if n_nodes < 2:
        raise DataError("learning a graph needs at least two columns")
    if n_heads is not None and n_heads >= n_nodes:
        raise SettingError(f"{n_heads} parents need at least {n_heads + 1} columns, got {n_nodes}")
    if kernel is not None and rules.n_states is None and rules.states is None and not rules.own:
        rows = replace(rows, rules=replace(rules, n_states=kernel.n_states))  # as for rows
    elif guide == "contextual" and rules.alphabet == "auto":
        rows = replace(rows, rules=replace(rules, alphabet="shared"))  # as for rows
    heads = counted_parents(n_nodes, guide, n_heads)
    short = _short_list(rows, heads, given) if guide in SEARCHING else None
    sets = None if short is None else short.sets
    has_gaps = rules.missing == "pairwise" and guide in SEARCHING
    width = family_width(heads, n_nodes, has_gaps=has_gaps)
    counts = count(rows, width=width, sets=sets, checkpoint=given["checkpoint"], cluster=given["cluster"])
    declared = {} if rules.states is None else {"states": list(rules.states)}
    return {**given, "rows": counts, "short": short, "reading": dict(counts.reading) | declared}


def counted_parents(n_nodes: int, guide: str, n_heads: int | None) -> int:
    """For how many parents counts of so many columns are made."""
    heads = n_heads or max(1, min(2, n_nodes - 1))
    if guide not in SEARCHING and comb(n_nodes, min(heads, n_nodes - 1) + 1) > _FEW_SETS:
        heads = 1
    return max(1, min(heads, n_nodes - 1))


def _short_list(rows: Stream, n_heads: int, given: Mapping[str, Any]) -> ShortList | None:
    """Who may be whose parent, where there are too many columns to count all sets of them."""
    from kgmi.learning.shortlist import needs_short_list, short_list

    if rows.rules.missing == "pairwise":  # of gaps all sets are asked for
        return None
    sample = needs_short_list(rows, n_heads)
    if sample is None:
        return None
    options = {name: given[name] for name in _OF_SEARCH}
    return short_list(sample, n_heads, {**options, "solver": "limit"})


def _is_dask(rows: object) -> bool:
    """Whether Dask holds the rows; nothing of it is loaded to find out."""
    one = rows[0] if isinstance(rows, list | tuple) and rows else rows  # delayed partitions come in a list
    return type(one).__module__.partition(".")[0].startswith("dask")
