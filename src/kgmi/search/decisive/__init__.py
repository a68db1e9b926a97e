"""Clear cases: every node names its parents by itself, and one kernel explains them all. One look is enough."""

from kgmi.search.decisive.decide import decide, may_be_clear

__all__ = ["decide", "may_be_clear"]
