"""Counts that are kept while they are made, part by part, so that a run that was ended goes on where it stood.

A folder holds what is counted (``identity.json``) and one file for every part that is done, named by the fragments
that it counts. Files are written under another name first and have checksums, so that one is there whole or not at
all. Many parts are folded into one: the sum is written before the files that it replaces are removed, and a file
whose fragments another one has too is never added.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any

from kgmi.counting.container import DamagedError
from kgmi.counting.files import load_part, save_part
from kgmi.counting.identity import ADVICE, agree_on, identity_of
from kgmi.counting.lock import FolderLock
from kgmi.counting.part import Part
from kgmi.errors import DataError
from kgmi.files import as_path
from kgmi.streams import Fragment
from kgmi.types import PathLike

__all__ = ["Checkpoint", "identity_of"]

_IDENTITY, _LOCK, _PARTS = "identity.json", "lock", "part-*.counts"
_MOST_FILES = 64
_MOST_BYTES = 256_000_000


class Checkpoint:
    """Parts of one count in a folder, which is locked until :meth:`close` or the end of a ``with`` statement.

    Parameters
    ----------
    folder
        Made where it is missing. It must be empty, or hold parts of the same count.
    identity
        What is counted (columns, rules, number of parents, filter …), in plain values: parts that were made for
        something else are refused.

    Attributes
    ----------
    notes
        What happened that somebody may want to know, in sentences.
    taken, taken_rows
        How many fragments, and rows, were taken from the folder.
    """

    def __init__(self, folder: PathLike, identity: dict[str, Any]) -> None:
        self.folder = as_path(folder, "checkpoint")
        self.notes: list[str] = []
        self.taken = self.taken_rows = 0
        self._fragments: dict[str, Fragment] = {}
        self._storing = Lock()
        try:
            _check_ours(self.folder)
            self.folder.mkdir(parents=True, exist_ok=True)
            self._held = FolderLock(self.folder / _LOCK)
        except OSError as error:
            raise DataError(
                f"{self.folder} cannot be a folder for a checkpoint ({error.strerror}): choose another one"
            ) from None
        try:
            self._identity = agree_on(self.folder / _IDENTITY, identity)
            for left in (*self.folder.glob(".part-*.part"), *self.folder.glob(f".{_IDENTITY}.*.part")):
                left.unlink()  # of a process that was killed while it wrote
            self._sizes = {path: path.stat().st_size for path in self.folder.glob(_PARTS)}
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let others use the folder; what is stored stays."""
        self._held.close()

    def load(self, fragments: Sequence[Fragment]) -> tuple[Part | None, list[Fragment]]:
        """The sum of what is stored, None where that is nothing, and the fragments that are still to be counted."""
        self._fragments = {fragment.mark: fragment for fragment in fragments}
        if "" in self._fragments or len(self._fragments) != len(fragments):
            raise DataError(
                "a checkpoint needs rows that can be read again, such as files: these cannot be told apart, or "
                "can be read once only"
            )
        total: Part | None = None
        done: set[str] = set()
        for path, marks in sorted(self._stored().items(), key=lambda item: (-len(item[1]), item[0])):
            if done.issuperset(marks):  # the process was ended between writing a sum and removing what is in it
                self._remove(path)
            elif done.isdisjoint(marks):
                part, _ = load_part(path)
                total = part if total is None else total + part
                done.update(marks)
            else:
                self.notes.append(f"{path.name} overlaps other parts; what is missing is counted again")
                self._remove(path)
        self.taken, self.taken_rows = len(done), 0 if total is None else total.n_rows
        return total, [fragment for fragment in fragments if fragment.mark not in done]

    def store(self, part: Part) -> None:
        """Keep a part that is done; may be called from any thread."""
        with self._storing:
            self._write(part)
            largest = max(self._sizes.values())
            if len(self._sizes) > _MOST_FILES or sum(self._sizes.values()) - largest > _MOST_BYTES:
                self._fold()

    def _stored(self) -> dict[Path, frozenset[str]]:
        """The files that are whole and belong to this count, with their fragments; each is in memory by itself."""
        found = {}
        for path in sorted(self._sizes):
            try:
                part, more = load_part(path)
            except DamagedError as error:
                self.notes.append(f"{error}: its fragments are counted again")
                self._remove(path)
                continue
            if more.get("identity") != self._identity:
                raise DataError(f"{path} belongs to another count; {ADVICE}")
            places = more.get("places", {})
            for mark in part.marks:
                if mark not in self._fragments:
                    raise DataError(
                        f"the source changed since it was counted in part: {places.get(mark, ['a piece'])[0]} is "
                        "gone, is not what it was, or is cut into other pieces, and its rows are in the checkpoint "
                        f"{self.folder}; {ADVICE}"
                    )
            if odd := _what_changed(part, places, self._fragments):
                self.notes.append(f"{path.name} has {odd}; its rows are counted again")
                self._remove(path)
                continue
            found[path] = frozenset(part.marks)
        return found

    def _write(self, part: Part) -> Path:
        marks = sorted(part.marks)
        path = self.folder / f"part-{sha256(' '.join(marks).encode()).hexdigest()[:24]}.counts"
        known = [(mark, self._fragments[mark]) for mark in marks if mark in self._fragments]
        places = {mark: [fragment.label, fragment.number, fragment.written] for mark, fragment in known}
        save_part(part, path, {"identity": self._identity, "places": places})
        self._sizes[path] = path.stat().st_size
        return path

    def _fold(self) -> None:
        """Make one file of all, then remove those that are in it."""
        old = sorted(self._sizes)
        total, _ = load_part(old[0])
        for path in old[1:]:
            total = total + load_part(path)[0]
        made = self._write(total)
        for path in old:
            if path != made:
                self._remove(path)

    def _remove(self, path: Path) -> None:
        del self._sizes[path]
        path.unlink(missing_ok=True)


def _what_changed(part: Part, places: dict[str, Any], fragments: dict[str, Fragment]) -> str:
    """Why fragments whose marks are as before are not to be trusted all the same; nothing where they are."""
    before = [places.get(mark, [None, None, None]) for mark in part.marks]
    now = [fragments[mark] for mark in part.marks]
    for (_, _, written), fragment in zip(before, now, strict=True):
        if written != fragment.written:  # a mark does not see every byte of a large file
            return f"rows of a file that was written again ({fragment.label})"
    moved = any(number != fragment.number for (_, number, _), fragment in zip(before, now, strict=True))
    if moved and any(categories is not None for categories in part.alphabets.declared):
        return "categories, whose order is that of their files, and files came before or between"
    return ""


def _check_ours(folder: Path) -> None:
    """Refuse a folder that holds other things: parts would be mixed up with them."""
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} is a file; a checkpoint needs a folder")
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    other = sorted(name for name in names - {_LOCK} if not name.startswith("."))
    if _IDENTITY not in names and other:
        raise DataError(
            f"{folder} holds other files ({other[0]} …) and is no checkpoint: choose an empty or new folder"
        )
