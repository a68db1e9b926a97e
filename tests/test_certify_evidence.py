"""The evidence against plain sums over rows, and against exact sums over all possible tables."""

from dataclasses import replace
from itertools import combinations, pairwise, permutations, product
from math import exp, inf, log

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, sample
from kgmi.certify.counts import all_sets, count_sets
from kgmi.certify.evidence import Evidence
from kgmi.certify.hypotheses import affordable, hypotheses_of
from kgmi.certify.judge import judge
from kgmi.certify.judged import Verdicts
from kgmi.certify.laws import averaged, best_fit, predicted
from kgmi.certify.run import Stream
from kgmi.certify.timeline import next_checkpoint
from kgmi.counts.bits import RowCounts
from kgmi.learning.certified import learn_and_keep
from kgmi.learning.searched import problem_of


def problem_from(rows, **options):
    witness = learn_and_keep(np.asarray(rows), options).witness
    return problem_of(witness.data, witness.known(), witness.settings)


def counted(rows):
    """Counts of binary rows."""
    return RowCounts(rows, (2,) * rows.shape[1])


def plain_counts(rows, child, nodes, n_states):
    counts = np.zeros((*(n_states,) * len(nodes), n_states))
    for row in rows:
        counts[(*row[list(nodes)], row[child])] += 1
    return counts


def plain_fit(counts):
    """Greatest log-likelihood of counts [configuration …, state]."""
    total = 0.0
    for cells in counts.reshape(-1, counts.shape[-1]):
        total += sum(n * log(n / cells.sum()) for n in cells if n)
    return total


def plain_prediction(rows, child, nodes, n_states):
    """One row after the other, each predicted with half a pseudo-case for every state."""
    counts = np.zeros((*(n_states,) * len(nodes), n_states))
    total = 0.0
    for row in rows:
        cells = counts[tuple(row[list(nodes)])]
        total += log((cells[row[child]] + 0.5) / (cells.sum() + n_states / 2))
        cells[row[child]] += 1
    return total


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_all_sets_are_counted_as_one_by_one(size):
    rows = np.random.default_rng(70).integers(0, 3, (60, 6))
    nodes = (0, 2, 3, 4)
    counts = count_sets(RowCounts(rows, (3,) * 6), 5, nodes, size, 3, 3)
    sets = all_sets(nodes, size)
    assert [tuple(one) for one in sets] == list(combinations(nodes, size))
    for one, found in zip(sets, counts, strict=True):
        expected = plain_counts(rows, 5, one, 3)
        np.testing.assert_array_equal(found, expected)
        assert best_fit(found[None])[0] == pytest.approx(plain_fit(expected))
        assert predicted(found[None], 3)[0] == pytest.approx(plain_prediction(rows, 5, one, 3))


def test_required_nodes_are_in_every_set():
    assert [tuple(one) for one in all_sets((0, 1, 2, 3), 2, (1,))] == [(0, 1), (1, 2), (1, 3)]


def test_a_bet_split_evenly_is_the_mean():
    logs = np.array([-3.0, -700.0, -2.0])
    assert averaged(logs) == pytest.approx(log(np.exp(logs).mean()))
    assert averaged(np.array([-inf, -inf])) == -inf


def test_known_kernels_bet_on_every_tuple_and_on_roots():
    kernel = Kernel.random(2, 2, rng=71)
    rows = sample(Process(Dag.paper(5), kernel), 40, rng=72)
    problem = problem_from(rows, kernel=kernel)
    stream = Stream(problem, 40)
    evidence = stream.evidence(4)
    evidence.add(counted(rows[:15]), {})
    evidence.add(counted(rows[15:]), {})
    look = evidence.look()
    logs = {
        pair: sum(log(kernel.table[row[pair[0]], row[pair[1]], row[4]]) for row in rows)
        for pair in permutations(range(4), 2)
    }
    for parents in combinations(range(4), 2):
        assert look.fit_of(parents) == pytest.approx(max(logs[parents], logs[parents[::-1]]))
    together = kernel.stationary / kernel.stationary.sum(axis=1, keepdims=True)
    drawn = [sum(log(together[row[node], row[4]]) for row in rows) for node in range(4)]
    own = plain_prediction(rows, 4, (), 2)
    assert look.fit_of(()) == pytest.approx(max([plain_fit(plain_counts(rows, 4, (), 2)), *drawn]))
    mean = lambda values: log(np.mean(np.exp(np.array(values))))  # noqa: E731
    assert look.log_bet == pytest.approx(mean([mean(list(logs.values())), mean([own, mean(drawn)])]))


