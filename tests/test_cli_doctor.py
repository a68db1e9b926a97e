"""``kgmi doctor``: what is missing or broken is reported with what to do."""

import json
import sys
from importlib import metadata

import pytest

import kgmi.learning.learn  # noqa: F401
from tests.commands import run_kgmi


def test_all_is_well_here():
    code, out, err = run_kgmi("doctor")
    assert (code, err) == (0, "")
    assert out.endswith("\nall well\n")
    assert "16 of 16 edges" in out
    code, out, _ = run_kgmi("doctor", "--json")
    found = json.loads(out)
    assert (code, found["well"]) == (0, True)
    assert {one["part"] for one in found["findings"]} == {"versions", "extras", "machine", "self-test"}
    assert {"numpy", "pyarrow", "device", "gpu"} <= {one["name"] for one in found["findings"]}


@pytest.mark.parametrize(
    ("name", "version"), [("rich", None), ("numpy", "1.26.4"), ("scipy", "1.9"), ("pyarrow", "17.0")]
)
def test_a_package_that_is_missing_or_old_is_reported(name, version, monkeypatch):
    real = metadata.version

    def other(asked):
        if asked != name:
            return real(asked)
        if version is None:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(metadata, "version", other)
    code, out, err = run_kgmi("doctor")
    well = version == "17.0"
    assert (code, err) == (0 if well else 1, "")
    assert ("all well" in out) == well
    assert (f"pip install '{name}>=" in " ".join(out.split())) != well
    assert ("self-test" in out) == well


def test_a_self_test_that_fails_is_reported(monkeypatch):
    monkeypatch.setattr(sys.modules["kgmi.learning.learn"], "learn", lambda *_, **__: 1 // 0)
    code, out, _ = run_kgmi("doctor")
    assert code == 1
    assert "BROKEN: ZeroDivisionError" in out
