"""A fit opens a file once and packs its rows once; which code runs does not depend on what was imported."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kgmi
from kgmi.counts.bits import RowCounts

from .counts.tables import random_codes

OPENED = list[str]()
sys.addaudithook(lambda event, given: OPENED.append(str(given[0])) if event == "open" else None)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "feather", "npy"])
def test_a_small_file_is_opened_once_and_read_once(tmp_path, ending):
    def n_read():
        return int(Path("/proc/self/io").read_text().split()[1])

    def count(path):
        rows = kgmi.stream(path)
        return sum(batch.columns.shape[1] for one in rows.fragments for batch in rows.batches(one))

    array = np.random.default_rng(1).integers(0, 3, (60_000, 5))
    for name, n_rows in (("first", 100), ("a", 60_000)):  # what is loaded with the first is no part of it
        path, frame = tmp_path / f"{name}.{ending}", pd.DataFrame(array[:n_rows], columns=list("ABCDE"))
        if ending == "npy":
            np.save(path, array[:n_rows])
        elif "csv" in ending:
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path) if ending == "parquet" else frame.to_feather(path)
        for work in (kgmi.read_table, count):
            OPENED.clear()
            before = n_read()
            work(path)
            assert OPENED.count(str(path)) == 1
            assert name == "first" or n_read() - before < 1.1 * path.stat().st_size


# Runs kgmi with the words behind the path, and prints how often that path was opened, and rows of each packing.
WATCHED = """
import os, sys
path, opened, packed = sys.argv[1], [], []
sys.addaudithook(lambda event, given: event == "open" and str(given[0]) == path and opened.append(given))
import pyarrow.csv
from kgmi.counts import bits
pack, open_csv = bits.pack, pyarrow.csv.open_csv

def watched_pack(codes, *others, **options):
    packed.append(len(codes))
    return pack(codes, *others, **options)

def watched_open(source, *others, **options):  # in C++, of which Python does not hear
    opened.extend([source] * isinstance(source, (str, os.PathLike)))
    return open_csv(source, *others, **options)

bits.pack, pyarrow.csv.open_csv = watched_pack, watched_open
from kgmi.cli import main
sys.argv = ["kgmi", "learn", *sys.argv[1:]]
try:
    main()
finally:
    print("\\n", len(opened), *packed)
"""


@pytest.mark.parametrize(
    ("words", "packed"),
    [([], 1), (["--order", "learn"], 1), (["--guide", "plain"], 1), (["--prepare"], 1), (["--stream"], 0)],
    ids=lambda words: " ".join(words) or "usual" if isinstance(words, list) else str(words),
)
def test_a_table_is_opened_once_and_packed_once(words, packed, tmp_path):
    process = kgmi.Process(kgmi.Dag.paper(5), kgmi.Kernel.paper())
    rows = kgmi.sample(process, 300, rng=np.random.default_rng(171))
    np.savetxt(tmp_path / "small.csv", rows, "%d", ",", header="a,b,c,d,e", comments="")
    command = [sys.executable, "-c", WATCHED, str(tmp_path / "small.csv"), "--out", str(tmp_path / "r"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    opened, *sizes = map(int, done.stdout.splitlines()[-1].split())
    assert opened == 1
    # Certificates look at ever more of the first rows, so that what is learned from them predicts later ones.
    assert sizes.count(300) == packed
    assert kgmi.load(tmp_path / "r").dag.n_nodes == 5


@pytest.mark.parametrize("gaps", [False, True])
def test_bits_in_another_order_are_those_of_the_columns_in_another_order(gaps):
    sizes, order = (2, 5, 30, 3, 2), [3, 1, 4, 2, 0]
    codes = random_codes(np.random.default_rng(172), 1_000, sizes, gaps=gaps)
    rows = RowCounts(codes, sizes)
    before = rows.pairs().counts  # packs them
    moved = rows.in_order(order)
    assert moved.sizes == tuple(sizes[node] for node in order)
    np.testing.assert_array_equal(moved.pairs().counts, before[np.ix_(order, order)])
    np.testing.assert_array_equal(moved.packed.words, RowCounts(codes[:, order], moved.sizes).packed.words)
    for node, counts in enumerate(moved.marginals):
        np.testing.assert_array_equal(counts, rows.family(order[node], ()))


def test_no_module_asks_what_was_imported():
    package = Path(kgmi.__file__).parent
    asking = {path.relative_to(package) for path in package.rglob("*.py") if "sys.modules" in path.read_text()}
    assert asking == {Path("__init__.py")}  # which makes itself a package of names that are loaded when asked for
