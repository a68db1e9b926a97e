"""Why kernels guide the heads: with plain mutual information all heads learn one and the same parent."""

import numpy as np

import kgmi

process = kgmi.Process(kgmi.Dag.paper(10), kgmi.Kernel.paper())
population = kgmi.exact_joint(process)

parents = np.array(process.dag.parents[2:]).T  # [head, child] of the eight children


def heads(guide, divergence="kl"):
    """Which parent each head of each child attends to in the end."""
    learned = kgmi.learn(population, kernel=process.kernel, guide=guide, divergence=divergence, solver="limit")
    return learned.attention.argmax(axis=-1)[:, 2:]


for guide in ("plain", "stationary"):
    first, second = found = heads(guide)
    print(f"{guide:>10}: both heads on one parent for {np.sum(first == second)} of 8 children,")
    print(f"            heads on their own parent: {np.sum(found == parents)} of 16")

# Most divergences guide a head to its own parent only in their matched form.
for name in kgmi.DIVERGENCES:
    written, matched = (np.sum(heads("stationary", form) == parents) for form in (name, f"{name}-matched"))
    print(f"{name:>16}: {written:>2} of 16 heads on their own parent as written, {matched:>2} matched")
