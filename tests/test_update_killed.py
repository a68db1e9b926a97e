"""``kgmi learn --update`` killed at any moment: the old result or the new one, whole, and the command goes on."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from shutil import copytree

import pytest

import kgmi
from kgmi.counting import lock
from kgmi.counting.lock import FolderLock
from kgmi.errors import DataError
from kgmi.files import UNFINISHED
from tests.commands import expect_refused, run_kgmi
from tests.update_drills import as_frame, assert_same_result, content, counts_in, make_rows, write


@pytest.fixture
def halves(tmp_path):
    """A result of the first half of some rows, the file with the second, and all rows."""
    rows, _ = make_rows(130, 6, 3, 1000)
    table = as_frame(rows, words=True)
    files = [write(table.slice(start, 500), tmp_path / f"{start}.parquet") for start in (0, 500)]
    assert run_kgmi("learn", files[0], "--out", str(tmp_path / "result"))[0] == 0
    return tmp_path / "result", Path(files[1]), table


def command(*words):
    return [sys.executable, "-c", "from kgmi.cli import main; main()", *map(str, words)]


def test_a_killed_update_leaves_the_old_result_whole(halves):
    result, file, table = halves
    before = content(result)
    child = subprocess.Popen(command("learn", "--update", result, file))
    while not (result / ".update.lock").exists():  # it has begun
        assert child.poll() is None
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    assert {name: one for name, one in content(result).items() if not name.startswith(".")} == before
    assert run_kgmi("learn", "--update", str(result), str(file))[0] == 0
    assert_same_result(kgmi.load(result), kgmi.learn(table.to_pandas()))
    assert not (result / ".update.lock").exists()


# Dies where a file of the new result is to be put in place, or one of the old to be removed, by its beginning.
_DYING = """
import os, sys
from kgmi.cli import main
beginning, doing = sys.argv.pop(), sys.argv.pop()
done = getattr(os, doing)
def dying(path, *more, **further):
    where = more[0] if doing == "replace" else path
    if os.path.basename(where).startswith(beginning) and ".new." not in str(where):
        os.kill(os.getpid(), 9)
    done(path, *more, **further)
setattr(os, doing, dying)
main()
"""


@pytest.mark.parametrize("moment", [("replace", "edges"), ("replace", "record.json"), ("unlink", "rows-")])
def test_killed_while_files_are_replaced_one_result_is_there_whole(moment, halves, tmp_path):
    result, file, table = halves
    words = ["learn", "--update", str(result), str(file)]
    done = subprocess.run([sys.executable, "-c", _DYING, *words, *moment], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (result / UNFINISHED).exists()
    assert len(list(result.glob(".new.*.part"))) == 1
    if moment[0] == "replace":  # the old record with its own arrays and counts: the same command does the work
        assert kgmi.load(result).configuration["n_rows"] == 500
        assert run_kgmi(*words)[::2] == (0, "")
    else:  # the record is new already, and what it needs is there
        assert kgmi.load(result).configuration["n_rows"] == 1000
        says = "are among those of the result already"
        expect_refused(1, *words, says=[says])
        assert "If it answers that its rows are in the result already" in (result / UNFINISHED).read_text()
        further = write(table.slice(0, 250), tmp_path / "further.parquet")
        assert run_kgmi("learn", "--update", str(result), further, "--out", str(tmp_path / "more"))[0] == 0
        assert kgmi.load(tmp_path / "more").configuration["n_rows"] == 1250
        counts = str(result / kgmi.load(result).configuration["origin"]["table"])
        assert run_kgmi("learn", counts, "--out", str(result))[::2] == (0, "")
    assert_same_result(kgmi.load(result), kgmi.learn(table.to_pandas()))
    assert not [path.name for path in result.iterdir() if path.name.startswith((".", UNFINISHED))]
    assert counts_in(result).name.startswith("rows-")


def test_results_with_the_earlier_name_of_counts_are_updated(halves, tmp_path):
    result, file, table = halves
    old, counts = tmp_path / "old", counts_in(result)
    copytree(result, old)
    (old / counts.name).rename(old / "rows.counts")
    text = (old / "record.json").read_text(encoding="utf-8")
    (old / "record.json").write_text(text.replace(counts.name, "rows.counts"), encoding="utf-8")
    assert run_kgmi("learn", "--update", str(old), str(file))[0] == 0
    assert_same_result(kgmi.load(old), kgmi.learn(table.to_pandas()))
    assert counts_in(old).name != "rows.counts"  # and no other is there
    (result / "record.json").write_text(text.replace(counts.name, "../result/" + counts.name), encoding="utf-8")
    expect_refused(1, "learn", "--update", str(result), str(file), says=["keeps no counts of its rows"])


def test_saving_replaces_the_counts_of_the_result_before(tmp_path):
    rows, _ = make_rows(131, 5, 2, 600)
    learned = kgmi.learn(kgmi.stream(rows[:300]))
    kgmi.save(learned, tmp_path)
    first = counts_in(tmp_path)
    kgmi.save(kgmi.update(tmp_path, rows[300:]), tmp_path)
    assert counts_in(tmp_path).name != first.name
    assert kgmi.Counts.load(counts_in(tmp_path)).n_rows == 600
    kgmi.save(kgmi.learn(rows), tmp_path)
    assert counts_in(tmp_path) is None


def test_a_lock_whose_file_was_removed_meanwhile_is_taken_again(tmp_path, monkeypatch):
    path = tmp_path / "lock"
    first, take, removed = FolderLock(path), lock._lock, []

    def take_late(number):
        if not removed:  # the file is open already, and only now the other lets go
            removed.append(first.remove())
            assert not path.exists()
        take(number)

    monkeypatch.setattr(lock, "_lock", take_late)
    second = FolderLock(path)
    with pytest.raises(DataError, match="in use by another run"):  # a lock on a file that is gone keeps nobody off
        FolderLock(path)
    second.close()
