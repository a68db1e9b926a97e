"""Losses of predictors that know the graph: what a trained model can reach, and what one parent gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from kgmi.exact import exact_joint, exact_parent_laws
from kgmi.kernel import DirichletKernels, FiniteKernels
from kgmi.lab.tasks import Batch, Predicts, Task
from kgmi.process import Process
from kgmi.types import Floats

__all__ = ["Floor", "bayes"]

_FACTORS = torch.linspace(0, 12, 121)  # tried as the scale of the construction's logits


@dataclass(frozen=True, eq=False)
class Floor:
    """Losses of predictors that know the graph, in nats for each predicted token, by replica.

    Attributes
    ----------
    bayes
        The Bayes predictor. For kernels from a Dirichlet law it is the posterior mean of the transition counts
        along the true parents, which leaves out what the roots say about the kernel. NaN where it is not known.
    one_parent
        The best predictor from one earlier node. For random kernels: counts along one of the true parents.
    construction
        The two-layer transformer that Nichani et al. construct, in its limit: logits proportional to the relative
        frequencies of states after the same parents, with the best factor. NaN for a fixed kernel.
    exact
        Whether the first two are computed from exact laws, and not from sampled sequences.
    """

    bayes: Floats
    one_parent: Floats
    construction: Floats
    exact: bool


def bayes(task: Task, rng: int = 0, n_rows: int = 4_096) -> Floor:
    """Compute losses of predictors that know the graph: exact for a fixed kernel, else from sampled sequences."""
    nan = np.full(task.n_replicas, np.nan)
    if task.predicts == "masked":
        return Floor(nan if task.in_context else _masked(task, rng, n_rows), nan, nan, False)
    if not task.in_context:
        both = np.array([_exact(process, task.predicts) for process in task.processes])
        return Floor(both[:, 0], both[:, 1], nan, True)
    if task.predicts != "label" and bool((task.children & ~task.full).any()):
        return Floor(nan, nan, nan, False)  # several kernels would have to be inferred
    return _counted(task, task.sample(rng, n_rows))


def _exact(process: Process, predicts: Predicts) -> tuple[float, float]:
    """Entropy of the targets given their parents, and given the best single earlier node."""
    if predicts == "label":
        kernel = process.fixed_kernel()
        cells = kernel.table.reshape(-1, kernel.n_states)
        alone = [_entropy(one / len(one)) - np.log(len(one)) for one in kernel.uniform_marginal_kernels]
        return _entropy(cells / len(cells)) - np.log(len(cells)), min(alone)
    laws = exact_parent_laws(process)
    pairs = exact_joint(process).joint
    both = []
    for child in laws if predicts == "next" else [process.n_nodes - 1]:
        law = laws[child][..., None] * process.kernel_of_degree(laws[child].ndim).table
        alone = [_entropy(pairs[child, j]) - _entropy(pairs[child, j].sum(0)) for j in range(child)]
        both.append((_entropy(law) - _entropy(laws[child]), min(alone)))
    best, one = np.mean(both, axis=0)
    return float(best), float(one)


def _counted(task: Task, batch: Batch) -> Floor:
    """Losses of predictors that count, in the sequence itself, what followed the same states of the parents."""
    tail = task.length - task.n_nodes if task.predicts == "label" else 0
    tokens = batch.tokens[..., : task.n_nodes]
    given = task.parents_of(tokens)
    if task.predicts == "label":
        asked = batch.tokens[..., None, -tail:]
    elif task.predicts == "last":
        asked = task.parents_of(functional.pad(tokens, (0, 1)))[:, :, -1:]
    else:
        asked = given[:, :, 1:]
    n_nodes, child = tokens.shape[-1], batch.child[0, 0]
    before = torch.arange(n_nodes, device=child.device) < child[:, None]  # [target, node]
    same = asked[:, :, :, None] == given[:, :, None]  # [replica, row, target, node, K]
    same &= (task.full[:, None, :n_nodes] & before)[:, None, :, :, None]
    states = functional.one_hot(tokens, task.n_states).to(batch.law.dtype)
    priors = [process.kernel for process in task.processes]
    alphas = [one.concentration if isinstance(one, DirichletKernels) else 1.0 for one in priors]
    alpha = torch.tensor(alphas, device=child.device)[:, None, None, None]

    def posterior(match: Tensor) -> Tensor:
        counts = match.to(states.dtype) @ states + alpha
        return _loss(batch, counts.log() - counts.sum(-1, keepdim=True).log())

    every = same.all(-1)
    known = all(isinstance(one, DirichletKernels) for one in priors)
    best = posterior(every) if known else _mixture(task, batch, tokens, asked)
    alone = torch.stack([posterior(same[..., head]) for head in range(task.n_parents)]).min(0).values
    match = torch.where(every.any(-1, keepdim=True), every, before).to(states.dtype)  # no match: all positions
    frequency = match @ states / match.sum(-1, keepdim=True).clamp(min=1)
    curve = torch.stack([_loss(batch, torch.log_softmax(float(c) * frequency, -1)) for c in _FACTORS])
    return Floor(_array(best), _array(alone), _array(curve.min(0).values), False)


def _mixture(task: Task, batch: Batch, tokens: Tensor, asked: Tensor) -> Tensor:
    """Loss of the mixture of a finite set of kernels, weighted by what the sequence so far says about each."""
    cell = (asked * task.strides).sum(-1)  # [replica, row, target]
    losses = []
    for number, (process, tables) in enumerate(zip(task.processes, task.fixed, strict=True)):
        if tables is None or not isinstance(process.kernel, FiniteKernels):
            return torch.full((task.n_replicas,), torch.nan)
        logs, laws = [], []
        for table, weight in zip(tables, process.kernel.weights, strict=True):
            every = table[None, None].expand(task.n_replicas, 1, -1, -1, -1)
            seen = functional.pad(task.likelihoods(every, tokens)[number].cumsum(-1), (1, 0))
            logs.append(seen[:, batch.child[0, 0].clamp(max=tokens.shape[-1])] + np.log(weight))
            laws.append(table[-1][cell[number]])
        share = torch.softmax(torch.stack(logs), 0)[..., None]
        one = Batch(*(part[number : number + 1] for part in batch))
        losses.append(_loss(one, (share * torch.stack(laws)).sum(0)[None].log())[0])
    return torch.stack(losses)


def _masked(task: Task, rng: int, n_rows: int) -> Floats:
    """Loss of P(S_i | all others), by trying every state in the place of the masked one."""
    batch = task.sample(rng, n_rows)
    tables = torch.stack([fixed for fixed in task.fixed if fixed is not None])
    logs = [
        task.likelihoods(tables, torch.where(batch.tokens == task.n_states, state, batch.tokens)).sum(-1)
        for state in range(task.n_states)
    ]
    return _array(_loss(batch, torch.log_softmax(torch.stack(logs, dim=-1), -1)[:, :, None]))


def _loss(batch: Batch, log_prediction: Tensor) -> Tensor:
    """[replica]: mean of −Σ law · log prediction over rows and targets, with 0 · log 0 = 0."""
    terms = torch.where(batch.law > 0, batch.law * log_prediction, torch.zeros_like(batch.law))
    return -(terms.sum(-1).mean(1) * batch.weight).sum(-1)


def _entropy(law: Floats) -> float:
    positive = law[law > 0]
    return float(-(positive * np.log(positive)).sum())


def _array(values: Tensor) -> Floats:
    return np.asarray(values.double().cpu())
