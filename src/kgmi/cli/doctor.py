"""``kgmi doctor``: versions, devices and a self-test."""

from __future__ import annotations

import os
import platform
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata, util
from typing import Literal

import typer

from kgmi.cli import output
from kgmi.cli.display import live
from kgmi.cli.options import JsonOption
from kgmi.cli.terminal import say
from kgmi.memory import free_bytes, shown_bytes
from kgmi.threads import n_workers
from kgmi.version import __version__

__all__ = ["Finding", "doctor"]

_USES = {
    "gpu": "learning on an NVIDIA device (kgmi learn --device cuda)",
    "cluster": "counting on several processes or machines (kgmi count --cluster local:4)",
    "pgm": "BIF files and pgmpy models (kgmi bench networks, kgmi compare FILE.bif)",
    "bench": "comparing with other learners (kgmi bench, kgmi reproduce table)",
    "lab": "training transformers (kgmi.lab, kgmi reproduce lab)",
}
_REPORT = "report this with the output of kgmi doctor"


@dataclass(frozen=True)
class Finding:
    """One line of the report; ``advice`` says what to do if the state is not well."""

    part: str
    name: str
    found: str
    state: Literal["well", "note", "broken"] = "well"
    advice: str = ""


def doctor(json: JsonOption = False) -> None:
    """Report versions, devices and memory, and learn the example as a self-test.

    Example: kgmi doctor

    Nothing is changed and nothing is sent anywhere. The last line says «all well», or what to do; the exit code is
    1 if something is broken. Send the output along when you report a mistake.
    """
    with live("versions", quiet=json):
        found = [*_packages(), *_machine()]
        if all(one.state != "broken" for one in found):
            found.append(_self_test())
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


def _requirements() -> dict[str, dict[str, str]]:
    """Return the oldest version that will do of every package, by extra («» for what kgmi always needs)."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for line in metadata.requires("kgmi") or ():
        name, least, extra = (
            re.search(pattern, line) for pattern in (r"^([\w.-]+)", r"[>=]=\s*([\d.]+)", r"extra == ['\"](\w+)")
        )
        if name is not None:
            found[extra[1] if extra else ""][name[1]] = least[1] if least else "0"
    return found


def _packages() -> Iterator[Finding]:
    """Compare the packages that are installed with those that kgmi and its extras need."""
    yield Finding("versions", "kgmi", __version__)
    yield Finding("versions", "Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}")
    needed = _requirements()
    for name, least in needed[""].items():
        found = _version(name)
        if found is not None and _is_at_least(found, least):
            yield Finding("versions", name, found)
        else:
            what = "not installed" if found is None else f"{found}, older than {least}"
            yield Finding("versions", name, what, "broken", f"pip install '{name}>={least}'")
    for extra, use in _USES.items():
        packages = needed[extra]
        lacking = [name for name, least in packages.items() if not _is_at_least(_version(name) or "0", least)]
        if not lacking:
            yield Finding("extras", extra, f"installed: {use}")
            continue
        what = f"{'not installed' if len(lacking) == len(packages) else 'lacks'}: {', '.join(lacking)}"
        yield Finding("extras", extra, what, "note", f"pip install 'kgmi[{extra}]' if you want {use}")


def _machine() -> Iterator[Finding]:
    """Report cores, memory and devices."""
    yield Finding("machine", "cores", f"{n_workers()} for kgmi, {os.cpu_count()} in all")
    free = free_bytes()
    yield Finding("machine", "free memory", "not known" if free is None else shown_bytes(free))
    yield _device()


def _device() -> Finding:
    """Report the devices that PyTorch sees; it is loaded only here."""
    if util.find_spec("torch") is None:
        return Finding("machine", "device", "the processor (PyTorch is not installed)")
    try:
        import torch

        shown = [torch.cuda.get_device_properties(number) for number in range(torch.cuda.device_count())]
    except Exception as error:  # noqa: BLE001  (a driver may raise anything; learning without a device goes on)
        trouble = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        return Finding("machine", "device", trouble, "note", "mend or remove PyTorch, or leave --device out")
    if not shown:
        return Finding("machine", "device", f"the processor (PyTorch {torch.__version__} sees no NVIDIA device)")
    listed = ", ".join(f"cuda:{n} {one.name} ({shown_bytes(one.total_memory)})" for n, one in enumerate(shown))
    return Finding("machine", "device", listed)


def _self_test() -> Finding:
    """Learn the example and compare with its true graph."""
    from kgmi.examples import example
    from kgmi.learning.learn import learn
    from kgmi.metrics import compare

    chosen = example("paper")
    assert chosen.truth is not None
    try:
        result = compare(learn(chosen.table, n_parents=2).dag, chosen.truth)
    except Exception as error:  # noqa: BLE001  (whatever a broken package raises is what is to be reported)
        trouble = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        return Finding("self-test", "kgmi learn", trouble, "broken", _REPORT)
    what = f"{result.n_true - len(result.missing)} of {result.n_true} edges of the example found"
    return Finding("self-test", "kgmi learn", what, *(() if result.exact else ("broken", _REPORT)))


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _is_at_least(version: str, least: str) -> bool:
    """Compare two versions by their numbers, without what follows a plus sign."""
    found, wanted = ([int(part) for part in re.findall(r"\d+", text.split("+")[0])] for text in (version, least))
    return found[: len(wanted)] >= wanted or found >= wanted
