"""The tables of the documentation name things that exist."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import kgmi
from kgmi.lab.experiments import LAB
from kgmi.paper.reproduce import EXPERIMENTS
from kgmi.paper.results import read_result
from tests.commands import run_kgmi

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
PAGES = [*DOCS.glob("*.md"), *HERE.parent.glob("*.md")]


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
    named = re.findall(r"`((?:\w+/)?test_\w+)::(test_\w+)`", (DOCS / "theorems.md").read_text(encoding="utf-8"))
    assert len(named) > 5
    for module, function in named:
        assert f"def {function}(" in (HERE / f"{module}.py").read_text(encoding="utf-8"), f"{module}::{function}"


def anchors(page):
    """What GitHub makes of the headings of a page, and the anchors that it sets itself."""
    text = page.read_text(encoding="utf-8")
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return set(re.findall(r'<a id="([^"]+)"', text)) | {
        re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_between_pages_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", page.read_text(encoding="utf-8")):
        leads_to = page.parent / target if target else page
        assert leads_to.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(leads_to), f"{page.name} links to {target}#{anchor}"


def texts_of(path):
    """All texts in a module; the parts of a formatted one apart from each other."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def test_every_sentence_of_the_status_that_is_explained_exists():
    page = (DOCS / "trouble.md").read_text(encoding="utf-8")
    modules = ("learning/status", "learning/story", "learning/sharing", "learning/ordered", "candidates")
    source = HERE.parent / "src/kgmi"
    said = "\n".join(text for module in modules for text in texts_of(source / f"{module}.py"))
    section = page.partition("## What the status says")[2].partition("\n## ")[0]
    parts = [part.strip() for quote in re.findall(r"«(.+?)»", section, re.DOTALL) for part in quote.split("…")]
    assert len(parts) > 20
    for part in parts:
        assert " ".join(part.split()) in said, part


def test_every_option_that_is_explained_exists():
    page = (DOCS / "learning.md").read_text(encoding="utf-8")
    options = set(re.findall(r"`(?:kgmi\.learn\()?(\w+)=", page))
    assert len(options) > 10
    assert options <= set(inspect.signature(kgmi.learn).parameters)
    commands = [("learn",), ("bench", "graphs"), ("bench", "networks"), ("bench", "exact")]
    assert flags(page) <= set().union(*(flags(run_kgmi(*command, "--help")[1]) for command in commands))


def flags(text):
    return set(re.findall(r"--[a-z][a-z-]+", text))


def test_all_public_names_exist_and_are_described():
    for name in kgmi.__all__:
        assert name == "__version__" or isinstance(getattr(kgmi, name), dict) or getattr(kgmi, name).__doc__


def test_the_version_is_the_same_everywhere():
    assert f"version: {kgmi.__version__}" in (HERE.parent / "CITATION.cff").read_text(encoding="utf-8")
    assert kgmi.__version__ in (HERE.parent / "CHANGELOG.md").read_text(encoding="utf-8")


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


def test_the_committed_report_of_the_laboratory_is_of_full_runs():
    report = (DOCS / "lab" / "report.md").read_text(encoding="utf-8")
    for name in LAB:
        result = read_result(DOCS / "lab" / name)
        assert not result.quick, name
        assert result.why in report


def test_the_output_in_the_page_on_orders_is_that_of_the_command():
    page = (DOCS / "order.md").read_text(encoding="utf-8")
    shown = re.search(r"```console\n\$ kgmi (.+?)\n…\n(.+?)```", page, re.DOTALL)
    code, out, _ = run_kgmi(*shown[1].split())
    assert code == 0
    assert shown[2] in out
