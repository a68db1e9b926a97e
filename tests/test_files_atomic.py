import os

import pytest

from kgmi.files import atomic_write


def test_the_content_appears_whole_and_only_at_the_end(tmp_path):
    path = tmp_path / "new" / "deep" / "out.bin"
    with atomic_write(path) as stream:
        stream.write(b"first ")
        stream.flush()
        assert not path.exists()
        stream.write(b"second")
    assert path.read_bytes() == b"first second"
    assert os.listdir(path.parent) == ["out.bin"]


def test_an_old_file_is_replaced(tmp_path):
    path = tmp_path / "out.bin"
    path.write_bytes(b"a much longer old content")
    with atomic_write(path) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"a much longer old content"
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "out.bin"
    path.write_bytes(b"old")

    def write_half():
        with atomic_write(path) as stream:
            stream.write(b"half")
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.bin"]


def test_a_folder_in_the_way_leaves_nothing_behind(tmp_path):
    (tmp_path / "out.bin").mkdir()
    with pytest.raises(OSError, match="directory"), atomic_write(tmp_path / "out.bin") as stream:
        stream.write(b"x")
    assert os.listdir(tmp_path) == ["out.bin"]


def test_others_may_read_the_file_as_the_umask_says(tmp_path):
    path = tmp_path / "out.bin"
    before = os.umask(0o027)
    try:
        with atomic_write(path) as stream:
            stream.write(b"x")
        assert path.stat().st_mode & 0o777 == 0o640
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
