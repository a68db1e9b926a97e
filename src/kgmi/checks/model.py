"""``check_model``: all checks of one fit."""

from __future__ import annotations

from dataclasses import replace

from kgmi.checks.check import Check
from kgmi.checks.kernels import check_kernels
from kgmi.checks.parents import check_parents
from kgmi.checks.rows import check_rows
from kgmi.checks.subject import Subject

__all__ = ["check_model"]


def check_model(
    subject: Subject, no_order: str | None = None, no_rows: str = "only counts of them are there"
) -> tuple[Check, ...]:
    """Whether one kernel, K parents and independent rows are enough.

    ``no_order`` is why rows cannot be checked, and ``no_rows`` why there are none, where there are none.
    """
    if subject.rows is None:
        why = f"Not checked: it takes the rows themselves, and {no_rows}."
        return (
            check_kernels(subject),
            *(Check(name, None, None, (), why) for name in ("parents", "rows")),
        )
    if no_order is None:
        rows = check_rows(subject.rows, subject.names, are_all=subject.sample is None)
    else:
        rows = Check("rows", None, None, (), f"Not checked: {no_order}.")
    others = [check_kernels(subject), check_parents(subject)]
    if rows.passed is False:  # rows that repeat each other count for more than they tell
        others = [_in_doubt(one) if one.passed is False else one for one in others]
    return (*others, rows)


def _in_doubt(check: Check) -> Check:
    return replace(check, sentence=f"{check.sentence} But rows are not independent, so this may be a false alarm.")
