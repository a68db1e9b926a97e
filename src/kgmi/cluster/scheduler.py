"""A scheduler that somebody else has started: reached, or refused with a sentence; and what Dask logs meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from kgmi.errors import ClusterError, SettingError, first_line

__all__ = ["USAGE", "open_scheduler", "quiet"]

USAGE = (
    "it is 'local:4' for four processes on this machine, the address of a Dask scheduler such as "
    "'tcp://10.0.0.7:8786', 'client' for the client that is open in this process, or such a client"
)
"""What a cluster can be, in words."""

_CONNECTING = 10.0  # seconds for a scheduler to answer
_BELOW = ("asyncio", "tornado.application", "tornado.general")  # what Dask is made of logs what Dask leaves behind
_CLOSING = 2.0  # seconds for a client that never was connected to end


@contextmanager
def open_scheduler(address: str) -> Iterator[Any]:
    """For a while, a client of the scheduler at ``tcp://HOST:PORT`` or ``tls://HOST:PORT``."""
    _check_address(address)
    with _connected(address) as client:
        yield client


def _check_address(address: str) -> None:
    """Refuse what is no address: Dask would take its time to find out."""
    if not address.startswith(("tcp://", "tls://")):
        raise SettingError(f"cluster='{address}' is not known; {USAGE}")
    try:
        parts = urlsplit(address)
        is_whole = bool(parts.hostname) and bool(parts.port) and not (parts.path or parts.query or parts.fragment)
    except ValueError:  # the port is no number
        is_whole = False
    if not is_whole:
        raise SettingError(
            f"cluster='{address}' is not a whole address: it needs the host and the port of the scheduler, such as "
            "'tcp://10.0.0.7:8786'"
        )


def _connected(address: str) -> Any:
    from distributed import Client

    client = Client.__new__(Client)  # in two steps, so that it can be closed where the second one fails
    try:
        client.__init__(address, timeout=_CONNECTING, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError, RuntimeError, ImportError) as error:
        # Left as it is, it would be closed when Python ends, for many seconds and with a traceback.
        with suppress(Exception):
            client.close(timeout=_CLOSING)
        if isinstance(error, TypeError) and address.startswith("tls://"):
            raise ClusterError(
                f"{address} needs certificates, and none are known: name their files in Dask's configuration "
                "(distributed.comm.tls.ca-file, distributed.comm.tls.client.cert and .key), or hand over a client "
                "that has them (distributed.Security)"
            ) from None
        raise ClusterError(
            f"no Dask scheduler answers at {address} ({first_line(error)}). Start one with «dask scheduler», its "
            "workers with «dask worker ADDRESS», or let kgmi start processes here: 'local:4'"
        ) from None
    return client


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what Dask logs from the terminal: what matters of it is told as an error of ours."""
    root = logging.getLogger("distributed")
    # Some of its loggers have levels and handlers of their own, so that it is not enough to change the first one.
    known = [name for name in list(logging.root.manager.loggerDict) if name.startswith("distributed.")]
    quieted: list[logging.Filterer] = [root, *root.handlers, *map(logging.getLogger, (*known, *_BELOW))]
    only = _Only()  # its own for every call: several at a time do not undo each other
    for one in quieted:
        one.addFilter(only)
    try:
        yield
    finally:
        for one in quieted:
            one.removeFilter(only)


class _Only(logging.Filter):
    """Lets through what ends a process."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.CRITICAL
