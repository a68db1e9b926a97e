"""The line that says how far a command has come: on a terminal only, while it takes long, and gone at the end."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

from kgmi.cli.display import _texts, shown_count, shown_rate, shown_time
from kgmi.progress import Step

SLOW = ("sample", "--rows", "400000", "--out")  # some seconds, most of them writing text


def on_a_terminal(*arguments, columns=100, program=("-m", "kgmi")):
    """Exit code, and what a real terminal of so many columns is sent on standard error and output together."""
    process, terminal = pty.fork()
    if process == 0:
        told = {"TERM": "xterm", "COLUMNS": str(columns)}
        os.execvpe(sys.executable, [sys.executable, *program, *arguments], os.environ | told)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    sent = b""
    while True:
        try:
            some = os.read(terminal, 65_536)
        except OSError:  # Linux: the other side is gone
            some = b""
        if not some:
            break
        sent += some
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), sent.decode()


def left_on_the_screen(sent):
    """The lines that a terminal shows at the end; as far as it is told to, it clears and moves up."""
    lines, at = [""], 0
    for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", sent):
        if part == "\n":
            at += 1
            lines += [""] * (at == len(lines))
        elif found := re.fullmatch(r"\x1b\[(\d*)A", part):
            at -= int(found[1] or 1)
        elif re.fullmatch(r"\x1b\[\d*K", part):
            lines[at] = ""
        elif part != "\r" and not part.startswith("\x1b"):
            lines[at] += part
    return [line.rstrip() for line in lines if line.strip()]


def test_a_slow_command_tells_how_far_it_is_and_leaves_only_its_output(tmp_path):
    code, sent = on_a_terminal(*SLOW, str(tmp_path / "rows.csv"))
    assert code == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sent)
    assert re.search(r"drawing rows +[━╸╺]+ +[\d,]+ of 400,000 rows +[\d,]+ rows/s +0:\d\d +0:\d\d left", plain)
    assert left_on_the_screen(sent) == [f"wrote {tmp_path / 'rows.csv'}"]
    assert sent.count("\x1b[?25l") == sent.count("\x1b[?25h") == 1  # the cursor is back


def test_a_quick_command_shows_nothing_of_it():
    code, sent = on_a_terminal("sample", "--rows", "3")
    assert (code, "\x1b" in sent) == (0, False)


@pytest.mark.parametrize("extra", ["--json", "--quiet"])
def test_nothing_is_drawn_where_nobody_wants_it(extra, tmp_path):
    code, sent = on_a_terminal(*SLOW, str(tmp_path / "rows.csv"), extra)
    assert (code, "\x1b" in sent) == (0, False)


def test_in_a_pipe_there_is_nothing_on_standard_error(tmp_path):
    command = [sys.executable, "-m", "kgmi", *SLOW, str(tmp_path / "rows.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (f"wrote {tmp_path / 'rows.csv'}\n", "")


def test_the_rate_is_given_up_where_the_line_is_too_short():
    step = Step("ascent", 12_400, 50_000, "epochs")
    full = ["ascent", "12,400 of 50,000 epochs", "3,100 epochs/s", "1:05", "≤ 0:12 left"]
    assert _texts(step, 3_100.0, 65.0, 90) == full
    assert _texts(step, 3_100.0, 65.0, 66)[2] == "3,100/s"
    assert _texts(step, 3_100.0, 65.0, 20) == [full[0], full[1], full[3], full[4]]
    assert _texts(Step("reading", 0, None, "rows"), 0.0, 3.0, 90) == ["reading", "0:03"]


def test_numbers_have_units():
    assert shown_count(Step("search", 7, None, "nodes")) == "7 nodes"
    assert shown_rate(3.26, "nodes") == "3.3 nodes/s"
    assert [shown_time(seconds) for seconds in (0.4, 61, 3_725)] == ["0:00", "1:01", "1:02:05"]
