"""Rows of arrays and data frames as codes and back: the first rows decide how later rows are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np

from kgmi.alphabets import Rules, choose_alphabets
from kgmi.bins import Bins, quantile_bins
from kgmi.cells import Cells, ColumnCoder, cells_of_array, cells_of_series, check_names, is_missing
from kgmi.errors import CellError, DataError
from kgmi.graph.naming import shown_list
from kgmi.table import Table, as_frame, as_table, row_place
from kgmi.types import Codes, Floats

__all__ = ["Coding", "Rows", "first_coding", "take_rows"]

_SHOWN = 8  # columns or states in a message
_TRUTH = {"False": "0", "True": "1"}
_NEW = -2  # not a code


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows, column by column: arrays of one axis, or the series of a narwhals data frame.

    ``names`` are texts, ``headers`` the names as they came; ``backend`` is the library of a data frame, as narwhals
    calls it, and None for an array.
    """

    columns: tuple[Any, ...]
    names: tuple[str, ...]
    headers: tuple[Any, ...]
    backend: Any = None

    def copied(self) -> Rows:
        """Return a copy that does not change with the caller's rows."""
        if self.backend is None:
            return replace(self, columns=tuple(column.copy() for column in self.columns))
        frames = (column.to_frame().clone() for column in self.columns)
        return replace(self, columns=tuple(next(frame.iter_columns()) for frame in frames))


def take_rows(estimator: Any, rows: Any, *, reset: bool, least_rows: int = 1) -> Rows:
    """Return rows after the checks of scikit-learn; ``reset`` stores the names and the number of columns."""
    from sklearn.utils.validation import validate_data

    if isinstance(rows, Table):
        raise DataError("the estimator takes arrays and data frames; learn from a kgmi.Table with kgmi.learn")
    if isinstance(rows, Mapping) and not hasattr(rows, "toarray"):  # some sparse matrices are mappings
        as_table(rows)  # an error that says what to do
    frame = as_frame(rows)
    if frame is None:
        least = {"ensure_min_samples": least_rows, "ensure_min_features": 2 if reset else 1}
        checks: dict[str, Any] = {"reset": reset, "dtype": None, "ensure_all_finite": False}
        array = validate_data(estimator, _as_array(rows), **checks, **least)
        names = tuple(f"x{number}" for number in range(array.shape[1]))
        return Rows(tuple(array.T), names, names)
    header = frame.to_native()
    if all(isinstance(name, str) for name in frame.columns):  # in a form that every scikit-learn knows
        import pyarrow as pa

        header = pa.table({name: pa.array([], pa.null()) for name in frame.columns})
    validate_data(estimator, header, reset=reset, skip_check_array=True)
    for size, enough, what in zip(frame.shape, (least_rows, 2), ("sample", "feature"), strict=True):
        if size < enough:
            raise DataError(
                f"Found array with {size} {what}(s) (shape={frame.shape}) while a minimum of {enough} is required "
                f"by {type(estimator).__name__}."
            )
    names = tuple(map(str, frame.columns))
    check_names("the table", names)
    return Rows(tuple(frame.iter_columns()), names, tuple(frame.columns), frame.implementation)


def _as_array(rows: Any) -> Any:
    """Return lists as an array in which numbers stay numbers beside texts, and masked cells as NaN or None."""
    if isinstance(rows, np.ma.MaskedArray):
        plain = np.ma.getdata(rows).astype(np.float64 if rows.dtype.kind in "iuf" else object)
        plain[np.ma.getmaskarray(rows)] = None
        return plain
    if not isinstance(rows, list | tuple):
        return rows
    try:
        array = np.asarray(rows)
        return np.asarray(rows, dtype=object) if array.dtype.kind in "US" else array
    except ValueError:
        raise DataError("rows must be a table [row, column]; these rows are not equally long") from None


