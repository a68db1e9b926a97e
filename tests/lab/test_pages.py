"""What the pages and the notebook of the laboratory show, runs."""

import contextlib
import io
import json
import re
from pathlib import Path

import matplotlib as mpl
import pytest

pytestmark = pytest.mark.lab

ROOT = Path(__file__).parents[2]


def blocks(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"^```py\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def printed(code):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), mpl.rc_context():
        exec(compile(code, "block", "exec"), {"__name__": "block"})  # noqa: S102 - our own pages
    return out.getvalue()


def test_the_five_lines_print_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("lab.md")
    told = printed(code)
    assert told in (ROOT / "docs" / "lab.md").read_text(encoding="utf-8")
    assert (tmp_path / "lab.png").stat().st_size > 10_000


def test_a_model_and_an_objective_of_ones_own_learn_the_chain():
    (code,) = blocks("extending.md")
    assert printed(code) == "F1 of the chain: 1.0\n"


def test_the_notebook_runs_from_top_to_bottom():
    cells = json.loads((ROOT / "examples" / "attention_lab.ipynb").read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    told = printed(code)
    assert "f1: 0.67\noverlap: 1.00" in told
    assert told.count("f1=1,") == 3
