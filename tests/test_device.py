"""Learning on a device, as far as it needs none: what is refused, and the record of a wide fit."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import kgmi
from kgmi.cli.wide import report_wide, write_wide
from kgmi.counts import torch as device_counts
from kgmi.errors import DataError, KernelError, OutputError, SettingError
from kgmi.learning.learn import learn
from kgmi.learning.on_device import check_for_device
from kgmi.learning.ready import make_ready
from kgmi.learning.wide import Wide
from kgmi.metrics import compare
from tests.commands import expect_refused
from tests.device_drills import KERNEL, paper_rows

BAD_USAGE = 2
ROWS = paper_rows(1, 50, 7001)


@pytest.mark.parametrize("name", ["gpu", "mps", "cuda1", "", 0, True])
def test_a_device_that_cannot_be(name):
    with pytest.raises(SettingError, match="device"):
        device_counts.open_device(name)


def test_without_pytorch_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(device_counts, "torch", None)
    with pytest.raises(SettingError, match=r"kgmi\[gpu\]"):
        kgmi.learn(ROWS, device="cpu")


LISTS = {"forbidden": [(0, 1)], "required": [(0, 1)], "roots": [0, 1], "record_at": [1], "classes": [[0, 1]]}
WORDS = {"missing": "pairwise", "alphabet": "own", "order": "learn", "search": "lists", "share": "node"}
NUMBERS = {"max_lag": 3, "memory_limit": "1GB", "list_length": 5, "error": 0.1, "starts": 2}
REFUSED = LISTS | WORDS | NUMBERS | {"tiers": [[*range(5)], [*range(5, 10)]]}


def test_what_a_device_does_not_do_is_refused_by_name():
    for name, value in REFUSED.items():
        with pytest.raises(SettingError, match=f"{name}: "):
            kgmi.learn(ROWS, device="cuda", **{name: value})
    with pytest.raises(SettingError, match="max_lag, roots: "):
        kgmi.learn(ROWS, device="cuda", kernel=KERNEL, guide="stationary", max_lag=2, roots=[0])
    for guide in ("contextual", "uniform", "plain"):
        with pytest.raises(SettingError, match=guide):
            kgmi.learn(ROWS, device="cuda", kernel=KERNEL, guide=guide)
    with pytest.raises(SettingError, match="rows"):
        kgmi.learn(kgmi.count_pairs(ROWS, 3), device="cuda", kernel=KERNEL)


def test_the_command_refuses_too(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    expect_refused(
        BAD_USAGE, "learn", str(tmp_path / "rows.npy"), "--device", "cuda", "--max-lag", "2", says=["max_lag"]
    )


def checked(rows, **options):
    usual = learn.__kwdefaults__
    ready = make_ready(usual | {"rows": rows} | options, usual)
    check_for_device(ready.data, ready.kernel, ready.settings)


def test_rows_and_kernels_without_an_engine():
    checked(ROWS, n_parents=2)
    with pytest.raises(SettingError, match="parents"):
        checked(ROWS, n_parents=3)
    with pytest.raises(SettingError, match="states"):
        checked(ROWS, n_parents=2, n_states=17)
    with pytest.raises(DataError, match="gaps"):
        checked(np.where(ROWS == 1, -1, ROWS), n_parents=2, missing="pairwise", n_states=3)
    with pytest.raises(KernelError, match="states"):
        checked(ROWS, n_states=4, kernel=KERNEL)
    pair = kgmi.FiniteKernels((KERNEL, KERNEL), (0.5, 0.5))
    with pytest.raises(KernelError, match="one kernel"):
        checked(ROWS, kernel=pair, guide="likelihood", n_parents=2)


@pytest.fixture
def wide():
    dag = kgmi.Dag([(), (), (0, 1), (2, 0)])
    return Wide(
        dag=dag,
        names=("a", "b", "c", "d"),
        states=("0", "1", "2"),
        chosen=np.array([[-1, -1, 0, 2], [-1, -1, 1, 1]]),
        margins=np.array([[np.nan, np.nan, 0.5, 0.25], [np.nan, np.nan, np.inf, 2.0]]),
        chosen_attention=np.array([[0.0, 0.0, 0.95, 0.9], [0.0, 0.0, 1.0, 0.5]]),
        stopped=np.array([[-1, -1, 3, 4], [-1, -1, 0, -1]]),
        converged=False,
        kernel=KERNEL,
        undecided=(),
        status="It is done.",
        configuration={"n_rows": 50, "guide": "likelihood"},
        seconds={"reading": 0.5, "heads": 1.25},
    )


def test_a_wide_result_by_name(wide):
    assert (wide.n_nodes, wide.n_heads, wide.order) == (4, 2, (0, 1, 2, 3))
    assert wide.parents == {"a": (), "b": (), "c": ("a", "b"), "d": ("c", "a")}
    assert wide.wanted.tolist() == [[False, False, True, True]] * 2
    by_name = {(edge["parent"], edge["child"]): edge for edge in wide.edges}
    assert by_name["c", "d"] == {"parent": "c", "child": "d", "head": 1, "attention": 0.9, "margin": 0.25}
    assert by_name["a", "d"]["head"] is None  # the graph has it, but no head prefers it
    for name in ("scores", "__array__"):
        with pytest.raises(AttributeError):
            getattr(wide, name)


def test_a_wide_result_in_files(wide, tmp_path):
    paths = write_wide(wide, tmp_path)
    content = json.loads((tmp_path / "wide.json").read_text())
    assert [path.name for path in paths] == ["wide.json", "graph.json", "edges.csv"]
    assert content["margins"] == [[None, None, 0.5, 0.25], [None, None, None, 2.0]]
    assert content["kernel"] == KERNEL.table.tolist()
    assert json.loads((tmp_path / "graph.json").read_text())["names"] == ["a", "b", "c", "d"]
    lines = list(csv.DictReader((tmp_path / "edges.csv").read_text().splitlines()))
    assert {(line["parent"], line["child"]): line["margin"] for line in lines}["c", "d"] == "0.250000"
    assert {line["head"] for line in lines} == {"1", "2", ""}
    for path in paths:
        ours = path.read_bytes()
        path.write_bytes(b"mine")
        with pytest.raises(OutputError) as caught:
            write_wide(wide, tmp_path)
        assert (caught.value.path, path.read_bytes()) == (path, b"mine")
        write_wide(wide, tmp_path, force=True)
        assert path.read_bytes() == ours
    write_wide(replace(wide, names=("=1+1", "b", "c", "-d")), tmp_path)
    lines = list(csv.DictReader((tmp_path / "edges.csv").read_text().splitlines()))
    assert {line["parent"] for line in lines} == {"'=1+1", "b", "c"}


def test_a_wide_result_on_the_screen(wide, capsys):
    report_wide(wide, compare(wide.dag, wide.dag), [], as_json=False)
    out = capsys.readouterr().out
    assert out.startswith("4 edges among 4 nodes, from 50 rows")
    assert "F1 1.000" in out
    report_wide(wide, None, [], as_json=True)
    assert json.loads(capsys.readouterr().out)["converged"] is False
