"""``kgmi serve``: the web page."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from kgmi.cli.terminal import escaped, say
from kgmi.errors import SettingError
from kgmi.memory import read_bytes
from kgmi.web.settings import WebSettings, is_loopback, read_seconds

__all__ = ["EscapedLines", "serve"]


class EscapedLines(logging.Formatter):
    """Logged lines, traces among them, as the terminal may show them."""

    def format(self, record: logging.LogRecord) -> str:
        """The lines of a record, each of them escaped."""
        return "\n".join(map(escaped, super().format(record).split("\n")))


def serve(
    port: Annotated[int, typer.Option(help="Port to listen at; 0 takes any that is free.")] = 8765,
    host: Annotated[str, typer.Option(help="Address to listen at; 127.0.0.1 is this machine only.")] = "127.0.0.1",
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the page in a browser.")] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A further name under which browsers may call it; may be repeated.")
    ] = None,
    upload_limit: Annotated[str, typer.Option(help="Largest table that may be sent, such as 50MB.")] = "50MB",
    stall_limit: Annotated[str, typer.Option(help="Longest pause in an upload, such as 30s.")] = "30s",
    memory_limit: Annotated[str, typer.Option(help="Most memory of a job, such as 2GB.")] = "2GB",
    time_limit: Annotated[str, typer.Option(help="Longest time of a job, such as 120s or 5min.")] = "120s",
    jobs: Annotated[int, typer.Option(help="Jobs that run at a time; others wait.")] = 1,
) -> None:
    """Open a web page on this machine: choose or drop a table, learn, watch, compare guides, download.

    Example: kgmi serve

    Example: kgmi serve --port 9000 --time-limit 10min --no-open

    Tables stay on this machine, in a temporary folder that is removed when the server ends (Ctrl-C).
    """
    upload, memory = read_bytes(upload_limit, "--upload-limit"), read_bytes(memory_limit, "--memory-limit")
    assert upload is not None
    assert memory is not None
    settings = WebSettings(
        host=host,
        port=port,
        hosts=tuple(allow_host or ()),
        upload_bytes=upload,
        stall_seconds=read_seconds(stall_limit, "--stall-limit"),
        memory_bytes=memory,
        seconds=read_seconds(time_limit),
        n_workers=jobs,
    )
    from kgmi.web import server
    from kgmi.web.problems import log

    handler = logging.StreamHandler()
    handler.setFormatter(EscapedLines())
    log.handlers[:] = [handler]
    found = server.listen(settings)
    address = server.address_of(found)
    say(f"kgmi serves its page at {address}")
    if not is_loopback(host):
        say(
            "Beware: others on the network can reach it, send tables and run jobs; there is no password. Use "
            "--host 127.0.0.1 to keep it to this machine.",
            err=True,
        )
    say("Press Ctrl-C to end it; tables and results are removed then.")
    server.serve(settings, found, ready=lambda: None if no_open else _open(address))
    say("ended; its temporary files are removed")


def _open(address: str) -> None:
    """Open the page in the user's browser; where there is none, the address was printed."""
    import webbrowser

    try:
        webbrowser.open(address)
    except webbrowser.Error as error:
        raise SettingError(f"no browser could be opened ({error}); open {address} yourself") from None
