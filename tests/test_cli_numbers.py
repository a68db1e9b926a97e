"""Numbers at the edge of what a float holds, for every option that takes one: a result or a clean error."""

import re
from pathlib import Path

import pytest

from tests.commands import expect_refused, run_kgmi

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"
EDGES = ("1e308", "1e-308", "-1", "0", "inf", "nan")
BENCH = EDGES[1:]  # with the largest number they measure as long as they like

# The options, each with the ways to call its command; {name} is a file of the fixture.
CALLS = {
    ("learn", "--kappa"): ["{labelled} --guide labelled"],
    ("learn", "--rate"): ["{rows}", "{rows} --kernel paper --guide stationary"],
    ("learn", "--stop"): ["{rows}", "{rows} --kernel paper --guide stationary"],
    ("learn", "--smoothing"): [
        "{rows}",
        "{rows} --share node",
        "{rows} --order learn",
        "{rows} --guide contextual",
        "{rows} --kernel paper --guide stationary",
        "{labelled} --kernel-source labelled",
    ],
    ("learn", "--root-level"): ["{rows} --kernel paper --guide stationary"],
    ("learn", "--error"): ["{rows}", "{rows} --kernel paper"],
    ("certify", "--alpha"): ["{rows}", "{rows} --kernel paper"],
    ("certify", "--patience"): ["{rows}"],
    ("exact", "--kappa"): ["--graph paper5 --guide labelled"],
    ("theory", "--eps-attn"): ["--graph paper5"],
    ("theory", "--rate"): ["--graph paper5"],
    ("plot", "--width"): ["{result} --out {pictures}"],
    ("bench networks", "--limit"): ["nowhere.bif"],
    ("bench graphs", "--limit"): ["--kernels 1 --rows 50 --seeds 1 --peers none"],
    ("bench fit", "--limit"): ["--quick --peers none"],
    ("bench rows", "--limit"): ["--quick"],
    ("bench stream", "--limit"): ["--quick --parts rows --workers 1 --peers none"],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    found = {"rows": folder / "rows.csv", "labelled": folder / "labelled.csv", "result": folder / "result"}
    draw = ("sample", "--graph", "paper5", "--rows", "60", "--seed", "3", "--out")
    assert run_kgmi(*draw, str(found["rows"]))[0] == 0
    assert run_kgmi(*draw, str(found["labelled"]), "--labelled")[0] == 0
    assert run_kgmi("learn", str(found["rows"]), "--out", str(found["result"]))[0] == 0
    return found | {"pictures": folder / "pictures"}


def test_every_option_that_takes_a_number_is_tried():
    command, found = "", set()
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"#+ kgmi (.*)", line):
            command = heading[1]
        elif option := re.match(r"\| `(--[\w-]+) <float>`", line):
            found.add((command, option[1]))
    assert found <= CALLS.keys()


@pytest.mark.parametrize(
    ("command", "option", "call", "number"),
    [
        (command, option, call, number)
        for (command, option), calls in CALLS.items()
        for call in calls
        for number in (BENCH if command.startswith("bench") else EDGES)
    ],
)
def test_a_number_at_the_edge_ends_in_a_result_or_a_clean_error(command, option, call, number, files):
    words = [word.format(**files) for word in call.split()]
    code, out, err = run_kgmi(*command.split(), *words, f"{option}={number}")
    assert code in (0, 1, 2), err
    if code:
        assert out == ""
        assert err.startswith("kgmi: error: ")
        assert err.count("\n") == 1
    elif number == "nan":
        pytest.fail(f"{option} nan was taken for a number")


@pytest.mark.parametrize(
    ("call", "option", "says"),
    [
        ("learn {rows}", "--smoothing=1e308", "--smoothing must be from 0 to 1e+12 pseudo-rows, got 1e+308"),
        ("exact --graph paper5 --guide labelled", "--kappa=1e308", "--kappa must be at most 200 "),
        ("learn {rows}", "--rate=1e308", "the rate η must be positive and at most 1e+100, got 1e+308"),
        ("theory", "--rate=1e-308", "the rate η must be from 1e-100 to 1e+100, got 1e-308"),
        ("theory", "--eps-attn=1e-308", "--eps-attn must be at least 1e-100 and below 1, got 1e-308"),
    ],
)
def test_what_is_out_of_range_is_said_with_the_range(call, option, says, files):
    expect_refused(2, *(word.format(**files) for word in call.split()), option, says=[says])
