"""``Model``: the law of every node given its parents: what it says of new rows, and new rows from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgmi.errors import DataError, SettingError
from kgmi.graph.ordering import topological_order
from kgmi.types import Codes, Floats, Rng

__all__ = ["Model"]


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted law of rows.

    Attributes
    ----------
    given
        ``given[node]``: the nodes on which its law depends: its parents, or roots that it is drawn with.
    tables
        ``tables[node]``: law [states of the given nodes …, state of the node].
    marginals
        ``marginals[node]``: its law alone, for rows in which a given node has no value.
    """

    given: tuple[tuple[int, ...], ...]
    tables: tuple[Floats, ...]
    marginals: tuple[Floats, ...]

    @property
    def n_nodes(self) -> int:
        """Number of nodes T."""
        return len(self.given)

    def log_likelihood(self, codes: Codes) -> Floats:
        """[row]: log of the probability of each row, in nats; what is missing (-1) is left out of it.

        Codes are positions in the alphabets of the result, and columns stand in the order of its nodes.
        """
        rows = np.asarray(codes)
        if rows.dtype.kind not in "iu":
            raise DataError(
                f"log_likelihood takes whole-number codes [row, node], got {type(codes).__name__} ({rows.dtype}); "
                "of a kgmi.Table that has the states learned from, pass table.codes[:, learned.order]. For rows in "
                "any form use kgmi.KGMI and its score_samples"
            )
        if rows.ndim != 2 or rows.shape[1] != self.n_nodes:
            raise DataError(f"the model has {self.n_nodes} columns, the rows have shape {rows.shape}")
        sizes = np.array([len(law) for law in self.marginals])
        if rows.size and ((rows >= sizes) | (rows < -1)).any():
            row, column = np.argwhere((rows >= sizes) | (rows < -1))[0]
            raise DataError(f"row {row}, column {column} is {rows[row, column]}, outside 0..{sizes[column] - 1}")
        total = np.zeros(len(rows))
        with np.errstate(divide="ignore"):  # what cannot happen has log-likelihood minus infinity
            for node, (given, table) in enumerate(zip(self.given, self.tables, strict=True)):
                seen = np.log(
                    table[tuple(rows[:, other] for other in given)][np.arange(len(rows)), rows[:, node]]
                    if given
                    else table[rows[:, node]]
                )
                gap = (rows[:, list(given)] < 0).any(axis=1) if given else np.zeros(len(rows), dtype=bool)
                alone = np.log(self.marginals[node][rows[:, node]])
                total += np.where(rows[:, node] < 0, 0.0, np.where(gap, alone, seen))
        return total

    def sample(self, n_rows: int, rng: Rng) -> Codes:
        """New rows, as codes; one uniform number is used per cell."""
        if n_rows < 1:
            raise SettingError(f"n_rows must be at least 1, got {n_rows}")
        uniforms = np.random.default_rng(rng).random((n_rows, self.n_nodes))
        most = max(len(law) for law in self.marginals)
        rows = np.empty((n_rows, self.n_nodes), dtype=np.min_scalar_type(-most))
        for node in topological_order(self.given):
            table = self.tables[node]
            steps = np.cumsum(table, axis=-1)[tuple(rows[:, other] for other in self.given[node])]
            rows[:, node] = (uniforms[:, [node]] >= steps.reshape(-1, table.shape[-1])[:, :-1]).sum(axis=1)
        return rows
