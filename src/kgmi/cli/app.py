"""The command line itself: joins the commands, and turns errors into one line and an exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Annotated

import typer

from kgmi.errors import KgmiError, SettingError
from kgmi.version import __version__

__all__ = ["main", "make_app"]

FAILED, BAD_USAGE = 1, 2
_COMPLETION = "_KGMI_COMPLETE"  # set by a shell that asks which words may follow

# Every command with the module that has it, and what it says of itself: a module is loaded when its command is
# asked for, and the list of all commands is there at once.
_COMMANDS = {
    "learn": ("learn", "Learn a graph from a table: parents before children, or in any order (--order learn)."),
    "certify": (
        "certify",
        "Certify the parents of every node: all that is certified is right with probability at least 1 − α.",
    ),
    "sample": ("simulate", "Draw rows from a graph and a kernel."),
    "exact": (
        "simulate",
        "Exact population: laws of the nodes, best candidates of each head, and whether they are the parents.",
    ),
    "theory": ("theory", "Gaps, convergence bounds, mixing and the assumption report, in exact arithmetic."),
    "show": ("show", "Show a saved result: its graph, how it ended, and which assumptions hold."),
    "reproduce": (
        "reproduce",
        "Run the paper's experiments: results, figures in the paper's form, and a report with verdicts.",
    ),
    "bench": (
        "bench",
        "Compare kgmi with the methods of other libraries (extra bench), each in a process of its own.",
    ),
}


def make_app(arguments: Sequence[str]) -> typer.Typer:
    """The command line with the one command that is asked for, or, for help and what is none, a list of all."""
    app = typer.Typer(
        name="kgmi",
        help="Learn directed acyclic graphs from discrete data with kernel-guided attention.",
        epilog="Start with: kgmi learn --example paper",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    asked = next((argument for argument in arguments if not argument.startswith("-")), "")
    for name, (home, says) in _COMMANDS.items():
        if name != asked and _COMPLETION not in os.environ:
            app.command(name, help=says)(_listed)
        elif name == "bench":
            app.add_typer(_bench())
        else:
            app.command()(getattr(import_module(f"kgmi.cli.{home}"), name))
    return app


def _listed() -> None:
    """A command that is not asked for."""


@cache
def _bench() -> typer.Typer:
    """The benchmarks, joined once in a process."""
    from kgmi.cli.bench import bench
    from kgmi.cli.bench_certificates import certificates
    from kgmi.cli.bench_plan import plan
    from kgmi.cli.bench_speed import ascent, counts, fit, gpu, rows

    for command in (certificates, counts, fit, rows, ascent, gpu, plan):
        bench.command()(command)
    return bench


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kgmi {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full trace of an error.")] = False,
) -> None:
    """Learn directed acyclic graphs from discrete data with kernel-guided attention."""


def main() -> None:
    """Run the command line: exit code 0 when it worked, 1 when it failed, 2 for bad usage."""
    debug = "--debug" in sys.argv[1:]  # accepted anywhere on the line
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal or pipe without Greek letters gets «?», not a trace
        sys.stdout.reconfigure(errors="replace")
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        make_app(arguments)(args=arguments, prog_name="kgmi")
    except BrokenPipeError:  # the reader (head, less) has seen enough: nothing to say, and nothing left to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)
    except (KgmiError, OSError, MemoryError) as error:
        if debug:
            raise
        reason = str(error) or type(error).__name__
        if isinstance(error, OSError) and error.strerror:
            reason = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        typer.echo(f"kgmi: error: {reason}", err=True)
        sys.exit(BAD_USAGE if isinstance(error, SettingError) else FAILED)
