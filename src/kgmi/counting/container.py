"""One file that holds plain values and arrays of whole numbers: versioned, checksummed, compressed, no pickle.

Its bytes are, one after the other: a mark of eight bytes; the version of the format (4 bytes) and the length of the
header (8 bytes), both little-endian; the header, which is JSON and lists the arrays with their types and shapes;
the arrays, compressed as one stream (zlib); and the SHA-256 of all bytes before it, which closes the file in every
version of the format. Reading compares the sum first, then every length with the size of the file, and allocates
nothing that the file cannot hold.
"""

from __future__ import annotations

import json
import math
import os
import stat
import struct
import zlib
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from kgmi.errors import CountsError, TooLargeError
from kgmi.files import atomic_write
from kgmi.memory import check_fits, free_bytes, shown_bytes
from kgmi.outputs import COUNTS_MAGIC, note_read
from kgmi.version import __version__

__all__ = ["VERSION", "Arrays", "DamagedError", "read_container", "write_container"]

VERSION = 1
_FRONT = struct.Struct("<8sIQ")
_SUM_BYTES = 32
_MOST_HEADER = 256_000_000
_PIECE = 1 << 20  # bytes that are read, hashed or unpacked at a time
_MOST_PACKED = 1032  # bytes that one byte of a zlib stream can stand for, at most
_TYPES = ("<u1", "<u2", "<u4", "<i8", "<i4")
_FAST = 1  # level of compression: higher ones take ten times as long for a few per cent
_ADVICE = "count again, or fetch the file again"

Arrays: TypeAlias = dict[str, np.ndarray[Any, np.dtype[Any]]]


class DamagedError(CountsError):
    """What a file holds is not what was written to it."""


def write_container(path: Path, header: Mapping[str, Any], arrays: Arrays, *, force: bool = False) -> None:
    """Write plain values and arrays, whole or not at all; the same content gives the same bytes."""
    listing = [{"name": name, "dtype": _name(array), "shape": list(array.shape)} for name, array in arrays.items()]
    content = {"kgmi": __version__, **header, "arrays": listing}
    text = json.dumps(content, allow_nan=False, sort_keys=True).encode()
    if len(text) > _MOST_HEADER:
        raise TooLargeError(
            f"{path}: names, states and marks take {shown_bytes(len(text))}, which is beyond reason"
        )
    mark, packing = sha256(), zlib.compressobj(_FAST)
    with atomic_write(path, "counts", force=force) as stream:

        def put(piece: bytes) -> None:
            mark.update(piece)
            stream.write(piece)

        put(_FRONT.pack(COUNTS_MAGIC, VERSION, len(text)))
        put(text)
        for array in arrays.values():
            flat = np.ascontiguousarray(array).reshape(-1)
            for start in range(0, len(flat), _PIECE):
                put(packing.compress(flat[start : start + _PIECE].tobytes()))
        put(packing.flush())
        stream.write(mark.digest())


