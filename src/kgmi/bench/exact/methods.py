"""Our methods on exact laws, from pairs of columns with the kernel told, and from all rows without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kgmi.exact import exact_joint
from kgmi.learning import Learned, learn
from kgmi.problem import SearchMode
from kgmi.process import Process

__all__ = ["METHODS", "ExactMethod"]


@dataclass(frozen=True)
class ExactMethod:
    """One way to learn from an exact law.

    Attributes
    ----------
    key
        Its name.
    kernel, roots
        What is known of these, in a word.
    setting
        What it does, in a few words.
    fit
        The call; it may look at no more of the process than it says.
    """

    key: str
    kernel: str
    roots: str
    setting: str
    fit: Callable[[Process], Learned]


def _from_pairs(
    key: str, setting: str, *, told_roots: bool, guide: str, search: SearchMode = "auto"
) -> ExactMethod:
    def fit(process: Process) -> Learned:
        return learn(
            exact_joint(process),
            kernel=process.kernel,
            guide=guide,
            search=search,
            roots=process.dag.roots if told_roots else "test",
            solver="limit",
        )

    return ExactMethod(key, "known", "known" if told_roots else "tested", setting, fit)


def _from_rows(key: str, setting: str, guide: str) -> ExactMethod:
    def fit(process: Process) -> Learned:
        return learn(process, n_parents=process.kernel.n_parents, guide=guide, solver="limit")

    return ExactMethod(key, "learned", "tested", setting, fit)


METHODS: tuple[ExactMethod, ...] = (
    _from_pairs("stationary", "the paper's KG-MI (KL)", told_roots=True, guide="stationary"),
    _from_pairs("heads-roots", "contextual, heads in turn", told_roots=True, guide="contextual", search="heads"),
    _from_pairs("heads", "contextual, heads in turn", told_roots=False, guide="contextual", search="heads"),
    _from_pairs("joint-roots", "contextual, heads jointly", told_roots=True, guide="contextual"),
    _from_pairs("joint", "contextual, heads jointly", told_roots=False, guide="contextual"),
    _from_rows("contextual", "contextual, nothing told but K", "contextual"),
    _from_rows("likelihood", "likelihood, nothing told but K", "likelihood"),
)
