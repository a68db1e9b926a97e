"""The heads' attention along the epochs, small enough for a page: few frames, few bins, one byte a cell."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np

from kgmi.attention import ascend, survey
from kgmi.errors import KgmiError
from kgmi.learning import Learned
from kgmi.learning.searched import usual_rate
from kgmi.types import Floats, Ints

__all__ = ["MOST_BINS", "MOST_FRAMES", "attention_frames"]

MOST_FRAMES = 40
MOST_BINS = 150
"""Nodes up to which every one has a row and a column of its own."""
_RETRACE_BYTES = 60_000_000  # of attention that is made once more where the trace has none
_LARGEST = 255


def attention_frames(learned: Learned) -> dict[str, Any]:
    """Attention from uniform to the end: ``epochs`` and ``data``, bytes [frame, head, child, candidate] in base64.

    A byte of 255 is an attention of 1. Of more than 150 nodes, ``per_bin`` neighbours share a cell, which has the
    largest attention among them. Where no candidate comes after its child, ``triangle`` is true and only the cells
    with candidate < child are there (of bins: candidate ≤ child), child by child. ``known`` is false where
    the way between the first and the last frame is not.
    """
    epochs, frames, known = _frames(learned)
    per_bin = -(-learned.n_nodes // MOST_BINS)
    n_bins = -(-learned.n_nodes // per_bin)
    small = np.stack([_binned(frame, per_bin, n_bins) for frame in frames])
    below = np.tri(n_bins, k=0 if per_bin > 1 else -1, dtype=bool)
    triangle = not small[..., ~below].any()
    cells = small[..., below] if triangle else small
    return {
        "epochs": epochs,
        "known": known,
        "n_bins": n_bins,
        "per_bin": per_bin,
        "triangle": triangle,
        "data": b64encode(cells.tobytes()).decode(),
    }


def _frames(learned: Learned) -> tuple[list[int], list[Floats], bool]:
    """Epochs, the attention at each of them, and whether the frames between the first and last are there."""
    trace = learned.trace
    start = _uniform(learned)
    if trace is None or len(trace.epochs) < 2:
        same = np.allclose(start, learned.attention)
        return ([0], [learned.attention], True) if same else ([0, 1], [start, learned.attention], False)
    if trace.attention is not None:
        kept = _thinned(len(trace.epochs), MOST_FRAMES)
        return trace.epochs[kept].tolist(), [trace.attention[k] for k in kept], True
    again = _climbed_again(learned, trace.epochs)
    if again is not None:
        return again
    return [0, int(trace.epochs[-1])], [start, learned.attention], False


def _climbed_again(learned: Learned, epochs: Ints) -> tuple[list[int], list[Floats], bool] | None:
    """The way of a large result, whose trace keeps no attention: the ascent once more, with fewer epochs kept.

    None where that would take too much memory, or does not end where the result did.
    """
    room = _RETRACE_BYTES // (8 * learned.scores.size) - 2
    if room < 1:
        return None
    kept = epochs[_thinned(len(epochs), min(room + 2, MOST_FRAMES))]
    settings = learned.configuration
    try:
        rate = settings["rate"] or usual_rate(learned.scores, survey(learned.scores).n_candidates > 0)
        climbed = ascend(
            learned.scores,
            rate=rate,
            epochs=int(epochs[-1]),
            stop=settings["stop"],
            record_at=kept[1:-1].tolist(),
        )
    except (KgmiError, KeyError, TypeError):  # a record of another version, or made by hand
        return None
    trace = climbed.trace
    if trace is None or trace.attention is None or not np.allclose(climbed.attention, learned.attention, atol=1e-3):
        return None
    return trace.epochs.tolist(), list(trace.attention), True


def _thinned(count: int, most: int) -> Ints:
    """At most so many of ``count`` numbers, evenly, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def _uniform(learned: Learned) -> Floats:
    open_to = ~np.isnan(learned.scores)
    return np.asarray(open_to / np.maximum(survey(learned.scores).n_candidates, 1)[..., None])


def _binned(frame: Floats, per_bin: int, n_bins: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """[head, bin of children, bin of candidates] in bytes: the largest attention of each bin."""
    if per_bin > 1:
        size = n_bins * per_bin
        padded = np.zeros((len(frame), size, size))
        padded[:, : frame.shape[1], : frame.shape[2]] = frame
        frame = padded.reshape(len(frame), n_bins, per_bin, n_bins, per_bin).max(axis=(2, 4))
    return (np.clip(frame, 0.0, 1.0) * _LARGEST).round().astype(np.uint8)