@dataclass(frozen=True)
class Coding:
    """How rows become codes, and codes become rows.

    Attributes
    ----------
    empty
        A table without rows: names and alphabets.
    rules, n_bins, form
        How cells are read; ``form`` is that of :class:`kgmi.cells.ColumnCoder`.
    bins
        ``bins[column]``: where measurements are cut; None where there are none.
    values
        ``values[column][code]``: what a drawn row has for the code.
    categories
        ``categories[column]``: the type of a column of categories, of pandas or narwhals; None for all others.
    headers, backend
        Those of the first rows.
    """

    empty: Table
    rules: Rules
    n_bins: int | None
    form: Any
    bins: tuple[Bins | None, ...]
    values: tuple[tuple[Any, ...], ...]
    categories: tuple[Any, ...]
    headers: tuple[Any, ...]
    backend: Any

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.empty.names

    @property
    def notes(self) -> list[str]:
        """What the user has to know about how the rows were read, in sentences."""
        cut = {name: len(one.centres) for name, one in zip(self.names, self.bins, strict=True) if one is not None}
        if not cut:
            return []
        shown = shown_list([*cut][:_SHOWN]) + (f" and {len(cut) - _SHOWN} more" if len(cut) > _SHOWN else "")
        columns = "1 column of measurements was" if len(cut) == 1 else f"{len(cut)} columns of measurements were"
        return [f"{columns} cut into up to {max(cut.values())} bins at quantiles: {shown}."]

    def table(self, codes: Codes) -> Table:
        """Return codes with their names and alphabets."""
        return replace(self.empty, codes=codes)

    def codes(self, rows: Rows) -> Codes:
        """Return the codes of further rows; a state that the first rows did not have is an error."""
        codes = [self._coded(*pair) for pair in enumerate(rows.columns)]
        return np.stack(codes, axis=1).astype(self.empty.codes.dtype)

    def _coded(self, number: int, values: Any) -> Codes:
        name, states = self.names[number], self.empty.column_states[number]
        coder = ColumnCoder(name, self.rules, self.form, row_place)
        met = coder.code(replace(_cut(_cells(values, name), self.bins[number], name), declared=states))
        texts = coder.seen.texts
        code_of = {state: code for code, state in enumerate(states)}
        if coder.seen.is_truth and "True" not in code_of:  # where the states are numbers, True is 1
            texts = tuple(_TRUTH.get(text, text) for text in texts)
        gap = -1 if self.rules.missing == "pairwise" else code_of.get(str(self.empty.gap), _NEW)
        codes: Codes = np.array([*(code_of.get(text, _NEW) for text in texts), gap])[met]
        if (codes == _NEW).any():
            row = int((codes == _NEW).argmax())
            value = None if met[row] < 0 else texts[met[row]]
            problem = "the value is missing, and in fit none was; declare states= with 'missing' as the last"
            if value is not None:
                shown = shown_list(states[:_SHOWN]) + " …" * (len(states) > _SHOWN)
                problem = (
                    f"the state {value!r} is new; in fit the states were {shown}. Declare all states with states="
                )
            message = f"{row_place(row, name)}: {problem}, and fit again"
            raise CellError(message, column=name, row=row, value=value)
        return codes

    def rows(self, codes: Codes) -> Any:
        """Return codes as a data frame of the library of the first rows, or as an array.

        An array is of truth values, whole numbers or floats where all values can be; of Python objects otherwise.
        """
        both = zip(self.values, codes.T, strict=True)
        drawn = [np.array([*known, None], dtype=object)[column] for known, column in both]
        if self.backend is None:
            kinds = {type(value) for known in self.values for value in known}
            for kind, fitting in ((bool, {bool}), (np.int64, {int}), (np.float64, {bool, int, float, type(None)})):
                if kinds <= fitting:
                    return np.stack(drawn, axis=1).astype(kind)
            return np.stack(drawn, axis=1)
        import narwhals.stable.v2 as nw

        content = {header: values.tolist() for header, values in zip(self.headers, drawn, strict=True)}
        frame = nw.from_dict(content, backend=self.backend)
        pairs = zip(self.headers, self.categories, strict=True)
        types = {header: kind for header, kind in pairs if kind is not None}
        if frame.implementation.is_pandas_like():
            return frame.to_native().astype(types)
        return frame.with_columns(nw.col(header).cast(kind) for header, kind in types.items()).to_native()


def first_coding(batches: Sequence[Rows], rules: Rules, n_bins: int | None) -> tuple[Coding, Codes]:
    """Return how rows are coded, and the codes of the first rows.

    Parameters
    ----------
    batches
        The first rows, in one or several batches with the same columns.
    rules
        What the states are, and what a missing value is.
    n_bins
        Into how many bins columns of measurements are cut; None refuses them.
    """
    first = batches[0]
    form: Literal["typed", "array"] = "array" if first.backend is None and not _are_values(rules) else "typed"
    by_position = rules.states is not None and (form == "array" or not any(map(str.isdecimal, rules.states)))
    coders = [ColumnCoder(name, rules, form, row_place) for name in first.names]
    coded, cuts, kinds = [], [], []
    for number, coder in enumerate(coders):
        parts = [_cells(rows.columns[number], coder.name) for rows in batches]
        bins = None if n_bins is None else _bins(parts, n_bins, coder.name)
        if bins is not None:
            _check_bins(len(bins.centres), rules, coder.name, by_position)
        cells = [_cut(part, bins, coder.name) for part in parts]
        coded.append(np.concatenate([coder.code(one) for one in cells]))
        cuts.append(bins)
        kinds.append({_kind(one) for one in cells})
    filled = [int(np.count_nonzero(codes >= 0)) for codes in coded]
    found = choose_alphabets([coder.seen for coder in coders], first.names, rules, filled)
    codes = found.coded(coded)
    empty = Table(codes[:0].copy(), first.names, found.states, found.own, found.gap)
    values, types = [], []
    for states, bins, kind, column in zip(empty.column_states, cuts, kinds, first.columns, strict=True):
        known = tuple(state for state in states if state != found.gap)
        drawn = _values(known, kind, bins, by_position)
        category, listed = _categories(column)
        if listed is not None:
            fits = set(known) <= set(listed)  # other columns may lend it further states
            category, drawn = (category, tuple(listed[state] for state in known)) if fits else (None, drawn)
        values.append((*drawn, *[None] * (len(states) - len(known))))
        types.append(category)
    made = tuple(cuts), tuple(values), tuple(types)
    return Coding(empty, rules, n_bins, form, *made, first.headers, first.backend), codes


