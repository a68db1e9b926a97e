"""Round trips through the tools themselves: pgmpy, pyAgrum and pydot. make test-bench installs them."""

from __future__ import annotations

import re
import runpy
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kgmi
from kgmi.interchange import export, from_bif, names, to_pgmpy
from tests.interchange_drills import NAMES, all_rows, learned_of, mixed

pytestmark = [
    pytest.mark.peers,
    # What these libraries have to say about their own imports and parsers.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]

RESULTS = {"nasty names, one kernel, joint roots": learned_of, "two, three and four states": mixed}


@pytest.fixture(params=RESULTS)
def learned(request):
    return RESULTS[request.param]()


def bif_file(folder, learned):
    path = folder / "network.bif"
    path.write_text(export(learned, "bif"), encoding="utf-8")
    return path


def loaded(path):
    """The file as pyAgrum reads it."""
    import pyagrum

    return pyagrum.loadBN(str(path))


def pgmpy_joint(model, names, alphabets):
    """The joint law by pgmpy's own inference, axes and states in our order."""
    from pgmpy.inference import VariableElimination

    law = VariableElimination(model).query(list(names), show_progress=False)
    table = np.transpose(law.values, [law.variables.index(name) for name in names])
    for axis, (name, states) in enumerate(zip(names, alphabets, strict=True)):
        table = np.take(table, [law.state_names[name].index(state) for state in states], axis=axis)
    return table


def own_joint(learned):
    sizes = [len(law) for law in learned.model.marginals]
    return np.exp(learned.model.log_likelihood(all_rows(learned))).reshape(sizes)


def alphabets_of(learned):
    return learned.alphabets or (learned.states,) * learned.n_nodes


# pgmpy


def test_inference_in_pgmpy_is_that_of_our_model(learned):
    model = to_pgmpy(learned)
    assert model.check_model()
    assert list(model.nodes) == list(learned.names)
    together = {
        (learned.names[j], learned.names[i])
        for i in learned.dag.roots
        for j in learned.model.given[i]  # roots drawn together
    }
    assert set(model.edges) - together == {(edge["parent"], edge["child"]) for edge in learned.edges}
    found = pgmpy_joint(model, learned.names, alphabets_of(learned))
    np.testing.assert_allclose(found, own_joint(learned), rtol=1e-10)


# BIF, out


def test_pgmpy_reads_our_bif(learned):
    from pgmpy.readwrite import BIFReader

    model = BIFReader(string=export(learned, "bif")).get_model()
    assert model.check_model()
    words = names.bif_names(learned.names)
    alphabets = [names.bif_states(states) for states in alphabets_of(learned)]
    np.testing.assert_allclose(pgmpy_joint(model, words, alphabets), own_joint(learned), rtol=1e-10)


def test_pyagrum_reads_our_bif(learned, tmp_path):
    network = loaded(bif_file(tmp_path, learned))
    words = names.bif_names(learned.names)
    assert [network.variable(node).name() for node in sorted(network.nodes())] == list(words)
    for node, states in enumerate(alphabets_of(learned)):
        assert network.variable(node).labels() == names.bif_states(states)
    row, found = network.completeInstantiation(), []
    for codes in all_rows(learned).tolist():
        for word, code in zip(words, codes, strict=True):
            row.chgVal(word, code)
        found.append(network.jointProbability(row))
    np.testing.assert_allclose(found, own_joint(learned).ravel(), rtol=1e-5)


# BIF, in


def test_our_bif_comes_back_as_it_was(learned, tmp_path):
    dag, found, states, model = from_bif(bif_file(tmp_path, learned))
    assert found == learned.names
    assert states == tuple(alphabets_of(learned))
    assert dag.parents == learned.model.given
    for one, other in zip(model.tables, learned.model.tables, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7)  # pyAgrum reads 32-bit floats
    joint = own_joint(learned)
    for node, law in enumerate(model.marginals):
        others = tuple(other for other in range(joint.ndim) if other != node)
        np.testing.assert_allclose(law, joint.sum(axis=others), atol=1e-6)


def published(name):
    return as_file(files("pgmpy") / "utils" / "example_models" / f"{name}.bif.gz")


def test_a_published_network_has_the_joint_law_that_pgmpy_gives_it():
    import gzip

    from pgmpy.readwrite import BIFReader

    with published("asia") as path:
        dag, found, states, model = from_bif(path)
        theirs = BIFReader(string=gzip.decompress(path.read_bytes()).decode()).get_model()
    assert set(theirs.edges) == {(found[j], found[i]) for j, i in dag.edges}
    rows = np.indices([len(alphabet) for alphabet in states]).reshape(len(states), -1).T
    ours = np.exp(model.log_likelihood(rows)).reshape([len(alphabet) for alphabet in states])
    np.testing.assert_allclose(ours, pgmpy_joint(theirs, found, states), atol=1e-7)


def test_a_published_network_is_learned_from_rows_of_its_model():
    with published("sachs") as path:
        dag, found, states, model = from_bif(path)
    table = kgmi.Table(model.sample(5_000, rng=706), found, states[0])
    assert set(states) == {states[0]}
    learned = kgmi.learn(table, n_parents=dag.max_in_degree)
    assert kgmi.metrics.compare(learned.dag, dag).shd <= 1
    for node in range(len(found)):  # the same law again, from its rows
        np.testing.assert_allclose(learned.model.marginals[node], model.marginals[node], atol=0.03)


def test_the_python_of_the_page_that_needs_the_extra_runs(tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parent.parent / "docs" / "interchange.md").read_text(encoding="utf-8")
    learned = learned_of(tuple(f"X{node}" for node in (1, 2, 3, 4, 9, 10)), ("0", "1", "2"))
    monkeypatch.chdir(tmp_path)
    kgmi.save(learned, "result")
    bif_file(tmp_path, learned)
    (tmp_path / "page.py").write_text(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[1], encoding="utf-8")
    runpy.run_path("page.py")
    assert "phi(X4)" in capsys.readouterr().out


# Any names at all

texts = st.lists(st.text(max_size=8), min_size=2, max_size=4, unique=True)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(node_names=texts, states=texts)
def test_any_names_survive_bif(tmp_path, node_names, states):
    from pgmpy.readwrite import BIFReader

    from kgmi.interchange.bif_text import bif_text
    from kgmi.interchange.laws import Laws
    from kgmi.model import Model

    law = np.arange(1.0, len(states) + 1)
    law /= law.sum()
    model = Model(((),) * len(node_names), (law,) * len(node_names), (law,) * len(node_names))
    text = bif_text(Laws(tuple(node_names), (tuple(states),) * len(node_names), model, ()))
    path = tmp_path / "any.bif"
    path.write_text(text, encoding="utf-8")
    _, found, alphabets, again = from_bif(path)
    assert found == tuple(node_names)
    assert set(alphabets) == {tuple(states)}
    np.testing.assert_allclose(again.tables[-1], law, atol=1e-7)
    theirs = BIFReader(string=text)
    assert theirs.variable_names == list(names.bif_names(node_names))
    np.testing.assert_allclose(theirs.variable_cpds[theirs.variable_names[0]].ravel(), law)


# Graphs


def test_pydot_reads_our_dot(learned):
    import pydot

    (graph,) = pydot.graph_from_dot_data(export(learned, "dot"))
    labels = {
        node.get_name(): node.get("label")[1:-1].replace('\\"', '"').replace("\\\\", "\\")
        for node in graph.get_nodes()
    }
    assert list(labels.values()) == list(learned.names)
    edges = {(labels[edge.get_source()], labels[edge.get_destination()]) for edge in graph.get_edges()}
    assert edges == {(edge["parent"], edge["child"]) for edge in learned.edges}


def test_pgmpy_reads_our_dagitty():
    from pgmpy.base import DAG

    learned = learned_of()
    graph = DAG.from_dagitty(export(learned, "dagitty"))
    said = dict(zip(learned.names, names.dagitty_names(learned.names), strict=True))
    assert said[NAMES[0]] == NAMES[0]
    hidden = "u_a b_say _x_, y"  # what pgmpy makes of <->
    assert set(graph.nodes) == {*said.values(), hidden}
    edges = {(said[edge["parent"]], said[edge["child"]]) for edge in learned.edges}
    assert set(graph.edges) == edges | {(hidden, "a b"), (hidden, "say _x_, y")}
