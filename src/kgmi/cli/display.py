"""How far a command has come, on a terminal: phase, bar, count, rate, elapsed and remaining time, on one line.

It appears when a command takes longer than half a second, and is gone when the command is done.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kgmi.cli.terminal import escaped
from kgmi.progress import Step, telling

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

__all__ = ["be_quiet", "live", "progress_bar", "shown_count", "shown_rate", "shown_time"]

_PATIENCE = 0.5  # seconds that nobody minds waiting without being told why
_WINDOW = 10.0  # seconds over which the rate is taken
_PER_SECOND = 8  # times that the line is drawn anew
_BAR = 12  # characters
_NARROW = 70  # columns of a terminal below which there is no room for a bar
_GAP = 2  # spaces between two parts of the line


_quiet = False  # for the whole command, with --quiet


def be_quiet(wanted: bool) -> None:
    """Whether to show nothing at all from now on, whatever a command says."""
    global _quiet
    _quiet = wanted


def _is_shown(quiet: bool) -> bool:
    return not (quiet or _quiet) and sys.stderr.isatty()


@contextmanager
def live(first: str, *, quiet: bool) -> Iterator[None]:
    """Show what is told meanwhile (:func:`kgmi.progress.tell`), on a terminal; ``first`` is the first phase.

    In a pipe, and when ``quiet``, nothing is shown and nobody listens.
    """
    if not _is_shown(quiet):
        yield
        return
    with _Display(first) as display, telling(display.hear):
        yield


@contextmanager
def progress_bar(what: str, unit: str, *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A callback (done, total) that is drawn in the same way; None where nothing is shown."""
    if not _is_shown(quiet):
        yield None
        return
    with _Display(what) as display:
        yield lambda done, total: display.hear(Step(what, done, total, unit))


class _Display:
    """The line on the terminal; it is heard and drawn by different threads."""

    def __init__(self, first: str) -> None:
        self._begun = time.monotonic()
        self._step = Step(first, 0, None, "")
        self._heard: deque[tuple[float, int]] = deque()
        self._live: Live | None = None
        self._lock = threading.Lock()  # of what was heard
        self._switch = threading.Lock()  # of appearing and going
        self._over = False
        self._timer = threading.Timer(_PATIENCE, self._appear)
        self._timer.daemon = True

    def __enter__(self) -> _Display:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._switch:
            self._over = True
            if self._live is not None:
                self._live.stop()
        self._timer.join()

    def hear(self, step: Step) -> None:
        """Keep a step; the line is drawn by its own clock."""
        with self._lock:
            last = self._step
            if (step.unit, step.total) != (last.unit, last.total) or step.done < last.done:  # another count
                self._heard.clear()
            now = time.monotonic()
            self._step = step
            self._heard.append((now, step.done))
            while now - self._heard[0][0] > _WINDOW and len(self._heard) > 2:
                self._heard.popleft()

    def _appear(self) -> None:
        """Begin to draw; called by the timer, in its own thread."""
        from rich.console import Console
        from rich.live import Live

        with self._switch:
            if not self._over:
                console = Console(stderr=True, markup=False)
                self._live = Live(
                    get_renderable=lambda: self._line(console.width),
                    console=console,
                    transient=True,
                    refresh_per_second=_PER_SECOND,
                    redirect_stdout=False,
                    redirect_stderr=False,
                )
                self._live.start()

    def _line(self, width: int) -> RenderableType:
        """What is drawn now."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        with self._lock:
            step, heard, now = self._step, list(self._heard), time.monotonic()
        bar = ProgressBar(total=step.total, completed=step.done, width=_BAR, pulse=step.total is None)
        rate = _rate(heard, now)
        texts = _texts(step, rate, now - self._begun, room=width - _BAR - 2 * _GAP)
        line = Table.grid(padding=(0, _GAP, 0, 0))
        for _ in range(len(texts) + 1):
            line.add_column(no_wrap=True)
        if width < _NARROW:
            line.add_row(*texts)
        else:
            line.add_row(texts[0], bar, *texts[1:])
        return line


def _texts(step: Step, rate: float, elapsed: float, room: int) -> list[str]:
    """Phase, count, rate, elapsed and remaining time; the rate is short, or left out, where there is no room."""
    left = ""
    if rate > 0 and step.total is not None and step.total > step.done:
        most = "≤ " if step.phase == "ascent" else ""  # it ends when all heads have stopped
        left = f"{most}{shown_time((step.total - step.done) / rate)} left"
    fixed = [escaped(step.phase), shown_count(step), shown_time(elapsed), left]
    for shown in (shown_rate(rate, step.unit), shown_rate(rate, ""), ""):
        texts = [text for text in (*fixed[:2], shown, *fixed[2:]) if text]
        if sum(map(len, texts)) + _GAP * len(texts) <= room:
            break
    return texts


def _rate(heard: list[tuple[float, int]], now: float) -> float:
    """Units a second, lately; 0 where it is too early to say."""
    if len(heard) < 2 or now - heard[0][0] < _PATIENCE:
        return 0.0
    return (heard[-1][1] - heard[0][1]) / (now - heard[0][0])


def shown_count(step: Step) -> str:
    """So many of so many, with the unit; nothing before the first is done where the total is not known."""
    if step.total is not None:
        return f"{step.done:,} of {step.total:,} {step.unit}".rstrip()
    return f"{step.done:,} {step.unit}".rstrip() if step.done else ""


def shown_rate(rate: float, unit: str) -> str:
    """A rate as people read it; nothing where it is not known."""
    if rate <= 0:
        return ""
    number = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
    return f"{number} {unit}/s" if unit else f"{number}/s"


def shown_time(seconds: float) -> str:
    """Minutes and seconds, with hours where there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
