"""``atomic_write``: a file appears whole, or what was there before stays; errors name the right file."""

import errno
import os

import pytest

from kgmi.errors import OutputError
from kgmi.files import atomic_write


@pytest.mark.parametrize("old", [None, b"a much longer old content"])
def test_the_content_appears_whole_and_only_at_the_end(tmp_path, old):
    path = tmp_path / "new" / "deep" / "out.bin"
    if old is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(old)
    with atomic_write(path, "internal") as stream:
        stream.write(b"first ")
        stream.flush()
        assert (path.read_bytes() if path.exists() else None) == old
        stream.write(b"second")
    assert path.read_bytes() == b"first second"
    assert os.listdir(path.parent) == ["out.bin"]


def fail(path, error):
    """Write half of a file."""
    with atomic_write(path, "internal") as stream:
        stream.write(b"half")
        raise error


@pytest.mark.parametrize("error", [RuntimeError(), KeyboardInterrupt(), OSError("no number")])
def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "out.bin"
    path.write_bytes(b"old")
    with pytest.raises(type(error)) as caught:
        fail(path, error)
    assert caught.value is error
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.bin"]


def test_an_error_on_another_file_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, atomic_write(tmp_path / "out.bin", "internal"):
        (tmp_path / "other.bin").read_bytes()
    assert caught.value.filename == str(tmp_path / "other.bin")


def test_a_full_disk_names_the_target(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught, atomic_write(tmp_path / "out.bin", "internal"):
        pass
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "out.bin"))
    assert os.listdir(tmp_path) == []


def test_others_may_read_the_file_as_the_umask_says(tmp_path):
    path = tmp_path / "out.bin"
    before = os.umask(0o027)
    try:
        with atomic_write(path, "internal") as stream:
            stream.write(b"x")
        assert path.stat().st_mode & 0o777 == 0o640
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)


def test_a_name_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("x" * 255)
    with atomic_write(path, "internal") as stream:
        stream.write(b"x")
    with pytest.raises(OSError, match="too long") as caught, atomic_write(tmp_path / ("x" * 256), "internal"):
        pass
    assert caught.value.filename == str(tmp_path / ("x" * 256))
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize(
    ("taken", "wanted", "reason"),
    [
        ("out.bin/", "out.bin", "folder"),
        ("results", "results/out.bin", "file"),
        ("results", "results/very/deep/out.bin", "file"),
    ],
)
def test_a_folder_or_a_file_in_the_way_is_named(tmp_path, taken, wanted, reason):
    way = tmp_path / taken
    way.mkdir() if reason == "folder" else way.write_bytes(b"a file")
    with pytest.raises(OutputError) as caught:
        atomic_write(tmp_path / wanted, "unmarked").__enter__()
    assert (caught.value.path, caught.value.reason) == (way, reason)
    assert os.listdir(tmp_path) == [way.name]
