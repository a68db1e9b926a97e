"""Files that a job has left: its result for the page, the report, the record, and the graph in all formats."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse

from kgmi.web.hub import TheHub
from kgmi.web.models import Failure
from kgmi.web.problems import Problem
from kgmi.web.running import Running

__all__ = ["result_of", "router"]

_NONE: dict[int | str, dict[str, Any]] = {
    404: {"model": Failure, "description": "There is no such job or file."},
    409: {"model": Failure, "description": "The job is not done, or the format cannot say its graph."},
    422: {"model": Failure, "description": "What is wrong with the request."},
}
# The report brings its own script. In a sandbox it has an origin of its own and cannot reach the server.
_SANDBOX = (
    "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_Kind = Literal["graphml", "dot", "json", "bif", "dagitty", "csv"]


def _gives(media_type: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {media_type: {}}, "description": "The file."}}


router = APIRouter(prefix="/api/jobs/{job}", tags=["results"], responses=_NONE)


@router.get("/report", response_class=FileResponse, responses=_gives("text/html"))
async def report(
    job: str,
    hub: TheHub,
    download: Annotated[bool, Query(description="Whether to save it rather than to show it.")] = False,
) -> FileResponse:
    """The report: one page that works without the server."""
    found = hub.jobs.get(job)
    name = f"{_file_name(found)}-report.html"
    headers = {"content-security-policy": _SANDBOX}
    kind = "attachment" if download else "inline"
    return FileResponse(
        file_of(found, "report.html"), headers=headers, filename=name, content_disposition_type=kind
    )


@router.get("/record", response_class=FileResponse, responses=_gives("application/zip"))
async def record(job: str, hub: TheHub) -> FileResponse:
    """The whole result as a zip file; unpacked, it is a folder for kgmi show, plot, report and compare."""
    found = hub.jobs.get(job)
    return FileResponse(file_of(found, "record.zip"), filename=f"{_file_name(found)}-record.zip")


@router.get("/graph/{kind}", response_class=FileResponse, responses=_gives("text/plain"))
async def graph(job: str, kind: _Kind, hub: TheHub) -> FileResponse:
    """The graph in a format of other tools."""
    from kgmi.interchange import EXPORT_SUFFIXES

    found = hub.jobs.get(job)
    reason = result_of(found)["exports"].get(kind, "")
    if reason:
        raise Problem(409, reason[:1].upper() + reason[1:], "Choose another format.")
    path = file_of(found, f"exports/{kind}")
    return FileResponse(path, filename=f"{_file_name(found)}{EXPORT_SUFFIXES[kind]}", media_type="text/plain")


def _file_name(job: Running) -> str:
    """A name for what is saved, of plain letters only, from what the table is called."""
    stem = job.name.rsplit(".", 1)[0].lower()
    return re.sub(r"[^a-z0-9]+", "-", stem)[:40].strip("-") or "graph"


def result_of(job: Running) -> dict[str, Any]:
    """The result of a job; a sentence where there is none."""
    path = file_of(job, "result.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def file_of(job: Running, name: str) -> Path:
    """A file of a job that is done."""
    if job.state != "done":
        words = {"waiting": "is still waiting", "running": "still runs", "failed": "has failed"}
        advice = (job.failure or {}).get("error", "") if job.state == "failed" else ""
        raise Problem(409, f"The job {words.get(job.state, 'was cancelled')}, so that there is no result.", advice)
    path = job.folder / name
    if not path.is_file():
        raise Problem(404, "The job left no such file.", "")
    return path
