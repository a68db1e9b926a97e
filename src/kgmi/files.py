"""Files written so that nothing is lost: under a temporary name first, then renamed; alone, or several at once.

What ends a write, an error or a signal (Ctrl-C), leaves what was there before, and nothing else. Which files may be
replaced is decided in :mod:`kgmi.outputs`.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import BinaryIO

from kgmi.errors import SettingError
from kgmi.outputs import Kind, check_folder, check_replaceable, kind_of, remove_ours, stays

__all__ = ["UNFINISHED", "all_or_none", "as_path", "atomic_write", "written_to"]

UNFINISHED = "UNFINISHED.txt"
"""Lies in a folder while its files are replaced, and so for good only where the process was killed meanwhile."""

_WARNING = (
    "kgmi was ended while it replaced the files of this folder:\n"
    "some may still belong to the result that was here before. Run the command again.\n"
)
_STAGING = "new"  # what folders for new files are called, in the folder where they are to appear
_WRITTEN: ContextVar[Callable[[Path], object] | None] = ContextVar("who is told what was written", default=None)


def as_path(given: object, what: str) -> Path:
    """What was given as a path; refused where it cannot be one, before the system says so in its own words."""
    text = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise SettingError(f"{what} must be a path, got {given!r}")
    return Path(text)


@contextmanager
def written_to(told: Callable[[Path], object]) -> Iterator[None]:
    """For a while, have ``told`` called with every file that was written, when it is there whole."""
    token = _WRITTEN.set(told)
    try:
        yield
    finally:
        _WRITTEN.reset(token)


@contextmanager
def atomic_write(path: Path, kind: Kind, *, force: bool = False) -> Iterator[BinaryIO]:
    """A binary file that appears under ``path`` whole, or not at all; an error names ``path``.

    What is there already is replaced only as :func:`kgmi.outputs.check_replaceable` allows.
    """
    check_replaceable(path, kind, force=force)
    _make_folder(path.parent)
    temporary = _beside(path.parent, path.name)
    try:  # from here on, whatever happens and whenever, the temporary file is taken away
        with open(temporary, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        check_replaceable(path, kind, force=force)  # again: it may have taken hours
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            Path(temporary).unlink()
        # An error on another file, from the body of the with statement, keeps its name.
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, temporary):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    _note(path)


@contextmanager
def all_or_none(
    folder: Path, *, last: str, replaces: Mapping[str, Kind] | None = None, force: bool = False
) -> Iterator[Path]:
    """A folder for new files, which at the end appear in ``folder``, all of them, or none.

    Parameters
    ----------
    folder
        Made where it is missing. Files of the same name and kind that kgmi wrote are replaced, others stay.
    last
        The file that is put in place last: who finds it new finds all others new.
    replaces
        Patterns of files that belong to what was there before, with their kinds; those that kgmi wrote are removed
        unless they are written anew.
    force
        Replace files of the same name whoever wrote them.
    """
    was_there = folder.is_dir()
    _make_folder(folder)
    _remove_stale(folder)
    staging = Path(_beside(folder, _STAGING))
    try:
        _named(staging.mkdir, folder)
        with _held(staging, wait=True):
            if not staging.is_dir():  # before it was held, somebody took it for stale
                staging.mkdir()
            yield staging
            _move(staging, folder, last, replaces or {}, force)
    except BaseException as error:
        shutil.rmtree(staging, ignore_errors=True)
        if not was_there:
            with suppress(OSError):  # somebody else has put a file there
                folder.rmdir()
        if isinstance(error, OSError) and error.filename is not None and str(staging) in str(error.filename):
            shown = str(error.filename).replace(str(staging), str(folder))
            raise OSError(error.errno, error.strerror, shown) from error
        raise
    staging.rmdir()


def _move(staging: Path, folder: Path, last: str, replaces: Mapping[str, Kind], force: bool) -> None:
    """Put all new files in their places, and take away those that were there before."""
    for path in staging.iterdir():
        if stays(folder / path.name):
            path.unlink()
    names = sorted((path.name for path in staging.iterdir()), key=lambda name: (name == last, name))
    for name in names:
        check_replaceable(folder / name, kind_of(staging / name), force=force)
    check_replaceable(folder / UNFINISHED, "warning", force=force)
    with _held_back():
        (folder / UNFINISHED).write_text(_WARNING, encoding="utf-8")
        for name in names:
            os.replace(staging / name, folder / name)
            _note(folder / name)
        for pattern, kind in replaces.items():  # last: a kill before leaves the old ``last`` file with its others
            for old in folder.glob(pattern):
                if old.name not in names:
                    remove_ours(old, kind)
        (folder / UNFINISHED).unlink()


def _remove_stale(folder: Path) -> None:
    """Take away what killed processes left of their new files; those of living ones are held by them."""
    for old in folder.glob(f".{_STAGING}.{'[0-9a-f]' * 12}.part"):
        with _held(old, wait=False) as is_ours:
            if is_ours:
                shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _held(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Hold a folder for a while, and say whether that is so: somebody else may hold it."""
    number = _locked(folder, wait)
    try:
        yield number is not None
    finally:
        if number is not None:
            os.close(number)


def _locked(folder: Path, wait: bool) -> int | None:
    """A folder that was opened under a lock of the system, which ends with the process, however that ends."""
    number = None
    try:  # neither Windows nor every disk has such locks; without them nothing is known to be stale
        import fcntl

        number = os.open(folder, os.O_RDONLY)
        fcntl.flock(number, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        if number is not None:
            os.close(number)
        return None
    return number


def _beside(folder: Path, name: str) -> str:
    """A hidden name in a folder that nobody else uses, short enough where ``name`` itself is."""
    return str(folder / f".{name[:60]}.{secrets.token_hex(6)}.part")


def _note(path: Path) -> None:
    told = _WRITTEN.get()
    if told is not None:
        told(path)


@contextmanager
def _held_back() -> Iterator[None]:
    """Let Ctrl-C and a request to end wait until this is done; it is a matter of milliseconds."""
    if threading.current_thread() is not threading.main_thread():  # signals come to the main thread only
        yield
        return
    came: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        came.append(number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, note)
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it; a file that stands in the way is named."""
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)


def _named(make: Callable[[], object], folder: Path) -> None:
    """Call ``make``; its error is about the folder, whatever temporary name it had."""
    try:
        make()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from error
