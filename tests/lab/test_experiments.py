"""The quick form of every experiment of the laboratory: from the command to the report."""

import pytest

from kgmi.lab.experiments import LAB
from kgmi.paper.results import read_result
from tests.commands import run_kgmi

pytestmark = pytest.mark.lab

# What also the small sizes show; the other checks are for the full run in docs/lab.
SHOWN = {
    "lab-ascent": ["equal to ascend, kl", "equal to ascend, pearson", "own parents, kl", "theorem 2, kl"],
    "lab-full": ["no loss in optimality", "restricted form is trained to the optimum"],
    "lab-minibatch": ["labelled minibatches find the graph", "printed sample size", "limit of the estimator"],
    "lab-single": ["loss of the construction", "parents of the chain", "gradient is mutual information"],
    "lab-two": ["two parents are used"],
    "lab-heads": ["plain mutual information collapses", "KG-MI prevents collapse", "KG-MI first"],
    "lab-unseen": ["new kernels of the same law", "few kernels are learned by heart"],
    "lab-rates": [],
}


@pytest.mark.parametrize("name", LAB)
def test_the_quick_form_shows_what_small_sizes_can_show(name, tmp_path):
    code, _, err = run_kgmi("reproduce", name, "--quick", "--set", "device=cpu", "--out", str(tmp_path))
    assert (code, err) == (0, "")
    result = read_result(tmp_path / name)
    held = {check.name for check in result.checks if check.holds}
    assert set(SHOWN[name]) <= held
    assert result.source in (tmp_path / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "value"), [("lab-heads", "width=25"), ("lab-single", "device=tpu")])
def test_settings_are_checked_before_the_work(name, value, tmp_path):
    code, _, err = run_kgmi("reproduce", name, "--quick", "--set", value, "--out", str(tmp_path / "out"))
    assert code == 2
    assert value.partition("=")[0] in err
    assert not (tmp_path / "out").exists()
