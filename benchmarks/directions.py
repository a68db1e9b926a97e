"""Directed edges of real tables, order unknown, beside the CPDAG of the same graph by causal-learn.

    python benchmarks/directions.py     (with the extra «bench» of kgmi installed; statsmodels comes with pgmpy)

With kernels that are not shared no data can direct an edge that is not compelled: every edge that kgmi directs must
be one that causal-learn directs in the CPDAG of the graph that kgmi found, and the other way round.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import kgmi

ROWS = 3_000  # of each table at most
COLUMNS = 12


def two_columns() -> pd.DataFrame:
    """Return a role that is a department and one of four digits."""
    rng = np.random.default_rng(1)
    dept = rng.choice(["sales", "lab", "plant"], 1_000, p=[0.5, 0.3, 0.2])
    return pd.DataFrame({"dept": dept, "role": [f"{one}{rng.integers(4)}" for one in dept]})


def of_sklearn(name: str) -> Callable[[], pd.DataFrame]:
    """Return a reader of a table of scikit-learn."""

    def read() -> pd.DataFrame:
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(as_frame=True).frame

    return read


def of_statsmodels(name: str) -> Callable[[], pd.DataFrame]:
    """Return a reader of a table of statsmodels."""

    def read() -> pd.DataFrame:
        import statsmodels.api as sm

        return getattr(sm.datasets, name).load_pandas().data

    return read


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "two columns": two_columns,
    "iris": of_sklearn("iris"),
    "wine": of_sklearn("wine"),
    "breast_cancer": of_sklearn("breast_cancer"),
    "fair": of_statsmodels("fair"),
    "anes96": of_statsmodels("anes96"),
    "heart": of_statsmodels("heart"),
}


def class_of(dag: kgmi.Dag) -> tuple[set[tuple[int, int]], int]:
    """Return the directed edges of the CPDAG of a graph, and the number of the others, by causal-learn."""
    from causallearn.graph.Dag import Dag
    from causallearn.graph.GraphNode import GraphNode
    from causallearn.utils.DAG2CPDAG import dag2cpdag

    nodes = [GraphNode(f"X{node + 1}") for node in range(dag.n_nodes)]
    graph = Dag(nodes)
    for parent, child in dag.edges:
        graph.add_directed_edge(nodes[parent], nodes[child])
    marks = dag2cpdag(graph).graph  # -1 is a tail, 1 an arrow head
    pairs = [(a, b) for a in range(dag.n_nodes) for b in range(dag.n_nodes)]
    directed = {(a, b) for a, b in pairs if marks[b, a] == 1 and marks[a, b] == -1}
    return directed, sum(marks[a, b] == -1 and marks[b, a] == -1 for a, b in pairs if a < b)


def measure(name: str, frame: pd.DataFrame) -> list[Any]:
    """Return one line of the table."""
    frame = frame.iloc[:, :COLUMNS].sample(min(len(frame), ROWS), random_state=0)
    learned = kgmi.learn(kgmi.prepare(frame), order="learn")
    directed, open_ones = class_of(learned.dag)
    ours = {*learned.cpdag.directed}
    return [
        name,
        *(len(frame), learned.n_nodes, learned.dag.n_edges, learned.fit.share),
        *(len(ours), len(learned.cpdag.undirected), len(directed), open_ones),
        *(len(ours - directed), len(directed - ours)),
    ]


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    line = "{:14}{:>6}{:>8}{:>7}{:>9}{:>10}{:>11}{:>10}{:>11}{:>11}{:>11}"
    heads = "table rows columns edges kernels directed undirected directed undirected only~kgmi only~theirs"
    print(line.format(*(head.replace("~", " ") for head in heads.split())))
    for name, read in TABLES.items():
        print(line.format(*measure(name, read())), flush=True)


if __name__ == "__main__":
    main()
