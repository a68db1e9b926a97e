"""A benchmark as a JSON file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kgmi.files import atomic_write

__all__ = ["save_benchmark"]


def save_benchmark(path: Path, content: dict[str, Any], *, force: bool = False) -> None:
    """Write what a benchmark found, in plain values; other files are replaced with ``force`` only."""
    text = json.dumps({"format": "kgmi-benchmark", **content}, ensure_ascii=False, allow_nan=False, indent=1)
    with atomic_write(path, "benchmark", force=force) as stream:
        stream.write((text + "\n").encode())
