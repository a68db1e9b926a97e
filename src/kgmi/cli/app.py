"""The command line itself: joins the commands, and turns errors into one line and an exit code."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from kgmi.cli.bench import bench
from kgmi.cli.bench_certificates import certificates
from kgmi.cli.certify import certify
from kgmi.cli.learn import learn
from kgmi.cli.reproduce import reproduce
from kgmi.cli.show import show
from kgmi.cli.simulate import exact, sample
from kgmi.cli.theory import theory
from kgmi.errors import KgmiError, SettingError
from kgmi.version import __version__

__all__ = ["app", "main"]

FAILED, BAD_USAGE = 1, 2

app = typer.Typer(
    name="kgmi",
    help="Learn directed acyclic graphs from discrete data with kernel-guided attention.",
    epilog="Start with: kgmi learn --example paper",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (learn, certify, sample, exact, theory, show, reproduce):
    app.command()(command)
bench.command()(certificates)
app.add_typer(bench)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kgmi {__version__}")
        raise typer.Exit


@app.callback()
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
        app(args=arguments, prog_name="kgmi")
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
