"""From a pandas frame with words in its columns to the parents of every column, in the way of scikit-learn."""

import numpy as np
import pandas as pd

import kgmi

# Eight weeks in a row; the first two are independent, and each later one follows from two before it.
names = [f"week{number}" for number in range(1, 9)]
truth = kgmi.Dag([(), (), (0, 1), (1, 2), (0, 3), (3, 4), (2, 5), (5, 6)], root_blocks=[[0], [1]])
kernel = kgmi.Kernel.random(3, 2, rng=np.random.default_rng(5), concentration=0.5)
codes = kgmi.sample(kgmi.Process(truth, kernel), 1_200, rng=np.random.default_rng(6))
frame = pd.DataFrame(np.array(["cold", "mild", "hot"])[codes], columns=names)

# The kernel is not told: it is learned together with the graph.
model = kgmi.KGMI(n_parents=2, states=["cold", "mild", "hot"], random_state=1).fit(frame[:900])
for name, parents in model.parents_.items():
    print(f"{name} ← {', '.join(parents) or '(root)'}")
print(model.status_)
print("exact:", np.array_equal(model.adjacency_matrix_, truth.matrix_parent_child()))
print("kernel right to", np.abs(model.kernel_.table - kernel.table).max().round(3))
print(f"held-out rows: {model.score(frame[900:]):.2f} nats per row")

# New rows come back as a frame of the same kind.
print(model.sample(3))
