"""Numbers in texts, as people and spreadsheets write them: 1,5 and 1.234,50, 1,234, 12 % and € 3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kgmi.types import Bools, Floats

__all__ = ["Numerals", "read_numerals"]

_UNIT = r"^[$€£¥]\s*|\s*[%$€£¥]$"
_PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$"
_CODE = r"^[+-]?0\d"  # 01234 is a code of a place or a part, and no number
_SPACES = "\u00a0\u202f' "  # that stand between thousands: no-break ones, apostrophe, plain
_THOUSANDS = rf"^[+-]?\d{{1,3}}([,{_SPACES}]\d{{3}})+(\.\d+)?$"
_DECIMAL_COMMA = rf"^[+-]?(\d+|\d{{1,3}}([.{_SPACES}]\d{{3}})+)(,\d+)?$"
_SURE_COMMA = r",(\d{1,2}|\d{4,})$"  # a comma that does not stand before three digits


@dataclass(frozen=True, eq=False)
class Numerals:
    """The numbers that texts write.

    Attributes
    ----------
    numbers
        ``numbers[value]``; NaN where the text is no number.
    remark
        How they are written, where that is not the plain way; else nothing.
    """

    numbers: Floats
    remark: str = ""


def read_numerals(texts: Any, *, comma: bool) -> Numerals | None:
    """The numbers that an array of texts (PyArrow) writes; None where it has none, or codes like 01234.

    ``comma`` says that a comma before three digits stands before decimals, as it does where semicolons stand
    between columns.
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    if len(texts) == 0 or _matches(texts, _CODE).any():
        return None
    if _matches(texts, _PLAIN).all():
        return Numerals(_floats(texts))
    bare = pc.replace_substring_regex(texts, _UNIT, "")
    found, remarks = np.full(len(texts), np.nan), []
    if not bare.equals(texts):
        remarks.append("signs of money or per cent taken off")
    plain = _matches(bare, _PLAIN)
    sure = comma or (_matches(bare, _SURE_COMMA) & _matches(bare, _DECIMAL_COMMA)).any()
    written = _matches(bare, _DECIMAL_COMMA if sure else _THOUSANDS)
    if sure and (written & ~plain).any():
        grouped = bool((written & _matches(bare, r"\.")).any())
        plain = plain & ~_matches(bare, r"\.") | (plain & ~written)
        point = pc.replace_substring(pc.replace_substring_regex(bare, f"[.{_SPACES}]", ""), ",", ".")
        remarks.append(
            "the comma read as the decimal sign" + (", the point as that of thousands" if grouped else "")
        )
    else:
        point = pc.replace_substring_regex(bare, f"[,{_SPACES}]", "")
        if (written & ~plain).any():
            remarks.append("the marks between thousands taken off")
    for chosen, source in ((written & ~plain, point), (plain, bare)):
        if chosen.any():
            found[chosen] = _floats(source.filter(pa.array(chosen)))
    return None if np.isnan(found).all() else Numerals(found, " and ".join(remarks))


def _matches(texts: Any, pattern: str) -> Bools:
    from pyarrow import compute as pc

    return np.array(pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _floats(texts: Any) -> Floats:
    import pyarrow as pa
    from pyarrow import compute as pc

    bare = pc.utf8_ltrim(texts, characters="+")
    numbers = np.array(bare.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)  # 1e999 is none that can be cut
