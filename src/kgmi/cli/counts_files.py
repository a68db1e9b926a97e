"""Files of counts on the command line: which are read, and which may be written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path

from kgmi.errors import SettingError

__all__ = ["check_file", "find_counts"]


def check_file(out: Path | None, such_as: str, read: Sequence[str] = ()) -> Path:
    """The file that counts are written to at the end, refused before any work is done where it cannot be one.

    Nothing but counts is replaced by counts, and nothing that is ``read``.
    """
    from kgmi.counting.container import is_container

    if out is None:
        raise SettingError(f"say where the counts are written to: --out {such_as}")
    if out.is_dir():
        raise SettingError(f"{out} is a folder; --out needs the name of a file, such as {out / such_as}")
    if not out.exists():
        return out
    if any(os.path.exists(path) and out.samefile(path) for path in read):
        raise SettingError(f"{out} is one of the files that are read, and is not replaced; give --out another name")
    if not out.is_file() or (out.stat().st_size and not is_container(out)):
        raise SettingError(
            f"{out} is there already and is no file of counts, so that it is not replaced; give --out another "
            f"name, such as {such_as}"
        )
    return out


def find_counts(texts: Sequence[str]) -> list[str]:
    """Files of counts by their names; patterns that the shell left as they are stand for all that match."""
    found: list[str] = []
    for text in texts:
        if not has_magic(text) or os.path.exists(text):
            found.append(text)
        elif matching := sorted(glob(text, recursive=True)):
            found += matching
        else:
            raise SettingError(f"no file matches {text}; kgmi count writes files of counts")
    return found
