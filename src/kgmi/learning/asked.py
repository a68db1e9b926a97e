"""What was asked for when a result was learned, by the names of :func:`kgmi.learn`."""

from __future__ import annotations

import inspect
from typing import Any

from kgmi.learning.learn import learn
from kgmi.learning.learned import Learned
from kgmi.learning.origin import origin_of
from kgmi.penalty import PENALTIES

__all__ = ["READING", "asked_of"]

READING = ("columns", "drop", "header", "missing", "missing_values", "states", "n_states", "alphabet")
"""Settings that say how the file is read."""

# Settings whose option has the same name in the record, in Python and, with dashes, on the command line.
_PLAIN = frozenset(
    """guide divergence search list_length in_degree share error labelled_form kappa solver rate epochs stop
    smoothing root_level starts rounds kernel_source device""".split()  # noqa: SIM905  (twenty lines otherwise)
)


def asked_of(learned: Learned) -> dict[str, Any]:
    """Settings that are not what they are by default, by the names of :func:`kgmi.learn`."""
    told = learned.configuration
    usual = {name: p.default for name, p in inspect.signature(learn).parameters.items()}
    usual |= {"guide": "likelihood", "divergence": "kl", "kernel_source": "learned"}
    usual["in_degree"] = "mixed" if told.get("kernel_source") == "learned" else "uniform"
    if told.get("guide") not in ("likelihood", "contextual"):
        usual["rate"] = 10.0
    found: dict[str, Any] = {"n_parents": learned.n_heads}
    found |= {name: told[name] for name in told if name in _PLAIN and told[name] not in (None, usual[name])}
    if told.get("guide") == "labelled":
        found.pop("divergence", None)  # it has no other
    found |= _penalty(told.get("penalty", "nml"))
    if told.get("prepared"):
        found["prepare"] = True
    if isinstance(told.get("roots"), list):
        found["roots"] = [learned.names[node] for node in told["roots"]]
    if told.get("classes"):
        mentioned = {name: one for name, one in told["classes"].items() if one != "rest"}
        found["classes"] = _groups(mentioned or told["classes"])
    return found | _reading(learned, found) | _limits(learned)


def _penalty(name: str) -> dict[str, Any]:
    """A price by its name, or a number of nats."""
    if name in PENALTIES:
        return {} if name == "nml" else {"penalty": name}
    try:
        return {"penalty": float(name)}
    except ValueError:
        return {}  # one of somebody's own, which :func:`kgmi.report.again.run_again` tells of


def _reading(learned: Learned, found: dict[str, Any]) -> dict[str, Any]:
    """How the file is read, so that its states get the same codes."""
    told = origin_of(learned.configuration)[2]
    declared = told.pop("n_states", None) is not None  # which no option of the command is
    if "names" in told:
        told["names"] = list(learned.names)
    if "prepare" in found:
        if told.get("missing") == "pairwise":
            del told["missing"]  # as usual there
        return told
    if learned.alphabets is not None:
        return told
    by_kernel = found.get("kernel_source") == "known"
    if by_kernel and learned.states == tuple(map(str, range(len(learned.states)))):
        return {"n_states": len(learned.states)} | told  # the command takes the codes of the kernel by itself
    return {"states": list(learned.states)} | told if by_kernel or declared else told


def _limits(learned: Learned) -> dict[str, Any]:
    """What was asked of the candidates, with the names of columns."""
    told = learned.configuration.get("candidates") or {}
    found: dict[str, Any] = {}
    column = learned.names
    if told.get("only_children") is not None:
        return {"windows": learned.n_nodes}
    for name in ("forbidden", "required"):
        if told.get(name):
            found[name] = [(column[parent], column[child]) for parent, child in told[name]]
    if told.get("tiers") is not None:
        found["tiers"] = _groups({column[place]: tier for place, tier in enumerate(told["tiers"])})
    if told.get("max_lag") is not None:
        found["max_lag"] = told["max_lag"]
    order = told.get("order")
    if learned.configuration.get("order") == "learn" or order == "learn":
        found["order"] = "learn"
    elif order is not None:
        found["order"] = [column[place] for place in order]
    return found


def _groups(label_of: dict[str, Any]) -> list[list[str]]:
    groups: dict[Any, list[str]] = {}
    for name, label in label_of.items():
        groups.setdefault(label, []).append(name)
    return [groups[label] for label in sorted(groups, key=lambda one: (len(str(one)), str(one)))]
