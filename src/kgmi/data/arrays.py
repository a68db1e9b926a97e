"""Tables of codes from ``.npy`` files."""

from __future__ import annotations

from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from kgmi.data.codes import checked_codes
from kgmi.data.table import Table, choose_states, default_names
from kgmi.errors import DataError
from kgmi.types import Names

__all__ = ["read_npy"]

_MOST_STATES = 1_000_000  # unless declared, a larger code is no state; and the labels would fill the memory


def read_npy(path: Path, states: Names | None, n_states: int | None) -> Table:
    """Whole-number codes [row, column] that numpy.save wrote."""
    with path.open("rb") as stream:
        if stream.read(6) != b"\x93NUMPY":
            raise DataError(f"{path} is not a .npy file: it does not start as one; write it with numpy.save")
    array = _array(path)
    declared = None if states is None else choose_states((), states, n_states)
    try:
        codes, size = checked_codes(array, n_states if declared is None else len(declared))
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    if n_states is None and declared is None and size > _MOST_STATES:
        raise DataError(
            f"{path} has a code of {size - 1}; it looks like a measurement or an identifier, not a state. Leave it "
            "out, recode it, or declare n_states"
        )
    labels = tuple(str(code) for code in range(size)) if declared is None else declared
    return Table(codes, default_names(codes.shape[1]), labels)


def _array(path: Path) -> np.ndarray[Any, Any]:
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
