"""What an output may replace: nothing that was read, and only a file of the same kind that kgmi wrote itself.

That kgmi wrote a file is known from its content: every format carries a mark. All writers come through
:func:`check_replaceable`, as :func:`kgmi.files.atomic_write` and :func:`kgmi.files.all_or_none` call it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from kgmi.errors import OutputError

__all__ = [
    "COUNTS_MAGIC",
    "Kind",
    "check_folder",
    "check_replaceable",
    "is_ours",
    "kind_of",
    "note_read",
    "reads_noted",
    "remove_ours",
    "stays",
]

Kind: TypeAlias = Literal[
    "record", "arrays", "counts", "graph", "dot", "graphml", "bif", "dagitty", "edges", "report",
    "png", "svg", "pdf", "experiment", "paper page", "paper text", "benchmark", "generated rows", "recipe", "lab "
    "record",
    "lock", "warning", "unmarked", "internal",
]  # fmt: skip
"""What a file is. ``unmarked`` files cannot be recognised (rows, plain arrays); ``internal`` ones, in folders that
kgmi made for itself, are replaced without a check."""

COUNTS_MAGIC = b"\x93KGMI\r\n\x1a"  # a transfer that thinks it is text changes these bytes
"""How files of counts begin."""

_HEAD, _TAIL = 4_096, 65_536  # bytes at the beginning and at the end of a file in which its mark lies


_JSON = rb'\s*\{\s*"format":\s*"%s"'
_HTML = rb'<!doctype html>\s*<html[^>]*><head><meta charset="utf-8">\s*<meta name="generator" content="%s">'
_EDGES = rb",".join(rb'"?%s"?' % name for name in (b"parent", b"child", b"head", b"attention", b"margin"))
_MARKS: dict[Kind, bytes] = {
    "record": _JSON % b"kgmi-record",
    "graph": _JSON % b"kgmi-graph",
    "experiment": _JSON % b"kgmi-reproduction",
    "benchmark": _JSON % b"kgmi-benchmark",
    "recipe": _JSON % b"kgmi-recipe",
    "lab record": _JSON % b"kgmi-lab-record",
    "counts": re.escape(COUNTS_MAGIC),
    "dot": rb"digraph kgmi \{\n",
    "dagitty": rb"dag kgmi \{\n",
    "bif": rb"// Bayesian network learned by kgmi\.\n",
    "graphml": rb"<\?xml[^>]*\?>\s*<!-- kgmi -->",
    "edges": _EDGES + rb'(?:,"?direction"?)?(?:,"?strength"?)?\n',
    "report": _HTML % b"kgmi report",
    "paper page": _HTML % b"kgmi reproduce",
    "paper text": rb"<!-- kgmi reproduce -->\n",
    "png": rb"\x89PNG\r\n\x1a\n.*?tEXtSoftware\0kgmi",
    "svg": rb"<\?xml.*?<dc:creator>\s*<cc:Agent>\s*<dc:title>kgmi</dc:title>",
    "pdf": rb"%PDF-.*/Creator \(kgmi\)",
    "generated rows": rb"PAR1.*kgmi-recipe",
    "lock": rb"\d{1,20}\n?\Z",
    "warning": rb"kgmi was ended while it replaced the files of this folder:\n",
}
"""How a file of each kind begins, and what follows at its end, as a regular expression."""

_UNFORCED = ("lock", "generated rows", "recipe")  # kinds whose writers cannot be told to replace other files
_ARRAYS = re.compile(r"arrays-([0-9a-f]{16})\.npz")
_NAMED_BY_CONTENT = re.compile(r"arrays-[0-9a-f]{16}\.npz|rows-[0-9a-f]{16}\.counts")
_READ: ContextVar[set[object] | None] = ContextVar("files that the command has read", default=None)


@contextmanager
def reads_noted() -> Iterator[None]:
    """Keep the files that are read meanwhile from being replaced meanwhile."""
    token = _READ.set(set())
    try:
        yield
    finally:
        _READ.reset(token)


def note_read(path: str | os.PathLike[str]) -> None:
    """Note that a file is read, for as long as :func:`reads_noted` says; readers call it."""
    noted = _READ.get()
    if noted is not None:
        noted.update(_identities(path))


def _was_read(path: Path) -> bool:
    return not _identities(path).isdisjoint(_READ.get() or ())


def _identities(path: str | os.PathLike[str]) -> set[object]:
    """By which a file is the same, however it is called: its place behind all links, and its number."""
    found: set[object] = {os.path.realpath(path)}
    with suppress(OSError):
        status = os.stat(path)
        if status.st_ino:  # some systems do not number their files
            found.add((status.st_dev, status.st_ino))
    return found


def check_replaceable(path: Path, kind: Kind, *, force: bool = False) -> None:
    """Refuse to write to a path where something would be lost.

    Commands call it before their work, for every file that they are going to write.

    Parameters
    ----------
    path
        Where the file is to appear.
    kind
        What it will be. A file that is there already, and is not empty, must be of this kind and written by kgmi.
    force
        Replace any other file too, though never one that the command has read.
    """
    if kind == "internal":
        return
    check_folder(path.parent)
    try:
        status = path.stat()
    except OSError:  # it is not there, or the write will say what is wrong
        return
    if stat.S_ISDIR(status.st_mode):
        raise OutputError(f"{path} is a folder; give the name of a file", path, "folder")
    if not stat.S_ISREG(status.st_mode):
        raise OutputError(
            f"{path} is a device or a pipe, which no file replaces; choose another name", path, "device"
        )
    if _was_read(path):
        message = f"{path} is one of the files that are read (by its name, in a folder or by a pattern)"
        raise OutputError(f"{message} and is not replaced; choose another name", path, "read")
    if status.st_size and not force and not is_ours(path, kind):
        what = "" if kind == "unmarked" else f" and is no {kind} file written by kgmi"
        remedy = "move it away" if kind in _UNFORCED else "choose another name, or replace it with force=True"
        raise OutputError(f"{path} exists{what}; {remedy}", path, "foreign")


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be one, as it or one above it is a file."""
    for part in (folder, *folder.parents):
        if part.exists() and not part.is_dir():
            raise OutputError(f"{part} is a file, not a folder; choose another folder", part, "file")


