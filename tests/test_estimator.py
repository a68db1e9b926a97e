"""What the estimator learns, shows, scores and draws."""

from __future__ import annotations

import doctest
import pickle

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import kgmi
from kgmi import KGMI
from kgmi.errors import DataError, KernelError, SettingError
from kgmi.estimator import estimator as module

TRUTH = kgmi.Dag.paper(10)
PROCESS = kgmi.Process(TRUTH, kgmi.Kernel.paper())
ROWS = kgmi.sample(PROCESS, 1_200, rng=1)
HELD_OUT = kgmi.sample(PROCESS, 5_000, rng=2)
BACKWARDS = list(range(9, -1, -1))


@pytest.fixture(scope="module")
def fitted():
    return KGMI(random_state=3).fit(ROWS)


def test_the_example_in_the_docstring_is_right():
    assert doctest.testmod(module) == (0, 6)


def test_the_graph_is_that_of_learn_and_the_truth(fitted):
    learned = kgmi.learn(ROWS, n_parents=2, names=[f"x{number}" for number in range(10)])
    assert fitted.parents_ == learned.parents
    assert fitted.learned_.dag.parents == TRUTH.parents
    assert np.array_equal(fitted.adjacency_matrix_, TRUTH.matrix_parent_child())
    assert np.allclose(fitted.attention_, learned.attention, atol=1e-9)
    assert np.allclose(fitted.scores_, learned.scores, equal_nan=True)
    assert fitted.status_ == learned.status
    assert np.abs(fitted.kernel_.table - kgmi.Kernel.paper().table).max() < 0.05
    assert fitted.kernels_[0].n_parents == 2


def test_the_networkx_graph_has_edges_from_parents_to_children(fitted):
    graph = fitted.causal_graph_
    assert list(graph.nodes) == list(fitted.get_feature_names_out())
    assert set(graph.predecessors("x9")) == {"x0", "x6"}
    assert np.array_equal(nx.to_numpy_array(graph), fitted.adjacency_matrix_)


def test_tiers_let_columns_stand_in_any_order(fitted):
    moved = KGMI(tiers=BACKWARDS).fit(ROWS[:, BACKWARDS])
    back = np.ix_(BACKWARDS, BACKWARDS)
    assert moved.learned_.order == tuple(BACKWARDS)
    assert np.array_equal(moved.adjacency_matrix_[back], fitted.adjacency_matrix_)
    assert np.allclose(moved.attention_[:, *back], fitted.attention_, atol=1e-9)
    assert np.allclose(moved.scores_[:, *back], fitted.scores_, equal_nan=True)
    assert list(moved.parents_) == [f"x{number}" for number in range(10)]
    assert set(moved.parents_["x0"]) == {"x9", "x3"}
    assert np.allclose(moved.score_samples(HELD_OUT[:, BACKWARDS]), fitted.score_samples(HELD_OUT))
    drawn = moved.sample(4_000, random_state=1)
    assert np.allclose((drawn == 0).mean(axis=0), (ROWS[:, BACKWARDS] == 0).mean(axis=0), atol=0.06)


def test_the_score_is_the_mean_log_likelihood_of_the_model(fitted):
    each = fitted.score_samples(HELD_OUT)
    assert each.shape == (5_000,)
    assert np.array_equal(each, fitted.learned_.model.log_likelihood(HELD_OUT))
    assert fitted.score(HELD_OUT) == each.mean()
    assert fitted.score(HELD_OUT[:1]) == each[0]


def test_probabilities_of_all_rows_sum_to_one():
    model = KGMI().fit(ROWS[:, :4])
    every = np.indices((3, 3, 3, 3)).reshape(4, -1).T
    assert np.exp(model.score_samples(every)).sum() == pytest.approx(1.0)


def test_grid_search_over_the_number_of_parents_finds_two():
    search = GridSearchCV(KGMI(in_degree="uniform"), {"n_parents": [1, 2, 3]}, cv=3).fit(ROWS)
    assert search.best_params_ == {"n_parents": 2}
    assert search.best_estimator_.learned_.dag.parents == TRUTH.parents