def test_learned_kernels_bet_on_what_earlier_rows_say():
    kernel = Kernel.random(2, 2, rng=73)
    rows = sample(Process(Dag.paper(5), kernel), 30, rng=74)
    problem = problem_from(rows, n_parents=2, n_states=2)
    evidence = Evidence(problem, hypotheses_of(problem, 3), {}, {})
    evidence.add(counted(rows[:10]), {})
    tables = {(0, 0): np.random.default_rng(75).dirichlet([2, 2], (2, 2)), (0,): np.array([[0.2, 0.8], [0.7, 0.3]])}
    evidence.add(counted(rows[10:]), tables)
    look = evidence.look()
    alone = plain_prediction(rows[:10], 3, (), 2)
    pairs = [
        alone + sum(log(tables[0, 0][row[a], row[b], row[3]]) for row in rows[10:])
        for a, b in permutations(range(3), 2)
    ]
    singles = [alone + sum(log(tables[0,][row[a], row[3]]) for row in rows[10:]) for a in range(3)]
    mean = lambda values: log(np.mean(np.exp(np.array(values))))  # noqa: E731
    own = plain_prediction(rows, 3, (), 2)
    shared = mean([own, mean(singles), mean(pairs)])
    by_size = [mean([plain_prediction(rows, 3, one, 2) for one in combinations(range(3), k)]) for k in (1, 2)]
    assert look.log_bet == pytest.approx(mean([shared, mean([own, *by_size])]))
    for parents in ((1,), (0, 2)):
        assert look.fit_of(parents) == pytest.approx(plain_fit(plain_counts(rows, 3, parents, 2)))


@pytest.mark.parametrize("known", [True, False])
def test_under_a_true_hypothesis_the_evidence_is_worth_at_most_one_on_average(known):
    # All values that a child of two columns can take in four rows, the columns being what they are.
    kernel = Kernel(np.array([[[0.8, 0.2], [0.3, 0.7]], [[0.4, 0.6], [0.1, 0.9]]]))
    given = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1]])
    seen = np.column_stack([np.tile(given, (10, 1)), np.random.default_rng(76).integers(0, 2, 40)])
    problem = problem_from(seen, kernel=kernel) if known else problem_from(seen, n_parents=2, n_states=2)
    stream = Stream(problem, 4)
    mean, worth = 0.0, 0.0
    for values in product(range(2), repeat=4):
        rows = np.column_stack([given, values])
        evidence = stream.evidence(3)
        evidence.add(counted(rows[:2]), {})
        evidence.add(counted(rows[2:]), {} if known else {(0, 0): kernel.table})
        look = evidence.look()
        chance = np.prod([kernel.table[row[0], row[2], row[3]] for row in rows])
        mean += chance * exp(look.log_bet - look.fit_of((0, 2)))
        worth += exp(look.log_bet)
    assert worth == pytest.approx(1.0)  # the bet is a law: its probabilities sum to one
    assert mean <= 1 + 1e-12


def test_the_rows_may_come_in_any_batches():
    rows = sample(Process(Dag.paper(5), Kernel.paper()), 150, rng=77)
    problem = problem_from(rows, n_parents=2)
    looks = []
    for cuts in ([], [1, 33, 100], list(range(10, 150, 10))):
        stream = Stream(problem, 150)
        evidence = stream.evidence(4)
        for part in np.split(rows, cuts):
            for piece, tables_of in stream.pieces(part):
                evidence.add(piece, tables_of(4))
        looks.append(evidence.look().log_bet)
    assert looks[1] == pytest.approx(looks[0])
    assert looks[2] == pytest.approx(looks[0])


def test_no_kernel_is_learned_from_the_rows_that_it_predicts():
    rows = sample(Process(Dag.paper(5), Kernel.paper()), 200, rng=78)
    changed = rows.copy()
    changed[125:] = changed[125:][::-1]
    tables = []
    for one in (rows, changed):
        stream = Stream(problem_from(rows, n_parents=2), 200)
        tables.append([tables_of(4) for piece, tables_of in stream.pieces(one)])
    bounds = np.cumsum(
        [0, *(int(piece.n_rows) for piece, _ in Stream(problem_from(rows, n_parents=2), 9).pieces(rows))]
    )
    for start, before, after in zip(bounds, *tables, strict=False):
        if start <= 125:
            assert before.keys() == after.keys()
            assert all(np.array_equal(before[key], after[key]) for key in before)


