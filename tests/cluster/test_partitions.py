"""Tables that Dask holds are counted where they lie, and give the counts that the same rows give in one process."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

from kgmi.counts.stream import count
from kgmi.errors import CellError, DataError
from kgmi.sources import stream

from .tables import agree, columns, write_files

pytestmark = pytest.mark.cluster


@pytest.fixture(params=["workers", "threads"])
def where(request, four):
    """Where partitions are counted: ``cluster`` of ``count``."""
    return four if request.param == "workers" else None


def frames():
    """Pandas frames with texts, numbers and categories, of which one declares a state that never occurs."""
    made = []
    for number in range(3):
        frame = columns(number, 400, 3).to_pandas()
        frame["code"] = np.random.default_rng(number + 60).integers(0, 3 + number, len(frame))
        frame["kind"] = pd.Categorical(frame["C0"], categories=["maybe", "yes", "no", "never", "unheard"])
        made.append(frame)
    return made


def whole_frame():
    return pd.concat(frames(), ignore_index=True)


CODES = np.random.default_rng(61).integers(0, 4, (1_000, 6)).astype(np.int16)


def cut(dask):
    return dask.array.from_array(CODES, chunks=(300, 4))  # across the columns too


HELD = {
    "data frame": lambda dask: (dask.dataframe.from_pandas(whole_frame(), npartitions=5), whole_frame()),
    "delayed frames": lambda dask: ([dask.delayed(frame) for frame in frames()], whole_frame()),
    "array": lambda dask: (cut(dask), CODES),
    "array of unknown length": lambda dask: (cut(dask)[cut(dask)[:, 0] < 3], CODES[CODES[:, 0] < 3]),
    "delayed arrays": lambda dask: ([dask.delayed(part) for part in np.split(CODES, 4)], CODES),
    "delayed array": lambda dask: (dask.delayed(CODES), CODES),
}


def held(kind):
    """The same rows in Dask, and as they are in memory."""
    import dask.array
    import dask.dataframe

    return HELD[kind](dask)


@pytest.mark.parametrize("kind", HELD)
def test_dask_and_memory_agree_bit_for_bit(four, kind):
    there, here = held(kind)
    options = {} if isinstance(here, np.ndarray) else {"alphabet": "own"}
    expected = count(stream(here, **options), width=3)
    found = [count(stream(there, **options), width=3, cluster=client) for client in (four, None)]
    with four.as_current():
        found.append(count(stream(there, **options), width=3))
    for one in found:
        agree(expected, one, marks=False)  # other pieces have other marks
        assert one.marks == found[0].marks  # the same rows, wherever they are counted
    rows = stream(there, **options).table()
    assert np.array_equal(rows.codes, stream(here, **options).table().codes)


def test_columns_and_rows_are_chosen_as_in_memory(four):
    options = {"columns": ["kind", "C1"], "where": [("code", "<", 3), ("C0", "!=", "never")], "alphabet": "own"}
    there, expected = (stream(rows, names=["K", "L"], **options) for rows in held("data frame"))
    agree(count(expected, width=2), count(there, width=2, cluster=four), marks=False)


def test_a_bad_cell_is_named_with_its_partition(where):
    import dask.dataframe as dd

    here = whole_frame()
    here.loc[300, "C1"] = None
    rows = stream(dd.from_pandas(here, npartitions=5), alphabet="own")
    with pytest.raises(CellError, match="partition 1 of the Dask data frame") as caught:
        count(rows, width=2, cluster=where)
    assert (caught.value.column, caught.value.row) == ("C1", 60)


def test_partitions_with_other_columns_are_refused(where):
    import dask

    first, second, _ = frames()
    for other in (second.drop(columns="C2"), second.assign(more=1)):
        rows = stream([dask.delayed(first), dask.delayed(other)], alphabet="own")
        with pytest.raises(DataError, match=r"partition 1 of the Dask list .*('C2'|'more')"):
            count(rows, width=3, cluster=where)


def _loaded(number, bad):
    if number == 2 and bad == "error":
        raise OSError("the shelf is empty")
    return None if number == 2 else np.full((50, 3), number % 2)


@pytest.mark.parametrize(("bad", "says"), [("error", "OSError: the shelf is empty"), ("no table", "NoneType")])
def test_a_delayed_table_that_cannot_be_had_is_an_error(where, bad, says):
    import dask

    load, after = dask.delayed(_loaded), dask.delayed(lambda table: table)  # what fails is not the last step
    with where.as_current() if where else nullcontext():
        rows = stream([after(load(number, bad)) for number in (0, 1, 2, 3)])
        with pytest.raises(DataError, match=rf"partition 2 .*{says}"):
            count(rows, width=2)
        with pytest.raises(DataError, match=rf"partition 0 .*{says}"):
            stream([after(load(number, bad)) for number in (2, 1)])


def _counted_within(folder, codes):
    import dask.array as da

    from kgmi.counts.dask import connect

    held = count(stream(da.from_array(codes, chunks=(100, 4))), width=3)
    with connect("client") as client:
        files = count(stream(folder, missing="pairwise"), width=3, cluster=client)
    return held, files


def test_counting_within_a_task_does_not_wait_for_itself(own, tmp_path):
    from distributed import Client

    folder = str(write_files(tmp_path / "data", n_files=2, n_rows=250))
    codes = np.random.default_rng(64).integers(0, 3, (400, 4))
    with Client(own(1).address, set_as_default=False) as client:  # one worker with one thread
        held, files = client.submit(_counted_within, folder, codes, pure=False).result(timeout=120)
        assert client.submit(abs, -3).result(timeout=30) == 3  # its place is its own again
    agree(held, count(stream(codes), width=3), marks=False)
    agree(files, count(stream(folder, missing="pairwise"), width=3))


def test_what_is_no_table_and_what_counts_twice_is_refused():
    import dask
    import dask.array as da
    import dask.bag as db

    table = dask.delayed(np.zeros((2, 2)))
    for source in (db.from_sequence([1]), da.zeros(5), [table, np.zeros((2, 2))], [table, table]):
        with pytest.raises(DataError):
            stream(source)
