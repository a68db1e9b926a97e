"""``Results``: what a fitted estimator shows, in the order of the input's columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from kgmi.checks import Check
from kgmi.estimator.cells import Cells
from kgmi.estimator.reader import Reader
from kgmi.kernel import AnyKernel
from kgmi.learning import Learned
from kgmi.types import Attention, Floats, Ints, ScoreTable

if TYPE_CHECKING:
    import networkx

__all__ = ["Results"]


@dataclass(frozen=True, eq=False)
class Waiting:
    """Rows that are too few to be learned from yet, and why."""

    cells: Cells
    why: str


class Results:
    """Views of ``learned_``, which has its nodes in the order of the learner: tiers may move columns."""

    learned_: Learned
    _waiting: Waiting | None = None
    _reader: Reader
    _notes: tuple[str, ...]

    @property
    def parents_(self) -> dict[str, tuple[str, ...]]:
        """Names of the parents of every column."""
        parents = self._fitted().parents
        return {feature.name: parents[feature.name] for feature in self._reader.features}

    @property
    def causal_graph_(self) -> networkx.DiGraph[Any]:
        """The graph, with the names of the columns as nodes and edges from parents to children."""
        import networkx as nx

        parents = self.parents_
        graph: networkx.DiGraph[Any] = nx.DiGraph()
        graph.add_nodes_from(parents)
        graph.add_edges_from((parent, child) for child, chosen in parents.items() for parent in chosen)
        return graph

    @property
    def adjacency_matrix_(self) -> Ints:
        """[parent, child]: 1 for an edge."""
        node_of = self._node_of()
        return self._fitted().dag.matrix_parent_child()[np.ix_(node_of, node_of)]

    @property
    def attention_(self) -> Attention:
        """[head, child, candidate]: what the heads attend to in the end."""
        return self._by_column(self._fitted().attention)

    @property
    def scores_(self) -> ScoreTable:
        """[head, child, candidate]: what the guide says of every candidate, NaN where it is none."""
        return self._by_column(self._fitted().scores)

    @property
    def kernel_(self) -> AnyKernel | None:
        """The kernel of the columns with the most parents; None where these do not share one."""
        return self._fitted().kernel

    @property
    def kernels_(self) -> tuple[Any, ...]:
        """All kernels with their counts and standard errors; their children are nodes of ``learned_``."""
        return self._fitted().kernels

    @property
    def checks_(self) -> tuple[Check, ...]:
        """Whether one kernel, K parents and independent rows are enough for these data; made when looked at."""
        return self._fitted().checks

    @property
    def status_(self) -> str:
        """Full sentences on how the rows were read, how the fit ended and what to beware of."""
        status = self._fitted().status
        return " ".join([*self._notes, status])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns: the nodes of the graph, and the columns of :meth:`sample`.

        Parameters
        ----------
        input_features
            Names to compare with those of the fit; None does not compare.
        """
        self._fitted()
        names = np.array([feature.name for feature in self._reader.features], dtype=object)
        if input_features is not None and list(input_features) != names.tolist():
            raise ValueError("input_features is not equal to feature_names_in_")
        return names

    def _fitted(self) -> Learned:
        """The result; the usual error of scikit-learn (for ``hasattr`` no attribute) where there is none yet."""
        if self._waiting is not None:
            n_rows = self._waiting.cells.n_rows
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: {n_rows:,} row{'s' * (n_rows != 1)} came "
                f"so far, which cannot be learned from yet ({self._waiting.why}). Go on with partial_fit"
            )
        check_is_fitted(self, "learned_")
        return self.learned_

    def _node_of(self) -> Ints:
        """``node_of[column]``: the node of ``learned_`` that the column is."""
        return np.argsort(self._fitted().order)

    def _by_column(self, table: Floats) -> Floats:
        node_of = self._node_of()
        return table[:, node_of[:, None], node_of]
