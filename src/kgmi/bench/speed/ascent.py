"""Gradient ascent on copies of the paper's graph: our compiled one, and a plain NumPy loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kgmi.attention import ascend
from kgmi.bench.compare import Tell
from kgmi.bench.speed.growth import fit_growth
from kgmi.bench.speed.measured import Lines, Measured, growth_of
from kgmi.bench.speed.plain_ascent import plain_ascent
from kgmi.bench.speed.timing import check_sizes, in_turns, shown_seconds
from kgmi.errors import KgmiError
from kgmi.exact import exact_joint
from kgmi.graph import Dag
from kgmi.guides import scores
from kgmi.kernel import Kernel
from kgmi.plots.growth import Curve
from kgmi.process import Process
from kgmi.types import Bools, ScoreTable

__all__ = ["measure_ascent"]

_RATE, _STOP = 10.0, 0.1  # η and ε_attn of the paper's experiments
_CLOSE = 1e-9  # how near the attention of both must be after the same epochs


def measure_ascent(
    copies: Sequence[int] = (1, 2, 5, 10),
    epochs: int = 1_000_000,
    *,
    divergence: str = "kl",
    plain_epochs: int = 1_000,
    repeats: int = 3,
    tell: Tell | None = None,
) -> Measured:
    """Time both on the paper's experiment: exact scores of copies of its 10-node graph, until all heads stop.

    On the largest graph also without a stop, to the last epoch, as the paper's figure is drawn.

    Parameters
    ----------
    copies
        Of the graph; 10 of them make the paper's T = 100.
    epochs
        Most epochs of a run.
    divergence
        By name.
    plain_epochs
        Epochs that the plain loop is timed on; its time is scaled to as many as ours ran.
    repeats
        Rounds; the shortest time counts.
    tell
        Called with the sizes done and all of them.
    """
    check_sizes(copies=copies, epochs=epochs, plain_epochs=plain_epochs, repeats=repeats)
    results = []
    sizes = sorted(copies)
    for number, n_copies in enumerate(sizes):
        if tell is not None:
            tell(number, len(sizes))
        process = Process(Dag.paper().copies(n_copies), Kernel.paper())
        table = scores(exact_joint(process), process.kernel, divergence, "stationary", n_heads=2)
        children = np.array([bool(parents) for parents in process.dag.parents])
        waited = np.broadcast_to(children, table.shape[:2])
        for stop in (_STOP, 0.0) if n_copies == sizes[-1] else (_STOP,):
            results.append(_one_run(table, waited, stop, epochs, plain_epochs, repeats))
    settings = {
        "copies": sizes,
        "epochs": epochs,
        "divergence": divergence,
        "rate": _RATE,
        "stop": _STOP,
        "plain_epochs": plain_epochs,
        "repeats": repeats,
        "data": "population",
    }
    return _report(settings, results)


def _one_run(
    table: ScoreTable, waited: Bools, stop: float, epochs: int, plain_epochs: int, repeats: int
) -> dict[str, Any]:
    def ours(most: int) -> Any:
        return ascend(table, rate=_RATE, epochs=most, stop=stop, wait_for=waited, record_at=())

    some = min(plain_epochs, epochs)
    attention, ran = plain_ascent(table, _RATE, some, stop, waited)
    found = ours(some)
    off = float(np.abs(found.attention - attention).max())
    if ran != found.epochs or off > _CLOSE:
        raise KgmiError(
            f"the plain loop and kgmi disagree after {ran} and {found.epochs} epochs: their attention differs by "
            f"{off:.1e}"
        )
    n_epochs = ours(epochs).epochs
    calls: dict[str, Callable[[], Any]] = {
        "kgmi": lambda: ours(epochs),
        "plain": lambda: plain_ascent(table, _RATE, some, stop, waited),
    }
    seconds = in_turns(calls, repeats)
    plain = seconds["plain"] * n_epochs / ran
    return {
        "n_nodes": table.shape[1],
        "stop": stop,
        "epochs": n_epochs,
        "seconds": seconds["kgmi"],
        "plain_seconds": plain,
        "plain_epochs": ran,
        "ratio": plain / seconds["kgmi"],
        "attention_differs": off,
    }


def _report(settings: dict[str, Any], results: list[dict[str, Any]]) -> Measured:
    stopped = [one for one in results if one["stop"] > 0]
    sizes = [one["n_nodes"] for one in stopped]
    growth, curves = [], []
    for name, key in (("kgmi, compiled", "seconds"), ("plain NumPy loop", "plain_seconds")):
        seconds = [one[key] for one in stopped]
        law = fit_growth(seconds, {"T": sizes})
        if law is not None:
            growth.append(growth_of(name, law, seconds, sizes))
        curves.append(Curve(name, tuple(sizes), tuple(seconds), "" if law is None else str(law)))
    lines = [
        [
            str(one["n_nodes"]),
            f"at {1 - one['stop']:g} of the attention" if one["stop"] else "never",
            f"{one['epochs']:,}",
            shown_seconds(one["seconds"]),
            shown_seconds(one["plain_seconds"]),
            f"{one['ratio']:,.0f}",
        ]
        for one in results
    ]
    title = f"Gradient ascent, exact {settings['divergence']} scores, rate {settings['rate']:g}"
    off = max(one["attention_differs"] for one in results)
    return Measured(
        kind="ascent",
        settings=settings,
        results=results,
        growth=growth,
        tables=(Lines(title, ["nodes", "stops", "epochs", "kgmi", "plain NumPy", "ratio"], lines, right=2),),
        sentences=(
            f"The plain loop was timed on {settings['plain_epochs']:,} epochs at most and scaled to as many as "
            f"kgmi ran. After those, the attention of both is the same (largest difference {off:.0e}).",
        ),
        curves=tuple(curves),
        x_label="nodes T, until all heads of nodes with parents stop",
        note="The plain loop was timed on its first epochs and scaled.",
    )
