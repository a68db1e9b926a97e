"""Every method on rows drawn from graphs with a shared kernel."""

from __future__ import annotations

from kgmi.bench.compare import Outcome, Sample, Tell, compare_samples
from kgmi.bench.graphs.setting import Setting
from kgmi.bench.launch import Problem
from kgmi.bench.plan import Plan
from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.process import Process
from kgmi.sampling import sample

__all__ = ["compare_graphs"]


def compare_graphs(
    setting: Setting, plan: Plan, *, tell: Tell | None = None, module: str = "kgmi.bench.graphs"
) -> tuple[Outcome, ...]:
    """Run every installed method of the plan on samples of each size: one for each kernel from each seed.

    Where the order is to be learned, the columns of each sample are shuffled, in all its sizes alike.
    ``module`` is what the processes run; one that calls :func:`kgmi.bench.worker.work` with other methods knows
    those.
    """

    def draw(n_rows: int) -> list[Sample]:
        samples = []
        for seed in plan.seeds:
            for number, (process, rows) in enumerate(setting.sample(seed, n_rows)):
                one = Sample(seed, Problem(rows, process.fixed_kernel()), process.dag)
                samples.append(one.without_order(setting.shuffler(seed, number)) if plan.order == "learn" else one)
        return samples

    return compare_samples(setting.name, draw, plan, _warm_up(), module, tell)


def _warm_up() -> Problem:
    """Rows of the paper's small graph, for the first call of a process: it loads and compiles, and is not timed."""
    process = Process(Dag.paper(5), Kernel.paper())
    return Problem(sample(process, 200, rng=0), process.fixed_kernel())
