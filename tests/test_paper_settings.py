"""Settings of experiments: defaults, TOML files, pairs, and f of the user's own."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pytest

from kgmi.errors import SettingError
from kgmi.paper.reproduce import EXPERIMENTS, experiments_named, settings_of
from kgmi.paper.settings import as_toml, changes, read_config

from .commands import run_kgmi


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_printed_settings_read_back_as_the_same_settings(name, tmp_path):
    chosen = experiments_named(name)
    for quick in (False, True):
        settings = settings_of(chosen, quick=quick)[name]
        path = tmp_path / "my.toml"
        path.write_text(as_toml(name, settings), encoding="utf-8")
        assert settings_of(chosen, config=read_config(path))[name] == settings
    assert changes(settings, EXPERIMENTS[name].quick) == {}
    assert set(changes(settings, {})) == set(EXPERIMENTS[name].quick)


def test_the_command_prints_them_and_runs_nothing(tmp_path):
    code, said, _ = run_kgmi(
        "reproduce", "rate-length", "--print-config", "--set", "eta=1", "--out", str(tmp_path / "o")
    )
    content = tomllib.loads(said)["rate-length"]
    assert code == 0
    assert (content["eta"], content["eps_attn"], content["lengths"][-1]) == (1.0, 0.1, 100)
    assert not (tmp_path / "o").exists()


def test_layers_follow_each_other_and_pairs_go_to_all_that_have_them():
    every = settings_of(
        experiments_named("all"),
        quick=True,
        config={"long": {"copies": 3, "eta": 2}},
        pairs={"eta": "5", "copies": "4"},
    )
    assert {one.eta for one in every.values() if "eta" not in one.unused} == {5.0}
    assert (every["long"].copies, every["long"].epochs) == (4, 200_000)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ({"etta": "1"}, "no setting 'etta'"),
        ({"eta": "fast"}, "eta takes a number, got 'fast'"),
        ({"eta": "nan"}, "eta must be from"),
        ({"eps_attn": "1.5"}, "eps_attn must be from"),
        ({"lengths": "10,x"}, "lengths takes a whole number, got 'x'"),
        ({"lengths": "10,20.5"}, "lengths takes a whole number"),
    ],
)
def test_a_bad_setting_is_named(pairs, said):
    with pytest.raises(SettingError, match=said):
        settings_of(experiments_named("rate-length"), pairs=pairs)


def test_nodes_out_of_order_are_refused(tmp_path):
    path = tmp_path / "graph.json"
    path.write_text('{"parents": [[1, 2], [], []]}', encoding="utf-8")
    with pytest.raises(SettingError, match=r"graph\.json parents first"):
        settings_of(experiments_named("heatmaps"), pairs={"graph": str(path)})["heatmaps"].validate()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("eta = 1", "'eta' stands outside a table"),
        ("[rate-long]\neta = 1", "names 'rate-long', which is no experiment"),
        ("[long]\ncopies = true", "copies takes a whole number, got True"),
        ("[long", "is not TOML"),
    ],
)
def test_a_bad_file_is_named(content, said, tmp_path):
    path = tmp_path / "my.toml"
    path.write_text(content)
    code, _, error = run_kgmi("reproduce", "long", "--config", str(path), "--out", str(tmp_path / "o"))
    assert code == 2
    assert said in error
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("name", "pair", "said"),
    [
        ("long", "eta", "name=value"),
        ("long", "p=0,0", "nine tunables"),
        ("long", "p=.9", "probability -0"),
        ("collapse", "graph=nonsense", "'nonsense' is not a graph"),
        ("collapse", "divergences=kl,other", "there is no divergence 'other'"),
        ("rate-length", "lengths=10,20", "at least three"),
        ("rate-length", "lengths=10,20,35", "not a multiple of the 10 nodes"),
        ("rate-gap", "kernel=random:3,2,1", "no setting 'kernel' here"),
        ("theorems", "graph=paper5", "no setting 'graph' here"),
        ("heatmaps", "sequences=20000,10000", "sequences must rise"),
        ("degrees", "graph=chain:10,2", "nodes 3, 7 and 9 with one parent each"),
        ("long", "hellinger=__import__('os').getcwd()*x", "not allowed in the formula"),
        ("long", "hellinger=x.real", "not allowed in the formula"),
        ("long", "hellinger=x +", "is not a formula in x"),
        ("long", "hellinger=1/0", "must be finite"),
        ("long", "hellinger=x", "f(1) of 'x' is 1"),
        ("long", "hellinger=1-x**2", "not convex"),
        ("long", "hellinger=nowhere.py:f", "there is no file nowhere.py"),
    ],
)
def test_bad_values_are_named_before_anything_is_written(name, pair, said, tmp_path):
    code, _, error = run_kgmi("reproduce", name, "--quick", "--set", pair, "--out", str(tmp_path / "o"))
    assert code == 2
    assert said in error
    assert not (tmp_path / "o").exists()


def test_a_function_that_fails_is_named_with_its_file(tmp_path):
    (tmp_path / "bad.py").write_text("import math\n\ndef f(x):\n    return math.sqrt(x)\n")
    code, _, error = run_kgmi("reproduce", "long", "--set", f"kl={tmp_path / 'bad.py'}:f", "--out", str(tmp_path))
    assert code == 2
    assert "bad.py failed on a NumPy array" in error
    code, _, error = run_kgmi("reproduce", "long", "--set", f"kl={tmp_path / 'bad.py'}:g", "--out", str(tmp_path))
    assert "has no function 'g'" in error


def test_a_kernel_that_is_symmetric_has_no_gap(tmp_path):
    code, _, error = run_kgmi("reproduce", "rate-length", "--set", "kernel=mendelian", "--out", str(tmp_path))
    assert code == 1
    assert "Δ of this graph and kernel is 0" in error


def test_results_hold_the_whole_configuration_and_an_f_from_a_file_is_that_of_the_formula(tmp_path):
    (tmp_path / "mine.py").write_text("import numpy as np\n\ndef half(x):\n    return 2 - 2 * np.sqrt(x)\n")
    found = []
    for number, f in enumerate((f"{tmp_path / 'mine.py'}:half", "2*(1-sqrt(x))", "1-sqrt(x)")):
        out = tmp_path / str(number)
        pairs = ("copies=1", "epochs=3000", "eta=20", f"hellinger={f}")
        code, _, error = run_kgmi(
            "reproduce", "long", *(x for pair in pairs for x in ("--set", pair)), "--out", str(out)
        )
        assert (code, error) == (0, "")
        content = json.loads((out / "long" / "results.json").read_text())
        assert content["configuration"]["eta"] == 20
        assert content["configuration"]["hellinger"] == f
        assert set(content["changed"]) >= {"copies", "epochs", "eta"}
        assert ("hellinger" in content["changed"]) == (f != "1-sqrt(x)")
        assert '--set "copies=1"' in (out / "report.md").read_text()
        found.append(content["numbers"]["curves"]["hellinger"])
    file, formula, half = found
    np.testing.assert_allclose(file["suboptimality"], formula["suboptimality"], rtol=1e-12)
    assert formula["gap"] == pytest.approx(2 * half["gap"])
