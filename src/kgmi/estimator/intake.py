"""Rows in any form, after the checks that scikit-learn makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kgmi.data import Table
from kgmi.data.frames import as_frame
from kgmi.data.rows import refuse_other_tables
from kgmi.errors import DataError
from kgmi.estimator.cells import ArrayCells, Cells
from kgmi.estimator.frames import FrameCells

__all__ = ["take_cells"]


def take_cells(estimator: Any, rows: Any, *, reset: bool, least_rows: int = 1) -> Cells:
    """Rows as they came in, checked as scikit-learn does; ``reset`` learns the names and the number of columns."""
    from sklearn.utils.validation import validate_data

    if isinstance(rows, Table):
        raise DataError("the estimator takes arrays and data frames; learn from a kgmi.Table with kgmi.learn")
    frame = as_frame(rows)
    if frame is not None:
        validate_data(estimator, _header(frame), reset=reset, skip_check_array=True)
        _check_shape(estimator, frame.shape, (least_rows, 2))
        return FrameCells(frame, tuple(str(name) for name in frame.columns))
    if isinstance(rows, Mapping) and not hasattr(rows, "toarray"):  # scikit-learn has words for sparse matrices
        refuse_other_tables(rows)
    array = validate_data(
        estimator,
        _plain(rows),
        reset=reset,
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=least_rows,
        ensure_min_features=2 if reset else 1,  # later tables are compared with the first
    )
    return ArrayCells(array, tuple(f"x{number}" for number in range(array.shape[1])))


def _header(frame: Any) -> Any:
    """A table of no rows with the names of the frame, which every version of scikit-learn can read them off."""
    import pyarrow as pa

    if not all(isinstance(name, str) for name in frame.columns):
        return frame.to_native()
    return pa.table({name: pa.array([], pa.null()) for name in frame.columns})


def _check_shape(estimator: Any, shape: tuple[int, int], least: tuple[int, int]) -> None:
    """Refuse what is too small, in the words of scikit-learn."""
    for size, enough, what in zip(shape, least, ("sample", "feature"), strict=True):
        if size < enough:
            raise DataError(
                f"Found array with {size} {what}(s) (shape={shape}) while a minimum of {enough} is required by "
                f"{type(estimator).__name__}."
            )


def _plain(rows: Any) -> Any:
    """Lists as an array in which numbers stay apart from texts; masked cells as NaN or None."""
    if isinstance(rows, np.ma.MaskedArray):
        gaps = np.ma.getmaskarray(rows)
        plain = np.ma.getdata(rows).astype(np.float64 if rows.dtype.kind in "iuf" else object)
        plain[gaps] = None
        return plain
    if not isinstance(rows, list | tuple):
        return rows
    try:
        array = np.asarray(rows)
        return np.asarray(rows, dtype=object) if array.dtype.kind in "US" else array
    except ValueError:
        raise DataError("rows must be a table [row, column]; these rows are not equally long") from None
