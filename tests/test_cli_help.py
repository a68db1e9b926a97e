"""Every command teaches: a summary, examples that work, a few sentences, options in groups; and shells can ask."""

import os
import re
import shlex
import subprocess
import sys
from functools import cache

import pytest
import typer.main

from kgmi.cli import app
from kgmi.cli.helping import GROUPS
from kgmi.divergence import DIVERGENCES
from tests.commands import run_kgmi


@cache
def commands():
    """Every command by its words, with its click command."""
    found = {}
    for name in app._COMMANDS:
        top = typer.main.get_command(app.make_app([name])).commands[name]
        if name == "bench":
            found |= {f"bench {below}": command for below, command in top.commands.items()}
        else:
            found[name] = top
    return found


def paragraphs(command):
    return [" ".join(part.split()) for part in command.help.split("\n\n")]


def examples(words):
    said = paragraphs(commands()[words])
    return [text.removeprefix("Example: ") for text in said if text.startswith("Example: ")]


EVERY = [(words, example) for words in commands() for example in examples(words)]

# Not run here: what serves a page, what takes minutes (tests of their own run it with small numbers).
NOT_RUN = {"serve", "reproduce", *(words for words in commands() if words.startswith("bench "))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that examples name."""
    made = tmp_path_factory.mktemp("examples")
    before = os.getcwd()
    os.chdir(made)
    try:
        for command in (
            "sample --rows 300 --seed 12 --out table.csv",
            "learn table.csv --out result",
            "learn table.csv --penalty bic --out other-result",
            "sample --rows 300 --seed 13 --out february.csv",
            "count table.csv --out january.counts",
            "count february.csv --out february.counts",
        ):
            assert run_kgmi(*command.split())[0] == 0
    finally:
        os.chdir(before)
    return made


@pytest.mark.parametrize("words", commands())
def test_a_command_has_a_summary_an_example_and_some_sentences(words):
    said = paragraphs(commands()[words])
    assert said[0].endswith(".")
    assert said[1].startswith(f"Example: kgmi {words}")
    assert len(examples(words)) <= 2
    assert all(len(example) <= 110 for example in examples(words))
    rest = [text for text in said[2:] if not text.startswith("Example:")]
    assert len(rest) >= 1
    assert all(text.endswith(".") for text in rest)


@pytest.mark.parametrize(("words", "example"), EVERY, ids=[example for _, example in EVERY])
def test_examples_are_understood(words, example, folder, monkeypatch):
    monkeypatch.chdir(folder)
    program, *arguments = shlex.split(example)
    assert program == "kgmi"
    arguments = arguments[len(words.split()) :]
    commands()[words].make_context(words, arguments)  # refuses options that there are not and values of wrong types


@pytest.mark.parametrize(
    ("words", "example"),
    [one for one in EVERY if one[0] not in NOT_RUN],
    ids=[e for w, e in EVERY if w not in NOT_RUN],
)
def test_examples_run(words, example, folder, monkeypatch):
    monkeypatch.chdir(folder)
    code, out, err = run_kgmi(*shlex.split(example)[1:])
    assert code == 0, err
    assert out
    assert "Traceback" not in err


@pytest.mark.parametrize("words", ["learn", "certify"])
def test_options_are_in_groups_the_table_first(words):
    code, out, _ = run_kgmi(*words.split(), "--help")
    assert code == 0
    titles = re.findall(r"^(\S[^:\n]*):$", out, re.MULTILINE)
    assert titles[:3] == ["Arguments", "The table", "What is known"]
    assert titles[-1] == "Output"
    assert "Options" not in titles  # which is where those come that nobody has put into a group
    listed = re.findall(r"^  (?:-h, )?--([a-z-]+)", out, re.MULTILINE)
    known = {name for names in GROUPS.values() for name in names.split()}
    assert {name.replace("-", "_") for name in listed} <= known
    assert max(map(len, out.splitlines())) <= 80


def test_the_list_of_commands_is_not_cut_off():
    out = run_kgmi("--help")[1]
    assert "..." not in out.split("Commands:")[1]
    for _, says in app._COMMANDS.values():
        assert " ".join(says.split()) in " ".join(out.split())


def asked(shell, line):
    """What a shell is told when it asks what may follow at the end of a line, as the scripts of typer ask."""
    said = {"_KGMI_COMPLETE": f"complete_{shell}"}
    if shell == "bash":
        said |= {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    else:
        said |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    code = "import sys; sys.argv = ['kgmi']; from kgmi.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | said, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    if shell == "zsh":
        return re.findall(r'(?:\(|\n)"((?:[^"\\]|\\.)*)"', done.stdout)
    return [text.split("\t")[0] for text in done.stdout.splitlines() if text]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kgmi lea", ["learn"]),
        ("kgmi learn --guide st", ["stationary"]),
        ("kgmi export result --to gra", ["graphml"]),
        ("kgmi bench netw", ["networks"]),
        ("kgmi learn --example pa", ["paper"]),
    ],
)
def test_shells_are_told_which_words_may_follow(shell, line, expected):
    assert asked(shell, line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kgmi learn --divergence kl", ["kl", "kl-matched"]),
        ("kgmi learn --divergence ", [f"{name}{form}" for name in DIVERGENCES for form in ("", "-matched")]),
        ("kgmi learn --order l", ["learn"]),
        ("kgmi learn --truth mi", ["mixed"]),
        ("kgmi sample --kernel me", ["mendelian"]),
        ("kgmi plot result lay", ["layers"]),
        ("kgmi reproduce col", ["collapse"]),
        ("kgmi compare result mi", ["mixed"]),
        ("kgmi learn tab", []),  # nothing: the shell offers files
        ("kgmi compare resu", []),
    ],
)
def test_values_of_options_are_offered(line, expected):
    assert asked("bash", line) == expected


def test_completing_a_line_loads_only_the_command_of_that_line():
    code = (
        "import os, sys; sys.argv = ['kgmi']\n"
        "os.environ.update(_KGMI_COMPLETE='complete_bash', COMP_WORDS='kgmi show ', COMP_CWORD='2')\n"
        "from kgmi.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*sorted(name for name in sys.modules if name.startswith('kgmi.cli.bench')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
