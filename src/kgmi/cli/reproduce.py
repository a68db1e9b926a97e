"""``kgmi reproduce``: the paper's experiments and those of the laboratory, each with a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgmi import progress
from kgmi.cli import output
from kgmi.cli.display import live
from kgmi.cli.helping import offers
from kgmi.cli.options import ForceOption
from kgmi.cli.stopping import Stopped, heard_signal
from kgmi.cli.terminal import say
from kgmi.errors import KgmiError, SettingError

if TYPE_CHECKING:
    from kgmi.paper.experiment import Experiment
    from kgmi.paper.reproduce import Reproduction, Tell

__all__ = ["reproduce"]

# Written out, as the list of experiments loads all of them; a test compares the two.
_NAMES = (
    "all, collapse, heatmaps, rate-length, rate-gap, divergences, long, table, degrees, assumptions, theorems, "
    "lab, "
    "lab-ascent, lab-full, lab-minibatch, lab-single, lab-two, lab-heads, lab-unseen, lab-rates"
)


def reproduce(
    experiment: Annotated[
        str, typer.Argument(help=f"Which experiment: {_NAMES}.", autocompletion=offers(*_NAMES.split(", ")))
    ] = "all",
    out: Annotated[Path, typer.Option(help="Folder for results, figures and the report.")] = Path("paper-output"),
    force: ForceOption = False,
    quick: Annotated[bool, typer.Option("--quick", help="Small grids: seconds instead of minutes.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn at random.")] = 2027,
    config: Annotated[
        Path | None, typer.Option(help="TOML file with settings, a table [name] for each experiment.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="One setting, such as eta=1; repeatable."),
    ] = None,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the settings as TOML, and run nothing.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Run the paper's experiments: results, figures in the paper's form, and a report with verdicts.

    Example: kgmi reproduce all --quick --out paper-output

    all: the paper's experiments. lab: those of the attention laboratory, which train transformers with PyTorch (pip
    install 'kgmi[lab]'). Each experiment sets what its source claims beside what is measured here, with a verdict.
    With --quick it takes about a minute; in full, some ten minutes (lab: one GPU). Settings are the source's unless
    --config or --set change them; an f of your own is a formula in x, such as --set hellinger="2*(1-sqrt(x))", or a
    function in a Python file (file.py:name), which is run. An experiment that fails is named at the end and in the
    report; the others are run all the same.
    """
    from kgmi.lab.experiments import LAB
    from kgmi.paper.reproduce import EXPERIMENTS, experiments_named, settings_of
    from kgmi.paper.reproduce import reproduce as run
    from kgmi.paper.settings import as_toml, read_config, read_pairs

    if seed < 0:
        raise SettingError(f"the seed must not be negative, got {seed}")
    known = EXPERIMENTS | LAB
    chosen = experiments_named(experiment, known)
    changed = {} if config is None else read_config(config)
    settings = settings_of(chosen, quick=quick, config=changed, pairs=read_pairs(set_ or []), known=known)
    if print_config:
        for name, one in settings.items():
            for line in as_toml(name, one).splitlines():
                say(line)
            say("")
        return
    with _progress(len(chosen), quiet=json) as tell:
        done = run(chosen, out, quick=quick, settings=settings, seed=seed, tell=tell, force=force, known=known)
    if json:
        checks = {one.name: [vars(check) for check in one.checks] for one in done.results}
        verdicts = {one.name: {"verdict": one.verdict, "why": one.why} for one in done.results}
        failures = {one.experiment.name: one.sentence for one in done.failures}
        files = [str(path) for path in done.files]
        output.print_json({"verdicts": verdicts, "checks": checks, "failures": failures, "files": files})
    else:
        _print(done)
    if done.failures:
        what = "; ".join(f"{one.experiment.name}: {one.sentence}" for one in done.failures)
        raise KgmiError(
            f"{len(done.failures)} of {len(chosen)} experiments failed; run them again by name, with --debug for "
            f"the trace: {what}"
        ) from done.failures[0].error


def _print(done: Reproduction) -> None:
    """Checks, verdicts and the reports."""
    rows = [
        [one.name, check.name, check.whose, check.answer, check.measured]
        for one in done.results
        for check in one.checks
    ]
    if rows:
        output.print_table(["experiment", "check", "whose", "holds", "measured"], rows, right=9)
    for one in done.results:
        output.print_wrapped(f"{one.name}: {one.verdict}. {one.why}")
    for path in done.files[-2:]:
        say(f"wrote {path}")


@contextmanager
def _progress(n_experiments: int, *, quiet: bool) -> Iterator[Tell]:
    """How far the experiments are, on a terminal."""
    finished: list[str] = []

    def tell(experiment: Experiment, share: float, what: str) -> None:
        if (number := heard_signal()) is not None:  # a library may have turned Ctrl-C into an error of its own
            raise Stopped(number)
        if experiment.name not in finished:
            finished.append(experiment.name)
        done = (len(finished) - 1 + min(share, 1.0)) / n_experiments
        progress.tell(f"{experiment.name}: {what}", int(100 * done), 100, "%")

    with live("experiments", quiet=quiet):
        yield tell
