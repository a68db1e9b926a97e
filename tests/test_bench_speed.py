"""What the speed benchmarks share: growth laws, the description of a machine, times, files and pictures."""

import getpass
import json
import os
import platform
import re
import socket
import sys

import numpy as np
import pytest

from kgmi.bench.speed import Lines, Measured, describe_machine, describe_versions, fit_growth, last_exponent, timing
from kgmi.bench.speed.ascent import measure_ascent
from kgmi.bench.speed.ceiling import bits_in_pairs, bits_in_squares, words_per_second
from kgmi.bench.speed.measured import growth_of, save_measured
from kgmi.bench.speed.plain_ascent import plain_ascent
from kgmi.bench.speed.timing import check_sizes, in_turns, shown_seconds
from kgmi.errors import DataError, SettingError
from kgmi.plots.growth import Curve

# Growth


def test_a_law_in_one_size_is_found():
    sizes = [10, 20, 50, 100]
    law = fit_growth([3e-6 * size**1.7 for size in sizes], {"T": sizes})
    assert law.exponents["T"] == pytest.approx(1.7)
    assert law.factor == pytest.approx(3e-6)
    assert law.errors["T"] == pytest.approx(0, abs=1e-9)
    assert law.predict(T=1000) == pytest.approx(3e-6 * 1000**1.7)
    assert str(law) == "T^1.70"
    assert law.shown("T") == "1.70 ± 0.00"


def test_a_law_in_two_sizes_is_found():
    grid = [(t, n) for t in (10, 100, 1000) for n in (1e3, 1e5)]
    nodes, rows = zip(*grid, strict=True)
    law = fit_growth([2e-9 * t**2.1 * n**0.9 for t, n in grid], {"T": nodes, "N": rows})
    assert law.exponents == pytest.approx({"T": 2.1, "N": 0.9})
    assert law.predict(T=50, N=2000) == pytest.approx(2e-9 * 50**2.1 * 2000**0.9)


def test_standard_errors_are_those_of_least_squares():
    rng = np.random.default_rng(61)
    sizes = np.repeat([10.0, 30.0, 100.0, 300.0], 50)
    spread = 0.3
    found = []
    for _ in range(200):
        noise = np.exp(spread * rng.standard_normal(len(sizes)))
        law = fit_growth(1e-3 * sizes**2 * noise, {"T": sizes})
        found.append((law.exponents["T"], law.errors["T"]))
    powers, errors = np.array(found).T
    assert powers.mean() == pytest.approx(2, abs=0.01)
    assert errors.mean() == pytest.approx(powers.std(), rel=0.15)


def test_two_measurements_give_an_exponent_without_an_error():
    law = fit_growth([1.0, 4.0], {"T": [10, 20]})
    assert law.exponents["T"] == pytest.approx(2)
    assert np.isnan(law.errors["T"])
    assert law.shown("T") == "2.00"
    assert law.to_dict()["standard_errors"] == {"T": None}


@pytest.mark.parametrize(
    ("seconds", "sizes"),
    [
        ([], {"T": []}),
        ([1.0], {"T": [10]}),
        ([1.0, 2.0], {"T": [10, 10]}),
        ([1.0, 2.0], {"T": [1, 2], "N": [1, 2]}),
    ],
)
def test_too_little_to_tell_is_no_law(seconds, sizes):
    assert fit_growth(seconds, sizes) is None


def test_growth_of_what_has_no_logarithm_is_refused():
    with pytest.raises(DataError, match="positive"):
        fit_growth([1.0, 0.0], {"T": [1, 2]})
    with pytest.raises(DataError, match="2 times do not fit 3 sizes"):
        fit_growth([1.0, 1.0], {"T": [1, 2, 3]})


def test_the_exponent_of_the_last_step():
    assert last_exponent([1, 5, 20, 2], [10, 30, 60, 20]) == pytest.approx(2)
    assert last_exponent([1], [10]) is None
    assert last_exponent([1, 2], [10, 10]) is None


# The machine


def test_the_description_of_the_machine_names_no_host_no_user_and_no_path():
    about = {**describe_machine(), **describe_versions()}
    assert about["cores"] >= 1
    assert about["processor"]
    assert about["python"] == platform.python_version()
    assert about["numpy"] == np.__version__
    assert all(set(one) >= {"internal_api", "num_threads"} for one in about["blas"])
    text = json.dumps(about)
    private = {socket.gethostname(), platform.node(), getpass.getuser(), os.path.expanduser("~"), sys.prefix}
    for name in {name for name in private if len(name) > 2}:
        assert not re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", text), name
    assert not re.search(r"(^|[\s\"'])/\w", text)


