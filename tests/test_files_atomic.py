import errno
import os

import pytest

from kgmi.errors import OutputError
from kgmi.files import atomic_write


def test_the_content_appears_whole_and_only_at_the_end(tmp_path):
    path = tmp_path / "new" / "deep" / "out.bin"
    with atomic_write(path, "internal") as stream:
        stream.write(b"first ")
        stream.flush()
        assert not path.exists()
        stream.write(b"second")
    assert path.read_bytes() == b"first second"
    assert os.listdir(path.parent) == ["out.bin"]


def test_an_old_file_is_replaced(tmp_path):
    path = tmp_path / "out.bin"
    path.write_bytes(b"a much longer old content")
    with atomic_write(path, "internal") as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"a much longer old content"
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "out.bin"
    path.write_bytes(b"old")

    def write_half():
        with atomic_write(path, "internal") as stream:
            stream.write(b"half")
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.bin"]


def test_a_folder_in_the_way_leaves_nothing_behind(tmp_path):
    (tmp_path / "out.bin").mkdir()
    with pytest.raises(OutputError) as caught, atomic_write(tmp_path / "out.bin", "unmarked") as stream:
        stream.write(b"x")
    assert (caught.value.path, caught.value.reason) == (tmp_path / "out.bin", "folder")
    assert ".part" not in str(caught.value)
    assert os.listdir(tmp_path) == ["out.bin"]


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


def test_a_full_disk_names_the_target(tmp_path, monkeypatch):
    path = tmp_path / "out.bin"

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught, atomic_write(path, "internal") as stream:
        stream.write(b"x")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    assert os.listdir(tmp_path) == []


def test_a_name_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("x" * 255)
    with atomic_write(path, "internal") as stream:
        stream.write(b"x")
    assert path.read_bytes() == b"x"
    with pytest.raises(OSError, match="too long") as caught, atomic_write(tmp_path / ("x" * 256), "internal"):
        pass
    assert caught.value.filename == str(tmp_path / ("x" * 256))
    assert os.listdir(tmp_path) == [path.name]


def test_an_error_on_another_file_keeps_its_name(tmp_path):
    other = tmp_path / "other.bin"
    with pytest.raises(FileNotFoundError) as caught, atomic_write(tmp_path / "out.bin", "internal"):
        other.read_bytes()
    assert caught.value.filename == str(other)
    with pytest.raises(OSError, match=r"^no number$"), atomic_write(tmp_path / "out.bin", "internal"):
        raise OSError("no number")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("below", ["out.bin", "deep/out.bin", "very/deep/out.bin"])
def test_a_file_where_a_folder_should_be_is_named(tmp_path, below):
    parent = tmp_path / "results"
    parent.write_bytes(b"a file")
    with pytest.raises(OutputError) as caught:
        atomic_write(parent / below, "internal").__enter__()
    assert (caught.value.path, caught.value.reason) == (parent, "file")
    assert parent.read_bytes() == b"a file"
