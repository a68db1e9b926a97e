"""Any table in, state codes out."""

from kgmi.data.codes import checked_codes
from kgmi.data.convert import as_table
from kgmi.data.duplicates import duplicate_columns
from kgmi.data.files import read_table
from kgmi.data.learnable import check_learnable
from kgmi.data.prepared import ORDER_NOTE, Prepared
from kgmi.data.preparing import prepare
from kgmi.data.rules import Alphabet, Missing
from kgmi.data.table import Table, checked_names, default_names
from kgmi.data.windows import window_table

__all__ = [
    "ORDER_NOTE",
    "Alphabet",
    "Missing",
    "Prepared",
    "Table",
    "as_table",
    "check_learnable",
    "checked_codes",
    "checked_names",
    "default_names",
    "duplicate_columns",
    "prepare",
    "read_table",
    "window_table",
]
