"""Who is timed on whole fits: ours, and every peer that can be told the order, as far as its time allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kgmi.bench.libraries import ORDERED
from kgmi.bench.peer import Edges, Given, Peer, as_they_are
from kgmi.bench.registry import peer_named
from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.learning import learn
from kgmi.types import Rows

__all__ = ["METHODS", "OURS", "PEERS", "STATIONARY", "label_of", "with_sizes"]


def _learn(rows: Rows, given: Given) -> Dag:
    return learn(rows, n_parents=given.n_parents).dag


def _learn_stationary(rows: Rows, given: Given) -> Dag:
    return learn(rows, kernel=given.kernel, guide="stationary", solver="limit").dag


def _edges(dag: Dag) -> Edges:
    return Edges.of(dag.edges)


OURS = Peer(
    key="kgmi",
    name="kgmi",
    library="kgmi",
    ordered=True,
    setting="kgmi.learn(rows, n_parents=K), all else default: likelihood, kernel not known",
    prepare=as_they_are,
    fit=_learn,
    read=_edges,
)
STATIONARY = Peer(
    key="kgmi-stationary",
    name="kgmi, stationary",
    library="kgmi",
    ordered=True,
    setting="the paper's KG-MI (KL): kernel told, limit point of the ascent",
    prepare=as_they_are,
    fit=_learn_stationary,
    read=_edges,
)

# Columns up to which each is tried unless told otherwise: at 10,000 rows none then takes more than some minutes.
_MOST_NODES = {
    "pybnesian-mmhc-order": 1_000,
    "pybnesian-hc-order": 1_000,
    "pyagrum-k2": 500,
    "pyagrum-k2-one-thread": 200,
    "pyagrum-greedy-order": 500,
    "pyagrum-tabu-order": 200,
    "pgmpy-hc": 100,
    "causal-learn-pc-order": 100,
}
PEERS: tuple[Peer, ...] = tuple(
    replace(peer_named(key, ORDERED), most_nodes=most) for key, most in _MOST_NODES.items()
)
METHODS: tuple[Peer, ...] = (OURS, STATIONARY, *PEERS)


def label_of(method: Peer) -> str:
    """Its name for people, with its library."""
    return method.name if method.library == "kgmi" else f"{method.library} {method.name}"


def with_sizes(peers: Sequence[Peer], text: str) -> tuple[Peer, ...]:
    """The peers with other largest sizes, given as KEY=T with commas; nothing changes for an empty text."""
    sizes: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, _, most = part.partition("=")
        if not most.strip().isdecimal():
            raise SettingError(
                f"largest sizes are written KEY=T with commas, for example pgmpy-hc=100; got {part!r}"
            )
        sizes[peer_named(key.strip(), peers).key] = int(most)
    return tuple(replace(peer, most_nodes=sizes.get(peer.key, peer.most_nodes)) for peer in peers)
