"""What a record says of the assumptions of the theory, and back again."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.record.storage import Arrays
from kgmi.theory import Assumption, AssumptionReport

__all__ = ["assumptions_content", "assumptions_from"]


def assumptions_content(report: AssumptionReport | None) -> dict[str, Any] | None:
    """The report in plain values; its distances are arrays of the record."""
    if report is None:
        return None
    # JSON has neither infinity (a single head has no second kernel to differ from, which holds) nor NaN (the kernel
    # has no stationary law, which fails).
    checks = [
        {
            "name": a.name,
            "holds": a.holds,
            "value": a.value if np.isfinite(a.value) else None,
            "sentence": a.sentence,
        }
        for a in report.assumptions
    ]
    return {"n_rows": report.n_rows, "checks": checks}


def assumptions_from(content: dict[str, Any] | None, arrays: Arrays) -> AssumptionReport | None:
    """The report that a record tells of."""
    if content is None:
        return None
    checks = tuple(
        Assumption(
            c["name"],
            c["holds"],
            (np.inf if c["holds"] else np.nan) if c["value"] is None else c["value"],
            c["sentence"],
        )
        for c in content["checks"]
    )
    return AssumptionReport(checks, arrays["marginal_distance"], arrays["parent_distance"], content["n_rows"])
