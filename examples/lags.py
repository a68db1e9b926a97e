"""One long sequence, and which of its earlier positions the next one depends on."""

import numpy as np

import kgmi

# Each word depends on the one before it and on the one three before it.
rng = np.random.default_rng(8)
states = ["rain", "cloud", "sun"]
kernel = kgmi.Kernel.random(3, 2, rng=rng, concentration=3.0)  # parents in the order lag 3, lag 1
codes = rng.integers(3, size=3).tolist()
for _ in range(2_000):
    codes.append(int(rng.choice(3, p=kernel.table[codes[-3], codes[-1]])))
weather = np.array(states)[codes]

# Rows are the last six positions: the newest one, and lags 5 to 1 as candidates for its parents. Up to three of
# them may matter.
learned = kgmi.learn(weather, windows=6, n_parents=3, states=states)
print(learned.status)
print("now ←", ", ".join(learned.parents["now"]))

estimate = learned.kernels[0]
print(f"the law of the next word ({', '.join(states)}), from {estimate.counts.sum():,.0f} places in the sequence:")
for place in np.ndindex(3, 3):
    given = ", ".join(f"{lag} {states[code]}" for lag, code in zip(learned.parents["now"], place, strict=True))
    pairs = zip(estimate.table[place], estimate.standard_errors[place], strict=True)
    law = ", ".join(f"{p:.2f} ± {e:.2f}" for p, e in pairs)
    print(f"  {given}: {law}   true: {', '.join(f'{p:.2f}' for p in kernel.table[place])}")

# With very few words lags are missed or made up.
for n_words in (12, 25, 50, 100):
    short = kgmi.learn(weather[:n_words], windows=6, n_parents=3, states=states)
    print(f"from {n_words} words: now ← {', '.join(short.parents['now']) or 'nothing'}")
