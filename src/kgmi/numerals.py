"""Numbers in texts: with units, signs of money, decimal commas, separators of thousands and parentheses."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from kgmi.types import Floats, Ints

__all__ = ["CODE", "read_numerals"]

_SPACES = "\u00a0\u202f' "  # between thousands: no-break spaces, apostrophe, plain space
_MONEY = "$€£¥₹₽"
_LETTERS = "A-Za-zµμΩ"
_NUMERAL = re.compile(
    rf"(?P<open>\(?)\s*(?P<sign>[+-]?)\s*(?P<before>[{_MONEY}]|USD|EUR|GBP|CHF|JPY)?\s*(?P<inner>[+-]?)"
    rf"(?P<number>[0-9.,](?:[0-9.,{_SPACES}]*[0-9.,])?(?:[eE][+-]?[0-9]{{1,3}})?)"
    rf"[{_SPACES}]*(?P<after>[%‰°{_MONEY}{_LETTERS}][%‰°{_LETTERS}]{{0,11}}(?:/[{_LETTERS}]{{1,9}})?[23²³]?)?"
    r"\s*(?P<close>\)?)"
)
_PLAIN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_THOUSANDS = re.compile(rf"[+-]?[0-9]{{1,3}}([,{_SPACES}][0-9]{{3}})+(\.[0-9]+)?")
_DECIMAL_COMMA = re.compile(rf"[+-]?([0-9]+|[0-9]{{1,3}}([.{_SPACES}][0-9]{{3}})+)(,[0-9]+)?")
# A comma before other than three digits; points between thousands and a comma; more than one point.
_SURE_COMMA = re.compile(r",([0-9]{1,2}|[0-9]{4,})$|\.[0-9]{3}[.,]")
_LONGEST = 40  # characters
_SAMPLE = 1_000  # different values; if fewer than half of them are numbers, the others are not looked at

CODE = r"^[+-]?(0[0-9]|[0-9]{17,}$)"
"""Pattern of codes, which are not numbers: 01234, and those with more digits than a float has."""


def read_numerals(texts: Any, counts: Ints, *, comma: bool) -> tuple[Floats, tuple[str, ...]] | None:
    """Return the numbers in an Arrow array of different texts, and remarks on how they are written.

    What is not a number is NaN; the result is None if there are no numbers, or codes such as 01234.

    A number may have a sign of money or per cent, or a unit such as ``km``. One unit is accepted: that of most rows
    (``counts[text]``). A unit of letters must follow every number except 0, because 1.2k and 900 do not compare;
    signs may be absent. Amounts in parentheses are negative; if all are, one of them must have a unit. ``comma``
    says that a comma before three digits is a decimal comma, as in files with semicolons between the columns.
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    texts = pc.replace_substring(texts, "\u2212", "-")
    if len(texts) == 0 or pc.any(pc.match_substring_regex(texts, CODE)).as_py():
        return None
    try:
        found = np.array(pc.utf8_ltrim(texts, characters="+").cast(pa.float64()).to_numpy(zero_copy_only=False))
        return np.where(np.isfinite(found), found, np.nan), ()  # 1e999 cannot be cut
    except pa.ArrowInvalid:
        parts = [_split(text) for text in texts[:_SAMPLE].to_pylist()]
    if 2 * sum(part is not None for part in parts) < len(parts):
        return None
    parts += [_split(text) for text in texts[_SAMPLE:].to_pylist()]
    valid = [part for part in parts if part is not None]
    in_parentheses = sum(negative for *_, negative in valid)
    if in_parentheses == len(valid) and not any(unit for _, unit, _ in valid):
        return None
    unit, may_lack = _main_unit([(part[1], int(n)) for part, n in zip(parts, counts, strict=True) if part])
    digits = [part[0] for part in valid]
    comma = comma or any(_SURE_COMMA.search(one) and _DECIMAL_COMMA.fullmatch(one) for one in digits)
    commas = [one for one in digits if comma and _DECIMAL_COMMA.fullmatch(one) and not _PLAIN.fullmatch(one)]
    numbers = [math.nan if part is None else _number(part[0], bool(commas)) for part in parts]
    for place, part in enumerate(parts):
        if part and part[1] != unit and (part[1] or not (may_lack or numbers[place] == 0)):
            numbers[place] = math.nan
    if all(map(math.isnan, numbers)):
        return None
    decimal, pointed = any("," in one for one in commas), any("." in one for one in commas)
    grouped = any(_THOUSANDS.fullmatch(one) for one in digits) if not commas else pointed or not decimal
    remarks = {
        f'the unit "{unit}" is not part of the numbers': bool(unit),
        "amounts in parentheses are negative": in_parentheses > 0,
        "the comma is the decimal sign" + (", the point separates thousands" if pointed else ""): decimal,
        "separators of thousands are removed": grouped and not decimal,
    }
    return np.array(numbers), tuple(remark for remark, holds in remarks.items() if holds)


def _split(text: str) -> tuple[str, str, bool] | None:
    """Return the digits with their sign, the unit, and whether they are in parentheses; None for other texts."""
    match = _NUMERAL.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None or len(match["open"]) != len(match["close"]) or not any(map(str.isdigit, text)):
        return None
    sign = "-" * len(match["open"]) + match["sign"] + match["inner"]
    return sign + match["number"], (match["before"] or "") + (match["after"] or ""), bool(match["open"])


def _main_unit(units: Sequence[tuple[str, int]]) -> tuple[str, bool]:
    """Return the unit of most rows, and whether numbers may lack it."""
    rows: Counter[str] = Counter()
    for unit, count in units:
        rows[unit] += count
    words = Counter({unit: n_rows for unit, n_rows in rows.items() if any(map(str.isalpha, unit))})
    if 2 * words.total() > rows.total():
        return words.most_common(1)[0][0], False
    signs = Counter({unit: n_rows for unit, n_rows in rows.items() if unit and unit not in words})
    return (signs.most_common(1)[0][0] if signs else ""), True


def _number(digits: str, comma: bool) -> float:
    """Return a number, NaN if the digits are not one."""
    if comma and _DECIMAL_COMMA.fullmatch(digits):
        digits = re.sub(f"[.{_SPACES}]", "", digits).replace(",", ".")
    elif not comma and _THOUSANDS.fullmatch(digits):
        digits = re.sub(f"[,{_SPACES}]", "", digits)
    if not _PLAIN.fullmatch(digits):
        return math.nan
    number = float(digits)
    return number if math.isfinite(number) else math.nan
