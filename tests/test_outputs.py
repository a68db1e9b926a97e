"""Outputs never replace what is read, nor what kgmi did not write: every command, and writers in Python."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kgmi
from kgmi.bench.saving import save_benchmark
from kgmi.bench.stream.tables import Generated
from kgmi.errors import OutputError
from kgmi.files import UNFINISHED, atomic_write
from kgmi.outputs import check_replaceable, is_ours, kind_of, note_read, reads_noted
from kgmi.plots import figure_of, save_figures
from kgmi.plots.canvas import write_figure
from kgmi.report import write_report
from tests.commands import run_kgmi
from tests.test_cli_help import commands

MINE = b"a file of my own, which nothing may replace\n"
# Every command, the files that it writes, and one that it reads.
WRITERS = [
    (
        "learn table.csv --out out --pictures",
        "out/record.json out/graph.json out/graph.dot out/edges.csv out/report.html out/graph.png",
        "table.csv",
    ),
    ("learn table.csv --truth graph.json --out out", "out/graph.json", "graph.json"),
    ("count table.csv --out all.counts", "all.counts", "table.csv"),
    ("merge part.counts --out all.counts", "all.counts", "part.counts"),
    ("sample --graph graph.json --rows 5 --out rows.csv", "rows.csv", "graph.json"),
    ("exact --kernel kernel.json --out pairs.npy", "pairs.npy", "kernel.json"),
    ("report result --out page.html", "page.html", "result/record.json"),
    *((f"plot result layers --out a.{kind}", f"a.{kind}", "result/record.json") for kind in ("png", "svg", "pdf")),
    ("plot result layers margins --out plots", "plots/layers.png plots/margins.png", "result/record.json"),
    *(
        (f"export result --to {kind} --out exported", "exported", "result/record.json")
        for kind in ("graphml", "dot", "json", "bif", "dagitty", "csv")
    ),
    ("reproduce rate-length --quick --out paper", "paper/report.md paper/report.html", None),
    ("bench networks net.bif --out out", "out/networks.json", "net.bif"),
    ("bench graphs --kernels 1 --rows 100 --seeds 1 --peers none --out out", "out/graphs.json", None),
    ("bench exact --kernels 1 --graphs 0 --out out", "out/exact.json", None),
    (
        "bench certificates --nodes 10 --kernels 1 --rows 200 --seeds 1 --ways known --out out",
        "out/certificates.json out/certificates.png",
        None,
    ),
    ("bench ascent --quick --out out", "out/ascent.json out/ascent.png", None),
    ("bench counts --quick --out out", "out/counts.json out/counts.png", None),
    ("bench fit --quick --peers none --out out", "out/fit.json out/fit.png", None),
    ("bench rows --quick --out out", "out/rows.json out/rows.png", None),
    ("bench stream --quick --peers none --out out", "out/stream.json out/stream.png", None),
    ("bench gpu --quick --device cpu --out out", "out/gpu.json out/gpu.png", None),
]
# Those that are run to the end: of the benchmarks, one with each way to write.
RUN = [one for one in WRITERS if not one[0].startswith("bench") or one[0].split()[1] in ("certificates", "ascent")]
UNMARKED = ("rows.csv", "pairs.npy")  # kgmi itself cannot tell that it wrote them


def marked(writers):
    """The commands that read a network of another tool need the libraries for that."""
    return [pytest.param(*one, marks=pytest.mark.peers) if "net.bif" in one[0] else one for one in writers]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with all that the commands read."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    for name in ("table.csv", "more.csv"):
        one, two = rng.integers(0, 2, (2, 300))
        lines = (f"{a},{b},{a ^ b}" for a, b in zip(one.tolist(), two.tolist(), strict=True))
        (folder / name).write_text("\n".join(["x,y,z", *lines, ""]))
    kgmi.count(folder / "table.csv").save(folder / "part.counts")
    assert run_kgmi("learn", str(folder / "table.csv"), "--out", str(folder / "result"))[0] == 0
    (folder / "graph.json").write_text('{"parents": [[], [], [0, 1]]}')
    (folder / "kernel.json").write_text(json.dumps({"table": kgmi.Kernel.paper().table.tolist()}))
    (folder / "net.bif").write_text(kgmi.export(kgmi.load(folder / "result"), "bif"))
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """A copy of it, in which the commands run."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def content(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def refused(folder, line):
    """The command is bad use, in one line, and no file is other than before."""
    before = content(folder)
    code, out, err = run_kgmi(*line.split())
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert content(folder) == before


def put(target, text=MINE):
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.write_bytes(text)
    return target


