"""Slow, plain versions of the guides and of what the search adds to them, written from the definitions.

Loops over rows, states and subsets, one number at a time. Nothing is shared with the package: rows are codes with
-1 for a gap, ``sizes`` the numbers of states, ``weights`` one number per row or None.
"""

from __future__ import annotations

import itertools
import math

import numpy as np


def weight_of(weights, row):
    return 1.0 if weights is None else float(weights[row])


def family(codes, sizes, weights, parents, child):
    """Counts [parents …, child] over the rows in which all of them have a value."""
    out = np.zeros([*(sizes[p] for p in parents), sizes[child]])
    for row, states in enumerate(codes):
        cell = tuple(int(states[node]) for node in (*parents, child))
        if min(cell) >= 0:
            out[cell] += weight_of(weights, row)
    return out


def gain(codes, sizes, weights, kernel, parents, child):
    """Σ_rows log π(S_i | parents) − log P_i(S_i) over complete rows."""
    law = family(codes, sizes, weights, (), child)
    total = 0.0
    for row, states in enumerate(codes):
        cell = tuple(int(states[node]) for node in (*parents, child))
        if min(cell) >= 0:
            own = law[cell[-1]] / law.sum()
            total += weight_of(weights, row) * (math.log(max(kernel[cell], 1e-9)) - math.log(own))
    return total


def contextual(full, kernel, parents, head, child):
    """−KL(P_j k ‖ P_ij) of one head, k(s' | s) = Σ_o π(s' | s, o) P(others = o | S_j = s), from the full table.

    ``full`` has one axis per node; ``parents`` are in role order.
    """
    n_states, j = kernel.shape[-1], parents[head]
    pair = np.zeros((n_states, n_states))  # P(S_j = s, S_i = s')
    context = np.zeros(kernel.shape[:-1])  # P(parents = …)
    for states in np.ndindex(full.shape):
        pair[states[j], states[child]] += full[states]
        context[tuple(states[p] for p in parents)] += full[states]
    score = 0.0
    for s in range(n_states):
        law = pair[s].sum()  # P_j(s)
        for after in range(n_states):
            k = 0.0
            for configuration in np.ndindex(context.shape):
                if configuration[head] == s and law > 0:
                    k += kernel[(*configuration, after)] * context[configuration] / law
            if law * k > 0:
                score -= law * k * math.log(law * k / max(pair[s, after], 1e-300))
    return score


def regret(n, n_states):
    """log Σ over all (n_1 … n_S) with Σ n_s = n of n!/(Π n_s!) Π (n_s/n)^(n_s): the normaliser of the NML law."""
    total = 0.0
    for split in itertools.product(range(n + 1), repeat=n_states - 1):
        if sum(split) <= n:
            counts = (*split, n - sum(split))
            ways = math.factorial(n) // math.prod(math.factorial(c) for c in counts)
            total += ways * math.prod((c / n) ** c for c in counts if c)
    return math.log(total)


def fitted(counts):
    """Log-likelihood of the best table for counts [configuration …, state of the child]."""
    total = 0.0
    for row in counts.reshape(-1, counts.shape[-1]):
        total += sum(c * math.log(c / row.sum()) for c in row if c > 0)
    return total


def occurring(codes, child):
    """How many states of the child occur; which these are is said beforehand, so nobody pays for the others."""
    return len({int(code) for code in codes[:, child] if code >= 0})


def own_value(codes, sizes, weights, parents, child, price):
    """Gain of a kernel of its own over the child's law, less ``price(n)`` for each configuration seen n times.

    Without parents the law may also be even odds, which have no price. Rows in which the child has a value and a
    parent has none are described by the child's law in the others, or by one of their own.
    """
    counts = family(codes, sizes, weights, parents, child)
    if not parents:
        even = -counts.sum() * math.log(max(occurring(codes, child), 1)) - fitted(counts[None])
        return max(-price(counts.sum()), even)
    overall = counts.reshape(-1, sizes[child]).sum(axis=0)
    better = fitted(counts) - fitted(overall[None])
    better -= sum(price(row.sum()) for row in counts.reshape(-1, sizes[child]))
    rest = family(codes, sizes, weights, (), child).sum() - counts.sum()
    if rest > 1e-9:
        better -= min(price(rest), (occurring(codes, child) - 1) / 2 * rest / max(counts.sum(), 1))
    return better


def mostly_missing(codes, sizes, weights, parents, child):
    """Price (NML) of the rows in which the child has a value and a parent has none, if these are most of them."""
    cases = int(family(codes, sizes, weights, parents, child).sum())
    rest = int(family(codes, sizes, weights, (), child).sum()) - cases
    if rest <= cases:
        return 0.0
    n_states = occurring(codes, child)
    return min(regret(rest, n_states), (n_states - 1) / 2 * (rest / max(cases, 1) - 1))


def best_set(candidates, required, size, value):
    """The set of a size, the required ones in it, with the largest value(set); None where there is none."""
    sets = [s for s in itertools.combinations(sorted(candidates), size) if set(required) <= set(s)]
    return max(sets, key=value, default=None)


def best_tuple(candidates, required, size, value):
    """The tuple of different candidates, the required ones in it, with the largest value(tuple)."""
    tuples = [t for t in itertools.permutations(candidates, size) if set(required) <= set(t)]
    return max(tuples, key=value, default=None)


def log_binomial(n, k):
    return math.log(math.comb(n, k))


def mutual_information(codes, sizes, i, j):
    """Plug-in mutual information of two columns without gaps, in nats."""
    counts = family(codes, sizes, None, (i,), j)
    total = 0.0
    for s, t in np.ndindex(counts.shape):
        if counts[s, t] > 0:
            expected = counts[s].sum() * counts[:, t].sum() / counts.sum()
            total += counts[s, t] / counts.sum() * math.log(counts[s, t] / expected)
    return total


def symmetric_table(table):
    """The mean over all orders of the parents, cell by cell."""
    out = np.zeros(table.shape)
    for cell in np.ndindex(table.shape):
        orders = list(itertools.permutations(cell[:-1]))
        out[cell] = sum(table[(*order, cell[-1])] for order in orders) / len(orders)
    return out
