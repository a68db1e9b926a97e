"""Any table in, state codes out."""

from kgmi.data.codes import check_learnable, checked_codes
from kgmi.data.files import read_table
from kgmi.data.table import Table, default_names

__all__ = ["Table", "check_learnable", "checked_codes", "default_names", "read_table"]
