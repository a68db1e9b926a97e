"""The addresses of the laboratory: start a training, follow its record, cancel it."""

from __future__ import annotations

from fastapi import APIRouter

from kgmi.web.hub import TheHub
from kgmi.web.models import Failure, Removed
from kgmi.web.trainings import Training, Wanted

__all__ = ["router"]

router = APIRouter(prefix="/api/lab", tags=["laboratory"], responses={422: {"model": Failure}})


@router.post("", status_code=201)
async def start(wanted: Wanted, hub: TheHub) -> Training:
    """Train a model: it runs in a process of its own, within the limits of a job.

    Example: curl --json '{"model": "paper", "objective": "kgmi"}' http://127.0.0.1:8765/api/lab
    """
    return hub.trainings.shown(hub.trainings.add(wanted))


@router.get("/{key}")
async def status(key: str, hub: TheHub) -> Training:
    """Where a training stands: its record so far is for drawing."""
    return hub.trainings.shown(hub.trainings.get(key))


@router.post("/{key}/cancel")
async def cancel(key: str, hub: TheHub) -> Removed:
    """End a training at once, with its process."""
    one = hub.trainings.get(key)
    if one.work is not None:
        one.work.cancel()
    return Removed(removed=key)
