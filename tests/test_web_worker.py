"""What the processes of the web page do, called in this one: describing, learning, and errors without paths."""

from __future__ import annotations

import errno
import json

import numpy as np
import pytest

import kgmi
from kgmi.errors import SettingError
from kgmi.web import process, worker
from kgmi.web.differences import differences
from kgmi.web.gallery import GALLERY
from kgmi.web.heads import collapsed, heads_sentence
from kgmi.web.kinds import shown_name
from kgmi.web.models import Described, Fit, Result
from kgmi.web.preview import preview
from kgmi.web.server import listen
from kgmi.web.settings import WebSettings, is_loopback, read_seconds, shown_seconds
from tests.web_drills import csv_of, small_table

LIMITS = {"memory_bytes": 2_000_000_000, "most_cells": 1_000_000, "most_columns": 100}


def work(folder, kind, table, **fit):
    """Do a task; its failure, or what it wrote."""
    task = {"kind": kind, "name": "shown.csv", **LIMITS, **table}
    if kind == "fit":
        task["fit"] = Fit(table="x", **fit).model_dump()
    (folder / "task.json").write_text(json.dumps(task))
    failure = worker.work(folder)
    if failure is not None:
        return failure
    return json.loads((folder / ("described.json" if kind == "describe" else "result.json")).read_text())


@pytest.mark.parametrize("key", GALLERY)
def test_every_example_is_described_and_learned_with_what_it_suggests(key, tmp_path, capfd):
    described = Described(id=key, name="x", **work(tmp_path, "describe", {"example": key}))
    settings = {name: value for name, value in described.suggested.items() if name != "compare"}
    offer = described.prepared if settings.get("prepare", True) else described.as_it_is
    assert offer.failure is None
    result = Result(**work(tmp_path, "fit", {"example": key}, **settings))
    assert result.edges
    assert not any(result.exports.values())
    truth = GALLERY[key].make(tmp_path / "again.csv").truth
    if truth is not None:  # all of them are found
        assert {tuple(edge) for edge in result.edges} == {(p, c) for c, ps in truth.items() for p in ps}
    steps = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert {"reading", "writing"} <= {step["phase"] for step in steps}
    assert all(set(step) == {"phase", "done", "total", "unit"} for step in steps)


def test_examples_are_the_same_every_time(tmp_path):
    for key, exhibit in GALLERY.items():
        for name in ("one", "two"):
            exhibit.make(tmp_path / name)
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes(), key


def test_errors_name_the_file_as_the_user_does(tmp_path):
    (tmp_path / "table.csv").write_bytes(b"a,b\n0,1\n1\n")
    table = {"file": "table.csv"}
    failure = work(tmp_path, "fit", table, prepare=False)
    assert failure["error"].startswith("Line 3 of shown.csv has 1 value")
    described = work(tmp_path, "describe", table)
    assert str(tmp_path) not in json.dumps(described)
    assert described["rows"] == [["0", "1"], ["1"]]  # how it begins can be seen all the same


@pytest.mark.parametrize(
    ("fit", "said"),
    [
        ({"guide": "stationary"}, "needs to be told the kernel"),
        ({"guide": "stationary", "kernel": "paper", "parents": 1}, "n_parents is 1, but the kernel"),
        ({"leave_out": ["one", "two"]}, "a graph needs at least two columns"),
        ({"leave_out": ["other"]}, "other: the table has no such column"),
        ({"order": "learn", "guide": "contextual"}, "order='learn' goes with the guide 'likelihood'"),
    ],
)
def test_settings_that_do_not_fit_are_told(fit, said, tmp_path):
    (tmp_path / "table.csv").write_bytes(small_table())
    assert said.lower() in work(tmp_path, "fit", {"file": "table.csv"}, **fit)["error"].lower()


def test_a_kernel_is_not_laid_over_words(tmp_path):
    rows = [[("low", "mid", "top")[(n + k) % 3] for k in range(3)] for n in range(90)]
    (tmp_path / "table.csv").write_bytes(csv_of(rows))
    failure = work(tmp_path, "fit", {"file": "table.csv"}, guide="stationary", kernel="paper")
    assert "the table has low, mid, top" in failure["error"]


def test_tables_that_are_too_large_are_refused_with_advice(tmp_path):
    (tmp_path / "table.csv").write_bytes(csv_of([[0, 1] * 60, [1, 0] * 60]))
    failure = work(tmp_path, "fit", {"file": "table.csv"})
    assert "120 columns, and here at most 100 are learned" in failure["error"]
    assert failure["advice"]
    (tmp_path / "table.csv").write_bytes(csv_of([[0, 1] * 10, [1, 0] * 10] * 30_000))
    assert "60,000 rows of 20 columns" in work(tmp_path, "fit", {"file": "table.csv"})["error"]


def test_memory_that_the_system_refuses_is_told_in_words(tmp_path, monkeypatch):
    from kgmi.web import fitting

    def refuse(*_, **__):
        raise MemoryError

    monkeypatch.setattr(fitting, "learn", refuse)
    (tmp_path / "table.csv").write_bytes(small_table())
    failure = work(tmp_path, "fit", {"file": "table.csv"})
    assert failure["error"] == "It needs more memory than a job may take here."


