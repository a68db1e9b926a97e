"""Measure how often ``kgmi.learn`` finds the true graph, with all parts of the search and with one of them off.

    python benchmarks/ablation.py networks --bif FOLDER,FOLDER          # once: reads networks (needs the extra pgm)
    python benchmarks/ablation.py accuracy --families paper,mixed --seeds 0:20 --json accuracy.json
    python benchmarks/ablation.py parts --part NAME,NAME --families paper --json parts.json

A family makes a problem (rows, options, true edges by name) from a seed
and a number of rows. Edges between roots that are drawn together count neither for nor against the answer. Results
are written after each cell, and a file that has some of them already is continued.
"""

from __future__ import annotations

import argparse
import json
import runpy
import signal
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from itertools import combinations, product
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest import mock

import numpy as np

import kgmi
from kgmi.penalty import PENALTIES

Edge = tuple[str, str]
Parents = Sequence[Sequence[int]]

# What switches one part of the search off: for each module that uses it, the name there and what stands in for it.
PARTS: dict[str, list[tuple[str, str, Any]]] = {
    "starts": [("kgmi", "learn", partial(kgmi.learn, starts=1))],
    "polish": [("kgmi.search.given", "polish", lambda problem, state, sets: state)],
    "roots drawn together": [("kgmi.search.sharing", "_drawn", lambda chooser, state: state)],
    "implied kernels": [
        ("kgmi.search.rounds", "_with_implied", lambda problem, groups: groups),
        ("kgmi.search.rounds", "_unused_implied", lambda problem, groups: []),
        ("kgmi.search.early_exit", "implied_tables", lambda problem, groups: {}),
    ],
    "merged groups": [("kgmi.search.sharing", "_merged", lambda problem, groups: groups)],
    "one class of all": [("kgmi.search.sharing", "_everybody", lambda problem, sets, alone: [])],
    "gaps": [("kgmi.search.given", "weighed", lambda state: state.parents)],
    "early exit": [("kgmi.search.solution", "clear_case", lambda problem: None)],
    "effective states": [("kgmi.penalty", "PENALTIES", PENALTIES | {"nml": replace(PENALTIES["nml"], weight=0.0)})],
}


@dataclass(frozen=True)
class Problem:
    """Codes [row, column] with names and numbers of states, the options of ``learn``, and the true edges."""

    codes: np.ndarray
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    edges: frozenset[Edge]
    options: dict[str, Any] = field(default_factory=dict)
    apart: frozenset[frozenset[str]] = frozenset()

    def shuffled(self, seed: int) -> Problem:
        """Return the problem with its columns in another order, which is to be learned."""
        columns = np.random.default_rng([seed, 2]).permutation(len(self.names)).tolist()
        names, sizes = (tuple(one[column] for column in columns) for one in (self.names, self.sizes))
        options = self.options | {"order": "learn"}
        return replace(self, codes=self.codes[:, columns], names=names, sizes=sizes, options=options)

    def table(self) -> kgmi.Table:
        """Return the rows with declared states; columns with one value are left out, as learners refuse them."""
        kept = [column for column in range(len(self.names)) if len({*self.codes[:, column].tolist()} - {-1}) > 1]
        sizes = [self.sizes[column] for column in kept]
        states = tuple(map(str, range(max(sizes, default=2))))
        own = None if len({*self.sizes}) == 1 else tuple(states[:size] for size in sizes)
        codes = self.codes[:, kept].astype(np.int8)
        return kgmi.Table(codes, tuple(self.names[column] for column in kept), states, alphabets=own)


def of_codes(
    codes: np.ndarray, sizes: Iterable[int], parents: Parents, names: Iterable[str] = (), **options: Any
) -> Problem:
    """Return rows with their true graph; the columns are X1, X2 and so on, unless they have names."""
    names = tuple(names) or tuple(f"X{number}" for number in range(1, codes.shape[1] + 1))
    edges = frozenset((names[parent], names[child]) for child, above in enumerate(parents) for parent in above)
    return Problem(codes, names, tuple(map(int, sizes)), edges, {"n_parents": 2, **options})


def of_process(process: kgmi.Process, seed: int, n_rows: int, **options: Any) -> Problem:
    """Return rows of a process with a shared kernel."""
    rows = kgmi.sample(process, n_rows, rng=np.random.default_rng([seed, 1]))
    found = of_codes(np.asarray(rows), (process.n_states,) * process.n_nodes, process.dag.parents, **options)
    pairs = (pair for block in process.dag.root_blocks for pair in combinations(block, 2))
    return replace(found, apart=frozenset(frozenset(found.names[node] for node in pair) for pair in pairs))


