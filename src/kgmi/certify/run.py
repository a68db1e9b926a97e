"""From a problem and its rows to a certificate: all rows at once, or in batches as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kgmi.certify.certificate import Certificate, Method
from kgmi.certify.evidence import Evidence, Look
from kgmi.certify.hypotheses import PATIENCE, affordable, hypotheses_of, stages_of
from kgmi.certify.judge import judge
from kgmi.certify.judged import Verdicts
from kgmi.certify.timeline import TablesOf, Timeline, next_checkpoint
from kgmi.counts.base import Counts
from kgmi.counts.bits import RowCounts
from kgmi.counts.tally import Tally
from kgmi.errors import DataError, SettingError
from kgmi.problem import Problem
from kgmi.progress import tell
from kgmi.score import block_laws, with_errors
from kgmi.search.rounds import known_group
from kgmi.types import Codes

__all__ = ["Stream", "certify_counts", "certify_rows", "check_alpha", "check_patience", "complete_rows"]

_LOOKS = 16  # at kernels learned from earlier rows, in a usual table


def certify_rows(
    problem: Problem,
    codes: Codes,
    parents: Sequence[tuple[int, ...]],
    names: Sequence[str],
    *,
    alpha: float = 0.05,
    method: str = "sequential",
    patience: float = PATIENCE,
    any_block: bool = False,
) -> Certificate:
    """Certify a graph found from rows.

    Parameters
    ----------
    problem
        How it was searched for; its rows may be weighted or in another order.
    codes
        The rows [row, node] in the order in which they came, -1 for gaps.
    parents, names
        The graph, and the names of its nodes.
    alpha
        Probability that anything certified is wrong.
    method
        ``sequential``: kernels learned from earlier rows predict the next; every row counts. ``split``: kernels
        learned from the first half predict the second. With known kernels there is nothing to learn.
    patience
        Seconds that a look at all alternatives may take.
    any_block
        Whether roots that are drawn together have a law that a known kernel does not tell.
    """
    check_alpha(alpha)
    check_patience(patience)
    if method not in ("sequential", "split"):
        raise SettingError(f"method must be sequential or split, got {method!r}")
    used = complete_rows(codes)
    stream = Stream(problem, len(used), patience, any_block=any_block)
    pieces = list(stream.pieces(used)) if problem.known or method == "sequential" else stream.halves(used)
    looks = stream.looks(pieces)
    kind: Method = "known" if problem.known else "split" if method == "split" else "sequential"
    n_rows = sum(int(rows.n_rows) for rows, _ in pieces)
    return stream.certificate(looks, parents, names, alpha, n_rows, len(codes) - len(used), kind)


def certify_counts(
    problem: Problem,
    tally: Tally,
    parents: Sequence[tuple[int, ...]],
    names: Sequence[str],
    *,
    alpha: float = 0.05,
    patience: float = PATIENCE,
    any_block: bool = False,
) -> Certificate:
    """Certify a graph found from counts of all sets of K + 1 columns; see :func:`certify_rows`.

    Nobody knows any more which rows came first, so there are no kernels learned from earlier ones: where the kernel
    is not known, every set of parents bets on one of its own. What that is worth does not depend on the order.
    """
    check_alpha(alpha)
    check_patience(patience)
    stream = Stream(problem, None, patience, any_block=any_block)
    looks = stream.looks([(tally, _nothing)])
    kind: Method = "known" if problem.known else "counted"
    return stream.certificate(looks, parents, names, alpha, tally.rows, 0, kind)


class Stream:
    """Evidence that grows with the rows; in how many batches they come makes no difference.

    Parameters
    ----------
    problem
        How graphs are searched for.
    n_rows
        About how many rows will come, to know what can be afforded; None where they are counted already.
    patience, any_block
        Seconds that a look at all alternatives may take; whether the law of roots that are drawn together is open
        though the kernel is known.
    """

    def __init__(
        self, problem: Problem, n_rows: int | None, patience: float = PATIENCE, *, any_block: bool = False
    ) -> None:
        if problem.error is None:
            raise SettingError("a certificate needs the rate of errors itself: give error=…, not 'estimate'")
        self.problem = problem
        self.open_to = [hypotheses_of(problem, child) for child in range(problem.counts.n_nodes)]
        self._known = {degree: with_errors(table, problem.error) for degree, table in problem.known.items()}
        # The members of a block may be misread too: with errors its law may be anything.
        told = problem.known and not any_block and problem.error == 0
        laws = block_laws(problem, [known_group(problem, problem.n_heads)]) if told else {}
        self._laws = {len(earlier): some for (_, earlier, _), some in laws.items()}  # of one alphabet
        able = affordable(problem, n_rows or 0, 0 if problem.known or n_rows is None else _LOOKS, patience)
        self.chosen = [c for c, one in enumerate(self.open_to) if one.has_alternative and c in able]
        self._timeline = Timeline(problem)
        self._rows: Codes = np.zeros((0, problem.counts.n_nodes), dtype=np.int64)

    def evidence(self, child: int) -> Evidence:
        """Evidence on one node, before any row."""
        return Evidence(self.problem, self.open_to[child], self._known, self._laws)

    def looks(self, pieces: Sequence[tuple[Counts, TablesOf]]) -> dict[int, Look]:
        """All hypotheses after these rows, one node after the other: the counts of one may be large."""
        found = {}
        for done, child in enumerate(self.chosen):
            tell("certificate", done, len(self.chosen), "nodes")
            evidence = self.evidence(child)
            for rows, tables_of in pieces:
                evidence.add(rows, tables_of(child))
            found[child] = evidence.look()
        return found

    def pieces(self, codes: Codes) -> Iterator[tuple[Counts, TablesOf]]:
        """New rows piece by piece, each with the kernels that were learned from all rows before it."""
        if self.problem.known:
            yield self._counts(codes), _nothing
            return
        while len(codes):
            n_seen = len(self._rows)
            taken = min(len(codes), next_checkpoint(n_seen) - n_seen)
            piece, codes = codes[:taken], codes[taken:]
            yield self._counts(piece), self._timeline.snapshot()
            self._rows = np.concatenate([self._rows, piece])
            if len(self._rows) == next_checkpoint(n_seen):
                self._timeline.learn(self._rows)

    def halves(self, codes: Codes) -> list[tuple[Counts, TablesOf]]:
        """The second half with the kernels of the first."""
        half = len(codes) // 2
        if half < 1:
            raise DataError("splitting the rows in halves needs at least two complete rows")
        self._timeline.learn(codes[:half])
        return [(self._counts(codes[half:]), self._timeline.snapshot())]

    def _counts(self, codes: Codes) -> Counts:
        return RowCounts(codes, self.problem.counts.sizes)

    def certificate(
        self,
        looks: dict[int, Look],
        parents: Sequence[tuple[int, ...]],
        names: Sequence[str],
        alpha: float,
        n_rows: int,
        n_left_out: int,
        method: Method,
    ) -> Certificate:
        """What is certain about a graph."""
        stages = stages_of(self.problem)
        verdicts = Verdicts(self.open_to, looks, parents, names, bool(self.problem.known), alpha, n_rows, stages)
        return Certificate(
            alpha=alpha,
            method=method,
            n_rows=n_rows,
            n_left_out=n_left_out,
            n_decided=verdicts.n_decided,
            n_parents=self.problem.n_heads,
            degrees=tuple(sorted({0, *(int(degree) for degree in self.problem.degrees)})),
            nodes=judge(verdicts),
        )


def complete_rows(codes: Codes) -> Codes:
    """The rows without gaps; at least one."""
    used = codes[(codes >= 0).all(axis=1)] if codes.size and codes.min() < 0 else codes
    if len(used) == 0:
        raise DataError(
            "no row is complete, and a certificate counts complete rows only; leave out columns with gaps"
        )
    return used


def check_alpha(alpha: float) -> None:
    """Refuse what is no probability of error."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.number) or not 0 < alpha < 1:
        raise SettingError(
            f"alpha (α), the probability of a false certificate, must lie between 0 and 1, got {alpha!r}"
        )


def check_patience(patience: float) -> None:
    """Refuse what is no number of seconds."""
    if isinstance(patience, bool) or not isinstance(patience, int | float | np.number) or not patience >= 0:
        raise SettingError(f"patience, the seconds that a look may take, must be 0 or more, got {patience!r}")


def _nothing(child: int) -> dict[tuple[int, ...], np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    return {}
