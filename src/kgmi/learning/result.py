"""``Learned`` put together; sentences and reports are made when somebody looks at them."""

from __future__ import annotations

from functools import cache
from typing import Any

from kgmi.attention import Ascent, has_tie
from kgmi.graph import Dag
from kgmi.kernel import AnyKernel, Kernel
from kgmi.learning.certified import witness_of
from kgmi.learning.checked import check_result
from kgmi.learning.inputs import Input
from kgmi.learning.kernels import kernel_estimates, main_kernel
from kgmi.learning.learned import Fit, Learned
from kgmi.learning.ordered import named_directions, tell_order
from kgmi.learning.searched import Searched, as_model
from kgmi.learning.settings import Settings
from kgmi.learning.status import cautions, closest_call, describe, describe_roots, state_names, thin_data
from kgmi.learning.story import tell_data, tell_search
from kgmi.search import Solution
from kgmi.search.pairs import PairsFound
from kgmi.theory import check_fit
from kgmi.types import Bools, ScoreTable

__all__ = ["paired_result", "searched_result"]


def paired_result(
    data: Input,
    kernel: AnyKernel | None,
    settings: Settings,
    table: ScoreTable,
    wanted: Bools,
    ascent: Ascent,
    dag: Dag,
) -> Learned:
    """The result of a guide of pairs."""
    undecided = tuple(node for node in dag.roots if wanted[:, node].any())
    observed = data.pair_joint(0.0)

    def explain() -> str:
        tied = has_tie(table)
        return " ".join(
            [
                describe(ascent, wanted, tied, settings.stop, data.names),
                describe_roots(data.names, dag.roots, undecided),
                *closest_call(table, wanted & ~tied, data.names),
                *cautions(kernel, settings.guide, settings.divergence, settings.n_heads),
                *state_names(kernel, data.states),
                *thin_data(observed, data.names, data.states),
                *tell_data(data, dag),
            ]
        )

    return _made(
        data,
        kernel=kernel,
        undecided=undecided,
        joint=data.pair_joint(settings.smoothing),
        explain=explain,
        assess=lambda: check_fit(dag, kernel, observed, data.names) if isinstance(kernel, Kernel) else None,
        remodel=lambda: as_model(data, dag, None),
        examine=lambda: check_result(data, dag, settings.n_heads, kernel, None),
        witness=witness_of(data, kernel, settings, dag, None),
        **_common(data, settings, table, wanted, ascent, dag, data.candidates.sequence()),
    )


def searched_result(data: Input, kernel: Kernel | None, settings: Settings, searched: Searched) -> Learned:
    """The result of a guide of families."""
    dag, table, wanted, ascent, found = (
        searched.dag,
        searched.table,
        searched.wanted,
        searched.ascent,
        searched.found,
    )
    estimates = kernel_estimates(found, settings.classes) if isinstance(found, Solution) else ()
    nats = settings.guide == "likelihood" and data.weights is None
    unit = " nats of log-likelihood" if nats else ""
    told = data.n_rows is not None and not data.never_together

    @cache
    def directions() -> dict[tuple[str, str], float] | None:
        return named_directions(found, data.names) if isinstance(found, Solution) else None

    def explain() -> str:
        tied = has_tie(table)
        return " ".join(
            [
                describe(ascent, wanted, tied, settings.stop, data.names),
                *tell_search(data, settings, searched, estimates),
                *(tell_order(data.names, found, directions()) if isinstance(found, Solution) else ()),
                *closest_call(table, wanted & ~tied, data.names, unit),
                *state_names(kernel, data.states),
                *(thin_data(data.pair_joint(0.0), data.names, data.states) if told else ()),
                *tell_data(data, dag),
            ]
        )

    return _made(
        data,
        kernel=kernel or main_kernel(estimates, found),
        undecided=(),
        kernels=estimates,
        fit=_fit(found) if isinstance(found, Solution) else None,
        explain=explain,
        assess=lambda: check_fit(dag, kernel, data.pair_joint(0.0), data.names) if kernel and told else None,
        remodel=lambda: as_model(data, dag, found),
        examine=lambda: check_result(data, dag, settings.n_heads, kernel, found),
        direct=directions,
        witness=witness_of(data, kernel, settings, dag, found if isinstance(found, Solution) else None),
        **_common(data, settings, table, wanted, ascent, dag, _order(data, found)),
    )


def _order(data: Input, found: Solution | PairsFound) -> tuple[int, ...]:
    return found.order if isinstance(found, Solution) else data.candidates.sequence()


def _made(data: Input, **parts: Any) -> Learned:
    """The result; where there are many rows, what is made from them is made now, so that they need not be kept."""
    if data.is_large:
        for maker in {"explain", "assess", "remodel", "direct", "examine"} & parts.keys():
            made = parts[maker]()
            parts[maker] = lambda made=made: made
    return Learned(**parts)


def _common(
    data: Input,
    settings: Settings,
    table: ScoreTable,
    wanted: Bools,
    ascent: Ascent,
    dag: Dag,
    order: tuple[int, ...],
) -> dict[str, Any]:
    for array in (ascent.attention, ascent.stopped, table):
        array.setflags(write=False)
    limits = {} if data.candidates.is_full else data.candidates.rules.to_dict()
    return {
        "dag": dag,
        "attention": ascent.attention,
        "scores": table,
        "converged": bool((ascent.stopped >= 0)[wanted].all()),
        "stopped": ascent.stopped,
        "names": data.names,
        "states": data.states,
        "alphabets": data.own_alphabets,
        "order": order,
        "configuration": {
            "n_rows": data.n_rows,
            "n_states": len(data.states),
            **settings.to_dict(),
            **({"candidates": limits} if limits else {}),
            **({"prepared": list(data.prepared)} if data.prepared else {}),
            **({"reading": dict(data.reading)} if data.reading else {}),
            **({"cut": list(data.cut)} if data.cut else {}),
        },
        "retrace": lambda: ascent.trace,
        "identify": data.identify,
    }


def _fit(found: Solution) -> Fit:
    return Fit(
        score=found.score.total,
        rounds=found.state.rounds,
        settled=found.state.settled,
        n_starts=found.n_starts,
        shared=found.share != "node",
        shared_score=found.scores.get("shared"),
        node_score=found.scores.get("node"),
        share=found.share,
        classes_score=found.scores.get("classes"),
        proved=found.is_proved,
    )
