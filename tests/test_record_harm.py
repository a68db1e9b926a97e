"""Records made by hand to do harm, and fields that were edited: nothing is run, allocated or believed."""

from __future__ import annotations

import io
import tracemalloc
import zipfile

import numpy as np
import pytest

from kgmi import load, save
from kgmi.errors import RecordError

from .records import LEARNED, declare, edit, put, swap


class Trap:
    """Runs on unpickling."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def archive_of(headers, compression=zipfile.ZIP_DEFLATED):
    """A zip of arrays whose headers claim a type and shape that no data stand behind."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, (dtype, shape) in headers.items():
            stream = io.BytesIO()
            np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
            archive.writestr(f"{name}.npy", stream.getvalue() + b"\0" * 64)
    return buffer.getvalue()


@pytest.fixture
def saved(tmp_path):
    save(LEARNED, tmp_path)
    return tmp_path


@pytest.mark.parametrize("declared", [True, False])
def test_pickles_are_refused(saved, declared):
    trap = np.array([Trap()], dtype=object)
    swap(saved, lambda arrays: arrays.update(attention=trap), declare=declared)
    with pytest.raises(RecordError, match="is damaged"):
        load(saved)


@pytest.mark.parametrize("dtype", ["|b1", "<c16", "<U3", "|S2", "<M8[s]", "|V8"])
def test_arrays_of_anything_but_numbers_are_refused(saved, dtype):
    headers = {"attention": (dtype, (2,))}
    put(saved, archive_of(headers))
    declare(saved, headers)
    with pytest.raises(RecordError, match="records hold arrays of numbers only"):
        load(saved)


@pytest.mark.parametrize(
    ("headers", "match"),
    [
        ({"attention": ("<f8", (10**6, 10**6))}, "would take 8,000,000,000,000 bytes"),
        ({"attention": ("<f8", (2**40, 2**40))}, "would take"),  # the product overflows 64 bits
        ({"a": ("<f8", (3 * 10**8,)), "b": ("<i8", (3 * 10**8,))}, "would take 4,800,000,000 bytes"),
        ({"a": ("<f8", (-(10**12),)), "b": ("<f8", (10**12,))}, "numbers only"),
    ],
)
def test_sizes_beyond_reason_are_refused_before_anything_is_allocated(saved, headers, match):
    put(saved, archive_of(headers))
    declare(saved, headers)
    tracemalloc.start()
    with pytest.raises(RecordError, match=match):
        load(saved)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_a_header_that_claims_more_than_the_file_holds(saved):
    headers = {"attention": ("<f8", (100,))}
    put(saved, archive_of(headers))
    declare(saved, headers)
    with pytest.raises(RecordError, match="is damaged"):
        load(saved)


def test_files_that_are_no_archives_of_arrays(saved):
    text = io.BytesIO()
    with zipfile.ZipFile(text, "w") as archive:
        archive.writestr("attention.npy", "hello")
    good = archive_of({"attention": ("<f8", (8,))})
    broken = bytearray(good)
    broken[60:80] = b"\xff" * 20  # inside the compressed data
    method = bytearray(good)  # a compression that does not exist, in both places that name it
    for place in (8, good.index(b"PK\x01\x02") + 10):
        method[place : place + 2] = b"\x63\x00"
    for data in (b"not a zip", text.getvalue(), bytes(broken), bytes(method), good[:-30]):
        put(saved, data)
        declare(saved, {"attention": ("<f8", (8,))})
        with pytest.raises(RecordError, match="is damaged"):
            load(saved)


@pytest.mark.parametrize(
    "change",
    [
        *(lambda c, key=key: c.pop(key) for key in ("graph", "names", "states", "status", "converged", "input")),
        *(lambda c, key=key: c.pop(key) for key in ("configuration", "assumptions", "kernel_weights")),
        lambda c: c.pop("best_objective"),
        lambda c: c.update(best_objective=None),
        lambda c: c.update(best_objective="much"),
        lambda c: c.update(best_objective=10**400),
        lambda c: c.update(names=c["names"][:-1]),
        lambda c: c.update(names=None),
        lambda c: c.update(states=["0", "1"]),
        lambda c: c.update(graph=3),
        lambda c: c.update(graph={"parents": [[], [5]]}),
        lambda c: c.update(graph={"parents": [[1], [0], [], [], []]}),
        lambda c: c.update(graph={"parents": "ABCDE"}),
        lambda c: c.update(graph={"edges": [[0, 1]], "n_nodes": 6}),
        lambda c: c.update(kernel_weights=[0.5, 0.5]),
        lambda c: c.update(kernel_weights="x"),
        lambda c: c.update(configuration=3),
        lambda c: c.update(assumptions=3),
        lambda c: c.update(assumptions={"n_rows": None}),
        lambda c: c["assumptions"]["checks"][0].pop("sentence"),
    ],
)
def test_damaged_fields(saved, change):
    edit(saved, change)
    with pytest.raises(RecordError, match=r"record\.json is damaged"):
        load(saved)


def test_the_record_before_any_damage_loads(saved):
    edit(saved, lambda c: None)
    swap(saved, lambda arrays: None)
    assert load(saved).dag == LEARNED.dag