def of_laws(seed: int, n_rows: int, parents: Parents, tables: Sequence[np.ndarray], **options: Any) -> Problem:
    """Return rows of a network in topological order: every node has a law of its own given its parents."""
    codes = np.empty((n_rows, len(parents)), dtype=np.int64)
    chances = np.random.default_rng([seed, 1]).random(codes.shape)
    for node, (above, table) in enumerate(zip(parents, tables, strict=True)):
        steps = np.cumsum(table, axis=-1)
        given = (steps / steps[..., -1:])[tuple(codes[:, parent] for parent in above)]
        codes[:, node] = (chances[:, node, None] >= given).sum(axis=-1)
    return of_codes(codes, (table.shape[-1] for table in tables), parents, **options)


def paper_kernel(seed: int) -> kgmi.Kernel:
    """Return the paper's kernel with tunables uniform in ±0.3, drawn until every entry is at least 0.02."""
    rng = np.random.default_rng([seed, 0])
    while True:
        try:
            kernel = kgmi.Kernel.paper(rng.uniform(-0.3, 0.3, 9).tolist())
        except kgmi.KgmiError:
            continue
        if kernel.min_entry >= 0.02:
            return kernel


def paper(seed: int, n_rows: int, dag: kgmi.Dag = kgmi.Dag.paper(), **options: Any) -> Problem:  # noqa: B008
    """Return rows of the paper's graph, or another one, with one of the paper's kernels."""
    return of_process(kgmi.Process(dag, paper_kernel(seed)), seed, n_rows, **options)


def random(seed: int, n_rows: int, n_nodes: int = 20, kernel: kgmi.Kernel | None = None) -> Problem:
    """Return rows of a random graph with this kernel, or a random one of three states."""
    rng = np.random.default_rng([seed, 0])
    dag = kgmi.Dag.random(n_nodes, 2, rng=rng)
    return of_process(kgmi.Process(dag, kernel or kgmi.Kernel.random(3, 2, rng=rng)), seed, n_rows)


def classes(seed: int, n_rows: int, n_nodes: int = 24) -> Problem:
    """Return rows of a random graph, each node of which follows one of three random kernels."""
    rng = np.random.default_rng([seed, 0])
    dag = kgmi.Dag.random(n_nodes, 2, rng=rng)
    kernels = rng.dirichlet(np.ones(3), size=(3, 3, 3))
    which, roots = rng.permutation(np.arange(n_nodes) % 3), rng.dirichlet(np.full(3, 3.0), size=n_nodes)
    tables = [kernels[which[node]] if ps else roots[node] for node, ps in enumerate(dag.parents)]
    return of_laws(seed, n_rows, dag.parents, tables)


def gaps(seed: int, n_rows: int, shares: Sequence[float] = (0.1,)) -> Problem:
    """Return the rows of ``paper`` with cells missing at random, in each column one of these shares of them."""
    whole, rng = paper(seed, n_rows, missing="pairwise"), np.random.default_rng([seed, 3])
    gone = rng.random(whole.codes.shape) < rng.choice(shares, len(whole.names))
    return replace(whole, codes=np.where(gone, -1, whole.codes))


def independent(seed: int, n_rows: int, n_nodes: int = 20) -> Problem:
    """Return independent columns of two to five states, some of them rare."""
    rng = np.random.default_rng([seed, 0])
    sizes = rng.integers(2, 6, n_nodes)
    drawn = [rng.choice(size, n_rows, p=rng.dirichlet(np.full(size, 0.7))) for size in sizes]
    return of_codes(np.stack(drawn, axis=1), sizes, ())


def rare(seed: int, n_rows: int) -> Problem:
    """Return 40 independent columns of two states, the second one in 1 or in 3 rows of 100."""
    codes = np.random.default_rng([seed, 0]).random((n_rows, 40)) < np.repeat([0.01, 0.03], 20)
    return of_codes(codes.astype(int), (2,) * 40, ())


def tworows(seed: int, n_rows: int) -> Problem:
    """Return a department and a role that is the department with one of four digits, the order to be learned."""
    rng = np.random.default_rng([seed, 1])
    dept = rng.choice(4, n_rows, p=[0.4, 0.3, 0.2, 0.1])
    codes = np.stack([dept, 4 * dept + rng.integers(0, 4, n_rows)], axis=1)
    return of_codes(codes, (4, 16), ((), (0,)), ("dept", "role"), n_parents=1).shuffled(seed)


NETWORKS = Path(tempfile.gettempdir()) / "netrows"
NAMES = ("sachs", "child", "alarm", "insurance", "water", "hepar2", "win95pts", "andes")


