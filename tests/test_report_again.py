"""How to run it again: what was read how, from which file and by which command stays with a saved result."""

import json
import shlex
from pathlib import Path
from runpy import run_path

import numpy as np
import pandas
import pytest

from kgmi import Dag, Kernel, Process, learn, load, read_table, sample, save
from kgmi.penalty import Penalty
from kgmi.report import view_of

from .commands import run_kgmi

CODES = sample(Process(Dag.paper(5), Kernel.paper()), 300, rng=np.random.default_rng(131))
NAMES = list("abcde")


def write_table(path, values, header=True):
    pandas.DataFrame(np.asarray(values, dtype=object), columns=NAMES).to_csv(path, index=False, header=header)


def gaps():
    values = CODES.astype(object)
    values[np.random.default_rng(132).random(values.shape) < 0.05] = ""
    return values


WORDS = np.array(["low", "mid", "high"])[CODES]
CASES = {
    "no header": (CODES, False, ["--no-header", "--parents", "2"]),
    "no header, prepared": (CODES, False, ["--no-header", "--prepare"]),
    "gaps left out": (gaps(), True, ["--missing", "pairwise"]),
    "gaps as states": (gaps(), True, ["--missing", "category", "--penalty", "2"]),
    "gaps as states, prepared": (gaps(), True, ["--missing", "category", "--prepare"]),
    "columns, prepared": (
        gaps(),
        True,
        [
            "--columns",
            f"{NAMES[3]},{NAMES[0]},{NAMES[1]}",
            "--drop",
            NAMES[0],
            "--missing-values",
            "2",
            "--prepare",
        ],
    ),
    "states in their order": (
        WORDS,
        True,
        ["--states", "high,low,mid", "--parents", "2", "--penalty", "0.1234567891"],
    ),
    "own": (WORDS, True, ["--alphabet", "own"]),
    "kernel over words": (WORDS, True, ["--states", "low,mid,high", "--kernel", "KERNEL.json"]),
    "kernel over codes": (CODES, True, ["--kernel", "KERNEL.json"]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_is_read_again(case, tmp_path, monkeypatch):
    """By the command as it was, by one put together from the settings, and in Python; in every report alike."""
    monkeypatch.chdir(tmp_path)
    values, header, options = CASES[case]
    write_table("my rows.csv", values, header)
    (tmp_path / "KERNEL.json").write_text(json.dumps(Kernel.paper().to_dict()))
    assert run_kgmi("learn", "my rows.csv", *options, "--out", "one")[0] == 0
    page = (tmp_path / "one" / "report.html").read_bytes()
    assert run_kgmi("report", "one")[0] == 0
    assert (tmp_path / "one" / "report.html").read_bytes() == page

    first = load("one")
    told = view_of(first)["again"]
    assert shlex.split(told["command"]) == ["kgmi", "learn", "my rows.csv", *options, "--out", "one"]
    assert_same(learned_by(told["python"]), first)

    first.configuration["origin"] = {"table": "my rows.csv", "command": None}
    words = shlex.split(view_of(first)["again"]["command"])
    code, _, error = run_kgmi(*words[1:], "--out", "two")
    assert (code, error) == (0, "")
    assert_same(load("two"), first)


def learned_by(code):
    """The result of the lines that a report tells, run as a script in this folder."""
    Path("again.py").write_text(code, encoding="utf-8")
    return run_path("again.py")["learned"]


def assert_same(second, first):
    assert (second.fingerprint, second.parents, second.states) == (first.fingerprint, first.parents, first.states)
    assert second.configuration["penalty"] == first.configuration["penalty"]
    np.testing.assert_array_equal(second.scores, first.scores)


def test_labelled_rows_are_split_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = sample(Process(Dag.paper(5), Kernel.paper()), 300, rng=np.random.default_rng(133), labelled=True)
    columns = [*NAMES, "uniform1", "uniform2", "label"]
    values = np.column_stack([rows.rows, rows.uniform, rows.label])
    pandas.DataFrame(values, columns=columns).to_csv("rows.csv", index=False)
    assert run_kgmi("learn", "rows.csv", "--guide", "labelled", "--out", "one")[0] == 0
    first = load("one")
    second = learned_by(view_of(first)["again"]["python"])
    assert_same(second, first)
    assert second.names == first.names == tuple(NAMES)


def test_options_of_learn_are_remembered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table("TABLE.csv", gaps())
    frame = pandas.DataFrame(gaps(), columns=NAMES).replace("", None)
    new = [f"node {name}" for name in NAMES]
    first = learn(frame, missing="pairwise", n_states=4, names=new, penalty=3.5, order=new[::-1])
    save(first, "one")
    told = view_of(load("one"))["again"]
    assert told["command"].startswith("kgmi learn TABLE.csv --parents 2 --penalty 3.5 --states 0,1,2,3 --missing")
    second = learned_by(told["python"])
    assert_same(second, first)
    assert second.names == first.names
    assert ["name of the table" in told["notes"][0], "names of the nodes" in told["notes"][1]] == [True, True]
    assert "names" not in learn(frame, missing="pairwise", names=NAMES).configuration["reading"]


def test_what_cannot_be_known_is_said(tmp_path):
    write_table(tmp_path / "rows.csv", CODES)
    table = read_table(tmp_path / "rows.csv")
    own = Penalty("mine", lambda cases, n_states: np.zeros(np.shape(cases)))
    told = view_of(learn(table, penalty=own))["again"]
    assert "penalty" not in told["python"]
    assert any("function of its own (mine)" in note for note in told["notes"])
    assert "how its file was read" in told["notes"][0]


def test_records_that_know_nothing_of_it_still_load(tmp_path):
    first = learn(CODES, n_parents=2)
    assert not {"origin", "reading"} & first.configuration.keys()
    for odd in ("a text", {"table": 7, "command": ["x"]}):
        first.configuration["origin"] = first.configuration["reading"] = odd
        save(first, tmp_path)
        assert view_of(load(tmp_path))["again"]["command"] == "kgmi learn TABLE.csv --parents 2"


def test_show_and_the_report_list_how_it_was_read(tmp_path):
    write_table(tmp_path / "rows.csv", gaps())
    assert run_kgmi("learn", str(tmp_path / "rows.csv"), "--missing", "pairwise", "--out", str(tmp_path))[0] == 0
    text = run_kgmi("show", str(tmp_path))[1]
    assert "missing" in text
    assert "pairwise" in text
    assert "origin" not in text
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<th scope="row">missing</th><td>pairwise</td>' in page
    assert '<th scope="row">origin</th>' not in page
