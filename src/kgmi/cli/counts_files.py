"""Files of counts on the command line: which are read, and which may be written."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path

from kgmi.errors import SettingError

__all__ = ["COUNTS_ENDING", "check_file", "find_counts", "is_checkpoint", "one_file_of_counts"]

COUNTS_ENDING = ".counts"
"""By which commands know files of counts."""

_PART = re.compile(r"part-[0-9a-f]{24}\.counts")


def check_file(out: Path | None, such_as: str, read: Sequence[str] = (), advice: str = "") -> Path:
    """The file that counts are written to at the end, refused before any work is done where it cannot be one.

    Nothing but counts is replaced by counts, and nothing that is ``read``: there may be ``advice`` on that.
    Commands know counts by the ending of their files, which is that of ``such_as``.
    """
    from kgmi.counting.container import is_container

    if out is None:
        raise SettingError(f"say where the counts are written to: --out {such_as}")
    if out.is_dir():
        raise SettingError(f"{out} is a folder; --out needs the name of a file, such as {out / such_as}")
    if not out.exists():
        return _known_later(out, such_as)
    if any(os.path.exists(path) and out.samefile(path) for path in read):
        advice = advice or "give --out another name"
        raise SettingError(f"{out} is one of the files that are read, and is not replaced; {advice}")
    if not out.is_file() or (out.stat().st_size and not is_container(out)):
        raise SettingError(
            f"{out} is there already and is no file of counts, so that it is not replaced; give --out another "
            f"name, such as {such_as}"
        )
    return _known_later(out, such_as)


def _known_later(out: Path, such_as: str) -> Path:
    """Refuse a file that kgmi learn would not take for counts."""
    ending = Path(such_as).suffix
    if out.suffix != ending:
        raise SettingError(
            f"--out {out} does not end in {ending}, by which kgmi learn knows files of counts; name it "
            f"{out.with_suffix(ending)}"
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
    part = next((Path(text) for text in found if _PART.fullmatch(Path(text).name)), None)
    if part is not None and is_checkpoint(part.parent):
        raise SettingError(
            f"{part} is a part of a checkpoint, of a count that may not be complete; run the command that began it "
            f"once more, with --checkpoint {shlex.quote(str(part.parent))}: it goes on from there"
        )
    if len(found) > 1:
        raise SettingError(
            f"learn from one file of counts; add these up first: kgmi merge {_listed(found)} -o all.counts"
        )
    return found[0]


def _listed(texts: Sequence[str]) -> str:
    return " ".join(shlex.quote(text) for text in texts[:4]) + (" …" if len(texts) > 4 else "")


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder keeps parts of a count that is under way."""
    return (folder / "identity.json").is_file() and any(folder.glob("part-*.counts"))