def read_networks(folders: Iterable[Path]) -> None:
    """Keep the networks of BIF files in a form that needs no other library to read."""
    from kgmi.interchange import from_bif

    NETWORKS.mkdir(parents=True, exist_ok=True)
    for path in (path for folder in folders for path in sorted(folder.glob("*.bif.gz"))):
        name = path.name.removesuffix(".bif.gz")
        if name in (*NAMES, "pigs"):
            found = from_bif(path)
            tables = [table.tolist() for table in found.model.tables]
            (NETWORKS / f"{name}.json").write_text(json.dumps([found.names, found.dag.parents, tables]))
            print(name, len(found.names))


@cache
def network(name: str) -> tuple[list[str], Parents, list[np.ndarray]]:
    """Return the names of the nodes in topological order, their parents, and their laws."""
    names, parents, tables = json.loads((NETWORKS / f"{name}.json").read_text())
    return names, parents, [np.array(table) for table in tables]


def of_network(name: str, shuffle: bool, seed: int, n_rows: int) -> Problem:
    """Return rows of a published network, with as many parents allowed as the largest family has."""
    names, parents, tables = network(name)
    found = of_laws(seed, n_rows, parents, tables, names=names, n_parents=max(map(len, parents)))
    return found.shuffled(seed) if shuffle else found


XOR = kgmi.Kernel([[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]])  # right in nine of ten cases
FAMILIES: dict[str, tuple[Callable[[int, int], Problem], tuple[int, ...]]] = {
    "paper": (paper, (100, 300, 1000)),
    "mixed": (partial(paper, dag=kgmi.Dag.paper_mixed(), in_degree="mixed"), (300, 1000, 3000)),
    "copies": (partial(paper, dag=kgmi.Dag.paper().copies(5)), (300, 1000)),
    "random": (random, (100, 300)),
    "classes": (classes, (500, 2000)),
    "gaps": (gaps, (300, 1000)),
    "uneven": (partial(gaps, shares=(0.0, 0.1, 0.6)), (1000, 5000)),
    "xor": (partial(random, n_nodes=12, kernel=XOR), (200, 500)),
    "known": (lambda seed, n_rows: paper(seed, n_rows, kernel=paper_kernel(seed)), (50, 100, 300)),
    "order": (lambda seed, n_rows: paper(seed, n_rows).shuffled(seed), (300, 1000)),
    "order5": (lambda seed, n_rows: paper(seed, n_rows, kgmi.Dag.paper(5)).shuffled(seed), (300, 1000)),
    "tworows": (tworows, (1000,)),
    "independent": (independent, (300,)),
    "rare": (rare, (10_000,)),
    **{name: (partial(of_network, name, False), (300, 1000, 5000)) for name in NAMES},
    **{f"{name}-order": (partial(of_network, name, True), (1000,)) for name in NAMES[:4]},
    "pigs": (partial(of_network, "pigs", False), (50, 100, 200)),
    "pigs-order": (partial(of_network, "pigs", True), (200,)),
}
GROUPS = {"small": [*FAMILIES][:12], "networks": list(NAMES), "all": [*FAMILIES]}
GROUPS["networks-order"] = [f"{name}-order" for name in NAMES[:4]]


def learned_edges(learned: kgmi.Learned) -> frozenset[Edge]:
    """Return the edges by the names of the columns, whatever the order of the nodes."""
    return frozenset((parent, child) for child, parents in learned.parents.items() for parent in parents)


def pattern(edges: Collection[Edge]) -> frozenset[tuple[str, str] | frozenset[str]]:
    """Return the edges that all equivalent graphs have, and the pairs whose edge may point either way."""
    edges, beside = set(edges), {frozenset(edge) for edge in edges}
    arrows = {(p, c) for p, c in edges for q, d in edges if d == c and q != p and frozenset((p, q)) not in beside}
    changed = True
    while changed:  # Meek's rules; in the pattern of a graph without cycles an arrow is always one of its edges
        changed = False
        for a, b in edges - arrows:
            near = {next(iter(pair - {a})) for pair in beside if a in pair} - {b}
            into = [x for x in near if (x, b) in arrows and not {(a, x), (x, a)} & arrows]
            if (
                any((x, a) in arrows and frozenset((x, b)) not in beside for x in near)
                or any((a, x) in arrows and (x, b) in arrows for x in near)
                or any(frozenset(pair) not in beside for pair in combinations(into, 2))
            ):
                changed = True
                arrows.add((a, b))
    return frozenset([*arrows, *(frozenset(edge) for edge in edges - arrows)])


def f1(found: Iterable[Any], true: Iterable[Any]) -> float:
    """Return 2 · hits / (found + true); 1 where both are empty."""
    found, true = {*found}, {*true}
    return 2 * len(found & true) / (len(found) + len(true)) if found or true else 1.0


