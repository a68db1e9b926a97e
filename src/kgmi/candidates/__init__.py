"""Which earlier nodes may be parents of which, decided before anything is scored."""

from kgmi.candidates.candidates import Candidates
from kgmi.candidates.sets import candidate_sets

__all__ = ["Candidates", "candidate_sets"]
