"""``learn``: from rows, or from the population, to a graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from kgmi.ascent import Ascent, Progress, ascend, limit
from kgmi.candidates import Order
from kgmi.data import Alphabet, Missing, Table
from kgmi.divergence import Divergence, divergence_named
from kgmi.errors import KernelError, SettingError
from kgmi.guides.labelled import LabelledForm
from kgmi.joint import PairJoint, PairMixture
from kgmi.kernel import AnyKernel, Kernel, check_kernel
from kgmi.learning.classes import Classes, read_classes
from kgmi.learning.idle import refuse_idle
from kgmi.learning.inputs import Edges, Input, Limits, Reading, Source, gather
from kgmi.learning.learned import Learned
from kgmi.learning.ordered import check_open
from kgmi.learning.paired import learn_from_pairs
from kgmi.learning.result import searched_result
from kgmi.learning.searched import search_rows, usual_rate
from kgmi.learning.settings import PAPER_RATE, SEARCHING, InDegree, KernelSource, Settings, Solver, check_whole
from kgmi.penalty import Penalty, penalty_named
from kgmi.process import Process
from kgmi.sampling import LabelledRows
from kgmi.search import LIST_LENGTH, SearchMode, Share
from kgmi.statistics import PairCounts, tail_kernel
from kgmi.types import Bools, Names, ScoreTable

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
    alphabet: Alphabet = "shared",
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
    record_at: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> Learned:
    """Learn a graph whose nodes are the columns, in their order or in one that is learned too.

    Parameters
    ----------
    rows
        A table in any form: whole numbers ``rows[row, node]``, a data frame, a :class:`kgmi.Table`, labelled
        rows (appendix B); or counts or an exact :class:`kgmi.PairJoint`; or a :class:`kgmi.Process`, to learn from
        the population in exact arithmetic.
    n_states, states
        S, or the states in their order: whole numbers 0..S-1 are then codes, even where one never occurs. By
        default those of the kernel, or what occurs.
    n_parents
        K, the most parents of a node; by default as many as the kernel has, else 2 (1 where only statistics of
        pairs are given).
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
        (``shared``) or each its ``own``; see :func:`kgmi.data.as_table`.
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
        usual head takes some dozens of epochs.
    smoothing
        Pseudo-rows spread evenly over the cells of every pair, or pseudo-cases for each configuration of the
        parents of a learned kernel; 0 is the plain plug-in estimate.
    kappa, labelled_form
        κ of the labelled estimator, and whether it is taken as ``printed`` or ``factorised``.
    names
        Names of the nodes.
    record_at, progress
        Epochs to keep in the trace; a function called with (epoch, epochs) now and then.
    """
    given = dict(locals())  # the options as they came, before any of them is filled in
    check_kernel(kernel)
    source, kernel = _kernel_from(rows, kernel, kernel_source)
    known_heads = _known_heads(rows, kernel, n_parents)
    sized = isinstance(rows, Table | PairJoint | PairCounts | PairMixture | Process)  # these know their S
    if n_states is None and kernel is not None and not sized and states is None and alphabet == "shared":
        n_states = kernel.n_states
    guide = guide or _default_guide(rows, kernel, source)
    paired = guide not in SEARCHING
    reading = Reading(n_states, states, names, missing, alphabet, windows, kappa, paired)
    data = gather(rows, reading, Limits(forbidden, required, tiers, max_lag, order))
    settings = Settings(
        n_heads=n_parents or known_heads or (min(2, data.n_nodes - 1) if guide in SEARCHING else 1),
        guide=guide,
        divergence=divergence_named(divergence or ("pearson" if guide == "labelled" else "kl")),
        solver=solver,
        rate=PAPER_RATE if rate is None and paired else rate,
        epochs=epochs,
        stop=stop,
        smoothing=smoothing,
        in_degree=in_degree or ("mixed" if guide in SEARCHING and kernel is None else "uniform"),
        roots=_root_nodes(roots, data),
        root_level=root_level,
        kappa=kappa,
        labelled_form=labelled_form,
        kernel_source=source if guide in SEARCHING or kernel is not None else None,
        search=search,
        list_length=list_length,
        penalty=penalty_named(penalty),
        share="shared" if classes is not None and share == "auto" else share,
        error=error,
        starts=starts,
        rounds=rounds,
        order="learn" if data.candidates.is_open else "given",
        classes=read_classes(classes, data.candidates.rules.columns),
    )
    refuse_idle(given, learn.__kwdefaults__ or {}, guide, data)
    if data.n_nodes <= settings.n_heads:
        raise SettingError(
            f"{settings.n_heads} parents need at least {settings.n_heads + 1} columns, got {data.n_nodes}"
        )
    check_open(data, settings)
    climb = partial(_climb, settings=settings, record_at=record_at, progress=progress)
    if guide not in SEARCHING:
        return learn_from_pairs(data, kernel, settings, climb)
    if kernel is not None and not isinstance(kernel, Kernel):
        raise KernelError(f"the guide '{guide}' needs one kernel for all rows, not a law over kernels")
    return searched_result(kernel, settings, search_rows(data, kernel, settings, climb))


def _root_nodes(roots: Collection[int | str] | Literal["test"], data: Input) -> Collection[int] | Literal["test"]:
    """The roots as nodes: they may be named, and tiers may have moved their columns."""
    if isinstance(roots, str):
        return roots  # type: ignore[return-value]  # another text is refused with the other settings
    number = dict(zip(data.names, data.candidates.order, strict=True))
    unknown = [root for root in roots if isinstance(root, str) and root not in number]
    if unknown:
        raise SettingError(f"roots has {unknown[0]!r}, which is no column")
    for root in roots:
        data.candidates.rules.columns.check_number(root, "roots")
    columns = [number[root] if isinstance(root, str) else root for root in roots]
    if not set(columns) <= set(range(data.n_nodes)):
        raise SettingError(f"roots must be nodes 0..{data.n_nodes - 1}, got {sorted(columns)}")
    return data.candidates.to_nodes(columns)


def _climb(
    table: ScoreTable,
    wanted: Bools,
    settings: Settings,
    record_at: Sequence[int] | None,
    progress: Progress | None,
) -> Ascent:
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
        progress=progress,
    )


def _kernel_from(
    rows: Source, kernel: AnyKernel | None, source: KernelSource | None
) -> tuple[KernelSource, AnyKernel | None]:
    """Where the kernel comes from, and the kernel itself unless it is learned."""
    if source not in (None, "known", "labelled", "learned"):
        raise SettingError(f"kernel_source must be known, labelled or learned; got {source!r}")
    source = source or ("learned" if kernel is None else "known")
    if (source == "known") != (kernel is not None):
        what = "needs the kernel: give kernel=…" if kernel is None else "does not go with a kernel that is given"
        raise SettingError(f"kernel_source='{source}' {what}")
    if source != "labelled":
        return source, kernel
    if not isinstance(rows, LabelledRows):
        raise SettingError("kernel_source='labelled' needs rows with a labelled tail (kgmi.LabelledRows)")
    return source, tail_kernel(rows)


def _default_guide(rows: Source, kernel: AnyKernel | None, source: KernelSource) -> str:
    if isinstance(rows, LabelledRows) and source != "labelled":
        return "labelled"
    random = kernel is not None and not isinstance(kernel, Kernel)
    if random or isinstance(rows, PairJoint | PairCounts | PairMixture):
        return "plain" if kernel is None else "stationary"
    return "likelihood"


def _known_heads(rows: Source, kernel: AnyKernel | None, n_parents: int | None) -> int | None:
    """K as the kernel or the labelled tail has it; what was asked for must agree."""
    known = None if kernel is None else kernel.n_parents
    if isinstance(rows, LabelledRows):
        tail = rows.uniform.shape[1]
        if known not in (None, tail):
            raise SettingError(f"the labelled tail has {tail} parents, but the kernel has {known}")
        known = tail
    if n_parents is not None:
        check_whole("n_parents", n_parents)
    if known is not None and n_parents not in (None, known):
        raise SettingError(f"n_parents is {n_parents}, but the kernel or labelled tail has {known} parents")
    return known
