"""The model check: how often it is wrong where the model holds, and what it finds where it does not."""

from __future__ import annotations

import numpy as np
import pytest

import kgmi
from kgmi.candidates import candidate_sets
from kgmi.checks import LEVEL, Group, Subject, check_model
from kgmi.checks import dependence as dependence_module
from kgmi.checks import rows as rows_module
from kgmi.checks.kernels import check_kernels
from kgmi.checks.parents import check_parents
from kgmi.checks.repeats import REPEATS_LEVEL, find_repeats
from kgmi.checks.rows import check_rows
from kgmi.counts.bits import RowCounts
from kgmi.kernel.tunables import random_tunables

NAMES = tuple(f"X{n + 1}" for n in range(30))


def subject_of(process, rows, *, parents=None, known=False, symmetric=False, short=()):
    """The true graph, or another one, as if it had been learned."""
    parents = parents or process.dag.parents
    n_nodes = len(parents)
    children = tuple(node for node in range(n_nodes) if parents[node])
    return Subject(
        observed=RowCounts(rows, (process.n_states,) * n_nodes),
        parents=parents,
        given=parents,
        candidates=candidate_sets(n_nodes, names=NAMES[:n_nodes]),
        n_heads=max(map(len, parents)),
        groups=(Group(children, process.kernel.table if known else None, symmetric),),
        names=NAMES[:n_nodes],
        rows=rows,
        short=short,
    )


def paper_process(rng):
    return kgmi.Process(kgmi.Dag.paper(), kgmi.Kernel.paper(random_tunables(rng)))


# Where the model holds


@pytest.mark.parametrize("n_rows", [60, 400])
def test_alarms_are_rare_where_the_model_holds(n_rows):
    rng = np.random.default_rng(41)
    alarms = np.zeros(3)
    for _ in range(300):
        process = paper_process(rng)
        rows = kgmi.sample(process, n_rows, rng=rng)
        known = check_kernels(subject_of(process, rows, known=True))
        subject = subject_of(process, rows)
        alarms += [check.passed is False for check in (check_kernels(subject), check_parents(subject), known)]
    assert (alarms <= 10).all()  # 3 are expected; more than 10 happen once in 1,500 such tests


def test_alarms_are_rare_where_states_are_rare():
    rng = np.random.default_rng(42)
    alarms = np.zeros(3)
    for _ in range(300):
        table = rng.dirichlet(np.full(3, 0.3), size=(3, 3)) * 0.99 + 0.01 / 3
        process = kgmi.Process(kgmi.Dag.random(8, 2, rng=rng), kgmi.Kernel(table))
        rows = kgmi.sample(process, 300, rng=rng)
        known = check_kernels(subject_of(process, rows, known=True))
        subject = subject_of(process, rows)
        alarms += [check.passed is False for check in (check_kernels(subject), check_parents(subject), known)]
    assert (alarms <= 12).all()


def test_independent_rows_are_called_dependent_as_rarely_as_said():
    rng = np.random.default_rng(43)
    process = paper_process(rng)
    p_values = [check_rows(kgmi.sample(process, 100, rng=rng), NAMES).p_value for _ in range(150)]
    assert sum(p < LEVEL for p in p_values) <= 6
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.1)


def test_learned_graphs_pass():
    rng = np.random.default_rng(44)
    passed = []
    for _ in range(6):
        rows = kgmi.sample(paper_process(rng), 400, rng=rng)
        passed += [check.passed for check in kgmi.learn(rows, n_parents=2, share="shared").checks]
    assert passed.count(False) <= 2
    assert None not in passed


# Where it does not


def test_two_kernels_in_one_graph_are_noticed_and_named():
    rng = np.random.default_rng(45)
    one, other = (kgmi.Process(kgmi.Dag.paper(), kgmi.Kernel.random(3, 2, rng=rng)) for _ in range(2))
    rows = np.hstack([kgmi.sample(one, 800, rng=rng), kgmi.sample(other, 800, rng=rng)])
    both = kgmi.Process(kgmi.Dag.paper().copies(2), one.kernel)
    check = check_kernels(subject_of(both, rows))
    assert check.passed is False
    odd = {finding.node for finding in check.findings}
    assert odd in ({*NAMES[2:10]}, {*NAMES[12:20]})  # one of the two kinds, and nobody else
    assert all(finding.nats > 10 for finding in check.findings)
    assert "8 of 16 nodes do not follow the kernel of the others: " in check.sentence
    assert "and 4 more" in check.sentence
    assert "share='classes'" in check.sentence
    learned = kgmi.learn(rows, n_parents=2, share="shared").checks[0]
    assert learned.passed is False
    assert learned.p_value < LEVEL


