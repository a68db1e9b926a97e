"""The addresses under /api: tables, jobs and their events, results and comparisons."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response, StreamingResponse

from kgmi.memory import shown_bytes
from kgmi.version import __version__
from kgmi.web.differences import differences
from kgmi.web.downloads import result_of
from kgmi.web.events import job_events
from kgmi.web.gallery import GALLERY
from kgmi.web.hub import TheHub
from kgmi.web.models import (
    Comparison,
    Described,
    ExampleOffer,
    Failure,
    Fit,
    Guide,
    Job,
    Jobs,
    Limits,
    Removed,
    Result,
    Tab,
)
from kgmi.web.problems import Problem
from kgmi.web.settings import shown_seconds

__all__ = ["router"]

_SAID: dict[str, str] = {  # as the page calls the guides
    "likelihood": "likelihood",
    "contextual": "contextual mutual information",
    "stationary": "KG-MI",
    "uniform": "KG-MI with a uniform law",
    "plain": "plain mutual information",
}

_WRONG: dict[int | str, dict[str, Any]] = {
    400: {"model": Failure, "description": "The request cannot be read."},
    422: {"model": Failure, "description": "What is wrong with the request."},
}
_GONE: dict[int | str, dict[str, Any]] = {404: {"model": Failure, "description": "There is nothing of that id."}}

_NOT_SO: dict[int | str, dict[str, Any]] = {
    409: {"model": Failure, "description": "It cannot be had as it stands."}
}

router = APIRouter(prefix="/api", responses=_WRONG)


@router.get("/limits", tags=["server"])
async def limits(hub: TheHub) -> Limits:
    """What may be sent and what a job may take on this server."""
    settings = hub.settings
    return Limits(
        version=__version__,
        upload_bytes=settings.upload_bytes,
        upload=shown_bytes(settings.upload_bytes),
        memory=shown_bytes(settings.memory_bytes),
        seconds=settings.seconds,
        time=shown_seconds(settings.seconds),
        most_cells=settings.most_cells,
        most_columns=settings.most_columns,
    )


@router.get("/examples", tags=["tables"])
async def examples() -> list[ExampleOffer]:
    """Examples to begin with; their keys are ids of tables."""
    return [
        ExampleOffer(
            key=key,
            title=exhibit.title,
            story=exhibit.story,
            guides=list(exhibit.guides),  # type: ignore[arg-type]  # the gallery names guides only
            suggested=exhibit.suggested,
        )
        for key, exhibit in GALLERY.items()
    ]


@router.post(
    "/tables",
    status_code=201,
    tags=["tables"],
    responses={
        408: {"model": Failure, "description": "Nothing more came for too long."},
        413: {"model": Failure, "description": "The file is too large."},
        415: {"model": Failure, "description": "It is not a table."},
        429: {"model": Failure, "description": "Too many tables are being sent."},
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "The bytes of the file.",
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def upload(
    request: Request,
    hub: TheHub,
    name: Annotated[str, Query(description="Name of the file; it is shown, never used as a path.", max_length=300)],
) -> Described:
    """Send a table: CSV, TSV (also gzipped), Parquet, Feather, Arrow or .npy. The body is the file itself.

    Example: curl --data-binary @table.csv 'http://127.0.0.1:8765/api/tables?name=table.csv'
    """
    return Described(**await hub.tables.add(name, request.stream()))


@router.get("/tables/{table}", tags=["tables"], responses=_GONE)
async def describe(table: str, hub: TheHub) -> Described:
    """Describe a table or an example: its first rows, its columns, and what preparing it would do."""
    return Described(**await hub.tables.describe(table))


@router.delete("/tables/{table}", tags=["tables"], responses=_GONE | _NOT_SO)
async def forget_table(table: str, hub: TheHub) -> Removed:
    """Forget a table; jobs that learn from it go on."""
    hub.tables.remove(table)
    return Removed(removed=table)


@router.post(
    "/jobs",
    status_code=201,
    tags=["jobs"],
    responses=_GONE | {429: {"model": Failure, "description": "Too many jobs are waiting."}},
)
async def start(fit: Fit, hub: TheHub) -> Job:
    """Learn a graph: the job waits for its turn and then runs in a process of its own.

    Example: curl --json '{"table": "paper", "parents": 2}' http://127.0.0.1:8765/api/jobs
    """
    return hub.jobs.shown(hub.jobs.add(fit, hub.tables.get(fit.table)))


@router.get("/jobs", tags=["jobs"])
async def of_tab(tab: Annotated[Tab, Query(description="As it was given with the jobs.")], hub: TheHub) -> Jobs:
    """List the jobs of a tab, the newest first. Those of others are known to who knows their ids only."""
    return Jobs(jobs=[hub.jobs.shown(job) for job in hub.jobs.of_tab(tab)])


@router.get("/jobs/{job}", tags=["jobs"], responses=_GONE)
async def status(job: str, hub: TheHub) -> Job:
    """Where a job stands."""
    return hub.jobs.shown(hub.jobs.get(job))


@router.post("/jobs/{job}/cancel", tags=["jobs"], responses=_GONE)
async def cancel(job: str, hub: TheHub) -> Job:
    """End a job at once, with its process; one that is over stays as it is."""
    return hub.jobs.shown(hub.jobs.cancel(job))


@router.delete("/jobs/{job}", tags=["jobs"], responses=_GONE)
async def forget_job(job: str, hub: TheHub) -> Removed:
    """Forget a job and its result; it is ended first."""
    hub.jobs.remove(job)
    return Removed(removed=job)


@router.get(
    "/events",
    tags=["jobs"],
    responses=_GONE
    | {
        200: {
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
            "description": "Events of type job.",
        },
        204: {"description": "All jobs are over, and their last events were seen."},
    },
    response_class=StreamingResponse,
)
async def events(
    job: Annotated[list[str], Query(description="Ids of the jobs to follow.", min_length=1, max_length=20)],
    hub: TheHub,
    last_event_id: Annotated[str | None, Header(description="Number of the last event that was seen.")] = None,
) -> Response:
    """Follow jobs (server-sent events): each event has the whole state of one of them, as /api/jobs/{job} gives it.

    The stream begins with the present state and ends when all are over; a line comes at least every ten seconds.
    """
    last = last_event_id or ""
    seen = int(last) if last.isdecimal() and len(last) < 16 else 0
    followed = [hub.jobs.get(key) for key in dict.fromkeys(job)]
    if all(one.is_over and one.number <= seen for one in followed):
        return Response(status_code=204)  # a browser does not ask again after this
    return StreamingResponse(job_events(hub.jobs, followed, seen), media_type="text/event-stream")


@router.get("/jobs/{job}/result", tags=["results"], responses=_GONE | _NOT_SO)
async def result(job: str, hub: TheHub) -> Result:
    """What a job found: the graph and all that the page shows of it."""
    return Result(**result_of(hub.jobs.get(job)))


@router.get("/compare", tags=["results"], responses=_GONE | _NOT_SO)
async def compare(
    job: Annotated[
        list[str], Query(description="Ids of two or more jobs that are done.", min_length=2, max_length=6)
    ],
    hub: TheHub,
) -> Comparison:
    """How the graphs of several jobs differ, in words and edge by edge."""
    jobs = [hub.jobs.get(key) for key in dict.fromkeys(job)]
    if len(jobs) < 2:
        raise Problem(422, "A comparison needs two different jobs.")
    labels = _labels({one.id: one.fit.guide for one in jobs})
    return Comparison(**differences(labels, {one.id: result_of(one) for one in jobs}))


def _labels(guides: dict[str, Guide]) -> dict[str, str]:
    """What jobs are called: by their guides, and by numbers too where these are the same."""
    if len(set(guides.values())) == len(guides):
        return {key: _SAID[guide] for key, guide in guides.items()}
    return {key: f"job {place} ({_SAID[guide]})" for place, (key, guide) in enumerate(guides.items(), 1)}