def test_a_pipeline_ends_in_the_estimator(fitted):
    words = np.array(["low", "middle", "high"])[ROWS]
    order = [["low", "middle", "high"]] * 10
    pipeline = make_pipeline(OrdinalEncoder(categories=order), KGMI()).fit(words)
    assert pipeline[-1].parents_ == fitted.parents_
    assert pipeline.score(words) == pytest.approx(fitted.score(ROWS))


def test_clones_and_copies(fitted):
    known = KGMI(n_parents=None, kernel=kgmi.Kernel.paper(), guide="contextual", forbidden=[("x0", "x9")])
    again = clone(known)
    assert again.get_params()["forbidden"] == [("x0", "x9")]
    assert again.fit(ROWS).kernel_ == kgmi.Kernel.paper()
    assert "x0" not in again.parents_["x9"]
    copy = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    assert np.array_equal(copy.score_samples(HELD_OUT), fitted.score_samples(HELD_OUT))
    assert copy.status_ == fitted.status_
    assert copy.partial_fit(HELD_OUT).parents_ == fitted.parents_


def test_rows_may_come_in_batches():
    whole = KGMI().fit(ROWS)
    parts = KGMI(states=range(3))
    for batch in (ROWS[:500], ROWS[500:501], ROWS[501:]):
        assert parts.partial_fit(batch) is parts
    assert parts.learned_.fingerprint == whole.learned_.fingerprint
    assert parts.parents_ == whole.parents_
    assert np.array_equal(parts.attention_, whole.attention_)
    assert np.array_equal(parts.score_samples(HELD_OUT), whole.score_samples(HELD_OUT))
    assert KGMI().fit(ROWS[:700]).partial_fit(ROWS[700:]).status_ == whole.status_
    assert parts.fit(ROWS[:700]).learned_.configuration["n_rows"] == 700  # fit begins anew


def test_what_is_kept_between_batches_is_small_and_not_the_users_array():
    rows = ROWS[:600].astype(np.int8)
    model = KGMI().fit(rows)
    before = rows.copy()
    rows[:] = 0
    assert model._kept.dtype == np.int8
    assert model.partial_fit(ROWS[600:]).learned_.fingerprint == KGMI().fit(ROWS).learned_.fingerprint
    assert np.array_equal(model._kept[:600], before)


def test_a_batch_with_a_new_state_is_refused_and_changes_nothing():
    model = KGMI().fit(ROWS % 2)
    learned = model.learned_
    with pytest.raises(
        DataError, match=r"row 1, column 'x4': the state '2' is new; in fit the states were 0, 1.*states="
    ):
        model.partial_fit(np.array([[0] * 10, [0, 0, 0, 0, 2, 0, 0, 0, 0, 0]]))
    assert model.learned_ is learned
    assert len(model._kept) == len(ROWS)


def test_drawn_rows_look_like_those_learned_from(fitted):
    drawn = fitted.sample(20_000)
    assert drawn.shape == (20_000, 10)
    assert drawn.dtype == np.int64
    assert np.array_equal(drawn, fitted.sample(20_000))  # random_state=3 of the estimator
    assert not np.array_equal(drawn, fitted.sample(20_000, random_state=4))
    assert fitted.score(drawn) == pytest.approx(fitted.score(ROWS), abs=0.1)
    assert KGMI().fit(drawn).learned_.dag.parents[2:] == TRUTH.parents[2:]


@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
def test_generators_of_both_kinds_go_on(fitted, kind):
    one, other = kind(7), kind(7)
    first = fitted.sample(50, random_state=one)
    assert np.array_equal(first, fitted.sample(50, random_state=other))
    assert not np.array_equal(first, fitted.sample(50, random_state=one))


