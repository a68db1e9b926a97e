"""One experiment of the paper from Python: measure, read the checks, draw (the command is kgmi reproduce)."""

import tempfile
from pathlib import Path

from kgmi.paper.experiment import Run, reason_of, verdict_of
from kgmi.paper.reproduce import EXPERIMENTS, settings_of
from kgmi.plots.canvas import write_figure

experiment = EXPERIMENTS["rate-gap"]
settings = settings_of([experiment], quick=True, pairs={"kernels": "4"})[
    "rate-gap"
]  # without quick: all nine tunables
outcome = experiment.run(settings, Run(seed=1))

print(f"The paper: {experiment.claim}")
for check in outcome.checks:
    print(f"{check.answer:>12}  {check.name}: {check.measured}")
print(f"Verdict: {verdict_of(outcome.checks)}. {reason_of(outcome.checks)}")

with tempfile.TemporaryDirectory() as folder:
    for name, figure in experiment.draw(outcome.numbers).items():
        write_figure(figure, Path(folder) / f"{name}.png")
        print(f"drew {name}: {(Path(folder) / f'{name}.png').stat().st_size:,} bytes")
