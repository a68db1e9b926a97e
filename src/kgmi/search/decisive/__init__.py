"""Clear cases: every node names its parents by itself, and one kernel explains them all. One look is enough."""

from kgmi.search.decisive.decide import decide

__all__ = ["decide"]
