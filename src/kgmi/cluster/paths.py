"""Where files are for workers, whose current folder is another one: paths from the root of the file system."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from kgmi.errors import DataError
from kgmi.streams import Fragment
from kgmi.streams.intact import gone

__all__ = ["UnseenFile", "is_gone", "path_of", "with_whole_paths"]


class UnseenFile(Exception):
    """A worker does not find a file; whether it is gone is known where the files were listed."""

    def __init__(self, path: str, address: str) -> None:
        super().__init__(path, address)  # all of it, as it is sent by its arguments
        self.path, self.address = path, address

    def told(self) -> DataError:
        """What that means, asked for in the process that listed the files."""
        if is_gone(Path(self.path)):
            return gone(self.path)
        return DataError(
            f"the worker at {self.address} cannot find {self.path}, which is there for the process that listed the "
            "files; every worker needs the same files by the same names: a folder that all of them share, or copies"
        )


def is_gone(path: Path) -> bool:
    """Whether there is no such file; one that may not be looked at is there."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def with_whole_paths(source: Any) -> Any:
    """The same source of rows, its files by their whole paths."""
    if (files := getattr(source, "files", None)) is not None:
        return replace(source, files=tuple(replace(file, path=file.path.absolute()) for file in files))
    if any(_local_path(part) is not None for part in getattr(source, "parts", ())):
        return replace(source, parts=tuple(map(_with_whole_path, source.parts)))
    return source


def path_of(source: Any, fragment: Fragment) -> Path | None:
    """The file of a fragment, where it is one of this machine."""
    if (files := getattr(source, "files", None)) is not None:
        return Path(files[fragment.file].path)
    parts = getattr(source, "parts", ())
    return _local_path(parts[fragment.file]) if parts else None


def _local_path(part: Any) -> Path | None:
    """The path of a part of a PyArrow dataset; None for what lies elsewhere, or in no file."""
    path, place = getattr(part, "path", ""), getattr(part, "filesystem", None)
    return Path(path) if path and getattr(place, "type_name", "") == "local" else None


def _with_whole_path(part: Any) -> Any:
    path = _local_path(part)
    if path is not None and is_gone(path):  # PyArrow opens it to send it, and Dask would only say that it cannot
        raise gone(path.absolute())
    if path is None or path.is_absolute():
        return part
    groups = {"row_groups": [group.id for group in part.row_groups]} if hasattr(part, "row_groups") else {}
    return part.format.make_fragment(str(path.absolute()), part.filesystem, part.partition_expression, **groups)
