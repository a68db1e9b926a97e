"""Examples to begin with: tables made on the spot, always the same, each with a story and settings that suit it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgmi.files import atomic_write

if TYPE_CHECKING:
    from kgmi.kernel import Kernel

__all__ = ["GALLERY", "Exhibit", "Known"]


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of an example beside its rows; ``truth`` is parents by child."""

    truth: dict[str, set[str]] | None = None
    kernel: Kernel | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Exhibit:
    """An example: its story, its settings, and ``make``, which writes the CSV file."""

    title: str
    story: str
    make: Callable[[Path], Known]
    suggested: dict[str, Any] = field(default_factory=dict)
    guides: tuple[str, ...] = ("likelihood", "stationary", "plain")
    has_kernel: bool = False


def _paper(path: Path) -> Known:
    from kgmi.graph import Dag
    from kgmi.kernel import Kernel

    folder = files("kgmi.examples")
    with atomic_write(path, "internal") as stream:
        stream.write((folder / "paper.csv").read_bytes())
    kernel = Kernel.from_dict(json.loads((folder / "paper.kernel.json").read_bytes()))
    dag = Dag.from_dict(json.loads((folder / "paper.graph.json").read_bytes()))
    return Known(_named(dag.parents, [f"X{number}" for number in range(1, 11)]), kernel)


def _pedigree(path: Path) -> Known:
    import numpy as np

    from kgmi.graph import Dag
    from kgmi.kernel import Kernel
    from kgmi.process import Process
    from kgmi.sampling import sample

    rng = np.random.default_rng(101)
    mendel = Kernel.mendelian()
    dag = Dag.random(40, 2, rng=rng, root_probability=0.25)
    genotypes = sample(Process(dag, mendel), 400, rng=rng)
    names = [f"animal{number}" for number in range(1, 41)]
    _write(path, names, genotypes.tolist())
    return Known(_named(dag.parents, names), mendel)


def _weather(path: Path) -> Known:
    import numpy as np

    from kgmi.kernel import Kernel

    rng = np.random.default_rng(102)
    law = Kernel.random(3, 2, rng=rng, concentration=3.0).table  # given the day three before, and the last
    days = rng.integers(3, size=3).tolist()
    for _ in range(3_000):
        days.append(int(rng.choice(3, p=law[days[-3], days[-1]])))
    _write(path, ["weather"], [[("rain", "cloud", "sun")[day]] for day in days])
    return Known({"now": {"lag 3", "lag 1"}})


def _shuffled(path: Path) -> Known:
    import numpy as np

    from kgmi.graph import Dag
    from kgmi.kernel import Kernel
    from kgmi.process import Process
    from kgmi.sampling import sample

    rng = np.random.default_rng(107)
    dag, columns = Dag.paper(10), rng.permutation(10)
    names = [f"n{number}" for number in range(1, 11)]
    rows = sample(Process(dag, Kernel.paper()), 2_000, rng=rng)[:, columns]
    _write(path, [names[column] for column in columns], rows.tolist())
    return Known(_named(dag.parents, names))


def _clinic(path: Path) -> Known:
    """An everyday table: numbers to be cut into bins, an identifier, gaps, a column that says nothing."""
    import numpy as np

    rng = np.random.default_rng(104)
    n_rows = 900
    age = rng.integers(22, 80, n_rows)
    smoker = rng.random(n_rows) < 0.32
    sport = np.where(rng.random(n_rows) < 0.75 - 0.008 * age, rng.integers(1, 3, n_rows), 0)
    weight = 78 - 6.0 * sport + 0.15 * age + rng.normal(0, 7, n_rows)
    pressure = 84 + 0.55 * age + 0.25 * weight + 9 * smoker + rng.normal(0, 7, n_rows)
    risk = (pressure - 138) / 9 + 1.3 * smoker + rng.logistic(0, 0.8, n_rows)
    unknown = rng.random((2, n_rows)) < 0.03
    lines = [
        [
            f"P{1000 + row}",
            age[row],
            "" if unknown[0, row] else ("no", "yes")[int(smoker[row])],
            ("never", "sometimes", "often")[sport[row]],
            "" if unknown[1, row] else f"{weight[row]:.1f}",
            f"{pressure[row]:.0f}",
            "north",
            ("low", "raised", "high")[int(np.digitize(risk[row], (0.0, 2.0)))],
        ]
        for row in range(n_rows)
    ]
    _write(path, ["patient", "age", "smoker", "sport", "weight", "pressure", "clinic", "risk"], lines)
    return Known()


def _named(parents: Sequence[Sequence[int]], names: Sequence[str]) -> dict[str, set[str]]:
    return {name: {names[parent] for parent in of} for name, of in zip(names, parents, strict=True)}


def _write(path: Path, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    lines = [",".join(names), *(",".join(map(str, row)) for row in rows)]
    with atomic_write(path, "internal") as stream:
        stream.write(("\n".join(lines) + "\n").encode())


GALLERY = {
    "paper": Exhibit(
        "The paper's graph",
        "Ten columns, 20,000 rows, three states. Everyone but the first two has two parents. Nothing is told but "
        "the order of the columns: neither the law nor the roots.",
        _paper,
        has_kernel=True,
    ),
    "collapse": Exhibit(
        "Heads that collapse",
        "The same rows, learned twice: guided by plain mutual information both heads run to the same parent; "
        "guided by the kernel each finds its own.",
        _paper,
        suggested={"compare": ["plain", "stationary"]},
        has_kernel=True,
    ),
    "pedigree": Exhibit(
        "A pedigree from genotypes",
        "Forty animals, 400 markers, states 0, 1 and 2: copies of an allele. Who descends from whom, and Mendel's "
        "law with it.",
        _pedigree,
        guides=("likelihood", "stationary"),
        has_kernel=True,
    ),
    "weather": Exhibit(
        "Lags in a sequence",
        "Three thousand days of rain, cloud and sun, one after the other. Which of the last days does the next one "
        "depend on?",
        _weather,
        suggested={"windows": 6, "parents": 3, "prepare": False},
        guides=("likelihood", "contextual"),
    ),
    "shuffled": Exhibit(
        "Columns in no order",
        "The paper's graph again, from 2,000 rows, but the columns are shuffled: the order is found too.",
        _shuffled,
        suggested={"order": "learn"},
        guides=("likelihood",),
    ),
    "clinic": Exhibit(
        "An everyday table",
        "900 made-up patients with measurements, gaps and an identifier. Preparing it shows what is cut into bins "
        "and what is left out.",
        _clinic,
        suggested={"parents": 2},
        guides=("likelihood", "contextual"),
    ),
}
"""The examples by key, in the order in which they are offered."""
