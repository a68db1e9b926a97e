"""Rows of arrays and data frames as codes and back: the first rows decide how later rows are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from kgmi.alphabets import Coded, Rules, some_of
from kgmi.bins import Bins, numbers_in, quantile_bins
from kgmi.cells import Cells, ColumnCoder, Form
from kgmi.errors import CellError, DataError
from kgmi.table import Batch, Table, array_of, as_frame, row_place, table_of_codes
from kgmi.types import Codes

_NEW = -2  # not a code


def take_rows(estimator: Any, rows: Any, *, reset: bool, least_rows: int = 1) -> Batch:
    """Return rows after the checks of scikit-learn; ``reset`` stores the names and the number of columns."""
    if type(rows) in (Table, dict):
        raise DataError(
            f"the estimator takes arrays and data frames, got a {type(rows).__name__}; make a data frame of it, or "
            "use kgmi.learn for a kgmi.Table"
        )
    least = {"ensure_min_samples": least_rows, "ensure_min_features": 2 if reset else 1}
    frame = as_frame(rows)
    if frame is not None:
        check_array(np.broadcast_to(0, frame.shape), estimator=estimator, **least)  # checks the shape only
        # Older versions of scikit-learn know the names of pandas and Arrow only.
        header = frame.to_native() if frame.implementation.is_pandas_like() else frame.head(0).to_arrow()
        validate_data(estimator, header, reset=reset, skip_check_array=True)
        return Batch.of(frame)
    if isinstance(rows, np.ma.MaskedArray):
        rows = np.where(np.ma.getmaskarray(rows), np.array(None), np.ma.getdata(rows))
    rows = array_of(rows) if isinstance(rows, list | tuple) else rows
    array = validate_data(estimator, rows, reset=reset, dtype=None, ensure_all_finite=False, **least)
    return Batch(array, tuple(f"x{number}" for number in range(array.shape[1])), "array")


@dataclass(frozen=True, eq=False)
class Coding:
    """How rows become codes, and codes become rows."""

    empty: Table  # a table without rows: names and alphabets
    rules: Rules  # how cells are read
    n_bins: int | None
    form: Form  # that of kgmi.cells.ColumnCoder
    bins: tuple[Bins | None, ...]  # bins[column]: where measurements are cut; None where there are none
    values: tuple[tuple[Any, ...], ...]  # values[column][code]: what a drawn row has for the code
    head: Any  # the first data frame without its rows; None for an array

    @property
    def note(self) -> str:
        """Return a sentence on the columns that were cut into bins; empty where there are none."""
        sizes = {name: len(bins.centres) for name, bins in zip(self.empty.names, self.bins, strict=True) if bins}
        if not sizes:
            return ""
        where = f"in {len(sizes):,} of {len(self.empty.names):,} columns: {some_of([*sizes])}"
        return f"Measurements were cut into up to {max(sizes.values())} bins at quantiles, {where}."

    def table(self, codes: Codes) -> Table:
        """Return codes with their names and alphabets."""
        return replace(self.empty, codes=codes)

    def codes(self, rows: Batch) -> Codes:
        """Return the codes of further rows; a state that the first rows did not have is an error."""
        columns = [self._coded(number, rows.cells(name)) for number, name in enumerate(rows.names)]
        return np.stack(columns, axis=1).astype(self.empty.codes.dtype)

    def _coded(self, number: int, cells: Cells) -> Codes:
        name, states, bins = self.empty.names[number], self.empty.column_states[number], self.bins[number]
        coder = ColumnCoder(name, self.rules, self.form, row_place)
        met = coder.code(replace(cells if bins is None else bins.cut(cells, name), declared=states))
        code_of: dict[str | None, int] = {state: code for code, state in enumerate(states)}
        code_of[None] = -1 if self.rules.missing == "pairwise" else code_of.get(self.empty.gap or "", _NEW)
        codes: Codes = np.array([code_of.get(text, _NEW) for text in (*coder.seen.texts, None)])[met]
        if (codes == _NEW).any():
            row = int((codes == _NEW).argmax())
            value = None if met[row] < 0 else coder.seen.texts[met[row]]
            shown = "a missing value" if value is None else f"the state {value!r}"
            message = f"{shown} did not occur in fit, where the states were {some_of(states)}"
            remedy = "declare all states with states= ('missing' as the last, for missing values), and fit again"
            raise CellError(f"{row_place(row, name)}: {message}; {remedy}", name, row, value)
        return codes

    def rows(self, codes: Codes) -> Any:
        """Return codes as a data frame of the library of the first rows, or as an array.

        An array is of truth values, whole numbers or floats where all values can be; of Python objects otherwise.
        """
        both = zip(self.values, codes.T, strict=True)
        drawn = [np.array([*values, None], dtype=object)[column] for values, column in both]
        if self.head is None:
            kinds, rows = {type(value) for values in self.values for value in values}, np.stack(drawn, axis=1)
            for kind, fitting in ((bool, {bool}), (np.int64, {int}), (np.float64, {bool, int, float, type(None)})):
                if kinds <= fitting:
                    return rows.astype(kind)
            return rows
        import narwhals.stable.v2 as nw

        head = nw.from_native(self.head)
        content = {name: column.tolist() for name, column in zip(head.columns, drawn, strict=True)}
        frame = nw.from_dict(content, backend=head.implementation)
        pairs = zip(head.iter_columns(), self.values, strict=True)
        types = {series.name: kind for series, values in pairs if (kind := _category(series, values)) is not None}
        if frame.implementation.is_pandas_like():
            return frame.to_native().astype(types)
        return frame.with_columns(nw.col(name).cast(kind) for name, kind in types.items()).to_native()


def first_coding(batches: Sequence[Batch], rules: Rules, n_bins: int | None) -> tuple[Coding, Codes]:
    """Return how rows are coded, and the codes of the first rows, which come in one or several batches.

    Columns of measurements are cut into so many bins; None refuses them.
    """
    first = batches[0]
    form: Form = "array" if first.form == "array" and not _are_values(rules) else "typed"
    coders = [ColumnCoder(name, rules, form, row_place) for name in first.names]
    coded, cuts = list[Codes](), list[Bins | None]()
    for number, coder in enumerate(coders):
        parts = [rows.cells(rows.names[number]) for rows in batches]
        bins = None if n_bins is None else _bins(parts, n_bins, coder.name)
        if bins is not None and 0 < rules.n_declared < len(bins.centres):
            raise DataError(
                f"column '{coder.name}' holds measurements, and its {len(bins.centres)} bins are more than the "
                f"{rules.n_declared} declared states; choose fewer bins, cut it yourself, or leave states out"
            )
        parts = parts if bins is None else [bins.cut(part, coder.name) for part in parts]
        coded.append(np.concatenate([coder.code(part) for part in parts]))
        cuts.append(bins)
    rows = Coded(np.stack(coded), tuple(coder.seen for coder in coders))
    table = table_of_codes([rows], first.names, rules)
    by_position = rules.states is not None and (form == "array" or not any(map(str.isdecimal, rules.states)))
    each = zip(table.column_states, coders, cuts, strict=True)
    drawn = tuple(_drawn(states, table.gap, coder.values, bins, by_position) for states, coder, bins in each)
    head = None
    if first.form == "typed":
        some = first.rows.head(1)
        head = some.filter([False] * len(some)).to_native()  # a copy, which keeps no rows in memory
    empty = replace(table, codes=table.codes[:0].copy())
    return Coding(empty, rules, n_bins, form, tuple(cuts), drawn, head), table.codes


def _are_values(rules: Rules) -> bool:
    """Return whether the numbers of an array are values, and not positions among states or missing values (-1)."""
    if rules.states is None:
        return rules.missing == "error" and rules.n_states is None
    return any(map(str.isdecimal, rules.states)) and rules.states != tuple(map(str, range(rules.n_declared)))


def _bins(parts: Sequence[Cells], n_bins: int, name: str) -> Bins | None:
    """Return where a column is cut; None where it does not hold measurements, but whole numbers or texts."""
    found = [numbers_in(part, name) for part in parts]
    numbers = [some for some in found if some is not None]
    if len(numbers) < len(found):
        return None
    values = np.concatenate(numbers)
    present = values[~np.isnan(values)]
    return None if (present == np.rint(present)).all() else quantile_bins(values, n_bins)


def _drawn(
    states: Sequence[str], gap: str | None, met: Mapping[str, Any], bins: Bins | None, by_position: bool
) -> tuple[Any, ...]:
    """Return the value of each state in drawn rows: as in the column, else a number of the same type, else a text.

    ``met`` are the values that the column has, or the numbers of its ``bins``.
    """
    if bins is not None:
        return tuple(bins.centres[met[state]] if state in met else None for state in states)
    values = {state: one.item() if isinstance(one, np.generic) else one for state, one in met.items()}
    values = {state: one for state, one in values.items() if not isinstance(one, str | bytes)}
    for number in (int, float, Decimal):
        if {*map(type, values.values())} == {number}:
            called = zip(states, map(str, range(len(states))) if by_position else states, strict=True)
            values = {state: number(name) for state, name in called if name.removeprefix("-").isdecimal()} | values
    texts = {state: None if state == gap else state for state in states}
    drawn = {state: text and values.get(state, text) for state, text in texts.items()}
    kinds = {type(one) for one in drawn.values() if one is not None}
    is_mixed = len(kinds) > 1 and not kinds <= {int, float, Decimal}
    return tuple((texts if is_mixed else drawn).values())


def _category(series: Any, values: Sequence[Any]) -> Any:
    """Return the type of a column of categories that holds all values; None for other columns."""
    import narwhals.stable.v2 as nw

    if series.dtype not in (nw.Categorical, nw.Enum):
        return None
    kind = series.to_native().dtype if series.implementation.is_pandas_like() else series.dtype
    listed, known = getattr(kind, "categories", None), {*values} - {None}
    fits = all(isinstance(value, str) for value in known) if listed is None else known <= {*listed}
    return kind if fits else None
