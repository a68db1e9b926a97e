"""Files of counts on the command line: which are read, and which may be written."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path

from kgmi.errors import SettingError
from kgmi.outputs import check_replaceable

__all__ = ["COUNTS_ENDING", "check_file", "find_counts", "one_file_of_counts"]

COUNTS_ENDING = ".counts"
"""By which commands know files of counts."""


def check_file(out: Path | None, such_as: str, *, force: bool) -> Path:
    """The file that counts are written to at the end, refused before any work is done where it cannot be one."""
    if out is None:
        raise SettingError(f"say where the counts are written to: --out {such_as}")
    check_replaceable(out, "counts", force=force)
    if out.suffix != COUNTS_ENDING:
        raise SettingError(
            f"--out {out} does not end in {COUNTS_ENDING}, by which kgmi learn knows files of counts; name it "
            f"{out.with_suffix(COUNTS_ENDING)}"
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


def one_file_of_counts(texts: Sequence[str]) -> str:
    """The file of counts that is learned from; of several, and of what is none, it is said how to come to one."""
    if rows := [text for text in texts if not text.endswith(COUNTS_ENDING)]:
        made = f"{Path(rows[0]).name.partition('.')[0].strip('*?[]') or 'rows'}{COUNTS_ENDING}"
        raise SettingError(
            f"counts and rows are not learned from together; count {rows[0]} first, kgmi count {_listed(rows)} -o "
            f"{shlex.quote(made)}, and then add up all counts with kgmi merge"
        )
    found = find_counts(texts)
    if len(found) > 1:
        raise SettingError(
            f"learn from one file of counts; add these up first: kgmi merge {_listed(found)} -o all.counts"
        )
    return found[0]


def _listed(texts: Sequence[str]) -> str:
    return " ".join(shlex.quote(text) for text in texts[:4]) + (" …" if len(texts) > 4 else "")
