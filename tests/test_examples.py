import runpy
from pathlib import Path

import numpy as np
import pytest

import kgmi
from kgmi.errors import SettingError
from kgmi.examples import EXAMPLES, example

SCRIPTS = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_example_script_runs_and_says_something(script, capsys):
    runpy.run_path(str(script), run_name="__main__")
    assert len(capsys.readouterr().out.splitlines()) > 3


def test_the_example_data_are_what_they_say(tmp_path):
    chosen = example("paper")
    assert chosen.truth == kgmi.Dag.paper(10)
    assert chosen.kernel == kgmi.Kernel.paper()
    process = kgmi.Process(chosen.truth, chosen.kernel)
    rows = kgmi.sample(process, 20_000, rng=np.random.default_rng(2026))
    assert np.array_equal(chosen.table.codes, rows)


def test_every_example_is_learned_right():
    for name in EXAMPLES:
        chosen = example(name)
        learned = kgmi.learn(chosen.table, kernel=chosen.kernel)
        assert learned.converged
        assert kgmi.metrics.compare(learned.dag, chosen.truth).exact


def test_an_unknown_example_lists_the_others():
    with pytest.raises(SettingError, match="paper"):
        example("nothing")
