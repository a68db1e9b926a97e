"""Known kernels whose zeros leave no unique stationary law: only what needs that law refuses them."""

import json

import numpy as np
import pytest

import kgmi
from kgmi.errors import KernelError
from tests.commands import expect_refused, run_kgmi

AND = kgmi.Kernel([[[1, 0], [1, 0]], [[1, 0], [0, 1]]])
IDENTITY = kgmi.Kernel([[1, 0], [0, 1]])
LEAKY_AND = kgmi.Kernel([[[1, 0], [1, 0]], [[1, 0], [0.1, 0.9]]])  # its stationary law leaves state 1 without mass

COINS = np.random.default_rng(0).integers(0, 2, (400, 2))
KEPT = np.random.default_rng(1).random(400) < 0.9
CASES = {
    "and": (AND, np.c_[COINS, COINS.min(axis=1)], ((), (), (0, 1))),
    "identity": (IDENTITY, np.repeat(COINS[:, :1], 2, axis=1), ((), (0,))),
    "leaky and": (LEAKY_AND, np.c_[COINS, COINS.min(axis=1) & KEPT], ((), (), (0, 1))),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture
def files(case, tmp_path):
    """The table and the kernel as files."""
    kernel, rows, _ = case
    table, known = tmp_path / "table.csv", tmp_path / "kernel.json"
    lines = [",".join(f"X{column}" for column in range(rows.shape[1])), *(",".join(map(str, row)) for row in rows)]
    table.write_text("\n".join(lines) + "\n")
    known.write_text(json.dumps(kernel.to_dict()))
    return str(table), str(known)


@pytest.mark.parametrize("guide", ["likelihood", "contextual"])
def test_guides_that_need_no_stationary_law_learn_and_say_which_conditions_fail(case, guide):
    kernel, rows, parents = case
    learned = kgmi.learn(rows, kernel=kernel, guide=guide)
    assert learned.dag.parents == parents
    failed = {one.name for one in learned.assumptions.assumptions if not one.holds}
    assert {"positive kernel", "stationary nodes"} <= failed
    assert kernel is IDENTITY or "distinct marginal kernels" in failed
    assert np.isin(learned.model.sample(50, rng=0), (0, 1)).all()


def test_the_uniform_guide_needs_no_stationary_law_either(case):
    kernel, rows, parents = case
    learned = kgmi.learn(rows, kernel=kernel, guide="uniform")
    assert set(learned.dag.parents[-1]) <= set(parents[-1])
    assert ("collapse" in learned.status) is (kernel is not IDENTITY)  # both heads of AND see the same


def test_a_saved_result_is_the_same(case, tmp_path):
    kernel, rows, _ = case
    learned = kgmi.learn(rows, kernel=kernel)
    kgmi.save(learned, tmp_path / "result")
    loaded = kgmi.load(tmp_path / "result")
    assert loaded.dag == learned.dag
    assert loaded.kernel == kernel
    assert loaded.status == learned.status
    for before, after in zip(learned.assumptions.assumptions, loaded.assumptions.assumptions, strict=True):
        assert (before.name, before.holds, before.sentence) == (after.name, after.holds, after.sentence)
        np.testing.assert_equal(after.value, before.value)
    np.testing.assert_equal(loaded.assumptions.marginal_distance, learned.assumptions.marginal_distance)
    assert np.array_equal(loaded.model.sample(20, rng=3), learned.model.sample(20, rng=3))


def test_the_estimator_takes_it(case):
    kernel, rows, parents = case
    model = kgmi.KGMI(kernel=kernel, n_parents=kernel.n_parents).fit(rows)
    assert model.learned_.dag.parents == parents
    assert np.isfinite(model.score(rows))


def test_commands_learn_show_report_compare_and_export_it(files, tmp_path):
    table, known = files
    folder = str(tmp_path / "result")
    code, out, err = run_kgmi("learn", table, "--kernel", known, "--guide", "likelihood", "--out", folder)
    assert (code, err) == (0, "")
    assert "FAILS" in out
    for command in (
        ("show", folder),
        ("report", folder, "--out", str(tmp_path / "report.html")),
        ("compare", folder, folder),
        ("certify", table, "--kernel", known),
        *(("export", folder, "--to", kind) for kind in ("graphml", "dot", "json", "bif", "dagitty", "csv")),
    ):
        assert run_kgmi(*command)[::2] == (0, ""), command
    assert json.loads(run_kgmi("show", folder, "--json")[1])["assumptions"][0]["holds"] is False


@pytest.mark.parametrize("kernel", [AND, IDENTITY], ids=["and", "identity"])
def test_what_is_not_unique_is_refused_where_it_is_needed(kernel):
    rows = CASES["and" if kernel is AND else "identity"][1]
    with pytest.raises(KernelError, match="stationary law is not unique"):
        _ = kernel.stationary
    with pytest.raises(KernelError, match="stationary law is not unique"):
        kgmi.learn(rows, kernel=kernel, guide="stationary")
    with pytest.raises(KernelError, match="stationary law is not unique"):
        kgmi.sample(kgmi.Process(kgmi.Dag.chain(3), kernel), 10, rng=0)


def test_the_command_refuses_the_stationary_guide(files, case):
    table, known = files
    if case[0] is LEAKY_AND:
        says = ["state 1 has probability 0 under the stationary law"]
    else:
        says = ["the stationary law is not unique", "parent_law"]
    expect_refused(1, "learn", table, "--kernel", known, "--guide", "stationary", says=says)
