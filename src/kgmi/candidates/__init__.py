"""Which earlier nodes may be parents of which, decided before anything is scored."""

from kgmi.candidates.candidates import Candidates
from kgmi.candidates.sets import Order, candidate_sets, in_order

__all__ = ["Candidates", "Order", "candidate_sets", "in_order"]
