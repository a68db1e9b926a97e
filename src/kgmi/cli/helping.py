"""How ``--help`` looks: options in groups, the most needed first; and which words a shell may offer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand, TyperGroup

from kgmi.cli.wording import say_as, wording_of

__all__ = ["GROUPS", "GroupedCommand", "ListedGroup", "offers"]

GROUPS = {
    "The table": "example parents columns where prepare drop missing_values missing states alphabet header windows",
    "What is known": "order tiers forbid require max_lag roots classes kernel p kernel_source in_degree",
    "How to learn": "guide divergence share penalty error smoothing search list_length starts rounds root_level "
    "kappa labelled_form",
    "Training of the heads": "solver rate epochs stop",
    "The certificate": "alpha method patience bootstrap until_certified batch",
    "Time and memory": "memory_limit stream checkpoint cluster device",
    "Output": "out force report pictures truth json help",
}
"""Titles with the names of options, for commands that have many; what is in none comes at the end."""

_MANY = 12  # options that are still read as one list
_GROUP_OF = {name: title for title, names in GROUPS.items() for name in names.split()}
_PLACES = {name: place for place, name in enumerate(_GROUP_OF)}


class GroupedCommand(TyperCommand):
    """A command whose help has its options in groups where there are many, and whose errors name its options."""

    def invoke(self, ctx: Any) -> Any:
        """Run it; from now on sentences of the library are told in its words."""
        say_as(wording_of(self.get_params(ctx), ctx.params))
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments first, then options, group by group."""
        found: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        parameters = self.get_params(ctx)
        if len(parameters) > _MANY:
            found |= {title: [] for title in GROUPS}
            parameters = sorted(parameters, key=lambda one: _PLACES.get(one.name or "", len(_PLACES)))
        for parameter in parameters:
            record = parameter.get_help_record(ctx)
            if record is not None:
                title = "Arguments" if parameter.param_type_name == "argument" else _group(parameter.name, found)
                found.setdefault(title, []).append(record)
        for title, records in found.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class ListedGroup(TyperGroup):
    """Commands with what they say of themselves in full, not cut off at the end of a line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        found = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                found.append((name, (command.help or "").partition("\n\n")[0].replace("\n", " ")))
        with formatter.section("Commands"):
            formatter.write_dl(found)


def _group(name: str | None, titles: dict[str, Any]) -> str:
    title = _GROUP_OF.get(name or "", "Options")
    return title if title in titles else "Options"


def offers(*words: str) -> Callable[[str], list[str]]:
    """What a shell is offered for a value: those of the words that begin as it does; files where none does."""

    def matching(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return matching
