"""Objectives: KG-MI from exact laws, counts or minibatches, plain mutual information, and cross-entropy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from kgmi.counts.bits import count_pairs
from kgmi.divergence import Divergence
from kgmi.errors import DataError, SettingError
from kgmi.exact import exact_joint
from kgmi.guides import scores
from kgmi.guides.labelled import count_labelled, labelled_scores
from kgmi.kernel import KernelSampler
from kgmi.lab.models import Output
from kgmi.lab.tasks import Batch, Task
from kgmi.process import Process
from kgmi.sampling import LabelledRows, code_type
from kgmi.types import Floats, ScoreTable

__all__ = [
    "CrossEntropy",
    "Information",
    "Objective",
    "Source",
    "WeightedSum",
    "exact_scores",
    "in_kgmi_axes",
    "of_children",
]

Source: TypeAlias = Literal["exact", "rows", "minibatch", "labelled"]
_N_KERNELS = 16  # draws of a random kernel over which an exact score is averaged


class Objective(Protocol):
    """A loss to minimise.

    ``output`` is in kgmi's axes: logits [replica, row, target, state], and for the first layer attention [replica,
    row, head, child, candidate]. The result is one loss for each replica. An objective may have the attributes
    ``needs_rows`` (False: it looks at the attention only), ``soft`` (True: it takes the laws of the targets, not
    the states that were drawn) and ``capturable`` (True: it stays on the device, so that a CUDA graph can hold it).
    """

    def __call__(self, output: Output, batch: Batch) -> Tensor:
        """Return the loss of each replica."""
        ...


def in_kgmi_axes(output: Output, batch: Batch, n_nodes: int, shift: int, attention_shift: int) -> Output:
    """Put logits at their targets, and attention of the first layer at [child, candidate].

    Query i predicts token i + ``shift``, and its attention belongs to the child i + ``attention_shift``.
    """
    logits = output.logits
    if logits.shape[2] > 1 and logits.shape[3]:
        place = (batch.child - shift)[..., None].expand(-1, -1, -1, logits.shape[-1])
        logits = logits.gather(2, place)
    attention = of_children(output.attention[0], n_nodes, attention_shift)
    return Output(logits, (attention, *output.attention[1:]), output.scores)


def of_children(values: Tensor, n_nodes: int, shift: int) -> Tensor:
    """[…, query, key] as […, child, candidate]: rows moved by ``shift``, cut or filled with zeros to n_nodes."""
    length = values.shape[-1]
    padded = functional.pad(values, (0, max(n_nodes - length, 0), shift, max(n_nodes - length - shift, 0)))
    return padded[..., :n_nodes, :n_nodes]


class Information:
    """Minus the paper's objective 1/(HT) Σ Ĩ^ℓ(S_i; S_j) attn^ℓ[i, j], averaged over rows.

    Parameters
    ----------
    task
        Whose replicas are trained.
    n_heads
        Number of heads H; head h has the kernel of parent h mod K.
    divergence, guide
        As in :func:`kgmi.scores`: ``stationary`` is KG-MI, ``plain`` is mutual information.
    source
        ``exact``: population laws. ``rows``: counts of ``n_rows`` sequences, drawn once. ``minibatch``: counts of
        each batch. ``labelled``: the paper's χ² estimator of each batch; the task must predict labels.
    n_rows, seed, smoothing
        Of ``rows``; pseudo-rows keep scores from counts finite.
    """

    soft = False

    def __init__(
        self,
        task: Task,
        n_heads: int,
        *,
        divergence: str | Divergence = "kl",
        guide: str = "stationary",
        source: Source = "exact",
        n_rows: int = 10_000,
        seed: int = 0,
        smoothing: float = 1.0,
    ) -> None:
        if source not in get_args(Source):
            raise SettingError(f"source must be one of {', '.join(get_args(Source))}, got {source!r}")
        if source == "labelled" and task.predicts != "label":
            raise SettingError("the labelled estimator needs sequences with labels: Task(process, 'label')")
        if source == "minibatch" and task.predicts not in ("next", "label"):
            raise SettingError("KG-MI of a minibatch needs whole sequences: Task(process, 'next') or 'label'")
        if source in ("rows", "minibatch") and task.in_context:
            raise SettingError("counts of rows need one kernel for all sequences; use source='exact' or 'labelled'")
        self._task, self._heads = task, np.arange(n_heads) % task.n_parents
        self._divergence, self._guide, self._smoothing = divergence, guide, smoothing
        self._source, self.needs_rows = source, source in ("minibatch", "labelled")
        self.capturable, self.needs_labels = not self.needs_rows, source == "labelled"
        if source == "exact":
            self._keep(np.stack([exact_scores(one, divergence, guide) for one in task.processes]))
        elif source == "rows":
            self._keep(self._counted(task.rows(seed, n_rows)))

    def __call__(self, output: Output, batch: Batch) -> Tensor:
        """Return minus the objective of each replica."""
        if self._source == "minibatch":
            self._keep(self._counted(batch.tokens[..., : self._task.n_nodes]))
        elif self._source == "labelled":
            self._keep(self._labelled(batch))
        attention = output.attention[0]
        n_heads, n_nodes = self.table.shape[1:3]
        return -(attention.mean(1) * self.table.to(attention.dtype)).sum((1, 2, 3)) / (n_heads * n_nodes)

    def _keep(self, table: Floats) -> None:
        """Keep scores [replica, head, child, candidate] on the device, zero where a candidate is not allowed."""
        if np.isinf(table).any():
            raise DataError("a score is infinite: a pair of states never occurs together; use divergence='pearson'")
        self.table = torch.as_tensor(np.nan_to_num(table[:, self._heads])).to(self._task.device)

    def _counted(self, tokens: Tensor) -> ScoreTable:
        """[replica, head, child, candidate] from the counts of rows."""
        codes = tokens.cpu().numpy().astype(code_type(self._task.n_states))
        found = []
        for process, rows in zip(self._task.processes, codes, strict=True):
            counts = count_pairs(rows, process.n_states)
            kernel = process.fixed_kernel()
            given = {"smoothing": self._smoothing, "n_heads": kernel.n_parents}
            found.append(scores(counts, kernel, self._divergence, self._guide, **given))  # type: ignore[arg-type]
        return np.stack(found)

    def _labelled(self, batch: Batch) -> ScoreTable:
        """[replica, head, child, candidate] by the paper's estimator."""
        n_nodes = self._task.n_nodes
        codes = batch.tokens.cpu().numpy().astype(code_type(self._task.n_states))
        labels = batch.law[:, :, 0].argmax(-1).cpu().numpy().astype(codes.dtype)
        found = []
        for rows, label in zip(codes, labels, strict=True):
            labelled = LabelledRows(rows[:, :n_nodes], rows[:, n_nodes:], label)
            found.append(labelled_scores(count_labelled(labelled, self._task.n_states, kappa=0.0)))
        return np.stack(found)


