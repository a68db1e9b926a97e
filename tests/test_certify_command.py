"""``kgmi certify`` on files, on standard input, and what it refuses."""

import io
import json
import re
import sys
from pathlib import Path

import pytest

from kgmi.certify.judge import _DRAWN, _NO_ROOT
from tests.commands import expect_refused, run_kgmi


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("certify") / "rows.csv"
    arguments = ["--graph", "paper5", "--kernel", "paper", "--rows", "700", "--seed", "41", "--out", str(path)]
    code, _, err = run_kgmi("sample", *arguments)
    assert code == 0, err
    return path


@pytest.fixture
def piped(table, monkeypatch):
    def pipe(text=None):
        monkeypatch.setattr(sys, "stdin", io.StringIO(table.read_text() if text is None else text))

    return pipe


def test_the_table_and_the_words(table):
    code, out, err = run_kgmi("certify", str(table), "--kernel", "paper", "--bootstrap", "20")
    assert code == 0, err
    assert re.search(r"X5 +X2, X4 +yes", out)
    assert "Certified: 3 of 3 nodes" in out
    assert "no other is open" in out
    assert "The paper's condition ε < Δ/4" in out
    assert re.search(r"X2 +X5 +1\.000", out)


def test_machines_get_the_same(table):
    options = ["--parents", "2", "--share", "shared", "--alpha", "0.1", "--method", "split", "--json"]
    code, out, _ = run_kgmi("certify", str(table), *options, "--bootstrap", "10")
    assert code == 0
    content = json.loads(out)
    assert content["method"] == "split"
    assert content["alpha"] == 0.1
    assert content["n_rows"] == 350
    assert [node["name"] for node in content["nodes"]] == ["X1", "X2", "X3", "X4", "X5"]
    assert {"parent": "X4", "child": "X5", "share": 1.0} in content["bootstrap"]


def test_a_file_is_read_until_all_is_certain(table):
    code, out, _ = run_kgmi("certify", str(table), "--kernel", "paper", "--until-certified", "--batch", "50")
    assert code == 0
    n_rows = int(re.search(r"after (\d+) rows: reading stopped", out)[1])
    assert n_rows < 700
    assert n_rows % 50 == 0
    code, out, _ = run_kgmi(
        "certify", str(table), "--kernel", "paper", "--until-certified", "--alpha", "1e-90", "--json"
    )
    content = json.loads(out)
    assert content["outcome"] == "The rows ended, 700 of them, before everything was certified."
    assert content["complete"] is False


def test_where_roots_are_not_told_the_words_say_what_is_certified(tmp_path):
    table = tmp_path / "rows.csv"
    arguments = ["--graph", "paper5", "--kernel", "paper", "--rows", "2000", "--seed", "41", "--out", str(table)]
    assert run_kgmi("sample", *arguments)[0] == 0
    options = ["--parents", "2", "--share", "shared", "--until-certified", "--batch", "500", "--alpha", "0.5"]
    code, out, _ = run_kgmi("certify", str(table), *options, "--json")
    assert code == 0
    content = json.loads(out)
    assert content["complete"] is True
    assert content["outcome"].startswith("Every node with parents so far is certified as far as it can be, after")
    code, out, _ = run_kgmi("certify", str(table), *options, "--patience", "0", "--json")
    assert json.loads(out)["complete"] is False


def test_standard_input_is_read_no_further_than_needed(piped):
    piped()
    code, out, err = run_kgmi("certify", "-", "--kernel", "paper", "--until-certified", "--batch", "50")
    assert code == 0, err
    assert "reading stopped" in out
    left = sys.stdin.read()
    assert left.count("\n") > 50
    piped()
    options = ["--states", "0,1,2", "--parents", "2", "--share", "shared", "--roots", "X1,X2", "--batch", "700"]
    code, out, _ = run_kgmi("certify", "-", *options, "--until-certified")
    assert code == 0
    assert re.search(r"X3 +X1, X2", out)


