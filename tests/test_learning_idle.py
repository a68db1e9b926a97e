"""Options that nothing can depend on are refused with advice; all others are taken."""

from __future__ import annotations

import importlib
import inspect

import numpy as np
import pytest

from kgmi import KGMI, Dag, Kernel, Process, count_pairs, exact_joint, learn, sample
from kgmi.errors import KgmiError, SettingError
from tests.commands import expect_refused

BAD_USAGE = 2
KERNEL = Kernel.paper()
PAPER = Process(Dag.paper(5), KERNEL)
ROWS = sample(PAPER, 200, rng=4401)
LABELLED = sample(PAPER, 200, rng=4402, labelled=True)
COUNTS = count_pairs(ROWS, 3)

CHANGED = {
    "divergence": "pearson",
    "search": "lists",
    "list_length": 3,
    "in_degree": "mixed",
    "penalty": "bic",
    "share": "shared",
    "error": 0.1,
    "root_level": 0.5,
    "starts": 2,
    "rounds": 7,
    "rate": 3.0,
    "epochs": 70,
    "stop": 0.3,
    "smoothing": 2.0,
    "kappa": 3.0,
    "labelled_form": "factorised",
    "record_at": [1],
    "states": ["0", "1", "2"],
    "missing": "pairwise",
    "alphabet": "own",
}
LABELS = {"kappa", "labelled_form"}
READING = {"states", "missing", "alphabet"}
SEARCH = {"search", "list_length", "penalty", "share", "starts", "rounds"}
TRAINING = {"rate", "epochs", "stop", "record_at"}
# What is learned from, the options that are told, and which of all options nothing depends on then.
CASES = {
    "likelihood": (ROWS, {}, {"divergence", "root_level"} | LABELS),
    "likelihood, kernel": (
        ROWS,
        {"kernel": KERNEL},
        {"divergence", "root_level"} | LABELS,
    ),
    "likelihood, kernel of the tail": (
        LABELLED,
        {"kernel_source": "labelled"},
        {"divergence", "root_level"} | LABELS,
    ),
    "likelihood, each node": (
        ROWS,
        {"share": "node"},
        {"divergence", "root_level"} | LABELS,
    ),
    "likelihood, heads": (ROWS, {"search": "heads"}, {"divergence", "root_level"} | LABELS),
    "likelihood, limit": (ROWS, {"solver": "limit"}, {"divergence", "root_level"} | LABELS | TRAINING),
    "likelihood, exact": (
        PAPER,
        {"n_parents": 2},
        {"divergence", "root_level", "penalty", "smoothing"} | LABELS | READING,
    ),
    "contextual": (ROWS, {"guide": "contextual"}, {"divergence", "root_level"} | LABELS),
    "contextual, kernel": (
        ROWS,
        {"guide": "contextual", "kernel": KERNEL},
        {"divergence", "root_level"} | LABELS,
    ),
    "contextual, pairs": (
        COUNTS,
        {"guide": "contextual", "kernel": KERNEL},
        {"divergence", "error", "in_degree"} | SEARCH | LABELS | READING,
    ),
    "contextual, pairs, heads": (
        COUNTS,
        {"guide": "contextual", "kernel": KERNEL, "search": "heads"},
        {"divergence", "error", "in_degree"} | (SEARCH - {"search", "rounds"}) | LABELS | READING,
    ),
    "stationary": (ROWS, {"guide": "stationary", "kernel": KERNEL}, SEARCH | LABELS),
    "stationary, roots": (
        ROWS,
        {"guide": "stationary", "kernel": KERNEL, "roots": [0, 1]},
        {"root_level"} | SEARCH | LABELS,
    ),
    "stationary, limit": (
        ROWS,
        {"guide": "stationary", "kernel": KERNEL, "solver": "limit"},
        SEARCH | LABELS | TRAINING,
    ),
    "stationary, counts": (COUNTS, {"kernel": KERNEL}, SEARCH | LABELS | READING),
    "stationary, exact": (
        exact_joint(PAPER),
        {"kernel": KERNEL},
        {"smoothing", "root_level"} | SEARCH | LABELS | READING,
    ),
    "uniform": (ROWS, {"guide": "uniform", "kernel": KERNEL}, SEARCH | LABELS),
    "plain": (ROWS, {"guide": "plain"}, SEARCH | LABELS),
    "labelled": (LABELLED, {}, {"smoothing"} | SEARCH),
}


def refused(source, told, name):
    """Whether the option, changed, is refused because nothing would depend on it."""
    try:
        learn(source, **(told | {name: CHANGED[name]}))
    except KgmiError as error:
        return str(error).startswith(f"{name} does nothing here: ") or "takes no divergence" in str(error)
    return False


@pytest.mark.parametrize("case", CASES)
def test_options_that_would_do_nothing_are_refused_and_no_others(case):
    source, told, idle = CASES[case]
    assert {name for name in CHANGED if name not in told and refused(source, told, name)} == idle


