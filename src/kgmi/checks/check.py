"""``Check``: one question to the model, with a number and a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kgmi.errors import DataError
from kgmi.types import Floats

__all__ = ["LEVEL", "QUESTIONS", "Check", "Finding", "checks_from", "checks_to_dicts", "holm", "shown_p"]

LEVEL = 0.01
"""Of each check: how often it may raise an alarm where the model holds, over all nodes and candidates."""

QUESTIONS = {
    "kernels": "Is one kernel enough?",
    "parents": "Is K enough?",
    "rows": "Are rows independent?",
}
"""What each check asks, by its name."""

_SMALL_P = 1e-6  # nobody cares how much smaller a p-value is


@dataclass(frozen=True)
class Finding:
    """One thing that the model does not explain.

    Attributes
    ----------
    node
        Whose law it is about; of rows, the column that depends most on the row before.
    other
        The further parent that the node would need; None in the other checks.
    nats
        By how much a law that allows for it describes the cases better, before any price; None in the check of
        rows.
    p_value
        Of the finding, corrected for all that was looked at.
    """

    node: str
    other: str | None
    nats: float | None
    p_value: float


@dataclass(frozen=True)
class Check:
    """An assumption of the model, tested.

    Attributes
    ----------
    name
        ``kernels`` (is one kernel enough), ``parents`` (is K enough) or ``rows`` (are they independent).
    passed
        Whether nothing speaks against it at ``LEVEL``; None where it could not be tested.
    p_value
        The smallest p-value, corrected for all nodes and candidates; None where it could not be tested.
    findings
        What speaks against it, the worst first.
    sentence
        The answer for people, with what to do.
    """

    name: str
    passed: bool | None
    p_value: float | None
    findings: tuple[Finding, ...]
    sentence: str

    @property
    def question(self) -> str:
        """What is asked."""
        return QUESTIONS[self.name]

    def __str__(self) -> str:
        return f"{self.question} {self.sentence}"


def checks_to_dicts(checks: Sequence[Check]) -> list[dict[str, Any]]:
    """Plain values, for JSON."""
    return [asdict(check) | {"findings": [asdict(one) for one in check.findings]} for check in checks]


def checks_from(content: Any) -> tuple[Check, ...]:
    """The checks of :func:`checks_to_dicts`."""
    return tuple(_check(one) for one in content)


def holm(p_values: Floats, n_tests: int | None = None) -> Floats:
    """P-values corrected by Holm for their number, or for that of all tests of which these are the smallest."""
    order = np.argsort(p_values, kind="stable")
    left = (len(order) if n_tests is None else n_tests) - np.arange(len(order))
    out = np.empty(len(order))
    out[order] = np.maximum.accumulate(np.minimum(p_values[order] * left, 1.0)) if len(order) else 0.0
    return out


def shown_p(p_value: float) -> str:
    """A p-value for people."""
    return f"p < {_SMALL_P:.6f}" if p_value < _SMALL_P else f"p = {p_value:.2g}"


def _check(content: Any) -> Check:
    if content["name"] not in QUESTIONS or not isinstance(content["passed"], bool | None):
        raise DataError(f"a check is not what it should be: {str(content)[:60]}")
    findings = tuple(
        Finding(str(one["node"]), _text(one["other"]), _number(one["nats"]), float(one["p_value"]))
        for one in content["findings"]
    )
    return Check(
        content["name"], content["passed"], _number(content["p_value"]), findings, str(content["sentence"])
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
