"""The tables of the documentation name things that exist."""

import importlib
import re
import runpy
from pathlib import Path

import pytest

import kgmi
from kgmi.paper.catalogue import EXPERIMENTS
from kgmi.paper.results import read_result

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"


def resolve(dotted):
    parts = dotted.split(".")
    for split in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:split]))
        except ImportError:
            continue
        for name in parts[split:]:
            fields = getattr(found, "__dataclass_fields__", {})
            found = fields[name] if name in fields else getattr(found, name)
        return found
    raise AssertionError(dotted)


@pytest.mark.parametrize("page", ["notation.md", "theorems.md"])
def test_every_name_in_the_tables_exists(page):
    names = re.findall(r"`(kgmi(?:\.\w+)+)`?", (DOCS / page).read_text(encoding="utf-8"))
    assert len(names) > 10
    for name in names:
        resolve(name)


def test_every_test_in_the_theorem_table_exists():
    named = re.findall(r"`(test_\w+)::(test_\w+)`", (DOCS / "theorems.md").read_text(encoding="utf-8"))
    assert len(named) > 5
    for module, function in named:
        assert f"def {function}(" in (HERE / f"{module}.py").read_text(encoding="utf-8"), f"{module}::{function}"


def test_links_between_pages_lead_somewhere():
    for page in [*DOCS.glob("*.md"), *HERE.parent.glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_all_public_names_exist_and_are_described():
    for name in kgmi.__all__:
        assert name == "__version__" or isinstance(getattr(kgmi, name), dict) or getattr(kgmi, name).__doc__


def test_the_version_is_the_same_everywhere():
    assert f"version: {kgmi.__version__}" in (HERE.parent / "CITATION.cff").read_text(encoding="utf-8")
    assert kgmi.__version__ in (HERE.parent / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_python_of_the_readme_runs(tmp_path, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (HERE.parent / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for number, block in enumerate(blocks):
        script = tmp_path / f"block{number}.py"
        script.write_text(block, encoding="utf-8")
        runpy.run_path(str(script))
    assert "Converged after" in capsys.readouterr().out


def test_the_committed_report_is_of_a_full_run_of_every_experiment():
    folder = DOCS / "paper"
    report = (folder / "report.md").read_text(encoding="utf-8")
    for name, experiment in EXPERIMENTS.items():
        result = read_result(folder / name)
        assert not result.quick, name
        assert f"## {experiment.title}" in report
        assert result.why in report
        for figure in result.figures:
            assert f"({name}/{figure}.png)" in report
            assert (folder / name / f"{figure}.svg").is_file()
