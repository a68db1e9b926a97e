"""Neither kernel nor order known: the columns of the paper's graph, shuffled, and put back by what they tell."""

import numpy as np

import kgmi

process = kgmi.Process(kgmi.Dag.paper(10), kgmi.Kernel.paper())
columns = np.random.default_rng(7).permutation(10)
names = [f"n{column + 1}" for column in columns]
rows = kgmi.sample(process, 1_000, rng=7)[:, columns]

learned = kgmi.learn(rows, names=names, n_parents=2, order="learn")
print("columns:", " ".join(names))
print("learned:", " ".join(learned.names))
for (parent, child), nats in sorted(learned.directions.items(), key=lambda item: item[1])[:3]:
    print(f"{parent} → {child}: the best graph with this edge reversed is worse by {nats:.0f} nats")
comparison = kgmi.metrics.compare(learned.dag, process.dag, columns[list(learned.order)])
print(f"F1 {comparison.f1:.2f}, {len(comparison.turned)} edges the wrong way round")

# A chain in its stationary state looks the same backwards, and kgmi says so.
chain = kgmi.Process(kgmi.Dag([(), (0,), (1,), (2,)]), kgmi.Kernel([[0.8, 0.2], [0.3, 0.7]]))
learned = kgmi.learn(kgmi.sample(chain, 2_000, rng=7), n_parents=1, order="learn")
print(next(sentence for sentence in learned.status.split(". ") if "hardly direct" in sentence))
