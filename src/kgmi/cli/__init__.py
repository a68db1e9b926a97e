"""The ``kgmi`` command: each module holds one or two commands, ``app`` joins them."""

from kgmi.cli.stopping import Stopped, end_now, heard_signal, say_stopped, stoppable

__all__ = ["command", "main"]


def main() -> None:
    """Run the command line; see :func:`kgmi.cli.app.main`. Ctrl-C is understood while it is still being loaded."""
    try:
        with stoppable():
            from kgmi.cli.app import main as run

            run()
    except Stopped as stopped:
        end_now(say_stopped(stopped, ()))
    except SystemExit as end:
        if heard_signal() is None:
            raise
        end_now(end.code)


def command() -> None:
    """Run the command line as a process of its own.

    After an error, threads of PyArrow may still read ahead in a file of Python; they would abort an ordinary exit.
    """
    try:
        main()
    except SystemExit as end:
        if end.code:
            end_now(end.code)
        raise
