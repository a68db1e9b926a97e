"""The paper in thirty lines: a graph, a kernel, rows, kernel-guided attention, and the graph again."""

import numpy as np

import kgmi

# The paper's 10-node graph and base kernel: three states, two parents.
truth = kgmi.Dag.paper(10)
kernel = kgmi.Kernel.paper()
process = kgmi.Process(truth, kernel)

# From the population: exact pair laws, gradient ascent of two heads, and the graph they settle on.
population = kgmi.exact_joint(process)
learned = kgmi.learn(population, kernel=kernel)
print("population:", learned.status)
print(kgmi.metrics.compare(learned.dag, truth))

# From rows: the same, with the paper's guide asked for by name.
rows = kgmi.sample(process, 40_000, rng=np.random.default_rng(7))
learned = kgmi.learn(rows, kernel=kernel, guide="stationary")
print("rows:", learned.status)
print("F1", kgmi.metrics.compare(learned.dag, truth).f1)
for node, parents in learned.parents.items():
    print(f"{node:>4} ← {', '.join(parents) or '(root)'}")

# What the paper assumes, and by how much it fails here.
print(kgmi.theory.check_process(process, learned.names))
