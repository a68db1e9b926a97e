"""A JSON file and one array file beside it: versioned, checksummed, written whole or not at all, without pickle.

The array file is named by its content and the JSON is renamed into place last, so a crash at any moment leaves
either the old content or the new one. Reading compares the headers of all arrays with the JSON before anything is
allocated.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from kgmi.errors import RecordError
from kgmi.files import atomic_write
from kgmi.outputs import note_read, remove_ours

__all__ = ["FORMAT", "VERSION", "Arrays", "read", "write"]

FORMAT = "kgmi-record"
VERSION = 3  # 1 (up to kgmi 0.2) had no kernels with counts; 2 (up to 0.12) numbered nodes by the order
_READS = (1, 2, 3)
_MOST_BYTES = 4_000_000_000  # of all arrays of a record together
_MOST_JSON = 200_000_000
_ZIP_ERRORS = (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error)

Arrays: TypeAlias = dict[str, np.ndarray[Any, np.dtype[Any]]]


def write(folder: Path, content: dict[str, Any], arrays: Arrays, *, force: bool = False) -> Path:
    """Write plain values and arrays into ``folder``; the path of its ``record.json``."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **cast(Any, arrays))  # all numeric, so nothing is pickled; reading checks it
    mark = sha256(buffer.getvalue()).hexdigest()
    array_path = folder / f"arrays-{mark[:16]}.npz"
    with atomic_write(array_path, "arrays", force=force) as stream:
        stream.write(buffer.getvalue())
    listing = {
        "file": array_path.name,
        "sha256": mark,
        "content": {k: {"dtype": a.dtype.str, "shape": list(a.shape)} for k, a in arrays.items()},
    }
    record = {"format": FORMAT, "version": VERSION, **content, "arrays": listing}
    path = folder / "record.json"
    with atomic_write(path, "record", force=force) as stream:
        stream.write(json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False).encode())
    for old in folder.glob(f"arrays-{'[0-9a-f]' * 16}.npz"):
        if old != array_path:
            remove_ours(old, "arrays")
    return path


def read(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Plain values and arrays of a ``record.json``, after every check that needs no knowledge of the content."""
    if not path.is_file():
        raise RecordError(f"there is no record at {path}")
    if path.stat().st_size > _MOST_JSON:
        raise RecordError(f"{path} is larger than any record is ({path.stat().st_size:,} bytes)")
    try:
        record = json.loads(path.read_bytes())
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(f"{path} is not JSON: {error}") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise RecordError(f"{path} is not a kgmi record")
    version = record.get("version")
    if type(version) is not int or version not in _READS:
        newer = isinstance(version, int) and version > VERSION
        advice = "update kgmi to read it" if newer else "learn it again"
        raise RecordError(f"{path} has record version {version}, this kgmi reads up to {VERSION}: {advice}")
    note_read(path)
    return record, _read_arrays(path, record)


def _read_arrays(path: Path, record: dict[str, Any]) -> Arrays:
    """All arrays, after their sizes and types were compared with the JSON."""
    try:
        listing = record["arrays"]
        name, mark, declared = str(listing["file"]), listing["sha256"], dict(listing["content"])
    except (KeyError, TypeError, ValueError):
        raise RecordError(f"{path} does not list its arrays") from None
    file = path.parent / name
    if Path(name).name != name or not file.is_file():
        raise RecordError(f"{path} names the array file {name!r}, which is not beside it")
    note_read(file)
    if file.stat().st_size > _MOST_BYTES:
        raise RecordError(f"{file} is larger than any record is")
    content = file.read_bytes()
    if sha256(content).hexdigest() != mark:
        raise RecordError(f"{file} does not match its checksum: it was changed or cut off")
    try:
        _check_headers(content, declared)
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (ValueError, KeyError, TypeError, OSError, EOFError, RuntimeError, *_ZIP_ERRORS) as error:
        raise RecordError(f"{file} is damaged: {error}") from None
    for array in arrays.values():
        array.setflags(write=False)  # as those of a result that was just learned
    return arrays


def _check_headers(content: bytes, declared: dict[str, Any]) -> None:
    total = 0
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = {name.removesuffix(".npy") for name in archive.namelist()}
        if found != set(declared):
            raise ValueError(f"it holds {sorted(found)}, the record lists {sorted(declared)}")
        for name in archive.namelist():
            with archive.open(name) as stream:
                version = np.lib.format.read_magic(stream)
                read = (
                    np.lib.format.read_array_header_1_0
                    if version == (1, 0)
                    else np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = read(stream)
            expected = declared[name.removesuffix(".npy")]
            if list(shape) != expected["shape"] or dtype.str != expected["dtype"]:
                raise ValueError(f"array {name} is {dtype.str}{shape}, the record says {expected}")
            if dtype.kind not in "fi" or any(length < 0 for length in shape):
                raise ValueError(f"array {name} is {dtype.str}{shape}; records hold arrays of numbers only")
            total += int(np.prod(shape, dtype=object)) * dtype.itemsize
    if total > _MOST_BYTES:
        raise ValueError(f"its arrays would take {total:,} bytes")
