"""The values behind the report: candidates, frames of attention, positions, and how to run it again."""

import json
import re
import shlex
import subprocess
import sys
from base64 import b64decode
from dataclasses import replace

import numpy as np
import pandas
import pytest

from kgmi import Dag, Kernel, Process, learn, load, sample
from kgmi.graph.layout import layered
from kgmi.report import report_html, view_of
from kgmi.report.drawn import folded
from kgmi.report.frames import attention_frames

from .commands import run_kgmi
from .report_drills import paper_result, wide_result


def frames_of(learned):
    """Frames [frame, head, child, candidate] between 0 and 1, read as the page reads them, and the rest."""
    told = attention_frames(learned)
    data = np.frombuffer(b64decode(told["data"]), dtype=np.uint8) / 255
    shape = (len(told["epochs"]), learned.n_heads)
    n = told["n_bins"]
    if not told["triangle"]:
        return data.reshape(*shape, n, n), told
    inside = np.tri(n, k=0 if told["per_bin"] > 1 else -1, dtype=bool)
    frames = np.zeros((*shape, n, n))
    frames[..., inside] = data.reshape(*shape, -1)
    return frames, told


def test_it_is_json():
    view = view_of(paper_result())
    assert json.loads(json.dumps(view, allow_nan=False)) == view


def test_nodes_and_edges():
    learned = paper_result()
    view = view_of(learned)
    assert [tuple(node["parents"]) for node in view["nodes"]] == list(learned.dag.parents)
    assert [node["kind"] for node in view["nodes"]] == ["root"] * 2 + ["child"] * 8
    assert view["nodes"][0]["with"] == [1]
    assert [node["place"] for node in view["nodes"]] == list(range(10))
    assert [(edge["parent"], edge["child"]) for edge in view["edges"]] == list(learned.dag.edges)
    for edge, told in zip(view["edges"], learned.edges, strict=True):
        assert edge["strength"] == learned.trust.edges[told["parent"], told["child"]]
        assert view["nodes"][edge["parent"]]["y"] < view["nodes"][edge["child"]]["y"]


def test_candidates_are_the_best_ones_in_order():
    learned = paper_result()
    view = view_of(learned)
    assert view["candidates"][0] == []  # X1 has nobody before it
    for child, heads in enumerate(view["candidates"]):
        for told in heads:
            scores = learned.scores[told["head"] - 1, child]
            assert told["of"] == np.isfinite(scores).sum()
            assert len(told["list"]) == min(told["of"], 8)
            listed = [score for _, score, _ in told["list"]]
            assert listed == sorted(listed, reverse=True)
            assert listed[0] == pytest.approx(np.nanmax(scores), rel=1e-5)
            for candidate, score, attention in told["list"]:
                assert score == pytest.approx(scores[candidate], rel=1e-5)
                assert attention == pytest.approx(learned.attention[told["head"] - 1, child, candidate], rel=1e-5)
    assert view["candidates"][2][0]["margin"] is None  # X3 has one candidate for each head


def test_frames_lead_from_uniform_to_the_end():
    learned = paper_result()
    frames, told = frames_of(learned)
    assert told["known"]
    assert told["triangle"]
    assert told["epochs"] == learned.trace.epochs.tolist()
    np.testing.assert_allclose(frames, learned.trace.attention, atol=0.5 / 255 + 1e-9)
    open_to = ~np.isnan(learned.scores)
    uniform = open_to / np.maximum(open_to.sum(axis=-1, keepdims=True), 1)
    np.testing.assert_allclose(frames[0], uniform, atol=0.5 / 255 + 1e-9)


def test_long_traces_are_thinned_with_both_ends():
    rows = sample(Process(Dag.paper(5), Kernel.paper()), 500, rng=np.random.default_rng(106))
    learned = learn(rows, n_parents=2, record_at=range(1, 400), stop=0.0, epochs=400)
    frames, told = frames_of(learned)
    assert len(told["epochs"]) == 40
    assert (told["epochs"][0], told["epochs"][-1]) == (0, 400)
    np.testing.assert_allclose(frames[-1], learned.attention, atol=0.5 / 255 + 1e-9)


