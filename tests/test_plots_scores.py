"""Heat maps of scores, and bins of many nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from kgmi import Dag
from kgmi.errors import DataError, SettingError
from kgmi.plots import draw_attention, draw_scores, draw_two_heads, overlay_figure, scores_figure
from kgmi.plots.bins import bin_size, binned
from tests.pictures import LEARNED, centres, drawn, empty_axes, labelled, labels, legend_texts, overlaps, spans

NAMED, NOT_NAMED = "edge named by this head", "edge not named by this head"


@pytest.fixture
def ax():
    return empty_axes()


def test_scores_are_the_transpose_where_there_are_any(ax):
    image = draw_scores(ax, LEARNED.scores[0], LEARNED.names, "head 1", LEARNED.dag)
    cells, expected = image.get_array(), LEARNED.scores[0].T
    assert np.array_equal(cells.mask, np.isnan(expected))
    assert np.array_equal(cells.compressed(), expected[~np.isnan(expected)])
    assert image.get_clim() == (np.nanmin(expected), np.nanmax(expected))
    assert ax.get_title() == "head 1"
    drawn(ax)


@pytest.mark.parametrize("head", [0, 1])
def test_parents_are_marked(ax, head):
    draw_scores(ax, LEARNED.scores[head], dag=LEARNED.dag)
    assert centres(labelled(ax, NAMED)) == {(i, LEARNED.dag.parents[i][head]) for i in range(2, 10)}
    assert centres(labelled(ax, NOT_NAMED)) == {(i, LEARNED.dag.parents[i][1 - head]) for i in range(2, 10)}


def test_pairs_without_a_score_are_told_from_low_scores(ax):
    scores = np.full((4, 4), np.nan)
    scores[2, 0], scores[3, :3] = 1.0, (-np.inf, 5.0, 2.0)
    image = draw_scores(ax, scores)
    assert image.get_clim() == (1.0, 5.0)
    assert image.get_array()[0, 3] == 1.0, "what is impossible is drawn as the least"
    assert image.get_array().mask[1, 2]
    assert labelled(ax, "no score") is not None
    with pytest.raises(DataError, match=r"\[child, candidate\], got \(2, 10, 10\)"):
        draw_scores(ax, LEARNED.scores)
    with pytest.raises(DataError, match="5 nodes, the scores 10"):
        draw_scores(ax, LEARNED.scores[0], dag=Dag.paper(5))


def test_all_heads_share_the_limits():
    figure = scores_figure(LEARNED)
    images = [ax.images[0] for ax in figure.axes[:2]]
    limits = (np.nanmin(LEARNED.scores), np.nanmax(LEARNED.scores))
    assert [image.get_clim() for image in images] == [limits, limits]
    assert figure.axes[2].get_ylabel() == "score"
    with pytest.raises(SettingError, match="no pair of nodes has a score"):
        scores_figure(replace(LEARNED, scores=np.full((2, 10, 10), np.nan)))


def test_candidates_after_their_children_fill_the_square(ax):
    table = np.where(np.eye(4) > 0, np.nan, np.arange(16.0).reshape(4, 4))
    dag = Dag([(3,), (), (0, 1), (1,)])
    image = draw_scores(ax, table, dag=dag)
    assert np.array_equal(image.get_array().mask, np.eye(4, dtype=bool))
    assert centres(labelled(ax, NAMED)) == {(0, 3)}  # child 0, parent 3
    assert spans(labelled(ax, "no score")) == {(-0.5, 3.5, -0.5, 3.5)}
    assert spans(labelled(ax, "root (not read)")) == {(0.5, 1.5, -0.5, 3.5)}
    drawn(ax)


# Bins


@pytest.mark.parametrize("n_nodes", [126, 300, 500, 501])
def test_a_bin_holds_the_largest_of_its_pairs(n_nodes):
    table = np.where(np.tri(n_nodes, k=-1) > 0, np.random.default_rng(91).random((n_nodes, n_nodes)), 0.0)
    cells, size = binned(table), bin_size(n_nodes)
    assert size > 1
    assert len(cells) == -(-n_nodes // size) <= 125
    for child, candidate in ((len(cells) - 1, 0), (7, 7), (30, 11), (len(cells) - 1, len(cells) - 2)):
        inside = [
            table[i, j]
            for i in range(child * size, min((child + 1) * size, n_nodes))
            for j in range(candidate * size, min((candidate + 1) * size, n_nodes))
            if j < i
        ]
        assert cells[child, candidate] == max(inside)
    assert np.isnan(cells[3, 8]), "no candidate comes after its child"
    assert binned(table[:100, :100]) is not None
    square, upper = binned(table.T, triangle=False), np.triu_indices(len(cells))
    assert np.array_equal(square[upper], cells.T[upper], equal_nan=True)
    assert not np.isnan(square[upper[::-1]][:-1]).any()
    assert bin_size(125) == 1


def test_binned_heat_maps_say_so_and_keep_every_edge():
    rng = np.random.default_rng(92)
    dag = Dag.random(500, 2, rng=rng)
    attention = np.zeros((2, 500, 500))
    for child, parents in enumerate(dag.parents):
        for head, parent in enumerate(parents):
            attention[head, child, parent] = 1.0
    ax = Figure(figsize=(7, 6)).subplots()
    image = draw_attention(ax, attention[0], dag=dag)
    assert image.get_array().shape == (125, 125)
    assert "the largest\nof 4 × 4" in ax.texts[0].get_text()
    marked = {(child // 4, parent // 4) for child, parent in centres(labelled(ax, NAMED))}
    assert marked == {(child // 4, ps[0] // 4) for child, ps in enumerate(dag.parents) if ps}
    dark = {(int(child), int(parent)) for parent, child in np.argwhere(image.get_array().filled(0) == 1)}
    assert dark == marked
    assert tuple(image.get_extent()) == (*ax.get_xlim(), *ax.get_ylim())
    drawn(ax)
    assert not overlaps(ax.xaxis)
    assert not overlaps(ax.yaxis)
    assert 10 <= len(labels(ax.xaxis)) <= 60


def test_the_overlay_shows_both_heads_in_one_bin():
    attention = np.zeros((2, 300, 300))
    attention[0, 198, 30] = attention[1, 200, 31] = 1.0  # apart, but in one bin of 3
    attention[0, 100, 60] = attention[1, 150, 60] = 1.0
    ax = empty_axes()
    image = draw_two_heads(ax, attention)
    values = image.get_array()
    assert (values[20, 33], values[20, 50]) == (1, -1)
    (discs,) = ax.collections
    assert centres(discs) == {(199.0, 31.0)}
    assert legend_texts(ax.get_legend()) == ["attention of both heads", "head 2 (dot)"]


def test_the_overlay_is_a_figure_of_results_with_two_heads():
    figure = overlay_figure(LEARNED)
    assert np.allclose(
        figure.axes[0].images[0].get_array().compressed(),
        (LEARNED.attention[0] - LEARNED.attention[1]).T[np.triu_indices(10, 1)],
    )
    with pytest.raises(SettingError, match="two heads, and this result has 1"):
        overlay_figure(replace(LEARNED, attention=LEARNED.attention[:1]))
