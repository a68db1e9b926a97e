"""Columns coded batch after batch, what was seen in them, and the alphabets that follow."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi.alphabets import Rules, Seen, agreed_order, code_maps, code_of_each, in_order, joined_seen
from kgmi.cells import Cells, ColumnCoder, cells_of_array, cells_of_arrow, cells_of_objects
from kgmi.errors import CellError, DataError
from kgmi.table import row_place


def coder(form="typed", **rules):
    return ColumnCoder("A", Rules(**{"missing": "pairwise"} | rules), form, row_place)


def texts_of(one, batches):
    """Code batches and read the texts back; None for a missing value."""
    codes = np.concatenate([one.code(batch) for batch in batches])
    return [None if code < 0 else one.seen.texts[code] for code in codes.tolist()]


values = st.one_of(
    st.integers(-(2**63), 2**64),
    st.integers(-3, 3),
    st.sampled_from(["a", " a", "NA", "", "1", None, True, False, float("nan"), 2.0, Decimal(3), b"a"]),
)


def expected(value):
    """What a cell is, in words, by the rules."""
    if value is None or value != value:
        return None
    text = value.decode() if isinstance(value, bytes) else str(value)
    text = str(int(value)) if isinstance(value, float | Decimal) else text.strip()
    return None if text in ("NA", "") else text


@settings(max_examples=200)
@given(st.lists(st.lists(values, min_size=1, max_size=6), min_size=1, max_size=4))
def test_batches_of_any_values_are_read_back(batches):
    read = texts_of(coder(), [cells_of_objects(batch) for batch in batches])
    assert read == [expected(value) for batch in batches for value in batch]


@settings(max_examples=200)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["i1", "u1", "i2", "i8", "u8", "f4", "f8", ">i4", "?"]),
            st.sampled_from([1, 1000, 10**7]),
            st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=1, max_size=6),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_numbers_of_all_types_and_widths_follow_one_another(batches):
    one, cells, right = coder(), [], []
    for kind, factor, drawn in batches:
        numbers, gaps = np.array(drawn).T
        if kind in ("u1", "u8", "?"):
            numbers = abs(numbers)
        column = (numbers * (factor if kind[-1] == "8" else 1)).astype(kind)
        cells.append(cells_of_array(np.ma.array(column, mask=gaps), "A"))
        plain = column.tolist() if kind == "?" else column.astype(int).tolist()
        right += [None if gap else str(value) for value, gap in zip(plain, gaps, strict=True)]
    assert texts_of(one, cells) == right
    assert one.seen.has_gaps == (None in right)


def test_what_a_value_is_does_not_depend_on_equal_values_before():
    """1 and True are equal in Python; a declared NA is a state, and a plain one is missing."""
    assert texts_of(coder(), [cells_of_objects([value]) for value in (1, True, 1.0)]) == ["1", "True", "1"]
    column = pa.array(["x", "NA"]).dictionary_encode()
    declared, plain = (cells_of_arrow(column, "A", declares=declares) for declares in (True, False))
    assert (texts_of(coder(), [declared]), texts_of(coder(), [plain])) == (["x", "NA"], ["x", None])
    for order in ((declared, plain), (plain, declared)):
        with pytest.raises(DataError):
            texts_of(coder(), order)


@pytest.mark.parametrize(
    ("form", "cells", "at", "value"),
    [
        ("array", cells_of_array(np.array([1.0, 0.5]), "A"), 1, 0.5),
        ("typed", cells_of_array(np.array([np.inf, 1.0]), "A"), 0, np.inf),
        ("text", cells_of_objects(["x", "q\0"]), 1, "q\0"),
        ("text", cells_of_objects(["x", "two\nlines"]), 1, "two\nlines"),
        ("typed", Cells(np.array([0, -1, 0]), ["x"]), 1, None),
        ("typed", cells_of_arrow(pa.array(["x"] * 5_000 + [None, "x"]), "A"), 5_000, None),
        ("typed", cells_of_arrow(pa.array([0] * 5_000 + [7]), "A"), 5_000, 7),
    ],
)
def test_the_row_of_a_bad_cell_counts_from_the_row_of_its_batch(form, cells, at, value):
    with pytest.raises(CellError) as caught:
        coder(form, missing="error", n_states=2 if value == 7 else None).code(cells, 1_000)
    assert (caught.value.column, caught.value.row, caught.value.value) == ("A", 1_000 + at, value)


def test_too_many_values_are_no_states():
    with pytest.raises(DataError):
        coder().code(cells_of_objects([f"x{k}" for k in range(1_500)]))


texts = st.lists(st.sampled_from(["b", "a", "10", "9"]), unique=True, max_size=4).map(tuple)
seen = st.builds(
    Seen,
    texts,
    st.none() | st.lists(texts, min_size=1, max_size=2, unique=True).map(lambda some: tuple(sorted(some))),
    st.booleans(),
)


@settings(max_examples=200)
@given(st.lists(seen, min_size=1, max_size=4), st.randoms())
def test_joining_in_any_order_gives_the_same_states(some, random):
    def joined(parts):
        total = (Seen(),)
        for part in parts:
            total = joined_seen(total, (part,))
        return total[0]

    one = joined(some)
    other = joined(random.sample(some, len(some)))
    assert {*one.texts} == {*other.texts} == {text for part in some for text in part.texts}
    assert (one.declared, one.has_gaps, one.categories) == (other.declared, other.has_gaps, other.categories)
    new = code_maps((some[0],), code_of_each([other.texts]), [-1])[0]
    assert [other.texts[code] for code in new[:-1]] == [*some[0].texts]
    assert joined_seen((one,), (some[0],))[0].texts == one.texts  # codes keep their meaning


def test_orders():
    assert agreed_order([["z"], ["y", "x", "w"]]) == agreed_order([["y", "x", "w"], ["z"]]) == ("y", "x", "w", "z")
    long = ["9007199254740993", "9007199254740992", "1_0", "10", "NAN", "-1", "0.5"]
    assert in_order(long) == ("-1", "0.5", "10", "9007199254740992", "9007199254740993", "1_0", "NAN")


@pytest.mark.parametrize(
    ("columns", "states"),
    [
        (["ab", "cd"], ["ab", "cd"]),
        (["abc", "ab", "xy", "xy", "bc"], ["abc", "abc", "xy", "xy", "abc"]),
        (["abc", "a"], ["abc", "abc"]),
        (["ab", "bc"], ["ab", "bc"]),
        (["abcdef", "ab", "ab", "b"], ["abcdef", "ab", "ab", "abcdef"]),
    ],
)
def test_which_columns_share_states(columns, states):
    own = [*map(frozenset, columns)]
    assert Rules().column_states(columns) == [*map(frozenset, states)]
    assert Rules(alphabet="own").column_states(columns) == own
    assert Rules(alphabet="shared").column_states(columns) == [frozenset().union(*own)] * len(own)


@settings(max_examples=200)
@given(st.lists(st.frozensets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=6), st.randoms())
def test_states_are_those_of_some_column_and_do_not_depend_on_the_order(columns, random):
    found = Rules().column_states(columns)
    for own, states in zip(columns, found, strict=True):
        assert own <= states
        assert states in columns
        assert len(own) == 1 or 2 * len(own) >= len(states)
        if not any(own & other for other in columns if other != own):
            assert states == own
    assert Rules().column_states(found) == found
    order = random.sample(range(len(columns)), len(columns))
    assert Rules().column_states([columns[k] for k in order]) == [found[k] for k in order]
