"""The page, its script and style, and the list of addresses: files of the package, sent as they are."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from kgmi.report import asset
from kgmi.web.problems import Problem

__all__ = ["router"]

_KINDS = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_SCRIPTS = ("talk.js", "table.js", "form.js", "follow.js", "history.js", "result.js", "page.js", "lab.js", "api.js")
_OWN = (*_SCRIPTS, "page.css", "icon.svg")
_SHARED = ("view.js", "view.css")

router = APIRouter(include_in_schema=False)


@router.get("/")
async def page() -> HTMLResponse:
    """The page."""
    return HTMLResponse(_own("index.html"))


@router.get("/lab")
async def laboratory() -> HTMLResponse:
    """The attention laboratory."""
    return HTMLResponse(_own("lab.html"))


@router.get("/api")
async def addresses() -> HTMLResponse:
    """What the server can be asked for, from /openapi.json; without scripts of others."""
    return HTMLResponse(_own("api.html"))


@router.get("/static/{name}")
async def static(name: str) -> Response:
    """One of the files that belong to the page; no other name is known."""
    if name not in (*_OWN, *_SHARED):
        raise Problem(404, "There is no such file.", "")
    text = _own(name) if name in _OWN else asset(name)
    return Response(text, media_type=_KINDS[name.rsplit(".", 1)[1]])


@router.get("/favicon.ico")
async def icon() -> Response:
    """The same picture under the name that browsers look for."""
    return Response(_own("icon.svg"), media_type=_KINDS["svg"])


@cache
def _own(name: str) -> str:
    return (files("kgmi.web") / "static" / name).read_text(encoding="utf-8")
