"""Codes as the values they stand for, in a table like the one that came in."""

from __future__ import annotations

from typing import Any

import numpy as np

from kgmi.data.columns import category_texts
from kgmi.estimator.reader import Feature, Reader
from kgmi.estimator.reading import is_whole
from kgmi.types import Codes

__all__ = ["as_labels"]

_TRUTH = (("False", "True"), ("0", "1"))  # what the states of a column of truth values are called


def as_labels(reader: Reader, codes: Codes) -> Any:
    """A data frame of the library that came in, or an array; columns in the order of the input.

    Arrays are of truth values, whole numbers or floats where all values can be; of Python objects otherwise.
    """
    values = [np.array([*_values(feature, reader.positions), None], dtype=object) for feature in reader.features]
    columns = [known[codes[:, number]] for number, known in enumerate(values)]
    if reader.backend is None:
        kinds = {type(value) for known in values for value in known[:-1]}
        return np.stack(columns, axis=1).astype(_dtype(kinds))
    import narwhals.stable.v2 as nw

    content = {header: column.tolist() for header, column in zip(reader.headers, columns, strict=True)}
    drawn = nw.from_dict(content, backend=reader.backend)
    for header, feature in zip(reader.headers, reader.features, strict=True):
        if feature.category is not None:
            drawn = _with_categories(drawn, header, feature)
    return drawn.to_native()


def _with_categories(drawn: Any, header: Any, feature: Feature) -> Any:
    """The frame with a column of the categories that came in; of texts, if other columns lend it further states."""
    import narwhals.stable.v2 as nw

    if not drawn.implementation.is_pandas_like():
        listed = getattr(feature.category, "categories", None)  # a Categorical of polars takes any text
        fits = listed is None or set(_known(feature)) <= set(listed)
        return drawn.with_columns(nw.col(header).cast(feature.category)) if fits else drawn
    meaning = {category_texts([one])[0]: one for one in feature.category.categories}  # categories need not be texts
    if not set(_known(feature)) <= set(meaning):
        return drawn
    native = drawn.to_native()
    native[header] = native[header].map(meaning).astype(feature.category)
    return nw.from_native(native)


def _values(feature: Feature, positions: bool) -> list[Any]:
    """``values[code]``: what the code stands for, of the kind that the column was of; None for no value."""
    known = _known(feature)
    n_known = len(known)
    found: list[Any]
    if feature.bins is not None:
        bins = known if positions else [str(number) for number in range(len(feature.bins.centres))]
        centre = dict(zip(bins, feature.bins.centres, strict=False))
        found = [centre.get(state) for state in known]  # other columns may have states that are none of its bins
    elif feature.kind == "truth" and (positions or known in _TRUTH) and n_known == 2:
        found = [False, True]
    elif feature.kind != "text" and positions:
        found = list(range(n_known))
    elif feature.kind != "text" and all(map(is_whole, known)):
        found = [int(state) for state in known]
    else:
        found = list(known)
    return [*found, *(None for _ in feature.states[n_known:])]


def _known(feature: Feature) -> tuple[str, ...]:
    """The states that are values."""
    return feature.states if feature.gap is None or feature.gap < 0 else feature.states[: feature.gap]


def _dtype(kinds: set[type]) -> type:
    """The type of an array that can hold such values."""
    if kinds <= {bool}:
        return np.bool_
    if kinds <= {int}:
        return np.int64
    return np.float64 if kinds <= {bool, int, float, type(None)} else object
