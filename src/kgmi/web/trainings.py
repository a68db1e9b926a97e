"""Trainings of the laboratory: each in a process of its own, which writes its record at every look."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from kgmi.web.models import Failure
from kgmi.web.problems import Problem, unexpected
from kgmi.web.process import Failed, run_task
from kgmi.web.settings import WebSettings
from kgmi.web.tables import new_folder

__all__ = ["Training", "Trainings", "Wanted", "train_in"]

_MOST_KEPT = 10
_GRAPHS = {"paper": "paper", "paper5": "paper5", "chain2": "chain:10,2"}


class Wanted(BaseModel):
    """What to train, and how."""

    model_config = ConfigDict(extra="forbid", str_max_length=40)

    graph: Literal["paper", "paper5", "chain2"] = Field("paper", description="The graph that the sequences follow.")
    model: Literal["paper", "paper-full", "paper-readout", "decoder"] = Field("paper", description="The model.")
    objective: Literal["kgmi", "kgmi-minibatch", "kgmi-labelled", "mi", "next-token", "masked-token"] = Field(
        "kgmi", description="What is trained on."
    )
    optimiser: Literal["gd", "sgd", "momentum", "adam"] = Field("gd", description="The optimiser.")
    rate: float = Field(10.0, gt=0, le=1e4, description="Learning rate.")
    steps: int = Field(1_000, ge=10, le=20_000, description="Training steps.")
    seed: int = Field(0, ge=0, le=2**31, description="Seed of weights and sequences.")


class Training(BaseModel):
    """Where a training stands, and its record so far."""

    id: str
    state: Literal["running", "done", "failed", "cancelled"]
    wanted: Wanted
    parents: list[list[int]] = Field(description="The parents of every node of the true graph.")
    record: dict[str, Any] | None = Field(None, description="As kgmi.lab.Record saves it.")
    failure: Failure | None = None


@dataclass(eq=False)
class _One:
    folder: Path
    wanted: Wanted
    state: Literal["running", "done", "failed", "cancelled"] = "running"
    failure: dict[str, str] | None = None
    work: asyncio.Task[None] | None = None


class Trainings:
    """All trainings of a server, one at a time."""

    def __init__(self, root: Path, settings: WebSettings) -> None:
        self._root, self._settings = root, settings
        self._all: dict[str, _One] = {}

    def add(self, wanted: Wanted) -> _One:
        """Start a training, unless one is running."""
        if find_spec("torch") is None:
            raise Problem(
                409, "PyTorch is not installed.", "Run pip install 'kgmi[lab]' and start kgmi serve again."
            )
        if any(one.state == "running" for one in self._all.values()):
            raise Problem(429, "A training is running.", "Wait until it is done, or cancel it.")
        for key in list(self._all)[: len(self._all) - _MOST_KEPT + 1]:
            del self._all[key]
        one = _One(new_folder(self._root), wanted)
        self._all[one.folder.name] = one
        one.work = asyncio.create_task(self._run(one))
        return one

    def get(self, key: str) -> _One:
        """A training by its id."""
        if key not in self._all:
            raise Problem(404, "There is no such training here.", "Start it again.")
        return self._all[key]

    def shown(self, one: _One) -> Training:
        """A training as the page draws it."""
        from kgmi.specs import read_graph

        path = one.folder / "record.json"
        record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
        return Training(
            id=one.folder.name,
            state=one.state,
            wanted=one.wanted,
            parents=[list(parents) for parents in read_graph(_GRAPHS[one.wanted.graph]).parents],
            record=record,
            failure=None if one.failure is None else Failure(**one.failure),
        )

    async def close(self) -> None:
        """End what is running."""
        works = [one.work for one in self._all.values() if one.work is not None and not one.work.done()]
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)

    async def _run(self, one: _One) -> None:
        task = {"kind": "lab", "name": "the laboratory", "wanted": one.wanted.model_dump()}
        try:
            await run_task(one.folder, task, self._settings, self._settings.seconds)
            one.state = "done"
        except asyncio.CancelledError:
            one.state = "cancelled"
            raise
        except Failed as failure:
            one.failure, one.state = failure.content, "failed"
        except Exception as error:  # noqa: BLE001  # one training must not end the server
            one.failure, one.state = {k: str(v) for k, v in unexpected(error).content.items()}, "failed"


def train_in(folder: Path, wanted: dict[str, Any]) -> None:
    """Train what is wanted; the record lies in the folder and is written anew at every look."""
    from kgmi.kernel import Kernel
    from kgmi.lab import Training as How
    from kgmi.lab import train
    from kgmi.process import Process
    from kgmi.progress import tell
    from kgmi.specs import read_graph

    process = Process(read_graph(_GRAPHS[wanted["graph"]]), Kernel.paper())

    def look(step: int, steps: int, record: Any) -> None:
        record.save(folder / "record.json")
        tell("training", step, steps, "steps")

    how = How(steps=wanted["steps"], rate=wanted["rate"], rows=1_024)
    chosen = {name: wanted[name] for name in ("model", "objective", "optimiser", "seed")}
    train(process, **chosen, training=how, progress=look)
