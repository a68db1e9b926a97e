"""Problems for certificates on rows of a process, and whether what is certified is true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kgmi.certify import Certificate
from kgmi.certify.hypotheses import hypotheses_of
from kgmi.certify.timeline import problem_for
from kgmi.errors import SettingError
from kgmi.graph import Dag
from kgmi.kernel import Kernel
from kgmi.learning.certified import learn_and_keep
from kgmi.learning.searched import problem_of
from kgmi.problem import Problem
from kgmi.process import Process
from kgmi.types import Rows

__all__ = ["KINDS", "Template", "check_kinds", "falsehoods", "options_for"]

KINDS = ("known", "sequential", "split")
"""Ways to certify: the kernel known, or learned from earlier rows, or from the first half."""


def check_kinds(kinds: tuple[str, ...]) -> None:
    """Refuse a way to certify that there is not."""
    for kind in kinds:
        if kind not in KINDS:
            raise SettingError(f"there is no way {kind!r} to certify; choose among {', '.join(KINDS)}")


def options_for(kind: str, process: Process) -> dict[str, Any]:
    """Options of kgmi.learn."""
    kernel = process.fixed_kernel()
    if kind == "known":
        return {"kernel": kernel}
    return {"n_parents": kernel.n_parents, "n_states": kernel.n_states, "share": "shared"}


class Template:
    """The problem of one graph's columns, for any rows of them and any kernel of the same shape."""

    def __init__(self, kind: str, process: Process, rows: Rows) -> None:
        witness = learn_and_keep(rows, options_for(kind, process)).witness
        assert witness is not None
        self._problem = problem_of(witness.data, witness.known(), witness.settings)

    @property
    def n_decided(self) -> int:
        """Nodes with something to decide."""
        nodes = range(self._problem.n_nodes)
        return sum(hypotheses_of(self._problem, child).has_alternative for child in nodes)

    def problem(self, kernel: Kernel, rows: Rows) -> Problem:
        """The problem for other rows."""
        problem = problem_for(self._problem, rows)
        return replace(problem, known={kernel.n_parents: kernel.table}) if problem.known else problem


def falsehoods(certificate: Certificate, truth: Dag) -> int:
    """Nodes with a certificate that is false: an edge that is not there, or parents that are not all."""
    places = {node.name: place for place, node in enumerate(certificate.nodes)}
    wrong = 0
    for place, node in enumerate(certificate.nodes):
        sure = {places[edge.parent] for edge in node.edges if edge.certified}
        wrong += bool(sure - {*truth.parents[place]}) or (node.exact and sure != {*truth.parents[place]})
    return wrong