def measure(problem: Problem) -> dict[str, Any]:
    """Return how near one answer is to the truth, and how long it took."""
    table = problem.table()
    began, used = time.perf_counter(), time.process_time()
    learned = kgmi.learn(table, **problem.options)
    seconds, cpu = time.perf_counter() - began, time.process_time() - used
    found = {edge for edge in learned_edges(learned) if frozenset(edge) not in problem.apart}
    out = {
        "f1": f1(found, problem.edges),
        "skeleton": f1(map(frozenset, found), map(frozenset, problem.edges)),
        "exact": found == problem.edges,
        "seconds": seconds,
        "cpu": cpu,
        "score": None if learned.fit is None else float(learned.fit.score),
        "share": None if learned.fit is None else learned.fit.share,
        "edges": len(found),
        "extra": sorted(map(list, found - problem.edges)),
        "missing": sorted(map(list, problem.edges - found)),
    }
    if problem.options.get("order") == "learn":
        out["cpdag"] = f1(pattern(found), pattern(problem.edges))
        if len(table.names) == 2:
            out["directions"] = {" → ".join(edge): nats for edge, nats in (learned.directions or {}).items()}
    return out


def run_cell(family: str, n_rows: int, seeds: Iterable[int], limit: float) -> dict[str, Any]:
    """Return the answers of one family and number of rows, by seed; the first fit, if short, is thrown away."""
    make, fits, is_warm = FAMILIES[family][0], {}, False

    def too_long(*_: Any) -> None:
        raise TimeoutError("the fit took too long")

    signal.signal(signal.SIGALRM, too_long)
    for seed in seeds:
        problem = make(seed, n_rows)
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            found = measure(problem)
            if not is_warm and found["seconds"] < 10:
                found = measure(problem)
        except (TimeoutError, kgmi.KgmiError) as error:
            return {"fits": fits, "stopped": f"seed {seed}: {error}"}
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        fits[str(seed)], is_warm = found, True
    return {"fits": fits}


LINE = "{:<21} {:<15} {:>6} {:>4} {:>6} {:>8} {:>7} {:>5} {:>6} {:>8} {:>8} {:>12}"
SHOWN = "f1:.3f skeleton:.3f cpdag:.3f exact:.2f edges:.1f seconds:.3g cpu:.3g score:.2f"


def show(cell: dict[str, Any]) -> None:
    """Print one line of the table: means over the fits."""
    cells = [cell["part"], cell["family"], str(cell["rows"]), str(len(cell["fits"]))]
    for key, form in (shown.split(":") for shown in SHOWN.split()):
        values = [fit[key] for fit in cell["fits"].values() if fit.get(key) is not None]
        cells.append(format(fmean(values), form) if values else "–")
    print(LINE.format(*cells), cell.get("stopped", ""), flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("accuracy", "parts", "networks"))
    parser.add_argument("--families", default="small", help=f"{', '.join(FAMILIES)}; or {', '.join(GROUPS)}")
    parser.add_argument("--seeds", default="1000:1005", help="from:to")
    parser.add_argument("--rows", help="only these numbers of rows, with commas")
    parser.add_argument("--part", default="", help="parts to switch off one after the other, with commas; or all")
    parser.add_argument("--table", type=Path, help="a Python file with another PARTS")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that a fit may take")
    parser.add_argument("--json", type=Path, help="file for the results; continued where it is there")
    parser.add_argument("--bif", help="folders of BIF files, with commas")
    args = parser.parse_args()
    if args.what == "networks":
        return read_networks(map(Path, args.bif.split(",")))
    done = json.loads(args.json.read_text()) if args.json and args.json.exists() else {}
    print(LINE.format("part", "family", "rows", "fits", *(shown.split(":")[0] for shown in SHOWN.split())))
    table = runpy.run_path(str(args.table))["PARTS"] if args.table else PARTS
    parts = ([*table] if args.part == "all" else args.part.split(",")) if args.what == "parts" else [""]
    families = [one for name in args.families.split(",") for one in GROUPS.get(name, [name])]
    for part, family in product(parts, families):
        sizes = FAMILIES[family][1] if args.rows is None else map(int, args.rows.split(","))
        for n_rows in sizes:
            key = f"{part}/{family}/{n_rows}/{args.seeds}"
            if key not in done:
                with ExitStack() as stack:
                    for module, name, instead in table[part] if part else ():
                        stack.enter_context(mock.patch.object(import_module(module), name, instead))
                    cell = run_cell(family, n_rows, range(*map(int, args.seeds.split(":"))), args.limit)
                done[key] = {"part": part or "–", "family": family, "rows": n_rows, "seeds": args.seeds} | cell
                if args.json:
                    args.json.write_text(json.dumps(done, indent=1) + "\n")
            show(done[key])
    return None


if __name__ == "__main__":
    main()