def remove_ours(path: Path, kind: Kind) -> None:
    """Remove a file of this kind that kgmi wrote, unless the command has read it; any other stays."""
    if is_ours(path, kind) and not _was_read(path):
        path.unlink(missing_ok=True)


def stays(path: Path) -> bool:
    """Whether a file need not be written: it has been read, and its name says that its content is the same."""
    return _NAMED_BY_CONTENT.fullmatch(path.name) is not None and path.is_file() and _was_read(path)


def is_ours(path: Path, kind: Kind) -> bool:
    """Whether a file is of this kind, and kgmi wrote it."""
    if kind == "arrays":
        return _are_arrays(path)
    return kind in _MARKS and re.match(_MARKS[kind], _ends(path), re.DOTALL) is not None


def kind_of(path: Path) -> Kind:
    """What a file is that kgmi wrote; ``unmarked`` where that cannot be said."""
    return next((kind for kind in get_args(Kind) if is_ours(path, kind)), "unmarked")


def _ends(path: Path) -> bytes:
    """The bytes of a file among which its mark is; none where it cannot be read."""
    try:
        if not path.is_file():  # opening a pipe would wait for its writer
            return b""
        with path.open("rb") as stream:
            head, size = stream.read(_HEAD), os.fstat(stream.fileno()).st_size
            stream.seek(max(_HEAD, size - _TAIL))
            return head + stream.read()
    except OSError:
        return b""


def _are_arrays(path: Path) -> bool:
    """Whether the name says what is in it, or the record beside it, that of a damaged file."""
    named = _ARRAYS.fullmatch(path.name)
    if named is None or not path.is_file():
        return False
    record = path.with_name("record.json")
    with suppress(OSError):
        if sha256(path.read_bytes()).hexdigest().startswith(named[1]):
            return True
        return is_ours(record, "record") and path.name.encode() in record.read_bytes()
    return False