def test_every_command_that_writes_is_tried_here_and_can_be_forced():
    options = {words: {one.name for one in command.params} for words, command in commands().items()}
    writing = {words for words, names in options.items() if "out" in names}
    tried = {" ".join(line.split()[: 1 + line.startswith("bench")]) for line, *_ in WRITERS}
    assert writing == tried == {words for words, names in options.items() if "force" in names}


@pytest.mark.parametrize(("line", "targets", "_"), marked(WRITERS))
def test_a_foreign_file_is_not_replaced(here, line, targets, _):
    for target in targets.split():
        before = Path(target).read_bytes() if Path(target).exists() else None
        put(target)
        refused(here, line)
        Path(target).unlink()
        if before is not None:
            put(target, before)


@pytest.mark.parametrize(("line", "targets", "read"), marked(one for one in WRITERS if one[2] is not None))
def test_what_is_read_is_not_replaced_whatever_is_forced(here, line, targets, read):
    target = put(targets.split()[-1])
    for linked in (target.symlink_to, target.hardlink_to):
        target.unlink()
        linked(Path(read).absolute())
        refused(here, f"{line} --force")
        assert target.samefile(read)


@pytest.mark.parametrize(("line", "targets", "_"), RUN)
def test_what_kgmi_wrote_is_replaced_by_the_same_kind(here, line, targets, _):
    files = [Path(target) for target in targets.split()]
    assert run_kgmi(*line.split())[0] == 0
    kinds, inodes = [*map(kind_of, files)], [path.stat().st_ino for path in files]
    if targets in UNMARKED:
        refused(here, line)
        line = f"{line} --force"
    assert ("unmarked" in kinds) == (targets in UNMARKED)
    code, _, err = run_kgmi(*line.split())
    assert code == 0, err
    assert [*map(kind_of, files)] == kinds
    assert all(path.stat().st_ino != inode for path, inode in zip(files, inodes, strict=True))


@pytest.mark.parametrize(("line", "targets", "_"), [one for one in RUN if one[1] not in UNMARKED])
def test_foreign_files_are_replaced_by_force(here, line, targets, _):
    files = [put(target) for target in targets.split()]
    code, _, err = run_kgmi(*line.split(), "--force")
    assert code == 0, err
    assert "unmarked" not in map(kind_of, files)


@pytest.mark.parametrize(
    "line",
    [
        "export result --to dot --out result/record.json",
        "export result --to dot --out ./result/../result/record.json --force",
        "export result --to json --out result/record.json",
        "report result --out result/graph.dot",
        "report result --out table.csv",
        "plot result layers --out result --format png",
        "merge part.counts --out ./part.counts --force",
    ],
)
def test_other_kinds_and_other_spellings(here, line):
    put("result/layers.png", Path("result/report.html").read_bytes())
    refused(here, line)


def test_the_commands_that_destroyed_tables(here):
    shutil.copyfile("table.csv", "edges.csv")
    before = content(here)
    for line in (
        "learn edges.csv --out .",
        "learn edges.csv --out . --force",
        "report result --out table.csv",
        "export result --to dot --out result/record.json",
    ):
        done = subprocess.run([sys.executable, "-m", "kgmi", *line.split()], capture_output=True, timeout=120)
        assert (done.returncode, done.stdout) == (2, b""), done.stderr
        assert content(here) == before


def test_a_result_may_lie_beside_its_data(here):
    data = here / "data"
    data.mkdir()
    shutil.copyfile("table.csv", data / "table.csv")
    shutil.copyfile("more.csv", data / "edges.csv")
    refused(here, "learn data --out data")
    (data / "edges.csv").rename(data / "more.csv")
    before = content(data)
    assert run_kgmi("learn", "data", "--out", "data")[0] == 0
    assert before.items() < content(data).items()
    assert kgmi.load(data).configuration["n_rows"] == 600


def test_a_folder_a_file_and_a_pipe_in_the_way(here):
    for line in ("report result --out result", "count table.csv --out result", "export result --to dot --out ."):
        refused(here, line)
    refused(here, "learn table.csv --out table.csv/deeper --force")
    os.mkfifo(here / "pipe.counts")
    for force in ("", " --force"):
        refused(here, f"count table.csv --out pipe.counts{force}")
    put("empty.counts", b"")  # mktemp makes such a file
    assert run_kgmi("count", "table.csv", "--out", "empty.counts")[0] == 0


