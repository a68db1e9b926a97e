"""What ``kgmi learn`` will take (--plan), and what it took beside that (--spent)."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from kgmi.cli import output
from kgmi.cli.terminal import say
from kgmi.learning import Learned
from kgmi.learning.cost import Forecast
from kgmi.memory import free_bytes, peak_bytes, shown_bytes

__all__ = ["finish_report", "forecast_dict", "print_forecast", "print_spent", "spent_dict"]


def print_forecast(forecast: Forecast, most: int | None) -> None:
    """The phases, and whether there is memory for them."""
    rows = [
        [
            f"({phase.name})" if phase.in_doubt else phase.name,
            phase.how,
            _short(phase.seconds),
            shown_bytes(phase.n_bytes),
        ]
        for phase in forecast.phases
    ]
    total = ["in all", "", _seconds(forecast), shown_bytes(forecast.n_bytes)]
    output.print_table(["phase", "how", "seconds", "memory"], [*rows, total], right=2)
    if any(phase.in_doubt for phase in forecast.phases):
        output.print_wrapped("What stands in brackets is needed only where the rows do not make the case clear.")
    if forecast.is_compiled:
        output.print_wrapped("The first fit of this size on a machine compiles too, some 20 seconds more.")
    for sentence in _memory(forecast, most):
        output.print_wrapped(sentence)
    output.print_wrapped("Nothing was learned: leave out --plan to learn.")


def forecast_dict(forecast: Forecast, most: int | None) -> dict[str, Any]:
    """The same for machines."""
    return {
        "phases": [
            {
                "phase": phase.name,
                "how": phase.how,
                "seconds": phase.seconds,
                "bytes": phase.n_bytes,
                "in_doubt": phase.in_doubt,
            }
            for phase in forecast.phases
        ],
        "seconds": forecast.seconds,
        "at_worst": forecast.at_worst,
        "bytes": forecast.n_bytes,
        "least_bytes": forecast.least_bytes,
        "is_compiled": forecast.is_compiled,
        "memory_limit": most,
        "free_bytes": free_bytes(),
    }


def finish_report(learned: Learned) -> None:
    """Make status and checks now, which would else be made when they are shown: they belong to the last phase."""
    if learned.spent is not None:
        begun = perf_counter()
        _ = learned.status, learned.checks
        last = "report" if "report" in learned.spent.seconds else "scores"
        learned.spent.seconds[last] += perf_counter() - begun


def print_spent(learned: Learned, forecast: Forecast) -> None:
    """What every phase took, beside what was foreseen."""
    seconds = {} if learned.spent is None else learned.spent.seconds
    foreseen = {phase.name: _short(phase.seconds) for phase in forecast.phases}
    further = next((f" to {_short(p.seconds)}" for p in forecast.phases if p.in_doubt), "")
    rows = [
        [name, foreseen.get(name, "") + (further if name == "search" else ""), _short(taken)]
        for name, taken in seconds.items()
    ]
    total = ["in all", _seconds(forecast), _short(sum(seconds.values()))]
    output.print_table(["phase", "seconds foreseen", "seconds taken"], [*rows, total], right=1)
    if (peak := peak_bytes()) is not None:
        say(
            f"Memory: {shown_bytes(forecast.n_bytes)} foreseen for the fit; the whole process took "
            f"{shown_bytes(peak)} at most, programs included."
        )


def spent_dict(learned: Learned, forecast: Forecast) -> dict[str, Any]:
    """The same for machines."""
    seconds = {} if learned.spent is None else learned.spent.seconds
    return {"seconds": seconds, "peak_bytes": peak_bytes(), "foreseen": forecast_dict(forecast, None)}


def _memory(forecast: Forecast, most: int | None) -> list[str]:
    """Whether it fits into the limit, and into the machine."""
    told = []
    if most is not None:
        enough = most >= forecast.least_bytes
        fits = "is enough" if enough else f"is not enough: at least {shown_bytes(forecast.least_bytes)} are needed"
        told.append(f"The memory limit of {shown_bytes(most)} {fits}.")
    if (free := free_bytes()) is not None:
        least = shown_bytes(forecast.least_bytes)
        advice = f", which is not enough: set --memory-limit ({least} or more), or leave out columns or rows"
        told.append(f"This machine has {shown_bytes(free)} free{advice if free < forecast.n_bytes else ''}.")
    return told


def _seconds(forecast: Forecast) -> str:
    usual, at_worst = _short(forecast.seconds), _short(forecast.at_worst)
    return usual if usual == at_worst else f"{usual} to {at_worst}"


def _short(seconds: float) -> str:
    return f"{seconds:.3f}" if seconds < 1 else f"{seconds:.1f}" if seconds < 100 else f"{seconds:,.0f}"
