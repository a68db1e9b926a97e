"""One look over a score table: in NumPy, in blocks, and compiled, against the definitions."""

from __future__ import annotations

import numpy as np
import pytest

from kgmi.ascent import has_tie, looks, survey
from kgmi.ascent.surveyed import survey_and_start
from kgmi.theory import information_gaps

FIELDS = ("n_candidates", "best", "second", "least", "total")


def table_with_everything():
    """Columns with no, one, two and many candidates, ties for the best, negative scores and zeros."""
    rng = np.random.default_rng(41)
    table = rng.normal(size=(2, 120, 120))
    table[:, *np.triu_indices(120)] = np.nan
    table[0, 20:30, :20] = 9.0
    table[1, 40, :40] = -3.0
    table[1, 50, 5:] = np.nan
    table[0, 60] = np.nan
    table[0, 70, 3] = table[0, 70, 8] = 8.0 + 1e-13
    table[0, 71, 3], table[0, 71, 8] = 8.0, 8.0 + 1e-13
    return table


def definitions(table):
    for column in table.reshape(-1, table.shape[-1]):
        known = sorted(column[~np.isnan(column)].tolist(), reverse=True)
        best, second = [*known, -np.inf, -np.inf][:2]
        yield len(known), best, second, min(known, default=np.inf), sum(known)


@pytest.fixture(params=["plain", "blocks", "compiled", "compiled, in threads"])
def way(request, monkeypatch):
    name = request.param
    monkeypatch.setattr("kgmi.ascent.surveyed._COMPILED_FROM", 0 if "compiled" in name else 10**9)
    if name == "blocks":
        monkeypatch.setattr("kgmi.ascent.surveyed._BLOCK", 700)
    if "threads" in name:
        monkeypatch.setattr("kgmi.ascent.surveyed._THREADS_FROM", 1_000)
        monkeypatch.setattr("kgmi.threads.n_workers", lambda: 3)
    return name


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 120])
def test_every_way_of_looking_sees_what_is_defined(way, n_nodes):
    table = table_with_everything()[:, :n_nodes, :n_nodes]
    before = table.copy()
    seen = survey(table)
    for name, column in zip(FIELDS, np.array(list(definitions(table))).T, strict=True):
        found = getattr(seen, name)
        assert found.shape == table.shape[:2]
        if name == "total":
            np.testing.assert_allclose(found.ravel(), column, atol=1e-12)
        else:
            np.testing.assert_array_equal(found.ravel(), column)
    also, start = survey_and_start(table)
    np.testing.assert_array_equal(also.best, seen.best)
    allowed = ~np.isnan(table)
    np.testing.assert_array_equal(start, allowed / np.maximum(allowed.sum(axis=-1, keepdims=True), 1))
    np.testing.assert_array_equal(table, before)


def test_what_follows_from_a_look(way):
    table = table_with_everything()
    seen, tied, gaps = survey(table), has_tie(table), information_gaps(table)
    for head, child in [(0, 21), (1, 40), (0, 60), (0, 0), (0, 70), (0, 71)]:
        assert tied[head, child]
    assert not tied[0, 1]
    assert not tied[1, 71]
    assert seen.moves[0, 25]  # tied for the best, but the others fall behind
    assert not seen.moves[1, 40]
    assert not seen.moves[0, 1]
    assert not seen.moves[0, 60]
    assert np.isnan(gaps[0, 60])
    assert gaps[0, 1] == np.inf
    assert gaps[0, 21] == 0
    assert gaps[0, 2] == abs(table[0, 2, 0] - table[0, 2, 1])
    assert seen.mean[1, 40] == -3.0
    assert seen.mean[0, 0] == 0


def test_what_is_compiled_is_right_as_plain_python_too():
    table = table_with_everything()[0]
    n, four, attention = np.zeros(120, dtype=np.int64), np.zeros((4, 120)), np.zeros((120, 120))
    looks.look_over.py_func(table, attention, n, *four)
    expected = np.array(list(definitions(table)))
    np.testing.assert_array_equal(n, expected[:, 0])
    np.testing.assert_allclose(four, expected[:, 1:].T)
    np.testing.assert_allclose(attention.sum(axis=1), n > 0)
