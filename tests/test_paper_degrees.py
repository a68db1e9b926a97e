"""Mixed in-degrees: epochs against a plain loop, the pattern against the attention itself, checks that can fail."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from matplotlib.figure import Figure

from kgmi import Dag, ascend, decode
from kgmi.kernel.tunables import random_tunables
from kgmi.paper.degrees import EXPERIMENT
from kgmi.paper.degrees.course import Course, course_of, mixed_process, over_kernels
from kgmi.paper.degrees.report import checks_of
from kgmi.paper.degrees.shown import PATTERN
from kgmi.paper.degrees.tables import attention_of, edge_texts
from kgmi.paper.experiment import verdict_of
from kgmi.paper.maps import draw_recovered
from kgmi.paper.results import read_result
from kgmi.paper.setting import population_scores
from tests.pictures import draw_figure, legend_texts

DAG = Dag.paper_mixed()


@pytest.fixture(scope="module")
def outcome(quick_run):
    return read_result(quick_run("degrees")[0] / "degrees")


def attention_at(p, epoch):
    return ascend(population_scores(mixed_process(p)), epochs=epoch, stop=0.1).attention


def shows_pattern(attention):
    """The paper's figure, read off the attention: nodes 3 and 9 both heads, node 7 one head, and all edges."""
    edges = all(attention[:, child, parent].max() > 0.9 for parent, child in DAG.edges)
    both = (attention[:, 2, 0] > 0.9).all() and (attention[:, 8, 7] > 0.9).all()
    largest = sorted(attention[:, 6].max(axis=-1))
    return bool(edges and both and largest[0] <= 0.5)


def test_the_pattern_shows_from_and_until_the_epochs_of_the_window():
    course = course_of(population_scores(mixed_process(list(PATTERN))), DAG)
    start, end = (int(epoch) for epoch in course.window(firm=True))
    seen = [shows_pattern(attention_at(list(PATTERN), epoch)) for epoch in (start - 1, start, end - 1, end)]
    assert seen == [False, True, True, False]
    assert mixed_process(list(PATTERN)).kernel.min_entry >= 0.02


def test_epochs_are_those_of_a_plain_loop():
    table = population_scores(mixed_process())
    course = course_of(table, DAG)
    for head, child in ((0, 3), (1, 2), (1, 5)):
        scores = table[head, child, :child]
        weights, first = np.zeros(child), {}
        for epoch in range(1, 2_500):
            attention = np.exp(weights) / np.exp(weights).sum()
            weights += 10 / 20 * attention * (scores - attention @ scores)
            largest = (np.exp(weights) / np.exp(weights).sum()).max()
            for level in (0.5, 0.9):
                if largest > level:
                    first.setdefault(level, epoch)
        assert (course.half[head, child], course.settled[head, child]) == (first[0.5], first[0.9])


def test_the_best_candidate_leads_at_every_epoch():
    rng = np.random.default_rng(3)
    for _ in range(5):
        table = population_scores(mixed_process(random_tunables(rng)))
        trace = ascend(table, epochs=20_000, stop=0.0, record_at=range(0, 20_000, 400)).trace
        best = course_of(table, DAG, epochs=10).best
        for head in range(2):
            for child in range(2, 10):
                column = trace.attention[:, head, child]
                assert (column[:, best[head, child]] >= column.max(axis=1) - 1e-9).all()


def test_extra_edges_are_those_of_the_decoded_graph():
    rng = np.random.default_rng(9)
    for _ in range(5):
        p = random_tunables(rng)
        course = course_of(population_scores(mixed_process(p)), DAG)
        graph = decode(attention_at(p, int(course.found)), rule="concentrated", roots=DAG.roots)
        assert course.extra(course.found) == set(graph.edges) - set(DAG.edges)
        assert set(DAG.edges) <= set(graph.edges)


def course_with(**epochs):
    """All heads on their parents at epoch 10, surplus heads of 3, 7 and 9 on the parent too; then changes."""
    best = np.zeros((2, 10), dtype=np.int64)
    for child, parents in enumerate(DAG.parents):
        if parents:
            best[:, child] = parents if len(parents) == 2 else parents * 2
    settled, half = np.full((2, 10), 10.0), np.full((2, 10), 5.0)
    for name, value in epochs.items():
        array, child = name.split("_")
        {"best": best, "settled": settled, "half": half}[array][1, int(child) - 1] = value
    return Course(DAG, best, settled, half)


def test_windows_by_hand():
    assert course_with().window() == (10, 5)  # node 7 is not spread: no window
    assert course_with(half_7=50).window() == (10, 50)
    assert course_with(half_7=50, half_9=20).window() == (20, 50)
    assert course_with(half_7=50, settled_3=60).window() == (10, 50)
    assert course_with(half_7=50, settled_3=60).window(firm=True) == (60, 50)
    assert course_with(half_7=50, best_9=0).window() == (np.inf, 50)
    assert course_with(best_4=0).found == np.inf
    assert course_with(settled_10=70).found == 70
    assert course_with(best_9=0, half_9=30).extra(29) == set()
    assert course_with(best_9=0, half_9=30).extra(30) == {(0, 8)}
    assert course_with(best_9=0, half_9=np.inf).extra() == {(0, 8)}
    assert [course_with(best_9=0).repeats(child) for child in (2, 8)] == [True, False]


