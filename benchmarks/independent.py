"""Count the tables of independent columns in which ``kgmi.learn`` with default options finds an edge.

    python benchmarks/independent.py --tables 100 --seed 1

Every table has independent columns, so every edge is wrong. Prints, for each shape of table, the share of tables
with at least one edge, by number of columns and rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

import kgmi

Columns = list[np.ndarray]


def own_words(rng: np.random.Generator, n_rows: int, n_columns: int) -> Columns:
    """Two to four words in each column, none of them in another column."""
    sizes = rng.integers(2, 5, n_columns)
    drawn = [rng.choice(size, n_rows, p=rng.dirichlet(np.full(size, 3.0))) for size in sizes]
    words = [[f"{name}{state}" for state in range(4)] for name in "abcdefghij"[:n_columns]]
    return [np.array(some)[codes] for some, codes in zip(words, drawn, strict=True)]


def even_words(rng: np.random.Generator, n_rows: int, n_columns: int) -> Columns:
    """Two equally frequent words in each column, none of them in another column."""
    return [np.array([f"{name}0", f"{name}1"])[rng.integers(0, 2, n_rows)] for name in "abcdefghij"[:n_columns]]


def one_alphabet(rng: np.random.Generator, n_rows: int, n_columns: int) -> Columns:
    """Three states, the same shares in every column."""
    return [rng.choice(3, n_rows, p=[0.6, 0.3, 0.1]) for _ in range(n_columns)]


def own_shares(rng: np.random.Generator, n_rows: int, n_columns: int) -> Columns:
    """Three states, other shares in every column."""
    return [rng.choice(3, n_rows, p=rng.dirichlet(np.full(3, 3.0))) for _ in range(n_columns)]


def rare_state(rng: np.random.Generator, n_rows: int, n_columns: int) -> Columns:
    """Two states; the second in 1 row of 100."""
    return [(rng.random(n_rows) < 0.01).astype(int) for _ in range(n_columns)]


def two_marginals(rng: np.random.Generator, n_rows: int, n_columns: int) -> Columns:
    """Two states; the second in 1 or in 3 rows of 100, in turn."""
    return [(rng.random(n_rows) < (0.01, 0.03)[column % 2]).astype(int) for column in range(n_columns)]


SHAPES: dict[str, Callable[[np.random.Generator, int, int], Columns]] = {
    shape.__name__: shape for shape in (own_words, even_words, one_alphabet, own_shares, rare_state, two_marginals)
}


def has_edge(columns: Columns, **options: object) -> bool:
    """Whether an edge is found in a table of these columns, constant ones left out."""
    table = {f"c{number}": column for number, column in enumerate(columns) if len(set(column.tolist())) > 1}
    if len(table) < 2:
        return False
    import pyarrow as pa

    return bool(kgmi.learn(pa.table(table), **options).dag.edges)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=100, help="tables for each shape, number of columns and rows")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--columns", default="2,3,5,10")
    parser.add_argument("--rows", default="100,1000,10000,100000")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    args = parser.parse_args()
    grid = [(int(c), int(r)) for c in args.columns.split(",") for r in args.rows.split(",")]
    print("columns x rows".ljust(16), *(f"{c}x{r}".rjust(9) for c, r in grid))
    for shape in args.shapes.split(","):
        found = []
        for n_columns, n_rows in grid:
            rng = np.random.default_rng([args.seed, [*SHAPES].index(shape), n_columns, n_rows])
            found.append(sum(has_edge(SHAPES[shape](rng, n_rows, n_columns)) for _ in range(args.tables)))
        print(shape.ljust(16), *(f"{n / args.tables:9.1%}" for n in found), flush=True)


if __name__ == "__main__":
    main()
