"""Who may talk to the server: a page from elsewhere must not, even through the user's own browser."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgmi.web.problems import Problem, unexpected
from kgmi.web.settings import WebSettings, is_loopback

__all__ = ["Guard"]

# Only our own files, no frames, no forms; nothing that a table contains could load or run anything.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_SAFE = ("GET", "HEAD", "OPTIONS")
_MOST_JSON = 200_000  # bytes of a request that is no upload


class Guard:
    """Checks every request before anything else sees it, and puts strict headers on every answer.

    The Host header must name this server: a foreign name that was pointed at this machine (DNS rebinding) is
    refused. What changes anything must come from our own page or from no page at all.
    """

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        self.app, self.settings = app, settings
        self._names = {"localhost", settings.host.lower(), *(name.lower() for name in settings.hosts)}
        if not is_loopback(settings.host):
            self._names.add(socket.gethostname().lower())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is allowed."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        has_begun = False

        async def careful(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        problem = self._problem(scope["method"], scope["path"], Headers(scope=scope))
        if problem is None:
            try:
                await self.app(scope, receive, careful)
            except ClientDisconnect:  # in the middle of an upload: nobody is left to be answered
                problem = Problem(400, "The upload was broken off.")
            except asyncio.CancelledError:  # the server ends, and has waited long enough
                problem = Problem(503, "The server ends.", "Start kgmi serve again, and try once more.")
            except Exception as error:  # noqa: BLE001  # answered here, as this is where strict headers are put on
                problem = unexpected(error)
        if problem is not None and not has_begun:
            await JSONResponse(problem.content, problem.status)(scope, receive, careful)

    def _problem(self, method: str, path: str, headers: Headers) -> Problem | None:
        host = headers.get("host", "")
        if not self._known(host):
            return Problem(
                421,
                f"This server does not answer to the name {host[:100]!r}.",
                "Use the address that kgmi serve printed, or start it with --allow-host NAME.",
            )
        if method in _SAFE:
            return None
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        ours = site in (None, "same-origin", "none") if origin is None else _place(origin) == host
        if not ours:
            return Problem(403, "Another web page asked for this, which is refused.", "Use the page of kgmi serve.")
        if path != "/api/tables" and _length(headers) > _MOST_JSON:
            return Problem(
                413, f"A request may have at most {_MOST_JSON:,} bytes.", "Upload tables at /api/tables."
            )
        return None

    def _known(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            return False
        if name is None:
            return False
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        # An address cannot be pointed elsewhere, so it is no rebinding; from outside, any of ours may be meant.
        return address.is_loopback or not is_loopback(self.settings.host)


def _place(origin: str) -> str | None:
    """Name and port of a page that asks; None where nobody can tell."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _length(headers: Headers) -> int:
    """What a request says of its length; without saying it nothing but an upload may have a body."""
    if "transfer-encoding" in headers:
        return _MOST_JSON + 1
    text = headers.get("content-length", "0")
    return int(text) if text.isdecimal() and len(text) < 16 else _MOST_JSON + 1
