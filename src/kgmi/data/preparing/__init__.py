"""Any table made fit for learning, with a sentence on all that was done."""

from kgmi.data.preparing.prepare import prepare

__all__ = ["prepare"]
