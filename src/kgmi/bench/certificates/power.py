"""Power: what share of the nodes is certified, by the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kgmi.bench.certificates.plans import check_kinds, falsehoods, options_for
from kgmi.bench.compare import Tell
from kgmi.bench.graphs.setting import Setting
from kgmi.learning import certify
from kgmi.types import Floats

__all__ = ["Power", "measure_power"]


@dataclass(frozen=True, eq=False)
class Power:
    """One way to certify.

    Attributes
    ----------
    kind
        ``known``, ``sequential`` or ``split``.
    rows
        Numbers of rows.
    shares
        [sample, number of rows]: share of the nodes with true parents whose parents are certified.
    n_false
        [number of rows]: samples in which anything certified is false.
    """

    kind: str
    rows: tuple[int, ...]
    shares: Floats
    n_false: tuple[int, ...]

    def enough(self, share: float) -> int | None:
        """The first number of rows from which on at least this share of the nodes is certified, on average."""
        reached = np.flatnonzero(self.shares.mean(axis=0) >= share)
        return self.rows[int(reached[0])] if len(reached) else None


def measure_power(
    setting: Setting,
    *,
    rows: Sequence[int],
    seeds: Sequence[int],
    alpha: float,
    kinds: tuple[str, ...],
    tell: Tell | None = None,
) -> list[Power]:
    """Certify samples of every size in every way; the rows of a small sample are the first of a larger one."""
    check_kinds(kinds)
    sizes = tuple(sorted(rows))
    samples = [one for seed in seeds for one in setting.sample(seed, sizes[-1])]
    found, done, total = [], 0, len(kinds) * len(samples)
    for kind in kinds:
        shares, false = np.zeros((len(samples), len(sizes))), np.zeros(len(sizes), dtype=np.int64)
        for number, (process, drawn) in enumerate(samples):
            if tell is not None:
                tell(done, total)
            done += 1
            children = [place for place, parents in enumerate(process.dag.parents) if parents]
            for place, size in enumerate(sizes):
                method = "split" if kind == "split" else "sequential"
                made = certify(drawn[:size], alpha=alpha, method=method, **options_for(kind, process))
                shares[number, place] = np.mean([made.nodes[child].certified for child in children])
                false[place] += falsehoods(made, process.dag) > 0
        found.append(Power(kind, sizes, shares, tuple(false.tolist())))
    return found
