"""Results on disk: the round trip, what the files hold, and what a crash leaves behind."""

from __future__ import annotations

import json
import platform
from dataclasses import replace

import numpy as np
import pytest

import kgmi
from kgmi import Dag, FiniteKernels, Kernel, Process, Table, exact_joint, learn, load, record, sample, save

from .records import assert_same

KERNEL = Kernel.paper()
POPULATION = exact_joint(Process(Dag.paper(), KERNEL))
MENDEL = Kernel.mendelian(0.4)
LAW = FiniteKernels([KERNEL, Kernel.paper(0.05)], [0.3, 0.7])
MENDEL_LAW = FiniteKernels([MENDEL, Kernel(MENDEL.table, np.full((3, 3), 1 / 9)), KERNEL])
PEDIGREE = Dag([(), (), (0, 1), (0, 1)])


def rows():
    return sample(Process(Dag.paper(), KERNEL), 400, rng=np.random.default_rng(0))


RESULTS = {
    "ascent": lambda: learn(POPULATION, kernel=KERNEL),
    "limit": lambda: learn(POPULATION, kernel=KERNEL, solver="limit"),
    "rows": lambda: learn(rows(), kernel=KERNEL, epochs=50, names=[f"Größe {n}" for n in range(10)]),
    "table": lambda: learn(Table(rows(), tuple("abcdefghij"), ("tief", "mittel", "hoch")), n_parents=2, epochs=50),
    "one head": lambda: learn(rows(), n_states=3, epochs=10),
    "one parent": lambda: learn(rows() % 2, kernel=Kernel([[0.9, 0.1], [0.2, 0.8]]), epochs=10),
    "parent law": lambda: learn(exact_joint(Process(PEDIGREE, MENDEL)), kernel=MENDEL, solver="limit"),
    "random kernel": lambda: learn(exact_joint(Process(Dag.paper(), LAW)), kernel=LAW, solver="limit"),
    "random law": lambda: learn(
        exact_joint(Process(PEDIGREE, MENDEL_LAW)), kernel=MENDEL_LAW, divergence="pearson", solver="limit"
    ),
    "numpy settings": lambda: learn(POPULATION, kernel=KERNEL, rate=np.float32(10), epochs=np.int64(20)),
}


@pytest.mark.parametrize("name", RESULTS)
def test_what_was_saved_is_loaded(tmp_path, name):
    learned = RESULTS[name]()
    path = save(learned, tmp_path / "a" / "b", seed=7)
    assert path == tmp_path / "a" / "b" / "record.json"
    for place in (path, path.parent, str(path.parent)):
        assert_same(load(place), learned)
    assert load(path).joint is None


def test_a_trace_without_attention_is_kept_too(tmp_path, monkeypatch):
    monkeypatch.setattr("kgmi.attention._TRACE_BYTES", 0)
    learned = learn(POPULATION, kernel=KERNEL, epochs=5)
    save(learned, tmp_path)
    assert_same(load(tmp_path), learned)
    assert load(tmp_path).trace.attention is None


def test_the_folder_holds_plain_json_and_one_array_file(tmp_path):
    learned = learn(rows(), kernel=KERNEL, epochs=20)
    path = save(learned, tmp_path, seed=np.int64(7))
    arrays = sorted(p.name for p in tmp_path.iterdir() if p != path)
    assert len(arrays) == 1
    assert arrays[0].startswith("arrays-")
    assert arrays[0].endswith(".npz")

    def refuse(token):
        raise AssertionError(f"{token} is not JSON")

    content = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    assert (content["format"], content["version"], content["seed"]) == ("kgmi-record", 3, 7)
    versions = {"kgmi": kgmi.__version__, "numpy": np.__version__, "python": platform.python_version()}
    assert content["versions"] == versions
    assert content["configuration"] == learned.configuration
    assert content["input"] == learned.fingerprint
    assert content["created"].endswith("+00:00")
    assert content["arrays"]["file"] == arrays[0]
    with np.load(tmp_path / arrays[0], allow_pickle=False) as archive:
        assert set(archive.files) == set(content["arrays"]["content"])
        np.testing.assert_array_equal(archive["attention"], learned.attention)


def test_one_head_has_no_infinity_in_its_json(tmp_path):
    path = save(RESULTS["one parent"](), tmp_path)
    assert "Infinity" not in path.read_text(encoding="utf-8")
    assert load(path).assumptions.assumptions[1].value == np.inf


def test_what_json_cannot_hold_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        save(replace(RESULTS["limit"](), configuration={"rate": np.nan}), tmp_path)
    assert not (tmp_path / "record.json").exists()


def test_saving_again_replaces_the_old_result_and_nothing_else(tmp_path):
    mine = tmp_path / "arrays-of-mine.npz"
    mine.write_bytes(b"precious")
    first, second = RESULTS["limit"](), RESULTS["rows"]()
    for learned in (first, first, second):
        save(learned, tmp_path)
        assert_same(load(tmp_path), learned)
        assert len(list(tmp_path.glob("arrays-*.npz"))) == 2
    assert mine.read_bytes() == b"precious"


@pytest.mark.parametrize("moment", ["arrays", "json", "rename"])
def test_a_crash_while_saving_leaves_the_old_result(tmp_path, monkeypatch, moment):
    old, new = RESULTS["limit"](), RESULTS["rows"]()
    save(old, tmp_path)

    def crash(*args, **options):
        raise OSError("the disk is full")

    if moment == "arrays":
        monkeypatch.setattr(record.storage.np, "savez_compressed", crash)
    elif moment == "json":
        monkeypatch.setattr(record.storage.json, "dumps", crash)
    else:
        rename = kgmi.files.os.replace

        def crash_late(source, target):
            return crash() if target.name == "record.json" else rename(source, target)

        monkeypatch.setattr(kgmi.files.os, "replace", crash_late)
    with pytest.raises(OSError, match="disk is full"):
        save(new, tmp_path)
    monkeypatch.undo()
    assert_same(load(tmp_path), old)
    assert not list(tmp_path.glob("*.part"))
    assert not list(tmp_path.glob(".*.part"))
    save(new, tmp_path)
    assert_same(load(tmp_path), new)
    assert len(list(tmp_path.iterdir())) == 2
