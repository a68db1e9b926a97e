"""What is said of files that are read along with a copy of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kgmi.cli.terminal import say
from kgmi.streams import Stream
from kgmi.streams.copies import Copy, copied_files

__all__ = ["tell_copies"]

_SHOWN = 3


def tell_copies(stream: Stream, quiet: bool) -> list[dict[str, Any]]:
    """Say on standard error which files have the bytes of others, unless ``quiet``; the list for machines.

    After counting, which compares the files anyway: nothing is read for it.
    """
    copies = copied_files(stream)
    if copies and not quiet:
        say(f"kgmi: note: {_sentence(copies)}", err=True)
    return [asdict(copy) for copy in copies]


def _sentence(copies: Sequence[Copy]) -> str:
    more = f" (and {len(copies) - _SHOWN:,} more such files)" if len(copies) > _SHOWN else ""
    shown = ", ".join(f"{copy.file} has {_bytes(copy)} as {copy.same_as}" for copy in copies[:_SHOWN])
    whose = "its rows count twice" if len(copies) == 1 else "their rows count several times"
    return f"{shown}{more}: {whose}; leave out what is there by mistake"


def _bytes(copy: Copy) -> str:
    return "the same bytes" if copy.compared else "the same size and, wherever they were compared, the same bytes"