def test_lines_without_a_header_and_with_gaps(piped):
    piped("0,1,0\n\n1,0,1\n1,,0\n" + "0,1,1\n1,1,0\n0,0,1\n" * 10)
    code, out, err = run_kgmi(
        "certify",
        "-",
        "--no-header",
        "--states",
        "0,1",
        "--parents",
        "1",
        "--missing",
        "pairwise",
        "--until-certified",
    )
    assert code == 0, err
    assert "1 rows have missing values" in out


def test_a_column_whose_first_values_come_late_is_waited_for(piped):
    piped("a,b\n" + "0,\n1,\n" * 5 + "0,1\n1,0\n1,1\n" * 10)
    options = ["--states", "0,1", "--parents", "1", "--missing", "pairwise", "--until-certified", "--batch", "2"]
    code, out, err = run_kgmi("certify", "-", *options)
    assert code == 0, err
    assert "10 rows have missing values" in out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", ["empty"]),
        ("a,b\n0,1\n1\n", ["row 2", "1 values for 2 columns"]),
        ("a,b\n0,7\n", ["row 1", "column b", "'7'", "--states"]),
        ("a,b\n0,\n", ["row 1", "column b", "has no value", "--missing pairwise"]),
        ("a,b\n0,NA\n", ["row 1", "column b", "has no value", "--missing pairwise"]),
        ("a,b\n0,0\n0,0\n", ["nothing can be learned from these 2 rows"]),
    ],
)
def test_bad_rows_are_named(piped, text, says):
    piped(text)
    expect_refused(1, "certify", "-", "--states", "0,1", "--parents", "1", "--until-certified", says=says)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], ["give one table"]),
        (["-"], ["--until-certified"]),
        (["-", "--until-certified"], ["--states A,B"]),
        (["rows.csv", "--batch", "10"], ["--batch", "--until-certified"]),
        (["rows.csv", "--until-certified", "--batch", "0"], ["at least 1 row"]),
        (["rows.csv", "--until-certified", "--method", "split"], ["--method split", "whole table"]),
        (["rows.csv", "--until-certified", "--windows", "4"], ["--windows"]),
        (["rows.csv", "--until-certified", "--bootstrap", "9"], ["--bootstrap"]),
        (["rows.csv", "--until-certified", "--missing", "category"], ["--missing category"]),
        (["rows.csv", "--p", "0.1"], ["--kernel paper"]),
        (["rows.csv", "--order", "learn"], ["give the order of the columns"]),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, says):
    expect_refused(2, "certify", *options, says=says)


def test_lags_of_a_sequence_are_shown_alone(tmp_path):
    path = tmp_path / "sequence.csv"
    bits = [0, 1, 1]
    for place in range(600):
        bits.append(bits[-1] ^ bits[-3] if place % 7 else bits[-2])
    path.write_text("x\n" + "\n".join(map(str, bits)) + "\n")
    code, out, err = run_kgmi("certify", str(path), "--windows", "5", "--parents", "2")
    assert code == 0, err
    assert re.search(r"now +lag 3, lag 1 +yes", out)
    assert "lag 4 " not in out


def test_the_options_and_sentences_of_the_page_exist():
    page = (Path(__file__).parent.parent / "docs" / "certificates.md").read_text(encoding="utf-8")
    commands = [("certify",), ("bench", "certificates")]
    known = {flag for command in commands for flag in re.findall(r"--[a-z-]+", run_kgmi(*command, "--help")[1])}
    assert set(re.findall(r"--[a-z][a-z-]+", page)) <= known
    for sentence in re.findall(r"«(.+?)»", page, re.DOTALL):
        if sentence != "never" and not sentence.startswith("the parents of i"):
            words = " ".join(sentence.split())
            assert words[0].lower() + words[1:] in f"{_NO_ROOT} {_DRAWN}", words
