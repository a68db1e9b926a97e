"""What the pages tell people to run, runs; and what they list is complete."""

import contextlib
import io
import re
import runpy
import shlex
from pathlib import Path

import pytest

import kgmi
from kgmi.counts.counted import MOST_BYTES
from kgmi.counts.tally import tally_bytes
from tests.commands import run_kgmi
from tests.test_documents import flags, texts_of

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def read(name):
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", read(page), re.DOTALL | re.MULTILINE)


def printed(code):
    """What a block of Python prints; what it enters in our tables is taken out again."""
    kept = [(table, dict(table)) for table in (kgmi.GUIDES, kgmi.DIVERGENCES)]
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(code, "block", "exec"), {"__name__": "block"})  # noqa: S102 - our own pages
    finally:
        for table, before in kept:
            table.clear()
            table.update(before)
    return out.getvalue()


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ("start.md", ["{'season': (), 'rain': ('season',), 'grass': ('rain',)}\nHow far to trust it: "]),
        ("tables.md", ["('no', 'yes'), ('below 130', '130 to 139', '140 or more')"]),
        (
            "large.md",
            [
                "2 Parquet files with 2 fragments\n2400 rows, 16 edges\n3600 rows, 16 edges\n"
                "the same graph and score: True 0.0"
            ],
        ),
        ("guides.md", ["plain finds 8 of 16 edges\nstationary finds 16 of 16 edges"]),
        (
            "extending.md",
            [
                "triangular-matched: slope at one 1.00, F1 1.00",
                "hellinger stationary F1 0.67\nhellinger match F1 1.0",
                "edges: ((0, 2), (1, 2), (0, 3), (2, 3), (1, 4), (3, 4))\nparents: ((), (), (0, 1),",
                "after 10,000 epochs: 16 of 16 edges, 0 besides",
                "'X5': ('X3', 'X4')",
            ],
        ),
    ],
)
def test_the_python_of_a_page_runs_and_shows_what_it_is_about(page, says):
    told = [printed(code) for code in blocks(page, "python")]
    assert len(told) == len(says)
    for text, part in zip(told, says, strict=True):
        assert part in text


def test_the_commands_of_the_first_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks("start.md", "console") for line in block.splitlines()]
    assert len(lines) > 6
    for line in lines:
        prompt, *words = shlex.split(line)
        assert prompt == "$"
        code, _, err = run_kgmi(*words[1:])
        assert (code, err) == (0, ""), line
    for made in ("first/report.html", "result/report.html", "result/graph.png", "graph.graphml"):
        assert (tmp_path / made).stat().st_size > 500, made


def test_options_that_pages_mention_exist():
    known = flags(read("commands.md")) | {"--help", "--version"}
    for page in ("start.md", "guides.md", "trouble.md", "large.md", "index.md"):
        assert flags(read(page)) <= known, page


def test_the_table_of_columns_that_can_be_counted_is_right():
    table = re.search(r"^\| most columns .*?\n\n", read("large.md"), re.DOTALL | re.MULTILINE)[0]
    lines = [line for line in table.splitlines() if line]
    (_, *sizes), _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    for width, (_, *cells) in enumerate(rows, 2):
        for size, cell in zip(sizes, cells, strict=True):
            n_states, most = int(size.removeprefix("S = ")), int(cell.replace(",", ""))
            needed = [tally_bytes((n_states,) * n_columns, width) for n_columns in (most, most + 1)]
            assert needed[0] <= MOST_BYTES < needed[1]


def without_types(text):
    """A page without the types of values, which are written differently by different versions of typer."""
    return re.sub(r"^(\| `[^` ]+).*?` \|", r"\1` |", text, flags=re.MULTILINE)


def test_the_page_of_commands_is_up_to_date():
    made = runpy.run_path(str(DOCS / "write_commands.py"))["page"]()
    assert without_types(made) == without_types(read("commands.md")), "run: python docs/write_commands.py"


def test_every_error_that_is_explained_exists():
    said = "\n".join(text for path in sorted((ROOT / "src/kgmi").rglob("*.py")) for text in texts_of(path))
    quotes = re.findall(r"«(.+?)»", read("trouble.md").partition("## Errors")[2])
    parts = [part.strip() for quote in quotes for part in quote.split("…")]
    assert len(parts) > 15
    for part in parts:
        assert part in said, part


def test_every_public_name_has_a_place_in_the_api():
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.md"))
    named = set(re.findall(r":: kgmi\.(\w+)$", pages, re.MULTILINE))
    assert set(kgmi.__all__) - {"__version__"} <= named
    for module in ("plots", "report", "interchange", "web", "progress", "metrics", "theory", "errors"):
        assert f".. automodule:: kgmi.{module}\n   :members:" in pages, module


def test_every_page_is_in_the_contents():
    contents = read("index.md").partition("## All pages")[2]
    linked = set(re.findall(r"\]\(([\w/]+\.md)\)", contents))
    assert linked == {path.name for path in DOCS.glob("*.md")} - {"index.md"} | {
        "paper/report.md",
        "lab/report.md",
        "api/index.md",
    }


def test_every_example_is_told_of_in_its_first_line():
    for script in (ROOT / "examples").glob("*.py"):
        assert script.read_text(encoding="utf-8").startswith('"""'), script.name
