"""Draw overview.png, the picture of index.md: python docs/write_overview.py."""

from pathlib import Path

from matplotlib.figure import Figure

import kgmi
from kgmi.examples import example
from kgmi.plots.attention import draw_attention
from kgmi.plots.canvas import write_figure
from kgmi.plots.layers import draw_layers
from kgmi.plots.strength import strengths_of

learned = kgmi.learn(example("paper").table, n_parents=2, record_at=range(100))
trace = learned.trace
figure = Figure(figsize=(13, 5.4), layout="constrained")
grid = figure.add_gridspec(2, 4, width_ratios=[1, 1, 1, 2.1])
for column, epoch in enumerate((0, 6, len(trace.epochs) - 1)):
    for head in range(2):
        ax = figure.add_subplot(grid[head, column])
        title = f"head {head + 1}, " + ("at the start" if epoch == 0 else f"epoch {trace.epochs[epoch]}")
        draw_attention(ax, trace.attention[epoch, head], learned.names, title)
        if column > 0:
            ax.set_ylabel("")
        if head == 0:
            ax.set_xlabel("")
ax = figure.add_subplot(grid[:, 3])
draw_layers(ax, learned.dag, learned.names, strengths_of(learned))
write_figure(figure, Path(__file__).parent / "overview.png", dpi=110, force=True)
