"""Every peer by its key. A process looks its work up here and imports nothing that is not listed."""

from __future__ import annotations

from collections.abc import Sequence

from kgmi.bench.libraries import LIBRARIES
from kgmi.bench.ours import OURS
from kgmi.bench.peer import Peer
from kgmi.errors import SettingError

__all__ = ["PEERS", "chosen_peers", "peer_named"]

PEERS: tuple[Peer, ...] = (*OURS, *LIBRARIES)


def peer_named(key: str, peers: Sequence[Peer] = PEERS) -> Peer:
    """The peer with this key."""
    for peer in peers:
        if peer.key == key:
            return peer
    raise SettingError(f"there is no peer '{key}'; choose from {', '.join(peer.key for peer in peers)}")


def chosen_peers(text: str, peers: Sequence[Peer]) -> tuple[Peer, ...]:
    """Of these peers ``all``, ``none``, or those whose keys are listed with commas, in the order of the peers."""
    if text in ("all", "none"):
        return tuple(peers) if text == "all" else ()
    chosen = [peer_named(key.strip(), peers) for key in text.split(",")]
    return tuple(peer for peer in peers if peer in chosen)
