"""The ledger: every numbered or named statement of the paper, with its code, its trial, a verdict and a repair.

Sections and numbers are those that the LaTeX source of the paper prints: theorems IV.1 to IV.3 are theorems 1 to 3,
the assumptions II.1 and III.1 are assumptions 1 and 2, and lemmas of the appendices B, C and D carry its letter.
The statements themselves are data, in ``ledger.toml``.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias, get_args

__all__ = ["CounterExample", "Statement", "Verdict", "count_verdicts", "read_ledger"]

Verdict: TypeAlias = Literal["holds", "holds where", "fails", "cannot be tested"]


@dataclass(frozen=True)
class CounterExample:
    """A counter-example: ``measured`` should be at most ``bound``, and is not.

    ``name`` is its key in :data:`kgmi.theory.examples.EXAMPLES`, which recomputes both figures. They are not
    ``shown`` where the text says them.
    """

    name: str
    text: str
    measured: float
    bound: float
    shown: bool = True


@dataclass(frozen=True)
class Statement:
    """One statement of the paper.

    Attributes
    ----------
    key
        A word for code; ``number`` and ``title`` are for readers.
    is_claim
        False for definitions and descriptions, which cannot fail.
    says
        The statement in our words.
    code
        Dotted names of what computes it.
    tried
        Tests (``module::function``) and experiments (``kgmi reproduce …``) that try it.
    verdict
        ``holds``; ``holds where`` a condition is met that the paper does not state; ``fails`` as printed;
        ``cannot be tested``.
    where
        That condition, or why it cannot be tested.
    proof
        Where the printed proof breaks, or what it leaves open; empty where we found no gap.
    repair
        What holds instead, with its reason; empty where there is nothing to repair.
    examples
        Counter-examples, the smallest first.
    """

    key: str
    number: str
    title: str
    says: str
    code: tuple[str, ...]
    tried: tuple[str, ...]
    verdict: Verdict
    where: str = ""
    proof: str = ""
    repair: str = ""
    examples: tuple[CounterExample, ...] = ()
    is_claim: bool = True


@cache
def read_ledger() -> tuple[Statement, ...]:
    """All statements, in the order of the paper; :data:`kgmi.theory.LEDGER` is the same."""
    content = tomllib.loads((files("kgmi.theory") / "ledger.toml").read_text(encoding="utf-8"))
    found = []
    for entry in content["statement"]:
        entry["examples"] = tuple(CounterExample(**example) for example in entry.get("examples", ()))
        entry |= {name: tuple(entry[name]) for name in ("code", "tried")}
        found.append(Statement(**entry))
    return tuple(found)


def count_verdicts() -> dict[Verdict, int]:
    """Number of statements with each verdict."""
    found = Counter(one.verdict for one in read_ledger())
    return {verdict: found[verdict] for verdict in get_args(Verdict)}