def test_large_results_are_binned_and_climbed_again():
    """The trace of 500 nodes keeps no attention; the way there is the same once more, in bins of 4 × 4 nodes."""
    learned = wide_result()
    assert learned.trace.attention is None
    frames, told = frames_of(learned)
    assert (told["known"], told["per_bin"], told["n_bins"]) == (True, 4, 125)
    assert told["epochs"][0] == 0
    assert told["epochs"][-1] == learned.trace.epochs[-1]
    expected = np.zeros((2, 500, 500))
    expected[:] = learned.attention
    expected = expected.reshape(2, 125, 4, 125, 4).max(axis=(2, 4))
    np.testing.assert_allclose(frames[-1], expected, atol=0.5 / 255 + 1e-9)
    sharper = frames.max(axis=-1).mean(axis=(1, 2))
    assert (np.diff(sharper) > -1e-9).all()


def test_a_way_that_cannot_be_made_again_is_not_made_up():
    learned = wide_result()
    other = replace(learned, configuration=learned.configuration | {"rate": 1e-3})
    frames, told = frames_of(other)
    assert not told["known"]
    assert len(frames) == 2
    assert not attention_frames(learn(paper_rows(200), n_parents=2, solver="limit"))["known"]


def test_candidates_after_the_child_are_kept():
    """With an order that is learned, scores may look at both sides; nothing of the attention is cut off then."""
    learned = paper_result()
    both = np.array(learned.attention)
    both[0, 0, 9] = 1.0
    frames, told = frames_of(replace(learned, attention=both, retrace=lambda: None))
    assert not told["triangle"]
    np.testing.assert_allclose(frames[-1], both, atol=0.5 / 255 + 1e-9)


def test_deep_and_narrow_drawings_are_folded():
    layout = folded(layered(Dag.chain(200)))
    places = list(zip(layout.x.round(6).tolist(), layout.y.round(6).tolist(), strict=True))
    assert len(set(places)) == 200  # no two nodes in one place
    assert 0.2 < layout.width / layout.height < 5
    for numbers in (layout.x, layout.y):
        assert numbers.min() == 0
        assert numbers.max() <= 1
    same = layered(Dag.paper(10))
    assert folded(same) is same


def test_kernels_with_alphabets_of_their_own():
    rng = np.random.default_rng(107)
    smokes = rng.choice(["no", "yes"], 800)
    lungs = np.where(rng.random(800) < np.where(smokes == "yes", 0.8, 0.1), "ill", "well")
    learned = learn(pandas.DataFrame({"smokes": smokes, "lungs": lungs}), n_parents=1, alphabet="own")
    (table,) = view_of(learned)["kernels"]["tables"]
    assert table["states"] == ["ill", "well"]
    assert [line["given"] for line in table["lines"]] == [["no"], ["yes"]]
    assert sum(line["cases"] for line in table["lines"]) == 800
    assert view_of(learned)["laws"][1]["states"] == ["ill", "well"]


def test_kernels_name_the_parents_where_these_are_the_same():
    rng = np.random.default_rng(109)
    coat, eyes = rng.integers(0, 2, (2, 600))
    values = {"coat": coat, "eyes": eyes, "mask": coat & eyes ^ (rng.random(600) < 0.05)}
    learned = learn(pandas.DataFrame(values), n_parents=2)
    view = view_of(learned)
    (table,) = view["kernels"]["tables"]
    assert table["given"] == [0, 1]
    assert '<th scope="col">parents: coat, eyes</th>' in report_html(learned)
    shared = view_of(paper_result())["kernels"]["tables"][0]
    assert shared["given"] is None  # eight children, each with parents of its own


