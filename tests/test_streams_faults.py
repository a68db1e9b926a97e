"""Files that vanish, change, are cut off or do not fit together: a clear error, never fewer or other rows."""

import gzip
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from kgmi.errors import DataError, KgmiError
from kgmi.streams import stream

from .stream_drills import whole

N_ROWS = 30_000


def rows(seed=101, n_rows=N_ROWS):
    rng = np.random.default_rng(seed)
    texts = np.array(["low", "mid", "high"])
    return pa.table(
        {
            "a": rng.integers(0, 3, n_rows).astype(np.int8),
            "b": pa.array(texts[rng.integers(0, 3, n_rows)]),
            "c": pa.array(rng.normal(size=n_rows) > 0),
        }
    )


def write_parquet(table, path):
    parquet.write_table(table, path, row_group_size=5_000)


def write_arrow(table, path):
    with ipc.new_file(str(path), table.schema) as out:
        out.write_table(table, max_chunksize=5_000)


def write_stream(table, path):
    with ipc.new_stream(str(path), table.schema) as out:
        out.write_table(table, max_chunksize=5_000)


def write_csv(table, path):
    names = ",".join(table.column_names)
    lines = [",".join(map(str, row)) for row in zip(*(c.to_pylist() for c in table.columns), strict=True)]
    path.write_text("\n".join([names, *lines]) + "\n")


def write_npy(table, path):
    np.save(
        path, np.column_stack([table["a"].to_numpy(), table["c"].to_numpy(zero_copy_only=False)]).astype(np.int8)
    )


KINDS = {
    "a.parquet": write_parquet,
    "a.arrow": write_arrow,
    "a.ipc": write_stream,
    "a.csv": write_csv,
    "a.npy": write_npy,
}


@pytest.fixture(params=KINDS)
def file(request, tmp_path):
    """A file of every kind, and how it is written."""
    path = tmp_path / request.param
    KINDS[request.param](rows(), path)
    return path, KINDS[request.param]


def begin(path):
    """A stream whose file is half read, in blocks that are small enough for that."""
    from kgmi.memory import within

    opened = stream(path)
    with within(20_000):
        batches = opened.batches(opened.fragments[-1])
        first = next(batches)
    assert 0 < first.columns.shape[1] < N_ROWS
    return batches


def test_a_file_that_is_gone(file):
    path, _ = file
    opened = stream(path)
    path.unlink()
    with pytest.raises(DataError, match=re.escape(f"{path} is gone: it was there when the files were listed")):
        list(opened.batches(opened.fragments[0]))


def test_a_file_that_vanishes_while_it_is_read(file):
    path, _ = file
    batches = begin(path)
    path.unlink()
    with pytest.raises(DataError, match=re.escape(f"{path} is gone")):
        list(batches)


def test_a_file_that_is_written_anew_while_it_is_read(file):
    path, write = file
    batches = begin(path)
    write(rows(103), path.with_name("new" + path.suffix))
    path.with_name("new" + path.suffix).replace(path)
    with pytest.raises(DataError, match=re.escape(f"{path} changed while it was read")):
        list(batches)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.95])
def test_a_file_that_is_cut_off_while_it_is_read(file, share):
    path, _ = file
    batches = begin(path)
    with path.open("r+b") as stream_of_bytes:
        stream_of_bytes.truncate(int(share * path.stat().st_size))
    with pytest.raises(DataError, match=re.escape(f"{path} changed while it was read")):
        list(batches)


def test_a_file_to_which_rows_are_added_while_it_is_read(tmp_path):
    path = tmp_path / "a.csv"
    write_csv(rows(), path)
    batches = begin(path)
    with path.open("a") as text:
        text.write("1,low,True\n")
    with pytest.raises(DataError, match="changed while it was read"):
        list(batches)


@pytest.mark.parametrize("share", [0.2, 0.7, 0.999])
@pytest.mark.parametrize("name", [name for name in KINDS if name != "a.csv"])
def test_a_file_that_was_cut_off_before(tmp_path, name, share):
    path = tmp_path / name
    KINDS[name](rows(), path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataError, match=re.escape(str(path))):
        whole(stream(path))


def test_a_stream_that_was_cut_off_between_two_batches(tmp_path):
    path = tmp_path / "a.ipc"
    write_stream(rows(), path)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(DataError, match="has no end: it was cut off, or its writer was not closed"):
        stream(path)


