"""``kgmi plot``, end to end."""

from __future__ import annotations

import shutil

import pytest

from kgmi.cli.plot import FormatName, PictureName
from kgmi.plots import FIGURE_NAMES
from kgmi.plots.canvas import FORMATS
from kgmi.record import save
from tests.commands import expect_refused, run_kgmi
from tests.pictures import SHORT


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "result"
    save(SHORT, folder)
    return folder


def test_the_names_on_the_command_line_are_those_of_the_library():
    assert [*PictureName] == [*FIGURE_NAMES]
    assert [*FormatName] == [*FORMATS]


def test_all_pictures_go_into_the_folder_of_the_result(saved, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(saved, folder)
    code, out, err = run_kgmi("plot", str(folder))
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"wrote {folder / name}.png" for name in FIGURE_NAMES]
    assert {f"{name}.png" for name in FIGURE_NAMES} <= {path.name for path in folder.iterdir()}


def test_some_pictures_in_another_folder_and_format(saved, tmp_path):
    folder = tmp_path / "new"
    code, _, _ = run_kgmi(
        "plot", str(saved / "record.json"), "graph", "scores", "--out", str(folder), "--format", "svg"
    )
    assert code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["graph.svg", "scores.svg"]


def test_one_picture_in_a_file_of_its_width(saved, tmp_path):
    file = tmp_path / "figure 1.SVG"
    code, out, _ = run_kgmi("plot", str(saved), "layers", "--out", str(file), "--width", "5")
    assert code == 0
    (written,) = tmp_path.iterdir()
    assert out == f"wrote {written}\n"
    assert 'width="360pt"' in written.read_text()


def test_pictures_that_do_not_apply_are_named_with_the_reason(tmp_path):
    code, _, _ = run_kgmi("learn", "--example", "paper", "--parents", "1", "--out", str(tmp_path / "one"))
    assert code == 0
    code, out, err = run_kgmi("plot", str(tmp_path / "one"), "overlay", "graph")
    assert code == 0
    assert out.splitlines() == [f"wrote {tmp_path / 'one' / 'graph.png'}"]
    assert err == "kgmi: note: no picture «overlay»: the overlay shows two heads, and this result has 1\n"
    expect_refused(2, "plot", str(tmp_path / "one"), "overlay", says=["two heads"])


def test_bad_requests_are_refused_before_anything_is_written(saved, tmp_path):
    before = sorted(saved.iterdir())
    for options, says in (
        (("graph", "layers", "--out", str(tmp_path / "x.svg")), "is one file"),
        (("graph", "--out", str(tmp_path / "x.gif")), "png, svg or pdf, not as x.gif"),
        (("graph", "--out", str(tmp_path / "x.svg"), "--format", "png"), "do not agree"),
        (("graph", "--out", str(saved / "record.json")), "png, svg or pdf"),
        (("graph", "--width", "0.1"), "3 to 60 inches"),
        (("graph", "--dpi", "1000000"), "dots per inch"),
    ):
        expect_refused(2, "plot", str(saved), *options, says=[says])
    expect_refused(1, "plot", str(tmp_path / "nowhere"), says=["no record at"])
    code, _, err = run_kgmi("plot", str(saved), "graf")
    assert code == 2
    assert "'graph'" in err
    assert not list(tmp_path.iterdir())
    assert sorted(saved.iterdir()) == before


def test_help_teaches_with_an_example():
    code, out, _ = run_kgmi("plot", "--help")
    assert code == 0
    assert "Example: kgmi plot result" in out
