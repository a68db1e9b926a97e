"""Counting all pairs: our engine, matrix products, one pair at a time, and what the machine could do at most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kgmi.bench.compare import Tell
from kgmi.bench.speed.counts_report import counts_report
from kgmi.bench.speed.measured import Measured
from kgmi.bench.speed.timing import check_sizes, in_turns
from kgmi.counts.bits import count_pairs
from kgmi.errors import KgmiError, SettingError
from kgmi.types import Codes, Floats

__all__ = ["measure_counts"]


def measure_counts(
    nodes: Sequence[int] = (100, 200, 500, 1_000),
    n_states: int = 3,
    n_rows: int = 10_000,
    *,
    repeats: int = 5,
    sample_pairs: int = 2_000,
    seed: int = 0,
    tell: Tell | None = None,
) -> Measured:
    """Count all pairs of random columns in every way, in turns, and the ceiling in the same run.

    Parameters
    ----------
    nodes
        Sizes T.
    n_states, n_rows
        S and N.
    repeats
        Rounds; the shortest time counts.
    sample_pairs
        Pairs that ``np.bincount`` is timed on; its time is scaled to all of them.
    seed
        Of the columns.
    tell
        Called with the sizes done and all of them.
    """
    check_sizes(nodes=nodes, rows=n_rows, repeats=repeats, pairs=sample_pairs)
    if n_states < 2 or min(nodes) < 2:
        raise SettingError("counting pairs needs at least 2 nodes and 2 states")
    from kgmi.bench.speed.ceiling import words_per_second

    results: list[dict[str, Any]] = []
    ceilings: list[dict[str, float]] = []
    for number, n_nodes in enumerate(sorted(nodes)):
        if tell is not None:
            tell(number, len(nodes))
        drawn = np.random.default_rng([seed, n_nodes]).integers(0, n_states, (n_rows, n_nodes))
        rows = drawn.astype(np.min_scalar_type(-n_states))  # eight bits, unless that is too few
        ceilings.append(words_per_second(repeats))
        results += _one_size(rows, n_states, repeats, sample_pairs)
    # Of all sizes: a busy moment makes it look lower than it is.
    loops = {name: max(one[name] for one in ceilings) for name in ceilings[0]}
    ceiling = max(loops.values())
    for one in results:
        if one["words_per_second"] is not None:
            one["share_of_ceiling"] = one["words_per_second"] / ceiling
    settings = {
        "nodes": sorted(nodes),
        "n_states": n_states,
        "n_rows": n_rows,
        "repeats": repeats,
        "bincount_pairs": sample_pairs,
        "seed": seed,
        "ceiling_words_per_second": ceiling,
        "ceiling_of_loops": loops,
    }
    return counts_report(settings, results)


def _one_size(rows: Codes, n_states: int, repeats: int, sample_pairs: int) -> list[dict[str, Any]]:
    n_rows, n_nodes = rows.shape
    calls, all_pairs_in = _calls(rows, n_states, sample_pairs)
    seconds = in_turns(calls, repeats)
    seconds["bincount"] *= all_pairs_in
    # What a count of the upper half without the last state reads; the same for everybody: useful words per second.
    words = n_nodes * (n_nodes - 1) // 2 * (n_states - 1) ** 2 * -(-n_rows // 64)
    return [
        {
            "n_nodes": n_nodes,
            "method": name,
            "seconds": taken,
            "ratio_to_kgmi": taken / seconds["kgmi"],
            "words_per_second": None if name == "pack" else words / taken,
        }
        for name, taken in seconds.items()
    ]


def _calls(rows: Codes, n_states: int, sample_pairs: int) -> tuple[dict[str, Callable[[], Any]], float]:
    """What is timed, and how many times the pairs that ``np.bincount`` counts all pairs are.

    All must agree, bit for bit; where they do not, times mean nothing.
    """
    from kgmi.counts.bits import pack

    n_nodes = rows.shape[1]
    hot = _one_hot(rows, n_states)
    other = hot.copy()  # with itself NumPy would take SYRK, which does half of the work
    columns = np.ascontiguousarray(rows.T, dtype=np.int64)
    first, second = np.triu_indices(n_nodes, 1)
    chosen = np.linspace(0, len(first) - 1, min(sample_pairs, len(first))).astype(int)
    pairs = list(zip(first[chosen].tolist(), second[chosen].tolist(), strict=True))

    def by_bincount() -> list[Any]:
        size = n_states * n_states
        return [np.bincount(columns[i] * n_states + columns[j], minlength=size) for i, j in pairs]

    ours = count_pairs(rows, n_states).counts
    product = np.rint(other.T @ hot).astype(np.int64).reshape(n_nodes, n_states, n_nodes, n_states)
    counted = np.array(by_bincount()).reshape(-1, n_states, n_states)
    same = (ours == product.transpose(0, 2, 1, 3)).all() and (ours[first[chosen], second[chosen]] == counted).all()
    if not same:
        raise KgmiError("counts differ between kgmi, the product of matrices and np.bincount")
    calls: dict[str, Callable[[], Any]] = {
        "kgmi": lambda: count_pairs(rows, n_states).counts,
        "pack": lambda: pack(rows, (n_states,) * n_nodes, has_gaps=False),
        "gemm": lambda: other.T @ hot,
        "syrk": lambda: hot.T @ hot,
        "bincount": by_bincount,
    }
    return calls, len(first) / len(pairs)


def _one_hot(rows: Codes, n_states: int) -> Floats:
    """[row, node · S + state] in float32, made beforehand and not timed."""
    states = np.arange(n_states, dtype=rows.dtype)
    return np.asarray((rows[:, :, None] == states).reshape(len(rows), -1).astype(np.float32))
