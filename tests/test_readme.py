"""Every command of README.md, run as it is written, in a clean folder.

``make test-readme`` (marker «readme») runs them with kgmi as ``pip install .`` installs it from a copy of this
folder; ``make test`` runs what is shown with its output, and the Python. What needs a cluster is in tests/cluster.
"""

import re
import shutil
import subprocess
import sys

import pytest

from tests.readme import BLOCKS, PAGE, PYTHON, ROOT, TRANSCRIPTS, commands, environment, fill, run

OTHERWISE = {
    # It changes what the user's shell does when it starts.
    "kgmi --install-completion": "HOME=$PWD kgmi --install-completion",
    # Many samples and methods, for minutes; one is enough to see that it works.
    "kgmi bench graphs --rows 100,300 --peers none": "kgmi bench graphs --rows 100,300 --peers none --ours kgmi "
    "--kernels 1 --seeds 1",
    "kgmi bench graphs --order learn": "kgmi bench graphs --order learn --rows 100 --kernels 1 --seeds 1",
    # The text names two commands that take many minutes: all experiments in full, and 200 random problems.
    "kgmi reproduce": "kgmi reproduce --help",
    "kgmi bench trust": "kgmi bench trust --problems 2",
}
INSTALL = "pip install ."
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PEERS = [one for section in commands() for one in section if ".bif" in one]


def elsewhere(command):
    """Commands that have a test of their own, below or in tests/cluster."""
    return not command.startswith("kgmi ") or "--cluster" in command or command in PEERS


def groups():
    """The commands of each section in their order: those on one result, and the others, which need none."""
    for number, section in enumerate(commands()):
        kept = [one for one in section if not elsewhere(one)]
        on_result = [one for one in kept if re.search(r"(?<!-)\bresult\b", one)]
        others = [one for one in kept if one not in on_result]
        for name, some in (("result", on_result), ("others", others)):
            if some:
                yield pytest.param(some, id=f"section{number}-{name}")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filled")
    fill(folder)
    return folder


@pytest.fixture
def clean(filled, tmp_path):
    return shutil.copytree(filled, tmp_path / "clean")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A copy of this folder without what is made in it, and the variables of a shell that has it installed."""
    folder = tmp_path_factory.mktemp("installed")
    made = [line.strip("/").split("/")[-1] for line in (ROOT / ".gitignore").read_text(encoding="utf-8").split()]
    copy = shutil.copytree(ROOT, folder / "copy", ignore=shutil.ignore_patterns(".git", *made))
    subprocess.run([sys.executable, "-m", "venv", folder / "bare"], check=True)
    variables = environment(folder / "bare" / "bin")
    run(INSTALL, copy, variables)
    return copy, variables


@pytest.fixture(params=["here", pytest.param("installed", marks=pytest.mark.readme)])
def shell(request, clean):
    """A function that runs a command in the clean folder, with kgmi as it is here or as it is installed."""
    variables = None if request.param == "here" else request.getfixturevalue("installed")[1]
    return lambda command: run(command, clean, variables)


def test_every_block_is_python_or_a_list_of_commands_that_are_run():
    assert {language for language, _ in BLOCKS} == {"", "python"}
    found = [one for section in commands() for one in section]
    assert {*OTHERWISE, INSTALL, "make demo", *PEERS} <= {*found}
    ci = (ROOT / ".ci/run").read_text(encoding="utf-8")
    called = re.findall(r"^\s*(?:\w+=\S+ )?make (\S+)$", ci, re.MULTILINE)
    targets = re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE)
    assert {*called} <= {*targets}
    for command in found:
        program, *words = command.split()
        if program == "make":
            assert words[0] in called or command == "make demo", command
        elif program == "pip" and command != INSTALL:
            assert words[-1] in MAKEFILE, command  # an extra that a target installs
        else:
            assert program in ("kgmi", "pip"), command


@pytest.mark.readme
@pytest.mark.parametrize("some", [*groups()])
def test_the_commands_of_a_section_run(some, clean, installed):
    for command in some:
        run(OTHERWISE.get(command, command), clean, installed[1])


@pytest.mark.parametrize("block", TRANSCRIPTS, ids=range(len(TRANSCRIPTS)))
def test_a_command_prints_what_is_shown(block, shell):
    command, _, shown = block.removeprefix("$ ").partition("\n")
    assert shell(command) == shown


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_the_python_runs(code, shell, clean):
    (clean / "block.py").write_text(code, encoding="utf-8")
    assert shell("python block.py")


@pytest.mark.readme
def test_make_demo_prints_what_is_shown_and_writes_what_is_listed(installed):
    copy, variables = installed
    said = run("make demo", copy, variables)
    assert TRANSCRIPTS[0].partition("\n")[2] in said
    told = next(part for part in PAGE.split("\n\n") if part.startswith("`make demo` prints"))
    listed = re.findall(r"`(\w+\.\w+)`", told)
    assert len(listed) > 10
    for name in listed:
        assert (copy / "demo-output" / name).stat().st_size > 0, name


@pytest.mark.peers
@pytest.mark.parametrize("command", PEERS)
def test_a_network_of_another_library_is_learned(command, tmp_path):
    from importlib.resources import as_file, files

    with as_file(files("pgmpy") / "utils" / "example_models" / "alarm.bif.gz") as path:
        shutil.copy(path, tmp_path)
    said = run(f"{command} --seeds 1 --peers pyagrum-k2", tmp_path)  # all peers and seeds take minutes
    assert "pyagrum-k2" in said