@pytest.mark.parametrize("case", CASES)
def test_defaults_may_be_written_out(case):
    source, told, _ = CASES[case]
    usual = {name: one.default for name, one in inspect.signature(learn).parameters.items() if name != "rows"}
    assert learn(source, **(usual | told)).dag == learn(source, **told).dag


def everything(learned):
    """What a result shows, its settings apart; the status last."""
    trace = None if learned.trace is None else learned.trace.epochs.tolist()
    return learned.dag, learned.scores.tobytes(), learned.attention.tobytes(), trace, learned.status


@pytest.mark.parametrize("case", CASES)
def test_what_is_refused_is_not_missed(case, monkeypatch):
    monkeypatch.setattr(importlib.import_module("kgmi.learning.ready"), "refuse_idle", lambda *_: None)
    source, told, idle = CASES[case]
    expected = everything(learn(source, **told))
    for name in idle - {"divergence"}:  # another check refuses that too
        shown = everything(learn(source, **(told | {name: CHANGED[name]})))
        n_compared = 4 if name == "root_level" else 5  # one sentence has a test, at the usual level
        assert shown[:n_compared] == expected[:n_compared], name


@pytest.mark.parametrize(
    ("case", "name", "value"),
    [
        ("likelihood", "search", "heads"),
        ("likelihood", "penalty", "none"),
        ("likelihood", "smoothing", 50.0),
        ("likelihood", "epochs", 3),
        ("contextual, kernel", "smoothing", 50.0),
        ("contextual, pairs", "root_level", 0.9),
        ("stationary", "root_level", 0.9),
        ("stationary", "divergence", "pearson"),
        ("stationary", "smoothing", 50.0),
        ("labelled", "kappa", 3.0),
        ("labelled", "labelled_form", "factorised"),
        ("labelled", "root_level", 0.9),
    ],
)
def test_what_is_taken_makes_a_difference(case, name, value):
    source, told, _ = CASES[case]
    assert everything(learn(source, **(told | {name: value}))) != everything(learn(source, **told))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kappa": 3.0},
            r"kappa does nothing here: .* labelled estimator \(guide='labelled'\), not",
        ),
        ({"root_level": 0.5}, "root_level does nothing here: the guide 'likelihood' finds roots by likelihood"),
        ({"divergence": "kl"}, "divergence does nothing here: .* takes no divergence; use guide='stationary'"),
        (
            {"solver": "limit", "rate": 2.0},
            "rate does nothing here: .* use solver='ascent' .* Leave it out",
        ),
        ({"guide": "plain", "kernel_source": "learned"}, "kernel_source does nothing here: .* learns no kernel"),
        ({"guide": "plain", "share": "node"}, "share does nothing here: .* use guide='likelihood'"),
    ],
)
def test_the_message_says_why_and_what_to_do(options, message):
    with pytest.raises(SettingError, match=message):
        learn(ROWS, **options)


def test_a_value_that_makes_no_sense_is_refused_for_that():
    with pytest.raises(SettingError, match=r"kappa \(κ\) must be zero or more"):
        learn(ROWS, kappa=-1.0)


def test_a_sequence_has_one_alphabet():
    with pytest.raises(SettingError, match="alphabet does nothing here: windows are cut from one sequence"):
        learn(np.tile([0, 1, 1], 40), windows=3, alphabet="own")


def test_the_estimator_refuses_them_too():
    with pytest.raises(SettingError, match="penalty does nothing here: the guide 'plain' does not search"):
        KGMI(guide="plain", penalty="bic").fit(ROWS)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("learn", "--example", "paper", "--kappa", "3"), ["--kappa does nothing here", "--guide labelled"]),
        (("learn", "--example", "paper", "--root-level", "0.5"), ["--root-level does nothing here"]),
        (("learn", "--example", "paper", "--labelled-form", "factorised"), ["--labelled-form does nothing here"]),
        (("learn", "--example", "paper", "--p", "0.1"), ["--p", "use it with --kernel paper"]),
        (("learn", "--example", "paper", "--guide", "stationary", "--p", "0.1"), ["--p", "--kernel paper"]),
        (("learn", "table.csv", "--p", "0.1"), ["--p", "use it with --kernel paper"]),
        (("learn", "--example", "paper", "--missing", "pairwise"), ["--missing", "FILE"]),
        (("learn", "--example", "paper", "--alphabet", "own"), ["--alphabet", "FILE"]),
        (("learn", "sequence.csv", "--windows", "3", "--alphabet", "own"), ["--alphabet", "--windows"]),
        (("exact", "--kappa", "3"), ["--kappa", "--guide labelled", "'stationary'"]),
    ],
)
def test_on_the_command_line(arguments, says):
    expect_refused(BAD_USAGE, *arguments, says=says)
