"""Learning with guides of families of columns: search, then the same table, ascent and decoding as ever."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from kgmi.attention import USUAL_RISE, Ascent, decode, has_tie, survey
from kgmi.counts.base import Counts
from kgmi.counts.counted import CountedTable
from kgmi.counts.tally import family_width
from kgmi.errors import DataError, KernelError, SettingError
from kgmi.graph import Dag
from kgmi.guides import scores
from kgmi.guides.contextual import Contextual
from kgmi.guides.likelihood import Likelihood
from kgmi.guides.stationary import find_roots
from kgmi.kernel import Kernel
from kgmi.learning.classes import class_labels
from kgmi.learning.inputs import Input
from kgmi.learning.ordered import check_possible
from kgmi.learning.settings import PAPER_RATE, Settings
from kgmi.model import Model
from kgmi.problem import Problem
from kgmi.search import Solution, solve
from kgmi.search.pairs import PairsFound, search_pairs
from kgmi.threads import one_blas_thread
from kgmi.types import Bools, Floats, ScoreTable

__all__ = ["Climber", "Searched", "as_model", "problem_of", "root_blocks", "search_rows", "usual_rate"]


Climber = Callable[[ScoreTable, Bools], Ascent]


@dataclass(frozen=True, eq=False)
class Searched:
    """A search and the attention trained on the scores of its heads.

    ``apart`` are the nodes whose heads, each by itself, prefer other candidates than those found together.
    """

    dag: Dag
    table: ScoreTable
    wanted: Bools
    ascent: Ascent
    found: Solution | PairsFound
    apart: tuple[int, ...]


def search_rows(data: Input, kernel: Kernel | None, settings: Settings, climb: Climber) -> Searched:
    """Search, train the heads on the scores around what was found, and compare what they name with it."""
    with one_blas_thread():
        found = _found(data, kernel, settings)
        parents, table = found.parents, found.heads
    wanted = np.asarray(~np.isnan(table).all(axis=-1))
    ascent = climb(table, wanted)
    roots = [node for node in range(data.n_nodes) if not wanted[:, node].any()]
    named = decode(ascent.attention, rule="each", roots=roots, mask=np.asarray(~np.isnan(table).all(axis=0)))
    # Heads that are tied, or not trained to the end, name nobody; contextual heads may each prefer other candidates
    # than those that fit best together. What was found together stands, and the status says where they differ.
    tied = np.asarray((has_tie(table) & wanted).any(axis=0))
    apart = tuple(
        node
        for node in range(data.n_nodes)
        if not tied[node]
        and len(named.parents[node]) == len(parents[node])
        and named.parents[node] != parents[node]
    )
    blocks = root_blocks(parents, found.state.together) if isinstance(found, Solution) else None
    return Searched(Dag(parents, blocks), table, wanted, ascent, found, apart)


def _found(data: Input, kernel: Kernel | None, settings: Settings) -> Solution | PairsFound:
    if not data.has_families:
        return _from_pairs(data, kernel, settings)
    solution = solve(problem_of(data, kernel, settings, counts_of(data, settings)))
    check_possible(data, solution)
    return solution


def counts_of(data: Input, settings: Settings) -> Counts:
    """The counts to search: of the rows, on a device where one is asked for."""
    if settings.device is None:
        return data.as_read
    from kgmi.counts.torch import TorchCounts

    assert data.table is not None
    rows = data.as_read
    return TorchCounts(data.table.codes, rows.sizes, settings.device, rows.alphabets)


def usual_rate(table: ScoreTable, wanted: Bools) -> float:
    """η with which a head of the usual margin and number of candidates takes about twenty epochs.

    From uniform attention on m candidates a logit rises by about η Δ / (K T m) an epoch.
    """
    seen = survey(table)
    margins = seen.gaps
    chosen = wanted & np.isfinite(margins) & (margins > 0)
    if not chosen.any():
        return PAPER_RATE
    n_heads, n_nodes, _ = table.shape
    usual = np.median(seen.n_candidates[chosen]) / np.median(margins[chosen])
    return float(USUAL_RISE * n_heads * n_nodes * usual)


def root_blocks(
    parents: tuple[tuple[int, ...], ...], together: tuple[tuple[int, ...], ...]
) -> list[tuple[int, ...]]:
    """Roots one by one, except those that are drawn together."""
    blocks: dict[int, tuple[int, ...]] = {}
    roots = [node for node, chosen in enumerate(parents) if not chosen]
    for node in sorted(roots, key=lambda root: len(together[root])):
        block = (*together[node], node)
        blocks.update(dict.fromkeys(block, block))
    return list(dict.fromkeys(blocks.values()))


def problem_of(data: Input, kernel: Kernel | None, settings: Settings, counts: Counts | None = None) -> Problem:
    """What is searched, from the settings; by default with equal rows as one."""
    observed, n_heads = counts or data.observed, settings.n_heads
    if data.counts is not None:
        _check_counts(data.counts, n_heads, settings.guide, is_known=kernel is not None)
    data.candidates.check_heads(n_heads)
    if data.candidates.n_pairs == 0:
        raise SettingError("no column may be a parent of any other under these tiers, lags and forbidden edges")
    told = () if isinstance(settings.roots, str) else settings.roots
    if torn := [node for node in told if data.candidates.required[node]]:
        raise SettingError(f"{data.names[torn[0]]} is told to be a root, but a parent of it is required")
    mixed = settings.in_degree == "mixed"
    known: dict[int, Floats] = {}
    if kernel is not None:
        if len(set(observed.alphabets)) > 1 or observed.sizes[0] != kernel.n_states:
            raise KernelError(
                f"the kernel is over {kernel.n_states} states, the columns have {sorted(set(observed.sizes))}; a "
                "known kernel needs one alphabet for all columns"
            )
        degrees = range(1, n_heads + 1) if mixed else (n_heads,)
        known = {d: kernel.table if d == n_heads else kernel.marginalise(d).table for d in degrees}
        _check_degrees(data, settings, known)
    if settings.guide == "contextual" and len(set(observed.alphabets)) > 1:
        raise DataError(
            "the guide 'contextual' needs one alphabet for all columns: read the rows with alphabet='shared' "
            "(--alphabet shared), or use 'likelihood'"
        )
    guide: Likelihood | Contextual = Likelihood(observed)
    search = settings.search
    if settings.guide == "contextual":
        smoothing = 0.0 if observed.is_exact else settings.smoothing
        guide = Contextual(data.pair_joint(smoothing), observed)
        if n_heads > 2 and search == "auto":  # more than two heads are not scored jointly by this guide
            search = "heads"
    return Problem(
        counts=observed,
        candidates=data.candidates,
        guide=guide,
        n_heads=n_heads,
        degrees=tuple(range(n_heads + 1)) if mixed else (0, n_heads),
        labels=class_labels(settings.classes, data.names),
        penalty=settings.penalty,
        share=settings.share,
        smoothing=settings.smoothing,
        error=None if isinstance(settings.error, str) else float(settings.error),
        known=known,
        search=search,
        list_length=settings.list_length,
        roots=None if isinstance(settings.roots, str) else frozenset(_told_roots(data, settings.roots)),
        rounds=settings.rounds,
        starts=settings.starts,
        n_choices=data.n_choices,
    )


def _check_counts(counts: CountedTable, n_heads: int, guide: str, *, is_known: bool) -> None:
    """Refuse counts that do not hold what a search asks for; where the kernel ``is_known``, it says how many."""
    has_gaps, width, fewer = counts.tally.has_gaps, counts.tally.width, counts.n_parents
    needed, enough = (family_width(one, counts.n_nodes, has_gaps=has_gaps) for one in (n_heads, fewer))
    if needed > width:
        gaps = ", as values are missing" if has_gaps else ""
        learn = "" if is_known or enough > width else f", or learn with n_parents={fewer}"
        whose = " of the kernel" if is_known else ""
        parents = f"{n_heads} parents" if n_heads > 1 else "one parent"
        raise SettingError(
            f"these counts are of sets of {width} columns, and {parents}{whose} with the guide "
            f"'{guide}' {'need' if n_heads > 1 else 'needs'} sets of {needed}{gaps}; count again with "
            f"n_parents={n_heads}{learn}"
        )


def _told_roots(data: Input, roots: Collection[int]) -> set[int]:
    """The roots that were told; the first node of a given order is one in any case."""
    return {*roots} if data.candidates.is_open else {data.candidates.sequence()[0], *roots}


def _check_degrees(data: Input, settings: Settings, known: dict[int, Floats]) -> None:
    """Refuse a node that must have parents, but not as many as the known kernel takes."""
    told = None if isinstance(settings.roots, str) else _told_roots(data, settings.roots)
    for node in range(data.n_nodes):
        required, most = len(data.candidates.required[node]), len(data.candidates.of(node))
        least = max(required, 1) if told is not None and node not in told else required
        if least > 0 and not any(least <= degree <= most for degree in known):
            why = "has required parents" if required else "is not among the roots that were told"
            raise SettingError(
                f"{data.names[node]} {why}, but has {most} {'candidate' if most == 1 else 'candidates'}, and the "
                f"known kernel takes {settings.n_heads} parents; allow fewer (in_degree='mixed'), or make it a root"
            )


def _from_pairs(data: Input, kernel: Kernel | None, settings: Settings) -> PairsFound:
    if settings.guide != "contextual":
        raise DataError("the guide 'likelihood' needs the rows, not only statistics of pairs")
    if kernel is None:
        raise KernelError("from statistics of pairs the guide 'contextual' needs the kernel; give it, or the rows")
    if any(data.candidates.required):
        raise SettingError("required edges need the rows, not only statistics of pairs")
    roots = settings.roots
    if isinstance(roots, str):
        roots = find_roots(data.scorable(0.0), settings.root_level, data.candidates.allowed)
    joint = data.pair_joint(settings.smoothing)
    start = scores(joint, kernel, "kl", "stationary", allowed=data.candidates.allowed)
    return search_pairs(joint, kernel.table, start, data.candidates, roots, settings.search, settings.rounds)


def as_model(data: Input, dag: Dag, found: Solution | PairsFound | None) -> Model | None:
    """The law of rows that the result stands for; None where there are no rows to estimate it from.

    Counts of pairs are enough for the guides of pairs, and too few for the laws of nodes with two parents.
    """
    if not data.has_families:
        return None
    from kgmi.learning.laws import are_counted, laws_of

    if not are_counted(data.observed, dag):
        return None
    return laws_of(data.observed, dag, found if isinstance(found, Solution) else None)
