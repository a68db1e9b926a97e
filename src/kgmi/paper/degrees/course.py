"""Where surplus heads go: the paper's pattern on the graph with in-degrees 0, 1 and 2, epoch by epoch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kgmi.ascent import ascend
from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.kernel.tunables import random_tunables
from kgmi.paper.experiment import Numbers
from kgmi.paper.setting import RATE, child_columns, population_scores
from kgmi.process import Process
from kgmi.types import Floats, Ints, ScoreTable

__all__ = [
    "DIFFUSE",
    "EPOCHS",
    "REPEATED",
    "SPREAD",
    "STOP",
    "Course",
    "course_of",
    "mixed_process",
    "over_kernels",
]

STOP = 0.1  # a head has settled with more than 1 − 0.1 of its attention on one candidate
SPREAD = 0.5  # a head is spread while no candidate has more; this is also the threshold of the decoding
EPOCHS = 100_000
_NEVER = np.inf

REPEATED = (2, 8)  # nodes 3 and 9: both heads on the one parent
DIFFUSE = 6  # node 7: one head on its parent, the other spread


def mixed_process(p: list[float] | float = 0.0) -> Process:
    """The paper's graph with non-uniform in-degrees; nodes with one parent follow the marginalised kernel."""
    return Process(Dag.paper_mixed(), Kernel.paper(p))


@dataclass(frozen=True, eq=False)
class Course:
    """When each head settles, and on which candidate.

    Attributes
    ----------
    dag
        The true graph.
    best
        [head, child]: the best candidate. A head that starts from zero attends to it at least as much as to any
        other at every epoch, so when more than half of the attention is on one candidate, it is this one.
    settled, half
        [head, child]: first epoch with more than 0.9, and more than 0.5, of the attention on it; inf if never.
    """

    dag: Dag
    best: Ints
    settled: Floats
    half: Floats

    def edge_epochs(self) -> list[float]:
        """For every true edge, the epoch at which the first head has settled on it."""
        return [
            float(np.where(self.best[:, child] == parent, self.settled[:, child], _NEVER).min())
            for parent, child in self.dag.edges
        ]

    @property
    def found(self) -> float:
        """The epoch from which every true edge has a head that has settled on it."""
        return max(self.edge_epochs())

    def extra(self, epoch: float = _NEVER) -> set[tuple[int, int]]:
        """Edges besides the true ones that are read off at an epoch, by default in the limit."""
        heads = [
            (h, i) for h in range(2) for i, ps in enumerate(self.dag.parents) if ps and self.half[h, i] <= epoch
        ]
        return {(int(self.best[h, i]), i) for h, i in heads} - set(self.dag.edges)

    def repeats(self, child: int) -> bool:
        """Whether, in the limit, both heads of a child with one parent attend to it."""
        return bool((self.best[:, child] == self.dag.parents[child][0]).all())

    def window(self, firm: bool = False) -> tuple[float, float]:
        """Epochs (from, until) in which the paper's pattern shows; empty where from ≥ until.

        All true edges are found; both heads of nodes 3 and 9 have more than half (0.9 if ``firm``) of their
        attention on the one parent; one head of node 7 is on its parent and the other is spread.
        """
        parent = self.dag.parents[DIFFUSE][0]
        own = np.where(self.best[:, DIFFUSE] == parent, self.settled[:, DIFFUSE], _NEVER)
        other = 1 - int(own.argmin())
        there = self.settled if firm else self.half
        both = [float(there[:, child].max()) if self.repeats(child) else _NEVER for child in REPEATED]
        return max(self.found, *both), float(self.half[other, DIFFUSE])


def course_of(table: ScoreTable, dag: Dag, epochs: int = EPOCHS) -> Course:
    """Train on a score table and note when each head has 0.5 and 0.9 of its attention on one candidate."""
    columns = child_columns(dag, len(table))
    best = np.where(np.isnan(table), -np.inf, table).argmax(axis=-1)
    times = []
    for stop in (STOP, 1 - SPREAD):
        ascent = ascend(table, rate=RATE, epochs=epochs, stop=stop, wait_for=columns, record_at=())
        times.append(np.where(ascent.stopped < 0, _NEVER, ascent.stopped))
    return Course(dag, best, *times)


def over_kernels(n_kernels: int, rng: np.random.Generator, tell: Callable[[float], None]) -> Numbers:
    """How often each part of the pattern shows over random settings of p; ``tell`` hears the share done."""
    counts: dict[str, int] = {}
    for number in range(n_kernels):
        for name, seen in _seen(random_tunables(rng)).items():
            counts[name] = counts.get(name, 0) + int(seen)
        if (number + 1) % 20 == 0:
            tell((number + 1) / n_kernels)
    return {"kernels": n_kernels, "counts": counts}


def _seen(p: list[float]) -> dict[str, bool]:
    process = mixed_process(p)
    course = course_of(population_scores(process), process.dag)
    complete = all(parent in course.best[:, child] for parent, child in process.dag.edges)
    both = [course.repeats(child) for child in (*REPEATED, DIFFUSE)]
    start, end = course.window()
    firm_start, firm_end = course.window(firm=True)
    at_found = bool(np.isfinite(course.found))
    return {
        "edges": complete,
        "exact": complete and not course.extra(),
        "found": at_found,
        "found_exact": at_found and not course.extra(course.found),
        "both_3": both[0],
        "both_9": both[1],
        "both_7": both[2],
        "both_3_9": both[0] and both[1],
        "alike": both[1] == both[2],
        "limit": complete and both == [True, True, False],
        "at_found": at_found and start <= course.found < end,
        "ever": start < end,
        "ever_firm": firm_start < firm_end,
    }