# Times


def test_calls_are_taken_in_turns_after_one_that_is_not_timed(monkeypatch):
    monkeypatch.setattr(timing, "_TURN_SECONDS", np.inf)
    monkeypatch.setattr(timing, "_MOST_CALLS", 2)
    called = []
    found = in_turns({name: lambda name=name: called.append(name) for name in "ab"}, 3)
    assert "".join(called) == "ab" + "aabb" * 3
    assert set(found) == {"a", "b"}
    assert all(taken >= 0 for taken in found.values())


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (123.4, "123 s"),
        (12.34, "12.3 s"),
        (1.0, "1.00 s"),
        (0.0123, "12.3 ms"),
        (4.2e-6, "4.20 µs"),
        (9.996, "10.0 s"),
    ],
)
def test_times_for_people(seconds, shown):
    assert shown_seconds(seconds) == shown


def test_sizes_that_make_no_sense():
    check_sizes(nodes=(10, 20), rows=5)
    for wrong in [(), (0, 1), (2, 2)]:
        with pytest.raises(SettingError, match="nodes must be different whole numbers from 1 on"):
            check_sizes(nodes=wrong)


def test_the_loops_of_the_ceiling_count_bits():
    words = np.random.default_rng(62).integers(0, 2**63, (4, 5)).astype(np.uint64)
    common = sum(int(np.bitwise_count(one & other).sum()) for one in words for other in words)
    assert bits_in_pairs(words, 3) == bits_in_squares(words, 3) == 3 * common
    found = words_per_second(1, work=1_000_000)
    assert set(found) == {"pairs", "squares"}
    assert min(found.values()) > 0


# The plain ascent


def test_the_plain_ascent_ends_where_ours_does():
    (one, two, never) = measure_ascent((1, 2), 3_000, plain_epochs=3_000, repeats=1).results
    assert (one["n_nodes"], two["n_nodes"], never["n_nodes"]) == (10, 20, 20)
    assert never["stop"] == 0
    assert never["epochs"] == never["plain_epochs"] == 3_000
    for result in (one, two, never):
        assert result["attention_differs"] < 1e-9
        assert result["ratio"] == pytest.approx(result["plain_seconds"] / result["seconds"])


def test_the_plain_ascent_leaves_columns_as_they_are_and_stops():
    scores = np.full((1, 3, 3), np.nan)
    scores[0, 1, 0] = 0.5
    scores[0, 2, :2] = [0.4, 0.1]
    attention, epochs = plain_ascent(scores, 10.0, 1_000, 0.1, np.array([[False, False, True]]))
    assert 1 < epochs < 1_000
    assert attention[0, 2, 0] > 0.9
    before, _ = plain_ascent(scores, 10.0, epochs - 1, 0.1, np.array([[False, False, True]]))
    assert before[0, 2, 0] <= 0.9
    assert attention[0].sum(axis=1) == pytest.approx([0, 1, 1])


# Files and pictures


def measured(**more):
    return Measured("fit", {"seed": 7}, [{"seconds": 1.0}], tables=(Lines("t", ["a"], [["1"]]),), **more)


def test_files_of_a_measurement(tmp_path):
    law = fit_growth([1.0, 4.0], {"T": [10, 20]})
    curve = Curve("kgmi", (10.0, 20.0), (1.0, 4.0), str(law), (True, False))
    found = measured(growth=[growth_of("kgmi", law, [1.0, 4.0], [10, 20])], curves=(curve,), x_label="nodes T")
    paths = save_measured(found, tmp_path / "new")
    assert [path.name for path in paths] == ["fit.json", "fit.png"]
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    content = json.loads(paths[0].read_text(encoding="utf-8"))
    assert list(content) == ["format", "kind", "machine", "versions", "settings", "results", "growth", "made"]
    assert content["growth"][0]["exponents"] == pytest.approx({"T": 2.0})
    assert content["growth"][0]["last_exponent"] == pytest.approx(2)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", content["made"])


def test_without_curves_there_is_no_picture(tmp_path):
    assert [path.name for path in save_measured(measured(), tmp_path)] == ["fit.json"]
