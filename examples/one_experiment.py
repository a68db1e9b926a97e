"""One experiment of the paper from Python: measure, read the checks, draw (the command is kgmi reproduce)."""

import tempfile
from pathlib import Path

from kgmi.paper.catalogue import EXPERIMENTS
from kgmi.paper.experiment import Run, verdict_of
from kgmi.plots.canvas import write_figure

experiment = EXPERIMENTS["rate-gap"]
outcome = experiment.run(Run(quick=True, seed=1))  # without quick: all nine tunables and sixty random kernels

print(f"The paper: {experiment.claim}")
for check in outcome.checks:
    print(f"{check.answer:>12}  {check.name}: {check.measured}")
print(f"Verdict: {verdict_of(outcome.checks)}. {outcome.why}")

with tempfile.TemporaryDirectory() as folder:
    for name, figure in experiment.draw(outcome.numbers).items():
        write_figure(figure, Path(folder) / f"{name}.png")
        print(f"drew {name}: {(Path(folder) / f'{name}.png').stat().st_size:,} bytes")
