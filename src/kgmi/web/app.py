"""``make_app``: the server as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from kgmi.version import __version__
from kgmi.web import api, downloads, lab, pages
from kgmi.web.guard import Guard
from kgmi.web.hub import Hub
from kgmi.web.models import Failure
from kgmi.web.problems import add_handlers
from kgmi.web.settings import WebSettings

__all__ = ["make_app"]

_ABOUT = (
    "Learn directed acyclic graphs from tables. Send a table (or take an example), start a job, follow its events, "
    "and fetch the result. Whatever goes wrong is answered with {error, advice}."
)
_TAGS = [
    {"name": "tables", "description": "Tables that were sent, and examples."},
    {"name": "jobs", "description": "Learning, each job in a process of its own with limits."},
    {"name": "results", "description": "What a job found: for the page, as a report, as files of other tools."},
    {"name": "laboratory", "description": "Transformers that are trained while the page draws their record."},
    {"name": "server", "description": "The server itself."},
]
_ANYWHERE: dict[int | str, dict[str, Any]] = {
    403: {"model": Failure, "description": "Another web page asked for it."},
    421: {"model": Failure, "description": "The Host header does not name this server."},
    500: {"model": Failure, "description": "Something that should not happen; the terminal has the details."},
    507: {"model": Failure, "description": "The disk is full."},
}


def make_app(settings: WebSettings | None = None) -> FastAPI:
    """The server with its limits; ``app.state.hub`` has what it keeps."""
    hub = Hub(settings or WebSettings())

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        hub.open()
        try:
            yield
        finally:
            await hub.close()

    # The usual pages of FastAPI load scripts from elsewhere; /api is ours.
    app = FastAPI(
        title="kgmi",
        version=__version__,
        description=_ABOUT,
        openapi_tags=_TAGS,
        lifespan=life,
        docs_url=None,
        redoc_url=None,
        responses=_ANYWHERE,
    )
    app.state.hub = hub
    for part in (api, downloads, lab, pages):
        app.include_router(part.router)
    add_handlers(app)
    app.add_middleware(Guard, settings=hub.settings)
    return app
