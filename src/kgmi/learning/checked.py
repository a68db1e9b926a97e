"""What the checks of the model look at, and why some of them cannot be made."""

from __future__ import annotations

from kgmi.checks import QUESTIONS, Check, Group, Subject, check_model
from kgmi.counts.bits import RowCounts
from kgmi.graph import Dag
from kgmi.kernel import AnyKernel, Kernel
from kgmi.learning.inputs import Input
from kgmi.learning.laws import are_counted
from kgmi.search import Solution
from kgmi.search.pairs import PairsFound
from kgmi.types import Codes

__all__ = ["check_result"]

_ONLY_PAIRS = "Not checked: it takes counts of nodes with all their parents, and only pairs were counted."


def check_result(
    data: Input, dag: Dag, n_heads: int, kernel: AnyKernel | None, found: Solution | PairsFound | None
) -> tuple[Check, ...]:
    """The checks of a result; without rows there are none to make, and each says so."""
    if not data.has_families or data.weights is not None:
        why = "an exact law has no sampling error" if data.n_rows is None else "it takes rows, not counts of pairs"
        return tuple(Check(name, None, None, (), f"Not checked: {why}.") for name in QUESTIONS)
    counted = are_counted(data.observed, dag)
    groups: tuple[Group, ...] = ()
    if counted:
        groups = _groups(found) if isinstance(found, Solution) else _known_groups(data, dag, n_heads, kernel)
    no_order = None
    if data.candidates.is_sequence:
        no_order = "windows of one sequence overlap, so that their rows do depend on each other"
    before = {node: block[: block.index(node)] for block in dag.root_blocks for node in block}
    subject = Subject(
        observed=data.observed,
        parents=dag.parents,
        given=tuple(parents or before.get(node, ()) for node, parents in enumerate(dag.parents)),
        candidates=data.candidates,
        n_heads=n_heads,
        groups=groups,
        names=data.names,
        rows=_rows(data),
        short=_short(found) if isinstance(found, Solution) and not data.only_counts else (),
        fixed=not isinstance(found, Solution) or bool(found.problem.known),
        sample=None if data.sample is None else RowCounts(data.sample, data.observed.sizes),
    )
    made = check_model(subject, no_order, _no_rows(data))
    return made if counted else (Check("kernels", None, None, (), _ONLY_PAIRS), *made[1:])


def _no_rows(data: Input) -> str:
    """Why there are no rows to look at one by one, where there are none."""
    if data.counts is None or not data.counts.first:
        return "only counts of them are there"
    if data.counts.where:
        return "the filter lets none of the first rows pass, which are read once more for it"
    return "the first pieces of the data, which are read once more for it, have none"


def _rows(data: Input) -> Codes | None:
    """The rows in their order, or the first of them; None where there are none."""
    return data.sample if data.table is None else data.table.codes


def _short(found: Solution) -> tuple[int, ...]:
    """Nodes that may have had more parents, if kernels are shared: one of its own would have shown these."""
    if found.share == "node":
        return ()
    degrees_of = found.problem.degrees_of
    return tuple(child for child, chosen in enumerate(found.parents) if len(chosen) < max(degrees_of(child)))


def _groups(found: Solution) -> tuple[Group, ...]:
    """Nodes by the kernel that they follow."""
    return tuple(
        Group(tuple(one.families), one.seen if one.known else None, one.symmetric) for one in found.state.kernels
    )


def _known_groups(data: Input, dag: Dag, n_heads: int, kernel: AnyKernel | None) -> tuple[Group, ...]:
    """For the guides of pairs: the nodes with as many parents as their kernel takes."""
    sizes = set(data.observed.sizes)
    children = tuple(child for child, chosen in enumerate(dag.parents) if len(chosen) == n_heads)
    if not isinstance(kernel, Kernel) or kernel.n_parents != n_heads or sizes != {kernel.n_states} or not children:
        return ()
    return (Group(children, kernel.table),)
