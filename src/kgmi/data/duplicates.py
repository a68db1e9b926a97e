"""Columns that say the same: a parent and its copy cannot be told apart."""

from __future__ import annotations

import numpy as np

from kgmi.types import Codes

__all__ = ["duplicate_columns"]

_FIRST_ROWS = 1_024  # almost all columns that differ do so here
_BLOCK = 32  # columns that are laid out anew at a time, so that wide tables are not copied whole


def duplicate_columns(codes: Codes) -> list[tuple[int, ...]]:
    """Groups of columns that are identical in all rows, gaps included; each in rising order, first column first."""
    suspects = _alike(codes[:_FIRST_ROWS], range(codes.shape[1]))
    if len(codes) > _FIRST_ROWS:
        suspects = [same for group in suspects for same in _alike(codes, group)]
    return sorted(suspects)


def _alike(codes: Codes, columns: range | tuple[int, ...]) -> list[tuple[int, ...]]:
    """Groups of two and more among the columns that hold the same values."""
    groups: dict[int, list[list[int]]] = {}  # by hash; each list is of columns that were compared in full
    for start in range(0, len(columns), _BLOCK):
        chosen = columns[start : start + _BLOCK]
        block = np.ascontiguousarray(codes[:, list(chosen)].T)
        for column, values in zip(chosen, block, strict=True):
            found = groups.setdefault(hash(values.tobytes()), [])
            for group in found:
                if np.array_equal(codes[:, group[0]], values):
                    group.append(column)
                    break
            else:
                found.append([column])
    return [tuple(group) for found in groups.values() for group in found if len(group) > 1]
