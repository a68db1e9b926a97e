"""Write commands.md from the commands themselves: python docs/write_commands.py; a test says when that is due."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from kgmi.cli.app import make_app

PAGE = Path(__file__).parent / "commands.md"
OPENING = """# Commands

Everything that can be asked for on the command line, as `kgmi COMMAND --help` says it. This page is written from
the commands by `docs/write_commands.py`.

Exit code 0 means that it worked, 1 that it failed (one line says why), 2 that the command was not understood, 130
that you stopped it with Ctrl-C. `--json` prints for machines. `--quiet` shows no progress, and `--debug` the full
trace of an error; both are accepted by every command.
"""


def page() -> str:
    """The whole page."""
    everything = typer.main.get_command(make_app([]))
    parts = [OPENING]
    for name in everything.commands:
        command = typer.main.get_command(make_app([name])).commands[name]
        parts += _described(f"kgmi {name}", command, "##")
        for inner, part in getattr(command, "commands", {}).items():
            parts += _described(f"kgmi {name} {inner}", part, "###")
    return "\n".join(parts)


def _described(line: str, command: Any, level: str) -> Iterator[str]:
    """Heading, what it says of itself, examples, and a table of its arguments and options."""
    parts = [_told(part) for part in re.split(r"\n\s*\n", command.help or "")]
    yield f"{level} {line}\n"
    yield from (f"{_prose(part)}\n" for part in parts if not part.startswith("Example"))
    examples = [part.partition(": ")[2] for part in parts if part.startswith("Example")]
    if examples:
        lines = [line for part in examples for line in re.split(r"\s+(?=kgmi )", part)]
        yield "\n".join(["```", *lines, "```\n"])
    context = command.context_class(command, info_name=line)
    panels: dict[str, list[str]] = {}
    for one in command.params:
        if (record := one.get_help_record(context)) is not None:
            row = f"| `{_cell(_told(record[0]))}` | {_prose(_told(record[1]))} |"
            panels.setdefault(getattr(one, "rich_help_panel", None) or "option", []).append(row)
    for panel, rows in panels.items():
        yield "\n".join([f"| {panel} | meaning |", "|---|---|", *rows, ""])


def _told(text: str) -> str:
    """The text without signs that only format a terminal, and in one line."""
    return " ".join(text.replace("\b", "").split())


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _prose(text: str) -> str:
    """Text of a help message as Markdown: options as code, and signs that would format it as they are."""
    plain = re.sub(r"([|*_<>\[\]`])", r"\\\1", text)
    return re.sub(r"(?<![\w-])(--[a-z][a-z-]*[a-z])", r"`\1`", plain)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
