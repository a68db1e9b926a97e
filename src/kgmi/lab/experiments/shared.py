"""What the experiments of the laboratory share. Nothing here or in them loads PyTorch before a run."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.paper.experiment import Numbers, Run
from kgmi.paper.settings import Settings, setting

if TYPE_CHECKING:
    from kgmi.lab.tasks import Task
    from kgmi.lab.training import Trained, Training

__all__ = [
    "NICHANI",
    "PAPER",
    "LabSettings",
    "at_end",
    "numbers_of",
    "random_forest",
    "shown_range",
    "speed_of",
    "train_in_context",
]

PAPER = "The paper"
NICHANI = "Nichani, Damian and Lee (2024)"


@dataclass(frozen=True, kw_only=True)
class LabSettings(Settings):
    """Settings of most experiments of the laboratory."""

    unused: ClassVar[tuple[str, ...]] = ("eps_attn", "eta")
    device: str = setting("auto", "Where to train: cpu, cuda, or auto (cuda where there is one).")
    steps: int = setting(4_000, "Training steps.", 1, 10_000_000)
    batch: int = setting(256, "Sequences of a step.", 1, 1_000_000)
    rate: float = setting(1e-3, "Learning rate.", 1e-8, 1e6)
    seeds: int = setting(10, "Replicas with their own initial weights and sequences.", 1, 1_000)

    def validate(self) -> None:
        """Read graph and kernel, and make sure that PyTorch is there."""
        super().validate()
        if find_spec("torch") is None:
            raise SettingError("the laboratory trains models with PyTorch: pip install 'kgmi[lab]'")
        if self.device not in ("auto", "cpu", "cuda"):
            raise SettingError(f"device must be auto, cpu or cuda, got {self.device!r}")
        self.where()

    def where(self) -> str:
        """The device to train on."""
        import torch

        there = torch.cuda.is_available()
        if self.device == "cuda" and not there:
            raise SettingError("PyTorch finds no GPU here; set device=cpu")
        return ("cuda" if there else "cpu") if self.device == "auto" else self.device


def numbers_of(trained: Trained) -> Numbers:
    """Steps, measures and levels of a trained model as plain numbers."""
    from kgmi.lab.training import plain

    record = trained.record
    kept = {"steps": record.steps, "measures": record.measures, "floor": record.floor, "about": record.about}
    return dict(plain(kept))


def train_in_context(task: Task, how: Training, run: Run) -> Trained:
    """Train the disentangled transformer with one head in each of two layers by SGD, from zero."""
    from kgmi.lab import DisentangledTransformer, train

    return train(
        task,
        lambda task: DisentangledTransformer(task.n_states, task.length, (1, 1)),
        "label",
        "sgd",
        training=how,
        seed=run.seed,
        progress=lambda step, steps, record: run.tell(0.9 * step / steps, f"step {step:,}"),
    )


def at_end(numbers: Numbers, name: str) -> Any:
    """Values of a measure at the end, by replica; NaN where not known."""
    return np.array(numbers["measures"][name][-1], dtype=float)


def speed_of(*runs: Numbers) -> str:
    """Device, time and tokens per second of training runs."""
    seconds = sum(run["about"]["seconds"] for run in runs)
    rates = [run["about"]["tokens_per_second"] for run in runs if run["about"]["tokens_per_second"]]
    fast = f", {max(rates):,.0f} tokens a second at most" if rates else ""
    return f"Training took {seconds:,.1f} s on {runs[0]['about']['device']}{fast}."


def shown_range(values: Any, digits: int = 3) -> str:
    """Mean and range of several numbers."""
    known = np.array(values, dtype=float).ravel()
    if known.size == 1:
        return f"{known[0]:.{digits}f}"
    return f"{known.mean():.{digits}f} ({known.min():.{digits}f} to {known.max():.{digits}f})"


def random_forest(n_nodes: int, rng: np.random.Generator) -> Dag:
    """A forest in which each node draws its parent uniformly from «none» and the nodes before it."""
    drawn = [int(rng.integers(-1, node)) for node in range(n_nodes)]
    return Dag([() if parent < 0 else (parent,) for parent in drawn])