def read_container(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Plain values and arrays of a file, after every check that needs no knowledge of what they mean."""
    note_read(path)
    try:
        with open(path, "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise CountsError(f"{path} is no file of counts")
            length = _check_whole(path, stream, status.st_size)
            header = _read_header(path, stream, length)
            return header, _read_arrays(path, stream, header, status.st_size - _FRONT.size - length - _SUM_BYTES)
    except FileNotFoundError:
        raise CountsError(f"there is no file of counts at {path}; kgmi count writes one") from None
    except IsADirectoryError:
        raise CountsError(f"{path} is a folder, not a file of counts") from None


def _name(array: np.ndarray[Any, np.dtype[Any]]) -> str:
    name = array.dtype.newbyteorder("<").str.replace("|", "<")
    if name not in _TYPES or array.dtype.byteorder == ">":
        raise TypeError(f"arrays of type {array.dtype} are not stored")
    return name


def _check_whole(path: Path, stream: BinaryIO, size: int) -> int:
    """The length of the header, after mark, version and checksum; the file then stands behind the front."""
    front = stream.read(_FRONT.size)
    if front[: len(COUNTS_MAGIC)] != COUNTS_MAGIC[: len(front)] or not front:
        raise DamagedError(f"{path} is no file of counts of kgmi; kgmi count writes them from tables")
    if size < _FRONT.size + _SUM_BYTES:
        raise DamagedError(f"{path} is cut off: only {size:,} bytes are left; {_ADVICE}")
    _, version, length = _FRONT.unpack(front)
    mark, left = sha256(front), size - _FRONT.size - _SUM_BYTES
    while left > 0 and (piece := stream.read(min(_PIECE, left))):
        mark.update(piece)
        left -= len(piece)
    if left > 0 or stream.read(_SUM_BYTES + 1) != mark.digest():
        other = "" if version == VERSION else f" (or it is of version {version}, which this kgmi does not know)"
        raise DamagedError(f"{path} does not match its checksum: it was changed or cut off{other}; {_ADVICE}")
    if version != VERSION:
        advice = "update kgmi to read it" if version > VERSION else "count again with this kgmi"
        raise CountsError(f"{path} has format version {version}, this kgmi reads version {VERSION}: {advice}")
    if length > min(size - _FRONT.size - _SUM_BYTES, _MOST_HEADER):
        raise DamagedError(f"{path} claims a header of {length:,} bytes, the file has {size:,}; {_ADVICE}")
    stream.seek(_FRONT.size)
    return int(length)


def _read_header(path: Path, stream: BinaryIO, length: int) -> dict[str, Any]:
    try:
        header = json.loads(stream.read(length).decode())
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"{path} has a header that is not JSON ({error}); {_ADVICE}") from None
    if not isinstance(header, dict):
        raise DamagedError(f"{path} has a header that is no object of JSON; {_ADVICE}")
    return header


def _read_arrays(path: Path, stream: BinaryIO, header: dict[str, Any], packed: int) -> Arrays:
    """All arrays; their sizes are known, and possible, before memory is taken."""
    listed = header.pop("arrays", None)
    if not isinstance(listed, list) or not all(map(_is_listing, listed)):
        raise DamagedError(f"{path} does not list its arrays; {_ADVICE}")
    sizes = [math.prod(one["shape"]) * int(one["dtype"][-1]) for one in listed]
    if sum(sizes) > packed * _MOST_PACKED:
        raise DamagedError(f"{path} claims {sum(sizes):,} bytes of counts, which {packed:,} cannot hold; {_ADVICE}")
    needed = sum(sizes) + 8 * sum(math.prod(one["shape"]) for one in listed)  # as stored, and as 64 bits each
    check_fits(needed, f"{path} takes", "count fewer columns (--columns) or fewer parents (--parents)")
    free = free_bytes()
    if free is not None and needed > free:
        raise TooLargeError(f"{path} takes {shown_bytes(needed)} of memory, and {shown_bytes(free)} are free")
    content = _unpacked(path, stream, packed, sum(sizes))
    ends = np.cumsum([0, *sizes])
    return {
        one["name"]: np.frombuffer(content[start:end], dtype=one["dtype"]).reshape(one["shape"])
        for one, start, end in zip(listed, ends[:-1], ends[1:], strict=True)
    }


def _is_listing(one: Any) -> bool:
    shape = one.get("shape") if isinstance(one, dict) else None
    if not isinstance(shape, list) or not all(type(length) is int and length >= 0 for length in shape):
        return False
    return isinstance(one.get("name"), str) and one.get("dtype") in _TYPES and len(shape) <= 2


def _unpacked(path: Path, stream: BinaryIO, packed: int, size: int) -> memoryview:
    """The bytes of all arrays: ``size`` of them, neither more nor fewer."""
    unpacking, content, done = zlib.decompressobj(), memoryview(bytearray(size)), 0
    try:
        while packed and not unpacking.eof:
            waiting = stream.read(min(_PIECE, packed))
            packed -= len(waiting)
            while waiting and not unpacking.eof:
                piece = unpacking.decompress(waiting, min(_PIECE, size - done) or 1)  # 0 would mean: all there is
                if done + len(piece) > size:
                    raise DamagedError(f"{path} holds more counts than its header says; {_ADVICE}")
                content[done : done + len(piece)] = piece
                done, waiting = done + len(piece), unpacking.unconsumed_tail
    except zlib.error as error:
        raise DamagedError(f"{path} cannot be unpacked ({error}); {_ADVICE}") from None
    if done < size or not unpacking.eof or unpacking.unused_data or packed:
        raise DamagedError(f"{path} holds other counts than its header says; {_ADVICE}")
    return content.toreadonly()
