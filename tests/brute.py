"""Slow, plain versions of everything, written from the definitions: the oracle of the tests.

Nothing here is shared with the package but its input records; full tables over all S^T states are fine
because the graphs are tiny.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from kgmi import Kernel, Process


def stationary(table):
    """Stationary law on K-tuples from a dense eigenproblem."""
    n_states = table.shape[-1]
    tuples = list(itertools.product(range(n_states), repeat=table.ndim - 1))
    step = np.zeros((len(tuples), len(tuples)))
    for row, past in enumerate(tuples):
        for state in range(n_states):
            step[row, tuples.index((*past[1:], state))] += table[(*past, state)]
    values, vectors = np.linalg.eig(step.T)
    law = np.real(vectors[:, np.argmin(np.abs(values - 1))])
    return (law / law.sum()).reshape(table.shape[:-1])


def marginal_kernel(table, law, head):
    """π^ℓ(s' | s) as [s, s'] by summing over all parent tuples."""
    n_states = table.shape[-1]
    out = np.zeros((n_states, n_states))
    weight = np.zeros(n_states)
    for past in itertools.product(range(n_states), repeat=table.ndim - 1):
        weight[past[head]] += law[past]
        out[past[head]] += law[past] * table[past]
    return out / weight[:, None]


def full_table(process: Process):
    """P(x_0, …, x_{T-1}) as an array with T axes, cell by cell."""
    dag, kernel, n_states = process.dag, process.kernel, process.n_states
    assert isinstance(kernel, Kernel)
    law = kernel.stationary
    full = np.zeros((n_states,) * dag.n_nodes)
    for states in itertools.product(range(n_states), repeat=dag.n_nodes):
        p = 1.0
        for block in dag.root_blocks:
            rest = tuple(range(len(block), law.ndim))
            p *= law.sum(axis=rest)[tuple(states[r] for r in block)]
        for child, parents in enumerate(dag.parents):
            if parents:
                table = process.degree_kernels.get(len(parents))
                table = kernel.marginalise(len(parents)).table if table is None else table.table
                p *= table[(*(states[q] for q in parents), states[child])]
        full[states] = p
    return full


def pair_joint(full):
    """[i, j, s', s] from the full table; the diagonal pair is diagonal."""
    n_nodes, n_states = full.ndim, full.shape[0]
    out = np.zeros((n_nodes, n_nodes, n_states, n_states))
    for states in itertools.product(range(n_states), repeat=n_nodes):
        for i in range(n_nodes):
            for j in range(n_nodes):
                out[i, j, states[i], states[j]] += full[states]
    return out


def count_pairs(rows, n_states):
    """[i, j, s', s] counted one cell at a time."""
    n_nodes = rows.shape[1]
    out = np.zeros((n_nodes, n_nodes, n_states, n_states), dtype=np.int64)
    for row in rows:
        for i in range(n_nodes):
            for j in range(n_nodes):
                out[i, j, row[i], row[j]] += 1
    return out


F = {
    "kl": lambda x: x * math.log(x),
    "pearson": lambda x: x * x - x,
    "neyman": lambda x: 1 / x - 1,
    "hellinger": lambda x: (math.sqrt(x) - 1) ** 2,
    "reverse-kl": lambda x: -math.log(x),
    "jensen-shannon": lambda x: 0.5 * (x * math.log(x) - (x + 1) * math.log((x + 1) / 2)),
    "total-variation": lambda x: 0.5 * abs(x - 1),
}


def f_information(joint, f):
    """I_f of one pair [s', s] with full support."""
    p, q = joint.sum(axis=1), joint.sum(axis=0)
    return sum(p[a] * q[b] * f(joint[a, b] / (p[a] * q[b])) for a in range(len(p)) for b in range(len(q)))


def kg_information(joint, kernel, f):
    """KG-MI of one pair [s', s] with full support, literally as in the paper; kernel is [s, s']."""
    p, q = joint.sum(axis=1), joint.sum(axis=0)
    total = 0.0
    for a in range(len(p)):
        for b in range(len(q)):
            ratio = joint[a, b] / (p[a] * q[b])
            total += q[b] * kernel[b, a] * p[a] * q[b] / joint[a, b] * f(ratio)
    return total


def ascend(scores, rate, epochs):
    """Gradient ascent, one column and one candidate at a time, from Q = 0; attention [head, child, candidate]."""
    n_heads, n_nodes, _ = scores.shape
    out = np.zeros(scores.shape)
    for head in range(n_heads):
        for child in range(1, n_nodes):
            q = [0.0] * child
            for step in range(epochs + 1):
                top = max(q)
                powers = [math.exp(v - top) for v in q]
                attention = [v / sum(powers) for v in powers]
                if step == epochs:
                    break
                mean = sum(a * scores[head, child, j] for j, a in enumerate(attention))
                for j in range(child):
                    q[j] += rate / (n_heads * n_nodes) * attention[j] * (scores[head, child, j] - mean)
            out[head, child, :child] = attention
    return out


def labelled_scores(rows, uniform, label, n_states, kappa=0.0):
    """Appendix C-B as printed, one sequence, head, pair and pair of states at a time; NaN off the candidates."""
    n_rows, n_nodes = rows.shape
    n_heads = uniform.shape[1]
    out = np.full((n_heads, n_nodes, n_nodes), np.nan)
    for head, i, j in itertools.product(range(n_heads), range(n_nodes), range(n_nodes)):
        if j >= i:
            continue
        total = 0.0
        for row, tokens, y in zip(rows, uniform, label, strict=True):
            for s, s_child in itertools.product(range(n_states), repeat=2):
                if y == s_child and tokens[head] == s and row[i] == s_child and row[j] == s:
                    frequency = sum(state == s_child for state in row) / n_nodes
                    total += n_states / (frequency + kappa)
        out[head, i, j] = total / n_rows - 1
    return out


def expected_pair_share(full, kappa=0.0):
    """[i, j, s', s]: E 1[S_i = s'] 1[S_j = s] / (μ̂(s') + κ), with μ̂ the frequencies in the sequence itself."""
    n_nodes, n_states = full.ndim, full.shape[0]
    out = np.zeros((n_nodes, n_nodes, n_states, n_states))
    for states in itertools.product(range(n_states), repeat=n_nodes):
        for i, j in itertools.product(range(n_nodes), repeat=2):
            share = states.count(states[i]) / n_nodes + kappa
            out[i, j, states[i], states[j]] += full[states] / share
    return out
