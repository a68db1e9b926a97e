"""The commands of README.md, the small files that they name, and how one is run as its reader runs it."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import kgmi
from tests.commands import run_kgmi

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
_OUTPUT = "Contracts: 1 kept, 0 broken.\n"  # the block that shows the end of make test, and no command
_LONGEST = 900.0  # seconds for one command, pip and all experiments included

BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
PYTHON = [text for language, text in BLOCKS if language == "python"]
TRANSCRIPTS = [text for language, text in BLOCKS if not language and text.startswith("$ ")]
_LISTS = [text for language, text in BLOCKS if not language and not text.startswith(("$ ", _OUTPUT))]


def _commands(block):
    """Every line of a block without its comment, and what a comment gives as the next command."""
    found = []
    for line in block.splitlines():
        command, _, comment = line.partition("#")
        found += [command.strip(), *re.findall(r": (kgmi .+)$", comment)]
    return found


def _in_text():
    """Commands in the text between the blocks."""
    text = re.sub(r"^```\w*\n.*?^```$", "", PAGE, flags=re.DOTALL | re.MULTILINE)
    return [" ".join(one.split()) for one in re.findall(r"`((?:kgmi|make|pip|python) [^`]+)`", text)]


def commands():
    """Commands by section, each once; the last section is that of the text."""
    sections = [*map(_commands, _LISTS), _in_text()]
    seen = {block.partition("\n")[0].removeprefix("$ ") for block in TRANSCRIPTS}
    for section in sections:
        section[:] = [one for one in dict.fromkeys(section) if one not in seen]
        seen.update(section)
    return sections


def fill(folder):
    """Make small files with the names that the README uses."""
    rng = np.random.default_rng(1)
    process = kgmi.Process(kgmi.Dag([[], [], [0, 1], [1, 2]]), kgmi.Kernel.paper())

    def table(n_rows, **more):
        return pa.table(dict(zip("ABCD", kgmi.sample(process, n_rows, rng=rng).T, strict=True)) | more)

    for name in ("data", "parts"):
        (folder / name).mkdir()
    pa.csv.write_csv(table(2_000), folder / "table.csv")
    for name in ("new", "site"):
        pa.parquet.write_table(table(300), folder / f"{name}.parquet")
    for number in range(3):
        years = rng.integers(2018, 2023, 1_000)
        pa.parquet.write_table(table(1_000, year=years), folder / "data" / f"part{number}.parquet")
    steps = rng.integers(0, 2, 500).tolist()
    for place in range(3, len(steps)):
        steps[place] = steps[place - 3] if rng.random() < 0.9 else steps[place]
    (folder / "sequence.csv").write_text("\n".join(["state", *map(str, steps)]) + "\n", encoding="utf-8")
    kernel = {"table": kgmi.Kernel.paper().table.tolist()}
    (folder / "kernel.json").write_text(json.dumps(kernel), encoding="utf-8")
    for name in ("new", "site"):
        made = run_kgmi("count", str(folder / f"{name}.parquet"), "-o", str(folder / "parts" / f"{name}.counts"))
        assert made[0] == 0, made
    made = run_kgmi("learn", str(folder / "table.csv"), "--parents", "1", "--out", str(folder / "other-result"))
    assert made[0] == 0, made


def environment(bin_folder=None):
    """Variables of a shell that finds kgmi where these tests have it, or the one that is installed there."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    if bin_folder is None:
        bin_folder = Path(sys.executable).parent
    else:
        kept.pop("PYTHONPATH", None)
    path = os.pathsep.join([str(bin_folder), kept["PATH"]])
    return kept | {"PATH": path, "COLUMNS": "80", "BROWSER": "true"}  # which opens no page


def run(command, folder, variables=None):
    """What a command prints, after it ended well and wrote what it was to write."""
    variables = variables or environment()
    if command.startswith("kgmi serve"):
        return _serve(command, folder, variables)
    done = subprocess.run(
        ["bash", "-c", f"{command}\nexit $?"],  # so that bash stays, as the shell that completion is for
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_LONGEST,
    )
    said = f"{command}\n{done.stdout}{done.stderr}"
    assert done.returncode == 0, said
    assert "Traceback" not in said
    if not command.startswith(("make ", "pip ")):
        assert all(line.startswith("kgmi: note: ") for line in done.stderr.splitlines()), said
    words = shlex.split(command)
    named = [after for word, after in pairwise(words) if word in ("--out", "-o", "--checkpoint")]
    written = re.findall(r"^wrote (\S+)", done.stdout, re.MULTILINE)
    assert written or not {"--out", "-o", "report", "plot"} & {*words}, said
    for path in (*named, *written):
        assert (folder / path).stat().st_size > 0, f"{command}: {path}"
    return done.stdout


def _serve(command, folder, variables):
    """Start the server, look at its page, and end it with Ctrl-C."""
    with subprocess.Popen(
        shlex.split(command), cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            line = process.stdout.readline()
            found = re.search(r"http://(127\.0\.0\.1):(\d+)/", line)
            assert found, line + process.stderr.read()
            connection = http.client.HTTPConnection(found[1], int(found[2]), timeout=60)
            connection.request("GET", "/")
            answer = connection.getresponse()
            assert (answer.status, b"</html>" in answer.read()) == (200, True)
            connection.close()
            process.send_signal(signal.SIGINT)
            said, wrong = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, wrong) == (0, "")
    return line + said