def _are_values(rules: Rules) -> bool:
    """Return whether the numbers of an array are values, and not positions among states or missing values (-1)."""
    if rules.states is None:
        return rules.missing == "error" and rules.n_states is None
    return any(map(str.isdecimal, rules.states)) and rules.states != tuple(map(str, range(rules.n_declared)))


def _cells(values: Any, name: str) -> Cells:
    return (cells_of_array if isinstance(values, np.ndarray) else cells_of_series)(values, name)


def _bins(parts: Sequence[Cells], n_bins: int, name: str) -> Bins | None:
    """Return where a column is cut; None where it does not hold measurements, but whole numbers or texts."""
    floats = [one for part in parts if (one := _floats(part)) is not None]
    if len(floats) < len(parts):
        return None
    values = np.concatenate(floats)
    present = values[~np.isnan(values)]
    is_whole = np.isfinite(present).all() and (present == np.rint(present)).all()
    return None if is_whole else quantile_bins(values, n_bins, name)


def _cut(cells: Cells, bins: Bins | None, name: str) -> Cells:
    """Return the numbers of the bins of a column of measurements; other columns as they are."""
    if bins is None:
        return cells
    floats = _floats(cells)
    if floats is None:
        raise DataError(f"column '{name}' held measurements in fit and holds other things now")
    places = bins.cut(floats, name)
    gaps = np.isnan(places)
    return Cells(np.where(gaps, 0, places).astype(np.int64), range(len(bins.centres)), gaps)


def _check_bins(n_bins: int, rules: Rules, name: str, by_position: bool) -> None:
    """Refuse bins whose numbers are not among the declared states."""
    numbers = list(map(str, range(n_bins)))
    by_name = rules.states is not None and not by_position
    if not set(numbers) <= set(rules.states or ()) if by_name else 0 < rules.n_declared < n_bins:
        raise DataError(
            f"column '{name}' holds measurements, and its bins {', '.join(numbers)} are not among the "
            f"{rules.n_declared} declared states; choose fewer bins, cut it yourself, or leave states out"
        )


def _floats(cells: Cells) -> Floats | None:
    """Return a column as floats, NaN for missing values; None where it does not consist of numbers."""
    numbers = [np.nan if is_missing(value) else value for value in cells.values]
    if cells.declared is not None or not all(isinstance(one, Real | Decimal) for one in numbers):
        return None
    floats = np.array([*map(float, numbers), np.nan])[np.maximum(cells.index.astype(np.int64), -1)]
    return floats if cells.gaps is None else np.where(cells.gaps, np.nan, floats)


def _kind(cells: Cells) -> str:
    """Return what cells hold: ``truth``, ``number``, ``text``, or nothing; of mixed ones, what the first holds."""
    if cells.declared is not None:
        return "text"
    first = next((value for value in cells.values if not is_missing(value)), None)
    if isinstance(first, bool | np.bool_):
        return "truth"
    return "" if first is None else "number" if isinstance(first, Real | Decimal) else "text"


def _values(known: tuple[str, ...], kinds: set[str], bins: Bins | None, by_position: bool) -> tuple[Any, ...]:
    """Return what drawn rows have for each state: a value of the kind that the column held."""
    if bins is not None:  # other columns may have states that are no bin of this one
        numbers = known if by_position else map(str, range(len(bins.centres)))
        centre = dict(zip(numbers, bins.centres, strict=False))
        return tuple(centre.get(state) for state in known)
    if "text" in kinds:
        return known
    if "number" not in kinds and (len(known) == 2 if by_position else known in (("False", "True"), ("0", "1"))):
        return (False, True)
    if by_position:
        return tuple(range(len(known)))
    return tuple(map(int, known)) if all(state.removeprefix("-").isdecimal() for state in known) else known


def _categories(column: Any) -> tuple[Any, Mapping[str, Any] | None]:
    """Return the type of a column of categories, and these by their texts; None for others, and for any texts."""
    if isinstance(column, np.ndarray):
        return None, None
    import narwhals.stable.v2 as nw

    kind = column.dtype
    if kind not in (nw.Categorical, nw.Enum):
        return None, None
    if not column.implementation.is_pandas_like():
        listed = getattr(kind, "categories", None)
        return kind, None if listed is None else {text: text for text in listed}
    kind = column.to_native().dtype
    listed = kind.categories.tolist()  # of any type
    whole = (isinstance(one, float) and one.is_integer() for one in listed)
    return kind, {str(int(one) if is_whole else one): one for one, is_whole in zip(listed, whole, strict=True)}
