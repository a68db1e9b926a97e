"""The parts of a ``pyarrow.dataset.Dataset``, mostly files, which may lie anywhere: what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from kgmi.errors import DataError, first_line
from kgmi.streams.fragment import Fragment
from kgmi.streams.intact import changed
from kgmi.streams.marks import content_mark
from kgmi.streams.projection import Projection

__all__ = ["check_part", "folder_values", "part_contents", "part_mark", "parts_of", "path_of"]

_EDGE = 1 << 16


def parts_of(source: Any, where: Any) -> tuple[Any, ...]:
    """The files of a dataset that are not ruled out by their folders."""
    import pyarrow as pa

    try:
        return tuple(source.get_fragments(filter=where))
    except pa.ArrowInvalid:
        raise
    except ValueError:  # PyArrow hands out no files of a dataset with a filter of its own
        raise DataError(
            "this dataset was filtered or projected before; give it as it was opened, with the filter as where=… "
            "and the columns as columns=…"
        ) from None


def part_contents(parts: Sequence[Any], marks: Sequence[str], fragments: Sequence[Fragment]) -> tuple[str, ...]:
    """Marks of the bytes of all files of which something is read."""
    import pyarrow as pa

    found = []
    for number in sorted({fragment.file for fragment in fragments}):
        part = parts[number]
        if path := path_of(part):
            try:
                with part.filesystem.open_input_file(path) as stream:
                    content = content_mark(stream)
                now = part_mark(part)
            except (pa.ArrowException, OSError) as error:
                raise DataError(f"{path} cannot be read: {first_line(error)}") from None
            if now != marks[number]:
                raise changed(path)
            found.append(content)
    return tuple(found)


def folder_values(part: Any) -> dict[str, Any]:
    """Columns that are the same in all rows of a file, by the name of its folder."""
    from pyarrow import dataset

    return dict(dataset.get_partition_keys(part.partition_expression))


def path_of(part: Any) -> str:
    """The path of a file; empty where a part is none."""
    return str(getattr(part, "path", ""))


def part_mark(part: Any) -> str:
    """Of a file: its size, when it was written, and both of its ends, as far as its place tells; else nothing."""
    path = path_of(part)
    if not path:
        return ""
    info = part.filesystem.get_file_info(path)
    with part.filesystem.open_input_file(path) as stream:
        size = stream.size()
        first = stream.read(_EDGE)
        stream.seek(max(0, size - _EDGE))
        last = stream.read(_EDGE)
    ends = sha256(first).hexdigest(), sha256(last).hexdigest()
    return sha256(repr(("dataset", size, info.mtime_ns, ends)).encode()).hexdigest()


def check_part(part: Any, projection: Projection) -> None:
    """Refuse a file that lacks a column: PyArrow would fill it with gaps."""
    held = {*part.physical_schema.names, *folder_values(part)}
    lacking = next((name for name in projection.needed if name not in held), None)
    if lacking is not None:
        raise DataError(
            f"{path_of(part) or 'a part of the dataset'} has no column {lacking!r}, which the dataset has"
        )
