"""Tables of few columns of which all graphs are scored, and what a search of them misses.

``python -m tests.search_misses 1000`` searches so many tables of every kind and prints the misses.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from kgmi import Dag, Kernel, Process, sample
from kgmi.candidates import candidate_sets
from kgmi.counts.bits import RowCounts
from kgmi.problem import Problem
from kgmi.score import make_group
from kgmi.search.given import own_state
from kgmi.search.rounds import by_key, keyed_state, make_state
from kgmi.search.solution import solve

EVIDENT = math.log(100)  # nats by which few edges must be better than none
ROOT_PRICE = 10.0  # nats at most of the distribution of a root, which one that is drawn with another does not pay
SAME = 1e-6
TABLES = ("shared 2", "shared 3", "drawn", "own", "mixed", "independent")
SHARES = ("shared", "node", "classes", "auto", "known")


def table(kind, n_nodes, rng):
    """(codes, sizes, kernel of two parents or None) of a random graph over columns in any order."""
    n_rows = int(rng.choice([50, 100, 200, 500, 1000]))
    if kind == "independent":
        sizes = tuple(rng.integers(2, 4, n_nodes).tolist())
        laws = [rng.dirichlet(np.ones(size)) for size in sizes]
        return np.column_stack([rng.choice(len(p), n_rows, p=p) for p in laws]).astype(np.int8), sizes, None
    if kind in ("own", "mixed"):
        sizes = tuple(rng.integers(2, 4, n_nodes).tolist()) if kind == "mixed" else (2,) * n_nodes
        codes = np.zeros((n_rows, n_nodes), dtype=np.int8)
        for node, size in enumerate(sizes):
            parents = rng.permutation(node)[: rng.integers(0, 3)].tolist()
            law = rng.dirichlet(np.full(size, 0.7), size=[sizes[p] for p in parents])
            law = law[tuple(codes[:, p] for p in parents)] if parents else np.tile(law, (n_rows, 1))
            codes[:, node] = (rng.random((n_rows, 1)) > law.cumsum(axis=1)[:, :-1]).sum(axis=1)
        return codes, sizes, None
    n_states = 2 if kind == "shared 2" else 3 if kind == "shared 3" else int(rng.integers(2, 4))
    law = Kernel.random(n_states, 2, rng=rng, concentration=float(rng.choice([0.5, 1.5]))).table
    kernel = Kernel((law + 0.02) / (1 + 0.02 * n_states))
    dag = Dag.random(n_nodes, 2, rng=rng, mixed=kind != "drawn" and bool(rng.integers(2)), root_probability=0.2)
    if kind != "drawn":
        dag = Dag(dag.parents, [(root,) for root in dag.roots])
    return sample(Process(dag, kernel), n_rows, rng=rng).astype(np.int8), (n_states,) * n_nodes, kernel.table


def problem_of(kind, share, order, n_nodes, seed):
    """A problem that is known by its seed; None where a kernel was to be known and there is none."""
    rng = np.random.default_rng(seed)
    codes, sizes, kernel = table(kind, n_nodes, rng)
    if order == "learn":
        shuffled = rng.permutation(n_nodes)
        codes, sizes = codes[:, shuffled], tuple(sizes[node] for node in shuffled)
    known, degrees = {}, (0, 1, 2)
    if share == "known":
        if kernel is None:
            return None
        known, share = {2: kernel, 1: Kernel(kernel).marginalise(1).table}, "shared"
    counts = RowCounts(codes, sizes)
    return Problem(counts, candidate_sets(n_nodes, order=order), share=share, known=known, degrees=degrees)


def graphs(problem, *, in_roles):
    """Parents of all graphs with up to two parents of a node; in every order of equal alphabets if asked for."""
    n_nodes, alphabets, is_open = problem.n_nodes, problem.counts.alphabets, problem.is_open
    choose = itertools.permutations if in_roles else itertools.combinations
    others = [[p for p in range(n_nodes) if p < child or (is_open and p != child)] for child in range(n_nodes)]
    sets = [[c for size in range(3) for c in choose(some, size)] for some in others]
    # (A, B) and (B, A) are keys of two kernels: an order that says no more than who shares one is not to be chosen.
    if in_roles:
        sets = [[c for c in some if [*c] == sorted(c, key=lambda p: alphabets[p])] for some in sets]
    for parents in itertools.product(*sets):
        left = set(range(n_nodes))
        while free := [node for node in left if not left & {*parents[node]}]:
            left -= {*free}
        if not left:
            yield parents


def blocks(problem, parents):
    """All ways to draw roots together, in pairs: nobody before the second follows from the first."""
    found = [((),) * len(parents)]
    for child, ps in enumerate(parents):
        followed = {p for before in parents[:child] for p in before}
        for together in found[:] if not ps else ():
            taken = {one for block in together for one in block} | {n for n, b in enumerate(together) if b}
            for one in range(child):
                alike = problem.counts.alphabets[one] == problem.counts.alphabets[child]
                if not parents[one] and one not in followed | taken and alike:
                    found.append((*together[:child], (one,), *together[child + 1 :]))
    return found


def most_drawn(problem, parents):
    """At least what a graph gains when roots are drawn together; -inf where no kernel says how."""
    roots = [node for node, ps in enumerate(parents) if not ps]
    if len(roots) < 2 or not (problem.known or any(len(ps) == 2 for ps in parents)):
        return -math.inf
    gains = [[information(problem.family(a, (b,))) for b in roots if b != a] for a in roots]
    return sum(max(some) + ROOT_PRICE for some in gains)


def information(counts):
    """Mutual information of all rows, in nats."""
    share = counts / counts.sum()
    apart = share.sum(axis=1, keepdims=True) * share.sum(axis=0)
    return float((counts * np.log(np.where(share > 0, share, 1) / np.where(share > 0, apart, 1))).sum())


def partitions(nodes):
    if not nodes:
        yield []
        return
    first, *rest = nodes
    for some in partitions(rest):
        yield [[first], *some]
        yield from ([*some[:k], [first, *part], *some[k + 1 :]] for k, part in enumerate(some))


def states_of_classes(problem, parents):
    keyed = [*by_key(problem, dict(enumerate(parents))).values()]
    for chosen in itertools.product(*(partitions([*families]) for families in keyed)):
        parts = [{node: parents[node] for node in part} for some in chosen for part in some]
        yield make_state(problem, [make_group(problem, one) for one in parts])


def in_order(problem, order):
    """The problem with an order known that was open, as the search has it."""
    n_choices = tuple(int(np.count_nonzero(problem.candidates.stage <= s)) - 1 for s in problem.candidates.stage)
    candidates = problem.candidates.ordered(order)
    return replace(problem, candidates=candidates, n_choices=n_choices).renumbered(order)


def with_blocks(problem, parents, ordered):
    """States of a graph with roots drawn together, in all orders of its nodes; ``ordered`` keeps their problems."""
    if not problem.is_open:
        for together in blocks(problem, parents)[1:]:
            yield keyed_state(problem, parents, together)
        return
    for order in itertools.permutations(range(len(parents))):
        place = {node: k for k, node in enumerate(order)}
        if all(place[p] < place[c] for c, ps in enumerate(parents) for p in ps):
            moved = tuple(tuple(place[p] for p in parents[node]) for node in order)
            if len(blocks(problem, moved)) > 1:
                if order not in ordered:
                    ordered[order] = in_order(problem, list(order))
                yield from with_blocks(ordered[order], moved, ordered)


@dataclass
class Best:
    """The best of all graphs, and how kernels are shared; the nodes of the state may have other numbers."""

    total: float
    share: str
    state: object

    @property
    def parents(self):
        return self._in_columns(self.state.parents)

    @property
    def together(self):
        return self._in_columns(self.state.together)

    def _in_columns(self, families):
        column = self.state.problem.candidates.column
        return tuple(tuple(column[p] for p in families[column.index(c)]) for c in range(len(column)))


def best_of(problem):
    """The best of all graphs for the way that kernels are shared."""
    found = []
    share = problem.share
    if share != "node":
        every = [keyed_state(problem, g) for g in graphs(problem, in_roles=True)]
        top = max(one.total for one in every)
        near, ordered = [one for one in every if one.total + most_drawn(problem, one.parents) > top], {}
        drawn = [one for state in near for one in with_blocks(problem, state.parents, ordered)]
        found.append(("shared", [*every, *drawn], keyed_state(problem, ((),) * problem.n_nodes)))
    if share in ("classes", "auto"):
        every = [one for g in graphs(problem, in_roles=True) for one in states_of_classes(problem, g)]
        found.append(("classes", every, found[0][2]))
    if share != "shared":
        every = [own_state(problem, g) for g in graphs(problem, in_roles=False)]
        found.append(("node", every, own_state(problem, ((),) * problem.n_nodes)))
    options = []
    for name, states, nothing in found:
        enough = [one for one in states if not any(one.parents) or one.total >= nothing.total + EVIDENT]
        options += [Best(one.total, name, one) for one in enough]
    return max(options, key=lambda one: one.total)


def misses(kind, share, order, n_nodes, seeds):
    """Yield (seed, problem, what was found, the best) of a miss; None where the best was reached."""
    for seed in seeds:
        problem = problem_of(kind, share, order, n_nodes, seed)
        if problem is not None:
            found, best = solve(problem), best_of(problem)
            yield None if found.score.total >= best.total - SAME else (seed, problem, found, best)


def main(n_tables):
    for order, n_nodes in itertools.product(("given", "learn"), (3, 4)):
        for share, kind in itertools.product(SHARES, TABLES):
            found = [*misses(kind, share, order, n_nodes, range(n_tables))]
            seen = Counter(one is None for one in found)
            if not found:
                continue
            print(f"{order} {n_nodes} {share:8} {kind:12} missed {seen[False]} of {len(found)}", flush=True)  # noqa: T201
            for seed, problem, solution, best in filter(None, found):
                counts, now = problem.counts, solution.state
                print(f"    seed {seed} sizes {counts.sizes} rows {len(counts.codes)}")  # noqa: T201
                print(f"        {now.total:.3f} {solution.share} {now.parents} {now.together}")  # noqa: T201
                print(f"        {best.total:.3f} {best.share} {best.parents} {best.together}: best")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]))
