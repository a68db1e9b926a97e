"""Rows from files, folders, datasets, data frames, arrays and iterators, as batches of coded columns.

A source has fragments, which can be read in any order and by several threads, in blocks of rows. Parquet, Arrow and
CSV files are read through PyArrow; columns and rows that are not needed are not unpacked. A file that changes or
vanishes while it is read is an error.
"""

from kgmi.sources.base import Fragment
from kgmi.sources.found import DELIMITERS, ending_of
from kgmi.sources.memory import Passing
from kgmi.sources.streams import (
    Coded,
    Stream,
    header_of,
    joined_seen,
    no_rows,
    read_table,
    recode_maps,
    recoded,
    stream,
    whole_file,
)
from kgmi.sources.text import TextFormat, text_columns

__all__ = [
    "DELIMITERS",
    "Coded",
    "Fragment",
    "Passing",
    "Stream",
    "TextFormat",
    "ending_of",
    "header_of",
    "joined_seen",
    "no_rows",
    "read_table",
    "recode_maps",
    "recoded",
    "stream",
    "text_columns",
    "whole_file",
]