def test_very_long_names_are_shortened_in_all_that_is_read():
    long = ["x" * 3_000 + str(number) for number in range(10)]
    learned = learn(paper_rows(300), n_parents=2, names=long)
    assert any(name in learned.trust.sentence + learned.status for name in long)
    text = report_html(learned)
    shown = text[text.index("<main") : text.index("</main>")]
    shown = re.sub(r"<svg.*?</svg>|<pre>.*?</pre>", "", shown, flags=re.DOTALL)  # a title, and the call
    assert "xxx…xxx" in shown
    assert "x" * 100 not in shown
    assert view_of(learned)["names"] == long


def paper_rows(n_rows):
    return sample(Process(Dag.paper(10), Kernel.paper()), n_rows, rng=np.random.default_rng(108))


NAMES = ["a", "b, c", "d>e", "f|g", 'say "h"', "i", "j", "k", "l", "m"]
RUNS = {
    "plain": [],
    "order": ["--order", "learn", "--tiers", 'a,"b, c"|"d>e","f|g",say "h"|i,j,k,l,m'],
    "limits": ["--forbid", 'a>"d>e"', "--require", '"b, c">m', "--max-lag", "9", "--in-degree", "uniform"],
    "roots": ["--roots", 'a,"b, c"', "--share", "node", "--penalty", "bic", "--parents", "1"],
    "classes": ["--classes", 'a,"b, c","d>e"|"f|g",m', "--search", "heads", "--stop", "0.2", "--rate", "3"],
    "pairs": ["--guide", "plain", "--divergence", "pearson", "--epochs", "100", "--smoothing", "2"],
}


@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
def test_the_command_that_is_told_gives_the_same_result(options, tmp_path):
    """Put together from the settings alone, as the record of a result has them."""
    path = tmp_path / "my table.csv"
    header = ",".join('"' + name.replace('"', '""') + '"' for name in NAMES)
    np.savetxt(path, paper_rows(400), fmt="%d", delimiter=",", header=header, comments="")
    assert run_kgmi("learn", str(path), "--parents", "2", *options, "--out", str(tmp_path / "one"))[0] == 0
    first = load(tmp_path / "one")
    first.configuration.pop("origin")  # which would tell the command as it was
    told = view_of(first, source=str(path))["again"]
    assert told["notes"] == []
    assert told["input"] == first.fingerprint
    words = shlex.split(told["command"])
    assert words[0] == "kgmi"
    code, _, error = run_kgmi(*words[1:], "--out", str(tmp_path / "two"))
    assert (code, error) == (0, "")
    second = load(tmp_path / "two")
    assert second.parents == first.parents
    second.configuration.pop("origin")
    assert second.configuration == first.configuration
    assert second.fingerprint == first.fingerprint


def test_the_python_that_is_told_gives_the_same_result(tmp_path):
    path = tmp_path / "table.csv"
    np.savetxt(path, paper_rows(400), fmt="%d", delimiter=",", header=",".join("abcdefghij"), comments="")
    assert (
        run_kgmi("learn", str(path), "--order", "learn", "--forbid", "a>c", "--out", str(tmp_path / "one"))[0] == 0
    )
    first = load(tmp_path / "one")
    code = view_of(first, source=str(path))["again"]["python"] + "\nprint(learned.fingerprint, learned.parents)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{first.fingerprint} {first.parents}"


def test_what_the_result_does_not_know_is_said():
    rows = paper_rows(300)
    told = view_of(learn(rows, kernel=Kernel.paper()))["again"]
    assert "TABLE.csv" in told["command"]
    assert "--kernel KERNEL.json" in told["command"]
    assert len(told["notes"]) == 2
    told = view_of(learn(rows), command="kgmi learn --example paper --out x")["again"]
    assert told["command"] == "kgmi learn --example paper --out x"
    assert "kgmi.examples.example('paper').table" in told["python"]
    assert told["notes"] == []
