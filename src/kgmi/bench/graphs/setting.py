"""``Setting``: what graphs and kernels are drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.kernel.tunables import random_tunables
from kgmi.process import Process
from kgmi.sampling import sample
from kgmi.types import Rows

__all__ = ["GRAPHS", "KERNELS", "Setting"]

GRAPHS = "paper, paper5, mixed, copies:N or random:T,K"
KERNELS = "paper, paper:0, random:S,K, mendelian or xor"

_XOR = 0.9  # chance that the child is the XOR of its parents


@dataclass(frozen=True)
class Setting:
    """Graphs and kernels, by recipe.

    Attributes
    ----------
    graph
        ``paper`` (10 nodes), ``paper5``, ``mixed`` (in-degrees 0, 1 and 2), ``copies:N``: N copies of ``paper``,
        each with roots of its own, or ``random:T,K``: another one of T nodes for every kernel, with K parents each.
    kernel
        ``paper``: with tunables uniform in ±0.3, kept where the smallest entry is at least 0.02. ``random:S,K``:
        uniform rows. ``paper:0`` (all tunables 0), ``mendelian`` and ``xor`` (right in 9 of 10 cases) are always
        the same.
    n_kernels
        How many are drawn from a seed.
    """

    graph: str = "paper"
    kernel: str = "paper"
    n_kernels: int = 12

    def __post_init__(self) -> None:
        if self.n_kernels < 1:
            raise SettingError(f"the number of kernels must be at least 1, got {self.n_kernels}")
        first = np.random.default_rng(0)
        dag, kernel = _graph_maker(self.graph)(first), _kernel_maker(self.kernel)(first)
        if dag.max_in_degree != kernel.n_parents:
            raise SettingError(
                f"nodes of the graph {self.graph!r} have up to {dag.max_in_degree} parents, "
                f"but the kernel {self.kernel!r} takes {kernel.n_parents}"
            )

    @property
    def name(self) -> str:
        """The setting in two words."""
        return f"{self.graph} graph, {self.kernel} kernel"

    def draw(self, seed: int) -> tuple[Process, ...]:
        """The graphs with their kernels that belong to a seed; each is drawn from numbers of its own."""
        return tuple(self._process(np.random.default_rng(self._seeds(seed, n)[0])) for n in range(self.n_kernels))

    def sample(self, seed: int, n_rows: int) -> list[tuple[Process, Rows]]:
        """The same with ``n_rows`` rows each; the rows of a small sample are the first of a larger one."""
        return [
            (process, sample(process, n_rows, rng=np.random.default_rng(self._seeds(seed, number)[1])))
            for number, process in enumerate(self.draw(seed))
        ]

    def shuffler(self, seed: int, number: int) -> np.random.Generator:
        """What shuffles the columns of a sample, whatever its size, where the order is not told."""
        return np.random.default_rng(self._seeds(seed, number)[2])

    def _process(self, rng: np.random.Generator) -> Process:
        kernel = _kernel_maker(self.kernel)(rng)
        return Process(_graph_maker(self.graph)(rng), kernel)

    @staticmethod
    def _seeds(seed: int, number: int) -> list[np.random.SeedSequence]:
        """One for the graph and its kernel, one for the rows, one for the order of the columns."""
        return np.random.SeedSequence([seed, number]).spawn(3)


def _graph_maker(spec: str) -> Callable[[np.random.Generator], Dag]:
    if spec.startswith("random:"):
        n_nodes, n_parents = _numbers(spec, "random:T,K")
        if not 1 <= n_parents < n_nodes:
            raise SettingError(f"{spec!r} needs K of at least 1 and more than K nodes")
        return lambda rng: Dag.random(n_nodes, n_parents, rng=rng)
    if spec.startswith("copies:"):
        (n_copies,) = _numbers(spec, "copies:N")
        if n_copies < 1:
            raise SettingError(f"{spec!r} needs at least one copy")
        return lambda rng: Dag.paper().copies(n_copies)
    named: dict[str, Callable[[], Dag]] = {
        "paper": Dag.paper,
        "paper5": lambda: Dag.paper(5),
        "mixed": Dag.paper_mixed,
    }
    if spec not in named:
        raise SettingError(f"{spec!r} is not a graph to compare on; use {GRAPHS}")
    return lambda rng: named[spec]()


def _kernel_maker(spec: str) -> Callable[[np.random.Generator], Kernel]:
    if spec.startswith("random:"):
        n_states, n_parents = _numbers(spec, "random:S,K")
        if n_states < 2 or n_parents < 1:
            raise SettingError(f"{spec!r} needs at least 2 states and 1 parent")
        return lambda rng: Kernel.random(n_states, n_parents, rng=rng)
    named: dict[str, Callable[[np.random.Generator], Kernel]] = {
        "paper": _paper_kernel,
        "paper:0": lambda rng: Kernel.paper(),
        "mendelian": lambda rng: Kernel.mendelian(),
        "xor": lambda rng: _xor_kernel(),
    }
    if spec not in named:
        raise SettingError(f"{spec!r} is not a kernel to compare on; use {KERNELS}")
    return named[spec]


def _paper_kernel(rng: np.random.Generator) -> Kernel:
    return Kernel.paper(random_tunables(rng))


def _xor_kernel() -> Kernel:
    first, second = np.indices((2, 2))
    one = np.where(first ^ second, _XOR, 1 - _XOR)
    return Kernel(np.stack([1 - one, one], axis=-1))


def _numbers(spec: str, form: str) -> list[int]:
    parts = spec.partition(":")[2].split(",")
    if len(parts) != len(form.split(",")) or not all(part.strip().isdecimal() for part in parts):
        numbers = "whole numbers" if "," in form else "a whole number"
        raise SettingError(f"{spec!r} should be written {form} with {numbers}")
    return list(map(int, parts))
