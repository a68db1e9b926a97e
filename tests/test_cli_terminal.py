"""Names, states, files and arguments cannot steer the terminal: everything printed goes through one place."""

import csv
import io
import json
import logging
import re
import subprocess
import sys

import numpy as np
import pytest

import kgmi
from kgmi.cli.serve import EscapedLines
from kgmi.cli.terminal import escaped
from tests.commands import run_kgmi
from tests.test_cli_display import on_a_terminal

STEERING = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)  # all but the line feed
NAMES = ("\x1b[2Jred", "two\nlines", "re\rturn", "\u202eturned", "größe λ 日本", "\x9b31m", "tab\there")
SHOWN = (r"\x1b[2Jred", r"two\x0alines", r"re\x0dturn", r"\u202eturned", "größe λ 日本", r"\x9b31m", r"tab\x09here")
STATES = ("no\x1b[31m", "yes\u2066")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file in a folder whose name steers as well; the second of its columns follows the first, and so on."""
    rng = np.random.default_rng(5)
    columns = [rng.integers(0, 2, 300)]
    for _ in NAMES[1:]:
        columns.append(np.where(rng.random(300) < 0.9, columns[-1], 1 - columns[-1]))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(NAMES)
    writer.writerows([[STATES[code] for code in row] for row in np.transpose(columns)])
    folder = tmp_path_factory.mktemp("rows") / "bell\x07"
    folder.mkdir()
    path = folder / "rows.csv"
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return path


@pytest.fixture(scope="module")
def result(table):
    folder = table.parent / "result"
    code, out, err = run_kgmi("learn", str(table), "--parents", "1", "--out", str(folder))
    assert (code, err) == (0, "")
    assert not STEERING.search(out)
    assert r"bell\x07" in out
    return folder


@pytest.mark.parametrize("columns", ["60", "400"])
def test_tables_and_sentences_show_escapes_and_keep_letters(result, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    code, out, err = run_kgmi("show", str(result))
    assert (code, err) == (0, "")
    assert not STEERING.search(out)
    for shown in SHOWN:
        assert shown in out
    assert not re.search("^ *lines", out, re.MULTILINE)  # the second half of a name begins no line


def test_other_commands_escape_too(table, result, tmp_path):
    for command in (
        ("compare", str(result), str(result)),
        ("certify", str(table), "--parents", "1"),
        ("learn", str(table), "--prepare"),
        ("report", str(result), "--out", str(tmp_path / "re\x1bport.html")),
    ):
        code, out, err = run_kgmi(*command)
        assert code == 0, err
        assert not STEERING.search(out + err)


def test_json_stays_the_same_json(result):
    code, out, _ = run_kgmi("show", str(result), "--json")
    assert code == 0
    assert not STEERING.search(out)
    content = json.loads(out)
    assert tuple(content["names"]) == NAMES
    assert set(content["states"]) == set(STATES)


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (("show", "no\x1bthing"), 1, r"no\x1bthing"),
        (("learn", "no\nthing.csv"), 1, r"no\x0athing.csv"),
        (("learn", "{table}", "--forbid", "\x1b[1m>x"), 2, r"\x1b[1m"),
        (("count", "{table}", "--out", "rows.counts"), 1, r"\x1b[2Jred"),
        (("learn", "--\x1b[2J\u202e"), 2, r"--\x1b[2J\u202e"),
        (("\x1b[2J",), 2, r"\x1b[2J"),
        (("show", "one", "two\x1b\n\u202emore"), 2, r"two\x1b\x0a\u202emore"),
    ],
)
def test_errors_escape_arguments_files_and_names(arguments, code, shown, table):
    got, out, err = run_kgmi(*(argument.format(table=table) for argument in arguments))
    assert (got, out) == (code, "")
    assert shown in err
    assert not STEERING.search(err)


def test_errors_escape_cells(write):
    path = write("a,b\n0,1\n1,\x1b[2J\u202e\n".encode())
    code, out, err = run_kgmi("learn", str(path), "--states", "0,1")
    assert (code, out) == (1, "")
    assert r"\x1b[2J\u202e" in err
    assert not STEERING.search(err)


def test_the_trace_of_an_error_is_escaped():
    done = subprocess.run(
        [sys.executable, "-m", "kgmi", "show", "no\x1bthing", "--debug"], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert r"no\x1bthing" in done.stderr
    assert not STEERING.search(done.stderr)


def test_an_export_is_escaped_on_a_terminal_and_exact_in_a_pipe(result):
    exact = kgmi.interchange.export(kgmi.load(result), "dot")
    assert "\x1b[2Jred" in exact
    assert run_kgmi("export", str(result), "--to", "dot")[1] == exact
    code, sent = on_a_terminal("export", str(result), "--to", "dot")
    assert code == 0
    assert r"\x1b[2Jred" in sent
    assert not STEERING.search(sent.replace("\r\n", "\n"))


def test_progress_is_escaped():
    script = (
        "import time\n"
        "from kgmi.cli.display import progress_bar\n"
        "with progress_bar('a\\x1b[5mb[/c]', 'things', quiet=False) as tell:\n"
        "    tell(1, 2)\n"
        "    time.sleep(1.5)\n"
    )
    code, sent = on_a_terminal(program=("-c", script))
    assert code == 0
    assert r"a\x1b[5mb[/c]" in sent
    assert "\x1b[5m" not in sent


def test_the_log_of_the_server_is_escaped_line_by_line():
    try:
        raise ValueError("a\x1b[2Jb")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "x", 1, "job %s", ("\u202e",), sys.exc_info())
    shown = EscapedLines().format(record)
    assert shown.startswith("job \\u202e\nTraceback")
    assert r"a\x1b[2Jb" in shown
    assert not STEERING.search(shown)


def test_joiners_and_letters_of_any_script_stay():
    plain = "naïve Ω 日本 العربية می‌خواهم 👩‍🔬 e\u0301 \u00a0"
    assert escaped(plain) == plain
