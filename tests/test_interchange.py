"""Results in the formats of other tools, as far as NumPy and networkx can read them back.

tests/test_interchange_libraries.py reads them with the other tools themselves.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sys

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kgmi
from kgmi.errors import DataError, SettingError, TooLargeError
from kgmi.interchange import EXPORT_SUFFIXES, EXPORTS, export_notes, laws, marginals, names, to_networkx, to_pgmpy
from tests.interchange_drills import DAG, NAMES, all_rows, learned_of, mixed

NASTY = [
    "a b", 'x"y', "x\\", "a,b", "a -> b", "1st", "<&>'", "é", "e\u0301", "table", "Table", "graph", "node", "", " ",
    "_", "-", "a\nb", "a\rb", "\x00", "\u2028", "x" * 300, "0.5", "-1", "12+", "12-", "日本", "\ud800", "}", ";",
    "//", "/*", "=1+1", "@x", "'=1", "\t=1", "\r=1", "'",
]  # fmt: skip
many_names = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=6)), max_size=12, unique=True)


def named(learned):
    return {(edge["parent"], edge["child"]) for edge in learned.edges}


# Names


@given(many_names)
def test_changed_names_stay_different_and_are_legal(texts):
    for mended, legal in (
        (names.bif_names(texts), re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,119}")),
        (names.bif_states(texts), re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,119}|-?[0-9]{1,18}")),
        (names.dagitty_names(texts), re.compile(r'[^\x00-\x1f\x7f"\\]+')),
        (names.xml_names(texts), re.compile("[\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")),
    ):
        assert len(set(mended)) == len(texts)
        assert all(map(legal.fullmatch, mended))
    words = names.bif_names(texts)
    assert len({word.lower() for word in words}) == len(texts)  # pgmpy does not tell A from a
    assert not {"table", "network", "default"} & {word.lower() for word in words}
    assert not {"graph", "node", ""} & {*names.dagitty_names(texts)}


def test_legal_names_are_kept_whatever_the_others_become():
    assert names.bif_names(["a b", "a_b", "a.b", "A_B"]) == ("a_b_2", "a_b", "a_b_3", "A_B_4")
    assert names.bif_names(["a_b", "A_B", "A_B_2"]) == ("a_b", "A_B_3", "A_B_2")
    assert names.bif_names(["X1", "x-2", "_y"]) == ("X1", "x-2", "_y")
    assert names.bif_states(["0", "-1", "<5", "1e5", "5.0"]) == ("0", "-1", "_5", "s_1e5", "s_5_0")
    assert names.dagitty_names(["node", "é, ü"]) == ("node_", "é, ü")


# Graphs


def test_networkx_has_what_the_result_says():
    learned = learned_of()
    graph = to_networkx(learned)
    assert list(graph) == list(learned.names)
    assert kgmi.Dag.from_networkx(graph, order=learned.names) == learned.dag
    assert set(graph.edges) == named(learned)
    assert [graph.nodes[name]["root"] for name in NAMES] == [True, True, False, False, False, False]
    assert [graph.nodes[name].get("block") for name in NAMES] == [1, 1, None, None, None, None]
    for edge in learned.edges:
        values = graph.edges[edge["parent"], edge["child"]]
        assert values["attention"] == edge["attention"]
        assert values["margin"] == edge["margin"]
        assert values["strength"] == learned.trust.edges[edge["parent"], edge["child"]]
        assert NAMES[learned.dag.parents[NAMES.index(edge["child"])][values["role"] - 1]] == edge["parent"]


def test_graphml_is_read_back_by_networkx():
    learned = learned_of()
    graph, again = to_networkx(learned), networkx.read_graphml(io.BytesIO(kgmi.export(learned, "graphml").encode()))
    assert list(again) == list(graph)
    for name, values in graph.nodes(data=True):
        assert again.nodes[name] == {**values, "name": name}
    infinite = 0
    for parent, child, values in graph.edges(data=True):
        infinite += values["margin"] == math.inf
        assert again.edges[parent, child] == {key: value for key, value in values.items() if value != math.inf}
    assert infinite  # a node with as many candidates as parents: left out, as other readers know no infinity


@given(st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=6)), min_size=6, max_size=6, unique=True))
def test_graphs_with_any_names_are_read_back(texts):
    learned = learned_of()
    other = kgmi.Learned(
        dag=learned.dag, attention=learned.attention, scores=learned.scores, converged=True, kernel=None,
        stopped=learned.stopped, undecided=(), names=tuple(texts), states=learned.states,
        configuration=learned.configuration, fit=learned.fit,
    )  # fmt: skip
    edges = {(texts[j], texts[i]) for j, i in DAG.edges}
    mended = dict(zip(texts, names.xml_names(texts), strict=True))
    graph = networkx.read_graphml(io.BytesIO(kgmi.export(other, "graphml").encode()))
    assert set(graph.edges) == {(mended[parent], mended[child]) for parent, child in edges}
    rows = list(csv.DictReader(io.StringIO(kgmi.export(other, "csv"), newline="")))
    assert {(row["parent"].removeprefix("'"), row["child"].removeprefix("'")) for row in rows} == edges
    assert not any(row[key][:1] in {*"=+-@\t\r\n"} for row in rows for key in ("parent", "child"))
    assert kgmi.Dag.from_dot(kgmi.export(other, "dot")) == learned.dag
    content = json.loads(kgmi.export(other, "json"))
    assert content["names"] == texts
    assert {(edge["parent"], edge["child"]) for edge in content["edges"]} == edges


def test_json_is_a_graph_file_with_more_in_it():
    learned = mixed()
    content = json.loads(kgmi.export(learned, "json"), parse_constant=pytest.fail)
    dag = kgmi.Dag.from_dict(content)
    assert (dag, dag.root_blocks) == (learned.dag, learned.dag.root_blocks)
    assert content["states"] == [list(alphabet) for alphabet in learned.alphabets]
    (kernel,) = content["kernels"]
    np.testing.assert_array_equal(kernel["table"], learned.kernels[0].table)
    assert kernel["children"] == [2]
    assert content["trust"]["level"] == learned.trust.level
    assert kgmi.Dag.from_dict(json.loads(kgmi.export(learned_of(), "json"))).root_blocks == ((0, 1),)


def test_dagitty_joins_roots_that_are_drawn_together():
    text = kgmi.export(learned_of(), "dagitty")
    assert text.startswith('dag kgmi {\n"a b"\n"say _x_, y"\n')
    assert '"1st -> 2nd" -> "Größe & <Höhe>"\n' in text
    assert text.endswith('"a b" <-> "say _x_, y"\n}\n')
    assert "<->" not in kgmi.export(mixed(), "dagitty")


# Bayesian networks


def joint_of(text, sizes):
    """The joint law that a BIF text says, read line by line with no help from the package."""
    order = re.findall(r"^variable (\S+) \{", text, re.MULTILINE)
    declared = re.findall(r"^  type discrete \[ (\d+) \] \{ (.*) \};$", text, re.MULTILINE)
    states = dict(zip(order, [told.split(", ") for _, told in declared], strict=True))
    assert [int(size) for size, _ in declared] == [len(states[name]) for name in order] == list(sizes)
    joint = np.ones(sizes)
    blocks = re.findall(r"^probability \( (\S+)(?: \| ([^\n]*))? \) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    assert [name for name, _, _ in blocks] == order
    for name, above, lines in blocks:
        given_by = above.split(", ") if above else []
        laws_given = {}
        for line in lines.splitlines():
            chosen, told = re.fullmatch(r"  (?:table|\((.*)\)) (.*);", line).groups()
            laws_given[tuple(chosen.split(", ")) if chosen else ()] = [float(p) for p in told.split(", ")]
        for row in np.ndindex(joint.shape):
            at = dict(zip(order, row, strict=True))
            joint[row] *= laws_given[tuple(states[other][at[other]] for other in given_by)][at[name]]
    return joint


@pytest.mark.parametrize("result", [learned_of, mixed])
def test_bif_says_the_law_of_the_model(result):
    learned = result()
    sizes = [len(law) for law in learned.model.marginals]
    expected = np.exp(learned.model.log_likelihood(all_rows(learned))).reshape(sizes)
    np.testing.assert_allclose(joint_of(kgmi.export(learned, "bif"), sizes), expected, rtol=1e-12)


def test_a_result_without_rows_has_no_network():
    process = kgmi.Process(kgmi.Dag.paper(5), kgmi.Kernel.paper())
    learned = kgmi.learn(kgmi.exact_joint(process), kernel=process.kernel, guide="stationary", solver="limit")
    for make in (lambda: kgmi.export(learned, "bif"), lambda: to_pgmpy(learned)):
        with pytest.raises(DataError, match=r"no probabilities: .* Learn from rows .* graph alone"):
            make()
    assert "X1 -> X3" in kgmi.export(learned, "dagitty")


def test_a_network_that_is_too_large_is_refused_before_it_is_written(monkeypatch):
    monkeypatch.setattr(laws, "_MOST_CELLS", 100)
    with pytest.raises(TooLargeError, match=r"has 120 probabilities, more than the 100 .* fewer parents"):
        kgmi.export(learned_of(), "bif")


def test_pgmpy_is_asked_for_by_name(monkeypatch):
    for module in ("pgmpy", "pgmpy.factors.discrete", "pgmpy.models"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SettingError, match=r"needs pgmpy, .* pip install 'kgmi\[pgm\]'"):
        to_pgmpy(mixed())


def test_laws_alone_are_sums_of_the_joint_law_exact_or_from_rows(monkeypatch):
    rng = np.random.default_rng(9)
    sizes = (2, 3, 2, 4, 3)
    dag = kgmi.Dag([(), (0,), (), (1, 0), ()])  # three components, a root that nobody follows
    tables = [rng.dirichlet(np.ones(sizes[k]), size=[sizes[j] for j in dag.parents[k]]) for k in range(5)]
    joint = np.einsum("a,ab,c,bad,e->abcde", *tables)
    expected = [joint.sum(axis=tuple(k for k in range(5) if k != node)) for node in range(5)]
    for law, exact in zip(marginals.marginals_of(dag, tables), expected, strict=True):
        np.testing.assert_allclose(law, exact, rtol=1e-12)
    monkeypatch.setattr(marginals, "_MOST_CELLS", 1)
    monkeypatch.setattr(marginals, "_AT_ONCE", 33_000)  # several rounds, the last one shorter
    for law, exact in zip(marginals.marginals_of(dag, tables), expected, strict=True):
        assert law.sum() == pytest.approx(1)
        np.testing.assert_allclose(law, exact, atol=0.01)


# What formats cannot say


def test_notes_say_what_a_format_could_not():
    learned = learned_of()
    assert set(EXPORTS) == set(EXPORT_SUFFIXES) == {"graphml", "dot", "json", "bif", "dagitty", "csv"}
    assert [export_notes(mixed(), kind) for kind in EXPORTS] == [()] * 6
    renamed, together = export_notes(learned, "bif")
    assert renamed.startswith('BIF cannot say all names as they are: a b is a_b; "say ""x"", y" is say_x_y; ')
    assert renamed.endswith("; table is v_table; and 19 more.")
    assert '(a b, "say ""x"", y") are joined by edges there' in together
    assert "is say _x_, y." in export_notes(learned, "dagitty")[0]
    assert export_notes(learned, "graphml") == export_notes(learned, "json") == ()
    assert "stand there like any others" in export_notes(learned, "csv")[-1]


def test_an_unknown_format():
    with pytest.raises(SettingError, match="no format 'gml' to export to; choose one of graphml, dot"):
        kgmi.export(mixed(), "gml")
