"""``KernelEstimate``: a kernel of the result, with what it was estimated from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kgmi.kernel import Kernel
from kgmi.search import Solution
from kgmi.search.pairs import PairsFound
from kgmi.types import Floats

__all__ = ["KernelEstimate", "kernel_estimates", "main_kernel"]


@dataclass(frozen=True, eq=False)
class KernelEstimate:
    """A kernel and the nodes that follow it.

    Attributes
    ----------
    table
        ``table[s_1, …, s_k, s']``: probability of the child's state given those of its parents, in role order.
    counts
        Cases behind it, of the same shape: over all children that share it, and all rows that have the values.
    cases
        [s_1, …, s_k]: cases behind each law; where the parents have no order, those of all orders.
    standard_errors
        Of every probability; infinite where the states of the parents were never seen, 0 for an exact law. Of an
        implied kernel: those that the cases of its own children would give, an upper bound.
    children
        Nodes that follow it.
    symmetric
        Whether the parents have no order.
    known
        Whether it was given.
    error
        ε: the share of readings that are random instead; the table is free of them.
    implied
        Whether it follows from the kernel of the most parents, the missing ones averaged out (appendix A).
    class_name
        Of the class of nodes that share it: as it was given, or a number from 1; None where there are no classes.
    """

    table: Floats
    counts: Floats
    cases: Floats
    standard_errors: Floats
    children: tuple[int, ...]
    symmetric: bool
    known: bool
    error: float
    implied: bool = False
    class_name: str | None = None

    @property
    def n_parents(self) -> int:
        """Number of parents of the children."""
        return self.table.ndim - 1


def kernel_estimates(found: Solution, classes: Mapping[str, str] | None = None) -> tuple[KernelEstimate, ...]:
    """The kernels of a search, most parents first, then most children; kernels that nobody follows are left out.

    ``classes`` are those that were given, if any.
    """
    kernels = sorted(found.state.kernels, key=lambda one: min(one.families))
    told = None if classes is None else list(dict.fromkeys(classes.values()))
    made = []
    for number, one in enumerate(kernels, start=1):
        name = str(number) if found.share == "classes" else None
        made.append(
            KernelEstimate(
                _frozen(one.table),
                _frozen(one.counts),
                _frozen(one.cases),
                _frozen(one.standard_errors * (not found.problem.is_exact)),
                tuple(sorted(one.families)),
                one.symmetric,
                one.known,
                one.error,
                one.implied,
                name if told is None else told[one.key[0]],
            )
        )
    return tuple(sorted(made, key=lambda one: (-one.n_parents, -len(one.children), one.children)))


def main_kernel(estimates: tuple[KernelEstimate, ...], found: Solution | PairsFound) -> Kernel | None:
    """The kernel of the nodes with the most parents, where these share one and all columns one alphabet."""
    if not estimates or not isinstance(found, Solution) or len(set(found.problem.counts.alphabets)) > 1:
        return None
    top = [one for one in estimates if one.n_parents == estimates[0].n_parents]
    return Kernel(top[0].table) if len(top) == 1 else None


def _frozen(array: Floats) -> Floats:
    array = np.asarray(array).view()
    array.setflags(write=False)
    return array
