"""Every way in which work on a cluster fails, as a sentence."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kgmi.cluster.paths import UnseenFile
from kgmi.errors import ClusterError, DataError, KgmiError, first_line

__all__ = ["AGAIN", "connected", "error_of", "lost", "raise_here", "uncomputed"]

AGAIN = "Run it again; with a checkpoint what was counted so far is not counted again"
"""What to do about a cluster that has gone."""


def error_of(future: Any) -> BaseException:
    """Why a future that has ended holds nothing."""
    if future.status != "error":
        return lost()
    error = future.exception()
    if not isinstance(error, BaseException):
        return ClusterError(str(error))
    return error.with_traceback(future.traceback())


def lost() -> ClusterError:
    """The error where nobody works on it any more."""
    return ClusterError(
        f"the Dask scheduler was lost, or let go of the work: it ended, was restarted, or was told to. {AGAIN}"
    )


@contextmanager
def connected(client: Any) -> Iterator[None]:
    """Say that the scheduler was lost where that is why something failed: Dask says it in many ways."""
    from distributed.comm import CommClosedError

    try:
        yield
    except KgmiError:
        raise
    except Exception as error:
        if client.status == "running" and not isinstance(error, CommClosedError):
            raise
        raise lost() from None


def uncomputed(error: Exception, label: str) -> KgmiError:
    """The error on rows that Dask could not compute, or that are no table: which ones, and why."""
    if isinstance(error, DataError):
        return error if label in str(error) else DataError(f"{label}: {error}")
    if isinstance(error, KgmiError):
        return error
    return DataError(f"{label} cannot be computed: {type(error).__name__}: {first_line(error)}")


def raise_here(error: BaseException, label: str = "") -> None:
    """Raise what went wrong as one process would, or, where Dask gave up, as an error of ours."""
    from distributed import KilledWorker

    if isinstance(error, UnseenFile):
        raise error.told() from None
    if isinstance(error, KgmiError):
        told = uncomputed(error, label) if label else error
        raise told.with_traceback(None) from None  # the frames of the worker tell nothing here
    if isinstance(error, KilledWorker):
        # No label: Dask suspects all that the worker had before it, also what it had not begun.
        raise ClusterError(
            f"the same piece of work ended its worker {1 + error.allowed_failures} times: workers were killed, or "
            f"have too little memory for it. Give them more, or count fewer columns. {AGAIN}"
        ) from None
    if isinstance(error, CancelledError):
        raise lost() from None
    if isinstance(error, ImportError):
        raise ClusterError(
            f"a worker lacks what it needs ({error}); install the same packages there as here"
        ) from None
    if label and isinstance(error, Exception):
        raise uncomputed(error, label) from error  # whose frames show where it comes from, in code of the user
    raise error