def test_a_node_that_no_shared_kernel_suits_is_noticed_by_what_it_still_depends_on():
    rng = np.random.default_rng(46)
    process = paper_process(rng)
    rows = kgmi.sample(process, 1_000, rng=rng)
    cut = tuple(() if node == 8 else chosen for node, chosen in enumerate(process.dag.parents))
    check = check_kernels(subject_of(process, rows, parents=cut, short=(0, 1, 8)))
    assert [finding.node for finding in check.findings] == ["X9"]
    assert check.findings[0].other in {"X6", "X8"}
    assert "still depend on others, which no shared kernel explains: X9 on X" in check.sentence
    nobody = check_kernels(subject_of(process, rows, parents=((),) * 10, short=tuple(range(10))))
    assert nobody.passed is None  # roots may be drawn together


def test_one_odd_node_does_not_make_the_others_look_odd():
    rng = np.random.default_rng(47)
    process = paper_process(rng)
    rows = kgmi.sample(process, 2_000, rng=rng).copy()
    noise = rng.random(2_000) < 0.5
    rows[noise, 9] = rng.integers(0, 3, int(noise.sum()))  # the last node: nobody's parent
    check = check_kernels(subject_of(process, rows))
    assert [finding.node for finding in check.findings] == ["X10"]
    assert "1 of 8 nodes does not follow the kernel of the others: X10 (" in check.sentence


def test_a_known_kernel_that_is_another_one_is_noticed():
    rng = np.random.default_rng(48)
    one, other = paper_process(rng), paper_process(rng)
    rows = kgmi.sample(one, 1_000, rng=rng)
    wrong = kgmi.Process(one.dag, other.kernel)
    check = check_kernels(subject_of(wrong, rows, known=True))
    assert check.passed is False
    assert "do not follow the known kernel" in check.sentence
    assert check.sentence.endswith("Learn the kernel.")
    assert check_kernels(subject_of(one, rows, known=True)).passed is True
    impossible = kgmi.Kernel(np.broadcast_to(np.eye(3)[0], (3, 3, 3)))
    broken = check_kernels(subject_of(kgmi.Process(one.dag, impossible), rows, known=True))
    assert (broken.passed, broken.p_value) == (False, 0.0)
    assert all(np.isfinite(finding.nats) for finding in broken.findings)


def test_parents_without_an_order_are_compared_whatever_their_order():
    rng = np.random.default_rng(49)
    process = kgmi.Process(kgmi.Dag.random(10, 2, rng=rng), kgmi.Kernel.mendelian())
    rows = kgmi.sample(process, 500, rng=rng)
    turned = tuple(chosen[::-1] if node % 2 else chosen for node, chosen in enumerate(process.dag.parents))
    assert check_kernels(subject_of(process, rows, parents=turned, symmetric=True)).passed is True
    assert check_kernels(subject_of(process, rows, known=True, symmetric=True)).passed is True


def test_a_missing_parent_is_named():
    rng = np.random.default_rng(50)
    process = paper_process(rng)
    rows = kgmi.sample(process, 1_000, rng=rng)
    one_less = tuple(chosen[1:] for chosen in process.dag.parents)
    check = check_parents(subject_of(process, rows, parents=one_less))
    assert check.passed is False
    wanted = {finding.node: finding.other for finding in check.findings}
    missing = {NAMES[node]: NAMES[chosen[0]] for node, chosen in enumerate(process.dag.parents) if chosen}
    assert sum(wanted.get(node) == parent for node, parent in missing.items()) >= 6
    assert "depend on a further candidate: X" in check.sentence
    assert check.sentence.endswith("Allow n_parents = 2.")


