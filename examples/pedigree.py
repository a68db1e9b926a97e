"""A pedigree from genotypes: who the parents are, and by which law they pass on their alleles."""

import numpy as np

import kgmi

# Forty animals, some of them founders. A row is one marker; a state counts the copies of an allele: 0, 1 or 2.
rng = np.random.default_rng(3)
pedigree = kgmi.Dag.random(40, 2, rng=rng, root_probability=0.25)
mendel = kgmi.Kernel.mendelian()
genotypes = kgmi.sample(kgmi.Process(pedigree, mendel), 200, rng=rng)

# Of the order only the generations are known, and the columns stand in any order.
generation: list[int] = []
for parents in pedigree.parents:
    generation.append(1 + max((generation[parent] for parent in parents), default=0))
shuffled = rng.permutation(40)
names = [f"animal{node + 1}" for node in shuffled]
tiers = {name: generation[node] for name, node in zip(names, shuffled, strict=True)}

# Nobody says what Mendel's law is, who the founders are, or that the two parents have no order.
learned = kgmi.learn(genotypes[:, shuffled], names=names, tiers=tiers, n_parents=2)
print(learned.status)

truth = {f"animal{node + 1}": {f"animal{p + 1}" for p in ps} for node, ps in enumerate(pedigree.parents)}
right = sum(set(parents) == truth[name] for name, parents in learned.parents.items())
print(f"parents right for {right} of {len(truth)} animals, {sum(not p for p in truth.values())} of them founders")

assert learned.kernel is not None
print("the learned law of a child, given the genotypes of its parents:")
for one, other in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
    found = ", ".join(f"{p:.3f}" for p in learned.kernel.table[one, other])
    print(f"  {one} and {other}: {found}   Mendel: {', '.join(f'{p:.3f}' for p in mendel.table[one, other])}")
print("no entry off by more than", np.abs(learned.kernel.table - mendel.table).max().round(3))
