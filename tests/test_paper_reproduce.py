"""``kgmi reproduce``: every experiment from the command to the report, and what happens when something is wrong."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from base64 import b64decode
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from kgmi.cli import reproduce as reproduce_command
from kgmi.errors import KgmiError, OutputError, RecordError, SettingError
from kgmi.lab.experiments import LAB
from kgmi.paper.experiment import Check, Experiment, Outcome, Run, reason_of, table, verdict_of
from kgmi.paper.reproduce import EXPERIMENTS, experiments_named, reproduce
from kgmi.paper.results import read_result
from kgmi.paper.settings import Settings

from .commands import run_kgmi

VERDICTS = {
    "collapse": "holds",
    "heatmaps": "holds",
    "rate-length": "holds in part",
    "rate-gap": "holds",
    "divergences": "holds in part",
    "long": "holds",
    "table": "holds in part",
    "degrees": "holds in part",
    "assumptions": "holds in part",
    "theorems": "holds in part",
}


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


def _shows_something(picture):
    """Dark marks on white, and none at the border, where a label would be cut."""
    grey = np.asarray(picture.convert("L"))
    assert grey.min() < 100
    for border in (grey[0], grey[-1], grey[:, 0], grey[:, -1]):
        assert border.min() == 255


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_leaves_results_figures_and_a_report(name, quick_run):
    out, said = quick_run(name)
    result = read_result(out / name)
    assert f"{name}: {result.verdict}" in said
    assert said.endswith(f"wrote {out / 'report.md'}\nwrote {out / 'report.html'}\n")
    _check_folder(out / name, result)
    _check_markdown((out / "report.md").read_text(), result)
    _check_page((out / "report.html").read_text(), result)


def _check_folder(folder, result):
    name = folder.name
    assert (result.name, result.quick, result.seed, result.verdict) == (name, True, 2027, VERDICTS[name])
    assert {"kgmi", "python", "numpy", "numba"} <= set(result.versions)
    assert len({check.name for check in result.checks}) == len(result.checks) > 0
    for one in result.tables:
        assert all(len(row) == len(one["columns"]) for row in one["rows"])
    files = [f"{figure}.{kind}" for figure in result.figures for kind in ("png", "svg")]
    assert len(files) > 0
    assert sorted(path.name for path in folder.iterdir()) == sorted(["results.json", *files])
    for figure in result.figures:
        with Image.open(folder / f"{figure}.png") as picture:
            _shows_something(picture)
        assert len(ElementTree.parse(folder / f"{figure}.svg").getroot()) > 0


def _check_markdown(text, result):
    assert f"## {result.title} (quick)\n" in text
    for check in result.checks:
        assert check.measured.replace("|", "\\|") in text
    for figure in result.figures:
        assert f"]({result.name}/{figure}.png)" in text


def _check_page(page, result):
    """Whole, with the figures inside, and nothing from elsewhere."""
    tags = _Tags()
    tags.feed(page)
    assert tags.open == []
    assert "<script" not in page
    assert f"<h2>{escape(result.title)} (quick)</h2>" in page
    for check in result.checks:
        assert escape(check.measured) in page
    assert {link[1:] for link in tags.links if link.startswith("#")} <= set(tags.ids)
    pictures = [link for link in tags.links if not link.startswith("#")]
    assert len(pictures) == len(result.figures)
    for picture in pictures:
        _shows_something(Image.open(io.BytesIO(b64decode(picture.removeprefix("data:image/png;base64,")))))


def test_the_same_seed_gives_the_same_numbers_and_pictures(quick_run, tmp_path):
    out, _ = quick_run("rate-length")
    reproduce(experiments_named("rate-length"), tmp_path, quick=True)
    first, again = (read_result(one / "rate-length") for one in (out, tmp_path))
    assert first.numbers == again.numbers
    for ending in ("png", "svg"):
        pictures = [(one / "rate-length" / f"rate-length.{ending}").read_bytes() for one in (out, tmp_path)]
        assert pictures[0] == pictures[1]


def _made(name, holds, text="plain"):
    def run(settings, run):
        run.tell(0.5, "half")
        check = Check("one", text, "1 & 2", holds)
        return Outcome({}, (check,), (table("A <b>", ["x|y"], [["1 < 2"]], "*so*"),), "Because `x` < *y*")

    return Experiment(name, "Made up", "that <i>it</i> works", Settings, run, lambda numbers: {})


def test_reports_gather_what_lies_in_the_folder_and_escape_it(tmp_path, monkeypatch):
    for name, holds in (("one", True), ("two", False)):
        monkeypatch.setitem(EXPERIMENTS, name, _made(name, holds, "a | <script>alert(1)</script>"))
    told = []
    reproduce([EXPERIMENTS["one"]], tmp_path, tell=lambda e, share, what: told.append((e.name, share, what)))
    reproduce([EXPERIMENTS["two"]], tmp_path)
    page, text = ((tmp_path / name).read_text() for name in ("report.html", "report.md"))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "Because <code>x</code> &lt; <em>y</em>" in page
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
            EXPERIMENTS, name, replace(made, run=lambda *a, made=made: ran.append(1) or made.run(*a))
        )
    reproduce([EXPERIMENTS["one"]], tmp_path)
    path = tmp_path / "one" / "results.json"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(RecordError, match="run the experiment again, or remove the folder"):
        reproduce([EXPERIMENTS["two"]], tmp_path)
    assert len(ran) == 1
    assert len(reproduce([EXPERIMENTS["two"], EXPERIMENTS["one"]], tmp_path).results) == 2
    (tmp_path / "two" / "results.json").unlink()  # as where a run was killed
    assert reproduce([EXPERIMENTS["one"]], tmp_path).failures == ()


def test_a_figure_that_is_gone_is_told(quick_run, tmp_path):
    shutil.copytree(quick_run("rate-length")[0], tmp_path / "copy")
    (tmp_path / "copy" / "rate-length" / "rate-length.png").unlink()
    with pytest.raises(RecordError, match=r"no rate-length\.png"):
        reproduce(experiments_named("long"), tmp_path / "copy", quick=True)


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


def test_the_reason_names_what_fails_with_its_measurement():
    checks = [Check("a", "", "seen", True), Check("b", "", "too much.", False), Check("c", "", "", None)]
    checks.append(Check("ours", "", "", False, "kgmi"))
    assert reason_of(tuple(checks)) == ("1 of 3 claims hold. Not confirmed: b (too much). Not measured: c.")
    assert reason_of(tuple(checks[:1])) == "1 of 1 claims hold."


def test_every_key_has_its_own_stream_of_random_numbers():
    run = Run(seed=3)
    assert run.rng(1).integers(10**9) == run.rng(1).integers(10**9)
    assert len({int(run.rng(key).integers(10**9)) for key in range(20)}) == 20


def test_experiments_are_those_of_the_paper_and_of_the_laboratory():
    names = ", ".join(["all", *EXPERIMENTS, "lab", *LAB])
    assert names == reproduce_command._NAMES
    assert ", ".join(EXPERIMENTS) == (
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


# Experiments that fail


def _raises(error):
    def run(settings, run):
        raise error

    return replace(_made("raises", True), run=run)


def _undrawn():
    """Its first figure can be written, its second one cannot."""
    figures = {"small": Figure(figsize=(2, 2)), "huge": Figure(figsize=(900, 2))}
    return replace(_made("undrawn", True), draw=lambda numbers: figures)


@pytest.fixture
def catalogue(monkeypatch):
    """Experiments of which only the last does not fail, the third as a file is in its place."""
    for name in list(EXPERIMENTS):
        monkeypatch.delitem(EXPERIMENTS, name)
    for one in (_raises(ZeroDivisionError("a\n| b")), _undrawn(), _made("blocked", True), _made("good", True)):
        monkeypatch.setitem(EXPERIMENTS, one.name, one)
    return EXPERIMENTS


def test_experiments_that_fail_are_named_and_the_others_are_kept(catalogue, tmp_path):
    (tmp_path / "blocked").write_text("mine")
    code, said, error = run_kgmi("reproduce", "all", "--out", str(tmp_path))
    assert code == 1
    assert "good: holds" in said
    assert error.startswith("kgmi: error: 3 of 4 experiments failed")
    assert error.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["blocked", "good", "report.html", "report.md"]
    assert (tmp_path / "blocked").read_text() == "mine"
    assert read_result(tmp_path / "good").verdict == "holds"
    page, text = ((tmp_path / name).read_text() for name in ("report.html", "report.md"))
    for sentence in (
        "raises: ZeroDivisionError: a | b",
        "undrawn: a picture has",
        f"blocked: {tmp_path / 'blocked'} is a file",
    ):
        assert sentence in error
        assert sentence.replace("|", "\\|") in text
        assert escape(sentence) in page
    assert (text.count("**failed**"), page.count(">failed<"), page.count("<section")) == (3, 3, 1)


@pytest.mark.parametrize("name", ["results.json", "mine.png", "mine.svg"])
def test_a_foreign_file_in_the_folder_of_an_experiment_stays_and_the_others_are_run(catalogue, tmp_path, name):
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked" / name).write_bytes(b"mine")
    done = reproduce([catalogue["blocked"], catalogue["good"]], tmp_path)
    assert [(type(one.error), one.experiment.name) for one in done.failures] == [(OutputError, "blocked")]
    assert [one.name for one in done.results] == ["good"]
    assert (tmp_path / "blocked" / name).read_bytes() == b"mine"


def test_experiments_that_failed_run_when_they_are_called_again(catalogue, tmp_path, monkeypatch):
    (tmp_path / "blocked").write_text("")
    assert len(reproduce(list(catalogue.values()), tmp_path).failures) == 3
    (tmp_path / "blocked").unlink()
    for name in ("raises", "undrawn"):
        monkeypatch.setitem(catalogue, name, _made(name, True))
    for name in ("raises", "undrawn", "blocked"):
        assert run_kgmi("reproduce", name, "--out", str(tmp_path))[0] == 0
    text = (tmp_path / "report.md").read_text()
    assert "**failed**" not in text
    assert text.count("**holds**") == 4


def test_a_failure_leaves_the_earlier_result(catalogue, tmp_path, monkeypatch):
    reproduce([catalogue["good"]], tmp_path)
    before = {path.name: path.read_bytes() for path in (tmp_path / "good").iterdir()}
    monkeypatch.setitem(catalogue, "good", replace(_undrawn(), name="good"))
    done = reproduce([catalogue["good"]], tmp_path)
    assert [failure.experiment.name for failure in done.failures] == ["good"]
    assert {path.name: path.read_bytes() for path in (tmp_path / "good").iterdir()} == before


def test_failures_for_machines_and_with_a_trace(catalogue, tmp_path):
    command = ("reproduce", "all", "--json", "--out", str(tmp_path))
    code, said, _ = run_kgmi(*command)
    content = json.loads(said)
    assert code == 1
    assert list(content["failures"]) == ["raises", "undrawn"]
    assert [found["verdict"] for found in content["verdicts"].values()] == ["holds", "holds"]
    assert list(content["checks"]) == ["blocked", "good"]
    assert content["files"][-1] == str(tmp_path / "report.html")
    with pytest.raises(KgmiError) as raised:
        run_kgmi(*command, "--debug")
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_an_interrupt_stops_all_experiments(catalogue, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        reproduce([_raises(KeyboardInterrupt()), catalogue["good"]], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_stops_even_where_a_library_turns_it_into_an_error(tmp_path):
    script = (
        "import signal, sys\n"
        "from dataclasses import replace\n"
        "from kgmi.cli import main\n"
        "from kgmi.paper.reproduce import EXPERIMENTS\n"
        "def harmed(settings, run):\n"
        "    try:\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "    except BaseException:\n"
        "        raise ImportError('initialization failed') from None\n"
        "for name, one in EXPERIMENTS.items():\n"
        "    EXPERIMENTS[name] = replace(one, run=harmed)\n"
        "sys.argv = ['kgmi', 'reproduce', sys.argv[1], '--json', '--out', sys.argv[2]]\n"
        "main()\n"
    )
    command = [sys.executable, "-c", script, "long", str(tmp_path)]  # even the last experiment
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "kgmi: stopped; nothing was left half-written (nothing was written)\n"
    assert list(tmp_path.iterdir()) == []