def test_without_a_seed_rows_differ_and_the_global_generator_is_left_alone(fitted):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    model = clone(fitted).set_params(random_state=None).fit(ROWS)
    assert not np.array_equal(model.sample(50), model.sample(50))
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_fewer_columns_than_parents_are_enough_and_the_status_says_so():
    model = KGMI(n_parents=3).fit(ROWS[:, [0, 2]])
    assert model.status_.startswith("With 2 columns a node has 1 parents at most, not 3.")
    assert model.adjacency_matrix_.shape == (2, 2)


def test_a_known_kernel_says_how_many_states_there_are():
    rows = ROWS[(ROWS < 2).all(axis=1)]
    assert len(rows) > 10
    assert KGMI(kernel=kgmi.Kernel.paper(), guide="stationary").fit(rows).learned_.states == ("0", "1", "2")
    with pytest.raises(KernelError):
        KGMI(kernel=kgmi.Kernel.paper(), states=["0", "1"]).fit(rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_parents": 0}, "n_parents must be at least 1"),
        ({"n_parents": 2.5}, "n_parents must be a whole number or None, got 2.5"),
        ({"n_parents": True}, "n_parents must be a whole number or None, got True"),
        ({"kernel": kgmi.Kernel.paper(), "n_parents": 3}, "n_parents is 3, but the kernel"),
        ({"bins": 1}, "bins must be a whole number of at least 2, or None to refuse measurements; got 1"),
        ({"bins": "many"}, "got 'many'"),
        ({"missing": "ignore"}, "missing must be one of 'error', 'category', 'pairwise'"),
        ({"alphabet": "own", "states": ["0", "1", "2"]}, "leave states out"),
        ({"states": "abc"}, "states must be a list of texts or whole numbers, got 'abc'"),
        ({"states": 3}, "states must be a list of texts or whole numbers, got 3"),
        ({"search": "deep"}, "search must be one of"),
        ({"required": [("x9", "x0")]}, "against the order"),
        ({"tiers": [0, 1]}, "tier"),
    ],
)
def test_options_that_make_no_sense_are_refused_in_fit(options, message):
    estimator = KGMI(**options)
    with pytest.raises(SettingError, match=message):
        estimator.fit(ROWS)


def test_a_constant_column_is_refused_by_name():
    with pytest.raises(DataError, match="column 'x3' is constant"):
        KGMI().fit(np.where(np.arange(10) == 3, 1, ROWS))


def test_a_fit_that_failed_is_no_fit():
    model = KGMI(n_parents=0)
    with pytest.raises(SettingError):
        model.fit(ROWS)
    for use in (model.sample, model.get_feature_names_out, lambda: model.score(ROWS)):
        with pytest.raises(NotFittedError):
            use()
    assert not hasattr(model, "parents_")


@pytest.mark.parametrize(
    "name",
    [
        *("parents_", "causal_graph_", "adjacency_matrix_", "attention_"),
        *("scores_", "kernel_", "kernels_", "status_"),
    ],
)
def test_before_the_fit_there_is_nothing_to_see_and_the_usual_error_says_so(name):
    assert not hasattr(KGMI(), name)
    with pytest.raises(NotFittedError, match="This KGMI instance is not fitted yet"):
        getattr(KGMI(), name)


def test_names_can_be_compared(fitted):
    names = [f"x{number}" for number in range(10)]
    assert fitted.get_feature_names_out(names).tolist() == names
    with pytest.raises(ValueError, match="input_features is not equal"):
        fitted.get_feature_names_out(names[::-1])


def test_options_that_are_not_the_default_are_shown():
    assert repr(KGMI(3, penalty="bic")) == "KGMI(n_parents=3, penalty='bic')"
    assert "KGMI" in KGMI().fit(ROWS)._repr_html_()


def test_tags_say_what_may_come_in():
    tags = KGMI().__sklearn_tags__().input_tags
    assert (tags.categorical, tags.string, tags.allow_nan, tags.sparse) == (True, True, False, False)
    assert KGMI(missing="pairwise").__sklearn_tags__().input_tags.allow_nan
    assert KGMI().__sklearn_tags__().estimator_type == "density_estimator"