def test_the_one_node_that_lacks_a_parent_is_told_in_the_singular():
    rng = np.random.default_rng(6)
    rows = rng.integers(0, 2, size=(1_000, 3))
    rows[:, 2] = np.where(rng.random(1_000) < 0.1, 1 - rows[:, 2], rows[:, 0] & rows[:, 1])
    check = {one.name: one for one in kgmi.learn(rows, n_parents=1).checks}["parents"]
    assert check.passed is False
    assert check.sentence.startswith("The one node that has 1 parent depends on a further candidate: X3 wants X")


def test_three_parents_learned_as_two_are_noticed():
    rng = np.random.default_rng(51)
    process = kgmi.Process(kgmi.Dag.random(8, 3, rng=rng), kgmi.Kernel.random(3, 3, rng=rng))
    check = kgmi.learn(kgmi.sample(process, 600, rng=rng), n_parents=2).checks[1]
    assert (check.name, check.passed) == ("parents", False)
    assert "Allow n_parents = 3." in check.sentence


@pytest.mark.parametrize("lag", [1, 2])
def test_rows_that_follow_each_other_in_time_are_noticed(lag):
    rng = np.random.default_rng(52)
    rows = kgmi.sample(paper_process(rng), 500, rng=rng).copy()
    for row in range(lag, 500):
        if rng.random() < 0.2:
            rows[row] = rows[row - lag]
    check = check_rows(rows, NAMES)
    assert check.passed is False
    assert ("neighbouring rows" if lag == 1 else "rows 2 apart") in check.sentence
    assert "windows=" in check.sentence
    assert check.findings[0].node in NAMES[:10]


def test_one_column_that_drifts_is_named():
    rng = np.random.default_rng(53)
    rows = rng.integers(0, 3, (400, 6))
    rows[:, 4] = np.sort(rows[:, 4])
    check = check_rows(rows, NAMES)
    assert check.findings[0].node == "X5"
    assert "p < 0.00" in check.sentence


@pytest.mark.parametrize(
    ("n_cases", "n_columns", "times", "oddity"),
    [
        (40, 4, np.full(40, 50), "all of them occur a multiple of 50 times"),  # nearly half of the 81 possible rows
        (600, 4, np.full(600, 2), "all of them occur an even number of times"),  # nearly all possible rows
        (400, 10, np.repeat([1, 2], 200), "200 occur exactly 2 times, 200 once more or once less"),
        (400, 10, np.repeat([1, 2, 3, 4], 100), "100 occur exactly 4 times, 100 once more or once less"),
    ],
)
def test_copies_of_rows_are_noticed_in_whatever_order_they_stand(n_cases, n_columns, times, oddity):
    rng = np.random.default_rng(58)
    drawn = rng.choice(3**n_columns, n_cases, replace=n_cases > 3**n_columns)
    cases = np.stack(np.unravel_index(drawn, (3,) * n_columns), axis=1)
    rows = rng.permutation(np.repeat(cases, times, axis=0))
    check = check_rows(rows, NAMES)
    assert check.passed is False
    assert check.p_value < LEVEL
    different = f"there are {len(set(drawn.tolist())):,} different ones among {len(rows):,}"
    assert check.sentence.startswith(f"No: rows repeat each other: {different}, and {oddity}, as independent rows ")
    assert check_rows(cases, NAMES).passed is not False


@pytest.mark.parametrize("n_rows", [100, 400, 2_000])
@pytest.mark.parametrize("n_possible", [2, 27, 81, 400, 20_000])
def test_independent_rows_are_rarely_taken_for_copies_however_few_are_possible(n_possible, n_rows):
    rng = np.random.default_rng(59)
    laws = [np.full(n_possible, 1 / n_possible), rng.dirichlet(np.full(n_possible, 0.5))]
    p_values = [
        find_repeats(rng.choice(n_possible, size=(n_rows, 1), p=law)).p_value for law in laws for _ in range(150)
    ]
    assert sum(p < REPEATS_LEVEL for p in p_values) <= 3  # 0.6 are allowed for


