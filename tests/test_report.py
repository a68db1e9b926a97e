"""report.html: complete, well-formed, inert whatever the names are, and small."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kgmi import Dag, Kernel, Process, learn, load, sample, save
from kgmi.errors import SettingError
from kgmi.learning.trust import TRUST_WORDS
from kgmi.report import asset, report_html, view_of, write_report
from kgmi.report.shipped import ASSETS

from .report_drills import HOSTILE, KINDS, RANDOM, Page, hostile_result, paper_result, wide_result


@pytest.fixture(scope="module", params=KINDS)
def text(request):
    return report_html(KINDS[request.param]())


def test_it_is_well_formed_and_has_its_landmarks(text):
    page = Page(text)
    assert text.startswith("<!doctype html>")
    for tag in ("html", "head", "body", "header", "nav", "main", "footer", "h1"):
        assert len(page.all(tag)) == 1, tag
    identities = [attributes["id"] for _, attributes, _ in page.elements if "id" in attributes]
    assert len(identities) == len(set(identities))
    for attributes, _ in page.all("a"):
        assert attributes["href"].removeprefix("#") in identities  # the skip link and the menu lead somewhere
    for attributes, _ in page.all("section"):
        assert attributes["aria-labelledby"] in identities


def test_headings_come_in_order(text):
    levels = [int(tag[1]) for tag, _, _ in Page(text).elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert levels.count(1) == 1


def test_tables_say_what_they_are(text):
    page = Page(text)
    assert len(page.all("caption")) == len(page.all("table")) > 0
    assert all("scope" in attributes for attributes, _ in page.all("th"))


def test_it_asks_for_nothing(text):
    """No address, no inline handler, no style attribute: a strict policy allows all that the page does."""
    page = Page(text)
    for tag, attributes, _ in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "style")], tag
    places = [attributes["href"] for attributes, _ in page.all("link")]
    assert places == ["data:,"]
    readable = re.sub(r'"data":"[^"]*"', "", text).replace(
        "http://www.w3.org/2000/svg", ""
    )  # bytes; a name, no address
    assert re.findall(r"(?:https?:)?//[a-z0-9.]+", readable) == []
    policy = next(a["content"] for a, _ in page.all("meta") if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    scripts = [found for attributes, found in page.all("script") if "type" not in attributes]
    for found in (*scripts, *(style for _, style in page.all("style"))):
        assert f"'sha256-{b64encode(sha256(found.encode()).digest()).decode()}'" in policy


def test_the_values_in_the_page_are_those_of_the_view():
    learned = hostile_result()
    ((_, found),) = [one for one in Page(report_html(learned)).all("script") if "type" in one[0]]
    assert json.loads(found) == view_of(learned)
    assert json.loads(found)["names"] == list(HOSTILE)


def test_trust_comes_first_then_everything_else():
    learned = paper_result()
    page = Page(report_html(learned, title="Herd <7>"))
    assert page.all("h1")[0][1] == "Herd <7>"
    headings = [found for _, found in page.all("h2")]
    assert headings == [
        "How far to trust it",
        "Graph",
        "How the heads concentrated",
        "Parents of every node",
        "Candidates",
        "Kernel",
        "Model check",
        "Assumptions of the paper",
        "Configuration",
        "How to run it again",
        "Words",
    ]
    whole = page.all("main")[0][1]
    assert f"Trust it {TRUST_WORDS[learned.trust.level]}" in whole
    for told in (*(reason.text for reason in learned.trust.reasons), *(check.sentence for check in learned.checks)):
        assert told in whole
    rows = page.all("tr")
    assert any(found.startswith("X10X1, X7") for _, found in rows)
    assert any(found.startswith("0, 00.1") for _, found in rows)  # the kernel's first line
    assert [found for _, found in page.all("dt")] == ["Attention", "Head", "Margin", "Nat", "Root"]


def test_without_a_script_the_graph_is_a_picture():
    learned = paper_result()
    page = Page(report_html(learned))
    ((attributes, _),) = page.all("svg")
    assert attributes["role"] == "img"
    assert "10 nodes and 16 edges" in attributes["aria-label"]
    marks = [a["class"] for a, _ in page.all("g") if "class" in a]
    assert sum("kgmi-edge" in mark for mark in marks) == 16
    assert [mark for mark in marks if "kgmi-root" in mark] == ["kgmi-node kgmi-root"] * 2


def test_a_certificate_and_assumptions_are_told_where_there_are_any():
    learned = replace(paper_result())
    assert "What is certified" not in report_html(learned)
    vars(learned)["certificate"] = paper_result().certificate
    assert "What is certified" in report_html(learned)
    rows = sample(Process(Dag.paper(5), Kernel.paper()), 500, rng=np.random.default_rng(105))
    told = report_html(learn(rows, kernel=Kernel.paper(), guide="stationary"))
    assert "Which conditions hold" in told


def test_500_nodes_stay_below_five_megabytes():
    assert 100_000 < len(report_html(wide_result()).encode()) < 5_000_000


def test_a_loaded_result_has_the_same_report(tmp_path):
    learned = paper_result()
    save(learned, tmp_path)
    path = write_report(load(tmp_path), tmp_path / "deep" / "page.html")
    assert path.read_text(encoding="utf-8") == report_html(learned)


def test_names_that_are_no_unicode_do_not_stop_it(tmp_path):
    learned = learn(RANDOM, names=["\ud800", "b", "c", "d", "e"])
    path = write_report(learned, tmp_path / "report.html")
    text = path.read_text(encoding="utf-8")
    Page(text)
    assert ">?</th>" in text  # in the place of what cannot be written


def test_assets():
    script = asset("view.js")
    assert script.count("window.kgmiView =") == 1
    assert ".innerHTML" not in script
    assert "eval(" not in script
    folder = Path(__file__).parents[1] / "src" / "kgmi" / "report" / "assets"
    for path in folder.glob("*.*"):  # none is forgotten
        assert path.read_text(encoding="utf-8") in "".join(map(asset, ASSETS))
    with pytest.raises(SettingError, match="no 'secret' in the report"):
        asset("secret")
