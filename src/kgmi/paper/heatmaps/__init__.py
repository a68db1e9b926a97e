"""Experiment 2: attention trained on KG-MI equals the adjacency matrix, from the population and from labels."""

from __future__ import annotations

from kgmi.paper.experiment import Experiment, Numbers, Outcome, Run
from kgmi.paper.heatmaps.bias import bias, bias_table, over_kernels
from kgmi.paper.heatmaps.draw import draw
from kgmi.paper.heatmaps.report import checks_of, why_of
from kgmi.paper.heatmaps.sequences import KAPPA, SURE, follow_stream, needs_table, summary
from kgmi.paper.heatmaps.training import EPOCHS, FACTORISED, STOP, trained_maps
from kgmi.paper.setting import RATE, paper_process

__all__ = ["EXPERIMENT"]

_GRID = tuple(625 * 2**k for k in range(12))  # 625 to 1,280,000
_QUICK_GRID = tuple(2_500 * 4**k for k in range(5))  # 2,500 to 640,000
_STREAMS, _KERNELS = 0, 1  # second keys of the random numbers
_KEY = 2


def run(run: Run) -> Outcome:
    """Train on the population and on labelled sequences; count the sequences needed and measure the bias."""
    process = paper_process()
    grid, n_streams, n_kernels = (_QUICK_GRID, 1, 4) if run.quick else (_GRID, 20, 200)
    streams = []
    for number in range(n_streams):
        keep = (FACTORISED, grid[-1]) if number == 0 else ()
        streams.append(follow_stream(process, grid, run.rng(_KEY, _STREAMS, number), keep))
        run.tell(0.9 * (number + 1) / n_streams, "labelled sequences")
    numbers: Numbers = {
        "maps": trained_maps(streams[0].kept, grid[-1]),
        "labels": summary(streams, grid, process.dag.n_edges),
        "bias": bias(process),
        "kernels": over_kernels(n_kernels, run.rng(_KEY, _KERNELS)),
    }
    numbers["tables"] = [needs_table(numbers["labels"]), bias_table(numbers["bias"], numbers["kernels"])]
    return Outcome(
        configuration={
            **{"rate": RATE, "stop": STOP, "epochs": EPOCHS, "kappa": KAPPA, "p": 0.0, "grid": list(grid)},
            **{"streams": n_streams, "kernels": n_kernels, "sure": SURE},
        },
        numbers=numbers,
        checks=checks_of(numbers),
        why=why_of(numbers),
    )


EXPERIMENT = Experiment(
    name="heatmaps",
    title="Attention maps trained on KG-MI",
    claim="Trained on KL-KG-MI, or on χ²-KG-MI estimated with labels, the attention equals the adjacency matrix.",
    run=run,
    draw=draw,
)
