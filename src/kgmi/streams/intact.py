"""Whether a file is still what it was when the files were listed, and gives all of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kgmi.errors import DataError, KgmiError, TooLargeError, first_line
from kgmi.memory import thread_failures
from kgmi.streams.fragment import Fragment

__all__ = ["changed", "check_rows", "gone", "not_gone", "unchanged"]


def changed(path: object) -> DataError:
    """The error on a file that is not what it was."""
    return DataError(
        f"{path} changed while it was read, so that its rows cannot be trusted; wait until it is complete and "
        "start again"
    )


def gone(path: object) -> DataError:
    """The error on a file that is no longer there."""
    return DataError(f"{path} is gone: it was there when the files were listed; start again")


@contextmanager
def not_gone(path: Path, mark: Callable[[Path], str] | None = None, before: str = "") -> Iterator[None]:
    """Say what is wrong with a file in words; one that is not what it was ``before`` is refused for that."""
    import pyarrow as pa

    try:
        with thread_failures():
            yield
    except MemoryError:
        raise TooLargeError(
            f"{path} holds a piece that does not fit into memory; write it in smaller pieces"
        ) from None
    except FileNotFoundError:
        raise gone(path) from None
    except (pa.ArrowException, OSError, EOFError, ValueError, KeyError) as error:
        if mark is not None:
            unchanged(path, mark, before)
        if isinstance(error, KgmiError):
            raise
        raise DataError(
            f"{path} cannot be read, it may be damaged or cut off: {first_line(error)}; write it again"
        ) from None


def unchanged(path: Path, mark: Callable[[Path], str], before: str) -> None:
    """Refuse a file that is not what it was when the files were listed."""
    try:
        now = mark(path)
    except FileNotFoundError:
        raise gone(path) from None
    except (OSError, DataError):
        raise changed(path) from None
    if now != before:
        raise changed(path)


def check_rows(fragment: Fragment, n_rows: int) -> None:
    """Refuse a fragment that did not give all rows that it said it has."""
    if fragment.raw_rows is not None and n_rows != fragment.raw_rows:
        raise DataError(
            f"{fragment.label} gave {n_rows:,} rows where {fragment.raw_rows:,} were announced; the file is "
            "damaged: write it again"
        )
