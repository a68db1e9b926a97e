"""Spellings of one word that differ in capital letters only: yes, Yes and YES are read as one state."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from kgmi.data.preparing.raw import Raw
from kgmi.graph.naming import quoted, shown_list

__all__ = ["join_spellings", "tell_truth_values"]

_MOST_VALUES = 1_000  # of a column of states
_LETTERS = 3  # different ones that make a word; AA, Aa and aa are genotypes
_SHOWN = 8
# Words for true and false, each pair in its own manner.
_TRUTH = ({"yes", "no"}, {"true", "false"}, {"y", "n"}, {"t", "f"}, {"on", "off"}, {"1", "0"}, {"1.0", "0.0"})


def join_spellings(columns: Sequence[Raw]) -> tuple[list[Raw], list[str]]:
    """The columns with every word in its most frequent spelling, and the sentence on those that were changed."""
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    words = {place: _words(raw) for place, raw in enumerate(columns) if _has_states(raw)}
    for some in words.values():
        for text, count in some.items():
            spellings[text.casefold()][text] += count
    chosen: dict[str, str] = {}
    for found in spellings.values():
        if len(found) > 1 and all(text in (text.lower(), text.upper(), text.capitalize()) for text in found):
            best = found.most_common(1)[0][0]
            chosen |= {text: best for text in found if text != best}
    if not chosen:
        return list(columns), []
    joined = list(columns)
    for place, some in words.items():
        if any(text in chosen for text in some):
            joined[place] = _rewritten(columns[place], {text: chosen[text] for text in some if text in chosen})
    told = [f"«{text}» as «{best}»" for text, best in chosen.items()]
    more = f" and {len(told) - _SHOWN:,} more" if len(told) > _SHOWN else ""
    return joined, [f"Spellings that differ in capital letters only are joined: {', '.join(told[:_SHOWN])}{more}."]


def tell_truth_values(columns: Sequence[Raw]) -> list[str]:
    """A word on columns that say true and false in several manners, which stay different states."""
    found = []
    for raw in columns:
        if raw.kind != "text" or not 2 < raw.n_values <= 2 * len(_TRUTH):
            continue
        texts = {text.casefold() for text in _occurring(raw)}
        used = [manner for manner in _TRUTH if manner & texts]
        if len(used) > 1 and texts <= set().union(*used):
            found.append((raw.name, sorted(_occurring(raw))))
    return [
        f"{quoted(name)}: {shown_list([f'«{text}»' for text in texts])} stay {len(texts)} states; if some mean the "
        "same, write them alike."
        for name, texts in found[:_SHOWN]
    ]


def _has_states(raw: Raw) -> bool:
    return raw.kind == "text" and raw.n_values <= _MOST_VALUES and 2 * raw.n_values <= raw.n_filled


def _words(raw: Raw) -> dict[str, int]:
    """Texts that are words, and how often they occur; of the short ones, only those for true and false."""
    found = _occurring(raw)
    folded = {text.casefold() for text in found}
    truth = set().union(*(manner for manner in _TRUTH if manner <= folded))
    return {
        text: count
        for text, count in found.items()
        if text.casefold() in truth or len({letter for letter in text.casefold() if letter.isalpha()}) >= _LETTERS
    }


def _occurring(raw: Raw) -> dict[str, int]:
    return {text: int(count) for text, count in zip(raw.texts, raw.counts, strict=True) if count}


def _rewritten(raw: Raw, better: dict[str, str]) -> Raw:
    import pyarrow as pa

    texts = [better.get(text, text) for text in raw.texts]
    place = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    lookup = np.array([*(place[text] for text in texts), -1], dtype=np.int64)  # a gap looks up the last
    return Raw(raw.name, raw.kind, lookup[raw.index], pa.array(list(place), pa.large_string()))
