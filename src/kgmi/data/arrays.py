"""Tables of codes from ``.npy`` files."""

from __future__ import annotations

from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from kgmi.data.numbers import table_of_numbers
from kgmi.data.origin import Origin, row_place
from kgmi.data.rules import Rules
from kgmi.data.table import Table
from kgmi.errors import DataError

__all__ = ["npy_array", "read_npy"]


def read_npy(path: Path, rules: Rules) -> Table:
    """Whole-number codes [row, column] that numpy.save wrote."""
    return table_of_numbers(npy_array(path), rules, origin=Origin(str(path), row_place))


def npy_array(path: Path) -> np.ndarray[Any, Any]:
    """The array that a file holds, of whatever type."""
    with path.open("rb") as stream:
        if stream.read(6) != b"\x93NUMPY":
            raise DataError(f"{path} is not a .npy file: it does not start as one; write it with numpy.save")
    try:
        _check_length(path)
        return np.asarray(np.load(path, allow_pickle=False))
    except (ValueError, EOFError, OSError, OverflowError, SyntaxError, TypeError, TokenError) as error:
        why = "it holds Python objects, which are not loaded" if "pickle" in str(error) else error
        raise DataError(f"{path} cannot be read as a .npy array: {why}; save whole numbers") from None


def _check_length(path: Path) -> None:
    """Refuse a header that announces more than the file holds, before memory is set aside for it."""
    with path.open("rb") as stream:
        version = np.lib.format.read_magic(stream)
        if version > (2, 0):  # only names of fields that are not ASCII need it
            raise ValueError("it has named fields")
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
        held = path.stat().st_size - stream.tell()
    if min(shape, default=1) < 1:
        raise ValueError(f"its shape is {shape}")
    claimed = prod(shape) * int(dtype.itemsize)  # whole numbers of Python, which do not overflow
    if claimed > held and not dtype.hasobject:  # objects have no fixed length, and are refused in any case
        raise ValueError(f"its header announces {claimed:,} bytes of values, but {held:,} follow")
