"""``learn``: from rows, or from the population, to a graph."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from kgmi.ascent import Ascent, Progress, ascend, has_tie, limit
from kgmi.data import Table
from kgmi.decode import DecodeRule, decode
from kgmi.divergence import Divergence, divergence_named
from kgmi.errors import DataError, KernelError, SettingError
from kgmi.graph import Dag
from kgmi.guides import scores
from kgmi.guides.labelled import LabelledForm, labelled_scores
from kgmi.joint import PairJoint, PairMixture
from kgmi.kernel import AnyKernel, Kernel, check_kernel
from kgmi.learning.inputs import Input, Source, gather
from kgmi.learning.learned import Learned
from kgmi.learning.settings import InDegree, Settings, Solver
from kgmi.learning.status import cautions, closest_call, describe, describe_roots, state_names, thin_data
from kgmi.roots import find_roots
from kgmi.sampling import LabelledRows
from kgmi.statistics import PairCounts
from kgmi.theory import check_fit
from kgmi.types import Bools, Names, ScoreTable

__all__ = ["learn"]


def learn(
    rows: Source,
    *,
    n_states: int | None = None,
    n_parents: int | None = None,
    kernel: AnyKernel | None = None,
    guide: str | None = None,
    divergence: str | Divergence | None = None,
    solver: Solver = "ascent",
    rate: float = 10.0,
    epochs: int = 50_000,
    stop: float = 0.1,
    smoothing: float = 1.0,
    in_degree: InDegree = "uniform",
    roots: Collection[int] | Literal["test"] = "test",
    root_level: float = 0.01,
    kappa: float = 0.0,
    labelled_form: LabelledForm = "printed",
    names: Names | None = None,
    record_at: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> Learned:
    """Learn a graph whose nodes are the columns, in their order.

    Parameters
    ----------
    rows
        State codes ``rows[row, node]``, a :class:`kgmi.Table`, labelled rows (appendix B), counts, or an exact
        :class:`kgmi.PairJoint` to learn from the population.
    n_states, n_parents
        S and K; by default those of the kernel. Without a kernel S is the largest code + 1 and K is 1.
    kernel
        The shared kernel, or the finite law of kernels behind the exact joints of a random kernel.
    guide
        ``stationary`` (KG-MI, the default with a kernel), ``uniform``, ``plain`` (mutual information, the
        default without a kernel) or ``labelled`` (the default for labelled rows).
    divergence
        Name or :class:`kgmi.Divergence`; ``-matched`` behind a name gives its matched form. By default ``kl``; the
        labelled estimator is always ``pearson``.
    solver
        ``ascent``: gradient ascent as in the paper. ``limit``: the point it converges to, at once.
    rate, epochs, stop
        η, the most epochs, and ε_attn: a head is done with more than 1 − ε_attn on one candidate.
    smoothing
        Pseudo-rows spread evenly over the cells of every pair of columns; 0 is the plain plug-in estimate.
    in_degree
        ``uniform``: nodes have 0 or K parents. ``mixed``: 0..K (appendix A), read off concentrated heads.
    roots
        Known roots, or ``test``: nodes independent of all earlier ones (G-test at ``root_level``).
    root_level
        Family-wise level of that test.
    kappa, labelled_form
        κ of the labelled estimator, and whether it is taken as ``printed`` or ``factorised``.
    names
        Names of the nodes.
    record_at, progress
        Epochs to keep in the trace; a function called with (epoch, epochs) now and then.
    """
    check_kernel(kernel)
    sized = isinstance(rows, Table | PairJoint | PairCounts | PairMixture)  # these know their S
    if n_states is None and kernel is not None and not sized:
        n_states = kernel.n_states
    if guide is None:
        guide = "labelled" if isinstance(rows, LabelledRows) else "plain" if kernel is None else "stationary"
    settings = Settings(
        n_heads=_head_count(rows, kernel, n_parents),
        guide=guide,
        divergence=divergence_named(divergence or ("pearson" if guide == "labelled" else "kl")),
        solver=solver,
        rate=rate,
        epochs=epochs,
        stop=stop,
        smoothing=smoothing,
        in_degree=in_degree,
        roots=roots,
        root_level=root_level,
        kappa=kappa,
        labelled_form=labelled_form,
    )
    data = gather(rows, n_states, names, kappa)
    if data.pairs.n_nodes <= settings.n_heads:
        raise SettingError(
            f"{settings.n_heads} parents need at least {settings.n_heads + 1} columns, got {data.pairs.n_nodes}"
        )
    table = _score(data, kernel, settings)
    roots_known = _known_roots(data, settings)
    wanted = np.ones(table.shape[:2], dtype=bool)
    wanted[:, list(roots_known)] = False
    if solver == "limit":
        ascent = limit(table)
    else:
        ascent = ascend(
            table,
            rate=rate,
            epochs=epochs,
            stop=stop,
            wait_for=wanted,
            record_at=record_at,
            progress=progress,
        )
    rule: DecodeRule = "argmax" if in_degree == "uniform" else "concentrated"
    dag = decode(ascent.attention, rule=rule, roots=roots_known)
    return _result(data, kernel, settings, table, wanted, ascent, dag)


def _result(
    data: Input,
    kernel: AnyKernel | None,
    settings: Settings,
    table: ScoreTable,
    wanted: Bools,
    ascent: Ascent,
    dag: Dag,
) -> Learned:
    """Everything that is known at the end; sentences and report are made when somebody looks at them."""
    undecided = tuple(node for node in dag.roots if wanted[:, node].any())
    joint, observed = data.pair_joint(settings.smoothing), data.pair_joint(0.0)

    def explain() -> str:
        tied = has_tie(table)
        sentences = [
            describe(ascent, wanted, tied, settings.stop, data.names),
            describe_roots(data.names, dag.roots, undecided),
            *closest_call(table, wanted & ~tied, data.names),
            *cautions(kernel, settings.guide, settings.divergence, settings.n_heads),
            *state_names(kernel, data.states),
            *thin_data(observed, data.names, data.states),
        ]
        return " ".join(sentences)

    for array in (ascent.attention, ascent.stopped, table):
        array.setflags(write=False)
    return Learned(
        dag=dag,
        attention=ascent.attention,
        scores=table,
        converged=bool((ascent.stopped >= 0)[wanted].all()),
        kernel=kernel,
        stopped=ascent.stopped,
        undecided=undecided,
        names=data.names,
        states=data.states,
        configuration={"n_rows": joint.n_rows, "n_states": joint.n_states, **settings.to_dict()},
        joint=joint,
        retrace=lambda: ascent.trace,
        identify=data.identify,
        explain=explain,
        assess=lambda: check_fit(dag, kernel, observed, data.names) if isinstance(kernel, Kernel) else None,
    )


def _head_count(rows: Source, kernel: AnyKernel | None, n_parents: int | None) -> int:
    """K: as told, else what the kernel or the labelled tail has, else 1."""
    known = None if kernel is None else kernel.n_parents
    if isinstance(rows, LabelledRows):
        tail = rows.uniform.shape[1]
        if known not in (None, tail):
            raise SettingError(f"the labelled tail has {tail} parents, but the kernel has {known}")
        known = tail
    if n_parents is not None and n_parents < 1:
        raise SettingError(f"n_parents must be at least 1, got {n_parents}")
    if known is not None and n_parents not in (None, known):
        raise SettingError(f"n_parents is {n_parents}, but the kernel or labelled tail has {known} parents")
    return n_parents or known or 1


def _score(data: Input, kernel: AnyKernel | None, settings: Settings) -> ScoreTable:
    if settings.guide != "labelled":
        return scores(
            data.scorable(settings.smoothing),
            kernel,
            settings.divergence,
            settings.guide,
            n_heads=settings.n_heads,
        )
    if data.labelled is None:
        raise DataError("the guide 'labelled' needs rows with a labelled tail (kgmi.LabelledRows)")
    if kernel is not None and kernel.n_states != data.pairs.n_states:
        raise KernelError(f"the data have {data.pairs.n_states} states, the kernel {kernel.n_states}")
    return labelled_scores(data.labelled, settings.labelled_form)


def _known_roots(data: Input, settings: Settings) -> tuple[int, ...]:
    """Nodes that can have no parents: told or tested, and, with in-degree 0 or K, those with too few candidates."""
    n_nodes = data.pairs.n_nodes
    if isinstance(settings.roots, str):
        found = set(find_roots(data.scorable(0.0), settings.root_level))
    else:
        found = {0, *settings.roots}
        if not found <= set(range(n_nodes)):
            raise SettingError(f"roots must be nodes 0..{n_nodes - 1}, got {sorted(found)}")
    if settings.in_degree == "uniform":
        found |= set(range(settings.n_heads))
    return tuple(sorted(found))
