"""A folder that one process uses at a time."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from kgmi.errors import DataError
from kgmi.outputs import check_replaceable

__all__ = ["FolderLock"]

_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class FolderLock:
    """Held from the moment it is made until it is closed, or the process ends in whatever way.

    It is a lock of the system on a file, not the file itself: nothing that a killed process leaves has to be
    cleaned up, and no number of a process has to be trusted.
    """

    def __init__(self, path: Path) -> None:
        check_replaceable(path, "lock")
        self._path = path
        self._take()
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n".encode())
        self._file.flush()

    def _take(self) -> None:
        path = self._path
        self._file = open(path, "a+b")  # noqa: SIM115 (it stays open as long as the lock is held)
        try:
            _lock(self._file.fileno())
        except OSError as error:
            self._file.seek(0)
            holder = self._file.read(100).decode(errors="replace").strip()
            self._file.close()
            if error.errno not in _TAKEN:
                raise DataError(
                    f"{path.parent} is on a disk without locks ({error.strerror}), so that two runs could use it "
                    "at once: choose a folder on another disk"
                ) from None
            raise DataError(
                f"{path.parent} is in use by another run of kgmi{f' (process {holder})' if holder else ''}: wait "
                "for it to end, or choose another folder"
            ) from None

    def close(self) -> None:
        """Let others use the folder."""
        self._file.close()


def _lock(number: int) -> None:
    """Take the lock of an open file, or raise at once."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
