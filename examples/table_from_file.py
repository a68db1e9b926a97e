"""From a CSV file to a saved result: what `kgmi learn FILE --kernel FILE --out FOLDER` does."""

import tempfile
from pathlib import Path

import numpy as np

import kgmi

kernel = kgmi.Kernel.random(3, 2, rng=np.random.default_rng(5), concentration=0.5)
truth = kgmi.Dag.chain(8, 2)  # an order-2 Markov chain: here every assumption of the paper holds
codes = kgmi.sample(kgmi.Process(truth, kernel), 5_000, rng=np.random.default_rng(6))

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)

    # A table with words for states and names for columns.
    words = np.array(["low", "middle", "high"])[codes]
    names = [f"day{number}" for number in range(1, 9)]
    lines = [",".join(names), *(",".join(row) for row in words)]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")

    table = kgmi.read_table(folder / "rows.csv", states=["low", "middle", "high"])
    learned = kgmi.learn(table, kernel=kernel)
    print(learned.parents)
    print(learned.status)
    print(learned.assumptions)
    print("exact:", kgmi.metrics.compare(learned.dag, truth).exact)

    kgmi.save(learned, folder / "result")
    print(kgmi.load(folder / "result"))
