"""The ``kgmi`` command: each module holds one or two commands, ``app`` joins them."""

import sys

from kgmi.cli.stopping import Stopped, say_stopped, stoppable

__all__ = ["main"]


def main() -> None:
    """Run the command line; see :func:`kgmi.cli.app.main`. Ctrl-C is understood while it is still being loaded."""
    try:
        with stoppable():
            from kgmi.cli.app import main as run

            run()
    except Stopped as stopped:
        sys.exit(say_stopped(stopped, ()))
