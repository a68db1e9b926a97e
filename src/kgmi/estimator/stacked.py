"""Two data frames with the same columns, one below the other, though a short one may not know its types yet."""

from __future__ import annotations

from typing import Any

from kgmi.data.origin import column_label
from kgmi.errors import DataError

__all__ = ["stacked"]


def stacked(first: Any, second: Any) -> Any:
    """The rows of both narwhals data frames, in this order; columns without a value take the type of the other."""
    import narwhals.stable.v2 as nw

    order = first.columns
    for name in order:
        types = first[name].dtype, second[name].dtype
        if types[0] == types[1]:
            continue
        if second[name].is_null().all():
            second = second.drop(name)
        elif first[name].is_null().all():
            first = first.drop(name)
        elif first.implementation.is_pandas_like():
            continue  # it finds a type for both, a column of objects if need be
        elif types[0].is_numeric() and types[1].is_numeric():
            wide = nw.Int64 if types[0].is_integer() and types[1].is_integer() else nw.Float64
            first, second = (frame.with_columns(nw.col(name).cast(wide)) for frame in (first, second))
        else:
            raise DataError(
                f"{column_label(str(name), 0)} was of type {types[0]} in the rows taken so far, which were not "
                f"enough to learn from, and is of type {types[1]} now; give it one type"
            )
    return nw.concat([first, second], how="diagonal").select(order)
