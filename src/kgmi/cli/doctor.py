"""``kgmi doctor``: whether everything that kgmi needs is there and works."""

from __future__ import annotations

from dataclasses import asdict

import typer

from kgmi.cli import output
from kgmi.cli.display import live
from kgmi.cli.machine import (
    Finding,
    look_at_engines,
    look_at_machine,
    look_at_packages,
    try_learning,
)
from kgmi.cli.options import JsonOption
from kgmi.cli.terminal import say
from kgmi.progress import tell

__all__ = ["doctor"]

_VITAL = ("numpy", "numba", "scipy", "networkx", "pyarrow", "threadpoolctl")


def doctor(json: JsonOption = False) -> None:
    """Look whether all that kgmi needs is there and works: versions, engines, devices, memory, and a self-test.

    Example: kgmi doctor

    Nothing is changed and nothing is sent anywhere. The last line says «all well», or what to do; the exit code is
    1 if something is broken. Send the output along when you report a mistake.
    """
    found: list[Finding] = []
    with live("versions", quiet=json):
        found += look_at_packages()
        if not any(one.state == "broken" and one.name in _VITAL for one in found):  # else it cannot even be tried
            for number, look in enumerate((look_at_engines, look_at_machine)):
                tell("engines" if number == 0 else "machine", number, 2, "parts")
                found += look()
            found.append(try_learning())
    broken = [one for one in found if one.state == "broken"]
    if json:
        output.print_json({"well": not broken, "findings": [asdict(one) for one in found]})
    else:
        _print(found, broken)
    if broken:
        raise typer.Exit(1)


def _print(found: list[Finding], broken: list[Finding]) -> None:
    for part in dict.fromkeys(one.part for one in found):
        rows = [[one.name, _shown(one)] for one in found if one.part == part]
        output.print_table([part, ""], rows, right=9)
    for one in found:
        if one.state == "note":
            output.print_wrapped(f"Note: {one.name} {one.found}; {one.advice}.")
    if not broken:
        say("all well")
    for one in broken:
        output.print_wrapped(f"Broken: {one.name}: {one.found}. To mend it: {one.advice}")


def _shown(one: Finding) -> str:
    return f"BROKEN: {one.found}" if one.state == "broken" else one.found
