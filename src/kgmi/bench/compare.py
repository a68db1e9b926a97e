"""Every method of a plan on the same samples: how near it comes to the graphs, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kgmi.bench.launch import Problem, Trial, left_out, run_peer
from kgmi.bench.order import put_back, shuffle
from kgmi.bench.peer import Edges, Peer
from kgmi.bench.plan import Plan
from kgmi.bench.score import Score, score_edges, score_without_order
from kgmi.graph import Dag

__all__ = ["Outcome", "Sample", "Tell", "compare_samples"]

Tell = Callable[[int, int], None]
"""Called with the number of finished steps and of all steps."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to learn from, the graph behind them, and the seed that they come from.

    ``columns`` are the nodes that the columns of the rows are; None where they stand in their order, which is told.
    """

    seed: int
    problem: Problem
    truth: Dag
    columns: tuple[int, ...] | None = None

    def without_order(self, rng: np.random.Generator) -> Sample:
        """The same sample with its columns shuffled."""
        problem, columns = shuffle(self.problem, rng)
        return replace(self, problem=problem, columns=columns)

    def score(self, edges: Edges) -> Score:
        """An answer, with edges between columns, against the truth."""
        if self.columns is None:
            return score_edges(edges, self.truth)
        return score_without_order(put_back(edges, self.columns), self.truth)


@dataclass(frozen=True)
class Outcome:
    """One method on the samples of one size.

    Attributes
    ----------
    source
        What the samples were drawn from.
    n_samples
        How many there were.
    seeds
        Of the samples that it answered, which are the first ones; ``scores``, ``seconds`` (of the learning call)
        and ``prepare_seconds`` are in the same order.
    trouble
        Why it did not answer all of them; None when it did.
    """

    source: str
    n_rows: int
    n_samples: int
    method: Peer
    version: str | None
    seeds: tuple[int, ...]
    scores: tuple[Score, ...]
    seconds: tuple[float, ...]
    prepare_seconds: tuple[float, ...]
    trouble: str | None


def compare_samples(
    source: str,
    draw: Callable[[int], Sequence[Sample]],
    plan: Plan,
    warm_up: Problem,
    module: str,
    tell: Tell | None = None,
) -> tuple[Outcome, ...]:
    """Run every installed method of the plan, sizes first, in processes of their own.

    ``draw`` gives the samples of a size; ``module`` is what the processes run, which must know the methods (see
    :func:`kgmi.bench.run_peer`).
    """
    outcomes: list[Outcome] = []
    for n_rows in plan.rows:
        samples = draw(n_rows)
        for method in plan.ready:
            if tell is not None:
                tell(len(outcomes), len(plan.rows) * len(plan.ready))
            trial = _run(method, samples, plan, warm_up, module)
            outcomes.append(_outcome(source, n_rows, samples, trial))
    return tuple(outcomes)


def _run(method: Peer, samples: Sequence[Sample], plan: Plan, warm_up: Problem, module: str) -> Trial:
    widest = max(sample.truth.n_nodes for sample in samples)
    if method.most_nodes is not None and widest > method.most_nodes:
        return left_out(method, f"not tried: made for at most {method.most_nodes} nodes")
    return run_peer(method, [s.problem for s in samples], warm_up, plan.limit, module, most_repeats=1)


def _outcome(source: str, n_rows: int, samples: Sequence[Sample], trial: Trial) -> Outcome:
    pairs = list(zip(trial.answers, samples, strict=False))  # it may have been stopped after some of them
    return Outcome(
        source=source,
        n_rows=n_rows,
        n_samples=len(samples),
        method=trial.peer,
        version=trial.version,
        seeds=tuple(sample.seed for _, sample in pairs),
        scores=tuple(sample.score(answer.edges) for answer, sample in pairs),
        seconds=tuple(answer.seconds for answer in trial.answers),
        prepare_seconds=tuple(answer.prepare_seconds for answer in trial.answers),
        trouble=trial.trouble,
    )
