"""What counts note of how rows were read: which state gaps are, declared states, and columns that were renamed."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import kgmi
from kgmi import KGMI
from kgmi.counting.container import VERSION
from kgmi.counting.counts import Counts
from kgmi.errors import CountsError, DataError, RecordError, SettingError
from kgmi.estimator import kept
from tests.commands import expect_refused, run_kgmi
from tests.count_drills import put_together, same, taken_apart
from tests.update_drills import assert_same_result, make_rows, write

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
        learned = kgmi.learn(kgmi.stream(table_of(first), missing="category", alphabet=alphabet), n_parents=1)
        with pytest.raises(CountsError, match=r"missing values are the state missing in"):
            kgmi.update(learned, table_of(second, 302))
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
        (("gaps", "plain"), None),
        (("both", "real"), None),
    ],
)
def test_what_is_no_conflict_is_added_up_as_at_once(kinds, options, tmp_path):
    tables = [table_of(kind, seed) for seed, kind in zip((303, 304), kinds, strict=True)]
    reading = {"missing": "category"} | (options or {})
    whole = kgmi.count(pa.concat_tables(tables), n_parents=1, **reading)
    learned = kgmi.update(kgmi.learn(kgmi.stream(tables[0], **reading), n_parents=1), tables[1])
    kgmi.save(learned, tmp_path / "result")
    again = kgmi.load(tmp_path / "result")
    assert_same_result(again, kgmi.learn(kgmi.stream(pa.concat_tables(tables), **reading), n_parents=1))
    assert same(Counts.load(next((tmp_path / "result").glob("*.counts"))), whole)
    if options is not None:  # else one lacks a state, which an update knows from the result
        parts = [kgmi.count(one, n_parents=1, **reading) for one in tables]
        assert same(parts[0] + parts[1], whole)


def test_a_table_that_is_read_whole_knows_what_its_gaps_are(tmp_path):
    gaps, real = (write(table_of(kind), tmp_path / f"{kind}.csv") for kind in ("gaps", "real"))
    words = ("--missing", "category", "--parents", "1", "--no-stream", "--tiers", "w,v|u")
    for first, second, tail in ((gaps, real, ()), (real, gaps, ()), (gaps, real, ("--states", "a,b,missing"))):
        result = str(tmp_path / "result")
        assert run_kgmi("learn", first, "--out", result, *words, *tail)[0] == 0
        if tail:
            assert run_kgmi("learn", "--update", result, second)[0] == 0
        else:
            expect_refused(1, "learn", "--update", result, second, says=["missing values are the state missing in"])


def test_an_estimator_says_which_state_gaps_are(monkeypatch, tmp_path):
    monkeypatch.setattr(kept, "MOST_BYTES", 100)
    frames = {kind: table_of(kind).to_pandas() for kind in ("gaps", "real")}
    models = [KGMI(n_parents=1, missing="category").fit(one[:50]).partial_fit(one[50:]) for one in frames.values()]
    assert [model._kept.reading.get("gap") for model in models] == ["missing", None]
    with pytest.raises(CountsError, match="missing values are the state missing in"):
        models[0]._kept + models[1]._kept


def test_files_without_notes_load_and_notes_that_cannot_be_are_refused(tmp_path):
    path, counts = tmp_path / "a.counts", counted("gaps", states=("a", "b"))
    counts.save(path)
    _, header, arrays = taken_apart(path)
    older = {"missing": "category", "alphabet": "shared"}
    put_together(path, VERSION, header | {"reading": older}, arrays)
    assert Counts.load(path).reading == older
    for wrong in (
        {"gap": "c"}, {"gap": None}, {"gap": ["a"]}, {"missing": "error"}, {"states": ["b", "a"]}, {"states": "ab"},
        {"states": None}, {"names": {"z": "y"}}, {"names": {"u": 1}}, {"names": ["u"]}, {"names": None},
    ):  # fmt: skip
        put_together(path, VERSION, header | {"reading": header["reading"] | wrong}, arrays)
        with pytest.raises(CountsError, match="does not say how its rows were read"):
            Counts.load(path)


@pytest.mark.parametrize("states", [("1", "0"), ("1", "2"), ("1", "x"), ("0", "1")])
@pytest.mark.parametrize("kind", [np.int64, object])
def test_numbers_in_arrays_stay_positions_in_declared_states(states, kind, tmp_path):
    rows = make_rows(305, 4, 2, 400)[0].astype(kind)
    first = kgmi.stream(rows[:200], states=states)
    whole = kgmi.learn(kgmi.stream(rows, states=states), n_parents=1)
    learned = kgmi.learn(first, n_parents=1)
    kgmi.save(kgmi.learn(kgmi.count(first, n_parents=1)), tmp_path / "result")
    for record in (learned, tmp_path / "result"):
        assert_same_result(kgmi.update(record, rows[200:]), whole)
        assert_same_result(kgmi.update(record, kgmi.stream(rows[200:], states=states)), whole)
        if states != ("0", "1"):
            with pytest.raises(SettingError, match=r"numbers in arrays may be positions .* give states=… again"):
                kgmi.update(record, kgmi.stream(rows[200:]))


@pytest.mark.parametrize("states", [["1", "2", "3"], ["2", "1", "0"]])
def test_numbers_in_arrays_after_values_in_frames_are_not_guessed(states, tmp_path):
    rows = make_rows(309, 3, 3, 400)[0] + int(states[0] == "1")
    first, second = (pd.DataFrame(part, columns=["X1", "X2", "X3"]) for part in np.split(rows, 2))
    learned = kgmi.learn(kgmi.stream(first, states=states), n_parents=1)
    array = second.to_numpy()
    both = kgmi.learn(kgmi.merge([kgmi.count(kgmi.stream(one, states=states)) for one in (first, second)]))
    for record in (learned, kgmi.update(learned, second), both):
        for new in (array[:50], kgmi.stream(array[:50]), array[:50].astype(object)):
            with pytest.raises(SettingError, match=r"positions among them, or their values.* give a data frame"):
                kgmi.update(record, new)
    assert_same_result(
        kgmi.update(learned, second),
        kgmi.learn(kgmi.stream(pd.concat([first, second]), states=states), n_parents=1),
    )
    places = np.array([[states.index(str(cell)) for cell in row] for row in array.tolist()])
    assert_same_result(kgmi.update(learned, places, states=states), kgmi.update(learned, second))


def test_numbers_in_arrays_are_values_where_no_states_were_declared():
    rows = 1 + make_rows(306, 4, 3, 400)[0]
    learned = kgmi.learn(kgmi.stream(rows[:200]), n_parents=1)
    whole = kgmi.learn(kgmi.stream(rows), n_parents=1)
    assert_same_result(kgmi.update(learned, rows[200:]), whole)
    assert_same_result(kgmi.update(learned, kgmi.stream(rows[200:])), whole)


@pytest.mark.parametrize("where", ["stream", "learn", "both"])
def test_columns_that_were_renamed_are_not_exchanged(where, tmp_path):
    rows = make_rows(307, 3, 2, 600)[0]
    first, second, third = (pd.DataFrame(part, columns=["a", "b", "c"]) for part in np.split(rows, 3))
    names = {
        "stream": (["b", "a", "c"], None),
        "learn": (None, ["b", "a", "c"]),
        "both": (["x", "a", "z"], ["b", "a", "c"]),
    }
    in_stream, in_learn = names[where]

    def learned_from(frame):
        return kgmi.learn(kgmi.stream(frame, names=in_stream), names=in_learn, n_parents=1, order=["c", "b", "a"])

    kgmi.save(learned_from(first), tmp_path / "result")
    for record in (learned_from(first), tmp_path / "result"):
        learned = kgmi.update(kgmi.update(record, second), third)
        assert_same_result(learned, learned_from(pd.DataFrame(rows, columns=["a", "b", "c"])))
    with pytest.raises(DataError, match=r"no column 'a', which the result has as 'b' .* with columns=\[…\] and"):
        kgmi.update(learned_from(first), second.rename(columns={"a": "d"}))


def test_columns_of_several_names_have_to_be_said():
    rows = make_rows(308, 3, 2, 600)[0]
    first, second, third = np.split(rows, 3)
    names = ["u", "v", "w"]
    learned = kgmi.learn(kgmi.stream(first, names=names), n_parents=1)
    joined = kgmi.update(learned, pd.DataFrame(second, columns=names))  # these have the names already
    whole = kgmi.learn(kgmi.stream(rows, names=names), n_parents=1)
    assert_same_result(kgmi.update(joined, third), whole)
    assert_same_result(kgmi.update(joined, pd.DataFrame(third, columns=names)), whole)
    others = pd.DataFrame(second, columns=["p", "q", "r"])
    learned = kgmi.update(learned, others, columns=["p", "q", "r"], names=names)
    with pytest.raises(RecordError, match=r"other names in some of its rows .* which columns of these are u, v, w"):
        kgmi.update(learned, third)
    last = kgmi.update(learned, third, columns=["X1", "X2", "X3"], names=names)
    assert_same_result(last, kgmi.learn(kgmi.stream(rows, names=names), n_parents=1))
