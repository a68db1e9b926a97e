"""``FrameCells``: data frames of pandas, polars, PyArrow and whatever else narwhals knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kgmi.data.bins import as_floats, as_measured
from kgmi.data.columns import Column
from kgmi.data.frames import frame_columns
from kgmi.estimator.cells import Cells, kind_of, other_form
from kgmi.estimator.stacked import stacked
from kgmi.types import Floats

__all__ = ["FrameCells"]


@dataclass(frozen=True, eq=False)
class FrameCells:
    """A narwhals data frame."""

    frame: Any
    names: tuple[str, ...]

    @cached_property
    def _series(self) -> list[Any]:
        return list(self.frame.iter_columns())

    @property
    def source(self) -> Any:
        """The data frame."""
        return self.frame

    @property
    def backend(self) -> Any:
        """The library of the data frame."""
        return self.frame.implementation

    @property
    def headers(self) -> tuple[Any, ...]:
        """Names of the columns as they came."""
        return tuple(self.frame.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.frame.shape[0])

    def kind(self, column: int) -> str:
        """See :class:`Cells`."""
        import narwhals.stable.v2 as nw

        series = self._series[column]
        if series.dtype in (nw.Object, nw.Unknown):
            return kind_of(series.to_list())
        return "truth" if series.dtype == nw.Boolean else "number" if series.dtype.is_numeric() else "text"

    def category(self, column: int) -> Any:
        """See :class:`Cells`: that of pandas, which knows the categories, or that of narwhals."""
        import narwhals.stable.v2 as nw
        import pyarrow as pa

        series = self._series[column]
        if series.dtype not in (nw.Categorical, nw.Enum):
            return None
        native = series.to_native()
        if isinstance(native, pa.ChunkedArray) and not pa.types.is_string(native.type.value_type):
            return None  # narwhals makes categories of texts only
        return native.dtype if series.implementation.is_pandas_like() else series.dtype

    def measured(self, column: int) -> Floats | None:
        """See :class:`Cells`."""
        series = self._series[column]
        return None if series.dtype.is_integer() else as_measured(self.floats(column))

    def floats(self, column: int) -> Floats | None:
        """See :class:`Cells`."""
        import narwhals.stable.v2 as nw

        series = self._series[column]
        if series.dtype in (nw.Object, nw.Unknown, nw.Decimal):
            return as_floats(series.to_list())
        return np.asarray(series.cast(nw.Float64).to_numpy()) if series.dtype.is_numeric() else None

    def replaced(self, columns: Mapping[int, Floats]) -> FrameCells:
        """See :class:`Cells`."""
        if not columns:
            return self
        import narwhals.stable.v2 as nw

        made = (
            nw.new_series(self.frame.columns[column], values, nw.Float64, backend=self.frame.implementation)
            for column, values in columns.items()
        )
        return replace(self, frame=self.frame.with_columns(*made))

    def only(self, columns: list[int]) -> FrameCells:
        """See :class:`Cells`."""
        kept = [self.frame.columns[column] for column in columns]
        return FrameCells(self.frame.select(kept), tuple(self.names[column] for column in columns))

    def followed_by(self, other: Cells | None) -> FrameCells:
        """See :class:`Cells`."""
        if other is None:
            return replace(self, frame=self.frame.clone())
        if not isinstance(other, FrameCells):
            raise other_form("a data frame", "an array")
        if other.backend != self.backend:
            raise other_form(f"a data frame of {self.backend.name.lower()}", f"one of {other.backend.name.lower()}")
        return replace(self, frame=stacked(self.frame, other.frame))

    def columns(self) -> list[Column]:
        """See :class:`Cells`."""
        return frame_columns(self.frame)
