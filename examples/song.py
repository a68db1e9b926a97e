"""A minuet, note by note: which of the notes before decide the next one, and how far 126 notes can tell."""

import numpy as np

import kgmi

# The Minuet in G from the notebook for Anna Magdalena Bach (Christian Petzold, about 1725), upper voice, without
# ornaments. Digits are degrees of the scale, ' and , an octave up and down, # a raised note; :2 lasts two quavers.
MINUET = """
5:2 1 2 3 4   | 5:2 1:2 1:2   | 6:2 4 5 6 7   | 1':2 1:2 1:2 | 4:2 5 4 3 2 | 3:2 4 3 2 1 | 7,:2 1 2 3 1    | 2:6 |
5:2 1 2 3 4   | 5:2 1:2 1:2   | 6:2 4 5 6 7   | 1':2 1:2 1:2 | 4:2 5 4 3 2 | 3:2 4 3 2 1 | 2:2 3 2 1 7,    | 1:6 |
3':2 1' 2' 3' 1' | 2':2 5 6 7 5 | 1':2 6 7 1' 5 | 4#:2 3 4# 2:2 | 2 3 4# 5 6 7 | 1':2 7:2 6:2 | 7:2 2:2 4#:2 | 5:6 |
5:2 1 7, 1:2  | 6:2 1 7, 1:2  | 5:2 4:2 3:2   | 2 1 7, 1 2:2 | 5, 6, 7, 1 2 3 | 4:2 3:2 2:2 | 3 5 1:2 7,:2  | 1:6
"""
bars = [[note.split(":") for note in bar.split()] for bar in MINUET.split("|")]


def degrees_of(chosen):
    """The scale degree of every note of these bars."""
    return np.array([note[0][0] for bar in chosen for note in bar])


def rhythm_of(chosen):
    """For every quaver, whether a note begins there or goes on."""
    lengths = [int(note[1]) if len(note) > 1 else 1 for bar in chosen for note in bar]
    return np.concatenate([["begins"] + ["goes on"] * (length - 1) for length in lengths])


def lags(sequence, n_back, n_parents):
    """Which of the last positions the newest depends on."""
    learned = kgmi.learn(sequence, windows=n_back + 1, n_parents=n_parents)
    return ", ".join(learned.parents["now"]) or "nothing", learned


# The melody. Seven degrees and little more than a hundred notes: one lag is all that such a table can carry.
degrees = degrees_of(bars)
answer, learned = lags(degrees, 8, 1)
print(f"{len(degrees)} notes, 8 looked back: the degree of the next note depends on {answer}.")
law = learned.kernels[0]
for degree in "157":
    code = "1234567".index(degree)
    seen, then = law.counts[code], law.counts[code].argmax()
    print(f"  after degree {degree} comes {'1234567'[then]} most often, {seen[then]:.0f} times of {seen.sum():.0f}")

# Is it chance? The same notes in a random order should depend on nothing.
rng = np.random.default_rng(11)
lucky = sum(lags(rng.permutation(degrees), 8, 1)[0] != "nothing" for _ in range(20))
print(f"Of 20 tunes with the same notes in a random order, {lucky} seem to depend on something.")
for n_notes in (40, 60, 80, 100):
    print(f"From the first {n_notes} notes alone: it depends on {lags(degrees[:n_notes], 8, 1)[0]}.")

# The rhythm has two states only, and more can be told: a bar has six quavers, a beat has two.
for n_back in (8, 12):
    answer, learned = lags(rhythm_of(bars), n_back, 2)
    print(f"{6 * len(bars)} quavers, {n_back} looked back: whether a note begins depends on {answer}.")
    print(f"  {learned.trust}")

# Bars 9 to 14 repeat bars 1 to 6, and what is heard twice is counted twice. What is left without them?
once = bars[:8] + bars[14:]
print(f"Without the repeated bars the melody depends on {lags(degrees_of(once), 8, 1)[0]},", end=" ")
print(f"the rhythm on {lags(rhythm_of(once), 8, 2)[0]}.")
