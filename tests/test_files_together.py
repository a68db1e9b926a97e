"""Several files that appear together or not at all, and what a signal does meanwhile."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from kgmi.errors import OutputError
from kgmi.files import UNFINISHED, all_or_none, atomic_write, written_to

MARK = b"digraph kgmi {\n"  # by which kgmi knows a DOT file that it wrote


def write(folder, texts, **options):
    with all_or_none(folder, last="record.json", **options) as new:
        for name, text in texts.items():
            with atomic_write(new / name, "dot") as stream:
                stream.write(MARK + text)


def content(folder):
    return {path.name: path.read_bytes().removeprefix(MARK) for path in folder.iterdir()}


def test_files_appear_together_and_others_stay(tmp_path):
    folder = tmp_path / "deep" / "result"
    seen = []
    with written_to(seen.append):
        write(folder, {"record.json": b"1", "a.csv": b"2"})
    assert content(folder) == {"record.json": b"1", "a.csv": b"2"}
    assert [path for path in seen if path.exists()] == [folder / "a.csv", folder / "record.json"]
    (folder / "mine.txt").write_bytes(b"mine")
    (folder / "old.png").write_bytes(MARK + b"old")
    (folder / "mine.png").write_bytes(b"mine")
    write(folder, {"record.json": b"3"}, replaces={"*.png": "dot", "record.json": "dot"})
    assert content(folder) == {"record.json": b"3", "a.csv": b"2", "mine.txt": b"mine", "mine.png": b"mine"}


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_leaves_what_was_there(tmp_path, error):
    def fail(folder):
        with all_or_none(folder, last="record.json", replaces={"*": "dot"}) as new:
            (new / "record.json").write_bytes(MARK + b"new")
            raise error

    with pytest.raises(error):
        fail(tmp_path / "result")
    assert not (tmp_path / "result").exists()
    write(tmp_path / "result", {"record.json": b"old"})
    with pytest.raises(error):
        fail(tmp_path / "result")
    assert content(tmp_path / "result") == {"record.json": b"old"}


def test_a_signal_while_files_are_moved_waits_until_all_are(tmp_path, monkeypatch):
    write(tmp_path, {"a": b"old", "record.json": b"old"})
    replace, moved = os.replace, []

    def moving(source, target):
        replace(source, target)
        if ".new." in str(source) and target.parent == tmp_path:
            assert (tmp_path / UNFINISHED).exists()
            moved.append(target.name)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(os, "replace", moving)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, {"a": b"new", "record.json": b"new"})
    assert moved == ["a", "record.json"]
    assert content(tmp_path) == {"a": b"new", "record.json": b"new"}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_folder_in_the_way_is_found_before_anything_is_moved(tmp_path):
    write(tmp_path, {"a": b"old"})
    (tmp_path / "b").mkdir()
    with pytest.raises(OutputError) as caught:
        write(tmp_path, {"a": b"new", "b": b"new"})
    assert (caught.value.path, caught.value.reason) == (tmp_path / "b", "folder")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
    assert (tmp_path / "a").read_bytes() == MARK + b"old"


def test_errors_name_the_folder_and_not_the_temporary_one(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space") as caught:
        write(tmp_path / "result", {"a": b"new"})
    assert caught.value.filename == str(tmp_path / "result" / "a")
    assert os.listdir(tmp_path) == []


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path):
    for number, name in enumerate(("half", None)):
        stale = tmp_path / f".new.{number:012x}.part"
        stale.mkdir()
        if name is not None:
            (stale / name).write_bytes(b"of a process that is gone")
    with all_or_none(tmp_path, last="record.json") as first:
        (first / "record.json").write_bytes(MARK + b"first")
        write(tmp_path, {"record.json": b"second"})
        assert content(first) == {"record.json": b"first"}
    assert content(tmp_path) == {"record.json": b"first"}


# Dies where a new file is to be put in its place, or an old one removed.
_DYING = """
import os, pathlib, sys
from kgmi.files import all_or_none
folder, doing, name = sys.argv[1:]
done = getattr(os, doing)
def dying(*paths):
    if os.path.basename(paths[-1]) == name and ".new." not in str(paths[-1]):
        os.kill(os.getpid(), 9)
    done(*paths)
setattr(os, doing, dying)
with all_or_none(pathlib.Path(folder), last="record.json", replaces={"*.png": "dot"}) as new:
    for one in ("a", "record.json"):
        (new / one).write_bytes(b"digraph kgmi {\\nnew")
"""


@pytest.mark.parametrize(("doing", "name"), [("replace", "a"), ("replace", "record.json"), ("unlink", "old.png")])
def test_a_kill_while_files_are_moved_is_told_and_mended_by_the_next_run(doing, name, tmp_path):
    write(tmp_path, {"a": b"old", "old.png": b"old", "record.json": b"old"})
    done = subprocess.run([sys.executable, "-c", _DYING, tmp_path, doing, name], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / UNFINISHED).exists()
    assert (tmp_path / "record.json").read_bytes() == MARK + (b"new" if doing == "unlink" else b"old")
    assert (tmp_path / "old.png").exists()  # until the new record is in its place
    write(tmp_path, {"a": b"next", "record.json": b"next"}, replaces={"*.png": "dot"})
    assert content(tmp_path) == {"a": b"next", "record.json": b"next"}
