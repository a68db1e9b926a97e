"""Run experiments one after the other: results, figures, report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kgmi.errors import KgmiError
from kgmi.files import all_or_none
from kgmi.outputs import Kind, check_replaceable
from kgmi.paper.catalogue import EXPERIMENTS
from kgmi.paper.experiment import Experiment, Run
from kgmi.paper.report import REPORTS, write_report
from kgmi.paper.results import Result, read_whole, write_result

__all__ = ["Failure", "Reproduction", "Tell", "reproduce"]

Tell = Callable[[Experiment, float, str], None]
ENDINGS: tuple[Kind, ...] = ("png", "svg")
"""Of the files of each figure."""


@dataclass(frozen=True)
class Failure:
    """An experiment that ended with an error, which left its folder as it was."""

    experiment: Experiment
    error: Exception

    @property
    def sentence(self) -> str:
        """What went wrong, in one line; an error that kgmi does not raise on purpose is named by its type."""
        text = " ".join(str(self.error).split())
        if isinstance(self.error, KgmiError) and text:
            return text
        if isinstance(self.error, OSError) and self.error.filename and self.error.strerror:
            return f"{self.error.filename}: {self.error.strerror}"
        return f"{type(self.error).__name__}: {text}".removesuffix(": ")


@dataclass(frozen=True)
class Reproduction:
    """What was run now, and the files that say so.

    Attributes
    ----------
    results
        Results of this call.
    failures
        Experiments of this call that have no result.
    files
        Everything that was written, the reports last.
    """

    results: tuple[Result, ...]
    failures: tuple[Failure, ...]
    files: tuple[Path, ...]


def reproduce(
    experiments: Sequence[Experiment],
    out: Path,
    *,
    quick: bool = False,
    seed: int = 2027,
    tell: Tell = lambda experiment, share, what: None,
    force: bool = False,
) -> Reproduction:
    """Run ``experiments`` and write ``results.json`` and figures of each, and a report of all results in ``out``.

    Results of earlier calls that lie in ``out`` stay, and are in the report with the seed they were run with. An
    experiment that fails is named in the report, and the others are run. Files that kgmi did not write are replaced
    with ``force`` only.
    """
    for name, kind in REPORTS.items():
        check_replaceable(out / name, kind, force=force)
    others = [name for name in EXPERIMENTS if name not in {experiment.name for experiment in experiments}]
    found = {name: read_whole(out / name) for name in others if (out / name / "results.json").is_file()}
    results: list[Result] = []
    failures: list[Failure] = []
    files: list[Path] = []
    reports: list[Path] = []
    for experiment in experiments:
        try:
            result, written = _run(experiment, out / experiment.name, quick, seed, tell, force)
        except Exception as error:  # noqa: BLE001  # the others are run, and the error is named
            failures.append(Failure(experiment, error))
            tell(experiment, 1.0, "failed")
        else:
            found[experiment.name] = result
            results.append(result)
            files += written
        # After each experiment, so that a run that is cut short has a report too.
        failed = [(failure.experiment, failure.sentence) for failure in failures]
        reports = write_report(out, [found[name] for name in EXPERIMENTS if name in found], failed, force=force)
    return Reproduction(tuple(results), tuple(failures), (*files, *reports))


def _check_files(folder: Path, force: bool) -> None:
    """Better to fail before the work than after it; the names of figures are known only after an experiment."""
    check_replaceable(folder / "results.json", "experiment", force=force)
    for ending in ENDINGS:
        for path in folder.glob(f"*.{ending}"):
            check_replaceable(path, ending, force=force)


def _run(
    experiment: Experiment, folder: Path, quick: bool, seed: int, tell: Tell, force: bool
) -> tuple[Result, list[Path]]:
    from kgmi.plots.canvas import write_figure

    run = Run(quick, seed, partial(tell, experiment))
    run.tell(0.0, "starting")
    _check_files(folder, force)
    earlier = {f"*.{kind}": kind for kind in ENDINGS}
    # The folder is held from the start: one that cannot be written to fails before the work.
    with all_or_none(folder, last="results.json", replaces=earlier, force=force) as new:
        begin = time.perf_counter()
        outcome = experiment.run(run)
        seconds = time.perf_counter() - begin
        run.tell(1.0, "drawing")
        figures = experiment.draw(outcome.numbers)
        files = []
        for name, figure in figures.items():
            for ending in ENDINGS:
                files.append(f"{name}.{ending}")
                write_figure(figure, new / files[-1], dpi=150)
        result = Result.of(experiment.name, experiment.claim, outcome, run, seconds, tuple(figures))
        write_result(new, result)
    return result, [folder / file for file in (*files, "results.json")]