def test_it_is_refused_before_the_work(here):
    text = Path("table.csv").read_text()
    put("bad.csv", f"{text}0,,1\n".encode())  # found when it is counted
    put("out/edges.csv")
    put("mine.counts")
    for line, out in (("learn bad.csv --stream", "out"), ("count bad.csv", "mine.counts")):
        assert run_kgmi(*line.split(), "--out", f"other-{out}")[0] == 1
        refused(here, f"{line} --out {out}")


def test_only_files_of_kgmi_are_removed_with_an_earlier_result(here):
    assert run_kgmi("plot", "result", "graph", "layers")[0] == 0
    foreign = [put("result/graph.png"), put("result/arrays-0123456789abcdef.npz"), put("result/margins.svg")]
    assert run_kgmi("learn", "more.csv", "--out", "result")[0] == 0
    assert [path.read_bytes() for path in foreign] == [MINE] * 3
    assert not Path("result/layers.png").exists()
    assert len(list(Path("result").glob("arrays-*.npz"))) == 2
    kgmi.save(kgmi.learn(kgmi.stream("table.csv")), "result")
    assert [path.read_bytes() for path in foreign] == [MINE] * 3
    assert len(list(Path("result").glob("arrays-*.npz"))) == 2


def test_files_that_are_there_for_a_moment(here):
    put(f"result/{UNFINISHED}")
    refused(here, "learn more.csv --out result")


def test_a_damaged_result_is_replaced(here):
    arrays = next(Path("result").glob("arrays-*.npz"))
    arrays.write_bytes(arrays.read_bytes()[:100])
    put("result/record.json", Path("result/record.json").read_bytes()[:1_000] + arrays.name.encode())
    assert run_kgmi("learn", "table.csv", "--out", "result")[0] == 0
    assert kgmi.load("result").names == ("x", "y", "z")


PYTHON = {
    "record.json": lambda learned, path, **force: kgmi.save(learned, path.parent, **force),
    "a.counts": lambda learned, path, **force: kgmi.count(ROWS).save(path, **force),
    "graph.png": lambda learned, path, **force: save_figures(learned, path.parent, names=["graph"], **force),
    "graph.svg": lambda learned, path, **force: write_figure(figure_of(learned, "graph"), path, **force),
    "a.html": lambda learned, path, **force: write_report(learned, path, **force),
    "a.json": lambda learned, path, **force: save_benchmark(path, {}, **force),
}
ROWS = np.random.default_rng(5).integers(0, 2, (200, 3))


@pytest.mark.parametrize("name", PYTHON)
def test_writers_in_python(tmp_path, name):
    learned, path = kgmi.learn(ROWS), tmp_path / name
    path.write_bytes(MINE)
    with pytest.raises(OutputError) as caught:
        PYTHON[name](learned, path)
    assert (caught.value.path, caught.value.reason) == (path, "foreign")
    assert content(tmp_path) == {path: MINE}
    PYTHON[name](learned, path, force=True)
    kind = kind_of(path)
    assert kind != "unmarked"
    PYTHON[name](learned, path)
    assert kind_of(path) == kind


def test_generated_tables(tmp_path):
    table = Generated(50, 3, group_rows=20)
    (part,) = table.files_in(tmp_path)
    put(part)
    with pytest.raises(OutputError):
        table.write(tmp_path)
    assert content(tmp_path) == {part: MINE}
    part.unlink()
    table.write(tmp_path)
    assert {kind_of(path) for path in content(tmp_path)} == {"generated rows", "recipe"}
    next(tmp_path.glob("*.json")).unlink()  # as after a run that was killed
    table.write(tmp_path)
    assert kind_of(part) == "generated rows"


def test_reasons(tmp_path):
    path = tmp_path / "a.dot"
    path.write_bytes(b"digraph kgmi {\n}\n")
    assert is_ours(path, "dot")
    assert not is_ours(path, "png")
    check_replaceable(path, "dot")
    with reads_noted():
        note_read(tmp_path / "b" / ".." / "a.dot")
        for force in (False, True):
            with pytest.raises(OutputError) as caught:
                check_replaceable(path, "dot", force=force)
            assert caught.value.reason == "read"
    check_replaceable(path, "dot")
    for kind in ("png", "unmarked"):
        with pytest.raises(OutputError) as caught:
            check_replaceable(path, kind)
        assert caught.value.reason == "foreign"
        check_replaceable(path, kind, force=True)
    check_replaceable(path, "internal")


def test_a_file_that_appears_during_the_work(tmp_path):
    path = tmp_path / "a.dot"
    with pytest.raises(OutputError), atomic_write(path, "dot"):
        path.write_bytes(MINE)
    assert content(tmp_path) == {path: MINE}
