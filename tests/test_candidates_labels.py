"""Columns whose names are numbers: an option that mentions a number must not hit another column."""

import numpy as np
import pandas as pd
import pytest

import kgmi
from kgmi.candidates import candidate_sets
from kgmi.errors import SettingError

PROCESS = kgmi.Process(kgmi.Dag.chain(4), kgmi.Kernel.random(3, 1, rng=41))
ROWS = kgmi.sample(PROCESS, 300, rng=42)
FROM_ONE = pd.DataFrame(ROWS, columns=[1, 2, 3, 4])
BOTH = (
    r"mentions 1, which may be the column named '1' or column number 1, which is '2' \(numbers count from 0\); "
    "write the name as a text: '1'"
)
ASKED = {
    "forbidden": [(1, 2)],
    "required": [(1, 2)],
    "tiers": {1: 0, 2: 1, 3: 2, 4: 3},
    "roots": [1],
}


@pytest.mark.parametrize("option", ASKED)
def test_a_number_that_names_another_column_is_refused(option):
    with pytest.raises(SettingError, match=f"{option} {BOTH}"):
        kgmi.learn(FROM_ONE, n_parents=1, **{option: ASKED[option]})


@pytest.mark.parametrize("option", ["forbidden", "required", "tiers"])
def test_the_estimator_refuses_it_too(option):
    with pytest.raises(SettingError, match=f"{option} {BOTH}"):
        kgmi.KGMI(1, **{option: ASKED[option]}).fit(FROM_ONE)


@pytest.mark.parametrize("tiers", [[[1], [2, 3, 4]], [(np.int64(1),), (2,), (3, 4)]])
def test_groups_of_tiers_are_looked_at_too(tiers):
    with pytest.raises(SettingError, match=f"tiers {BOTH}"):
        candidate_sets(4, names=list("1234"), tiers=tiers)


def test_a_number_that_is_a_name_and_no_place():
    with pytest.raises(
        SettingError,
        match="forbidden mentions 4, which may be the column named '4' or column number 4, which is not",
    ):
        kgmi.learn(FROM_ONE, n_parents=1, forbidden=[(0, 4)])
    with pytest.raises(SettingError, match=r"roots mentions -1, which may be the column named '-1'.*text: '-1'"):
        kgmi.learn(ROWS, n_parents=1, names=["-1", "a", "b", "c"], roots=[-1])


def test_names_as_texts_do_what_the_message_promises():
    masks = {"forbidden": [("1", "2")], "required": [("2", "3")], "roots": ["1", "2"]}
    learned = kgmi.learn(FROM_ONE, n_parents=1, **masks)
    assert (learned.parents["1"], learned.parents["2"], learned.parents["3"]) == ((), (), ("2",))


@pytest.mark.parametrize("names", [["0", "1", "2", "3"], ["a", "b", "c", "d"], ["7", "1", "8", "9"], None])
def test_numbers_that_agree_with_the_names_or_are_none_of_them_are_places(names):
    learned = kgmi.learn(ROWS, n_parents=1, names=names, forbidden=[(0, 1)], required=[(np.int8(1), 2)])
    called = learned.names
    assert (learned.parents[called[1]], learned.parents[called[2]]) == ((), (called[1],))


def test_windows_may_be_named_by_numbers():
    sequence = kgmi.sample(kgmi.Process(kgmi.Dag.chain(400), kgmi.Kernel.random(3, 1, rng=43)), 1, rng=44)[0]
    learned = kgmi.learn(sequence, windows=3, n_parents=1, names=["2", "1", "0"])
    assert set(learned.parents) == {"2", "1", "0"}
    assert learned.parents["0"] == ("1",)
