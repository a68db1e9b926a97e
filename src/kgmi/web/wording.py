"""Errors as the user of the page knows the file: by the name that it had, not by where it was stored."""

from __future__ import annotations

import errno
from pathlib import Path

from kgmi.errors import KgmiError, TooLargeError

__all__ = ["FULL", "FULL_CODE", "MEMORY_ADVICE", "is_full", "worded"]

MEMORY_ADVICE = "Use fewer rows, columns or states, or start kgmi serve with a larger --memory-limit."

FULL = (
    "The disk of the server is full.",
    "Make room where temporary files are kept, or set TMPDIR to another disk and start kgmi serve again.",
)
"""What is wrong, and what to do, where nothing more can be written."""

FULL_CODE = 28
"""With which a process ends that could write nothing more, not even why."""


def is_full(error: BaseException) -> bool:
    """Whether the disk has no room left."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def worded(error: KgmiError, folder: Path, shown: str) -> dict[str, str]:
    """What is wrong and what to do, without any path of the server."""
    text = str(error)
    for path in sorted(folder.iterdir()):
        text = text.replace(str(path), shown)
    if text.split(" ", 1)[0].isalpha():  # a setting keeps its spelling
        text = text[:1].upper() + text[1:]
    return {"error": text, "advice": MEMORY_ADVICE if isinstance(error, TooLargeError) else ""}
