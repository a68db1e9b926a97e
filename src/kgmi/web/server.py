"""``serve``: run the server until it is told to stop, and leave nothing behind."""

from __future__ import annotations

import atexit
import errno
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn

from kgmi.errors import SettingError
from kgmi.web.app import make_app
from kgmi.web.hub import Hub
from kgmi.web.settings import WebSettings

__all__ = ["Server", "address_of", "listen", "serve"]


class Server(uvicorn.Server):
    """uvicorn, whose open streams end when it is told to stop: it would wait for them otherwise."""

    def __init__(self, config: uvicorn.Config, hub: Hub) -> None:
        super().__init__(config)
        self._hub = hub

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; streams notice at once. uvicorn would send itself the signal once more when it has ended well."""
        self._hub.jobs.end_streams()
        self.force_exit = self.should_exit and sig == signal.SIGINT  # a second Ctrl-C waits for nobody
        self.should_exit = True


def listen(settings: WebSettings) -> socket.socket:
    """A socket where the server will be found; an error says what to do."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            settings.host.strip("[]"), settings.port, type=socket.SOCK_STREAM
        )[0]
    except socket.gaierror:
        raise SettingError(f"there is no host {settings.host!r}; use 127.0.0.1 for this machine only") from None
    found = socket.socket(family, kind)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(address)
        found.listen(128)
    except OSError as error:
        found.close()
        if error.errno == errno.EADDRINUSE:
            raise SettingError(
                f"port {settings.port} is in use, maybe by another kgmi serve; choose another with --port, or "
                "--port 0 for any that is free"
            ) from None
        raise SettingError(f"cannot listen at {settings.host}, port {settings.port}: {error.strerror}") from None
    return found


def address_of(found: socket.socket) -> str:
    """What to type into a browser."""
    host, port = found.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def serve(settings: WebSettings, found: socket.socket, ready: Callable[[], Any] = lambda: None) -> None:
    """Answer at a socket until Ctrl-C or SIGTERM; then end all jobs and remove all files.

    ``ready`` is called just before it begins to answer: the socket listens already, so that nobody is turned away.
    """
    app = make_app(settings)
    hub: Hub = app.state.hub
    atexit.register(hub.remove_folder)  # should it end in any other way than below
    config = uvicorn.Config(
        app,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=64_000,
    )
    server = Server(config, hub)
    try:
        ready()
        server.run(sockets=[found])
    finally:
        hub.remove_folder()
        atexit.unregister(hub.remove_folder)
