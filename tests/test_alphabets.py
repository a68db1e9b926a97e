"""``alphabet="auto"``: columns over one set of values share it, the others have their own; everywhere alike."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgmi
from kgmi.data import as_table, prepare, read_table
from kgmi.data.states import common_states
from kgmi.kernel.tunables import random_tunables

from .commands import run_kgmi

CASES = {
    "nothing in common": (["ab", "xy", "01"], ["ab", "xy", "01"]),
    "one set": (["ab", "ab", "ab"], ["ab", "ab", "ab"]),
    "a state that one column lacks": (["01", "012", "012"], ["012", "012", "012"]),
    "two sets": (["01", "ab", "012", "ab"], ["012", "ab", "012", "ab"]),
    "fewer than half": (["01", "01", "01234"], ["01", "01", "01234"]),
    "constant": (["0", "012", "a"], ["012", "012", "a"]),
    "nobody has all": (["01", "12"], ["01", "12"]),
    "one word in common": (["abc", "cde"], ["abc", "cde"]),
    "through others": (["01", "12", "012"], ["012", "012", "012"]),
}


@pytest.mark.parametrize(("values", "states"), CASES.values(), ids=CASES)
def test_who_shares_states(values, states):
    assert common_states([*map(frozenset, values)]) == [*map(frozenset, states)]


@settings(max_examples=200)
@given(st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=6))
def test_states_contain_the_values_and_are_those_of_some_column(columns):
    found = common_states(columns)
    for own, states in zip(columns, found, strict=True):
        assert own <= states
        assert states in columns
        assert len(own) == 1 or 2 * len(own) >= len(states)
        if not any(own & other for other in columns if other != own):
            assert states == own
    assert common_states(found) == found


def titanic(n_rows=500):
    """Three columns with words and numbers of their own; who survives depends on the other two."""
    rng = np.random.default_rng(7)
    place, sex = rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)
    survived = rng.random(n_rows) < np.array([[0.4, 0.95], [0.2, 0.8], [0.1, 0.4]])[place, sex]
    words = {"PClass": np.array(["1st", "2nd", "3rd"])[place], "Sex": np.array(["male", "female"])[sex]}
    return pd.DataFrame(words | {"Survived": survived.astype(int)})


ALPHABETS = (("1st", "2nd", "3rd"), ("female", "male"), ("0", "1"))


def test_every_way_in_gives_the_same_alphabets(tmp_path):
    frame = titanic()
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    tables = [as_table(frame), as_table(frame.astype(object).to_numpy()), read_table(path), prepare(path).table]
    for table in tables:
        assert table.alphabets == ALPHABETS
        assert (table.codes == tables[0].codes).all()
    assert kgmi.count(kgmi.stream(path)).alphabets == ALPHABETS
    code, _, error = run_kgmi("count", str(path), "--out", str(tmp_path / "table.counts"))
    assert code == 0, error
    assert kgmi.Counts.load(tmp_path / "table.counts").alphabets == ALPHABETS
    assert kgmi.learn(kgmi.stream(path)).dag == kgmi.learn(frame).dag


def test_kernels_and_samples_keep_to_the_states_of_their_columns():
    frame = titanic()
    learned = kgmi.learn(frame)
    assert learned.parents == {"PClass": (), "Sex": (), "Survived": ("PClass", "Sex")}
    assert [one.table.shape for one in learned.kernels] == [(3, 2, 2)]
    drawn = kgmi.KGMI().fit(frame).sample(300, random_state=1)
    for name in frame:
        assert set(drawn[name]) == set(frame[name])


def test_numbers_in_arrays_are_read_like_those_in_files(tmp_path):
    rng = np.random.default_rng(8)
    rows = np.column_stack([rng.integers(0, 2, 300), rng.integers(0, 3, 300), rng.integers(5, 7, 300)])
    np.savetxt(tmp_path / "rows.csv", rows, fmt="%d", delimiter=",", header="a,b,c", comments="")
    for table in (as_table(rows), read_table(tmp_path / "rows.csv")):
        assert table.alphabets == (("0", "1", "2"), ("0", "1", "2"), ("5", "6"))
    assert as_table(rows, alphabet="shared").alphabets is None
    assert as_table(rows[:, :2]).alphabets is None


@pytest.mark.parametrize("guide", ["contextual", "plain"])
def test_guides_that_need_one_alphabet_get_one(guide):
    learned = kgmi.learn(titanic(), guide=guide, n_parents=1)
    assert learned.n_nodes == 3


MEASURED = """
import sys
import numpy as np, pandas as pd, kgmi
from kgmi.memory import peak_bytes
rng = np.random.default_rng(3)
n_rows, n_columns = 300, 27
hidden = rng.integers(0, 4, n_rows)
columns = {}
for number in range(n_columns):
    hidden = np.where(rng.random(n_rows) < 0.5, hidden, rng.integers(0, 4, n_rows))
    columns[f"c{number}"] = [f"word{number}_{code}" for code in hidden]
table = pd.DataFrame(columns)
kgmi.learn(table.iloc[:, :3])  # what is loaded and compiled once is no part of a fit
before = peak_bytes()
kgmi.learn(table, memory_limit="200MB")
print(peak_bytes() - before)
"""


def test_a_frame_of_words_stays_below_the_memory_limit():
    done = subprocess.run([sys.executable, "-c", MEASURED], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 200e6


@pytest.mark.parametrize("seed", range(4))
def test_a_column_with_other_values_changes_nothing_for_the_rest(seed):
    """Roots that are drawn together depend on each other; without their law they would be parent and child."""
    rng = np.random.default_rng(4700 + seed)
    kernel = kgmi.Kernel.paper(random_tunables(rng))
    dag = (kgmi.Dag.paper(10), kgmi.Dag.paper_mixed())[seed % 2]
    rows = kgmi.sample(kgmi.Process(dag, kernel), 1_000, rng=rng)
    frame = pd.DataFrame(rows, columns=[f"x{place}" for place in range(rows.shape[1])])
    alone = kgmi.learn(frame, n_parents=2)
    frame.insert(3 * seed, "year", rng.choice([2001, 2002, 2003, 2004], len(rows)))
    found = kgmi.learn(frame, n_parents=2)
    assert edges(found) == edges(alone) == edges_of(dag, alone.names)


def edges(found):
    return edges_of(found.dag, found.names)


def edges_of(dag, names):
    return {(names[parent], names[child]) for child, parents in enumerate(dag.parents) for parent in parents}
