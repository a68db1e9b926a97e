"""The first table: which states there are, what is cut into bins, and a ``Reader`` for the tables that follow."""

from __future__ import annotations

from contextlib import suppress
from numbers import Integral
from typing import Any
from warnings import warn

import numpy as np

from kgmi.data import Table, as_table
from kgmi.data.bins import Bins, checked_bins, quantile_bins
from kgmi.data.columns import Column
from kgmi.data.origin import column_label
from kgmi.data.recode import gaps_as_state
from kgmi.data.states import MISSING
from kgmi.errors import DataError, SettingError, TooFewRowsError
from kgmi.estimator.cells import ArrayCells, Cells
from kgmi.estimator.reader import Feature, Reader
from kgmi.graph.naming import shown_list
from kgmi.types import Codes, Floats

__all__ = ["check_filled_columns", "is_whole", "read_first", "warn_of_bins"]

_SHOWN = 8  # names in a message


def read_first(
    cells: Cells, *, states: Any, n_states: int | None, missing: Any, alphabet: Any, bins: Any
) -> tuple[Reader, Codes]:
    """The reader that a table makes, and the table's codes in as few bytes as they need.

    What the choices mean is said in :class:`kgmi.KGMI`; here they come as the user gave them. ``n_states`` is the
    size of the alphabet, where a kernel tells it.
    """
    declared = _declared(states)
    n_bins = checked_bins(bins)
    measured = {} if n_bins is None else _measured(cells)
    cuts = {k: quantile_bins(values, n_bins or 0, _label(cells, k)) for k, values in measured.items()}
    kinds = tuple(cells.kind(column) for column in range(len(cells.names)))
    positions = declared is not None and "text" not in kinds and not any(map(is_whole, declared))
    if declared is not None:
        _check_bins(cells, cuts, declared, positions)
    numbered = cells.replaced({k: cuts[k].cut(values, _label(cells, k)) for k, values in measured.items()})
    named = _named(numbered, kinds, declared, missing)
    plain = as_table(
        (named or numbered).source,
        states=declared,
        n_states=n_states,
        names=cells.names,
        missing="pairwise" if missing == "category" else missing,
        alphabet=alphabet,
    )
    table = gaps_as_state(plain, declared=declared is not None) if missing == "category" else plain
    gaps = _gaps(plain, table, missing, declared)
    reader = Reader(
        features=tuple(
            Feature(name, kinds[k], table.column_states[k], gaps[k], cuts.get(k), cells.category(k))
            for k, name in enumerate(table.names)
        ),
        states=table.states,
        own=table.own_alphabets,
        positions=positions,
        minus_one=isinstance(cells, ArrayCells) and "text" not in kinds and named is None and missing != "error",
        missing=missing,
        backend=cells.backend,
        headers=cells.headers,
        sentences=tuple(_on_bins(cells, cuts)),
    )
    return reader, np.array(table.codes, dtype=np.min_scalar_type(-max(table.sizes)))  # a copy


def check_filled_columns(cells: Cells, **choices: Any) -> None:
    """Refuse in a table with empty columns what is wrong with the others, which more rows do not mend.

    A table is refused for its first empty column, before the cells of the others are looked at.
    """
    plain = cells.replaced({k: np.zeros(cells.n_rows) for k in _measured(cells)})  # measurements are values too
    filled = [k for k, column in enumerate(plain.columns()) if not _is_empty(column)]
    if 0 < len(filled) < len(cells.names):
        with suppress(TooFewRowsError):
            read_first(cells.only(filled), **choices)


def _is_empty(column: Column) -> bool:
    texts = [*column.texts, None]
    return all(texts[place] is None or str(texts[place]).strip() in MISSING for place in set(column.index.tolist()))


def warn_of_bins(reader: Reader) -> None:
    """A warning that measurements were cut, as scikit-learn gives it where it changes the data."""
    if reader.sentences:
        from sklearn.exceptions import DataConversionWarning

        advice = "Cut them yourself, or refuse them with bins=None."
        where = 4  # fit or partial_fit is called
        warn(f"{' '.join(reader.sentences)} {advice}", DataConversionWarning, stacklevel=where)


def is_whole(state: str) -> bool:
    """Whether a state is called by a whole number."""
    return state.removeprefix("-").isdecimal()


def _declared(states: Any) -> tuple[str, ...] | None:
    """Declared states as texts; whole numbers are allowed too."""
    if states is None:
        return None
    try:
        if isinstance(states, str):
            raise TypeError
        named: list[Any] = [s if isinstance(s, bool) or not isinstance(s, Integral) else str(s) for s in states]
        return tuple(named)
    except TypeError:
        raise SettingError(f"states must be a list of texts or whole numbers, got {states!r}") from None


def _measured(cells: Cells) -> dict[int, Floats]:
    """All columns of measurements."""
    found = ((column, cells.measured(column)) for column in range(len(cells.names)))
    return {column: values for column, values in found if values is not None}


def _on_bins(cells: Cells, bins: dict[int, Bins]) -> list[str]:
    """The sentence on columns of measurements, if there are any."""
    if not bins:
        return []
    names = [cells.names[column] for column in bins]
    shown = shown_list(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    most = max(len(cut.centres) for cut in bins.values())
    who = "1 column of measurements was" if len(names) == 1 else f"{len(names)} columns of measurements were"
    return [f"{who} cut into up to {most} bins at quantiles: {shown}."]


def _check_bins(cells: Cells, bins: dict[int, Bins], declared: tuple[str, ...], positions: bool) -> None:
    """Refuse bins whose numbers are not among the declared states."""
    for column, cut in bins.items():
        numbers = [str(number) for number in range(len(cut.centres))]
        if not (len(numbers) <= len(declared) if positions else set(numbers) <= set(declared)):
            raise DataError(
                f"{_label(cells, column)} holds measurements, and its bins {', '.join(numbers)} are not among the "
                "declared states; cut it yourself, or leave states out"
            )


def _named(
    cells: Cells, kinds: tuple[str, ...], declared: tuple[str, ...] | None, missing: Any
) -> ArrayCells | None:
    """An array of numbers as texts, where the numbers are names of states; None where they are positions."""
    if not isinstance(cells, ArrayCells) or "text" in kinds:
        return None
    if declared is None:
        by_name = missing == "error" and cells.lowest() < 0
    else:
        by_name = any(map(is_whole, declared)) and declared != tuple(str(code) for code in range(len(declared)))
    if not by_name:
        return None
    texts = [np.array([*column.texts, None], dtype=object)[column.index] for column in cells.columns()]
    return ArrayCells(np.stack(texts, axis=1), cells.names)


def _gaps(plain: Table, table: Table, missing: Any, declared: tuple[str, ...] | None) -> list[int | None]:
    """The code of a missing value in each column; None where it is an error."""
    if missing == "pairwise":
        return [-1 for _ in table.names]
    if missing != "category":
        return [None for _ in table.names]
    is_declared = declared is not None and declared[-1] == "missing"
    anywhere = is_declared or plain.n_missing > 0
    has_state = plain.missing_by_column > 0 if table.own_alphabets else np.full(len(table.names), anywhere)
    return [size - 1 if has else None for size, has in zip(table.sizes, has_state, strict=True)]


def _label(cells: Cells, column: int) -> str:
    return column_label(cells.names[column], 0)
