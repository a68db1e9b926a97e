"""Names that a format can say: legal ones are kept, others changed such that all stay different."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

__all__ = ["bif_names", "bif_states", "csv_names", "dagitty_names", "kept_apart", "xml_names"]

_MOST_CHARACTERS = 100  # of a changed name; a reader of BIF fails at more than 1,000
_BIF_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,99}")
_BIF_STATE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,99}|-?[0-9]{1,18}")
_BIF_WORDS = frozenset({"network", "variable", "probability", "property", "type", "discrete", "table", "default"})
# XML has no control characters, and its readers turn a carriage return into a line feed.
_NO_XML = re.compile("[^\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NO_DAGITTY = re.compile(r'[\x00-\x1f\x7f-\x9f\u2028\u2029"\\]')
_FORMULA = tuple("=+-@\t\r\n＝＋－＠'")  # spreadsheets calculate cells that begin so; ' keeps escaped names apart
_DAGITTY_WORDS = frozenset({"", "graph", "node"})


def kept_apart(
    names: Sequence[str], mend: Callable[[str], str], same: Callable[[str], str] = str
) -> tuple[str, ...]:
    """``mend`` of every name, with a number behind it where it would be taken for another one.

    Names that need no change come first, so that none of them makes room for one that does. ``same`` is what two
    names must not have in common (their small letters, for readers that do not tell A from a).
    """
    mended = [mend(name) for name in names]
    made: dict[int, str] = {}
    taken: set[str] = set()
    for place, name in enumerate(names):
        if name == mended[place] and same(name) not in taken:
            made[place] = name
            taken.add(same(name))
    numbers: Counter[str] = Counter()
    for place, stem in enumerate(mended):
        name = made.get(place, stem)
        while place not in made and same(name) in taken:
            numbers[same(stem)] += 1
            name = f"{stem}_{numbers[same(stem)] + 1}"
        made[place] = name
        taken.add(same(name))
    return tuple(made[place] for place in range(len(names)))


def bif_names(names: Sequence[str]) -> tuple[str, ...]:
    """Words of BIF for nodes: letters, digits, _ and -; different also in small letters, which pgmpy needs."""
    return kept_apart(names, lambda name: _word(name, _BIF_NAME, "v"), str.lower)


def bif_states(states: Sequence[str]) -> tuple[str, ...]:
    """Words of BIF for the states of one node; these may be whole numbers."""
    return kept_apart(states, lambda state: _word(state, _BIF_STATE, "s"))


def _word(text: str, legal: re.Pattern[str], prefix: str) -> str:
    if legal.fullmatch(text) and text.lower() not in _BIF_WORDS:
        return text
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", plain)[:_MOST_CHARACTERS]
    is_word = re.match(r"[A-Za-z_]", plain) and plain.lower() not in _BIF_WORDS
    return plain if is_word else f"{prefix}_{plain}".rstrip("_")


def xml_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names without characters that XML cannot hold; � stands for each of them."""
    return kept_apart(names, lambda name: _NO_XML.sub("\ufffd", name))


def csv_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names as cells of CSV files for people: an apostrophe stands before those that begin like a formula.

    Otherwise a spreadsheet would run what a column name says, such as ``=HYPERLINK(…)``. One that begins with an
    apostrophe gets another, so that taking away one leading apostrophe gives every name back.
    """
    return tuple(f"'{name}" if name.startswith(_FORMULA) else name for name in names)


def dagitty_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names for DAGitty: no control character, quote or backslash, and two words are its own."""

    def mend(name: str) -> str:
        plain = _NO_DAGITTY.sub("_", name)
        return f"{plain}_" if plain.lower() in _DAGITTY_WORDS else plain

    return kept_apart(names, mend)
