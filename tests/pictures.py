"""Results to draw, and what is seen on drawn axes."""

from __future__ import annotations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kgmi import Dag, Kernel, Process, exact_joint, learn

KERNEL = Kernel.paper()

# The paper's 10-node graph from the population: exact, so the pictures are the same everywhere.
LEARNED = learn(exact_joint(Process(Dag.paper(10), KERNEL)), kernel=KERNEL)

# A small result with a short trace, for what does not depend on the numbers.
SHORT = learn(exact_joint(Process(Dag.paper(5), KERNEL)), kernel=KERNEL, epochs=50)


def empty_axes():
    return Figure(figsize=(6, 5), layout="constrained").subplots()


def drawn(ax):
    """Draw for real, so that warnings of layout and fonts are raised, and return the axes."""
    draw_figure(ax.figure)
    return ax


def draw_figure(figure):
    """Lay out and draw; the canvas that a figure is born with would do neither."""
    FigureCanvasAgg(figure).draw()


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def legend_texts(legend):
    return [text.get_text() for text in legend.get_texts()]


def overlaps(axis):
    boxes = [text.get_window_extent() for text in axis.get_ticklabels() if text.get_text()]
    return any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[k + 1 :])


def centres(collection):
    """Middle of every shape, as (x, y)."""
    return {tuple(path.get_extents().get_points().mean(axis=0).round(6)) for path in collection.get_paths()}


def spans(collection):
    """(left, right, low, high) of every shape."""
    return {tuple(path.get_extents().get_points().T.ravel().round(6)) for path in collection.get_paths()}


def labelled(ax, label):
    """The one mark with this label, or None."""
    found = [mark for mark in ax.collections if mark.get_label() == label]
    assert len(found) < 2
    return found[0] if found else None
