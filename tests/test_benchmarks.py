"""Recorded benchmarks are whole: results, picture and log, made by a command that is still there."""

import json
import re
from pathlib import Path

import pytest

from tests.commands import run_kgmi

ROOT = Path(__file__).parents[1]
README = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
KINDS = re.findall(r"^kgmi bench (\w+) .*--out benchmarks/\1 +\| tee benchmarks/\1/\1\.log$", README, re.MULTILINE)


def test_the_readme_says_how_each_is_recorded():
    recorded = {path.name for path in (ROOT / "benchmarks").iterdir() if path.is_dir()}
    assert recorded <= set(KINDS)
    assert {"counts", "fit", "rows", "ascent", "gpu"} <= set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_recorded_run_is_whole(kind):
    folder = ROOT / "benchmarks" / kind
    names = {path.name for path in folder.glob("*")} if folder.exists() else set()
    whole = {f"{kind}.json", f"{kind}.log"}
    assert names in (set(), whole, whole | {f"{kind}.png"})
    if names:
        text = (folder / f"{kind}.json").read_text(encoding="utf-8")
        content = json.loads(text)
        content.pop("format", None)  # which kgmi up to 0.7 did not write
        assert list(content) == ["kind", "machine", "versions", "settings", "results", "growth", "made"]
        assert content["kind"] == kind
        assert content["results"]
        assert not re.search(r"[\s\"'](/|~/)\w", text + (folder / f"{kind}.log").read_text(encoding="utf-8"))


def test_commands_and_options_of_the_pages_exist():
    pages = README + (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    commands = set(re.findall(r"kgmi bench (\w+)", pages))
    assert commands >= {"counts", "fit", "rows", "ascent", "gpu"}
    known = set()
    for command in [("bench", name) for name in sorted(commands)] + [("learn",)]:
        code, shown, _ = run_kgmi(*command, "--help")
        assert code == 0, command
        known |= set(re.findall(r"--[a-z][a-z-]+", shown))
    assert set(re.findall(r"--[a-z][a-z-]+", pages)) <= known
