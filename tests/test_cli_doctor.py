"""``kgmi doctor``: what it looks at is what the project asks for, and what is broken is said with what to do."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from kgmi.cli import machine
from tests.commands import run_kgmi

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]


def declared(lines):
    return {re.split(r"[>=<]", line)[0]: re.search(r"[>=]=([\d.]+)", line)[1] for line in lines}


def test_it_looks_at_the_packages_that_the_project_asks_for():
    assert {name: least for name, (least, _) in machine.REQUIRED.items()} == declared(PROJECT["dependencies"])
    for extra, packages in machine.EXTRAS.items():
        assert packages == declared(PROJECT["optional-dependencies"][extra])


def test_all_is_well_here():
    code, out, err = run_kgmi("doctor")
    assert (code, err) == (0, "")
    assert out.endswith("\nall well\n")
    assert "16 of 16 edges" in out
    code, out, _ = run_kgmi("doctor", "--json")
    found = json.loads(out)
    assert (code, found["well"]) == (0, True)
    assert {one["part"] for one in found["findings"]} == {"versions", "extras", "engines", "machine", "self-test"}


@pytest.mark.parametrize(("name", "version"), [("rich", None), ("numpy", "1.26.4")])
def test_a_package_that_is_missing_or_old_is_said(name, version, monkeypatch):
    real = machine._version
    monkeypatch.setattr(machine, "_version", lambda asked: version if asked == name else real(asked))
    code, out, err = run_kgmi("doctor")
    assert (code, err) == (1, "")
    assert "all well" not in out
    assert f"pip install '{name}>={machine.REQUIRED[name][0]}'" in " ".join(out.split())
    assert ("self-test" in out) == (name == "rich")


def test_an_engine_that_counts_wrong_is_found(monkeypatch):
    from kgmi.statistics.engines import ENGINES

    monkeypatch.setitem(ENGINES, "bits", lambda rows: ENGINES["plain"](rows) + 1)
    monkeypatch.setitem(ENGINES, "histogram", lambda rows: 1 // 0)
    code, out, _ = run_kgmi("doctor")
    assert code == 1
    assert "BROKEN: counts are wrong" in out
    assert "BROKEN: ZeroDivisionError" in out


def test_nowhere_to_keep_compiled_code_is_a_note(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    code, out, _ = run_kgmi("doctor")
    assert code == 0
    assert "set NUMBA_CACHE_DIR" in " ".join(out.split())


@pytest.mark.parametrize(
    ("version", "least", "enough"),
    [
        ("2.0", "2.0", True),
        ("2.10.1", "2.9", True),
        ("2.13.0+cpu", "2.13.0", True),
        ("3", "2.8", True),
        ("2.7.9", "2.8", False),
    ],
)
def test_versions_are_compared_by_their_numbers(version, least, enough):
    assert machine._is_at_least(version, least) is enough
