"""Errors as the user of the page knows the file: by the name that it had, not by where it was stored."""

from __future__ import annotations

from pathlib import Path

from kgmi.errors import KgmiError, TooLargeError

__all__ = ["MEMORY_ADVICE", "worded"]

MEMORY_ADVICE = "Use fewer rows, columns or states, or start kgmi serve with a larger --memory-limit."


def worded(error: KgmiError, folder: Path, shown: str) -> dict[str, str]:
    """What is wrong and what to do, without any path of the server."""
    text = str(error)
    for path in sorted(folder.iterdir()):
        text = text.replace(str(path), shown)
    if text.split(" ", 1)[0].isalpha():  # a setting keeps its spelling
        text = text[:1].upper() + text[1:]
    return {"error": text, "advice": MEMORY_ADVICE if isinstance(error, TooLargeError) else ""}
