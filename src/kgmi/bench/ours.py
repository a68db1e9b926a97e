"""Our own method as a peer: it gets the raw codes, so counting is timed with everything after it."""

from __future__ import annotations

from kgmi.bench.peer import Edges, Given, Peer, as_they_are
from kgmi.learning import Learned, learn
from kgmi.types import Rows

__all__ = ["OURS"]


def _with_numba(rows: Rows, given: Given) -> Rows:
    """The rows as they are, in a process that has numba loaded: then the ascent is compiled from the start."""
    import numba  # noqa: F401

    return rows


def _ascent(rows: Rows, given: Given) -> Learned:
    return learn(rows, kernel=given.kernel, guide="stationary")


def _limit(rows: Rows, given: Given) -> Learned:
    return learn(rows, kernel=given.kernel, guide="stationary", solver="limit")


def _edges(learned: Learned) -> Edges:
    return Edges.of(learned.dag.edges)


OURS = (
    Peer(
        key="kgmi",
        name="KG-MI, gradient ascent",
        library="kgmi",
        ordered=True,
        setting="KL, kernel given; default options, numba loaded",
        prepare=_with_numba,
        fit=_ascent,
        read=_edges,
        paper="KG-MI",
    ),
    Peer(
        key="kgmi-limit",
        name="KG-MI, limit point",
        library="kgmi",
        ordered=True,
        setting="KL, kernel known, the point that the ascent converges to",
        prepare=as_they_are,
        fit=_limit,
        read=_edges,
    ),
    Peer(
        key="kgmi-cold",
        name="KG-MI, first call",
        library="kgmi",
        ordered=True,
        setting=(
            "KL, kernel given; default options; one call in a new process for each data set, with "
            "kgmi imported but not used before, so that what the call loads is included"
        ),
        prepare=as_they_are,
        fit=_ascent,
        read=_edges,
        cold=True,
    ),
)
