"""Networks through the libraries themselves: make test-bench installs them."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from kgmi.bench import Plan
from kgmi.bench.libraries import ORDERED
from kgmi.bench.networks import METHODS, compare_methods, read_bif, sample_network
from kgmi.bench.networks.report import outcome_lines
from kgmi.errors import DataError
from kgmi.interchange import readers

pytestmark = pytest.mark.peers

# Children before parents, three and two states, and a state of rain that never occurs.
SPRINKLER = """network garden {
}
variable wet {
  type discrete [ 2 ] { no, yes };
}
variable sprinkler {
  type discrete [ 2 ] { off, on };
}
variable rain {
  type discrete [ 4 ] { none, some, much, flood };
}
variable season {
  type discrete [ 3 ] { winter, summer, other };
}
probability ( season ) {
  table 0.3, 0.4, 0.3;
}
probability ( rain | season ) {
  (winter) 0.2, 0.3, 0.5, 0.0;
  (summer) 0.8, 0.1, 0.1, 0.0;
  (other) 0.1, 0.8, 0.1, 0.0;
}
probability ( sprinkler | season ) {
  (winter) 0.9, 0.1;
  (summer) 0.2, 0.8;
  (other) 0.6, 0.4;
}
probability ( wet | rain, sprinkler ) {
  (none, off) 0.95, 0.05;
  (some, off) 0.3, 0.7;
  (much, off) 0.1, 0.9;
  (flood, off) 0.0, 1.0;
  (none, on) 0.15, 0.85;
  (some, on) 0.6, 0.4;
  (much, on) 0.05, 0.95;
  (flood, on) 0.0, 1.0;
}
"""

# These score discrete data properly and climb or search from there, so on enough rows they find the graph.
EXACT = {
    "pgmpy-hc",
    "pomegranate-exact",
    "pybnesian-hc-bde-order",
    "pybnesian-hc-order",
    "pyagrum-greedy-k2-order",
    "pyagrum-greedy-order",
    "pyagrum-k2",
    "pyagrum-k2-bic",
    "pyagrum-k2-original",
}


def write(tmp_path, text=SPRINKLER):
    path = tmp_path / "garden.bif"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def network(tmp_path):
    path = tmp_path / "garden.bif.gz"
    path.write_bytes(gzip.compress(SPRINKLER.encode()))
    return read_bif(path)


# Files


def test_a_network_is_read(network):
    assert network.name == "garden"
    assert network.names == ("season", "sprinkler", "rain", "wet")  # the file has sprinkler before rain
    assert network.n_states == (3, 2, 4, 2)
    assert network.alphabets[2] == ("none", "some", "much", "flood")
    assert network.dag.parents == ((), (0,), (0,), (2, 1))
    np.testing.assert_allclose(network.tables[2][1], [0.8, 0.1, 0.1, 0.0], atol=1e-7)
    np.testing.assert_allclose(
        network.tables[3][:, :, 1], [[0.05, 0.85], [0.7, 0.4], [0.9, 0.95], [1, 1]], atol=1e-7
    )


def test_both_libraries_read_the_same():
    one, other = (read(SPRINKLER) for read in (readers.with_pyagrum, readers.with_pgmpy))
    assert [node.name for node in one] == ["wet", "sprinkler", "rain", "season"]
    for a, b in zip(one, other, strict=True):
        assert (a.name, a.states, a.parents) == (b.name, b.states, b.parents)
        np.testing.assert_allclose(a.table, b.table, atol=1e-7)


def test_states_that_only_pgmpy_reads(tmp_path):
    text = (
        SPRINKLER.replace("none", "<5")
        .replace("some", "5-12")
        .replace("much", "12+")
        .replace("flood", "Asy/Patchy")
    )
    with pytest.raises(DataError, match="line 10"):
        readers.with_pyagrum(text)
    network = read_bif(write(tmp_path, text))
    assert network.alphabets[2] == ("<5", "5-12", "12+", "Asy/Patchy")
    assert network.dag.parents == ((), (0,), (0,), (2, 1))


BAD_FILES = {
    "no BIF": ("a,b,c\n0,1,2\n", 'cannot be read as BIF: line 1: .*"network" expected'),
    "a missing line": (
        SPRINKLER.replace("  (summer) 0.2, 0.8;\n", ""),
        "'sprinkler'.* given season = summer sum to 0",
    ),
    "a wrong sum": (SPRINKLER.replace("0.9, 0.1;", "0.9, 0.3;"), "given season = winter sum to 1.2, not to 1"),
    "a negative number": (SPRINKLER.replace("0.9, 0.1;", "1.9, -0.9;"), "'sprinkler'.* no probability"),
    "text for a number": (SPRINKLER.replace("0.9, 0.1;", "nan, 0.1;"), "given season = winter sum to 0"),
    "a short line": (SPRINKLER.replace("0.9, 0.1;", "0.9;"), "given season = winter sum to 0.9"),
    "no table": (SPRINKLER[: SPRINKLER.index("probability ( wet")], "'wet'.* sum to 0"),
    "a cut": (SPRINKLER[:-40], r"line 3\d: Syntax error"),
    "an unknown parent": (
        SPRINKLER.replace("wet | rain", "wet | sun"),
        r"line 28: Object not found \(«probability \( wet \| sun, sprinkler",
    ),
    "an unknown state": (
        SPRINKLER.replace("(other) 0.6", "(never) 0.6"),
        r"line 26: Object not found \(«\(never\) 0.6",
    ),
    "a variable twice": (SPRINKLER.replace("variable rain", "variable wet"), "'wet' is declared twice|line 9"),
    "a cycle": (
        SPRINKLER.replace(
            "( season ) {\n  table 0.3, 0.4, 0.3;", "( season | wet ) {\n  (no) 1, 0, 0;\n  (yes) 0, 0, 1;"
        ),
        "cycle: .*season → ",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_broken_files(tmp_path, name):
    text, says = BAD_FILES[name]
    assert text != SPRINKLER
    with pytest.raises(DataError, match=says) as caught:
        read_bif(write(tmp_path, text))
    assert "\n" not in str(caught.value)


# Learning


@pytest.mark.parametrize("key", [method.key for method in ORDERED])
def test_an_installed_library_learns_a_network(key, network):
    method = next(method for method in METHODS if method.key == key)
    plan = Plan(rows=(4_000,), seeds=(5,), methods=(method,))
    assert plan.missing == ()
    (outcome,) = compare_methods(network, plan)
    assert outcome.trouble is None
    assert outcome.seeds == (5,)
    if key in EXACT:  # the others take codes for numbers, or test
        assert outcome.scores[0].shd == 0
    assert len(outcome_lines([outcome])) == 1


def test_the_rows_have_a_state_that_never_occurs(network):
    assert set(sample_network(network, 4_000, rng=5)[:, 2]) == {0, 1, 2}
