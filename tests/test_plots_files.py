from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from kgmi import Kernel, learn
from kgmi.errors import SettingError
from kgmi.plots import FIGURE_NAMES, figure_of, save_figures, why_not
from tests.pictures import LEARNED, SHORT


def test_all_figures_are_written(tmp_path):
    paths = save_figures(LEARNED, tmp_path / "new" / "folder", ("png", "svg", "pdf"))
    assert {"graph", "layers", "attention", "overlay", "scores", "training", "kernel", "marginals", "margins"} == {
        *FIGURE_NAMES
    }
    kinds = ("png", "svg", "pdf")
    assert [path.name for path in paths] == [f"{name}.{kind}" for name in FIGURE_NAMES for kind in kinds]
    assert sorted(paths) == sorted((tmp_path / "new" / "folder").iterdir()), "no temporary file is left"
    for path in paths:
        content = path.read_bytes()
        if path.suffix == ".png":
            assert content.startswith(b"\x89PNG\r\n\x1a\n")
            assert content.endswith(b"IEND\xaeB`\x82")
        elif path.suffix == ".svg":
            assert ET.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"
        else:
            assert content.startswith(b"%PDF-")
            assert content.rstrip().endswith(b"%%EOF")


def test_only_what_applies_is_written(tmp_path):
    paths = save_figures(replace(LEARNED, retrace=lambda: None, kernel=None, remodel=lambda: None), str(tmp_path))
    names = ["graph", "layers", "attention", "overlay", "scores", "margins"]
    assert [path.name for path in paths] == [f"{name}.png" for name in names]


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_result_gives_the_same_bytes(tmp_path, kind):
    first = [path.read_bytes() for path in save_figures(SHORT, tmp_path / "a", (kind,))]
    second = [path.read_bytes() for path in save_figures(SHORT, tmp_path / "b", kind)]
    assert first == second


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(SettingError, match="png, svg, pdf; got 'gif'"):
        save_figures(SHORT, tmp_path, ("png", "gif"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("n_nodes", "n_heads"), [(2, 1), (3, 1), (4, 3), (60, 2), (500, 2)])
def test_figures_of_all_sizes(tmp_path, n_nodes, n_heads):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (200, n_nodes))
    kernel = Kernel.random(2, n_heads, rng=rng)
    roots = () if n_nodes < 10 else range(0, n_nodes, 3)
    training = {"epochs": 10} if n_nodes < 100 else {"solver": "limit"}
    result = learn(rows, kernel=kernel, guide="stationary", roots=roots, **training)
    assert all(path.stat().st_size > 1_000 for path in save_figures(result, tmp_path))


@pytest.mark.parametrize(
    "name", ["$x_1$", "half $ a formula", r"\alpha_{", "血压", "a" * 200, "line\nbreak", "^%&#_"]
)
def test_any_name_can_be_drawn(tmp_path, name):
    names = tuple(f"{name}{number}" for number in range(10))
    states = tuple(f"{name}{number}" for number in range(3))
    assert len(save_figures(replace(LEARNED, names=names, states=states), tmp_path)) == len(FIGURE_NAMES)


def test_an_empty_graph_has_the_figures_that_say_something(tmp_path):
    result = learn(np.random.default_rng(93).integers(0, 3, (300, 6)))
    assert result.dag.n_edges == 0
    told = ["graph", "layers", "marginals"]
    assert [path.stem for path in save_figures(result, tmp_path)] == told
    assert [name for name in FIGURE_NAMES if not why_not(result, name)] == told


@pytest.mark.parametrize("name", FIGURE_NAMES)
def test_a_figure_by_name_has_the_width_that_is_wanted(name):
    for width in (3.5, 6.0, 12.0):
        assert figure_of(LEARNED, name, width).get_figwidth() == pytest.approx(width)


def test_what_cannot_be_drawn_is_refused_with_a_reason(tmp_path):
    with pytest.raises(SettingError, match="no picture 'graf'; there are graph, layers"):
        figure_of(SHORT, "graf")
    for width in (0.5, 1_000, float("nan")):
        with pytest.raises(SettingError, match="3 to 60 inches wide"):
            figure_of(SHORT, "graph", width)
    for dpi in (3, 100_000):
        with pytest.raises(SettingError, match="dots per inch"):
            save_figures(SHORT, tmp_path, dpi=dpi)
    long = replace(LEARNED, names=tuple(f"a name that is much too long {k}" for k in range(10)))
    with pytest.raises(SettingError, match=r"attention.png has no room beside its names at a width of 3 inches"):
        save_figures(long, tmp_path, names=["attention"], width=3)
    assert not list(tmp_path.iterdir())
