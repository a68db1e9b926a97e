"""Small seeded problems, one for every way of asking kgmi that has to go on answering as it does.

A problem is what makes the rows, the options of ``learn``, and the modes that must all give one answer; the first
of them gives the golden one. What is done with them stands in ``modes``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import kgmi

PAPER = kgmi.Kernel.paper()
MENDEL = kgmi.Kernel.mendelian(0.4)
WORDS = ("low", "mid", "high")
STREAMED = ("memory", "csv", "parquet", "iterator", "counts", "merged")
EVERYWHERE = (*STREAMED, "pandas", "polars", "table", "dataset", "lazy", "filtered", "checkpoint")


@dataclass(frozen=True)
class Problem:
    """A name, a function that makes the rows, the options of ``learn``, and the modes that must agree."""

    name: str
    make: Callable[[], Any]
    options: dict[str, Any]
    modes: tuple[str, ...] = ("memory",)


# Processes, and rows of them.


def law(graph, kernel, **options):
    return kgmi.Process(graph, kernel, **options)


def rows_of(process, n_rows, seed, **options):
    return kgmi.sample(process, n_rows, rng=np.random.default_rng(seed), **options)


def paper_law(n_nodes=10, copies=1):
    return law(kgmi.Dag.paper(n_nodes).copies(copies), PAPER)


def paper(n_rows, seed, n_nodes=10, copies=1):
    return rows_of(paper_law(n_nodes, copies), n_rows, seed)


def mixed(n_rows, seed):
    """The paper's graph with 0, 1 and 2 parents."""
    return rows_of(law(kgmi.Dag.paper_mixed(), PAPER), n_rows, seed)


def drawn_kernel(seed, n_states, n_parents):
    return kgmi.Kernel.random(n_states, n_parents, rng=seed, concentration=0.5)


def drawn(n_rows, seed, n_nodes, n_states, n_parents, **options):
    """A random graph with a random kernel."""
    graph = kgmi.Dag.random(n_nodes, n_parents, rng=seed, **options)
    return rows_of(law(graph, drawn_kernel(seed, n_states, n_parents)), n_rows, seed)


def mendel(n_rows, seed, error=0.0):
    """A pedigree with a share of readings that are random instead."""
    rng = np.random.default_rng([seed, 1])
    graph = kgmi.Dag([(), (), (), (), (0, 1), (2, 3), (0, 1), (4, 5), (5, 6), (4, 8)])
    rows = rows_of(law(graph, MENDEL), n_rows, seed)
    return np.where(rng.random(rows.shape) < error, rng.integers(0, 3, rows.shape), rows).astype(np.int8)


def xor(n_rows, seed, n_nodes=8):
    """Fair coins, and from the fourth on the parity of two earlier columns, one time in ten the opposite."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (n_rows, n_nodes)).astype(np.int8)
    for child in range(3, n_nodes):
        parents = rng.choice(child, 2, replace=False)
        rows[:, child] = rows[:, parents].sum(axis=1) % 2 ^ (rng.random(n_rows) < 0.1)
    return rows


def two_kernels(n_rows, seed, n_nodes=12):
    """Even nodes follow one kernel and odd ones another."""
    rng = np.random.default_rng(seed)
    kernels = rng.dirichlet(np.full(3, 0.7), size=(2, 3, 3))
    rows = rng.integers(0, 3, (n_rows, n_nodes)).astype(np.int8)
    for child in range(2, n_nodes):
        one, other = rng.choice(child, 2, replace=False)
        laws = kernels[child % 2][rows[:, one], rows[:, other]]
        rows[:, child] = (rng.random(n_rows)[:, None] > laws.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return rows


def framed(columns):
    """A data frame of pandas."""
    import pandas

    return pandas.DataFrame(columns)


def words(n_rows, seed, n_nodes=5, gaps=0.0):
    """Rows of the paper's graph as words, with gaps in every column but the first."""
    rng = np.random.default_rng([seed, 2])
    texts = np.array(WORDS, dtype=object)[paper(n_rows, seed, n_nodes)]
    texts[:, 1:][rng.random(texts[:, 1:].shape) < gaps] = None
    return framed({f"c{number}": column for number, column in enumerate(texts.T)})


