"""``certify``: from rows, or from a result, to what is certain about the graph."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kgmi.certify import (
    Certificate,
    bootstrap_edges,
    certify_counts,
    certify_rows,
    check_alpha,
    check_patience,
    paper_condition,
)
from kgmi.certify.hypotheses import PATIENCE
from kgmi.counts.counted import CountedTable
from kgmi.counts.tally import Tally
from kgmi.errors import DataError, KernelError, SettingError
from kgmi.graph import Dag
from kgmi.kernel import AnyKernel, Kernel
from kgmi.learning.inputs import Input, Source
from kgmi.learning.searched import problem_of
from kgmi.learning.settings import SEARCHING, Settings
from kgmi.search import Solution
from kgmi.types import Codes, Rng

if TYPE_CHECKING:
    from kgmi.learning.learned import Learned

__all__ = [
    "Witness",
    "bootstrap",
    "certify",
    "has_own_law",
    "learn_and_keep",
    "refuse_guide",
    "refuse_learned_order",
    "witness_of",
]

_keep_rows: ContextVar[bool] = ContextVar("keep_rows", default=False)


def certify(
    rows: Source | Learned,
    *,
    alpha: float = 0.05,
    method: str = "sequential",
    patience: float = PATIENCE,
    **options: Any,
) -> Certificate:
    """Certify the parents of every node: all certificates are right with probability at least 1 − α.

    It holds at any number of rows and for any rule of when to stop, with no approximation, if the model holds: rows
    are independent, the order is right, and every node depends on at most K of its candidates (with a known kernel:
    by this kernel). Declare the states, and choose all options before you look at the rows. See
    docs/certificates.md.

    Parameters
    ----------
    rows
        Rows as for :func:`kgmi.learn`, in the order in which they came; or a result of it that still has them. Of
        streams and counts, whose order is not known, every set of parents bets on a kernel of its own.
    alpha
        Probability that anything that is certified is wrong.
    method
        With a learned kernel: ``sequential`` (kernels learned from earlier rows predict the next ones; every row
        counts) or ``split`` (learned from the first half, tested on the second; for a number of rows that was fixed
        beforehand).
    patience
        Seconds that a look at all alternatives may take; nodes with too many are not certified.
    **options
        All options of :func:`kgmi.learn`.

    Examples
    --------
    >>> import kgmi
    >>> process = kgmi.Process(kgmi.Dag.paper(5), kgmi.Kernel.paper())
    >>> certificate = kgmi.certify(kgmi.sample(process, 1_000, rng=7), kernel=process.kernel)
    >>> certificate.certified
    ('X1', 'X2', 'X3', 'X4', 'X5')
    """
    check_alpha(alpha)
    check_patience(patience)
    refuse_learned_order(options.get("order"))
    refuse_guide(options.get("guide") or "likelihood")
    return learn_and_keep(rows, options).certify(alpha, method=method, patience=patience)


def bootstrap(
    rows: Source | Learned, n_replicates: int = 200, *, rng: Rng = 0, **options: Any
) -> dict[tuple[str, str], float]:
    """How often each edge (parent, child) is chosen when the rows are drawn anew from themselves, in blocks.

    Parameters
    ----------
    rows, **options
        As for :func:`kgmi.learn`, or a result that still has its rows.
    n_replicates, rng
        How many times, and where the randomness comes from.
    """
    return learn_and_keep(rows, options).bootstrap(n_replicates, rng=rng)


def learn_and_keep(rows: Source | Learned, options: dict[str, Any]) -> Learned:
    """A result that keeps its rows, however many there are."""
    from kgmi.learning.learn import learn
    from kgmi.learning.learned import Learned

    if isinstance(rows, Learned):
        if options:
            raise SettingError(f"{next(iter(options))} was settled when the graph was learned; leave it out")
        return rows
    token = _keep_rows.set(True)
    try:
        return learn(rows, **options)
    finally:
        _keep_rows.reset(token)


@dataclass(frozen=True, eq=False)
class Witness:
    """The rows behind a result and how they were searched, for questions that are asked later."""

    data: Input
    kernel: AnyKernel | None
    settings: Settings
    dag: Dag
    found: Solution | None

    def certificate(self, alpha: float, method: str, patience: float) -> Certificate:
        """What is certain about the graph."""
        tally = None if self.data.counts is None else _all_complete(self.data.counts, method)
        codes, known = None if tally is not None else self.rows("a certificate"), self.known()
        refuse_guide(self.settings.guide)
        problem = problem_of(self.data, known, self.settings)
        graph = (self.dag.parents, self.data.names)
        how: dict[str, Any] = {"alpha": alpha, "patience": patience}
        how["any_block"] = has_own_law(known)
        if codes is None:
            assert tally is not None
            made = certify_counts(problem, tally, *graph, **how)
        else:
            made = certify_rows(problem, codes, *graph, method=method, **how)
        if known is None or not problem.known or made.n_left_out or not self.dag.n_edges:
            return made
        joint, allowed = self.data.pair_joint(0.0), self.data.candidates.allowed
        return made.with_condition(lambda: paper_condition(joint, known, self.dag, made.n_rows, alpha, allowed))

    def bootstrap(self, n_replicates: int, rng: Rng) -> dict[tuple[str, str], float]:
        """How often each edge (parent, child) is chosen from rows that are drawn anew, the most frequent first."""
        codes, names = self.rows("a bootstrap"), self.data.names
        if self.found is None:
            raise SettingError(
                "the bootstrap chooses parents as the guide 'likelihood' does; learn with that guide"
            )
        shares = bootstrap_edges(self.found, codes, n_replicates, rng=rng)
        order = np.argsort(-shares, axis=None, kind="stable")
        edges = [divmod(int(place), len(names)) for place in order if shares.flat[place] > 0]
        return {(names[parent], names[child]): round(float(shares[parent, child]), 12) for parent, child in edges}

    def rows(self, what: str) -> Codes:
        """The rows in their order; an error that says ``what`` needs them where there are none."""
        if self.data.table is None or self.data.weights is not None:
            counted = "statistics of pairs" if self.data.counts is None else "counts of them"
            given = counted if self.data.table is None else "an exact law"
            raise DataError(f"{what} needs rows, one by one; {given} will not do")
        return self.data.table.codes

    def known(self) -> Kernel | None:
        """The kernel that certificates may rely on; the order must be known in any case."""
        refuse_learned_order(self.settings.order)
        if self.kernel is not None and not isinstance(self.kernel, Kernel):
            raise KernelError("a certificate needs one kernel for all rows, not a law over kernels")
        return None if self.settings.kernel_source == "labelled" else self.kernel  # an estimate is not known


def _all_complete(counts: CountedTable, method: str) -> Tally:
    """Counts of all sets of complete rows; an error where they are not that."""
    if method == "split":
        raise SettingError("method='split' needs rows, one by one; counts of them will do for method='sequential'")
    if counts.tally.has_gaps:
        raise DataError(
            "a certificate counts complete rows only, and which ones are complete cannot be told from counts; "
            "count again with gaps as a state (missing='category'), leave out the columns that have them, or "
            "certify from one table in memory"
        )
    if not counts.tally.is_complete:
        raise DataError(
            "nothing is certified on short lists of candidates, and of so many columns only some sets were "
            "counted; take fewer columns, or rows in memory"
        )
    return counts.tally


def has_own_law(kernel: Kernel | None) -> bool:
    """Whether roots that are drawn together follow a law that comes with the kernel, not its stationary one."""
    return kernel is not None and kernel.parent_law is not None


def refuse_learned_order(order: object) -> None:
    """Refuse to certify a graph whose order comes from the same rows."""
    if isinstance(order, str) and order == "learn":
        raise SettingError(
            "a certificate assumes that the order of the columns is right, and this one would be learned from the "
            "same rows; give the order of the columns"
        )


def refuse_guide(guide: str) -> None:
    """Refuse to certify what a guide found that does not weigh sets of parents against each other."""
    if guide not in SEARCHING:
        raise SettingError(
            f"the guide {guide!r} names parents one by one and keeps to no number of them, so there is no "
            "certificate for what it finds; learn with guide='likelihood'"
        )


def witness_of(
    data: Input, kernel: AnyKernel | None, settings: Settings, dag: Dag, found: Solution | None
) -> Witness | None:
    """What a result keeps to answer later questions; None where there are too many rows to keep them for that."""
    if data.is_large and not _keep_rows.get():
        return None
    return Witness(data, kernel, settings, dag, found)
