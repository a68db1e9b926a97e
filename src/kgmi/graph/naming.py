"""Names in lists that people read: one that could be taken for two stands in double quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["quoted", "shown_list"]

# What stands between names in our lists and on the command line, and what would hide where a name begins or ends.
_UNCLEAR = re.compile(r'[,;|>]| and |^"|^\s|\s$|^$')


def quoted(name: str) -> str:
    """A name as it stands in a list; in double quotes (those inside it twice) where it could be misread."""
    return '"' + name.replace('"', '""') + '"' if _UNCLEAR.search(name) else name


def shown_list(names: Iterable[str], between: str = ", ") -> str:
    """Names one after the other, such that it is clear where each of them ends."""
    return between.join(map(quoted, names))
