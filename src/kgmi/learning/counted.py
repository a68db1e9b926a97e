"""From a stream of rows to counts that a fit starts from: how many passes, which sets of columns, who counts."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING, Any

from kgmi.counting import Counts
from kgmi.errors import DataError, SettingError
from kgmi.learning.options import check_options, stream_options
from kgmi.learning.settings import SEARCHING, check_whole
from kgmi.statistics.sets import Sets
from kgmi.statistics.tally import family_width
from kgmi.types import PathLike

if TYPE_CHECKING:
    from kgmi.learning.shortlist import ShortList

__all__ = ["check_streamed", "count", "counted", "counted_parents", "is_streamed"]

_OF_LIMITS = ("order", "forbidden", "required", "tiers", "max_lag", "roots", "classes")
_OF_KERNELS = ("kernel", "kernel_source", "guide", "in_degree", "penalty", "share", "error", "smoothing")
_OF_SEARCH = ("search", "list_length", "starts", "rounds", *_OF_LIMITS, *_OF_KERNELS)
_FEW_SETS = 5_000  # that are counted in next to no time more than pairs


def is_streamed(rows: object) -> bool:
    """Whether rows come in pieces: a stream, or what lies on a Dask cluster."""
    streams = sys.modules.get("kgmi.streams.stream")  # without it nobody has made a stream
    return (streams is not None and isinstance(rows, streams.Stream)) or _is_dask(rows)


def check_streamed(given: Mapping[str, Any]) -> None:
    """Refuse a checkpoint or a cluster for rows that are in memory."""
    for name in ("checkpoint", "cluster"):
        if given[name] is not None and not is_streamed(given["rows"]):
            raise SettingError(f"{name} goes with rows that come in pieces; give kgmi.stream(…)")


def count(
    source: Any,
    *,
    n_parents: int = 2,
    width: int | None = None,
    checkpoint: PathLike | None = None,
    cluster: Any = None,
    **options: Any,
) -> Counts:
    """Count rows that need not fit into memory, in one pass; the counts are enough to learn from.

    Parameters
    ----------
    source
        Anything that :func:`kgmi.stream` takes, or a stream; also Dask data frames, arrays and delayed partitions.
    n_parents
        K: counts of all sets of K + 1 columns are made, so that up to K parents can be learned from them; of K + 2
        where missing values are left out (``missing='pairwise'``).
    width
        Columns of a set, where that is not K + 1; 2 are enough for the guides of pairs.
    checkpoint
        Folder in which the counts of finished pieces are kept: a run that was ended goes on from there, and no row
        is counted twice.
    cluster
        Who counts: ``local:4`` starts so many worker processes, ``tcp://…`` is a Dask scheduler that runs already,
        and so is a ``distributed.Client``. By default threads of this process.
    **options
        Options of :func:`kgmi.stream`.
    """
    from kgmi.streams import Stream, stream

    check_options(options, stream_options(), "kgmi.count", ("n_parents", "width", "checkpoint", "cluster"))
    check_whole("n_parents" if width is None else "width", n_parents if width is None else width)
    if isinstance(source, Stream):
        if options:
            raise SettingError(f"{next(iter(options))} says how rows are read; give it to kgmi.stream")
        made: Any = source
    else:
        made = stream(source, **options)
    if width is None:
        width = family_width(n_parents, len(made.names), has_gaps=made.rules.missing == "pairwise")
    return _count(made, int(width), None, checkpoint, cluster)


def _count(stream: Any, width: int, sets: Sets | None, checkpoint: PathLike | None, cluster: Any) -> Counts:
    from kgmi.counting.count import count as count_stream

    if checkpoint is None and cluster is None:
        return count_stream(stream, width, sets=sets)
    with _runner(cluster) as runner, _kept(checkpoint, stream, width, sets) as keeper:
        return count_stream(stream, width, sets=sets, runner=runner, checkpoint=keeper)


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
    stream, kernel = _as_stream(given["rows"]), given["kernel"]
    rules, n_nodes = stream.rules, len(stream.names)
    if n_nodes < 2:
        raise DataError("learning a graph needs at least two columns")
    if n_heads is not None and n_heads >= n_nodes:
        raise SettingError(f"{n_heads} parents need at least {n_heads + 1} columns, got {n_nodes}")
    if kernel is not None and rules.n_states is None and rules.states is None and not rules.own:
        stream = replace(stream, rules=replace(rules, n_states=kernel.n_states))  # as for rows
    elif guide == "contextual" and rules.alphabet == "auto":
        stream = replace(stream, rules=replace(rules, alphabet="shared"))  # as for rows
    heads = counted_parents(n_nodes, guide, n_heads)
    short = _short_list(stream, heads, given) if guide in SEARCHING else None
    sets = None if short is None else short.sets
    has_gaps = rules.missing == "pairwise" and guide in SEARCHING
    width = family_width(heads, n_nodes, has_gaps=has_gaps)
    counts = _count(stream, width, sets, given["checkpoint"], given["cluster"])
    declared = {} if rules.states is None else {"states": list(rules.states)}
    return {**given, "rows": counts, "short": short, "reading": dict(counts.reading) | declared}


def counted_parents(n_nodes: int, guide: str, n_heads: int | None) -> int:
    """For how many parents counts of so many columns are made."""
    heads = n_heads or max(1, min(2, n_nodes - 1))
    if guide not in SEARCHING and comb(n_nodes, min(heads, n_nodes - 1) + 1) > _FEW_SETS:
        heads = 1
    return max(1, min(heads, n_nodes - 1))


def _short_list(stream: Any, n_heads: int, given: Mapping[str, Any]) -> ShortList | None:
    """Who may be whose parent, where there are too many columns to count all sets of them."""
    from kgmi.learning.shortlist import needs_short_list, short_list
    from kgmi.streams import Stream

    if not isinstance(stream, Stream) or stream.rules.missing == "pairwise":  # of gaps all sets are asked for
        return None
    sample = needs_short_list(stream, n_heads)
    if sample is None:
        return None
    options = {name: given[name] for name in _OF_SEARCH}
    return short_list(sample, n_heads, {**options, "solver": "limit"})


def _runner(cluster: Any) -> Any:
    """Who counts, for a while."""
    from contextlib import contextmanager, nullcontext

    if cluster is None:
        return nullcontext(None)
    from kgmi.cluster import DaskRunner, connect

    @contextmanager
    def connected() -> Any:
        with connect(cluster) as client:
            yield DaskRunner(client)

    return connected()


def _kept(folder: PathLike | None, stream: Any, width: int, sets: Sets | None) -> Any:
    """Where parts are kept, for a while."""
    from contextlib import nullcontext

    if folder is None:
        return nullcontext(None)
    from kgmi.counting.checkpoint import Checkpoint, identity_of

    if not getattr(stream, "rereadable", True):
        raise SettingError("a checkpoint needs rows that can be read again, such as files; these can be read once")
    return Checkpoint(folder, identity_of(stream, width, sets))


def _as_stream(rows: Any) -> Any:
    """A stream as it is, and one of what Dask holds."""
    if not _is_dask(rows):
        return rows
    from kgmi.streams import stream

    return stream(rows)


def _is_dask(rows: object) -> bool:
    """Whether Dask holds the rows; nothing of it is loaded to find out."""
    one = rows[0] if isinstance(rows, list | tuple) and rows else rows  # delayed partitions come in a list
    return type(one).__module__.partition(".")[0].startswith("dask")
