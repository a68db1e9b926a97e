"""A fingerprint of the input, so that a saved result can be matched with its data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from kgmi.counts.base import PairCounts
from kgmi.guides.stationary import Pairs
from kgmi.joint import PairMixture
from kgmi.types import Codes

__all__ = ["fingerprint"]

_CHUNK_ROWS = 65_536


def fingerprint(states: Sequence[str], *parts: Codes | Pairs) -> str:
    """SHA-256 over the alphabet and codes (whatever their integer type) or statistics, in chunks."""
    mark = sha256(repr(tuple(states)).encode())
    for part in parts:
        for piece in _pieces(part, np.min_scalar_type(len(states))):
            mark.update(piece)
    return f"sha256:{mark.hexdigest()}"


def _pieces(part: Codes | Pairs, narrow: np.dtype[Any]) -> Iterator[Any]:
    if isinstance(part, np.ndarray):
        yield repr(part.shape).encode()
        for start in range(0, len(part), _CHUNK_ROWS):  # codes lie below the number of states, so none is cut
            rows = part[start : start + _CHUNK_ROWS]
            same = rows.dtype.itemsize == narrow.itemsize  # codes are not negative, so the bytes are the same
            yield np.ascontiguousarray(rows.view(narrow) if same else rows, dtype=narrow)
    elif isinstance(part, PairMixture):
        yield repr(part.weights).encode()
        for joint in part.joints:
            yield from _pieces(joint, narrow)
    elif isinstance(part, PairCounts):
        yield b"counts"
        yield from _pieces(part.counts.reshape(part.n_nodes, -1), np.dtype(np.int64))
    else:
        yield repr((part.joint.shape, part.n_rows)).encode()
        for row in part.joint:
            yield np.ascontiguousarray(row).tobytes()
