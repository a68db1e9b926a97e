"""Search for parents and kernels from the rows: heads re-guided, jointly searched, their number chosen."""

from kgmi.search.discover import discover
from kgmi.search.found import Found, Share
from kgmi.search.from_pairs import PairsFound, search_pairs
from kgmi.search.order.discover import Opened, discover_order
from kgmi.search.order.proof import proved
from kgmi.search.order.reversals import reversals
from kgmi.search.order.settle import settle_order
from kgmi.search.plan import LIST_LENGTH, Plan, SearchMode
from kgmi.search.tables import head_table

__all__ = [
    "LIST_LENGTH",
    "Found",
    "Opened",
    "PairsFound",
    "Plan",
    "SearchMode",
    "Share",
    "discover",
    "discover_order",
    "head_table",
    "proved",
    "reversals",
    "search_pairs",
    "settle_order",
]
