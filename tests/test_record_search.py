"""Results of a search on disk: kernels, laws, alphabets and the order of the columns; records of older versions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kgmi
from kgmi import Dag, Kernel, Process, Table, exact_joint, learn, load, sample, save
from kgmi.errors import RecordError

from .records import LEARNED, assert_same, edit, swap

KERNEL = Kernel.paper()
PAPER = Process(Dag.paper(), KERNEL)
ROWS = sample(PAPER, 600, rng=8150)
MENDEL = Kernel.mendelian(0.4)
VERSION_1 = Path(__file__).parent / "record_version_1"  # written by kgmi 0.2.0


def narrow():
    """Rows whose columns have alphabets of their own, of two sizes."""
    return np.concatenate([np.minimum(ROWS[:, :3], 1), ROWS[:, 3:]], axis=1)


def with_gaps():
    rows = ROWS.astype(float)
    rows[np.random.default_rng(8151).random(rows.shape) < 0.05] = np.nan
    return rows


def sequence():
    """An order-2 chain with lags 1 and 2."""
    return sample(Process(Dag.chain(2_000, 2), KERNEL), 1, rng=8152)[0]


def words():
    states = ("tief", "mittel", "hoch")
    return Table(ROWS, tuple("abcdefghij"), states)


RESULTS = {
    "likelihood": lambda: learn(ROWS),
    "words": lambda: learn(words(), kernel=KERNEL),
    "contextual": lambda: learn(ROWS, guide="contextual"),
    "contextual from pairs": lambda: learn(exact_joint(PAPER), kernel=KERNEL, guide="contextual"),
    "a kernel for each node": lambda: learn(ROWS, share="node"),
    "alphabets of their own": lambda: learn(narrow(), alphabet="own", share="node"),
    "alphabets of two sizes, shared kernels": lambda: learn(narrow(), alphabet="own"),
    "tiers that move columns": lambda: learn(ROWS[:, ::-1], tiers=range(9, -1, -1), names=tuple("abcdefghij")),
    "masks": lambda: learn(ROWS, forbidden=[(0, 3)], required=[("X1", "X2")], max_lag=8),
    "windows": lambda: learn(sequence(), windows=5),
    "gaps": lambda: learn(with_gaps(), missing="pairwise"),
    "a category for gaps": lambda: learn(with_gaps(), missing="category"),
    "an exact law": lambda: learn(Process(Dag.paper(5), KERNEL)),
    "an exact law, kernel known": lambda: learn(Process(Dag.paper(5), KERNEL), kernel=KERNEL),
    "errors": lambda: learn(ROWS, error=0.05),
    "errors estimated": lambda: learn(ROWS, kernel=KERNEL, error="estimate"),
    "a kernel with zeros": lambda: learn(sample(Process(Dag.paper(), MENDEL), 500, rng=8153), kernel=MENDEL),
    "a labelled tail": lambda: learn(sample(PAPER, 500, rng=8154, labelled=True), kernel_source="labelled"),
    "unseen parents": lambda: learn(ROWS[:15], penalty="none", smoothing=0),
    "untrained heads": lambda: learn(ROWS, epochs=0),
    "nothing found": lambda: learn(np.random.default_rng(8155).integers(3, size=(300, 5))),
    "the paper's guide": lambda: learn(ROWS, kernel=KERNEL, guide="stationary"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_what_was_saved_is_loaded(tmp_path, name):
    learned = RESULTS[name]()
    found = load(save(learned, tmp_path))
    assert_same(found, learned)
    save(found, tmp_path)
    assert_same(load(tmp_path), learned)


def test_a_loaded_model_says_the_same_of_new_rows(tmp_path):
    learned = learn(narrow(), alphabet="own")
    found = load(save(learned, tmp_path))
    rows = found.model.sample(50, rng=8156)
    np.testing.assert_array_equal(rows, learned.model.sample(50, rng=8156))
    np.testing.assert_array_equal(found.model.log_likelihood(rows), learned.model.log_likelihood(rows))
    assert np.isfinite(found.model.log_likelihood(rows)).all()


def test_the_json_says_what_the_kernels_are(tmp_path):
    learned = learn(ROWS)
    content = json.loads(save(learned, tmp_path).read_text(encoding="utf-8"))
    (one,) = content["kernels"]
    assert one == {
        "shape": [3, 3, 3],
        "children": [2, 3, 4, 5, 6, 7, 8, 9],
        "symmetric": False,
        "known": False,
        "error": 0.0,
        "implied": False,
        "class_name": None,
    }
    assert content["fit"]["score"] == learned.fit.score
    assert content["model"]["given"] == [[], [0], [0, 1], *(list(ps) for ps in learned.dag.parents[3:])]
    assert content["model"]["laws"] == [0, 1] + [2] * 8  # eight nodes, one law
    assert content["arrays"]["content"]["model_laws"]["shape"] == [3 + 9 + 27]


def test_a_record_of_version_1_is_still_read(tmp_path):
    found = load(VERSION_1)
    again = learn(
        exact_joint(Process(Dag.paper(5), KERNEL)), kernel=KERNEL, epochs=20, record_at=[10], names=list("abcde")
    )
    assert found.dag == again.dag == Dag.paper(5)
    assert found.dag.root_blocks == ((0, 1),)
    assert (found.names, found.states) == (tuple("abcde"), tuple("012"))
    assert found.kernel == KERNEL
    assert found.status.startswith("Not converged: after 20 epochs 6 of 6 heads are still spread out")
    np.testing.assert_allclose(found.attention, again.attention, atol=1e-12)
    np.testing.assert_allclose(found.scores, again.scores, atol=1e-12)
    np.testing.assert_allclose(found.trace.objective, again.trace.objective, atol=1e-12)
    assert [a.holds for a in found.assumptions.assumptions] == [True, True, False, False]
    assert (found.kernels, found.fit, found.model, found.alphabets) == ((), None, None, None)
    assert found.order == (0, 1, 2, 3, 4)
    assert found.configuration.items() <= again.configuration.items()
    assert json.loads((VERSION_1 / "record.json").read_text())["versions"]["kgmi"] == "0.2.0"
    save(found, tmp_path)
    assert json.loads((tmp_path / "record.json").read_text())["version"] == 3
    assert_same(load(tmp_path), found)


SEARCHED = learn(narrow(), alphabet="own")


@pytest.fixture
def saved(tmp_path):
    save(SEARCHED, tmp_path)
    return tmp_path


def kernel(**change):
    return lambda content: content["kernels"][0].update(change)


@pytest.mark.parametrize(
    "change",
    [
        *(lambda c, key=key: c.pop(key) for key in ("kernels", "fit", "alphabets", "order", "model")),
        lambda c: c.update(kernels=None),
        lambda c: c.update(kernels=3),
        lambda c: c.update(kernels=[]),
        lambda c: c.update(kernels=[3]),
        lambda c: c.update(kernels=[{}]),
        lambda c: c["kernels"].pop(),
        lambda c: c["kernels"].append(c["kernels"][0]),
        *(
            lambda c, key=key: c["kernels"][0].pop(key)
            for key in ("shape", "children", "symmetric", "known", "error")
        ),
        *(
            kernel(shape=shape)
            for shape in (None, 3, [], [27], [3, 3, 2], [3, 9], [27, 1], [-3, -3, 3], [3.0, 3, 3])
        ),
        *(kernel(shape=shape) for shape in (["3", 3, 3], [True, 9, 3], [10**9, 10**9, 3], [0, 3, 3])),
        *(kernel(children=nodes) for nodes in (None, [], [10], [-1], [3, 3], ["3"], [3.0], 3, [0])),
        *(kernel(symmetric=value) for value in (1, None, "yes")),
        kernel(known="no"),
        *(kernel(error=value) for value in (None, "much", [])),
        lambda c: c.update(fit=3),
        lambda c: c.update(fit={}),
        *(
            lambda c, key=key: c["fit"].pop(key)
            for key in ("score", "rounds", "settled", "n_starts", "shared_score")
        ),
        *(lambda c, key=key: c["fit"].update({key: "x"}) for key in ("score", "rounds", "settled", "node_score")),
        lambda c: c["fit"].update(rounds=2.5),
        lambda c: c.update(order=None),
        lambda c: c.update(order=[0] * 10),
        lambda c: c.update(order=list(range(9))),
        lambda c: c.update(order="0123456789"),
        lambda c: c.update(alphabets=[["0", "1", "2"]] * 9),
        lambda c: c.update(alphabets=[["0", "1", "2"]] * 10),
        lambda c: c.update(alphabets=[["0", "0"]] * 10),
        lambda c: c.update(alphabets=[["0", "other"], *c["alphabets"][1:]]),
        lambda c: c.update(alphabets=[[], *c["alphabets"][1:]]),
        lambda c: c.update(alphabets=None),
        lambda c: c.update(alphabets=3),
        lambda c: c.update(model=3),
        lambda c: c.update(model={}),
        lambda c: c["model"].pop("given"),
        lambda c: c["model"].pop("laws"),
        lambda c: c["model"].update(given=c["model"]["given"][:-1]),
        lambda c: c["model"].update(laws=c["model"]["laws"][:-1]),
        lambda c: c["model"].update(laws=c["model"]["laws"][::-1]),
        lambda c: c["model"].update(laws=[0] * 10),
        lambda c: c["model"].update(laws=[-1] * 10),
        lambda c: c["model"].update(laws=[0.0, *c["model"]["laws"][1:]]),
        lambda c: c["model"]["given"].__setitem__(9, [9]),
        lambda c: c["model"]["given"].__setitem__(0, [9]),
        lambda c: c["model"]["given"].__setitem__(9, [0, 0]),
        lambda c: c["model"]["given"].__setitem__(9, [-1]),
        lambda c: c["model"]["given"].__setitem__(9, "08"),
    ],
)
def test_damaged_fields(saved, change):
    edit(saved, change)
    with pytest.raises(RecordError, match=r"record\.json is damaged"):
        load(saved)


@pytest.mark.parametrize("name", ["kernel_tables", "kernel_counts", "kernel_cases", "kernel_errors", "model_laws"])
@pytest.mark.parametrize(
    "change",
    [
        lambda a: a[:-1],
        lambda a: np.append(a, 1.0),
        lambda a: a[None],
        lambda a: a[:0],
        lambda a: np.float64(1),
    ],
)
def test_arrays_of_another_length(saved, name, change):
    swap(saved, lambda arrays: arrays.update({name: change(arrays[name])}))
    with pytest.raises(RecordError, match=f"is damaged: {name} has shape"):
        load(saved)


@pytest.mark.parametrize("name", ["kernel_tables", "model_laws", "model_marginals"])
@pytest.mark.parametrize("factor", [2.0, -1.0, np.nan, 0.999])
def test_laws_that_are_none(saved, name, factor):
    swap(saved, lambda arrays: arrays.update({name: arrays[name] * factor}))
    with pytest.raises(RecordError, match="probabilities must not be negative and must sum to 1"):
        load(saved)


@pytest.mark.parametrize("name", ["kernel_tables", "kernel_cases", "model_laws", "model_marginals"])
def test_arrays_that_are_not_there(saved, name):
    swap(saved, lambda arrays: arrays.pop(name))
    with pytest.raises(RecordError, match=f"is damaged: {name} has shape"):
        load(saved)


def test_kernels_that_nobody_lists_are_damage(tmp_path):
    save(LEARNED, tmp_path)
    swap(tmp_path, lambda arrays: arrays.update(kernel_tables=np.full(4, 0.5)))
    with pytest.raises(RecordError, match="kernel_tables has shape"):
        load(tmp_path)


def test_the_record_before_any_damage_loads(saved):
    edit(saved, lambda c: None)
    swap(saved, lambda arrays: None)
    assert load(saved).dag == SEARCHED.dag
    assert kgmi.load(saved).fit == SEARCHED.fit
