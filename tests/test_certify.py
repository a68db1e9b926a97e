"""Certificates: what they say, when, and that it is true."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import kgmi
from kgmi import Dag, Kernel, Process, certify, learn, sample
from kgmi.bench.certificates.plans import falsehoods
from kgmi.certify import Certificate, Stream
from kgmi.errors import DataError, KernelError, RecordError, SettingError
from kgmi.kernel import FiniteKernels
from kgmi.learning import inputs
from kgmi.learning.searched import problem_of

PAPER = Process(Dag.paper(10), Kernel.paper())
ROWS = sample(PAPER, 1_200, rng=101)
FIVE = Process(Dag.paper(5), Kernel.paper())
SMALL = sample(FIVE, 1_200, rng=109)  # quick to learn from
LEARNED = {"n_parents": 2, "share": "shared"}
NEVER = "that a node has no parents can be refuted, not certified, without a known kernel"


def test_with_the_kernel_all_parents_are_certified_from_few_rows():
    certificate = certify(ROWS[:500], kernel=PAPER.kernel)
    assert certificate.method == "known"
    assert certificate.n_decided == 8  # the first two nodes have too few candidates for two parents
    assert certificate.is_complete
    assert certificate.certified == tuple(f"X{number}" for number in range(1, 11))
    assert sorted(certificate.edges) == sorted((f"X{a + 1}", f"X{b + 1}") for a, b in PAPER.dag.edges)
    for node in certificate.nodes:
        assert node.exact
        assert node.n_left == 1
        assert node.rows_missing == 0
        assert node.reason == ""
        assert (node.hardest is None) == (node.log_e == np.inf)
        assert node.p_value == pytest.approx(np.exp(-max(node.log_e, 0)))


def test_without_the_kernel_roots_are_left_open_and_the_words_say_why():
    learned = learn(ROWS, **LEARNED)
    certificate = learned.certificate
    assert certificate is learned.certificate  # made once
    assert certificate.method == "sequential"
    assert certificate.n_decided == 9
    assert set(certificate.certified) == {f"X{number}" for number in (1, 3, 4, 5, 6, 7, 8, 9, 10)}
    second = certificate["X2"]
    assert not second.certified
    assert not second.certifiable
    assert second.reason == NEVER
    assert certificate.is_complete
    assert NEVER in str(certificate)
    assert "Certified: 8 of 9 nodes with more than one open set of parents. All that" in str(certificate)


def test_the_rows_still_missing_are_about_those_that_it_takes():
    early = certify(SMALL[:200], **LEARNED)
    open_to = [node for node in early.nodes if not node.certified and node.certifiable]
    assert open_to
    guesses = [node.rows_missing for node in open_to if node.rows_missing is not None]
    assert guesses
    assert 50 < np.median(guesses) < 2_000
    assert "Not certified" in str(early)
    assert all(node.reason.endswith("may explain it as well") for node in open_to)
    late = certify(SMALL, **LEARNED)
    assert all(late[node.name].certified for node in open_to)


def test_a_stricter_level_certifies_no_more():
    learned = learn(SMALL[:500], **LEARNED)
    loose, strict = learned.certify(0.2), learned.certify(1e-6)
    assert set(strict.edges) < set(loose.edges)
    assert loose["X5"].log_e == pytest.approx(strict["X5"].log_e)  # the evidence is what it is


def test_split_halves_count_the_second_half():
    certificate = certify(SMALL, method="split", **LEARNED)
    assert certificate.method == "split"
    assert certificate.n_rows == 600
    assert len(certificate.edges) >= 2
    assert falsehoods(certificate, FIVE.dag) == 0


def mixed_rows(n_rows, seed):
    """X1 and X2 are independent roots, X3 ← X1, X4 ← X3, X5 ← X2 and X4, X6 ← X4."""
    rng = np.random.default_rng(seed)
    single, double = rng.dirichlet([0.4] * 3, 3), rng.dirichlet([0.4] * 3, (3, 3))
    rows = np.zeros((n_rows, 6), dtype=int)
    rows[:, 0], rows[:, 1] = rng.integers(0, 3, n_rows), rng.choice(3, n_rows, p=[0.2, 0.5, 0.3])

    def draw(laws):
        return (rng.random(n_rows)[:, None] > laws.cumsum(axis=1)[:, :2]).sum(axis=1)

    rows[:, 2] = draw(single[rows[:, 0]])
    rows[:, 3] = draw(single[rows[:, 2]])
    rows[:, 4] = draw(double[rows[:, 1], rows[:, 3]])
    rows[:, 5] = draw(single[rows[:, 3]])
    return rows


def test_with_fewer_parents_than_allowed_no_others_are_not_certified():
    rows = mixed_rows(1_500, 50)
    told = certify(rows, roots=[0, 1], **LEARNED)
    assert told["X6"].parents == ("X4",)
    assert told.certified == ("X1", "X2", "X3", "X4", "X5", "X6")
    assert [node.name for node in told.nodes if not node.exact] == ["X3", "X4", "X6"]
    assert told["X6"].n_left > 1  # supersets of the parents explain as much
    assert "it is certain that the parents found are parents" in str(told)


def test_a_root_that_is_drawn_with_another_looks_like_its_child():
    certificate = certify(mixed_rows(1_500, 50), share="shared", n_parents=2)
    third = certificate["X3"]
    assert third.parents == ("X1",)
    assert not third.certified
    assert "may be a root that is drawn together with it" in third.reason
    assert certificate["X4"].certified  # X3 depends on X1, so nobody else is drawn with X3
    assert certify(mixed_rows(1_500, 50), share="shared", n_parents=1)[
        "X3"
    ].certified  # roots in pairs need kernels of pairs


def test_what_is_found_but_refuted_is_said():
    learned = learn(SMALL, kernel=FIVE.kernel)
    certificate = with_graph(learned, Dag([(), (), (0, 1), (0, 1), (0, 2)]))
    assert certificate["X4"].reason == "the parents found are refuted, others are not"
    assert not certificate["X4"].certified
    assert certificate["X4"].certifiable
    assert not certificate["X4"].edges[0].certified  # X1 is a parent, but not as it was found


def test_a_model_that_cannot_be_true_is_said_so():
    # X4 copies X3, which is of its own tier: no parent; and X3 has parents, so they are not roots drawn together.
    kernel = Kernel(np.array([[[0.95, 0.05], [0.3, 0.7]], [[0.7, 0.3], [0.05, 0.95]]]))
    rng = np.random.default_rng(111)
    rows = rng.integers(0, 2, (800, 4))
    rows[:, 2] = rng.random(800) < kernel.table[rows[:, 0], rows[:, 1], 1]
    rows[:, 3] = np.where(rng.random(800) < 0.95, rows[:, 2], 1 - rows[:, 2])
    certificate = certify(rows, kernel=kernel, tiers=[[0, 1], [2, 3]])
    assert certificate["X3"].certified
    last = certificate["X4"]
    assert not last.certified
    assert last.reason == "every set of parents is refuted: the model does not hold for this node"
    assert (last.certifiable, last.rows_missing, last.n_left) == (False, None, 0)


def test_founders_may_follow_any_law_that_comes_with_the_kernel():
    process = Process(Dag.random(8, 2, rng=112), Kernel.mendelian())
    certificate = certify(sample(process, 400, rng=113), kernel=process.kernel)
    assert falsehoods(certificate, process.dag) == 0
    assert len(certificate.edges) >= 0.8 * process.dag.n_edges
    # Founders that resemble each other are founders even so, whatever the kernel says of long chains.
    law = np.array([[0.28, 0.02, 0.03], [0.02, 0.28, 0.03], [0.03, 0.03, 0.28]])
    kernel = Kernel(Kernel.paper().table, parent_law=law)
    rows = np.random.default_rng(114).choice(9, 600, p=law.ravel())
    alike = np.column_stack([rows // 3, rows % 3, np.random.default_rng(115).integers(0, 3, 600)])
    founders = certify(alike, kernel=kernel, in_degree="mixed")
    assert founders["X2"].parents == () or not founders["X2"].certified


def test_errors_of_reading_are_part_of_the_hypotheses():
    rng = np.random.default_rng(103)
    rows = ROWS.copy()
    noisy = rng.random(rows.shape) < 0.1
    rows[noisy] = rng.integers(0, 3, noisy.sum())
    assert certify(rows, kernel=PAPER.kernel, error=0.1).certified
    with pytest.raises(SettingError, match="give error=…, not 'estimate'"):
        certify(rows, kernel=PAPER.kernel, error="estimate")


def test_only_complete_rows_count():
    rows = ROWS.astype(float)
    rows[::4, 3] = np.nan
    certificate = certify(rows, kernel=PAPER.kernel, missing="pairwise")
    assert (certificate.n_rows, certificate.n_left_out) == (900, 300)
    assert "300 rows have missing values and do not count" in str(certificate)
    assert certificate.condition is None
    gappy = np.where(np.eye(10)[np.arange(1_200) % 10] > 0, -1, ROWS)
    with pytest.raises(DataError, match="no row is complete"):
        certify(gappy, n_parents=2, missing="pairwise")


def test_alphabets_of_different_sizes():
    rng = np.random.default_rng(104)
    first, second = rng.integers(0, 2, 1_500), rng.integers(0, 4, 1_500)
    third = np.where(rng.random(1_500) < 0.8, (first + second) % 3, rng.integers(0, 3, 1_500))
    fourth = np.where(rng.random(1_500) < 0.7, third == 0, rng.random(1_500) < 0.5).astype(int)
    rows = np.column_stack([first, second, third, fourth])
    certificate = certify(rows, alphabet="own", **LEARNED)
    assert certificate["X3"].certified
    assert certificate["X3"].exact
    assert certificate["X4"].edges[0].certified
    assert certificate["X4"].parents == ("X3",)  # roots with alphabets of their own are drawn one by one


def test_tiers_and_told_edges_narrow_what_is_open():
    certificate = certify(
        ROWS[:300], **LEARNED, required=[("X1", "X3"), ("X2", "X3")], tiers=[[0, 1], range(2, 10)]
    )
    third = certificate["X3"]
    assert third.certified
    assert [edge.log_e for edge in third.edges] == [np.inf, np.inf]
    assert third.hardest is None


def test_where_nothing_is_open_nothing_is_certified():
    told = certify(SMALL[:50, :2], kernel=None, n_parents=1, roots=[0, 1])
    assert str(told) == "There is nothing to certify: one set of parents only is open for every node."
    assert told.is_complete


def test_lags_of_a_sequence():
    rng = np.random.default_rng(105)
    sequence = rng.integers(0, 2, 1_500)
    for place in range(3, len(sequence)):
        if rng.random() < 0.7:
            sequence[place] = sequence[place - 1] ^ sequence[place - 3]
    certificate = certify(sequence, windows=5, n_parents=2)
    assert certificate["now"].certified
    assert set(certificate["now"].parents) == {"lag 1", "lag 3"}
    assert certificate.n_decided == 1


def test_alternatives_that_were_not_looked_at_certify_nothing():
    certificate = learn(ROWS, **LEARNED).certify(patience=0.003)
    unseen = [node for node in certificate.nodes if "alternatives were not looked at" in node.reason]
    assert unseen
    assert unseen[-1].name == "X10"
    assert not any(node.certified or node.certifiable for node in unseen)
    assert certificate.unseen == tuple(node.name for node in unseen)
    assert not certificate.is_complete
    assert "allow more time (patience)" in str(certificate)


@pytest.mark.parametrize("guide", ["plain", "stationary"])
def test_guides_that_do_not_search_are_refused(guide):
    # They may name more parents than K, or a set that was never among the hypotheses.
    learned = learn(SMALL, kernel=None if guide == "plain" else FIVE.kernel, guide=guide, n_parents=2)
    with pytest.raises(SettingError, match=f"the guide '{guide}' names parents .* learn with guide='likelihood'"):
        learned.certify()
    assert learn(SMALL, kernel=FIVE.kernel, guide="contextual").certificate.certified


def with_graph(learned, dag):
    """The certificate of another graph than the one found."""
    return replace(learned.witness, dag=dag).certificate(0.05, "sequential", 60.0)


def test_parents_that_are_not_allowed_are_never_certified():
    learned = learn(SMALL, kernel=FIVE.kernel)
    second = with_graph(learned, Dag([(), (0,), *FIVE.dag.parents[2:]]))["X2"]  # a node has two parents or none
    assert (second.certified, second.exact, second.certifiable, second.settled) == (False, False, False, True)
    assert second.reason == "the parents found are not among those allowed"
    assert [edge.certified for edge in second.edges] == [False]
    fourth = with_graph(learned, Dag([(), (), (0, 1), (1,), (1, 3)]))["X4"]
    assert not fourth.certified
    assert fourth.reason == "the parents found are not among those allowed"


@pytest.mark.parametrize("options", [{"kernel": True, "in_degree": "mixed"}, {"n_parents": 2, "n_states": 3}])
@pytest.mark.parametrize("told", [False, True], ids=["found", "required"])
def test_inside_a_tier_a_follower_closes_nothing(options, told):
    # A and C are drawn together, B ← A, D: C may have been drawn before B, which stands before it in the table.
    kernel = Kernel(np.random.default_rng(801).dirichlet(np.ones(3) * 0.4, size=(3, 3)))
    rows = sample(Process(Dag([(), (), (), (0, 2)], [(0, 1), (2,)]), kernel), 1_000, rng=8_000)[:, [0, 2, 3, 1]]
    options = options | ({"kernel": kernel} if "kernel" in options else {})
    options |= {"required": [("A", "B"), ("D", "B")]} if told else {}
    certificate = certify(rows, names=list("ADBC"), tiers=[["A", "D"], ["B", "C"]], **options)
    assert certificate["B"].certified
    assert ("A", "C") not in certificate.edges
    later = certify(rows, names=list("ADBC"), tiers=[["A", "D"], ["B"], ["C"]], **options)
    assert ("A", "C") in later.edges or "kernel" in options  # then B came first, and C is not drawn with A


def test_roots_with_alphabets_of_their_own_may_be_drawn_together():
    rng = np.random.default_rng(851)
    first = rng.integers(0, 2, 1_500)
    second = np.where(rng.random(1_500) < 0.8, first, 2)
    rows = np.column_stack([first, second, rng.integers(0, 4, 1_500)])
    certificate = certify(rows, alphabet="own", **LEARNED)
    assert certificate["X2"].parents == ("X1",)
    assert not certificate["X2"].certified
    assert "may be a root that is drawn together with it" in certificate["X2"].reason


def test_with_errors_roots_that_are_drawn_together_may_follow_any_law():
    data = learn(SMALL, kernel=FIVE.kernel).witness.data
    noisy, clean = (problem_of(data, FIVE.kernel, settings_of(**one)) for one in ({"error": 0.1}, {}))
    assert Stream(noisy, 10)._laws == {}
    assert Stream(clean, 10)._laws


def settings_of(**options):
    return learn(SMALL, kernel=FIVE.kernel, **options).witness.settings


def test_the_words_say_how_many_parents_there_may_be():
    uniform = certify(SMALL[:200], kernel=FIVE.kernel)
    assert (uniform.n_parents, uniform.degrees) == (2, (0, 2))
    assert "if the model holds and every node has 0 or 2 parents." in str(uniform)
    assert "For X1, X2 no other parents than those found were open." in str(uniform)
    mixed = certify(SMALL[:200], n_parents=1)
    assert (mixed.n_parents, mixed.degrees) == (1, (0, 1))
    assert "every node has at most 1 parent." in str(mixed)


def test_what_is_required_counts_among_the_certified():
    rows = SMALL[:300].copy()
    rows[:, 4] = np.random.default_rng(69).integers(0, 3, 300)  # of its parents only the required one is found
    certificate = certify(rows, required=[("X1", "X5")], **LEARNED)
    assert certificate["X5"].certified
    assert not certificate["X5"].settled
    n_certified = sum(not certificate[name].settled for name in certificate.certified)
    assert n_certified > 0
    assert f"Certified: {n_certified} of {certificate.n_decided} nodes" in str(certificate)


def test_a_kernel_from_labelled_tails_is_not_known():
    rows = sample(FIVE, 500, rng=106, labelled=True)
    certificate = certify(rows, kernel_source="labelled")
    assert certificate.method == "sequential"


@pytest.mark.parametrize(
    ("error", "message", "make"),
    [
        (DataError, "an exact law", lambda: learn(Process(Dag.paper(5), Kernel.paper())).certificate),
        (
            DataError,
            "statistics of pairs",
            lambda: learn(kgmi.count_pairs(ROWS), kernel=PAPER.kernel).certificate,
        ),
        (SettingError, "order of the columns is right", lambda: certify(SMALL, order="learn")),
        (
            SettingError,
            "order of the columns is right",
            lambda: learn(SMALL[:60], order="learn", **LEARNED).certificate,
        ),
        (SettingError, "between 0 and 1", lambda: certify(ROWS, alpha=1.5)),
        (SettingError, "between 0 and 1", lambda: certify(ROWS, alpha="0.05")),
        (SettingError, "patience.* must be 0 or more, got -1", lambda: certify(SMALL, patience=-1)),
        (SettingError, "sequential or split", lambda: certify(ROWS, method="both")),
        (SettingError, "was settled when", lambda: certify(learn(SMALL[:50], **LEARNED), n_parents=3)),
    ],
)
def test_what_cannot_be_certified_is_refused(error, message, make):
    with pytest.raises(error, match=message):
        make()


def test_one_complete_row_cannot_be_split():
    rows = np.array([[0, 1], [1, -1], [-1, 0], [0, 0]])
    with pytest.raises(DataError, match="at least two complete rows"):
        certify(rows[:3], n_states=2, n_parents=1, missing="pairwise", method="split")
    assert certify(rows, n_states=2, n_parents=1, missing="pairwise", method="split").n_rows == 1


def test_a_law_over_kernels_cannot_be_certified():
    kernels = FiniteKernels([Kernel.paper(), Kernel.paper(0.05)], [0.5, 0.5])
    rows = sample(PAPER, 200, rng=108, labelled=True)
    learned = learn(rows, kernel=kernels, guide="labelled")
    with pytest.raises(KernelError, match="one kernel for all rows"):
        learned.certificate  # noqa: B018


def test_copies_keep_a_certificate_that_was_made_and_say_so_otherwise():
    learned = learn(SMALL[:100], **LEARNED)
    with pytest.raises(DataError, match=r"the rows are not kept .* kgmi.certify\(rows, …\)"):
        pickle.loads(pickle.dumps(learned)).certify()  # noqa: S301
    made = learned.certificate
    assert copy.deepcopy(learned).certificate == made


def test_large_tables_are_certified_when_they_are_given_again(monkeypatch):
    rows = sample(FIVE, 50_000, rng=107)
    monkeypatch.setattr(inputs, "_SMALL", 100_000)
    learned = learn(rows, kernel=Kernel.paper())
    with pytest.raises(DataError, match="very many"):
        learned.certify()
    assert certify(rows, kernel=Kernel.paper()).is_complete


def test_records_hold_the_certificate_only_if_it_was_made(tmp_path):
    learned = learn(ROWS[:300], kernel=PAPER.kernel)
    kgmi.save(learned, tmp_path / "without")
    with pytest.raises(DataError, match="rows are not kept"):
        kgmi.load(tmp_path / "without").certificate  # noqa: B018
    made = learned.certificate
    kgmi.save(learned, tmp_path / "with")
    assert kgmi.load(tmp_path / "with").certificate == made


def test_plain_values_and_back():
    made = certify(ROWS[:300], kernel=PAPER.kernel)
    assert Certificate.from_dict(made.to_dict()) == made
    with pytest.raises(RecordError, match="certificate is not what it should be"):
        Certificate.from_dict({"nodes": 3})


def test_the_estimator_shows_certificates_by_column():
    model = kgmi.KGMI(kernel=PAPER.kernel, n_parents=None, tiers=[range(1, 10), [0]]).fit(ROWS[:400, ::-1])
    assert list(model.certificates_) == [f"x{column}" for column in range(10)]
    assert model.certificates_ == model.certificates_
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert again.certificates_ == model.certificates_
    fresh = kgmi.KGMI(share="shared").fit(SMALL[:100])
    copied = pickle.loads(pickle.dumps(fresh))  # noqa: S301
    assert copied.certificates_ == fresh.certificates_  # made from the rows that the estimator keeps
