"""Tasks: sequences of a process, drawn on the device, and what is to be predicted of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from kgmi.errors import SettingError
from kgmi.kernel import DirichletKernels, FiniteKernels, Kernel, KernelSampler
from kgmi.process import Process

__all__ = ["Batch", "Predicts", "Task", "seeded"]

Predicts: TypeAlias = Literal["next", "last", "label", "masked"]
_TINY = 1e-30  # added to drawn probabilities, so that a chain has one stationary law


class Batch(NamedTuple):
    """Sequences and what is to be predicted of them, for several replicas at once.

    Attributes
    ----------
    tokens
        [replica, row, position]: the input.
    child
        [replica, row, target]: the number of each token to predict.
    law
        [replica, row, target, state]: its law, or 1 at the state that was drawn.
    weight
        [replica, target]: weight of each target in the loss; the weights of a replica sum to one.
    """

    tokens: Tensor
    child: Tensor
    law: Tensor
    weight: Tensor


class Task:
    """Sequences of one process, or of several with equal sizes, one for each replica.

    Parameters
    ----------
    process
        A process, or one for each replica. Its kernel is fixed, or drawn anew for every sequence (finite law,
        sampler, :class:`kgmi.kernel.DirichletKernels`): then it has to be inferred in context.
    predicts
        ``next``: every node with parents, from the nodes before it. ``last``: the last node. ``label``: sequences
        with the labelled tail of appendix C-B, K uniform tokens and one token drawn given them, which is predicted.
        ``masked``: one node with parents, from all others.
    replicas
        Number of replicas, where one process is given.
    uniform_roots
        Draw roots uniformly rather than from the stationary law.
    device
        Where sequences are drawn.
    """

    def __init__(
        self,
        process: Process | Sequence[Process],
        predicts: Predicts = "next",
        *,
        replicas: int = 1,
        uniform_roots: bool = False,
        device: str | torch.device = "cpu",
    ) -> None:
        if predicts not in get_args(Predicts):
            raise SettingError(f"predicts must be one of {', '.join(get_args(Predicts))}, got {predicts!r}")
        self.processes = (process,) * replicas if isinstance(process, Process) else tuple(process)
        if not self.processes:
            raise SettingError("a task needs at least one process and one replica")
        first = self.processes[0]
        self.n_nodes, self.n_states, self.n_parents = first.n_nodes, first.n_states, first.kernel.n_parents
        for one in self.processes:
            if (one.n_nodes, one.n_states, one.kernel.n_parents) != (self.n_nodes, self.n_states, self.n_parents):
                raise SettingError("the processes of a task must have equal numbers of nodes, states and parents")
            if predicts == "last" and not one.dag.parents[-1]:
                raise SettingError("predicts='last' needs a last node with parents")
            if not one.dag.n_edges:
                raise SettingError("the laboratory needs a graph with edges: without them no attention is right")
            in_order = one.dag.order == tuple(range(one.n_nodes))
            if not in_order or any(list(block) != sorted(block) for block in one.dag.root_blocks):
                raise SettingError(
                    "the laboratory draws and reads nodes by number: number parents before children "
                    "(kgmi.Dag.renumbered), and list each root block in order"
                )
        kinds = {(isinstance(one.kernel, KernelSampler), isinstance(one.kernel, Kernel)) for one in self.processes}
        if len(kinds) > 1:
            raise SettingError("the kernels of a task must all be fixed, all be finite laws or all be samplers")
        if uniform_roots and isinstance(first.kernel, Kernel):
            raise SettingError(
                "uniform_roots is for random kernels; give a fixed one its law: Kernel(table, parent_law)"
            )
        self.predicts, self.uniform_roots, self.device = predicts, uniform_roots, torch.device(device)
        self.in_context = not isinstance(first.kernel, Kernel)
        self._given, self._kind = (part.to(self.device) for part in _wiring(self.processes, self.n_parents))
        self.strides = torch.tensor([self.n_states**k for k in range(self.n_parents)][::-1], device=self.device)
        self.children = self._kind >= self.n_parents  # [replica, node]: whether it has parents
        self.full = self._kind == 2 * self.n_parents - 1  # the same: whether it has all K of them
        self.fixed = [
            None if isinstance(one.kernel, KernelSampler) else self._with_roots(_tables_of(one)).to(self.device)
            for one in self.processes
        ]  # by replica [kernel, kind, states of the given nodes, state], where the kernels are known

    @property
    def n_replicas(self) -> int:
        """Number of replicas."""
        return len(self.processes)

    @property
    def length(self) -> int:
        """Number of tokens of the input."""
        return self.n_nodes + {"label": self.n_parents, "last": -1}.get(self.predicts, 0)

    def sample(self, rng: int | None, batch: int, *, soft: bool = True) -> Batch:
        """Draw ``batch`` sequences for each replica, from a seed or with the present generator of PyTorch.

        ``soft``: the law of a target is that of the process, which has less variance than the state that was drawn.
        """
        with seeded(rng, self.device):
            tables = self._tables(batch)
            tokens, laws = self._draw(tables, batch)
            everyone = (self.n_replicas, batch)
            if self.predicts == "label":
                tail = torch.randint(self.n_states, (*everyone, self.n_parents), device=self.device)
                law = self._rows(tables, torch.full_like(self._kind[:, 0], 2 * self.n_parents - 1), tail)
                return self._one_target(torch.cat([tokens, tail], dim=-1), self.length, law, soft)
            if self.predicts == "last":
                return self._one_target(tokens[..., :-1], self.n_nodes - 1, laws[..., -1, :], soft)
            if self.predicts == "masked":
                places = torch.multinomial(self.children.float(), batch, replacement=True)[..., None]
                law = self._one_hot(tokens.gather(-1, places))
                hidden = tokens.scatter(-1, places, self.n_states)
                return Batch(hidden, places, law, laws.new_ones(self.n_replicas, 1))
            child = torch.arange(1, self.n_nodes, device=self.device).expand(*everyone, -1)
            weight = self.children[:, 1:].to(laws.dtype)
            law = laws[..., 1:, :] if soft else self._one_hot(tokens[..., 1:])
            return Batch(tokens, child, law, weight / weight.sum(-1, keepdim=True))

    def rows(self, rng: int | None, n_rows: int) -> Tensor:
        """Draw plain sequences [replica, row, node]."""
        with seeded(rng, self.device):
            return self._draw(self._tables(n_rows), n_rows)[0]

    # Drawing

    def _tables(self, n_rows: int) -> Tensor:
        """[replica, row or 1, kind, states of the given nodes, state]: laws of all kinds of nodes."""
        known = [fixed for fixed in self.fixed if fixed is not None]
        if len(known) == self.n_replicas:
            return torch.stack([self._choose(*both, n_rows) for both in zip(known, self.processes, strict=True)])
        shape = (self.n_replicas, n_rows)
        prior = self.processes[0].kernel
        if isinstance(prior, DirichletKernels) and all(one.kernel == prior for one in self.processes):
            alpha = torch.full((self.n_states,), prior.concentration, device=self.device)
            cells = (*shape, self.n_states**self.n_parents)
            tables = torch.distributions.Dirichlet(alpha).sample(cells)
        else:
            rng = np.random.default_rng(int(torch.randint(2**62, ())))
            samplers = [one.kernel for one in self.processes if isinstance(one.kernel, KernelSampler)]
            drawn = [[sampler.one(rng).table for _ in range(n_rows)] for sampler in samplers]
            tables = torch.as_tensor(np.array(drawn), dtype=torch.float32, device=self.device)
        flat = tables.reshape(-1, self.n_states**self.n_parents, self.n_states)
        needs_law = not self.uniform_roots or bool((self.children & ~self.full).any())
        made = self._with_roots(_all_kinds(flat, _stationary(flat) if needs_law else None, self.n_states))
        made = made.reshape(*shape, *made.shape[1:])
        for laws, process in zip(made, self.processes, strict=True):
            _set_degrees(laws, process)
        return made

    def _with_roots(self, tables: Tensor) -> Tensor:
        """Laws of all kinds of nodes [kernel, kind, …], the roots uniform where that is asked for."""
        if self.uniform_roots:
            tables[:, : self.n_parents] = 1 / self.n_states
        return tables

    def _choose(self, fixed: Tensor, process: Process, n_rows: int) -> Tensor:
        """The laws of a fixed kernel, or of the kernel of each row where they are chosen from a finite set."""
        if not isinstance(process.kernel, FiniteKernels):
            return fixed
        weights = torch.tensor(process.kernel.weights, device=self.device)
        return fixed[torch.multinomial(weights, n_rows, replacement=True)]

    def _draw(self, tables: Tensor, n_rows: int) -> tuple[Tensor, Tensor]:
        """Tokens [replica, row, node] and their laws [replica, row, node, state]."""
        shape = (self.n_replicas, n_rows, self.n_nodes)
        tokens = torch.zeros(shape, dtype=torch.long, device=self.device)
        laws = tables.new_empty(*shape, self.n_states)
        uniforms = torch.rand(shape, dtype=tables.dtype, device=self.device)
        for node in range(self.n_nodes):
            law = self._rows(tables, self._kind[:, node], self._parents(tokens, node))
            steps = law.cumsum(-1)[..., :-1]
            tokens[..., node] = (uniforms[..., node, None] >= steps).sum(-1)
            laws[..., node, :] = law
        return tokens, laws

    def _parents(self, tokens: Tensor, node: int) -> Tensor:
        """[replica, row, K]: states of the nodes that a node depends on; 0 where there are fewer than K."""
        given = self._given[:, None, node].expand(-1, tokens.shape[1], -1)
        return tokens.gather(-1, given.clamp(min=0)) * (given >= 0)

    def _rows(self, tables: Tensor, kind: Tensor, parents: Tensor) -> Tensor:
        """[replica, row, state]: the law of nodes of these kinds given the states of their parents."""
        replicas, n_rows, n_kinds, cells, n_states = tables.shape
        row = torch.arange(replicas * n_rows, device=self.device).view(replicas, n_rows)
        place = (row * n_kinds + kind[:, None]) * cells + (parents * self.strides).sum(-1)
        return functional.embedding(place, tables.reshape(-1, n_states))

    def _one_target(self, tokens: Tensor, child: int, law: Tensor, soft: bool) -> Batch:
        if not soft:
            flat = torch.multinomial(law.reshape(-1, self.n_states), 1)
            law = self._one_hot(flat.view(law.shape[:-1]))
        everyone = torch.full((*tokens.shape[:2], 1), child, device=self.device)
        return Batch(tokens, everyone, law[..., None, :], law.new_ones(self.n_replicas, 1))

    def _one_hot(self, tokens: Tensor) -> Tensor:
        return functional.one_hot(tokens, self.n_states).to(torch.get_default_dtype())

    def parents_of(self, tokens: Tensor) -> Tensor:
        """[replica, row, node, K]: states of the nodes that each node depends on; 0 where there are fewer."""
        return torch.stack([self._parents(tokens, node) for node in range(tokens.shape[-1])], dim=2)

    def likelihoods(self, tables: Tensor, tokens: Tensor) -> Tensor:
        """[replica, row, node]: log-probability of each token given the tokens that it depends on."""
        tables = tables.expand(-1, tokens.shape[1], -1, -1, -1)
        laws = [self._rows(tables, self._kind[:, i], self._parents(tokens, i)) for i in range(tokens.shape[-1])]
        return torch.stack(laws, dim=2).gather(-1, tokens[..., None])[..., 0].log()


@contextmanager
def seeded(seed: int | None, device: str | torch.device = "cpu") -> Iterator[None]:
    """Seed PyTorch inside a block and restore its generators at the end; None leaves them as they are."""
    if seed is None:
        yield
        return
    where = torch.device(device)
    with torch.random.fork_rng(devices=[where] if where.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def _wiring(processes: Sequence[Process], n_parents: int) -> tuple[Tensor, Tensor]:
    """Nodes on which each node depends [replica, node, K], −1 where fewer, and its kind [replica, node].

    Kind m < K: root number m of its block, given the block's roots before it. Kind K − 1 + d: node with d parents.
    """
    n_nodes = processes[0].n_nodes
    given = torch.full((len(processes), n_nodes, n_parents), -1)
    kind = torch.zeros(len(processes), n_nodes, dtype=torch.long)
    for number, process in enumerate(processes):
        depends = {root: block[:place] for block in process.dag.root_blocks for place, root in enumerate(block)}
        for node, parents in enumerate(process.dag.parents):
            used = parents or depends[node]
            given[number, node, : len(used)] = torch.tensor(used, dtype=torch.long)
            kind[number, node] = len(used) + (n_parents - 1 if parents else 0)
    return given, kind


def _tables_of(process: Process) -> Tensor:
    """[kernel, kind, states of the given nodes, state]: laws of a fixed kernel or of each of a finite set."""
    kernels = process.kernel.kernels if isinstance(process.kernel, FiniteKernels) else (process.fixed_kernel(),)
    cells = process.n_states**process.kernel.n_parents
    tables = torch.as_tensor(np.array([one.table.reshape(cells, -1) for one in kernels]))
    if all(one.parent_law is None for one in kernels) and len(kernels) > 1:
        laws = _stationary(tables)  # all at once
    else:
        laws = torch.as_tensor(np.array([one.stationary.ravel() for one in kernels]))
    made = _all_kinds(tables, laws, process.n_states)
    _set_degrees(made, process)
    return made.to(torch.get_default_dtype())


def _set_degrees(tables: Tensor, process: Process) -> None:
    """Put the given kernels of lower in-degrees into laws [kernel, kind, cells, state]."""
    for degree, kernel in process.degree_kernels.items():
        law = torch.as_tensor(np.array(kernel.table.reshape(-1, process.n_states))).to(tables)
        every = law.repeat_interleave(tables.shape[2] // len(law), dim=0)
        tables[:, process.kernel.n_parents - 1 + degree] = every


def _all_kinds(tables: Tensor, stationary: Tensor | None, n_states: int) -> Tensor:
    """Laws of roots given the roots before them, and of nodes with 1 to K parents (appendix A), from kernels.

    ``tables`` is [kernel, cells, state] and ``stationary`` M_π [kernel, cells] over the S^K cells; without it, only
    the nodes with all parents have a law.
    """
    n_kernels, cells, _ = tables.shape
    n_parents = round(np.log(cells) / np.log(n_states))
    made = tables.new_zeros(n_kernels, 2 * n_parents, cells, n_states)
    made[:, -1] = tables
    if stationary is None:
        return made
    for place in range(n_parents):  # P(root | roots before it) under M_π
        joint = stationary.reshape(n_kernels, n_states ** (place + 1), -1).sum(-1).reshape(n_kernels, -1, n_states)
        law = joint / joint.sum(-1, keepdim=True).clamp(min=_TINY)
        made[:, place] = law.repeat_interleave(cells // law.shape[1], dim=1)
    marginal, left = made[:, 0, :1].transpose(1, 2), tables
    for degree in range(n_parents - 1, 0, -1):  # the last parent is averaged under μ
        left = (left.reshape(n_kernels, -1, n_states, n_states) * marginal[:, None]).sum(2)
        made[:, n_parents - 1 + degree] = left.repeat_interleave(cells // left.shape[1], dim=1)
    return made


def _stationary(tables: Tensor) -> Tensor:
    """M_π of many kernels [kernel, cells, state]: states of the lifted chain are eliminated one after the other.

    This is the method of Grassmann, Taksar and Heyman: no subtraction, so that small probabilities stay exact.
    """
    n_kernels, cells, n_states = tables.shape
    step = torch.zeros(n_kernels, cells, cells, dtype=torch.float64, device=tables.device)
    start = torch.arange(cells, device=tables.device)[:, None]  # from (s_1 … s_K) to (s_2 … s_K, s')
    step[:, start, start * n_states % cells + torch.arange(n_states, device=tables.device)] = (
        tables.double() + _TINY
    )
    for last in range(cells - 1, 0, -1):
        step[:, :last, last] /= step[:, last, :last].sum(-1, keepdim=True)
        step[:, :last, :last] += step[:, :last, last, None] * step[:, None, last, :last]
    law = torch.ones(n_kernels, cells, dtype=torch.float64, device=tables.device)
    for state in range(1, cells):
        law[:, state] = (law[:, :state] * step[:, :state, state]).sum(-1)
    return (law / law.sum(-1, keepdim=True)).to(tables.dtype)
