"""``learn``: from rows, or from the population, to a graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from kgmi.alphabets import Alphabet, Missing
from kgmi.attention import Ascent, ascend, limit
from kgmi.candidates import Order
from kgmi.divergence import Divergence
from kgmi.errors import KernelError
from kgmi.guides.labelled import LabelledForm
from kgmi.kernel import AnyKernel, Kernel
from kgmi.learning.classes import Classes
from kgmi.learning.inputs import Edges, Source
from kgmi.learning.learned import MAKERS, Learned
from kgmi.learning.paired import learn_from_pairs
from kgmi.learning.ready import Ready, make_ready
from kgmi.learning.result import searched_result
from kgmi.learning.room import block_bytes
from kgmi.learning.searched import Climber, counts_of, search_rows, usual_rate
from kgmi.learning.settings import SEARCHING, InDegree, KernelSource, Settings, Solver
from kgmi.memory import carried, read_bytes, within
from kgmi.penalty import Penalty
from kgmi.problem import LIST_LENGTH, SearchMode, Share
from kgmi.progress import Listener, tell, telling
from kgmi.types import Bools, Names, PathLike, ScoreTable

__all__ = ["learn"]


def learn(
    rows: Source,
    *,
    n_states: int | None = None,
    states: Names | None = None,
    n_parents: int | None = None,
    kernel: AnyKernel | None = None,
    kernel_source: KernelSource | None = None,
    guide: str | None = None,
    divergence: str | Divergence | None = None,
    search: SearchMode = "auto",
    list_length: int = LIST_LENGTH,
    in_degree: InDegree | None = None,
    penalty: str | float | Penalty = "nml",
    share: Share = "auto",
    classes: Classes | None = None,
    error: float | Literal["estimate"] = 0.0,
    missing: Missing = "error",
    alphabet: Alphabet = "auto",
    order: Order = "given",
    forbidden: Edges | None = None,
    required: Edges | None = None,
    tiers: Sequence[Any] | Mapping[Any, Any] | None = None,
    max_lag: int | None = None,
    windows: int | None = None,
    roots: Collection[int | str] | Literal["test"] = "test",
    root_level: float = 0.01,
    starts: int = 6,
    rounds: int = 50,
    solver: Solver = "ascent",
    rate: float | None = None,
    epochs: int = 50_000,
    stop: float = 0.1,
    smoothing: float = 1.0,
    kappa: float = 0.0,
    labelled_form: LabelledForm = "printed",
    names: Names | None = None,
    memory_limit: int | str | None = None,
    device: str | None = None,
    checkpoint: PathLike | None = None,
    cluster: Any = None,
    record_at: Sequence[int] | None = None,
    progress: Listener | None = None,
) -> Learned:
    """Learn a graph whose nodes are the columns, in their order or in one that is learned too.

    Parameters
    ----------
    rows
        A table in any form: whole numbers ``rows[row, node]``, a data frame, a :class:`kgmi.Table`, one that
        :func:`kgmi.prepare` made fit for learning, labelled rows (appendix C-B); rows that need not fit into
        memory (:func:`kgmi.stream`), or their counts (:func:`kgmi.count`); or counts of pairs or an exact
        :class:`kgmi.PairJoint`; or a :class:`kgmi.Process`, to learn from the population in exact arithmetic.
    n_states, states
        S, or the states in their order: whole numbers 0..S-1 are then codes, even where one never occurs. By
        default those of the kernel, or what occurs.
    n_parents
        K, the most parents of a node; by default as many as the kernel has, else 2 (1 where only statistics of
        pairs are given, or counts for one parent).
    kernel, kernel_source
        The shared kernel, or the finite law of kernels behind the exact joints of a random kernel. It is ``known``
        (given), ``labelled`` (estimated from the labelled tail) or ``learned`` together with the graph; by default
        known when it is given and learned when not.
    guide
        ``likelihood`` (the default from rows), ``contextual``, ``stationary`` (the paper's KG-MI, the default from
        statistics of pairs with a kernel), ``uniform``, ``plain`` (mutual information, the default from statistics
        of pairs without a kernel) or ``labelled`` (the default for labelled rows).
    divergence
        Of the paper's guides: name or :class:`kgmi.Divergence`; ``-matched`` behind a name gives its matched form.
        By default ``kl``; the labelled estimator is always ``pearson``.
    search, list_length
        How the heads of a child are searched for jointly by ``likelihood`` and ``contextual``: over ``lists`` of
        ``list_length`` candidates a head, over all tuples (``exhaustive``), not at all (``heads``, one after the
        other), or ``auto``: exhaustive where that is a matter of seconds, else over lists.
    in_degree
        ``uniform``: nodes have 0 or K parents. ``mixed``: 0..K, by penalised likelihood, or, for the paper's
        guides, read off concentrated heads (appendix A). By default mixed when the kernel is learned, else uniform.
    penalty
        Price of the parameters of learned kernels: ``nml`` (normalised maximum likelihood, of which BIC is the
        limit), ``bic``, ``aic``, ``none``, or nats per parameter. The number of candidate sets is always counted.
    share
        Whether nodes with equally many parents (over the same alphabets) have one learned kernel: ``shared``,
        ``node`` (one for each), ``classes`` (as many kernels, each for as many nodes, as describe the rows best),
        or ``auto``: all of these are learned and the best description of the rows is kept. Of more than 60 nodes,
        ``auto`` looks for classes only near the better of the two limits.
    classes
        Which columns follow the same kernels, where that is known: {column: class}, a class for every column in
        order, or groups of columns; columns that are not mentioned are one class more.
    error
        ε: share of readings of a child that are random instead (genotyping errors, typos); ``estimate`` with a
        known kernel.
    missing, alphabet
        What a missing value is (``error``, ``category``, ``pairwise``), and whether all columns have one alphabet
        (``shared``), each its ``own``, or the values decide (``auto``); see :func:`kgmi.table.as_table`.
    order
        ``given``: parents stand before their children, in the order of the columns. The columns in another order.
        Or ``learn``: the order is found too; :attr:`Learned.directions` says how sure each direction is.
    forbidden, required
        Edges (parent, child), by name or column number, that must not or must be there.
    tiers
        Generations: the number of the tier of every column, or groups of columns, earliest first. Candidates are
        the columns of earlier tiers, and with ``order='learn'`` those of the same tier too; columns may stand in
        any order.
    max_lag
        How many columns (or tiers) back a parent may be.
    windows
        ``rows`` is one long sequence; learn which of the last ``windows`` - 1 positions the newest depends on.
    roots
        Known roots, by name or number: these and no others, so that every other node is given parents. Or ``test``:
        by penalised likelihood, or, for the paper's guides, nodes independent of all earlier ones (G-test at
        ``root_level``).
    root_level
        Family-wise level of that test.
    starts, rounds
        Most starts of a search for kernels, and most rounds of re-guiding from each.
    solver
        ``ascent``: gradient ascent as in the paper. ``limit``: the point it converges to, at once.
    rate, epochs, stop
        η, the most epochs, and ε_attn: a head is done with more than 1 − ε_attn on one candidate. By default η is
        the paper's 10; for ``likelihood`` and ``contextual``, whose scores grow with the rows, it is such that the
        usual head takes about twenty epochs.
    smoothing
        Pseudo-rows spread evenly over the cells of every pair, or pseudo-cases for each configuration of the
        parents of a learned kernel; 0 is the plain plug-in estimate.
    kappa, labelled_form
        κ of the labelled estimator, and its form: ``printed``, ``factorised`` or ``reweighted``.
    names
        Names of the nodes.
    memory_limit
        The most memory that the fit may take beyond what is loaded already, in bytes or as a text like ``2GB``:
        work is done in smaller blocks, with the same result. Where even the smallest are too much, it is refused
        before any work.
    device
        ``cuda`` (or ``cuda:1`` …): count pairs and large families on that device with PyTorch (``kgmi[gpu]``);
        ``cpu`` runs the same code without one. The search and its result are the same.
    checkpoint, cluster
        For rows that come in pieces (:func:`kgmi.stream`): a folder that keeps what was counted, so that a run that
        was ended goes on from there; and the Dask cluster that counts, ``local:4`` or the address of a scheduler.
    record_at, progress
        Epochs to keep in the trace; a function called with a :class:`kgmi.progress.Step` now and then, in all
        phases (reading, counting, search, ascent, report), maybe from another thread. What it raises stops the fit.
    """
    given = dict(locals())
    if progress is None:  # who listens already, goes on doing so
        return _learn(given)
    with telling(progress):
        return _learn(given)


def _learn(given: dict[str, Any]) -> Learned:
    """:func:`learn`, with all that it was given."""
    most = read_bytes(given["memory_limit"])
    tell("reading", 0, None, "rows")
    with within(most, None if most is None else most // 4):  # sizes are not known yet
        ready = make_ready(given, learn.__kwdefaults__ or {})
    climb = partial(_climb, ready.settings, given["record_at"])
    with within(most, block_bytes(ready, most)):
        made = _fitted(ready, climb)
        if most is None:
            return made
        later: dict[str, Any] = {maker: carried(getattr(made, maker)) for maker in MAKERS}
        return replace(made, **later)


def _fitted(ready: Ready, climb: Climber) -> Learned:
    """Score or search, train, decode."""
    data, settings, kernel = ready.data, ready.settings, ready.kernel
    if settings.guide not in SEARCHING:
        if settings.device is not None:
            data = replace(data, statistics=counts_of(data, settings).pairs())
        return learn_from_pairs(data, kernel, settings, climb)
    if kernel is not None and not isinstance(kernel, Kernel):
        raise KernelError(f"the guide '{settings.guide}' needs one kernel for all rows, not a law over kernels")
    tell("search", 0, None, "nodes")
    searched = search_rows(data, kernel, settings, climb)
    tell("report", 0, None, "nodes")
    return searched_result(data, kernel, settings, searched)


def _climb(settings: Settings, record_at: Sequence[int] | None, table: ScoreTable, wanted: Bools) -> Ascent:
    """Train the heads on a score table; only the ``wanted`` ones are waited for."""
    if not wanted.any() and np.isnan(table).all():  # no node has parents to look for
        return Ascent(np.zeros(table.shape), np.full(table.shape[:2], -1), 0)
    if settings.solver == "limit":
        return limit(table)
    return ascend(
        table,
        rate=usual_rate(table, wanted) if settings.rate is None else settings.rate,
        epochs=settings.epochs,
        stop=settings.stop,
        wait_for=wanted,
        record_at=record_at,
        progress=_tell_epochs,
    )


def _tell_epochs(epoch: int, epochs: int) -> None:
    tell("ascent", epoch, epochs, "epochs")
