"""Files written so that nothing is lost: to a temporary name first, then renamed."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["atomic_write"]


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """A binary file that appears under ``path`` whole, or not at all; an error names ``path``."""
    _make_folder(path.parent)
    handle, temporary = _temporary_beside(path)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp makes files that only their owner can read
        os.replace(temporary, path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        # An error on another file, from the body of the with statement, keeps its name.
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, temporary):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it; a file that stands in the way is named."""
    for part in (folder, *folder.parents):
        if part.exists() and not part.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "this is a file, not a folder", str(part))
    folder.mkdir(parents=True, exist_ok=True)


def _temporary_beside(path: Path) -> tuple[int, str]:
    try:
        return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _umask() -> int:
    current = os.umask(0o022)
    os.umask(current)
    return current
