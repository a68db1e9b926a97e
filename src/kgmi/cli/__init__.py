"""The ``kgmi`` command: each module holds one or two commands, ``app`` joins them."""

from kgmi.cli.app import main

__all__ = ["main"]
