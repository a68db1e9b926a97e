"""Names in lists: those that could be misread stand in double quotes, and the command line reads them back."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kgmi
from kgmi.cli.limits import read_edges, read_names, read_tiers
from kgmi.errors import SettingError
from kgmi.graph.naming import quoted, shown_list
from tests.commands import expect_refused, run_kgmi

BAD_USAGE = 2
AGE, ODD, BAR, QUOTE, HARM = "the age, in years", "a>b", "x|y", 'say "a"', 'both, "and"'
NAMES = (AGE, ODD, BAR, QUOTE, HARM)
TEXTS = st.text(st.sampled_from('ab ,>|;"'), min_size=1).map(str.strip).filter(bool)


def test_only_names_that_could_be_misread_are_quoted():
    for clear in ("x", "the age", 'say "a"', "a-b (c)", "lag 3", "sandy", "5'"):
        assert quoted(clear) == clear
    assert quoted(AGE) == '"the age, in years"'
    assert quoted(HARM) == '"both, ""and"""'
    for unclear in ("", " a", "a ", '"a"', "salt and pepper", "a;b", BAR, ODD):
        assert quoted(unclear).startswith('"')
        assert quoted(unclear).endswith('"')
    assert shown_list(["a", AGE], " and ") == 'a and "the age, in years"'


@given(st.lists(TEXTS, min_size=1))
def test_what_is_shown_is_read_back(names):
    assert read_names(shown_list(names), "--roots") == names


@given(st.lists(st.lists(TEXTS, min_size=1), min_size=1))
def test_tiers_are_read_back(groups):
    assert read_tiers(" | ".join(map(shown_list, groups))) == groups


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1))
def test_edges_are_read_back(edges):
    assert read_edges(", ".join(shown_list(edge, " > ") for edge in edges), "--forbid") == edges


def test_a_quote_inside_a_name_is_nothing_special():
    assert read_names('5" pipe, b', "--roots") == ['5" pipe', "b"]
    assert read_edges('a>5" pipe', "--forbid") == [("a", '5" pipe')]


@pytest.mark.parametrize("text", ["", "a", "a>", ">a", "a>b>c", "a,b", "a>b,", f"{AGE}>x", f"x>{AGE}", 'a>""'])
def test_edges_that_cannot_be_read_say_how_to_write_them(text):
    with pytest.raises(SettingError, match=r"--forbid takes edges PARENT>CHILD.*in double quotes"):
        read_edges(text, "--forbid")


@pytest.mark.parametrize("text", ['"a', '"a" b', 'x, "a', '"a"b"'])
def test_a_quote_that_is_not_closed_is_refused(text):
    with pytest.raises(SettingError, match=r"--roots: the quote in .* is not closed .* in double quotes"):
        read_names(text, "--roots")


def test_lists_with_holes_are_refused():
    with pytest.raises(SettingError, match=r"takes names separated by commas, got 'a,,b'.*double quotes"):
        read_names("a,,b", "--states")
    with pytest.raises(SettingError, match=r"--tiers takes columns .*got 'a\|\|b'.*double quotes"):
        read_tiers("a||b")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rows = kgmi.sample(kgmi.Process(kgmi.Dag.paper(5), kgmi.Kernel.paper()), 2_000, rng=4420)
    path = tmp_path_factory.mktemp("odd") / "odd.csv"
    header = ",".join('"' + name.replace('"', '""') + '"' for name in NAMES)
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows.tolist())]))
    return str(path)


def parents(*arguments):
    code, out, err = run_kgmi("learn", *arguments, "--solver", "limit", "--json")
    assert (code, err) == (0, "")
    return json.loads(out)["parents"]


def test_every_column_can_be_called_on_the_command_line(table):
    free = parents(table)
    assert set(free[HARM]) == {ODD, QUOTE}
    assert ODD not in parents(table, "--forbid", '"a>b">"both, ""and"""')[HARM]
    assert AGE in parents(table, "--require", '"the age, in years" > "both, ""and"""')[HARM]
    tiers = parents(table, "--tiers", '"the age, in years","a>b"|"x|y"|say "a"|"both, ""and"""')
    assert {name: set(found) for name, found in tiers.items()} == {name: set(found) for name, found in free.items()}
    told = parents(table, "--roots", '"the age, in years", a>b, "both, ""and"""')
    assert [name for name in NAMES if not told[name]] == [AGE, ODD, HARM]


def test_the_command_line_says_how_to_quote(table):
    expect_refused(BAD_USAGE, "learn", table, "--forbid", f"{AGE}>{BAR}", says=["got", "double quotes"])
    expect_refused(BAD_USAGE, "learn", table, "--roots", AGE, says=["'the age'", "no column", "double quotes"])
    expect_refused(BAD_USAGE, "learn", table, "--roots", '"the age', says=["not closed", "double quotes"])
    _, out, _ = run_kgmi("learn", "--help")
    assert (
        " ".join(out.split()).count('Quote names with such signs: "a, b".') == 8
    )  # --columns and --drop among them


def test_roots_of_windows_are_called_by_lag(tmp_path):
    path = tmp_path / "sequence.csv"
    path.write_text("\n".join(["x", *np.random.default_rng(4421).integers(2, size=300).astype(str)]))
    assert set(parents(str(path), "--windows", "3", "--roots", "lag 2, lag 1")) == {"lag 2", "lag 1", "now"}


def test_lists_for_people_are_clear(table):
    _, out, _ = run_kgmi("learn", table, "--solver", "limit", "--roots", '"the age, in years",a>b')
    shown = " ".join(out.split())
    assert '(roots: "the age, in years", "a>b")' in shown
    assert '"the age, in years", "a>b"' in out.partition("margin")[2]


def test_states_with_commas_are_declared_in_quotes_and_shown_so(tmp_path):
    path = tmp_path / "states.csv"
    path.write_text("a,b,c\n" + '"low, very",mid,high\nmid,high,"low, very"\nhigh,"low, very",mid\n' * 5)
    asked = "--states 'high,\"low, very\",mid'"
    expect_refused(BAD_USAGE, "learn", str(path), "--kernel", "paper", says=[asked])
    code, out, _ = run_kgmi("learn", str(path), "--kernel", "paper", "--states", 'high,"low, very",mid')
    assert code == 0
    assert '(3 states: high, "low, very", mid)' in out
