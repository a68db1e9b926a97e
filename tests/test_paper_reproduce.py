"""``kgmi reproduce``: files, report, verdicts, and what happens when something is wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from kgmi.cli import reproduce as reproduce_command
from kgmi.errors import RecordError, SettingError
from kgmi.paper.catalogue import EXPERIMENTS, experiments_named
from kgmi.paper.experiment import Check, Experiment, Outcome, Run, verdict_of
from kgmi.paper.reproduce import reproduce
from kgmi.paper.results import read_result

from .commands import run_kgmi


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("paper")
    code, said, progress = run_kgmi("reproduce", "rate-length", "--quick", "--seed", "4", "--out", str(out))
    assert code == 0, progress
    return out, said, progress


def test_a_run_leaves_results_figures_and_a_report(folder):
    out, said, progress = folder
    assert sorted(path.name for path in (out / "rate-length").iterdir()) == [
        "rate-length.png",
        "rate-length.svg",
        "results.json",
    ]
    content = json.loads((out / "rate-length" / "results.json").read_text())
    assert content["seed"] == 4
    assert content["quick"] is True
    assert {"kgmi", "python", "numpy", "numba"} <= set(content["versions"])
    assert content["configuration"]["eps_attn"] == 0.1
    for check in content["checks"]:
        assert set(check) == {"name", "claim", "measured", "holds", "source"}
    assert "wrote" in said
    assert "rate-length: holds" in said
    assert progress == ""  # no terminal, no progress


def test_the_report_sets_claim_measurement_and_verdict_side_by_side(folder):
    out, *_ = folder
    content = json.loads((out / "rate-length" / "results.json").read_text())
    for name in ("report.md", "report.html"):
        text = (out / name).read_text()
        assert "Stopping epoch against T² log T" in text
        assert content["why"][:60] in text
        for check in content["checks"]:
            assert check["measured"] in text
    assert "![" in (out / "report.md").read_text()
    assert (out / "rate-length" / "rate-length.png").is_file()


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links, self.ids = [], [], []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.links += [value for key, value in attrs if key in ("href", "src")]
        self.ids.append(attributes.get("id"))
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_else(folder):
    out, *_ = folder
    text = (out / "report.html").read_text()
    tags = _Tags()
    tags.feed(text)
    assert tags.open == []
    assert all(link.startswith(("#", "data:image/")) for link in tags.links)
    assert {link[1:] for link in tags.links if link.startswith("#")} <= set(tags.ids)
    assert "<script" not in text


def test_the_same_seed_gives_the_same_numbers_and_pictures(folder, tmp_path):
    out, *_ = folder
    reproduce(experiments_named("rate-length"), tmp_path, quick=True, seed=4)
    first, again = (json.loads((one / "rate-length" / "results.json").read_text()) for one in (out, tmp_path))
    assert first["numbers"] == again["numbers"]
    for ending in ("png", "svg"):
        pictures = [(one / "rate-length" / f"rate-length.{ending}").read_bytes() for one in (out, tmp_path)]
        assert pictures[0] == pictures[1]


def _made(name, holds, text="plain"):
    def run(run):
        run.tell(0.5, "half")
        table = {"title": "A <b>", "columns": ["x|y"], "rows": [["1 < 2"]], "note": "*so*"}
        check = Check("one", text, "1 & 2", holds)
        return Outcome({}, {"tables": [table]}, (check,), "because `x` < *y*")

    return Experiment(name, "Made up", "that <i>it</i> works", run, lambda numbers: {})


def test_reports_gather_what_lies_in_the_folder_and_escape_it(tmp_path, monkeypatch):
    for name, holds in (("one", True), ("two", False)):
        monkeypatch.setitem(EXPERIMENTS, name, _made(name, holds, "a | <script>alert(1)</script>"))
    told = []
    reproduce([EXPERIMENTS["one"]], tmp_path, tell=lambda e, share, what: told.append((e.name, share, what)))
    reproduce([EXPERIMENTS["two"]], tmp_path)
    page, text = ((tmp_path / name).read_text() for name in ("report.html", "report.md"))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "because <code>x</code> &lt; <em>y</em>" in page
    assert "a \\| <script>" in text
    assert page.count("<section") == 2
    assert "does not hold" in page
    assert ("one", 0.5, "half") in told


def test_a_damaged_result_is_an_error_that_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "one", _made("one", True))
    reproduce([EXPERIMENTS["one"]], tmp_path)
    path = tmp_path / "one" / "results.json"
    whole = json.loads(path.read_text())
    for content in ("{", "[]", json.dumps({**whole, "checks": [{"name": 1}]}), json.dumps({**whole, "version": 9})):
        path.write_text(content)
        with pytest.raises(RecordError, match=r"results\.json"):
            read_result(tmp_path / "one")
    monkeypatch.setattr("kgmi.paper.results._MOST_BYTES", 3)
    with pytest.raises(RecordError, match="larger"):
        read_result(tmp_path / "one")


def test_a_bad_older_result_is_told_before_the_work_unless_it_is_run_again(tmp_path, monkeypatch):
    ran = []
    for name in ("one", "two"):
        made = _made(name, True)
        monkeypatch.setitem(
            EXPERIMENTS, name, replace(made, run=lambda run, made=made: ran.append(1) or made.run(run))
        )
    reproduce([EXPERIMENTS["one"]], tmp_path)
    path = tmp_path / "one" / "results.json"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(RecordError, match="run the experiment again, or remove the folder"):
        reproduce([EXPERIMENTS["two"]], tmp_path)
    assert len(ran) == 1
    assert len(reproduce([EXPERIMENTS["two"], EXPERIMENTS["one"]], tmp_path).results) == 2
    (tmp_path / "two" / "results.json").unlink()
    with pytest.raises(RecordError, match="no results"):
        reproduce([EXPERIMENTS["one"]], tmp_path)


def test_a_figure_that_is_gone_is_told(folder, tmp_path):
    shutil.copytree(folder[0], tmp_path / "copy")
    (tmp_path / "copy" / "rate-length" / "rate-length.png").unlink()
    with pytest.raises(RecordError, match=r"no rate-length\.png"):
        reproduce(experiments_named("long"), tmp_path / "copy", quick=True)


def test_quick_results_are_marked(folder):
    out, *_ = folder
    assert "T² log T (quick)" in (out / "report.md").read_text()
    assert "T² log T (quick)" in (out / "report.html").read_text()


def test_verdicts_follow_the_claims_of_the_paper_alone():
    def checks(*held):
        return tuple(Check(str(k), "", "", holds, source) for k, (holds, source) in enumerate(held))

    assert verdict_of(checks((True, "paper"), (False, "kgmi"))) == "holds"
    assert verdict_of(checks((True, "paper"), (False, "paper"))) == "holds in part"
    assert verdict_of(checks((False, "paper"), (True, "kgmi"))) == "does not hold"
    assert verdict_of(checks((True, "paper"), (None, "paper"))) == "holds in part"
    assert verdict_of(checks((None, "paper"), (True, "kgmi"))) == "not measured"
    assert [check.answer for check in checks((True, "paper"), (False, "paper"), (None, "paper"))] == [
        "yes",
        "no",
        "not measured",
    ]


def test_every_key_has_its_own_stream_of_random_numbers():
    run = Run(seed=3)
    assert run.rng(1).integers(10**9) == run.rng(1).integers(10**9)
    assert len({int(run.rng(key).integers(10**9)) for key in range(20)}) == 20


def test_experiments_are_those_of_the_paper():
    names = ", ".join(EXPERIMENTS)
    assert f"all, {names}" == reproduce_command._NAMES
    assert names == (
        "collapse, heatmaps, rate-length, rate-gap, divergences, long, table, degrees, assumptions, theorems"
    )
    assert len(experiments_named("all")) == 10
    with pytest.raises(SettingError, match="no experiment 'figure-1'"):
        experiments_named("figure-1")


def test_bad_usage_is_one_line_and_exit_code_2(tmp_path):
    for arguments, said in ((["figure-1"], "no experiment"), (["collapse", "--seed", "-1"], "seed")):
        code, _, error = run_kgmi("reproduce", *arguments, "--out", str(tmp_path))
        assert code == 2
        assert said in error
        assert len(error.strip().splitlines()) == 1
    (tmp_path / "file").write_text("")
    code, _, error = run_kgmi("reproduce", "rate-length", "--quick", "--out", str(tmp_path / "file"))
    assert code == 2
    assert error.splitlines()[0].startswith("kgmi: error:")  # before any experiment has run
    assert "is a file, not a folder" in error


def test_json_for_machines(tmp_path):
    _, said, _ = run_kgmi("reproduce", "rate-gap", "--quick", "--json", "--out", str(tmp_path))
    content = json.loads(said)
    assert content["verdicts"]["rate-gap"]["verdict"] in ("holds", "holds in part", "does not hold")
    assert re.search(r"report\.html$", content["files"][-1])


def test_a_terminal_gets_a_bar(tmp_path):
    pty = pytest.importorskip("pty", reason="terminals of this kind exist on POSIX systems only")
    command = [sys.executable, "-m", "kgmi", "reproduce", "rate-length", "--quick", "--out", str(tmp_path)]
    with (tmp_path / "seen.txt").open("wb") as seen:

        def keep(handle):
            text = os.read(handle, 4096)
            seen.write(text)
            return b" "  # nothing of it on the terminal of the tests

        assert pty.spawn(command, keep) == 0
    text = (tmp_path / "seen.txt").read_text(errors="replace")
    assert "rate-length: " in text  # and what it is doing, once that takes longer than half a second
    assert (tmp_path / "report.html").is_file()
