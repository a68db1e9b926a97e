"""BIF files: what is refused before a library reads them, and what is made of what the libraries read.

The libraries themselves are stand-ins here; tests/test_interchange_libraries.py has the real ones, and so has
tests/test_bench_networks_libraries.py.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from kgmi.errors import DataError, SettingError
from kgmi.interchange import bif, from_bif, read_bif, readers

TABLE = np.arange(1.0, 13).reshape(2, 3, 2)  # [first parent, second parent, state]
TABLE /= TABLE.sum(axis=-1, keepdims=True)


class GumException(Exception):
    """As in pyAgrum."""


def _variable(name, *states):
    return SimpleNamespace(name=lambda: name, labels=lambda: states)


def _cpt(names, array):
    return SimpleNamespace(names=names, toarray=lambda: array)


VARIABLES = {0: _variable("c", "no", "yes"), 1: _variable("a", "0", "1"), 2: _variable("b", "x", "y", "z")}
CPTS = {
    0: _cpt(("c", "a", "b"), TABLE.transpose(1, 0, 2)),  # it reverses the axes
    1: _cpt(("a",), np.array([0.5, 0.5])),
    2: _cpt(("b",), np.array([0.2, 0.3, 0.5])),
}


def fake_pyagrum(monkeypatch, says=None):
    """A pyAgrum that knows one network, or refuses everything with a message."""
    module = ModuleType("pyagrum")
    module.GumException = GumException

    def load(path):
        if says is not None:
            raise GumException(says.replace("PATH", path))
        module.text = Path(path).read_text(encoding="utf-8")
        return SimpleNamespace(nodes=lambda: {2, 0, 1}, variable=VARIABLES.get, cpt=CPTS.get)

    module.loadBN = load
    monkeypatch.setitem(sys.modules, "pyagrum", module)
    return module


def pgmpy_content(**changes):
    content = {
        "variable_names": ["c", "a", "b"],
        "variable_states": {"a": ["0", "1"], "b": ["x", "y", "z"], "c": ["no", "yes"]},
        "variable_parents": {"a": [], "b": [], "c": ["a", "b"]},
        "variable_cpds": {
            "a": np.array([[0.5], [0.5]]),
            "b": np.array([[0.2], [0.3], [0.5]]),
            "c": TABLE.reshape(6, 2).T,
        },
    }
    return SimpleNamespace(**(content | changes))


def fake_pgmpy(monkeypatch, answer):
    """A pgmpy whose reader gives this answer, or raises it."""
    module = ModuleType("pgmpy.readwrite")

    def reader(string):
        module.text = string
        if isinstance(answer, Exception):
            raise answer
        return answer

    module.BIFReader = reader
    monkeypatch.setitem(sys.modules, "pgmpy", ModuleType("pgmpy"))
    monkeypatch.setitem(sys.modules, "pgmpy.readwrite", module)
    return module


@pytest.fixture
def no_libraries(monkeypatch):
    for name in ("pyagrum", "pgmpy", "pgmpy.readwrite"):
        monkeypatch.setitem(sys.modules, name, None)


def write(tmp_path, content="network x {\n}\n", name="small.bif"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def check_network(network):
    assert network.name == "small"
    assert network.names == ("a", "b", "c")
    assert network.alphabets == (("0", "1"), ("x", "y", "z"), ("no", "yes"))
    assert network.dag.parents == ((), (), (0, 1))
    np.testing.assert_allclose(network.tables[2], TABLE)
    np.testing.assert_allclose(network.tables[1], [0.2, 0.3, 0.5])


# What the libraries read


@pytest.mark.parametrize("name", ["small.bif", "small.bif.gz"])
def test_pyagrum_reads(tmp_path, monkeypatch, name):
    module = fake_pyagrum(monkeypatch)
    text = "network x {\n}\n"
    check_network(read_bif(write(tmp_path, gzip.compress(text.encode()) if name.endswith("gz") else text, name)))
    assert module.text == text


def test_pgmpy_reads_what_pyagrum_does_not_know(tmp_path, monkeypatch):
    fake_pyagrum(monkeypatch, 'PATH:1: 1 : error : Syntax error : "}" expected\nx\n^\n')
    module = fake_pgmpy(monkeypatch, pgmpy_content())
    check_network(read_bif(write(tmp_path, "network x { \r\n}")))
    assert module.text == "network x {\n}\n"


def test_pgmpy_reads_alone(tmp_path, monkeypatch, no_libraries):
    fake_pgmpy(monkeypatch, pgmpy_content())
    check_network(read_bif(write(tmp_path)))


def test_names_come_back_and_laws_alone_are_exact(tmp_path, monkeypatch):
    fake_pyagrum(monkeypatch)
    notes = [
        '// kgmi: {"node": "a", "name": "a, too", "states": {"1": "1.0"}}',
        '// kgmi: {"node": "c", "name": 3, "states": {}}',  # not ours: names are texts
        '// kgmi: {"node": "b", "name": "B", "states": ["x"]}',
        "// kgmi: is a fine package",
        '//  {"node": "b", "name": "no note", "states": {}}',
    ]
    dag, names, states, model = from_bif(write(tmp_path, "\n".join([*notes, "network x {\n}\n"])))
    assert names == ("a, too", "b", "c")
    assert states == (("0", "1.0"), ("x", "y", "z"), ("no", "yes"))
    assert dag.parents == model.given == ((), (), (0, 1))
    np.testing.assert_allclose(model.marginals[2], np.einsum("a,b,abc->c", [0.5, 0.5], [0.2, 0.3, 0.5], TABLE))


def test_names_that_come_back_twice_are_refused(tmp_path, monkeypatch):
    fake_pyagrum(monkeypatch)
    path = write(tmp_path, '// kgmi: {"node": "a", "name": "b", "states": {}}\n')
    with pytest.raises(DataError, match="'b' is declared twice"):
        from_bif(path)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (
            "[pyAgrum] Fatal error: PATH:14: 4 : error : Object not found\n  (loads) 0.4, 0.6;\n   ^\nErrors : 1\n",
            "line 14: Object not found («(loads) 0.4, 0.6;»)",
        ),
        ("Fatal error: PATH:1: 1 : error : network expected\n\n^", "line 1: network expected"),
        ("something else\nfailed", "failed"),
        ("", "no reason given"),
    ],
)
def test_the_first_error_of_pyagrum_is_told(tmp_path, monkeypatch, no_libraries, message, says):
    fake_pyagrum(monkeypatch, message)
    path = write(tmp_path)
    with pytest.raises(DataError) as caught:
        read_bif(path)
    assert str(caught.value) == f"{path} cannot be read as BIF: {says}"


def test_where_both_refuse_the_first_reason_counts(tmp_path, monkeypatch):
    fake_pyagrum(monkeypatch, "PATH:1: 1 : error : first\n\n")
    fake_pgmpy(monkeypatch, pgmpy_content(variable_names=[]))
    with pytest.raises(DataError, match=r"cannot be read as BIF: line 1: first$"):
        read_bif(write(tmp_path))


BAD_ANSWERS = {
    "an exception": (KeyError("sun"), "gave up with KeyError: 'sun'"),
    "no variable": (pgmpy_content(variable_names=[]), "no variable"),
    "case": (pgmpy_content(variable_names=["c", "a", "A"]), "differ in upper and lower case only"),
    "no table": (pgmpy_content(variable_cpds={"a": np.ones((2, 1))}), "'c' has no table"),
    "an unknown parent": (
        pgmpy_content(variable_parents={"a": [], "b": [], "c": ["a", "z"]}),
        "'c' has the parent 'z', which is not declared",
    ),
    "too few numbers": (
        pgmpy_content(variable_cpds={"c": np.ones((2, 3))}),
        "'c' has 6 probabilities, it needs 12",
    ),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_what_pgmpy_passes_over_is_refused(monkeypatch, name):
    answer, says = BAD_ANSWERS[name]
    fake_pgmpy(monkeypatch, answer)
    with pytest.raises(DataError, match=says):
        readers.with_pgmpy("network x {\n}\n")


def test_words_that_would_end_the_process_are_refused(tmp_path, monkeypatch, no_libraries):
    fake_pyagrum(monkeypatch)
    assert read_bif(write(tmp_path, "x" * 1000)).n_nodes == 3
    with pytest.raises(DataError, match="a word of more than 1,000 characters"):
        read_bif(write(tmp_path, "x" * 1001))


# What is refused before


def test_without_the_extra(tmp_path, no_libraries):
    with pytest.raises(SettingError, match=r"needs pyAgrum or pgmpy, .* pip install 'kgmi\[pgm\]'"):
        read_bif(write(tmp_path))


@pytest.mark.parametrize(
    ("content", "name", "says"),
    [
        ("", "small.bif", "is empty"),
        (" \n", "small.bif", "is empty"),
        (b"\xff\xfe\x00", "small.bif", "not UTF-8 text"),
        ("network x {\n}\n", "small.bif.gz", "cannot be unpacked"),
        (gzip.compress(b"network x {\n}\n" * 50)[:-12], "small.bif.gz", "cannot be unpacked"),
    ],
)
def test_files_that_are_no_text(tmp_path, content, name, says):
    path = write(tmp_path, content, name)
    with pytest.raises(DataError, match=says) as caught:
        read_bif(path)
    assert str(path) in str(caught.value)


def test_a_damaged_stream(tmp_path):
    packed = bytearray(gzip.compress(bytes(range(256)) * 20))
    packed[20] ^= 0xFF
    with pytest.raises(DataError, match="cannot be unpacked"):
        read_bif(write(tmp_path, bytes(packed), "small.bif.gz"))


def test_a_file_is_never_unpacked_beyond_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(bif, "_MOST_BYTES", 1000)
    fake_pyagrum(monkeypatch)
    assert read_bif(write(tmp_path, gzip.compress(b"x " * 500), "small.bif.gz")).n_nodes == 3
    for content, name in ((b"x " * 501, "small.bif"), (gzip.compress(b"x " * 10_000_000), "small.bif.gz")):
        with pytest.raises(DataError, match="more than 1,000 bytes"):
            read_bif(write(tmp_path, content, name))


def test_no_file(tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*nowhere\.bif"):
        read_bif(tmp_path / "nowhere.bif")
    with pytest.raises(DataError, match="is a folder"):
        read_bif(str(tmp_path))