def test_the_two_tests_of_rows_stay_within_the_level_together():
    most = []
    for n_rows in range(100, 5_000, 37):
        n_orders = rows_module._bounded(np.zeros((n_rows, 10), dtype=np.int8))[2] + 1
        most.append(max(k for k in range(n_orders) if k / n_orders < LEVEL) / n_orders)
    assert max(most) + REPEATS_LEVEL <= LEVEL + 1e-12


def test_few_rows_can_raise_an_alarm_but_give_no_comfort():
    rng = np.random.default_rng(60)
    rows = rng.integers(0, 3, (99, 6))
    check = check_rows(rows, NAMES)
    assert (check.passed, check.p_value, check.sentence) == (None, None, "99 rows are too few to tell.")
    assert check_rows(np.sort(rows, axis=0), NAMES).passed is False
    wide = rng.integers(0, 3, (300, 2_000), dtype=np.int8)  # fewer columns are looked at, not fewer rows
    assert "in the first 100 rows" in check_rows(wide, tuple(f"X{n}" for n in range(2_000))).sentence


# What is left out


def test_missing_values_are_passed_over():
    rng = np.random.default_rng(54)
    process = paper_process(rng)
    rows = kgmi.sample(process, 800, rng=rng).astype(np.int8)
    rows[rng.random(rows.shape) < 0.1] = -1
    assert [check.passed for check in check_model(subject_of(process, rows))] == [True] * 3


def test_equal_rows_put_together_count_as_often_as_they_are_there():
    rng = np.random.default_rng(55)
    process = kgmi.Process(kgmi.Dag.paper(5), kgmi.Kernel.paper())
    rows = kgmi.sample(process, 20_000, rng=rng)
    subject = subject_of(process, rows)
    packed = Subject(**(vars(subject) | {"observed": subject.observed.compressed()}))
    assert len(packed.observed.codes) < 1_000
    for check in (check_kernels, check_parents):
        assert check(packed).p_value == pytest.approx(check(subject).p_value)


def test_work_is_bounded(monkeypatch):
    rng = np.random.default_rng(56)
    process = paper_process(rng)
    rows = kgmi.sample(process, 2_000, rng=rng)
    subject = subject_of(process, rows)
    monkeypatch.setattr(dependence_module, "_MOST_WORK", 8_000)
    monkeypatch.setattr(dependence_module, "_MOST_CELLS", 60)  # one candidate at a time
    check = check_parents(subject)
    assert "other nodes were not looked at, from the first 500 rows" in check.sentence
    monkeypatch.setattr(rows_module, "_MOST_WORK", 600_000)
    assert "in the first " in check_rows(rows, NAMES).sentence
    assert check_rows(rows[:11], NAMES).sentence == "11 rows are too few to tell."


def test_nothing_to_check_is_said():
    rng = np.random.default_rng(57)
    process = paper_process(rng)
    rows = kgmi.sample(process, 100, rng=rng)
    alone = Subject(**(vars(subject_of(process, rows)) | {"groups": (Group((2,)), Group((3,)))}))
    assert check_kernels(alone).sentence == "Every node has a kernel of its own: there is nothing to compare."
    none = Subject(**(vars(alone) | {"groups": (), "n_heads": 3}))
    assert check_kernels(none).sentence == "No kernel was learned, nor given: there is nothing to compare."
    bare = Subject(**(vars(none) | {"parents": ((),) * 10, "given": ((),) * 10}))
    assert check_kernels(bare).sentence == "No node has parents: there is nothing to compare."
    assert check_parents(none).sentence == "No node has 3 parents, so none was stopped by that number."
    small = kgmi.Process(kgmi.Dag([(), (), (0, 1)]), process.kernel)
    full = check_parents(subject_of(small, rows[:, :3]))
    assert full.sentence == "No node with 2 parents has a further candidate."
    for check in (check_kernels(none), full):
        assert (check.passed, check.p_value, check.findings) == (None, None, ())


def test_gaps_beside_as_many_states_as_small_codes_have():
    rng = np.random.default_rng(641)
    rows = rng.integers(-1, 128, size=(600, 2)).astype(np.int8)  # the code of a gap is 128, which these cannot hold
    found = check_rows(rows, NAMES[:2])
    assert found.passed
    assert found.p_value == check_rows(rows.astype(np.int64), NAMES[:2]).p_value
