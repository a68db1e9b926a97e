"""Values as JSON has them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["plain_values"]


def plain_values(value: Any, digits: int | None = None) -> Any:
    """Dictionaries, lists, texts and numbers, with so many ``digits``; NaN and infinities become None."""
    if isinstance(value, dict):
        return {str(key): plain_values(item, digits) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(item, digits) for item in value]
    if isinstance(value, np.ndarray):
        return plain_values(value.tolist(), digits)
    if isinstance(value, np.generic):
        return plain_values(value.item(), digits)
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    return value if digits is None else float(f"{value:.{digits}g}")
