"""Columns of texts: names of rows, states, and categories of which the rare ones are joined."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from kgmi.data.columns import Column
from kgmi.data.origin import column_label
from kgmi.data.preparing.raw import Raw
from kgmi.data.preparing.verdict import Verdict, kept, left_out
from kgmi.data.states import in_order

__all__ = ["judge_texts"]

_FEW = 10  # categories that are left as they are
_LEAST_ROWS = 5  # of which it can be said that their texts name them; and rows of a category that is not rare
_MANY_ROWS = 20
_NAMES = 0.9  # share of different texts from which on they name rows
_RARE = 0.02  # share of the rows
_OTHER = "other"


def judge_texts(raw: Raw) -> Verdict:
    """What becomes of a column of texts or of declared categories."""
    n_values, n_filled = raw.n_values, raw.n_filled
    all_different = n_values == n_filled >= _LEAST_ROWS
    if all_different or (n_filled >= _MANY_ROWS and n_values > _NAMES * n_filled):
        return left_out(raw, "names rows", f"{n_values:,} different values in {n_filled:,} rows, it names the rows")
    if n_values <= _FEW and len(raw.declared or ()) <= 2 * _FEW:
        return _told_alike(raw, kept(raw))
    return _told_alike(raw, _joined(raw))


def _joined(raw: Raw) -> Verdict:
    """The frequent categories, and all others as one."""
    least = max(_LEAST_ROWS, math.ceil(_RARE * raw.n_filled))
    by_count = np.argsort(-raw.counts, kind="stable")
    frequent = [int(place) for place in by_count[: _FEW - 1] if raw.counts[place] >= least]
    rare = [int(place) for place in np.flatnonzero(raw.counts) if place not in set(frequent)]
    if not frequent:
        reason = f"{raw.n_values:,} different values in {raw.n_filled:,} rows, none of them in {least:,} or more"
        return left_out(raw, "rare", reason)
    if len(rare) <= 1 and raw.n_values <= _FEW + 1:
        return kept(raw)
    texts = {place: raw.texts[place] for place in frequent}
    other = next((text for text in texts.values() if text.casefold() == _OTHER), _OTHER)
    apart = [text for text in texts.values() if text != other]
    known = [text for text in raw.declared or () if text in apart]
    order = (*(known if raw.declared is not None else in_order(apart)), other)
    number = {text: code for code, text in enumerate(order)}
    codes = np.full(len(raw.values) + 1, number[other], dtype=np.int64)
    codes[-1] = -1  # what a gap (-1) looks up
    for place, text in texts.items():
        codes[place] = number[text]
    column = Column(raw.name, column_label(raw.name, 0), order, codes[raw.index], order)
    n_rows = int(raw.counts[rare].sum())
    sentence = f"the {len(rare):,} rarest of {raw.n_values:,} values joined as «{other}» ({n_rows:,} rows)"
    return Verdict(raw.name, "joined", sentence, column)


def _told_alike(raw: Raw, verdict: Verdict) -> Verdict:
    """The verdict with a word on states that differ in capital letters only, such as the codes AA and Aa."""
    if verdict.column is None:
        return verdict
    states = [text for text in verdict.column.texts if text is not None]
    alike: dict[str, list[str]] = {}
    for state in dict.fromkeys(states):
        alike.setdefault(state.casefold(), []).append(state)
    remarks = tuple(
        f"{_listed(some)} differ in capital letters only, and stay {len(some)} states"
        for some in alike.values()
        if len(some) > 1
    )
    return replace(verdict, remarks=(*verdict.remarks, *remarks))


def _listed(states: list[str]) -> str:
    return f"{', '.join(f'«{state}»' for state in states[:-1])} and «{states[-1]}»"
