"""Rows from files, folders, datasets, data frames, arrays and iterators, as batches of coded columns.

Every source hands out fragments, which can be read in any order and by several threads, and a fragment hands out
blocks of rows. Parquet, Arrow and CSV files are read through PyArrow; columns and rows that are not asked for are
not unpacked. A file that changes or vanishes while it is read is an error.
"""

from kgmi.sources.base import FRAGMENT_ROWS, Block, Choice, Fragment, Source, block_rows
from kgmi.sources.found import DELIMITERS, ending_of, find_files
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
from kgmi.sources.text import TextFormat, open_text, text_columns

__all__ = [
    "DELIMITERS",
    "FRAGMENT_ROWS",
    "Block",
    "Choice",
    "Coded",
    "Fragment",
    "Passing",
    "Source",
    "Stream",
    "TextFormat",
    "block_rows",
    "ending_of",
    "find_files",
    "header_of",
    "joined_seen",
    "no_rows",
    "open_text",
    "read_table",
    "recode_maps",
    "recoded",
    "stream",
    "text_columns",
    "whole_file",
]
