"""Errors and sentences of the library on the command line: options are called as the command calls them."""

import inspect
import json
import re

import numpy as np
import pytest
from typer.main import get_command

import kgmi
from kgmi.cli.app import make_app
from kgmi.cli.wording import Wording, wording_of
from tests.commands import expect_refused, run_kgmi

LEARN = Wording(
    {
        "n_parents": ("--parents",),
        "order": ("--order",),
        "max_lag": ("--max-lag",),
        "missing": ("--missing",),
        "columns": ("--columns",),
        "header": ("--header", "--no-header"),
        "prepare": ("--prepare", ""),
    },
    given=("data/order=…/x.csv", "order"),
    files=frozenset({"order"}),
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("take fewer (columns=…), or order='learn'", "take fewer (--columns …), or --order learn"),
        ("use missing='pairwise' (--missing pairwise).", "use --missing pairwise."),
        ("say with columns=… (--columns) which", "say with --columns which"),
        ("say so with header=False (--no-header)", "say so with --no-header"),
        ("allow more (n_parents, --parents)", "allow more (--parents)"),
        ("Allow n_parents = 3.", "Allow --parents 3."),
        ("count again with n_parents=2, or", "count again with --parents 2, or"),
        ("order='A B' is wrong", "--order 'A B' is wrong"),
        ("more than max_lag is 3", "more than --max-lag is 3"),
    ],
)
def test_options_are_called_as_on_the_command_line(text, said):
    assert LEARN.say(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "column 'order=…' is constant",
        "column \"a order='learn' b\" is constant",
        'drawn together: "x, columns=…", z',
        "columns 'it, missing=…', 'b' differ",
        "no file data/order=…/x.csv",
        "data/missing='pairwise'/part.parquet is gone",
        "the columns n_parents=2, max_lag=1 are there, and order = 2",
        "my_order='learn', reorder=…, order='learn'x",
        "header='x', a header is 3, prepare = 3",
        "the table has 3 columns, --columns lists 2",
        "guide='plain', n_states=… and prepare=False are no options here",
        "a column order must be there; n_parents must not",
    ],
)
def test_names_of_the_user_and_of_other_commands_stay_as_they_are(text):
    assert LEARN.say(text) == text


def test_only_an_option_begins_a_message_with_its_name():
    assert LEARN.say_setting("n_parents must be at least 1, got 0") == "--parents must be at least 1, got 0"
    assert LEARN.say_setting("missing does nothing here: it") == "--missing does nothing here: it"
    for other in ("order: it is a file", "missing has required parents", "missing is a file; --out needs a folder"):
        assert LEARN.say_setting(other) == other
    assert LEARN.say("status: order=…, 'b'", keep=["order=…"]) == "status: order=…, 'b'"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("learn", "--example", "paper", "--parents", "0"), 2, "--parents must be at least 1, got 0"),
        (("learn", "--example", "paper", "--memory-limit", "x"), 2, "--memory-limit must be a number of bytes"),
        (("learn", "--example", "paper", "--kappa", "2"), 2, "--kappa does nothing here: .*--guide labelled"),
        (("certify", "--example", "paper", "--parents", "0"), 2, "--parents must be"),
        (("theory", "--eps-attn", "2"), 2, "--eps-attn must"),
        (("learn", "--truth", "chain:5,0", "--example", "paper"), 1, "n_parents must be at least 1, got 0"),
        (("exact", "--guide", "plain", "--divergence", "other"), 2, "no divergence 'other'"),
    ],
)
def test_commands_name_their_own_options(arguments, code, says):
    got, _, err = run_kgmi(*arguments)
    assert got == code
    assert re.search(f"error: .*{says}", err)
    assert "=" not in err


def test_columns_that_are_called_like_options(tmp_path):
    rows = np.random.default_rng(77).integers(0, 2, (60, 3)).astype(str)
    rows[4, 1] = ""
    path = tmp_path / "columns=….csv"
    path.write_text("\n".join(map(",".join, [["order", "missing=…", "memory_limit is 5"], *rows.tolist()])))
    told = ["columns=….csv", "column 'missing=…'", "--missing pairwise leaves", "--missing category makes"]
    expect_refused(1, "learn", str(path), says=told)
    code, out, _ = run_kgmi("learn", str(path), "--missing", "pairwise")
    assert code == 0
    assert "most in missing=…: 1" in out
    assert "memory_limit is 5" in " ".join(out.split())
    assert "--memory-limit" not in out
    unknown = ("learn", str(path), "--missing", "pairwise", "--roots", "order=…")
    expect_refused(2, *unknown, says=["'order=…'", "no column"])


def test_status_sentences_name_options_of_the_command():
    out = run_kgmi("learn", "--example", "paper", "--guide", "plain")[1]
    assert "--guide likelihood weighs" in " ".join(out.split())
    told = json.loads(run_kgmi("learn", "--example", "paper", "--guide", "plain", "--json")[1])
    assert "guide='likelihood' weighs" in told["trust"]["sentence"] + told["status"]  # as the library says it


def test_every_option_of_the_library_that_a_command_has_is_known():
    command = get_command(make_app(["learn"])).commands["learn"]
    library = {*inspect.signature(kgmi.learn).parameters, *inspect.signature(kgmi.stream).parameters}
    unknown = library - {*wording_of(command.params, {}).options}
    assert unknown == {"rows", "source", "names", "n_states", "progress", "record_at", "fragment_rows"}
