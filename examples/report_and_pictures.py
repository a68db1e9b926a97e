"""From a table to a report that opens in a browser, and to pictures: all of them, or one on axes of your own."""

import tempfile
from pathlib import Path

from matplotlib.figure import Figure

import kgmi
from kgmi.examples import example
from kgmi.plots import draw_layers, save_figures
from kgmi.report import write_report

learned = kgmi.learn(example("paper").table, n_parents=2)
print(learned.trust)

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)

    # One page with everything: the graph to click on, the heads at work, margins, kernel, how to run it again.
    write_report(learned, folder / "report.html")
    print(f"report.html has {(folder / 'report.html').stat().st_size / 1e3:,.0f} kB and needs no network.")

    # The usual pictures, as files.
    for path in save_figures(learned, folder, formats=["png"]):
        print(f"{path.name} has {path.stat().st_size / 1e3:,.0f} kB.")

    # One picture beside another of yours: every function draws on the axes that it is given, and shows nothing.
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_layers(left, learned.dag, learned.names)
    left.set_xlabel("learned from 20,000 rows")
    few = kgmi.learn(example("paper").table.codes[:100], n_parents=2)
    draw_layers(right, few.dag, few.names)
    right.set_xlabel("learned from the first 100")
    figure.savefig(folder / "side_by_side.png")

same = kgmi.metrics.compare(few.dag, learned.dag)
print(f"From 100 rows: {16 - len(same.missing)} of the 16 edges, {len(same.extra)} besides.")
print(few.trust)
