"""kgmi export, and the page that shows it."""

from __future__ import annotations

import csv
import io
import json
import re
import runpy
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import kgmi
from kgmi.cli.app import BAD_USAGE, FAILED
from kgmi.interchange import EXPORT_SUFFIXES, EXPORTS
from tests.commands import expect_refused, run_kgmi
from tests.interchange_drills import learned_of

PAGE = Path(__file__).parent.parent / "docs" / "interchange.md"


@pytest.fixture
def saved(tmp_path):
    kgmi.save(learned_of(), tmp_path / "result")
    return tmp_path / "result"


@pytest.mark.parametrize("kind", EXPORTS)
def test_every_format_to_standard_output_and_to_a_file(saved, tmp_path, kind):
    expected = kgmi.export(kgmi.load(saved), kind)
    code, out, notes = run_kgmi("export", str(saved), "--to", kind)
    assert (code, out) == (0, expected)
    assert all(line.startswith("kgmi: note: ") for line in notes.splitlines())
    assert bool(notes) == (kind in ("bif", "dagitty", "csv", "dot"))
    path = tmp_path / "new" / f"graph{EXPORT_SUFFIXES[kind]}"
    code, out, again = run_kgmi("export", str(saved / "record.json"), "--to", kind, "--out", str(path))
    assert (code, out, again) == (0, f"wrote {path}\n", notes)
    assert path.read_bytes() == expected.encode()


def test_what_cannot_be_exported(saved, tmp_path):
    expect_refused(FAILED, "export", str(tmp_path / "nowhere"), "--to", "dot", says=["nowhere"])
    says = ["is a folder"]
    expect_refused(BAD_USAGE, "export", str(saved), "--to", "dagitty", "--out", str(tmp_path), says=says)
    assert run_kgmi("export", str(saved), "--to", "gml")[0] == BAD_USAGE
    process = kgmi.Process(kgmi.Dag.paper(5), kgmi.Kernel.paper())
    learned = kgmi.learn(kgmi.exact_joint(process), kernel=process.kernel, guide="stationary", solver="limit")
    kgmi.save(learned, tmp_path / "exact")
    path = tmp_path / "network.bif"
    says = ["no probabilities", "Learn from rows"]
    expect_refused(FAILED, "export", str(tmp_path / "exact"), "--to", "bif", "--out", str(path), says=says)
    assert not path.exists()


def test_a_network_of_windows_says_that_it_is_no_sequence(tmp_path):
    rng, sequence = np.random.default_rng(151), [0, 1]
    while len(sequence) < 600:
        sequence.append(int(sequence[-2] ^ (rng.random() < 0.1)))
    kgmi.save(kgmi.learn(np.array(sequence)[:, None], windows=4, n_parents=1), tmp_path)
    code, _, notes = run_kgmi("export", str(tmp_path), "--to", "bif")
    assert code == 0
    assert "independent roots" in notes
    assert "independent roots" not in run_kgmi("export", str(tmp_path), "--to", "csv")[2]


def test_names_that_are_formulas_are_not_calculated_by_a_spreadsheet(write, tmp_path):
    names = ['=HYPERLINK("http://x")', "+a", "-b", "@c", "plain"]
    rng, columns = np.random.default_rng(7), [np.arange(200) % 2]
    for _ in names[1:]:
        columns.append(columns[-1] ^ (rng.random(200) < 0.1))
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    rows = "".join(",".join(map(str, row)) + "\n" for row in np.transpose(columns).tolist())
    folder = tmp_path / "result"
    code, _, err = run_kgmi(
        "learn", str(write(f"{header}\n{rows}".encode())), "--parents", "1", "--out", str(folder)
    )
    assert (code, err) == (0, "")
    edges = kgmi.load(folder).edges
    assert [(edge["parent"], edge["child"]) for edge in edges] == list(pairwise(names))
    text = (folder / "edges.csv").read_text()
    code, out, note = run_kgmi("export", str(folder), "--to", "csv")
    assert (code, out) == (0, text)
    assert "+a is '+a" in note
    for edge, row in zip(edges, csv.DictReader(io.StringIO(text, newline="")), strict=True):
        assert row["parent"] == "'" + edge["parent"]
        assert row["child"] == ("" if edge["child"] == "plain" else "'") + edge["child"]
        assert float(row["margin"]) == pytest.approx(edge["margin"], abs=1e-6)
    assert json.loads(run_kgmi("export", str(folder), "--to", "json")[1])["names"] == names


def test_heads_count_from_one_everywhere(saved):
    dot, table = (kgmi.export(kgmi.load(saved), kind) for kind in ("dot", "csv"))
    assert {int(head) for head in re.findall(r"head=(\d+)", dot)} == {1, 2}
    assert {row["head"] for row in csv.DictReader(table.splitlines())} == {"1", "2"}


def test_the_commands_and_the_first_python_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    commands = re.findall(r"^kgmi (.+)$", page, re.MULTILINE)
    assert len(commands) > len(EXPORTS)
    for command in commands:
        assert run_kgmi(*command.split())[0] == 0, command
    script = tmp_path / "page.py"
    script.write_text(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], encoding="utf-8")
    runpy.run_path(str(script))
    assert "'attention': 0.9" in capsys.readouterr().out
    assert kgmi.Dag.from_dot(Path("graph.dot").read_text(encoding="utf-8")) == kgmi.load("result").dag
