"""The score once more, in plain loops over rows, from its formula; the oracle of test_score.

Nothing is shared with the package. Nodes are columns; ``Facts`` says what is known before a search, ``Shape`` what
a search ends with: parents in role order, who shares a kernel, and which roots are drawn together.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from . import brute

HALF = 0.5  # nodes of every in-degree, beforehand
RESERVE, IMPLIED, SAID = 2.0, 3.0, 2.0  # nats of a kernel in classes, of an implied one, of a root that is drawn
OCCURRING = 0.25  # weight of the joint states that occur, in the number that is paid for
EM_ROUNDS = 50
IMPOSSIBLE = 1e-9


@dataclass
class Facts:
    """``order`` holds all columns, ``stage[column]`` what is earlier; ``together_ok(a, b)`` of two roots."""

    rows: list
    sizes: tuple
    order: list
    stage: list
    candidates: list
    weights: list | None = None
    alphabets: tuple = ()
    labels: tuple = ()
    degrees: tuple = (0, 1, 2)
    penalty: object = "nml"
    known: dict = field(default_factory=dict)
    error: float = 0.0
    required: tuple = ()
    together_ok: object = None
    exact: bool = False
    n_choices: list | None = None


@dataclass
class Shape:
    parents: list
    groups: list  # lists of nodes
    together: list
    implied: list  # one truth value for each group
    share: str = "shared"


@cache
def log_normaliser(n, n_states):
    """log Σ n!/Π n_s! Π (n_s/n)^n_s over all (n_1, …, n_S) that sum to n, by convolution."""
    if n == 0 or n_states < 2:
        return 0.0
    tilt = -1 - math.log1p(n_states / n / math.e)  # for each case, so that the sum is about where it is large
    n_log_n_less = [k * math.log(k) - math.lgamma(k + 1) + tilt * k if k else 0.0 for k in range(n + 1)]
    power, total = np.exp(n_log_n_less), np.eye(1, n + 1)[0]  # of 1, 2, 4, … states; of those so far
    log_total = log_power = 0.0
    for bit in reversed(f"{n_states:b}"):
        if bit == "1":
            total, log_total = scaled(np.convolve(total, power)[: n + 1], log_total + log_power)
        power, log_power = scaled(np.convolve(power, power)[: n + 1], 2 * log_power)
    return math.log(total[n]) + log_total + math.lgamma(n + 1) - tilt * n - n * math.log(n)


def scaled(values, log_scale):
    top = values.max()
    return values / top, log_scale + math.log(top)


def price(facts, counts, n_states, n_configurations):
    """What a kernel costs that was estimated from counts {(states of the parents …, of the child): n}."""
    if facts.exact:
        return 0.0
    of_parents = Counter()
    for cell, n in counts.items():
        of_parents[cell[:-1]] += n
    both, parents = length(facts, counts, n_states * n_configurations), length(facts, of_parents, n_configurations)
    return both - parents + entropy_fit(counts)


def length(facts, counts, n_possible):
    """Nats that describe joint states {state: n}: by a distribution that is paid for, or by equally likely ones."""
    seen = [n for n in counts.values() if n > 0]
    cases = sum(seen)
    if not cases:
        return 0.0
    if facts.penalty == "nml":  # the share of what occurs, of what would occur if all were equally likely
        alike = n_possible * (1 - math.exp(-cases / n_possible))
        n_paid = max(round(n_possible * min(len(seen) / alike, 1) ** OCCURRING), 1)
        extra = 2 * math.log(max(cases, 1)) * math.log(n_possible)
    else:
        n_paid = n_possible
    best = sum(n * math.log(cases / n) for n in seen) + cost(facts, cases, n_paid)
    if facts.penalty != "nml":
        return best
    return min(best + extra * (len(seen) / max(cases, 1)) ** 2, cases * math.log(n_possible) + extra)


def cost(facts, cases, n_states):
    """What a distribution of so many states costs after so many cases."""
    if facts.penalty == "nml":
        return log_normaliser(round(cases), n_states)
    if facts.penalty == "bic":
        return (n_states - 1) * math.log(max(cases, 1)) / 2
    return (n_states - 1) * {"aic": 1.0, "none": 0.0}.get(facts.penalty, facts.penalty)


def counted(facts, parents, child):
    """{(states of the parents …, state of the child): weight} over the rows that have them all."""
    out = {}
    for number, row in enumerate(facts.rows):
        cell = tuple(int(row[node]) for node in (*parents, child))
        if min(cell) >= 0:
            out[cell] = out.get(cell, 0.0) + (1.0 if facts.weights is None else float(facts.weights[number]))
    return out


def occurring(facts, nodes):
    return len({int(row[node]) for row in facts.rows for node in nodes if row[node] >= 0})


def n_log_n(n):
    return n * math.log(n) if n > 0 else 0.0


def entropy_fit(counts):
    """Log-likelihood of {cell: n} under the frequencies of the last state given the others."""
    sums = Counter()
    for cell, n in counts.items():
        sums[cell[:-1]] += n
    return sum(map(n_log_n, counts.values())) - sum(map(n_log_n, sums.values()))


def added(tables):
    out = {}
    for counts in tables:
        for cell, n in counts.items():
            out[cell] = out.get(cell, 0.0) + n
    return out


def evened(counts):
    """The mean over all orders of the parents."""
    out = {}
    for cell, n in counts.items():
        orders = list(itertools.permutations(cell[:-1]))
        for one in orders:
            out[*one, cell[-1]] = out.get((*one, cell[-1]), 0.0) + n / len(orders)
    return out


def estimate(facts, counts, shape, error):
    """Frequencies with a pseudo-case in each row, spread as the child is, as an array; errors taken out by EM."""
    table = np.zeros(shape)
    for cell, n in counts.items():
        table[cell] += n
    n_states = shape[-1]
    overall = table.reshape(-1, n_states).sum(axis=0)
    smoothing = 0.0 if facts.exact else 1.0
    prior = smoothing * (overall + 1 / n_states) / (overall.sum() + 1)
    found = normed(table + prior)
    for _ in range(EM_ROUNDS if error else 0):
        shown = (1 - error) * found + error / n_states
        found = normed(table * (1 - error) * found / np.maximum(shown, 1e-300) + prior)
    return found


def normed(table):
    sums = table.sum(axis=-1, keepdims=True)
    return np.where(sums > 0, table / np.where(sums > 0, sums, 1), 1 / table.shape[-1])


def fit_under(counts, table, error):
    shown = (1 - error) * np.asarray(table) + error / np.shape(table)[-1]
    return sum(n * math.log(max(float(shown[cell]), 1e-300)) for cell, n in counts.items())


def best_fit(facts, counts, shape, error):
    return fit_under(counts, estimate(facts, counts, shape, error), error) if error else entropy_fit(counts)


def n_orders(alphabets):
    return math.log(math.prod(math.factorial(n) for n in Counter(alphabets).values()))


def is_even(table):
    return all(
        np.allclose(table, np.transpose(table, (*order, len(order))), atol=1e-12)
        for order in itertools.permutations(range(np.ndim(table) - 1))
    )


def sizes_of(facts, parents, child):
    return tuple(facts.sizes[node] for node in (*parents, child))


def group_value(facts, families, given=None, paid=0.0):
    """(fit, price, roles, counts, symmetric) of the nodes that share a kernel, ``families`` = {child: parents}."""
    child, parents = next(iter(families.items()))
    shape, orders = sizes_of(facts, parents, child), n_orders([facts.alphabets[p] for p in parents])
    counts = added(counted(facts, ps, node) for node, ps in families.items())
    if given is None and parents and len(parents) in facts.known:
        given = facts.known[len(parents)]
    if given is not None:
        roles = 0.0 if facts.exact or is_even(given) else orders * len(families)
        return fit_under(counts, given, facts.error), paid, roles, counts, is_even(given)
    error = facts.error if parents else 0.0
    n_states = occurring(facts, families)
    per_role = [occurring(facts, {ps[role] for ps in families.values()}) for role in range(len(parents))]
    roles = orders * len(families) if len(families) > 1 and not facts.exact else 0.0
    ordered = best_fit(facts, counts, shape, error), price(facts, counts, n_states, math.prod(per_role)), roles
    if len(families) < 2 or len(parents) < 2 or len({facts.alphabets[p] for p in parents}) > 1:
        return *ordered, counts, len(parents) < 2
    in_any_role = occurring(facts, {p for ps in families.values() for p in ps})
    unordered = math.comb(in_any_role + len(parents) - 1, len(parents))
    even, merged = evened(counts), added({(*sorted(cell[:-1]), cell[-1]): n} for cell, n in counts.items())
    symmetric = best_fit(facts, even, shape, error), price(facts, merged, n_states, unordered), 0.0
    if ordered[0] - ordered[1] - ordered[2] > symmetric[0] - symmetric[1] + 1e-10:
        return *ordered, counts, False
    return *symmetric, even, True


def estimated(facts, families):
    """The kernel of a group, as implied kernels and laws of roots are made from it."""
    child, parents = next(iter(families.items()))
    if len(parents) in facts.known:
        table = np.asarray(facts.known[len(parents)], dtype=float)
        return table, is_even(table)
    *_, counts, symmetric = group_value(facts, families)
    return estimate(facts, counts, sizes_of(facts, parents, child), facts.error), symmetric


def implied_tables(facts, families):
    """Kernels of one parent that one of two implies: the other parent is averaged with the stationary marginal."""
    table, symmetric = estimated(facts, families)
    found = []
    for order in [(0, 1), (1, 0)][: 1 if symmetric else 2]:
        turned = table.transpose(*order, 2)
        law = brute.stationary(turned)
        marginal = law.sum(axis=1)
        for stays in range(1 if symmetric else 2):
            other = 1 - stays
            one = sum(marginal[s] * np.take(turned, s, axis=other) for s in range(len(marginal)))
            found.append(one)
    return found


def root_laws(facts, families, *, known):
    """Distributions [earlier root, next root] that a kernel of two parents implies."""
    table, symmetric = estimated(facts, families)
    orders = [(0, 1), (1, 0)][: 1 if symmetric or known else 2]
    return [normed(brute.stationary(table.transpose(*order, 2))) for order in orders]


def restaurant(sizes, alpha):
    n = sum(sizes)
    top = math.prod(alpha * math.factorial(size - 1) for size in sizes)
    return top / math.prod(alpha + k for k in range(n))


def partition_price(sizes):
    return -math.log((restaurant(sizes, 1.0) + restaurant(sizes, float(max(sum(sizes), 1)))) / 2)


def sharing_price(facts, keyed):
    """``keyed`` = {key: sizes of its groups}; keys are (label, alphabets of the parents, of the child)."""
    if facts.exact:
        return 1e-9 * sum(map(len, keyed.values()))
    if all(size == 1 for sizes in keyed.values() for size in sizes):
        return 0.0
    with_parents = [sizes for key, sizes in keyed.items() if key[1]]
    several = [[size for size in sizes if size > 1] for key, sizes in keyed.items() if not key[1]]
    total = sum(partition_price(sizes) for sizes in several if len(sizes) > 1)
    if all(len(sizes) == 1 for sizes in with_parents):
        return total
    for sizes in with_parents:
        n = sum(sizes)
        total += RESERVE * len(sizes) + math.log(min(n, 3))
        if len(sizes) not in (1, n):
            total += partition_price(sizes)
    return total


def gap_price(facts, child, cases, n_all):
    rest, n_states = n_all - cases, occurring(facts, [child])
    if rest <= 0 or facts.exact:
        return 0.0
    return min(cost(facts, rest, n_states), (n_states - 1) / 2 * max(rest / max(cases, 1) - 1, 0))


def degrees_open_to(facts, child):
    least = sum(1 for _, node in facts.required if node == child)
    possible = [d for d in facts.degrees if least <= d <= len(facts.candidates[child])]
    return possible or [min(least, len(facts.candidates[child]))]


def set_price(facts, child, degree):
    """log of how many parent sets of this size the node might have had; and next to nothing for each parent."""
    if facts.exact:
        return 1e-9 * degree
    if facts.n_choices is not None:
        return math.log(math.comb(facts.n_choices[child], degree)) + 1e-6 * degree
    n_required = sum(1 for _, node in facts.required if node == child)
    n_sets = math.comb(len(facts.candidates[child]) - n_required, degree - n_required)
    return math.log(n_sets) + 1e-6 * degree


def degrees_price(facts, parents):
    """Every node says its number of parents, those of the nodes before it and half a node of each being known."""
    if facts.exact:
        return 0.0
    seen, total = Counter(), 0.0
    for child in facts.order:
        free = degrees_open_to(facts, child) == list(facts.degrees)
        if facts.n_choices is not None:
            free = facts.n_choices[child] >= max(facts.degrees)
        if free:
            degree = len(parents[child])
            total -= math.log((seen[degree] + HALF) / (sum(seen.values()) + HALF * len(facts.degrees)))
            seen[degree] += 1
    return total


def n_open_blocks(facts, shape, child):
    """To how many blocks of earlier roots the node might be added: nobody follows from them in an earlier stage."""
    blocks, followed = [], set()
    for place, node in enumerate(facts.order):
        if place and facts.stage[node] != facts.stage[facts.order[place - 1]]:
            blocks = [block for block in blocks if not followed & set(block)]
        if node == child:
            break
        block = tuple(shape.together[node])
        if shape.parents[node]:
            followed.update(shape.parents[node])
        else:
            blocks = [*(one for one in blocks if not block or one != block), (*block, node)]
    alike = [b for b in blocks if len(b) < 2 and facts.alphabets[b[0]] == facts.alphabets[child]]
    return sum(all(facts.together_ok(child, one) for one in b) for b in alike)


def plain_score(facts, shape):
    """The parts of the score, by the names of ``Score``."""
    family = {node: tuple(ps) for node, ps in enumerate(shape.parents)}
    key = {
        node: (facts.labels[node], tuple(facts.alphabets[p] for p in ps), facts.alphabets[node])
        for node, ps in family.items()
    }
    whole = [
        {node: family[node] for node in nodes}
        for nodes in shape.groups
        if len(family[nodes[0]]) == 2 and {*key[nodes[0]][1]} == {key[nodes[0]][2]}
    ]
    parts = dict.fromkeys(("gain", "kernels", "roles", "sets", "degrees", "sharing", "gaps"), 0.0)
    for nodes, implied in zip(shape.groups, shape.implied, strict=True):
        families = {node: family[node] for node in nodes}
        options = [group_value(facts, families)[:3]]
        source = [one for one in whole if key[next(iter(one))][::2] == key[nodes[0]][::2]]
        if implied:
            tables = implied_tables(facts, source[0])
            paid = IMPLIED + math.log(len(tables))
            options = [group_value(facts, families, table, paid)[:3] for table in tables]
        fit, cost, roles = max(options, key=lambda one: one[0] - one[1] - one[2])
        parts["gain"] += fit
        parts["kernels"] += cost
        parts["roles"] += roles
    keyed = {}
    for nodes in shape.groups:
        keyed.setdefault(key[nodes[0]], []).append(len(nodes))
    parts["sharing"] = sharing_price(facts, keyed)
    parts["degrees"] = degrees_price(facts, shape.parents)
    for child, ps in family.items():
        alone = counted(facts, (), child)
        n_all = sum(alone.values())
        block = tuple(shape.together[child])
        cells = counted(facts, block or ps, child)
        cases = sum(cells.values())
        if block:  # its gain is less the prices of the law and of gaps
            parts["gain"] -= gap_price(facts, child, cases, n_all)
            source = next(one for one in whole if key[next(iter(one))][2] == facts.alphabets[child])
            laws = root_laws(facts, source, known=bool(facts.known))
            share = {cell[0]: n / n_all for cell, n in alone.items()}
            gains = [
                sum(
                    n * (math.log(max(law[cell], IMPOSSIBLE)) - math.log(share[cell[-1]]))
                    for cell, n in cells.items()
                )
                for law in laws
            ]
            parts["gain"] += max(gains) - (0.0 if facts.exact else SAID + math.log(len(laws)))
            parts["sets"] += 0.0 if facts.exact else math.log(max(n_open_blocks(facts, shape, child), 1))
            continue
        parts["gaps"] += gap_price(facts, child, cases, n_all)
        own = Counter()
        for cell, n in cells.items():
            own[cell[-1:]] += n
        parts["gain"] -= entropy_fit(own)
        parts["sets"] += set_price(facts, child, len(ps))
    return parts