def test_checkpoints_grow_with_the_rows():
    points = [0]
    while points[-1] < 400:
        points.append(next_checkpoint(points[-1]))
    assert points[:5] == [0, 32, 40, 50, 63]
    assert all(late / early < 1.3 for early, late in pairwise(points[1:]))


def test_what_is_open_for_a_node():
    rows = np.random.default_rng(79).integers(0, 2, (50, 5))
    problem = problem_from(rows, n_parents=2)
    first, second, last = (hypotheses_of(problem, child) for child in (0, 1, 4))
    assert not first.has_alternative
    assert second.has_alternative
    assert second.degrees == (0, 1)
    assert last.degrees == (0, 1, 2)
    assert last.may_be_drawn
    uniform = problem_from(rows, n_parents=2, in_degree="uniform")
    assert not hypotheses_of(uniform, 1).has_alternative
    assert [(f.size, f.as_parents, f.as_block) for f in hypotheses_of(uniform, 4).families] == [
        (2, True, False),
        (1, False, True),
    ]
    told = problem_from(rows, n_parents=2, roots=[0, 1], required=[(0, 2), (1, 2)])
    assert not hypotheses_of(told, 2).has_alternative
    assert not hypotheses_of(told, 4).may_be_drawn
    assert not hypotheses_of(problem_from(rows, n_parents=1), 4).may_be_drawn


def test_what_takes_too_long_is_not_looked_at():
    rows = np.random.default_rng(80).integers(0, 2, (50, 12))
    problem = problem_from(rows, n_parents=3)
    assert affordable(problem, 50, 16) == frozenset(range(12))
    few = affordable(problem, 50, 16, patience=1e-3)
    assert 0 < len(few) < 12
    assert few == frozenset(range(len(few)))  # the first nodes have the fewest candidates


@pytest.mark.parametrize(
    ("seed", "tiers"), [(1, None), (2, [[0, 1], [2, 3], [4, 5]]), (3, [[0], [1], [2, 3], [4, 5]])]
)
def test_what_is_certain_does_not_depend_on_the_numbers_of_the_nodes(seed, tiers):
    process = Process(Dag([(), (), (0, 1), (0, 1), (2, 3), (3,)]), Kernel.random(2, 2, rng=seed, concentration=0.3))
    rows = sample(process, 600, rng=seed).astype(np.int64)
    stream = Stream(problem_from(rows, n_parents=2, **({} if tiers is None else {"tiers": tiers})), len(rows))
    stages = [
        next(n for n, tier in enumerate(tiers or [[node] for node in range(6)]) if k in tier) for k in range(6)
    ]
    looks = stream.looks(list(stream.pieces(rows)))
    names = tuple("abcdef")
    plain = judge(Verdicts(stream.open_to, looks, process.dag.parents, names, False, 0.05, len(rows), stages))
    assert any(node.certified for node in plain)
    # Inside a tier the order stays, as it decides whom a root may be drawn with.
    numbers = np.array([3, 5, 1, 2, 0, 4])
    old = np.argsort(numbers)

    def named(nodes):
        return tuple(numbers[list(nodes)].tolist())

    def family(one):
        return replace(one, nodes=tuple(sorted(named(one.nodes))))

    open_to = [
        replace(
            stream.open_to[node],
            child=int(numbers[node]),
            families=tuple(map(family, stream.open_to[node].families)),
            required=named(stream.open_to[node].required),
        )
        for node in old
    ]
    moved = {
        int(numbers[node]): replace(
            look,
            families=tuple(map(family, look.families)),
            sets=tuple(np.sort(numbers[sets], axis=1) for sets in look.sets),
        )
        for node, look in looks.items()
    }
    dag = process.dag.renumbered(numbers)
    known = (open_to, moved, dag.parents, [names[k] for k in old], False, 0.05, len(rows), [stages[k] for k in old])
    for node, found in enumerate(judge(Verdicts(*known))):
        assert replace(found, hardest=None, reason="") == replace(plain[old[node]], hardest=None, reason="")