def test_at_p_0_the_graph_has_edges_besides(outcome):
    early, late, fit = (outcome.numbers["settings"][name] for name in ("early", "limit", "fit"))
    assert [s["found"] for s in (early, late, fit)] == [13, 13, 13]
    assert early["extra"] == [[1, 2]]
    assert late["extra"] == [[0, 6], [1, 2], [5, 8]]
    assert fit["extra"] == []
    assert early["learn"]["extra"] == late["extra"]  # training that is long enough ends in the limit
    assert attention_of(late, 9) == "node 9: 1.00 on 8 and 1.00 on 6"
    assert "diffuse" in attention_of(fit, 7)
    assert edge_texts([(0, 6), (5, 8)]) == "1→7, 6→9"
    assert edge_texts([]) == "none"


def test_random_kernels_are_counted_one_by_one():
    shares = []
    counted = over_kernels(20, np.random.default_rng(2), shares.append)
    rng, both, exact = np.random.default_rng(2), 0, 0
    for _ in range(20):
        table = np.nan_to_num(population_scores(mixed_process(random_tunables(rng))), nan=-9.0)
        best = table.argmax(axis=-1)
        both += best[:, 2].tolist() == [0, 0]
        named = {(int(best[head, child]), child) for head in range(2) for child in range(2, 10)}
        exact += named == set(DAG.edges)
    assert counted["counts"]["both_3"] == both
    assert counted["counts"]["exact"] == exact
    assert 0 < exact < 20
    assert shares == [1.0]


def test_checks_hold_in_part_and_follow_the_numbers(outcome):
    failed = [check.name for check in outcome.checks if not check.holds]
    assert failed == ["nothing besides", "nodes 3 and 9"]
    assert verdict_of(outcome.checks) == "holds in part"
    numbers = copy.deepcopy(outcome.numbers)
    settings, counts = numbers["settings"], numbers["kernels"]["counts"]
    settings["early"].update(found=12, extra=[], repeated=True, diffuse=False)
    settings["limit"].update(extra=[])
    settings["fit"].update(diffuse=False)
    counts.update(ever=20, alike=10, exact=20)
    failed = [check.name for check in checks_of(settings, numbers["kernels"]) if not check.holds]
    assert failed == [
        *("true parents", "node 7", "a kernel with the pattern"),
        *("how often the pattern shows", "one kernel, one behaviour", "surplus heads name wrong parents"),
    ]


def test_tables_of_nodes_recovered_graphs_and_kernels(outcome):
    nodes, recovered, kernels = outcome.numbers["tables"]
    assert nodes["rows"][1][:5] == ["3", "1", "both heads on 1", "2", "0.90 on 2"]
    assert recovered["rows"][1][1:] == ["13", "3", "1→7, 2→3, 6→9"]
    assert {row[1] for row in kernels["rows"]} <= {str(n) for n in range(21)}


def test_figures_mark_what_each_head_names(outcome):
    figures = EXPERIMENT.draw(outcome.numbers)
    assert list(figures) == ["degrees", "degrees-graphs"]
    maps = [ax for ax in figures["degrees"].axes if ax.get_title()]
    assert len(maps) == 6
    fit = np.array(outcome.numbers["settings"]["fit"]["attention"])
    assert 0.2 < fit[1, 6, 4] < 0.5  # the best candidate of head 2 at node 7, but diffuse
    named = [squares for squares in maps[5].collections if squares.get_label() == "edge named by this head"]
    places = {tuple(np.round(path.vertices[:4].mean(axis=0)).astype(int)) for path in named[0].get_paths()}
    assert places == {(child, parent) for parent, child in DAG.edges if fit[1, child, parent] > 0.5}
    assert (6, 4) not in places
    legends = [legend_texts(ax.get_legend()) for ax in figures["degrees-graphs"].axes]
    assert legends == [["true edge, found", "edge besides"]] * 2 + [["true edge, found"]]


def test_missed_edges_are_drawn_as_such():
    figure = Figure(figsize=(5, 3), layout="constrained")
    ax = figure.subplots()
    draw_recovered(ax, Dag([(), (0,), (0,)]), Dag([(), (), (0, 1)]), "a graph")
    draw_figure(figure)
    assert legend_texts(ax.get_legend()) == ["true edge, found", "edge besides", "true edge, missed"]
    colours = {tuple(colour) for arcs in ax.collections[:2] for colour in arcs.get_edgecolor()}
    assert len(colours) == 3
