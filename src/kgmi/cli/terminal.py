"""The one place where text goes to the terminal: characters that would steer it are shown as escapes."""

from __future__ import annotations

import re

__all__ = ["escaped", "put", "say"]

# Controls (ESC, line breaks, C1), marks that turn or hide text, line separators, and halves of surrogate pairs; not
# the joiners U+200C and U+200D, which words of several scripts are written with.
_STEERING = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def escaped(text: str, short: str = r"\x{:02x}") -> str:
    r"""Replace characters that steer a terminal, by \x1b (or as ``short`` says) and beyond Latin-1 by \u202e."""
    return _STEERING.sub(lambda found: (short if found[0] < "\u0100" else r"\u{:04x}").format(ord(found[0])), text)


def say(line: str, *, err: bool = False) -> None:
    """Print one line, escaped."""
    put(escaped(line), err=err)


def put(text: str, *, err: bool = False) -> None:
    """Print text whose parts are escaped already: lines of a table with the styles of a terminal, or JSON."""
    import typer  # not above: Ctrl-C is understood before it is loaded

    typer.echo(text, err=err)
