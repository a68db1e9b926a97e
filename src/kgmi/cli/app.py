"""The command line itself: joins the commands, and turns errors into one line and an exit code."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from kgmi.cli.display import be_quiet
from kgmi.cli.helping import GroupedCommand, ListedGroup
from kgmi.cli.stopping import Stopped, heard_signal, say_stopped
from kgmi.cli.terminal import escaped, say
from kgmi.cli.wording import error_as_said, say_as
from kgmi.errors import KgmiError, OutputError, SettingError
from kgmi.files import written_to
from kgmi.outputs import reads_noted
from kgmi.version import __version__

__all__ = ["main", "make_app"]

_UsageError: type[Any] = typer.BadParameter.__bases__[0]  # Typer has no public name for what Click raises
FAILED, BAD_USAGE, OUR_MISTAKE = 1, 2, 70
_ANYWHERE = ("--debug", "--quiet")  # accepted at any place of the line
_COMPLETION = "_KGMI_COMPLETE"  # set by a shell that asks which words may follow

# Every command with the module that has it, and what it says of itself: a module is loaded when its command is
# asked for, and the list of all commands is there at once.
_COMMANDS = {
    "learn": ("learn", "Learn a graph from a table: parents before children, or in any order (--order learn)."),
    "certify": (
        "certify",
        "Certify the parents of every node: all that is certified is right with probability at least 1 − α.",
    ),
    "count": (
        "count",
        "Count rows, of any number, into a small file that can be merged with others and learned from.",
    ),
    "merge": ("merge", "Add up files of counts, so that rows may stay where they are."),
    "sample": ("simulate", "Draw rows from a graph and a kernel."),
    "exact": (
        "simulate",
        "Exact population: laws of the nodes, best candidates of each head, and whether they are the parents.",
    ),
    "theory": ("theory", "Gaps, convergence bounds, mixing and the assumption report, in exact arithmetic."),
    "export": (
        "export",
        "Write a saved result in the format of another tool: GraphML, DOT, JSON, BIF, DAGitty or CSV.",
    ),
    "compare": (
        "compare",
        "Compare two results, or a result and a graph: which edges differ, how sure they are, and which settings.",
    ),
    "show": ("show", "Show a saved result: its graph, how it ended, and which assumptions hold."),
    "plot": (
        "plot",
        "Draw a saved result: graph, attention, scores, training, kernel and margins, as png, svg or pdf.",
    ),
    "report": ("report", "Write a saved result as one page to click through: report.html, which needs no network."),
    "serve": (
        "serve",
        "Open a web page on this machine: choose or drop a table, learn, watch, compare guides, download.",
    ),
    "doctor": (
        "doctor",
        "Report versions, devices and memory, and learn the example as a self-test.",
    ),
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
        epilog="Start with: kgmi learn --example paper. Every command explains itself: kgmi learn --help",
        cls=ListedGroup,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    asked = next((word for word in _words(arguments) if not word.startswith("-")), "")
    for name, (home, says) in _COMMANDS.items():
        if name != asked:
            app.command(name, help=says)(_listed)
        elif name == "bench":
            app.add_typer(_bench())
        else:
            app.command(cls=GroupedCommand)(getattr(import_module(f"kgmi.cli.{home}"), name))
    return app


def _words(arguments: Sequence[str]) -> Sequence[str]:
    """The words of the line; where a shell asks what may follow, it says them in its own way."""
    if _COMPLETION not in os.environ:
        return arguments
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    return line.split()[1:]


def _listed() -> None:
    """A command that is not asked for."""


@cache
def _bench() -> typer.Typer:
    """The benchmarks, joined once in a process."""
    from kgmi.cli.bench import bench
    from kgmi.cli.bench_certificates import certificates
    from kgmi.cli.bench_speed import ascent, counts, fit, gpu, rows
    from kgmi.cli.bench_stream import stream
    from kgmi.cli.bench_trust import trust

    for command in (certificates, trust, counts, fit, rows, stream, ascent, gpu):
        bench.command(cls=GroupedCommand)(command)
    return bench


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"kgmi {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full trace of an error.")] = False,
) -> None:
    """Learn directed acyclic graphs from discrete data with kernel-guided attention."""


def main() -> None:
    """Run the command line.

    Exit code 0 when it worked, 1 when it failed, 2 for bad usage, 70 for a mistake in kgmi itself, and 128 and the
    number of the signal where one ended it (130 for Ctrl-C).
    """
    arguments = [argument for argument in sys.argv[1:] if argument not in _ANYWHERE]
    debug, quiet = ("--debug" in sys.argv[1:], "--quiet" in sys.argv[1:])
    be_quiet(quiet)
    say_as()
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal or pipe without Greek letters gets «?», not a trace
        sys.stdout.reconfigure(errors="replace")
    written: list[Path] = []
    try:
        with written_to(written.append), reads_noted():
            _run(arguments)
    except Stopped as stopped:
        _leave(say_stopped(stopped, written))
    except BrokenPipeError:  # the reader (head, less) has seen enough: nothing to say, and nothing left to flush
        _leave(FAILED)
    except Exception as error:
        if (number := heard_signal()) is not None:
            _leave(say_stopped(Stopped(number), written))
        if debug:
            sys.excepthook = _show_trace
            raise
        say(f"kgmi: error: {_reason(error)}", err=True)
        _leave(_code(error))


def _run(arguments: Sequence[str]) -> None:
    """Run a command, and see that what it printed has arrived: a full disk shows only then."""
    try:
        code = make_app(arguments)(args=arguments, prog_name="kgmi", standalone_mode=False)
    except _UsageError as error:
        error.message = escaped(error.message or "")
        error.show()
        code = error.exit_code
    sys.stdout.flush()
    sys.exit(code)


def _show_trace(_: object, error: BaseException, __: object) -> None:
    """Print the trace of an error, escaped line by line."""
    for line in "".join(traceback.format_exception(error)).rstrip("\n").split("\n"):
        say(line, err=True)


def _leave(code: int) -> NoReturn:
    """End with an exit code; what was not printed yet, as nobody reads it or there is no room, is given up."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _code(error: Exception) -> int:
    if isinstance(error, SettingError | OutputError):
        return BAD_USAGE
    return FAILED if isinstance(error, KgmiError | OSError | MemoryError) else OUR_MISTAKE


def _reason(error: Exception) -> str:
    """One line on what went wrong and, where that is not told, what to do."""
    text = " ".join(str(error).split())
    if isinstance(error, KgmiError):
        return error_as_said(error) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        return f"{text}; nothing was left half-written: make room, or write to another disk" if full else text
    if isinstance(error, OSError):
        return text or type(error).__name__
    if isinstance(error, MemoryError):
        return f"{text or 'out of memory'}; --memory-limit keeps it in bounds, or says what is needed"
    return (
        f"{type(error).__name__}: {text}. This is a mistake in kgmi, not in your data: please report it with the "
        "command and this line (--debug shows the trace)"
    )
