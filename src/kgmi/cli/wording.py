"""Options as the command that runs calls them: the library says ``n_parents=…``, ``kgmi learn`` says --parents."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgmi.errors import SettingError

__all__ = ["Wording", "as_said", "error_as_said", "say_as", "wording_of"]

_OTHERWISE = {
    "n_parents": "parents",
    "n_heads": "parents",
    "forbidden": "forbid",
    "required": "require",
    "repeats": "allow_repeats",
}
"""Options of the library that commands call otherwise."""
_OTHER_THINGS = frozenset({"rows", *_OTHERWISE.values()})
"""Options of commands whose names mean something else in the messages of the library: the table, a graph."""
_PHRASES = (
    ("kgmi.prepare (--prepare)", "--prepare", "prepare"),
    (
        ", the address of a Dask scheduler such as 'tcp://10.0.0.7:8786', 'client' for the client that is open in "
        "this process, or such a client",
        ", or the address of a Dask scheduler such as 'tcp://10.0.0.7:8786'",
        "cluster",
    ),
)
"""What only Python has, with what a command says that has the option."""

_QUOTED = r"""(?<![\w=])"(?:[^"]|"")*"(?!\w)|(?<![\w=])'(?:[^'\\]|\\.)*'(?!\w)"""  # names and states of the user
_VALUE = (
    r"='(?P<value>[^']*)'|=(?P<any>…)|=(?P<truth>True|False)|(?P<is> = |=)(?P<number>\d+)|(?= is \d)"
    r"|(?P<both>, --[\w-]+)"
)
_ENDS = r"(?=[\s,;:)]|\.\s|\.?$)"
_SAYS = (  # how sentences go on that begin with an option
    r"(?= \([αεκ]|, the seconds | must | does | is \d| has ['\d]| has an edge | names | mentions | mixes | says "
    r"| declares |: )"
)


@dataclass(frozen=True)
class Wording:
    """What a command calls the options of the library, and what it was given, which is no option.

    Parameters
    ----------
    options
        For each option of the library, that of the command; for flags, how it is switched off behind it, or "".
    given
        What the user wrote: files, columns, conditions. It is shown as it is.
    files
        Those that are files or folders: they may begin a message, as options do.
    """

    options: Mapping[str, tuple[str, ...]]
    given: tuple[str, ...] = ()
    files: frozenset[str] = frozenset()

    def say(self, text: str, keep: Iterable[str] = ()) -> str:
        """The text with the options of the command; what stands in quotes, and in ``keep``, stays as it is."""
        for phrase, said, option in _PHRASES:
            text = text.replace(phrase, said) if option in self.options else text
        if not (names := "|".join(self.options)):
            return text
        kept = [re.escape(name) for name in {*self.given, *keep} if re.search(rf"(?:{names})(?: ?=| is \d)", name)]
        written = rf"(?<![\w'\"/\\.=-])(?P<name>{names})(?:{_VALUE}){_ENDS}(?P<again> \(--[^()]*\))?"
        return re.sub("|".join([*kept, _QUOTED, written]), self._put, text)

    def say_setting(self, text: str) -> str:
        """The text of an error about an option, which may begin with its name."""
        found = re.match(rf"({'|'.join(self.options)}){_SAYS}", text) if self.options else None
        if found and found[1] not in self.files:
            text = self.options[found[1]][0] + text[found.end() :]
        return self.say(text)

    def _put(self, found: re.Match[str]) -> str:
        said = None if found["name"] is None else self._said(found)
        if said is None:
            return found[0]
        again, option = found["again"] or "", said.partition(" ")[0]
        if again == f" ({option})":
            return said.removesuffix(" …")
        return said if again.startswith(f" ({option} ") else said + again

    def _said(self, found: re.Match[str]) -> str | None:
        """How the command says one mention of an option; None where it cannot, or where it may be a column."""
        option, *off = self.options[found["name"]]
        before = found.string[: found.start()]
        if found["both"]:
            return option if found["both"] == f", {option}" and before.endswith("(") else None
        if off and (found["truth"] == "True" or found["any"]):
            return option
        if off:
            return (off[0] or None) if found["truth"] else None
        if found["value"] is not None:
            return f"{option} {shlex.quote(found['value'])}"
        if found["any"]:
            return f"{option} …"
        alone = found["is"] == "=" and not before.endswith(" with ")
        if found["truth"] or "_" not in found["name"] or alone:  # order = 3 and n_parents=2 may be about columns
            return None
        return option if found["number"] is None else f"{option} {found['number']}"


def wording_of(parameters: Iterable[Any], values: Mapping[str, Any]) -> Wording:
    """The wording of a command with these parameters, as Typer has them, that was given these values."""
    options: dict[str, tuple[str, ...]] = {}
    given: list[str] = []
    files: set[str] = set()
    library = {option: name for name, option in _OTHERWISE.items() if name != "n_heads"}
    for one in parameters:
        value = values.get(one.name)
        texts = [str(text) for text in (value if isinstance(value, list | tuple) else [value])]
        given += texts
        if one.param_type_name == "argument" or isinstance(value, Path):
            files.update(texts)
        if one.param_type_name == "argument":
            continue
        off = (next(iter(one.secondary_opts), ""),) if one.is_flag else ()
        name = library.get(one.name, one.name)
        if name not in _OTHER_THINGS:
            options[name] = (max(one.opts, key=len), *off)
    if "n_parents" in options:
        options["n_heads"] = options["n_parents"]
    return Wording(options, tuple(given), frozenset(files))


_NONE = Wording({})
_running: ContextVar[Wording] = ContextVar("wording", default=_NONE)


def say_as(wording: Wording = _NONE) -> None:
    """From now on, a command with this wording runs; without one, none does."""
    _running.set(wording)


def as_said(text: str, keep: Iterable[str] = ()) -> str:
    """A sentence of the library in the words of the command that runs; names in ``keep`` stay as they are."""
    return _running.get().say(text, keep)


def error_as_said(error: Exception) -> str:
    """What an error says, in the words of the command that runs."""
    wording = _running.get()
    return wording.say_setting(str(error)) if isinstance(error, SettingError) else wording.say(str(error))