def test_packed_text_that_was_cut_off(tmp_path):
    write_csv(rows(), tmp_path / "a.csv")
    packed = gzip.compress((tmp_path / "a.csv").read_bytes())
    (tmp_path / "b.csv.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match=r"b\.csv\.gz cannot be read"):
        whole(stream(tmp_path / "b.csv.gz"))


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.npy"])
def test_fewer_rows_than_were_announced(tmp_path, name):
    KINDS[name](rows(), tmp_path / name)
    opened = stream(tmp_path / name)
    fragment = replace(opened.fragments[0], raw_rows=N_ROWS + 1)
    with pytest.raises(DataError, match=r"gave 30,000 rows where 30,001 were announced; the file is damaged"):
        list(opened.batches(fragment))


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.ipc", "a.csv", "a.npy"])
def test_an_empty_file(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(DataError, match=rf"{re.escape(name)} is empty"):
        stream(tmp_path / name)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "ipc"])
def test_a_damaged_file_is_read_or_refused_but_never_worse(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    KINDS[f"a.{ending}"](rows(n_rows=60), path)
    content, rng, refused = path.read_bytes(), np.random.default_rng(107), 0
    for _ in range(150):
        harmed = bytearray(content[: rng.integers(1, len(content) + 1)] if rng.random() < 0.3 else content)
        for place in rng.integers(0, len(harmed), 3):
            harmed[place] = rng.integers(0, 256)
        path.write_bytes(harmed)
        try:
            whole(stream(path))
        except KgmiError:
            refused += 1
    assert refused > 40


def several(folder, **tables):
    for name, table in tables.items():
        write_parquet(table, folder / f"{name}.parquet")
    return folder


def test_files_that_do_not_fit_together(tmp_path):
    first = rows(n_rows=50)
    several(tmp_path, a=first, b=first.drop_columns(["b"]))
    with pytest.raises(DataError, match=r"b\.parquet has no column 'b', which .*a\.parquet has"):
        stream(tmp_path)
    assert stream(tmp_path, columns=["a", "c"]).n_rows == 100
    several(tmp_path, b=first.append_column("d", first["a"]))
    with pytest.raises(
        DataError, match=r"b\.parquet has a column 'd' that .*a\.parquet does not have; say with col"
    ):
        stream(tmp_path)
    several(tmp_path, b=first.set_column(1, "b", first["a"]))
    with pytest.raises(DataError, match=r"b\.parquet: column 'b' holds numbers, in .*a\.parquet it holds texts"):
        stream(tmp_path)
    wide = first.set_column(0, "a", first["a"].cast(pa.int64()))
    several(tmp_path, b=wide.select(["c", "b", "a"]))
    assert whole(stream(tmp_path)).codes.tolist() == 2 * whole(stream(tmp_path / "a.parquet")).codes.tolist()


def test_text_files_that_do_not_fit_together(tmp_path):
    (tmp_path / "a.csv").write_text("A,B\n0,1\n1,0\n")
    (tmp_path / "b.csv").write_text("B, A\n1,0\n")
    assert whole(stream(tmp_path)).codes.tolist() == [[0, 1], [1, 0], [0, 1]]
    (tmp_path / "b.csv").write_text("A,C\n1,0\n")
    with pytest.raises(
        DataError, match=r"b\.csv has no column 'B', which .*a\.csv has; is its first line a header"
    ):
        stream(tmp_path)
    (tmp_path / "b.csv").write_text("A,B\n1,0,1\n")
    with pytest.raises(DataError, match=r"line 2 of .*b\.csv has 3 values where 2 are expected"):
        whole(stream(tmp_path))
    (tmp_path / "b.csv").write_text("A,B,C\n1,0,1\n")
    with pytest.raises(DataError, match=r"has a column 'C' that .* does not have"):
        stream(tmp_path)


def test_what_can_be_read_once_is_not_read_twice():
    opened = stream(iter([np.eye(2, dtype=int)]))
    with pytest.raises(DataError, match="was not read yet"):
        opened.mark_of(opened.fragments[0])
    whole(opened)
    with pytest.raises(DataError, match="can be read once only, and it was"):
        whole(opened)


def test_batches_that_do_not_fit_together():
    frame = pl.DataFrame({"a": ["x", "y"], "b": [0, 1]})
    for second, message in [
        (frame.drop("b"), "batch 1 of .* has no column 'b', which the first batch has"),
        (frame.with_columns(c=1), "batch 1 of .* has a column 'c' that the first batch does not have"),
        (np.eye(2), "batch 1 of .* is an array of another kind than the first batch"),
        (frame.with_columns(b=pl.lit(True)), "column 'b' holds truth values in some rows and numbers in others"),
    ]:
        with pytest.raises(DataError, match=message):
            whole(stream(iter([frame, second])))


def test_rows_that_are_others_the_second_time():
    class Noise:
        def __iter__(self):
            self.seed = getattr(self, "seed", 200) + 1
            yield np.random.default_rng(self.seed).integers(0, 2, (50, 2))

    opened = stream(Noise())
    whole(opened)
    with pytest.raises(DataError, match="gave other rows than when it was read before"):
        whole(opened)