def narrow(n_rows, seed, gaps=0.0):
    """Columns with words of their own: places, and answers of two or three kinds that depend on each other."""
    rng = np.random.default_rng(seed)
    place = rng.integers(0, 4, n_rows)
    first = np.where(rng.random(n_rows) < 0.8, place // 2, 1 - place // 2)
    second = np.where(rng.random(n_rows) < 0.8, first, 1 - first)
    third = (first + second + (rng.random(n_rows) < 0.15)) % 3
    fourth = np.where(rng.random(n_rows) < 0.85, third, rng.integers(0, 3, n_rows))
    alphabets = (["north", "east", "south", "west"], ["no", "yes"], ["no", "yes"], list("abc"), list("abc"))
    codes = (place, first, second, third, fourth)
    texts = [np.array(a, dtype=object)[c] for a, c in zip(alphabets, codes, strict=True)]
    for column in texts[1:]:
        column[rng.random(n_rows) < gaps] = None
    return framed(dict(zip(("place", "first", "second", "third", "fourth"), texts, strict=True)))


def unseen(n_rows, seed):
    """Rows of whole numbers in which the last state hardly ever occurs, and in some columns never."""
    rows = drawn(n_rows, seed, 6, 3, 1)
    rows[:, ::2] = np.minimum(rows[:, ::2], 1)
    return rows


def sequence(length, seed):
    """A sequence in which each value depends on those one and three steps before."""
    rng = np.random.default_rng(seed)
    kernel = drawn_kernel(seed, 3, 2).table.cumsum(axis=-1)
    values = list(rng.integers(0, 3, 3))
    for chance in rng.random(length):
        values.append(int((chance > kernel[values[-1], values[-3]][:-1]).sum()))
    return np.array(values)


def labelled(n_rows, seed, n_nodes=5, several=False):
    process = law(kgmi.Dag.paper(n_nodes), random_kernels() if several else PAPER)
    return rows_of(process, n_rows, seed, labelled=True)


def shuffled(n_rows, seed, n_nodes=10):
    """Rows of the paper's graph with their columns in another order."""
    columns = np.random.default_rng([seed, 1]).permutation(n_nodes)
    return np.ascontiguousarray(paper(n_rows, seed, n_nodes)[:, columns])


def random_kernels():
    """Every sequence draws one of two kernels."""
    return kgmi.FiniteKernels([PAPER, kgmi.Kernel.paper(0.05)], [0.6, 0.4])


def ask(name, make, *given, modes=("memory",), **options):
    return Problem(name, partial(make, *given), options, modes)


TIERS = [["X1", "X2"], ["X3", "X4"], ["X5", "X6"], ["X7", "X8"], ["X9", "X10"]]
TURNED = [7, 6, 0, 5, 2, 1, 9, 8, 3, 4]
GIVEN = {f"X{number}": "even" if number % 2 else "odd" for number in range(3, 13)}

PROBLEMS = [
    # The kernel is learned: sizes, numbers of states and parents.
    ask("paper", paper, 500, 101, modes=(*EVERYWHERE, "arrays", "dask")),
    ask("paper shared", paper, 1_500, 102, modes=("memory", "parquet", "dask", "device"), share="shared"),
    ask("few rows", drawn, 150, 406, 6, 2, 2, modes=STREAMED),
    ask("four columns", drawn, 200, 104, 4, 3, 2),
    ask("forty columns", paper, 400, 105, 10, 4, modes=("memory", "parquet", "counts")),
    ask("two states, one parent", drawn, 300, 503, 12, 2, 1, n_parents=1, modes=("memory", "csv", "counts")),
    ask("five states, one parent", drawn, 1_500, 107, 8, 5, 1, n_parents=1),
    ask("five states, two parents", drawn, 5_000, 108, 6, 5, 2, modes=("memory", "parquet", "merged")),
    ask("three parents", drawn, 2_000, 109, 8, 2, 3, n_parents=3, modes=("memory", "parquet", "iterator")),
    ask("three parents, uniform", drawn, 1_000, 110, 7, 3, 3, n_parents=3, in_degree="uniform"),
    ask("mixed in-degrees", mixed, 1_500, 111),
    ask("uniform in-degrees", paper, 300, 112, in_degree="uniform"),
    ask("nothing to find", lambda: np.random.default_rng(113).integers(0, 3, (300, 6)).astype(np.int8)),
    ask("no smoothing", paper, 200, 114, smoothing=0.0),
    # How parents are searched for, and what kernels cost.
    ask("heads", paper, 800, 121, search="heads"),
    ask("lists", paper, 800, 122, 10, 2, search="lists", list_length=4),
    ask("exhaustive", paper, 300, 123, 10, search="exhaustive"),
    ask("xor", xor, 400, 124, modes=("memory", "parquet", "counts")),
    ask("xor, exhaustive, one kernel", xor, 400, 125, search="exhaustive", share="shared"),
    ask("bic", mixed, 400, 126, penalty="bic"),
    ask("aic", mixed, 400, 127, penalty="aic"),
    ask("no penalty", paper, 300, 128, 5, penalty="none"),
    ask("a price for each parameter", mixed, 400, 129, penalty=4.0),
    # Who shares a kernel.
    ask("one kernel", two_kernels, 300, 131, share="shared"),
    ask("kernels for nodes", two_kernels, 600, 132, share="node"),
    ask("classes", two_kernels, 300, 133, share="classes", modes=("memory", "counts")),
    ask("classes, auto", two_kernels, 300, 134),
    ask("classes given", two_kernels, 150, 135, classes=GIVEN, modes=("memory", "csv")),
    ask("groups given", two_kernels, 150, 136, classes=[["X3", "X5", "X7"], ["X4", "X6", "X8"]]),
    # The kernel is known, or has no order of its parents, and readings may be wrong.
    ask("known", paper, 300, 141, kernel=PAPER, modes=("memory", "csv", "counts")),
    ask("known, mixed", mixed, 600, 142, kernel=PAPER, in_degree="mixed"),
    ask("Mendel", mendel, 600, 143, modes=("memory", "merged")),
    ask("Mendel, known", mendel, 200, 144, kernel=MENDEL, modes=("memory", "parquet", "counts")),
    ask("Mendel, known errors", mendel, 500, 145, 0.05, kernel=MENDEL, error=0.05),
    ask("Mendel, errors estimated", mendel, 800, 146, 0.05, kernel=MENDEL, error="estimate"),
    ask("errors, kernel learned", mendel, 800, 147, 0.04, error=0.04, share="shared"),
    ask("contextual, known", paper, 1_000, 148, kernel=PAPER, guide="contextual", modes=("memory", "parquet")),
    ask("contextual, learned", paper, 2_000, 149, guide="contextual", modes=("memory", "counts")),
    # The paper's guides, which look at pairs.
    ask(
        *("stationary", paper, 5_000, 151),
        **{"kernel": PAPER, "guide": "stationary"},
        modes=("memory", "csv", "parquet", "iterator", "counts", "merged", "pairs", "dask", "device"),
    ),
    ask("stationary, pearson", paper, 4_000, 152, kernel=PAPER, guide="stationary", divergence="pearson"),
    ask(
        *("stationary, hellinger", paper, 4_000, 153),
        **{"kernel": PAPER, "guide": "stationary", "divergence": "hellinger-matched"},
        modes=("memory", "pairs", "counts"),
    ),
    ask("stationary, mixed", mixed, 5_000, 154, kernel=PAPER, guide="stationary", in_degree="mixed"),
    ask("stationary, roots", paper, 3_000, 155, kernel=PAPER, guide="stationary", roots=["X1", 1], solver="limit"),
    ask("stationary, plug-in", paper, 3_000, 156, kernel=PAPER, guide="stationary", smoothing=0.0, root_level=0.05),
    ask("stationary, three", drawn, 4_000, 157, 7, 2, 3, kernel=drawn_kernel(157, 2, 3), guide="stationary"),
    ask("uniform", paper, 4_000, 158, kernel=PAPER, guide="uniform", modes=("memory", "pairs", "parquet")),
    ask("uniform, pearson", paper, 4_000, 159, kernel=PAPER, guide="uniform", divergence="pearson"),
    ask("plain", drawn, 800, 160, 12, 3, 1, guide="plain", modes=("memory", "csv", "pairs")),
    ask("plain, two heads", paper, 2_000, 161, guide="plain", n_parents=2, solver="limit"),
    ask("plain, hellinger", drawn, 800, 305, 10, 2, 1, guide="plain", divergence="hellinger-matched"),
    ask("contextual of pairs", paper, 2_000, 164, kernel=PAPER, guide="contextual", modes=("pairs",)),
    # Exact laws.
    ask("law", paper_law, 5),
    ask("law, known", paper_law, 5, kernel=PAPER, guide="likelihood"),
    ask(
        *("law, stationary", paper_law, 10, 2),
        **{"kernel": PAPER, "guide": "stationary", "roots": [0, 1, 10, 11]},
        modes=("memory", "joint"),
    ),
    ask("law, pearson", paper_law, 10, kernel=PAPER, guide="stationary", divergence="pearson", solver="limit"),
    ask("law, hellinger", paper_law, 5, kernel=PAPER, guide="uniform", divergence="hellinger-matched"),
    ask("law, plain", law, kgmi.Dag.chain(9), drawn_kernel(165, 3, 1), guide="plain", modes=("memory", "joint")),
    ask("law, order learned", paper_law, 5, order="learn"),
    ask("law of two kernels", law, kgmi.Dag.paper(10), random_kernels(), kernel=random_kernels(), solver="limit"),
    # Labelled rows.
    ask("labelled, printed", labelled, 5_000, 171),
    ask("labelled, factorised", labelled, 4_000, 172, 10, labelled_form="factorised", kappa=0.1),
    ask("labelled, reweighted", labelled, 4_000, 173, 10, labelled_form="reweighted"),
    ask("labelled rows of two kernels", labelled, 4_000, 176, 5, True),
    ask("kernel from labels", labelled, 1_000, 174, 10, kernel_source="labelled"),
    ask("kernel from labels, stationary", labelled, 3_000, 175, kernel_source="labelled", guide="stationary"),
    # Words, gaps and alphabets.
    ask("words", words, 500, 181, modes=EVERYWHERE),
    ask("words, states", words, 300, 182, 10, states=WORDS, kernel=PAPER, modes=(*STREAMED, "polars")),
    ask("gaps", words, 800, 183, 5, 0.1, missing="pairwise", modes=(*EVERYWHERE, "dask")),
    ask("gaps as a state", words, 900, 184, 5, 0.1, missing="category", modes=(*STREAMED, "polars")),
    ask(
        *("gaps, stationary", words, 3_000, 185, 5, 0.05),
        **{"missing": "pairwise", "states": WORDS, "kernel": PAPER, "guide": "stationary"},
        modes=("memory", "parquet", "counts"),
    ),
    ask("own alphabets", narrow, 600, 186, alphabet="own", modes=(*STREAMED, "polars", "table")),
    ask("mixed alphabets", narrow, 600, 187, modes=(*STREAMED, "lazy", "dataset")),
    ask("own alphabets, gaps", narrow, 900, 188, 0.1, alphabet="own", missing="pairwise", modes=STREAMED),
    ask("own alphabets, gaps as states", narrow, 900, 189, 0.1, alphabet="own", missing="category", modes=STREAMED),
    ask("states that never occur", unseen, 300, 190, n_states=4, n_parents=1, modes=STREAMED),
    ask("narrow columns", unseen, 300, 191, n_parents=1, modes=("memory", "csv", "parquet")),
    # One long sequence.
    ask("windows", sequence, 1_500, 195, windows=6),
    ask("windows of a text", lambda: "".join("abc"[value] for value in sequence(900, 196)), windows=5, n_parents=3),
    ask("windows, one lag", sequence, 600, 197, windows=8, n_parents=1, max_lag=4),
    # Who may be whose parent.
    ask("order listed", lambda: paper(300, 201)[:, np.argsort(TURNED)], order=TURNED, modes=("memory", "parquet")),
    ask("order learned", shuffled, 1_000, 202, order="learn", modes=("memory", "parquet", "counts")),
    ask("order learned, known", shuffled, 2_000, 203, 5, order="learn", kernel=PAPER),
    ask("order learned in tiers", paper, 600, 204, order="learn", tiers=TIERS, forbidden=[("X2", "X1")]),
    ask("tiers", paper, 400, 205, tiers=TIERS, modes=("memory", "csv", "counts")),
    ask("tiers of columns that are moved", shuffled, 400, 206, 5, tiers=[1, 0, 2, 1, 2]),
    ask("forbidden and required", paper, 300, 207, forbidden=[("X1", "X4"), (0, 9)], required=[("X5", "X8")]),
    ask("forbidden, stationary", paper, 3_000, 208, forbidden=[("X2", "X5")], kernel=PAPER, guide="stationary"),
    ask("no further back", paper, 400, 209, max_lag=3, modes=("memory", "counts")),
    ask("roots", paper, 300, 210, roots=["X1", "X2", "X6"]),
]
