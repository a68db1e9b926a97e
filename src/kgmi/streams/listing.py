"""Which files a path, a folder or a pattern stands for, and what the names of folders say about their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from os import PathLike, fspath
from pathlib import Path
from urllib.parse import unquote

from kgmi.data.kinds import ARROW_ENDINGS, DELIMITERS, check_file, ending_of, refuse_ending
from kgmi.errors import DataError
from kgmi.outputs import is_ours

__all__ = ["Found", "find_files"]

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_SHOWN = 3


@dataclass(frozen=True)
class Found:
    """Files of one kind.

    Attributes
    ----------
    kind
        What they are: ``Parquet``, ``Arrow``, ``text`` or ``NumPy``.
    paths
        The files, in order.
    keys
        Columns that the names of the folders give (``year=2020``).
    values
        ``values[file][key]``: the text in the name of the folder; None for no value.
    description
        What people call them.
    """

    kind: str
    paths: tuple[Path, ...]
    keys: tuple[str, ...]
    values: tuple[tuple[str | None, ...], ...]
    description: str


def find_files(source: str | PathLike[str] | Sequence[str | PathLike[str]]) -> Found:
    """The files of a path, a folder, a pattern, or a list of these; all of one kind."""
    given = [source] if isinstance(source, str | PathLike) else list(source)
    listed: list[tuple[Path, Path]] = []
    for one in given:
        try:
            listed += _expanded(fspath(one))
        except OSError as error:
            raise DataError(f"{one} cannot be read ({error.strerror}); give another path") from None
    twice = [path for path, times in Counter(path.resolve() for path, _ in listed).items() if times > 1]
    if twice:
        raise DataError(f"{twice[0]} is given twice, so that its rows would count twice; leave one out")
    for path, _ in listed:
        check_file(path)
    _check_links([path for path, _ in listed])
    by_kind: dict[str, Path] = {}
    for path, _ in listed:
        by_kind.setdefault(_kind(path), path)
    if len(by_kind) > 1:
        shown = " and ".join(f"{kind} ({path})" for kind, path in by_kind.items())
        raise DataError(
            f"the files are of several kinds: {shown}; give a pattern for one kind, such as 'data/*.parquet'"
        )
    kind = next(iter(by_kind))
    keys, values = _partitions(listed)
    return Found(kind, tuple(path for path, _ in listed), keys, values, _described(kind, listed, given))


def _check_links(paths: Sequence[Path]) -> None:
    """Refuse two names of one file (hard links)."""
    known: dict[tuple[int, int], Path] = {}
    for path in paths:
        status = path.stat()
        if status.st_nlink < 2 or not status.st_ino:  # some systems do not number their files
            continue
        first = known.setdefault((status.st_dev, status.st_ino), path)
        if first != path:
            raise DataError(
                f"{path} and {first} are links to the same file, so that its rows would count twice; leave one out"
            )


def _expanded(text: str) -> list[tuple[Path, Path]]:
    """(file, folder at which names of folders begin to mean something) of one path, folder or pattern."""
    if not text or "\0" in text:
        wrong = f"has a NUL byte ({text!r})" if text else "is empty"
        raise DataError(f"the path {wrong}; give a file, a folder ('.' is the current one) or a pattern")
    path = Path(text)
    if "://" in text:
        raise DataError(
            f"{text}: only files are read by name; give a pyarrow.dataset.Dataset of what lies elsewhere"
        )
    if path.is_dir():
        found = [file for file in sorted(path.rglob("*")) if file.is_file() and _is_data(file.relative_to(path))]
        tables = [file for file in found if _kind_or_none(file)]
        found = [file for file in tables if not _is_result(file)]
        if not found:
            but = f" but what kgmi learned ({tables[0]})" if tables else ""
            raise DataError(
                f"there are no tables (.parquet, .arrow, .feather, .csv, .tsv, .npy) in the folder {text}{but}"
            )
        return [(file, path) for file in found]
    if has_magic(text) and not path.exists():
        base = Path(*[part for part in path.parts if not has_magic(part)][: _first_magic(path)])
        files = [Path(file) for file in sorted(glob(text, recursive=True)) if Path(file).is_file()]
        if not files:
            raise DataError(f"no file matches {text}")
        return [(file, base) for file in files]
    return [(path, path.parent)]


def _first_magic(path: Path) -> int:
    return next(place for place, part in enumerate(path.parts) if has_magic(part))


def _is_data(relative: Path) -> bool:
    """Not hidden and not one of the notes (``_SUCCESS``, ``_metadata``) that other programs leave beside tables."""
    return not any(part.startswith((".", "_")) for part in relative.parts)


def _is_result(path: Path) -> bool:
    """The edges that were learned, in a folder of results: these may be written beside the data.

    Whatever else lies there is data, for a result may be written into the folder of a table.
    """
    if path.name != "edges.csv" or not is_ours(path, "edges"):
        return False
    return is_ours(path.with_name("record.json"), "record") or is_ours(path.with_name("wide.json"), "wide")


def _kind_or_none(path: Path) -> str | None:
    ending = ending_of(path)
    if ending in (".parquet", ".pq"):
        return "Parquet"
    if ending in ARROW_ENDINGS:
        return "Arrow"
    if ending in DELIMITERS:
        return "text"
    return "NumPy" if ending == ".npy" else None


def _kind(path: Path) -> str:
    kind = _kind_or_none(path)
    if kind is None:
        raise refuse_ending(path)
    return kind


def _partitions(listed: Sequence[tuple[Path, Path]]) -> tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...]]:
    """Keys and values in the names of folders, the same keys for all files."""
    found = []
    for path, base in listed:
        folders = path.relative_to(base).parts[:-1]
        pairs = [part.split("=", 1) for part in folders if "=" in part[1:]]
        found.append([(unquote(key), unquote(value)) for key, value in pairs])
    keys = [tuple(key for key, _ in pairs) for pairs in found]
    other = next((number for number, one in enumerate(keys) if one != keys[0]), None)
    if other is not None:
        raise DataError(
            f"the folders of {listed[other][0]} name {list(keys[other])}, those of {listed[0][0]} {list(keys[0])}; "
            "all files must lie in folders that are named alike"
        )
    values = tuple(tuple(None if text == _NO_VALUE else text for _, text in pairs) for pairs in found)
    return keys[0], values


def _described(kind: str, listed: Sequence[tuple[Path, Path]], given: Sequence[object]) -> str:
    if len(listed) == 1:
        return str(listed[0][0])
    where = ", ".join(str(one) for one in given[:_SHOWN]) + (" …" if len(given) > _SHOWN else "")
    return f"{len(listed):,} {kind} files ({where})"
