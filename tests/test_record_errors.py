"""Results that are missing, of another version, damaged or made to do harm: one clear error each."""

from __future__ import annotations

import numpy as np
import pytest

from kgmi import KGMI, load, save
from kgmi.errors import RecordError

from .estimator_rows import ROWS
from .records import LEARNED, edit, swap


@pytest.fixture
def saved(tmp_path):
    save(LEARNED, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (KGMI().fit(ROWS), r"writes a kgmi.Learned, got KGMI: save its learned_"),
        (KGMI(), "got KGMI, which is not fitted: fit it and save its learned_"),
        ({"dag": []}, "got dict$"),
    ],
)
def test_only_results_are_saved(what, message, tmp_path):
    with pytest.raises(RecordError, match=message):
        save(what, tmp_path / "result")
    assert not (tmp_path / "result").exists()


def test_the_result_of_an_estimator_can_be_saved(tmp_path):
    model = KGMI().fit(ROWS)
    save(model.learned_, tmp_path)
    assert load(tmp_path).parents == model.parents_


def test_there_is_nothing_there(tmp_path):
    for path in (tmp_path, tmp_path / "none", tmp_path / "record.json"):
        with pytest.raises(RecordError, match="there is no record at"):
            load(path)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_not_json(saved, text):
    (saved / "record.json").write_bytes(text)
    with pytest.raises(RecordError, match="is not JSON"):
        load(saved)


@pytest.mark.parametrize("text", ["[]", "3", "{}", '{"format": "other", "version": 1}'])
def test_another_format(saved, text):
    (saved / "record.json").write_text(text)
    with pytest.raises(RecordError, match="is not a kgmi record"):
        load(saved)


@pytest.mark.parametrize(
    ("version", "advice"),
    [
        *((version, "update kgmi to read it") for version in (4, 99)),
        *((version, "learn it again") for version in (0, -1, None, "2", 1.0, 2.5, True)),
    ],
)
def test_another_version_has_advice(saved, version, advice):
    edit(saved, lambda c: c.update(version=version))
    with pytest.raises(RecordError, match=f"record version {version}, this kgmi reads up to 3: {advice}"):
        load(saved)


def test_a_record_of_version_2_is_read_unless_its_nodes_have_other_numbers(saved):
    edit(saved, lambda c: c.update(version=2))
    load(saved)
    edit(saved, lambda c: c.update(order=c["order"][::-1]))
    with pytest.raises(RecordError, match="learn it again"):
        load(saved)


def test_too_large_a_file_is_not_read(saved, monkeypatch):
    monkeypatch.setattr("kgmi.record.storage._MOST_JSON", 10)
    with pytest.raises(RecordError, match="larger than any record is"):
        load(saved)
    monkeypatch.undo()
    monkeypatch.setattr("kgmi.record.storage._MOST_BYTES", 10)
    with pytest.raises(RecordError, match="larger than any record is"):
        load(saved)


def test_the_array_file_is_missing(saved):
    next(saved.glob("arrays-*.npz")).unlink()
    with pytest.raises(RecordError, match=r"names the array file 'arrays-.*', which is not beside it"):
        load(saved)


@pytest.mark.parametrize("name", ["../x.npz", "/etc/passwd", "..", ".", "", "a/../b.npz", "sub/x.npz", "\0"])
def test_an_array_file_elsewhere_is_not_opened(saved, name):
    (saved.parent / "x.npz").write_bytes(next(saved.glob("arrays-*.npz")).read_bytes())
    edit(saved, lambda c: c["arrays"].update(file=name))
    with pytest.raises(RecordError, match="which is not beside it"):
        load(saved)


def test_a_changed_or_cut_array_file_does_not_match_its_checksum(saved):
    path = next(saved.glob("arrays-*.npz"))
    data = path.read_bytes()
    for changed in (data[:-1], data + b"x", b""):
        path.write_bytes(changed)
        with pytest.raises(RecordError, match="does not match its checksum"):
            load(saved)


@pytest.mark.parametrize("arrays", [None, [], {}, {"file": "x"}, {"file": "x", "sha256": "y", "content": 3}])
def test_arrays_that_are_not_listed(saved, arrays):
    edit(saved, lambda c: c.update(arrays=arrays))
    with pytest.raises(RecordError, match="does not list its arrays"):
        load(saved)
    edit(saved, lambda c: c.pop("arrays"))
    with pytest.raises(RecordError, match="does not list its arrays"):
        load(saved)


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.update(attention=a["attention"].astype(np.float32)),
        lambda a: a.update(attention=a["attention"][:, :4]),
        lambda a: a.update(attention=a["scores"].astype(int)),
        lambda a: a.pop("stopped"),
        lambda a: a.update(more=np.zeros(3)),
    ],
)
def test_arrays_that_the_json_does_not_describe(saved, change):
    with np.errstate(invalid="ignore"):
        swap(saved, change, declare=False)
    with pytest.raises(RecordError, match=r"is damaged: (array|it holds)"):
        load(saved)


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.update(attention=a["attention"][:, :4]),
        lambda a: a.update(attention=a["attention"][0, 0]),
        lambda a: a.update(attention=np.float64(3)),
        lambda a: a.update(scores=a["scores"][:1]),
        lambda a: a.update(stopped=a["stopped"][:, :2]),
        lambda a: a.update(trace_objective=a["trace_objective"][:2]),
        lambda a: a.update(trace_attention=a["trace_attention"][:2]),
        lambda a: a.update(trace_epochs=a["trace_epochs"][:2]),
        lambda a: a.update(marginal_distance=a["marginal_distance"][:2]),
        lambda a: a.update(kernel=a["kernel"][..., :2]),
        lambda a: a.update(kernel=a["kernel"] * 2),
        lambda a: a.update(kernel=np.float64(1)),
        lambda a: a.update(kernel=a["kernel"][:0]),
        lambda a: a.update(parent_law=np.ones((1, 3, 3))),
        lambda a: a.update(parent_law=np.ones((2, 3, 3)) / 9),
        *(lambda a, name=name: a.pop(name) for name in ("attention", "scores", "stopped", "parent_distance")),
        lambda a: a.pop("trace_objective"),
    ],
)
def test_arrays_that_do_not_fit_the_graph(saved, change):
    swap(saved, change)
    with pytest.raises(RecordError, match="is damaged"):
        load(saved)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("status", 7),
        ("converged", "yes"),
        ("configuration", []),
        ("names", ["a"] * 10),
        ("names", list(range(10))),
        ("states", [0, 1, 2]),
        ("undecided", "x"),
    ],
)
def test_fields_of_the_wrong_kind(saved, key, value):
    edit(saved, lambda c: c.update({key: value}))
    with pytest.raises(RecordError, match="is damaged"):
        load(saved)
