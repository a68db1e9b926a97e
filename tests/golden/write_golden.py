"""Write down what kgmi answers today: ``python -m tests.golden.write_golden``, in the folder of the repository."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.golden.modes import solve
from tests.golden.problems import PROBLEMS

GOLDEN = Path(__file__).with_name("golden.json")


def main(target=GOLDEN):
    answers = {}
    for problem in PROBLEMS:
        with TemporaryDirectory() as folder:
            answers[problem.name] = solve(problem, problem.modes[0], Path(folder))
    lines = [f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in answers.items()]
    Path(target).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
