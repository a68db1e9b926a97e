"""Ctrl-C and a request to end (SIGTERM): the command unwinds, one line says what is left, and no trace."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from kgmi.cli.terminal import escaped

__all__ = ["Stopped", "end_now", "heard_signal", "say_stopped", "stoppable"]

_UNWINDING = 2.0  # seconds after a signal in which another one is not heard, so that cleaning up can end
_AGAIN = 0.05  # seconds after which a signal that was swallowed is sent again
_MOST_SHOWN = 3
_signals: list[int] = []  # that were heard


class Stopped(BaseException):
    """The user, or the system, wants this process to end; ``number`` is that of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stoppable() -> Iterator[None]:
    """For a while, turn Ctrl-C and SIGTERM into :class:`Stopped`; a second one while cleaning up does no harm.

    One that comes while a destructor or a callback of the garbage collector runs is swallowed there by Python; it
    is sent again a moment later.
    """
    _signals.clear()
    if threading.current_thread() is not threading.main_thread():  # only there can signals be handled
        yield
        return
    heard, other_hook = -_UNWINDING, sys.unraisablehook
    again: list[threading.Timer] = []

    def stop(number: int, _: FrameType | None) -> None:
        nonlocal heard
        now = time.monotonic()
        if now - heard >= _UNWINDING:
            heard = now
            _signals.append(number)
            raise Stopped(number)

    def swallowed(what: sys.UnraisableHookArgs) -> None:
        nonlocal heard
        if isinstance(what.exc_value, Stopped):
            heard = -_UNWINDING
            again.append(threading.Timer(_AGAIN, _send, (what.exc_value.number,)))  # now it would be swallowed too
            again[-1].start()
        else:
            other_hook(what)

    # Who started this process may want it to ignore a signal (nohup, a shell's background job): then it does.
    mine = [one for one in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(one) not in (signal.SIG_IGN, None)]
    before = {number: signal.signal(number, stop) for number in mine}
    sys.unraisablehook = swallowed
    try:
        yield
    finally:
        sys.unraisablehook = other_hook
        for timer in again:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


def _send(number: int) -> None:
    """Send a signal to the main thread, so that it is heard at once even where that waits for something."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:  # Windows
        signal.raise_signal(number)


def heard_signal() -> int | None:
    """The signal that was heard; a library that was being loaded may have turned it into an error of its own."""
    return _signals[-1] if _signals else None


def end_now(code: object) -> NoReturn:
    """End the process without asking libraries that a signal may have left half loaded: some crash when asked."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else 1)


def say_stopped(stopped: Stopped, written: Sequence[Path]) -> int:
    """One line on what there is now, and the exit code, by which a shell knows that a signal ended the command."""
    whole = [path for path in dict.fromkeys(written) if path.exists()]
    there = ", ".join(str(path) for path in whole[:_MOST_SHOWN])
    more = f" and {len(whole) - _MOST_SHOWN} more" if len(whole) > _MOST_SHOWN else ""
    what = f"these files are written and whole: {there}{more}" if whole else "nothing was written"
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K\x1b[?25h")  # whatever was drawn there, and the cursor that it hid
    sys.stderr.write(escaped(f"kgmi: stopped; nothing was left half-written ({what})") + "\n")
    return 128 + stopped.number
