"""Run experiments one after the other: results, figures, report."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kgmi.errors import KgmiError, SettingError
from kgmi.files import all_or_none
from kgmi.outputs import Kind, check_replaceable
from kgmi.paper import (
    assumptions,
    collapse,
    degrees,
    divergences,
    heatmaps,
    long,
    rate_gap,
    rate_length,
    table,
    theorems,
)
from kgmi.paper.experiment import Experiment, Run
from kgmi.paper.report import REPORTS, write_report
from kgmi.paper.results import Result, read_result, write_result
from kgmi.paper.settings import Settings, configured, names_of

__all__ = ["EXPERIMENTS", "Failure", "Reproduction", "Tell", "experiments_named", "reproduce", "settings_of"]

_MODULES = (*(collapse, heatmaps, rate_length, rate_gap, divergences, long, table, degrees, assumptions, theorems),)
EXPERIMENTS: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in _MODULES}
"""All experiments by name, in the order of the report."""

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
    """What was run by this call: its results, the experiments that failed, and all files, the reports last."""

    results: tuple[Result, ...]
    failures: tuple[Failure, ...]
    files: tuple[Path, ...]


def experiments_named(name: str, known: Mapping[str, Experiment] = EXPERIMENTS) -> tuple[Experiment, ...]:
    """One experiment, ``all`` of the paper, or those of the laboratory (``lab``)."""
    if name in ("all", "lab"):
        return tuple(one for one in known.values() if one.name.startswith("lab-") == (name == "lab"))
    if name not in known:
        raise SettingError(f"there is no experiment '{name}'; choose all, lab or one of {', '.join(known)}")
    return (known[name],)


def settings_of(
    experiments: Sequence[Experiment],
    *,
    quick: bool = False,
    config: Mapping[str, Mapping[str, Any]] | None = None,
    pairs: Mapping[str, str] | None = None,
    known: Mapping[str, Experiment] = EXPERIMENTS,
) -> dict[str, Settings]:
    """Settings of each experiment: its defaults, those of a quick run, a configuration by name, and pairs for all.

    A pair applies to every experiment that has such a setting; at least one of them must. A configuration may name
    any experiment that is ``known``.
    """
    config, pairs = config or {}, pairs or {}
    for name in config:
        if name not in known:
            raise SettingError(f"the configuration names {name!r}, which is no experiment: {', '.join(known)}")
    own_names = {one.name: set(names_of(one.settings)) for one in experiments}
    for name in pairs:
        if not any(name in names for names in own_names.values()):
            every = sorted(set().union(*own_names.values()))
            raise SettingError(f"there is no setting {name!r} here; the settings are {', '.join(every)}")
    found = {}
    for one in experiments:
        own = {name: value for name, value in pairs.items() if name in own_names[one.name]}
        settings = configured(one.settings, one.quick if quick else {}, config.get(one.name, {}), own)
        try:
            settings.validate()
        except KgmiError as error:
            raise SettingError(f"settings of {one.name}: {error}") from None
        found[one.name] = settings
    return found


def reproduce(
    experiments: Sequence[Experiment],
    out: Path,
    *,
    quick: bool = False,
    settings: Mapping[str, Settings] | None = None,
    seed: int = 2027,
    tell: Tell = lambda experiment, share, what: None,
    force: bool = False,
    known: Mapping[str, Experiment] = EXPERIMENTS,
) -> Reproduction:
    """Run ``experiments`` and write ``results.json`` and figures of each, and a report of all results in ``out``.

    Results of earlier calls of ``known`` experiments that lie in ``out`` stay, and are in the report with the seed
    they were run with. An experiment that fails is named in the report, and the others are run. Files that kgmi did
    not write are replaced with ``force`` only.
    """
    settings = settings_of(experiments, quick=quick) if settings is None else settings
    for name, kind in REPORTS.items():
        check_replaceable(out / name, kind, force=force)
    others = [name for name in known if name not in {experiment.name for experiment in experiments}]
    found = {name: read_result(out / name) for name in others if (out / name / "results.json").is_file()}
    results: list[Result] = []
    failures: list[Failure] = []
    files: list[Path] = []
    reports: list[Path] = []
    for experiment in experiments:
        run = Run(seed, partial(tell, experiment))
        try:
            result, written = _run(experiment, settings[experiment.name], run, out / experiment.name, quick, force)
        except Exception as error:  # noqa: BLE001  # the others are run, and the error is named
            failures.append(Failure(experiment, error))
            tell(experiment, 1.0, "failed")
        else:
            found[experiment.name] = result
            results.append(result)
            files += written
        # After each experiment, so that a run that is cut short has a report too.
        failed = [(failure.experiment, failure.sentence) for failure in failures]
        reports = write_report(out, [found[name] for name in known if name in found], failed, force=force)
    return Reproduction(tuple(results), tuple(failures), (*files, *reports))


def _run(
    experiment: Experiment, settings: Settings, run: Run, folder: Path, quick: bool, force: bool
) -> tuple[Result, list[Path]]:
    from kgmi.plots.canvas import write_figure

    run.tell(0.0, "starting")
    # Better to fail before the work than after it; the names of figures are known only after an experiment.
    check_replaceable(folder / "results.json", "experiment", force=force)
    for ending in ENDINGS:
        for path in folder.glob(f"*.{ending}"):
            check_replaceable(path, ending, force=force)
    earlier = {f"*.{kind}": kind for kind in ENDINGS}
    # The folder is held from the start: one that cannot be written to fails before the work.
    with all_or_none(folder, last="results.json", replaces=earlier, force=force) as new:
        begin = time.perf_counter()
        outcome = experiment.run(settings, run)
        seconds = time.perf_counter() - begin
        run.tell(1.0, "drawing")
        figures = experiment.draw(outcome.numbers)
        files = []
        for name, figure in figures.items():
            for ending in ENDINGS:
                files.append(f"{name}.{ending}")
                write_figure(figure, new / files[-1], dpi=150)
        result = Result.of(experiment, settings, outcome, run, quick=quick, seconds=seconds, figures=tuple(figures))
        write_result(new, result)
    return result, [folder / file for file in (*files, "results.json")]
