"""``Seen``: what was seen in one column so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kgmi.data.origin import column_label
from kgmi.data.states import MISSING
from kgmi.errors import DataError

__all__ = ["NUMBER", "TEXT", "TRUTH_VALUE", "Seen"]

NUMBER, TRUTH_VALUE, TEXT = 1, 2, 4
"""What values were before they became texts; a column may have held several."""


@dataclass(frozen=True)
class Seen:
    """What was seen in one column so far.

    Attributes
    ----------
    name
        The name that the column has where it comes from.
    texts
        ``texts[code]``: the state, in order of first appearance.
    categories
        Categories that the type of the column declares, in their order; None where it declares none.
    places
        Where each category was declared first, a number that rises with the place in the stream: so the order of
        the categories does not depend on who was read first.
    has_gaps
        Whether a cell had no value.
    kinds
        What the values were: a sum of ``NUMBER``, ``TRUTH_VALUE`` and ``TEXT``.
    is_mixed
        Whether the type declared categories in some rows and none in others.
    """

    name: str
    texts: tuple[str, ...] = ()
    categories: tuple[str, ...] | None = None
    places: tuple[int, ...] = ()
    has_gaps: bool = False
    kinds: int = 0
    is_mixed: bool = False

    def __post_init__(self) -> None:
        if self.kinds & NUMBER and self.kinds & TRUTH_VALUE:
            raise DataError(
                f"{column_label(self.name, 0)} holds truth values in some rows and numbers in others; give it one "
                "type"
            )
        if self.is_mixed:
            self._check_categories()

    @property
    def is_empty(self) -> bool:
        """Whether there was no cell at all."""
        return not self.texts and not self.has_gaps

    def joined(self, other: Seen) -> Seen:
        """What was seen in both."""
        if self == other:
            return self
        kinds, has_gaps = self.kinds | other.kinds, self.has_gaps or other.has_gaps
        texts = tuple(dict.fromkeys((*self.texts, *other.texts)))
        if self.categories is None and other.categories is None:
            return Seen(self.name, texts, None, (), has_gaps, kinds)
        first: dict[str, int] = {}
        for seen in (self, other):
            for text, place in zip(seen.categories or (), seen.places, strict=True):
                first[text] = min(place, first.get(text, place))
        ordered = sorted((place, text) for text, place in first.items())
        categories, places = tuple(text for _, text in ordered), tuple(place for place, _ in ordered)
        is_mixed = any(one.is_mixed or (one.categories is None and not one.is_empty) for one in (self, other))
        return Seen(self.name, texts, categories, places, has_gaps, kinds, is_mixed)

    def _check_categories(self) -> None:
        """Refuse categories that read like a gap or have spaces around them where others wrote plain texts."""
        odd = next((text for text in self.categories or () if text in MISSING or text != text.strip()), None)
        if odd is not None:
            raise DataError(
                f"{column_label(self.name, 0)} declares the category {odd!r} in some rows and is plain text in "
                "others, where this would be read in another way; give the column one type"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "name": self.name,
            "texts": list(self.texts),
            "categories": None if self.categories is None else list(self.categories),
            "places": list(self.places),
            "has_gaps": self.has_gaps,
            "kinds": self.kinds,
            "is_mixed": self.is_mixed,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Seen:
        """The same from plain values; KeyError, TypeError or ValueError where they are something else."""
        categories = content["categories"]
        places = tuple(content["places"])
        texts = tuple(content["texts"])
        listed = () if categories is None else tuple(categories)
        if not all(isinstance(text, str) for text in (content["name"], *texts, *listed)):
            raise ValueError("a text is expected")
        if not all(type(number) is int for number in (*places, content["kinds"])) or len(places) != len(listed):
            raise ValueError("whole numbers are expected")
        is_mixed = content.get("is_mixed", False)  # parts that were kept before this was known do not say it
        if len(set(texts)) < len(texts) or not type(content["has_gaps"]) is type(is_mixed) is bool:
            raise ValueError("texts must differ, and gaps are there or not")
        return cls(
            content["name"],
            texts,
            None if categories is None else listed,
            places,
            content["has_gaps"],
            content["kinds"],
            is_mixed,
        )
