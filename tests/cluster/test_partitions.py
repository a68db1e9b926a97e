"""Tables that Dask holds are counted where they lie, and give the counts that the same rows give in one process."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import kgmi
from kgmi.counting.count import count
from kgmi.errors import DataError, SettingError
from kgmi.streams import stream

from .tables import agree, columns, write_files

pytestmark = pytest.mark.cluster


def frames():
    """Pandas frames with texts, numbers and categories, of which one declares a state that never occurs."""
    import pandas as pd

    made = []
    for number in range(3):
        frame = columns(number, 400, 3).to_pandas()
        frame["code"] = np.random.default_rng(number + 60).integers(0, 3 + number, len(frame))
        frame["kind"] = pd.Categorical(frame["C0"], categories=["maybe", "yes", "no", "never", "unheard"])
        made.append(frame)
    return made


def held(kind):
    """The same rows in Dask, and as they are in memory."""
    import dask
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd

    whole = pd.concat(frames(), ignore_index=True)
    if kind == "data frame":
        return dd.from_pandas(whole, npartitions=5), whole
    if kind == "delayed frames":
        return [dask.delayed(frame) for frame in frames()], whole
    codes = np.random.default_rng(61).integers(0, 4, (1_000, 6)).astype(np.int16)
    if kind == "array":
        return da.from_array(codes, chunks=(300, 4)), codes  # cut across the columns too
    if kind == "array of unknown length":
        cut = da.from_array(codes, chunks=(300, 6))
        return cut[cut[:, 0] < 3], codes[codes[:, 0] < 3]
    return [dask.delayed(codes[start : start + 250]) for start in range(0, 1_000, 250)], codes


KINDS = ["data frame", "delayed frames", "array", "array of unknown length", "delayed arrays"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("where", ["workers", "threads", "the open client"])
def test_dask_and_memory_agree_bit_for_bit(four, kind, where):
    there, here = held(kind)
    options = {} if isinstance(here, np.ndarray) else {"alphabet": "own"}
    expected = count(stream(here, **options), 3)
    if where == "the open client":
        with four.as_current():
            found = kgmi.count(there, **options)
    else:
        found = kgmi.count(there, cluster=four if where == "workers" else None, **options)
    agree(expected, found, marks=False)  # other pieces have other marks
    assert len(set(found.marks)) >= 3
    again = kgmi.count(there, cluster=four, **options)
    assert again.marks == found.marks  # the same rows, wherever they are counted
    assert found.first is not None
    assert len(found.first) > 0  # of the first partitions only
    assert np.array_equal(found.first, expected.first[: len(found.first)])


def test_columns_and_rows_are_chosen_as_in_memory(four):
    there, here = held("data frame")
    options = {"columns": ["kind", "C1"], "where": [("code", "<", 3), ("C0", "!=", "never")], "alphabet": "own"}
    rows = kgmi.stream(there, names=["K", "L"], **options)
    assert rows.names == ("K", "L")
    assert rows.description == "the Dask data frame (5 partitions)"
    agree(
        kgmi.count(kgmi.stream(here, names=["K", "L"], **options), n_parents=1),
        kgmi.count(rows, n_parents=1),
        marks=False,
    )


@pytest.mark.parametrize("where", ["workers", "threads"])
def test_a_bad_cell_is_named_with_its_partition(four, where):
    import dask.dataframe as dd

    _, here = held("data frame")
    here.loc[300, "C1"] = None
    there = dd.from_pandas(here, npartitions=5)
    with pytest.raises(
        DataError, match=r"partition 1 of the Dask data frame .*: row 60, column 'C1': the value is missing"
    ):
        kgmi.count(there, alphabet="own", cluster=four if where == "workers" else None)


def test_partitions_that_do_not_fit_together_are_refused(four):
    import dask

    first, second, _ = frames()
    other = [dask.delayed(first), dask.delayed(second.drop(columns="C2"))]
    with pytest.raises(DataError, match=r"partition 1 of the Dask list of delayed tables .* has no column 'C2'"):
        kgmi.count(other, alphabet="own", cluster=four)


def _loaded(number, bad):
    if number == 2 and bad == "error":
        raise OSError("the shelf is empty")
    return None if number == 2 and bad == "no table" else np.full((50, 3), number % 2)


@pytest.mark.parametrize("where", ["workers", "threads"])
@pytest.mark.parametrize(
    ("bad", "says"),
    [("error", " cannot be computed: OSError: the shelf is empty"), ("no table", ": rows must .* got NoneType")],
)
def test_a_delayed_table_that_cannot_be_had_is_named(four, where, bad, says):
    import dask

    load, after = dask.delayed(_loaded), dask.delayed(lambda table: table)  # what fails is not the last step
    for numbers, place in (((0, 1, 2, 3), 2), ((2, 1), 0)):
        label = rf"^partition {place} of the Dask list of delayed tables \({len(numbers)} partitions\)"
        with (
            four.as_current() if where == "workers" else nullcontext(),
            pytest.raises(DataError, match=label + says),
        ):
            kgmi.count([after(load(number, bad)) for number in numbers])


@pytest.mark.parametrize("where", ["workers", "threads"])
def test_one_delayed_table_is_a_list_of_one(four, where):
    import dask

    table = np.random.default_rng(63).integers(0, 3, (200, 4))
    found = kgmi.count(dask.delayed(table), cluster=four if where == "workers" else None)
    agree(kgmi.count(table), found, marks=False)


def _counted_within(folder, codes, cluster):
    import dask.array as da

    held = kgmi.count(da.from_array(codes, chunks=(100, 4)))
    files = kgmi.count(folder, cluster=cluster, missing="pairwise")
    return held.tally.cells, files.tally.cells


def test_counting_within_a_task_does_not_wait_for_itself(own, tmp_path):
    from distributed import Client

    folder = str(write_files(tmp_path / "data", n_files=2, n_rows=250))
    codes = np.random.default_rng(64).integers(0, 3, (400, 4))
    with Client(own(1).address, set_as_default=False) as client:  # one worker with one thread
        task = client.submit(_counted_within, folder, codes, "client", pure=False)
        held, files = task.result(timeout=60)
        assert client.submit(abs, -3).result(timeout=30) == 3  # its place is its own again
    assert np.array_equal(held, kgmi.count(codes).tally.cells)
    assert np.array_equal(files, kgmi.count(folder, missing="pairwise").tally.cells)


def test_what_is_no_table_is_refused():
    import dask
    import dask.array as da
    import dask.bag as db

    table = dask.delayed(np.zeros((2, 2)))
    for source, says in (
        (db.from_sequence([1, 2]), "rows cannot be read from dask.bag"),
        (da.zeros(5), "rows must be a table"),
        ([table, np.zeros((2, 2))], "delayed tables only"),
        ([table, table], "its rows would count twice"),
    ):
        with pytest.raises(DataError, match=says):
            kgmi.stream(source)


def test_a_checkpoint_needs_files(four, tmp_path):
    there, _ = held("array")
    with pytest.raises(
        (DataError, SettingError), match="a checkpoint needs rows that can be read again, such as files"
    ):
        kgmi.count(there, cluster=four, checkpoint=tmp_path / "kept")


def test_a_graph_is_learned_from_a_dask_frame():
    import dask.array as da

    process = kgmi.Process(kgmi.Dag.paper(10), kgmi.Kernel.paper())
    rows = kgmi.sample(process, 3_000, rng=np.random.default_rng(62))
    learned = kgmi.learn(da.from_array(rows, chunks=(700, 10)), kernel=process.kernel)
    assert learned.dag == kgmi.learn(rows, kernel=process.kernel).dag
