"""``Plan``: which methods are compared, on how many rows, from which seeds, and for how long at most."""

from __future__ import annotations

from dataclasses import dataclass

from kgmi.bench.launch import installed
from kgmi.bench.order import Order
from kgmi.bench.peer import Peer
from kgmi.errors import SettingError

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """What is measured.

    Attributes
    ----------
    rows
        Sizes of the samples.
    seeds
        Samples of each size are drawn from each.
    methods
        Who learns; a method that is not installed is passed over.
    limit
        Seconds for one method on all samples of one size, its start included.
    order
        ``given``: the columns stand in the order of the graph, which is told. ``learn``: they are shuffled, for
        everybody alike, and nobody is told an order.
    """

    rows: tuple[int, ...]
    seeds: tuple[int, ...]
    methods: tuple[Peer, ...]
    limit: float = 120.0
    order: Order = "given"

    def __post_init__(self) -> None:
        for what, values, least in (("rows", self.rows, 1), ("seeds", self.seeds, 0)):
            if not values or min(values) < least or len(set(values)) < len(values):
                shown = ", ".join(map(str, values)) or "none"
                raise SettingError(f"{what} must be different whole numbers from {least} on, got {shown}")
        if not 0 < self.limit < float("inf"):
            raise SettingError(f"the limit must be a positive number of seconds, got {self.limit}")
        if self.order not in ("given", "learn"):
            raise SettingError(f"the order must be given or learn, got {self.order!r}")

    @property
    def ready(self) -> tuple[Peer, ...]:
        """The methods that are installed."""
        return tuple(method for method in self.methods if installed(method) is not None)

    @property
    def missing(self) -> tuple[Peer, ...]:
        """The methods that are not."""
        return tuple(method for method in self.methods if installed(method) is None)
