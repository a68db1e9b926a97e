"""Ctrl-C, SIGTERM, a full disk, and mistakes of our own: one line, the exit code, and no half-written file."""

import os
import random
import resource
import signal
import subprocess
import sys
import time

import pytest

from kgmi.cli import stopping
from kgmi.record import load
from tests.commands import run_kgmi

# A signal may come while Python itself reads the file of a module, which it then leaves to be closed later.
KGMI = [sys.executable, "-W", "error", "-W", "ignore::ResourceWarning", "-m", "kgmi"]


def start(*arguments, **options):
    return subprocess.Popen(
        [*KGMI, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def stop(process, number, seconds):
    """Send a signal so long after the process has begun to work, and another one at once."""
    time.sleep(seconds)
    process.send_signal(number)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.fixture(scope="module")
def slow_table(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    code, _, err = run_kgmi("sample", "--rows", "200", "--copies", "5", "--seed", "12", "--out", str(path))
    assert code == 0, err
    return path


def first_write(folder):
    """Wait until the process writes into the folder, or is as good as done."""
    end = time.monotonic() + 60
    while time.monotonic() < end and not (folder.exists() and os.listdir(folder)):
        time.sleep(0.002)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_the_middle_of_a_search_ends_it_with_one_line(number, code, slow_table, tmp_path):
    process = start(
        "learn", str(slow_table), "--order", "learn", "--parents", "3", "--out", str(tmp_path / "result")
    )
    found = stop(process, number, 2.5)
    assert found == (code, "", "kgmi: stopped; nothing was left half-written (nothing was written)\n")
    assert os.listdir(tmp_path) == []


def test_a_sample_that_is_stopped_leaves_no_file(tmp_path):
    process = start("sample", "--rows", "100000000", "--out", str(tmp_path / "rows.csv"))
    first_write(tmp_path)
    code, out, err = stop(process, signal.SIGINT, 0.1)
    assert (code, out) == (130, "")
    assert err.startswith("kgmi: stopped; ")
    assert os.listdir(tmp_path) == []


def test_a_result_is_the_old_one_or_the_new_one_whenever_the_signal_comes(tmp_path):
    folder = tmp_path / "result"
    learn = ("learn", "--example", "paper", "--out", str(folder), "--pictures", "--parents")
    assert run_kgmi(*learn, "1")[0] == 0
    (folder / "note.txt").write_text("mine")
    delay = random.Random(99)
    outcomes = set()
    for number in range(6):
        before = load(folder).configuration["n_heads"]
        now = 3 - before
        process = start(*learn, str(now))
        while not any(name.startswith(".new.") for name in os.listdir(folder)) and process.poll() is None:
            time.sleep(0.001)
        code, _, err = stop(process, signal.SIGINT, delay.uniform(0, 0.15 if number % 2 else 1.5))
        after = load(folder).configuration["n_heads"]
        names = set(os.listdir(folder))
        assert not [name for name in names if name.startswith((".", "UNFINISHED"))]
        assert "note.txt" in names
        assert len([name for name in names if name.endswith(".npz")]) == 1
        # The number of heads is in the record and, by the names of edges, in the other files too.
        rows = (folder / "edges.csv").read_text().splitlines()[1:]
        assert len(rows) == len(load(folder).edges)
        assert (code, after) in {(130, before), (130, now), (0, now)}, err
        assert code == 0 or err.count("\n") == 1
        outcomes.add((code, after == now))
    assert (130, False) in outcomes


def test_a_second_signal_while_cleaning_up_is_not_heard_and_a_later_one_is(monkeypatch):
    clock = iter([100.0, 100.5, 103.0])
    monkeypatch.setattr(stopping.time, "monotonic", lambda: next(clock))
    with stopping.stoppable():
        with pytest.raises(stopping.Stopped):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(stopping.Stopped):
            signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class Swallowing:
    """A signal comes while its destructor runs, which swallows whatever is raised there."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


def test_a_signal_that_a_destructor_swallows_is_heard_a_moment_later(capsys):
    one, begun = Swallowing(), time.monotonic()
    with stopping.stoppable():
        del one
        with pytest.raises(stopping.Stopped):
            time.sleep(30)
    assert time.monotonic() - begun < 30
    assert capsys.readouterr().err == ""
    assert stopping.heard_signal() == signal.SIGINT


def test_a_signal_that_was_swallowed_at_the_very_end_is_let_be(monkeypatch):
    one, heard = Swallowing(), []
    with stopping.stoppable():
        del one
    monkeypatch.setattr(stopping, "_send", heard.append)
    time.sleep(4 * stopping._AGAIN)
    assert heard == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_other_errors_in_destructors_are_shown_as_ever(monkeypatch):
    class Wrong:
        def __del__(self):
            raise ValueError("in a destructor")

    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: seen.append(str(what.exc_value)))
    one = Wrong()
    with stopping.stoppable():
        del one
    assert seen == ["in a destructor"]


def test_what_was_written_is_said(tmp_path, capsys):
    paths = [tmp_path / name for name in "abcde"]
    for path in paths[:4]:
        path.write_text("x")
    assert stopping.say_stopped(stopping.Stopped(2), [*paths, paths[0]]) == 130
    said = capsys.readouterr().err
    assert str(paths[0]) in said
    assert "and 1 more" in said
    assert str(paths[4]) not in said


@pytest.mark.parametrize("what", ["sample", "learn"])
def test_a_disk_without_room_is_said_and_leaves_nothing(what, tmp_path):
    command = {
        "sample": ("sample", "--rows", "20000", "--out", str(tmp_path / "rows.csv")),
        "learn": ("learn", "--example", "paper", "--out", str(tmp_path / "result")),
    }[what]
    process = start(*command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, 4_000)))
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert err.startswith(f"kgmi: error: {tmp_path}")
    assert "make room, or write to another disk" in err
    assert err.count("\n") == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", [("sample", "--rows", "5"), ("--version",), ("learn", "--help")])
def test_output_that_has_no_room_is_an_error_of_one_line(command):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*KGMI, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("kgmi: error: No space left on device")
    assert done.stderr.count("\n") == 1


def test_a_mistake_of_our_own_is_one_line_and_a_trace_with_debug(monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("a  mistake\nof ours")

    monkeypatch.setattr("kgmi.cli.show.load", broken)
    code, out, err = run_kgmi("show", "somewhere")
    assert (code, out) == (70, "")
    assert err.startswith("kgmi: error: ZeroDivisionError: a mistake of ours. This is a mistake in kgmi")
    assert "--debug" in err
    assert err.count("\n") == 1
    with pytest.raises(ZeroDivisionError):
        run_kgmi("show", "somewhere", "--debug")


def test_a_signal_that_a_library_turned_into_its_own_error_still_stops(tmp_path):
    """As extensions do that are being loaded: what is heard counts, not what comes of it."""
    script = (
        "import signal, sys\n"
        "from kgmi.cli import app, main\n"
        "def harmed(arguments):\n"
        "    try:\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "    except BaseException:\n"
        "        raise ImportError('initialization failed') from None\n"
        "app.make_app = harmed\n"
        "sys.argv = ['kgmi', 'doctor']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "kgmi: stopped; nothing was left half-written (nothing was written)\n"
