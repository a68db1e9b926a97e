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
from kgmi.errors import DataError, KgmiError, SettingError
from kgmi.estimator import estimator as module

TRUTH = kgmi.Dag.paper(10)
ROWS = kgmi.sample(kgmi.Process(TRUTH, kgmi.Kernel.paper()), 1_200, rng=1)
HELD_OUT = kgmi.sample(kgmi.Process(TRUTH, kgmi.Kernel.paper()), 5_000, rng=2)
NAMES = [f"x{number}" for number in range(10)]
BACKWARDS = list(range(9, -1, -1))


@pytest.fixture(scope="module")
def fitted():
    return KGMI(random_state=3).fit(ROWS)


def test_the_example_in_the_docstring_is_right():
    assert doctest.testmod(module) == (0, 6)


def test_results_are_those_of_learn(fitted):
    learned = kgmi.learn(ROWS, n_parents=2, names=NAMES)
    assert fitted.parents_ == learned.parents
    assert fitted.learned_.dag.parents == TRUTH.parents
    assert np.array_equal(fitted.adjacency_matrix_, TRUTH.matrix_parent_child())
    assert np.allclose(fitted.attention_, learned.attention, atol=1e-9)
    assert np.allclose(fitted.scores_, learned.scores, equal_nan=True)
    assert fitted.status_ == learned.status
    assert np.abs(fitted.kernel_.table - kgmi.Kernel.paper().table).max() < 0.05
    assert fitted.kernels_[0].n_parents == 2
    graph = fitted.causal_graph_
    assert list(graph.nodes) == NAMES
    assert np.array_equal(nx.to_numpy_array(graph), fitted.adjacency_matrix_)


def test_with_tiers_columns_may_have_any_order(fitted):
    moved = KGMI(tiers=BACKWARDS).fit(ROWS[:, BACKWARDS])
    back = np.ix_(BACKWARDS, BACKWARDS)
    assert np.array_equal(moved.adjacency_matrix_[back], fitted.adjacency_matrix_)
    assert np.allclose(moved.attention_[:, *back], fitted.attention_, atol=1e-9)
    assert np.allclose(moved.scores_[:, *back], fitted.scores_, equal_nan=True)
    assert list(moved.parents_) == NAMES
    assert np.allclose(moved.score_samples(HELD_OUT[:, BACKWARDS]), fitted.score_samples(HELD_OUT))
    drawn = moved.sample(4_000, random_state=1)
    assert np.allclose((drawn == 0).mean(axis=0), (ROWS[:, BACKWARDS] == 0).mean(axis=0), atol=0.06)


def test_the_score_is_the_mean_log_likelihood_of_the_model(fitted):
    each = fitted.score_samples(HELD_OUT)
    assert np.array_equal(each, fitted.learned_.model.log_likelihood(HELD_OUT))
    assert fitted.score(HELD_OUT) == each.mean()


def test_grid_search_and_pipelines(fitted):
    search = GridSearchCV(KGMI(in_degree="uniform"), {"n_parents": [1, 2, 3]}, cv=3).fit(ROWS)
    assert search.best_params_ == {"n_parents": 2}
    assert search.best_estimator_.learned_.dag.parents == TRUTH.parents
    order = ["low", "middle", "high"]
    words = np.array(order)[ROWS]
    pipeline = make_pipeline(OrdinalEncoder(categories=[order] * 10), KGMI()).fit(words)
    assert pipeline[-1].parents_ == fitted.parents_
    assert pipeline.score(words) == pytest.approx(fitted.score(ROWS))


def test_clones_and_copies(fitted):
    known = clone(KGMI(n_parents=None, kernel=kgmi.Kernel.paper(), guide="contextual", forbidden=[("x0", "x9")]))
    assert known.get_params()["forbidden"] == [("x0", "x9")]
    assert known.fit(ROWS).kernel_ == kgmi.Kernel.paper()
    assert "x0" not in known.parents_["x9"]
    copy = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    assert np.array_equal(copy.score_samples(HELD_OUT), fitted.score_samples(HELD_OUT))
    assert copy.status_ == fitted.status_
    assert copy.partial_fit(HELD_OUT).parents_ == fitted.parents_
    assert repr(KGMI(3, penalty="bic")) == "KGMI(n_parents=3, penalty='bic')"
    assert "KGMI" in fitted._repr_html_()


def test_drawn_rows_look_like_those_learned_from(fitted):
    drawn = fitted.sample(20_000)
    assert (drawn.shape, drawn.dtype) == ((20_000, 10), np.int64)
    assert np.array_equal(drawn, fitted.sample(20_000))  # random_state=3 of the estimator
    assert not np.array_equal(drawn, fitted.sample(20_000, random_state=4))
    for kind in (np.random.RandomState, np.random.default_rng):
        one, other = kind(7), kind(7)
        first = fitted.sample(50, random_state=one)
        assert np.array_equal(first, fitted.sample(50, random_state=other))
        assert not np.array_equal(first, fitted.sample(50, random_state=one))  # generators advance
    assert fitted.score(drawn) == pytest.approx(fitted.score(ROWS), abs=0.1)
    assert KGMI().fit(drawn).learned_.dag.parents[2:] == TRUTH.parents[2:]


def test_columns_limit_the_parents_and_a_known_kernel_the_states():
    model = KGMI(n_parents=3).fit(ROWS[:, [0, 2]])
    assert model.status_.startswith("With 2 columns")
    assert model.adjacency_matrix_.shape == (2, 2)
    rows = ROWS[(ROWS < 2).all(axis=1)]
    assert KGMI(kernel=kgmi.Kernel.paper(), guide="stationary").fit(rows).learned_.states == ("0", "1", "2")


PAPER = kgmi.Kernel.paper()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        *(({"n_parents": value}, SettingError) for value in (0, 2.5, True)),
        *(({"states": value}, SettingError) for value in ("abc", 3)),
        ({"states": ["0", "0"]}, DataError),
        *(({"bins": value}, SettingError) for value in (1, "many")),
        ({"missing": "ignore"}, SettingError),
        ({"tiers": [0, 1]}, SettingError),
        ({"kernel": PAPER, "n_parents": 3}, SettingError),
        ({"kernel": PAPER, "states": ["0", "1"]}, KgmiError),
        ({"alphabet": "own", "states": ["0", "1", "2"]}, SettingError),
    ],
)
def test_options_that_make_no_sense_are_refused_in_fit(options, error):
    estimator = KGMI(**options)
    with pytest.raises(error):
        estimator.fit(ROWS)
    for name in ("parents_", "causal_graph_", "adjacency_matrix_", "attention_", "scores_", "kernel_", "status_"):
        assert not hasattr(estimator, name)
    for use in (estimator.sample, lambda: estimator.score(ROWS)):
        with pytest.raises(NotFittedError):
            use()


def test_tags_say_what_may_come_in():
    tags = KGMI().__sklearn_tags__()
    shown = tags.input_tags.categorical, tags.input_tags.string, tags.input_tags.allow_nan
    assert (*shown, tags.estimator_type) == (True, True, False, "density_estimator")
    assert KGMI(missing="pairwise").__sklearn_tags__().input_tags.allow_nan
