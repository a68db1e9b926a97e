"""Search for parents and kernels from the rows: heads re-guided, jointly searched, their number chosen."""

from kgmi.search.discover import Found, Share, discover
from kgmi.search.from_pairs import PairsFound, search_pairs
from kgmi.search.plan import LIST_LENGTH, Plan, SearchMode
from kgmi.search.tables import head_table

__all__ = [
    "LIST_LENGTH",
    "Found",
    "PairsFound",
    "Plan",
    "SearchMode",
    "Share",
    "discover",
    "head_table",
    "search_pairs",
]
