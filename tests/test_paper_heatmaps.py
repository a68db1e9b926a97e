"""Trained attention maps: sequences needed, bias of the labelled estimator, and checks that can fail."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, count_labelled, labelled_scores, sample
from kgmi.paper.experiment import verdict_of
from kgmi.paper.heatmaps import EXPERIMENT
from kgmi.paper.heatmaps.bias import bias, bias_table, margins, over_kernels, tables_of
from kgmi.paper.heatmaps.report import checks_of
from kgmi.paper.heatmaps.sequences import Stream, follow_stream, needed, needs_table, size_text, summary
from kgmi.paper.heatmaps.training import train
from kgmi.paper.results import read_result
from kgmi.paper.setting import paper_process, population_scores
from tests.pictures import legend_texts

DAG = Dag.paper(10)


@pytest.fixture(scope="module")
def outcome(quick_run):
    return read_result(quick_run("heatmaps")[0] / "heatmaps")


@pytest.fixture(scope="module")
def found():
    return bias(paper_process())


def test_trained_attention_is_the_adjacency_matrix(outcome):
    for found in outcome.numbers["maps"].values():
        attention = np.array(found["attention"])
        far = max(
            abs(attention[head, child, j] - (j == parent))
            for child, parents in enumerate(DAG.parents)
            for head, parent in enumerate(parents)
            for j in range(child)
        )
        assert found["distance"] == pytest.approx(far)
        assert 0.09 < far <= 0.1
        both = (attention > 0.5).any(axis=0).T
        assert np.array_equal(both[:, 2:], DAG.matrix_parent_child()[:, 2:])
        assert (found["right"], found["edges"], found["besides"]) == (16, 16, 0)


def test_a_wrong_head_shows_in_the_distance():
    table = population_scores(paper_process())
    table[0, 4] = table[1, 4]  # head 1 of node 5 is scored as head 2
    found = train(table)
    assert (found["right"], found["edges"]) == (15, 15)
    assert found["distance"] > 0.8


@pytest.mark.parametrize(
    ("share", "size"),
    [
        ([0.0, 0.95, 1.0], 20),
        ([0.95, 0.9, 1.0], 40),  # a size that fails later was luck
        ([1.0, 1.0, 1.0], 10),
        ([1.0, 1.0, 0.94], None),
    ],
)
def test_needed_is_the_size_from_which_all_are_good(share, size):
    assert needed([10, 20, 40], share) == size


def test_a_stream_is_one_growing_sample():
    process = paper_process()
    stream = follow_stream(process, [300, 25_000], np.random.default_rng(8), keep=[25_000])
    rng = np.random.default_rng(8)
    rows = sample(process, 25_000, rng=rng, labelled=True)
    whole = count_labelled(rows, 3)
    assert list(stream.kept) == [25_000]
    assert stream.kept[25_000].n_rows == 25_000
    assert np.allclose(stream.kept[25_000].printed, whole.printed)
    assert np.array_equal(stream.kept[25_000].label, whole.label)
    best = np.nan_to_num(labelled_scores(whole, "printed"), nan=-9.0).argmax(axis=-1)
    right = sum(
        best[head, child] == parent for child, ps in enumerate(DAG.parents) for head, parent in enumerate(ps)
    )
    assert stream.right["printed"][1] == right


def test_summary_counts_streams_that_are_exact():
    streams = [Stream({"printed": [3, 15, 16], "factorised": [15, 16, 16]}, {}) for _ in range(3)]
    streams.append(Stream({"printed": [3, 15, 14], "factorised": [16, 16, 16]}, {}))
    numbers = summary(streams, [10, 20, 40], 16)
    assert numbers["share"] == {"printed": [0.0, 0.0, 0.75], "factorised": [0.25, 1.0, 1.0]}
    assert numbers["needed"] == {"printed": None, "factorised": 20}
    assert (size_text(numbers, "printed"), size_text(numbers, "factorised")) == ("more than 40", "20")
    table = needs_table(numbers)
    assert table["rows"][2] == ["40", "75%", "15.5", "100%", "16.0"]
    assert "printed more than 40, factorised 20" in table["note"]


def test_bias_is_the_difference_of_the_tables(found):
    scores = {name: np.array(values) for name, values in found["scores"].items()}
    assert len(scores["stationary"]) == 2 * sum(range(2, 10))
    assert sum(found["is_parent"]) == 16
    apart = scores["uniform"] - scores["stationary"]
    assert found["steps"]["uniform"]["largest"] == pytest.approx(max(apart.max(), -apart.min()))
    total = found["steps"]["uniform"]["mean"] + found["steps"]["own"]["mean"]
    assert found["steps"]["both"]["mean"] == pytest.approx(total)
    assert found["right"] == {"stationary": 16, "uniform": 16, "expected": 16}
    assert min(found["margins"]["expected"]) < min(found["margins"]["stationary"])


def test_uniform_co_parents_are_no_bias_where_parents_are_uniform():
    noise = np.full((3, 3, 3), 0.1)
    for a in range(3):
        for b in range(3):
            noise[a, b, (a + 2 * b) % 3] = 0.8  # every state is as likely: M_π is uniform
    found = bias(Process(DAG, Kernel(noise)))
    assert found["steps"]["uniform"]["largest"] < 1e-12
    assert found["steps"]["own"]["largest"] > 0.01


def test_margins_are_signed():
    dag = Dag([(), (), (0, 1)])
    table = np.full((2, 3, 3), np.nan)
    table[:, 2, :2] = [[0.5, 0.2], [0.6, 0.1]]  # the second head prefers the wrong candidate
    assert margins(table, dag) == pytest.approx([0.3, -0.5])


def test_random_kernels_are_counted_one_by_one():
    from kgmi.kernel.tunables import random_tunables
    from kgmi.paper.setting import heads_right

    rng, right, lost, gained = np.random.default_rng(4), 0, 0, 0
    for _ in range(12):
        tables = tables_of(paper_process(p=random_tunables(rng)))
        before, after = (heads_right(tables[name], DAG) == 16 for name in ("stationary", "uniform"))
        right += after
        lost += before and not after
        gained += after and not before
    counted = over_kernels(12, np.random.default_rng(4))
    assert counted["kernels"] == 12
    found = tuple(counted[what]["uniform"] for what in ("right", "lost", "gained"))
    assert found == (right, lost, gained)
    assert right == counted["right"]["stationary"] - lost + gained
    table = bias_table(bias(paper_process()), counted)
    assert all(len(row) == len(table["columns"]) for row in table["rows"])
    assert table["rows"][1][-3:] == [str(right), str(gained), str(lost)]


def test_checks_hold_and_fail_with_the_numbers(outcome):
    *steady, _ = outcome.checks  # how many of a few random kernels are lost is left to chance
    assert all(check.holds for check in steady)
    assert verdict_of(outcome.checks) == "holds"
    assert [c.source for c in outcome.checks].count("paper") == 3

    def broken(*path_and_value):
        *path, last, value = path_and_value
        numbers = copy.deepcopy(outcome.numbers)
        numbers["kernels"].update(
            kernels=14,
            right={"stationary": 10, "uniform": 13, "expected": 13},
            lost={"uniform": 1, "expected": 1},
            gained={"uniform": 4, "expected": 4},
        )
        part = numbers
        for key in path:
            part = part[key]
        part[last] = value
        return [check.name for check in checks_of(numbers) if not check.holds]

    assert broken("maps", "kl", "right", 15) == ["KL-KG-MI, population"]
    assert broken("maps", "printed", "right", 15) == ["χ²-KG-MI, estimated"]
    assert broken("maps", "printed", "distance", 0.2) == ["attention equals the adjacency matrix"]
    assert broken("labels", "needed", "factorised", None) == ["labelled sequences needed"]
    assert broken("labels", "needed", "printed", None) == []
    assert broken("bias", "right", "uniform", 15) == ["bias of the uniform co-parents"]
    assert broken("kernels", "lost", "expected", 2) == ["bias on other kernels"]  # gains do not make up for it


def test_figures_show_both_heads_and_what_they_need(outcome):
    numbers = copy.deepcopy(outcome.numbers)
    numbers["labels"]["needed"]["printed"] = None
    figures = EXPERIMENT.draw(numbers)
    assert list(figures) == ["heatmaps", "labels"]
    maps = [ax for ax in figures["heatmaps"].axes if ax.get_title()]
    assert len(maps) == 3
    assert "640,000" in maps[1].get_title()
    assert "printed form" in maps[1].get_title()
    shown = maps[0].images[0].get_array()
    assert shown[0, 2] > 0.7  # head 1 of node 3 is on node 1 …
    assert shown[1, 2] < -0.7  # … and head 2, drawn as negative, on node 2
    texts = legend_texts(figures["labels"].axes[0].get_legend())
    assert texts == ["printed form: needs more than 640,000", "factorised form: needs 2,500"]