def test_a_full_disk_ends_a_job_in_words(tmp_path, monkeypatch, capfd):
    from kgmi.web import fitting

    def fill(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    task = {"kind": "fit", "name": "x", "example": "paper", "fit": Fit(table="paper").model_dump(), **LIMITS}
    (tmp_path / "task.json").write_text(json.dumps(task))
    monkeypatch.setattr(fitting, "learn", fill)
    code = worker._code(tmp_path)
    assert capfd.readouterr().err == ""
    with pytest.raises(process.Failed, match="The disk of the server is full"):
        process._check(tmp_path, code)


def test_missing_values_and_two_columns_need_no_setting(tmp_path):
    rows = [[n % 2, "" if n == 7 else (n + (n % 9 == 0)) % 2] for n in range(200)]
    (tmp_path / "table.csv").write_bytes(csv_of(rows, ["a", "b"]))
    for fit in ({}, {"prepare": False, "missing": "pairwise"}, {"missing": "category"}):
        assert work(tmp_path, "fit", {"file": "table.csv"}, **fit)["edges"] == [["a", "b"]]


def test_columns_that_are_left_out_are_told(tmp_path):
    (tmp_path / "table.csv").write_bytes(small_table())
    for fit in ({}, {"prepare": False, "alphabet": "own"}):
        result = work(tmp_path, "fit", {"file": "table.csv"}, leave_out=["one"], **fit)
        assert result["view"]["names"] == ["two", "child"]
        assert result["notes"] == ["one left out, as asked."]


def test_one_column_is_taken_for_a_sequence(tmp_path):
    (tmp_path / "table.csv").write_bytes(csv_of([[n * n % 7 % 3] for n in range(300)], ["x"]))
    described = work(tmp_path, "describe", {"file": "table.csv"})
    assert described["suggested"] == {"windows": 6, "prepare": False}
    result = work(tmp_path, "fit", {"file": "table.csv"}, **described["suggested"])
    assert result["view"]["names"][-1] == "now"


@pytest.mark.parametrize(("guide", "expected"), [("plain", True), ("stationary", False)])
def test_collapsed_heads_are_noticed(guide, expected):
    process = kgmi.Process(kgmi.Dag.paper(10), kgmi.Kernel.paper())
    learned = kgmi.learn(kgmi.exact_joint(process), kernel=process.kernel, guide=guide)
    assert collapsed(learned) is expected
    assert heads_sentence(learned).startswith("The heads collapsed" if expected else "Heads went separate ways")
    one = kgmi.learn(kgmi.exact_joint(process), n_parents=1)
    assert (collapsed(one), heads_sentence(one)) == (False, "")


def test_differences_name_every_edge_and_those_that_turned():
    results = {
        "p": {"edges": [["a", "b"], ["b", "c"]], "collapsed": False, "heads": ""},
        "q": {"edges": [["a", "b"], ["c", "b"]], "collapsed": True, "heads": "The heads collapsed."},
    }
    found = differences({"p": "one", "q": "other"}, results)
    assert found["both"] == [("a", "b")]
    assert found["only"] == {"p": [("b", "c")], "q": [("c", "b")]}
    assert found["turned"] == [("b", "c"), ("c", "b")]
    assert found["sentences"] == [
        "Both agree on 1 edge; 2 edges more are found by some only.",
        "Found by one, but not by all: b → c.",
        "Found by other, but not by all: c → b.",
        "Turned round between them: b → c, c → b.",
        "With other the heads collapsed.",
    ]
    same = differences({"p": "one", "q": "other", "r": "third"}, dict.fromkeys("pqr", results["p"]))
    assert same["sentences"] == ["All 3 found the same graph: 2 edges."]
    many = results["p"] | {"edges": [["x", f"y{n}"] for n in range(20)]}
    told = differences({"p": "one", "q": "other"}, {"p": many, "q": results["q"]})["sentences"][1]
    assert told.endswith("and 8 more.")


def test_the_beginning_of_any_file_can_be_looked_at(tmp_path):
    long = "x" * 200
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfname;b\n" + f"{long};1\n\n2;3\n".encode() * 20)
    seen = preview(tmp_path / "a.csv")
    assert (seen["names"], len(seen["rows"]), len(seen["rows"][0][0])) == (["name", "b"], 8, 60)
    np.save(tmp_path / "b.npy", np.arange(6).reshape(3, 2))
    assert preview(tmp_path / "b.npy") == {
        "names": ["X1", "X2"],
        "rows": [["0", "1"], ["2", "3"], ["4", "5"]],
        "n_columns": 2,
    }
    (tmp_path / "c.parquet").write_bytes(b"PAR1 nothing")
    assert preview(tmp_path / "c.parquet") == {"names": [], "rows": [], "n_columns": 0}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"port": 70_000}, "a port is a number"),
        ({"memory_bytes": 1_000_000}, "at least 400 MB of memory"),
        ({"seconds": 0.0}, "a time limit of at least 1 s"),
        ({"n_workers": 65}, "from 1 to 64 jobs"),
        ({"host": "no.such.host.invalid"}, "there is no host"),
        ({"host": "192.0.2.1"}, "cannot listen at 192.0.2.1"),
    ],
)
def test_settings_of_the_server_that_cannot_be_are_told(settings, said):
    with pytest.raises(SettingError, match=said):
        listen(WebSettings(**{"port": 0} | settings))
    assert is_loopback("localhost")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("my-machine")


def test_names_and_times_are_shown_plainly():
    assert [shown_name(name) for name in ("a/b\\c.csv", "\x1b[31m.csv", " ", "y" * 300)] == [
        "c.csv",
        "[31m.csv",
        "table",
        "y" * 99 + "…",
    ]
    with pytest.raises(SettingError, match="a time like 120s"):
        read_seconds("soon")
    assert [read_seconds(text) for text in ("90", "120s", "5min", "1.5h")] == [90, 120, 300, 5400]
    assert [shown_seconds(seconds) for seconds in (1.5, 90, 300, 7200)] == ["1.5 s", "90 s", "5 min", "2 h"]
