"""Run experiments one after the other: results, figures, report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgmi.outputs import Kind, check_replaceable
from kgmi.paper.catalogue import EXPERIMENTS
from kgmi.paper.experiment import Experiment, Run
from kgmi.paper.report import REPORTS, write_report
from kgmi.paper.results import Result, read_whole, write_result

__all__ = ["Reproduction", "Tell", "reproduce"]

Tell = Callable[[Experiment, float, str], None]
ENDINGS: tuple[Kind, ...] = ("png", "svg")
"""Of the files of each figure."""


@dataclass(frozen=True)
class Reproduction:
    """What was run now, and the files that say so.

    Attributes
    ----------
    results
        Results of this call.
    files
        Everything that was written, the reports last.
    """

    results: tuple[Result, ...]
    files: tuple[Path, ...]


def reproduce(
    experiments: Sequence[Experiment],
    out: Path,
    *,
    quick: bool = False,
    seed: int = 2027,
    tell: Tell | None = None,
    force: bool = False,
) -> Reproduction:
    """Run ``experiments`` and write ``results.json`` and figures of each, and a report of all results in ``out``.

    Results of earlier calls that lie in ``out`` stay, and stand in the report with the seed they were run with.
    Files that kgmi did not write are replaced with ``force`` only.
    """
    _check_files(experiments, out, force)
    names = [experiment.name for experiment in experiments]
    found = {name: read_whole(out / name) for name in EXPERIMENTS if name not in names and (out / name).is_dir()}
    results: list[Result] = []
    files: list[Path] = []
    reports: list[Path] = []
    for experiment in experiments:
        result, written = _run(experiment, out / experiment.name, quick, seed, tell, force)
        found[experiment.name] = result
        results.append(result)
        files += written
        # After each experiment, so that a run that is cut short has a report too.
        reports = write_report(out, [found[name] for name in EXPERIMENTS if name in found], force=force)
    return Reproduction(tuple(results), (*files, *reports))


def _check_files(experiments: Sequence[Experiment], out: Path, force: bool) -> None:
    """Better to fail before the work than after it; the names of figures are known only after an experiment."""
    for name, kind in REPORTS.items():
        check_replaceable(out / name, kind, force=force)
    for experiment in experiments:
        folder = out / experiment.name
        check_replaceable(folder / "results.json", "experiment", force=force)
        for ending in ENDINGS:
            for path in folder.glob(f"*.{ending}"):
                check_replaceable(path, ending, force=force)


def _run(
    experiment: Experiment, folder: Path, quick: bool, seed: int, tell: Tell | None, force: bool
) -> tuple[Result, list[Path]]:
    from kgmi.plots.canvas import write_figure

    def report(share: float, what: str) -> None:
        if tell is not None:
            tell(experiment, share, what)

    report(0.0, "starting")
    run = Run(quick, seed, report)
    begin = time.perf_counter()
    outcome = experiment.run(run)
    seconds = time.perf_counter() - begin
    report(1.0, "drawing")
    figures = experiment.draw(outcome.numbers)
    written = []
    for name, figure in figures.items():
        for ending in ENDINGS:
            written.append(folder / f"{name}.{ending}")
            write_figure(figure, written[-1], dpi=150, force=force)
    result = Result.of(experiment.name, experiment.claim, outcome, run, seconds, tuple(figures))
    return result, [*written, write_result(folder, result, force=force)]