class CrossEntropy:
    """Cross-entropy of the predicted tokens, in nats."""

    needs_rows = capturable = True

    def __init__(self, *, soft: bool = False) -> None:
        self.soft = soft

    def __call__(self, output: Output, batch: Batch) -> Tensor:
        """Return the mean loss of each replica over rows and targets."""
        if not output.logits.shape[-1]:
            raise SettingError("cross-entropy needs a model that predicts, such as paper-readout or decoder")
        logs = torch.log_softmax(output.logits, dim=-1)
        losses = -(batch.law.to(logs.dtype) * logs).sum(-1).mean(1)
        return (losses * batch.weight.to(logs.dtype)).sum(-1)


class WeightedSum:
    """Several objectives, each times a weight: for an auxiliary loss."""

    needs_rows = True
    soft = False

    def __init__(self, weights: Mapping[Objective, float]) -> None:
        self._weights = dict(weights)
        self.capturable = all(getattr(one, "capturable", False) for one in weights)

    def __call__(self, output: Output, batch: Batch) -> Tensor:
        """Return the weighted sum for each replica."""
        return torch.stack([weight * one(output, batch) for one, weight in self._weights.items()]).sum(0)


def exact_scores(process: Process, divergence: str | Divergence = "kl", guide: str = "stationary") -> Floats:
    """Scores [head, child, candidate] of the exact law; a sampled kernel is replaced by a few draws."""
    kernel = process.kernel
    if isinstance(kernel, KernelSampler):
        kernel = kernel.finite(_N_KERNELS, 0)
    joint = exact_joint(Process(process.dag, kernel, process.degree_kernels))
    return scores(joint, kernel, divergence, guide, n_heads=kernel.n_parents)
