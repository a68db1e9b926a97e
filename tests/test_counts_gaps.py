"""Missing values counted as a state: counts know which state that is, and do not mix it with others of its name."""

import numpy as np
import pyarrow as pa
import pytest

import kgmi
from kgmi import KGMI
from kgmi.counting.container import VERSION
from kgmi.counting.counts import Counts
from kgmi.errors import CountsError
from kgmi.estimator import kept
from tests.commands import expect_refused
from tests.count_drills import put_together, same, taken_apart

WORDS = {
    "gaps": ["a", "b", None],
    "real": ["a", "b", "missing"],
    "plain": ["a", "b"],
    "both": ["a", "b", "missing", None],
}


def table_of(kind, seed=301, n_rows=150):
    rng = np.random.default_rng(seed)
    return pa.table({name: rng.choice(np.array(WORDS[kind], dtype=object), n_rows).tolist() for name in "uvw"})


def counted(kind, seed=301, **options):
    return kgmi.count(table_of(kind, seed), missing="category", n_parents=1, **options)


@pytest.mark.parametrize("alphabet", ["shared", "own"])
def test_gaps_and_a_state_by_their_name_are_not_added_up(alphabet, tmp_path):
    parts = {kind: counted(kind, alphabet=alphabet) for kind in WORDS}
    assert {kind: one.reading.get("gap") for kind, one in parts.items()} == {
        "gaps": "missing", "real": None, "plain": None, "both": "missing_2"
    }  # fmt: skip
    for kind, one in parts.items():
        one.save(tmp_path / f"{kind}.counts")
        assert same(Counts.load(tmp_path / f"{kind}.counts"), one)
    for first, second in (("gaps", "real"), ("real", "gaps"), ("gaps", "both"), ("both", "gaps")):
        with pytest.raises(CountsError, match=r"values are the state missing in .* another name in the rows"):
            parts[first] + parts[second]
    files = [str(tmp_path / f"{kind}.counts") for kind in ("gaps", "real")]
    expect_refused(
        1, "merge", *files, "-o", str(tmp_path / "sum.counts"), says=["a state of the rows has this name in"]
    )


@pytest.mark.parametrize(
    ("kinds", "options"),
    [
        (("gaps", "gaps"), {}),
        (("real", "real"), {}),
        (("both", "both"), {}),
        (("gaps", "real"), {"states": ("a", "b", "missing")}),
        (("real", "gaps"), {"states": ("a", "b", "missing")}),
        (("plain", "both"), {"states": ("a", "b", "missing")}),
    ],
)
def test_what_is_no_conflict_is_added_up_as_at_once(kinds, options):
    tables = [table_of(kind, seed) for seed, kind in zip((303, 304), kinds, strict=True)]
    options = {"missing": "category", "n_parents": 1, **options}
    first, second = (kgmi.count(one, **options) for one in tables)
    assert same(first + second, kgmi.count(pa.concat_tables(tables), **options))


def test_an_estimator_says_which_state_gaps_are(monkeypatch):
    monkeypatch.setattr(kept, "MOST_BYTES", 100)
    frames = {kind: table_of(kind).to_pandas() for kind in ("gaps", "real")}
    models = [KGMI(n_parents=1, missing="category").fit(one[:50]).partial_fit(one[50:]) for one in frames.values()]
    assert [model._kept.reading.get("gap") for model in models] == ["missing", None]
    with pytest.raises(CountsError, match="missing values are the state missing in"):
        models[0]._kept + models[1]._kept


def test_files_without_the_state_load_and_states_that_cannot_be_are_refused(tmp_path):
    path, counts = tmp_path / "a.counts", counted("gaps", states=("a", "b"))
    counts.save(path)
    _, header, arrays = taken_apart(path)
    older = {"missing": "category", "alphabet": "shared"}
    put_together(path, VERSION, header | {"reading": older}, arrays)
    assert Counts.load(path).reading == older
    for wrong in (
        {"gap": "c"}, {"gap": None}, {"gap": ["a"]}, {"missing": "error"}, {"states": ["a", "b"]},
    ):  # fmt: skip
        put_together(path, VERSION, header | {"reading": header["reading"] | wrong}, arrays)
        with pytest.raises(CountsError, match="does not say how its rows were read"):
            Counts.load(path)
