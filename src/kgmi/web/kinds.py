"""What kind of table a file is: its first bytes say so where they can, else its name."""

from __future__ import annotations

from kgmi.web.problems import Problem

__all__ = ["ending_of", "shown_name"]

_MAGIC = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",  # a stream
    b"FEA1": ".feather",
    b"\x93NUMPY": ".npy",
}
_KINDS = {".parquet": "Parquet", ".arrow": "Arrow", ".ipc": "Arrow", ".feather": "Feather", ".npy": "NumPy"}
_SHEETS = (".xlsx", ".xls", ".ods", ".numbers")
_ADVICE = "Save it as CSV (UTF-8) and send that; Parquet, Feather, Arrow, TSV and .npy are read too."
_LONGEST_NAME = 100


def ending_of(name: str, beginning: bytes) -> str:
    """The ending under which a file is stored; what is no table is refused."""
    for magic, ending in _MAGIC.items():
        if beginning.startswith(magic):
            return ending
    lower = name.lower()
    claimed = next((kind for ending, kind in _KINDS.items() if lower.endswith(ending)), None)
    if claimed is not None:
        raise Problem(
            415, f"{name} is named like a {claimed} file, but it is none.", "Rename it, or send another file."
        )
    if beginning.startswith(b"\x1f\x8b"):  # gzip
        return ".tsv.gz" if ".tsv" in lower else ".csv.gz"
    if lower.endswith(_SHEETS) or beginning.startswith(b"\xd0\xcf\x11\xe0"):
        raise Problem(415, f"{name} is a spreadsheet, which is not read.", _ADVICE)
    if b"\0" in beginning or beginning.startswith((b"PK\x03\x04", b"%PDF", b"\x89PNG")):
        raise Problem(415, f"{name} is not a table: it has bytes that no text has.", _ADVICE)
    return ".tsv" if lower.endswith((".tsv", ".tab")) else ".csv"


def shown_name(name: str) -> str:
    """A name as it is shown: the last part of a path, in letters that can be seen, not too long."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    seen = "".join(letter for letter in last if letter.isprintable()).strip()
    return (seen if len(seen) <= _LONGEST_NAME else seen[: _LONGEST_NAME - 1] + "…") or "table"
