"""How many words this machine can AND and count at most: compiled loops on data that stay in the nearest cache.

Import it where it is needed: this loads the compiler.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from kgmi.bench.speed.timing import in_turns
from kgmi.jit import compiled, inlined
from kgmi.threads import n_workers

__all__ = ["bits_in_pairs", "bits_in_squares", "words_per_second"]

_ROWS, _WORDS = 8, 256  # 16 KB, half of the smallest first-level cache in use
_WORK = 60_000_000  # words to a timed call and thread: some milliseconds

_PAIRS, _FOURS, _EIGHTS = (
    np.uint64(0x5555555555555555),
    np.uint64(0x3333333333333333),
    np.uint64(0x0F0F0F0F0F0F0F0F),
)
_ONES = np.uint64(0x0101010101010101)
_ONE, _TWO, _FOUR, _TOP = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


@inlined
def _bits(x: Any) -> Any:
    """Number of bits that are set; sums that compilers know, and turn into one instruction where there is one.

    Written here once more: the ceiling must not move when the engine is changed.
    """
    x = x - ((x >> _ONE) & _PAIRS)
    x = (x & _FOURS) + ((x >> _TWO) & _FOURS)
    x = (x + (x >> _FOUR)) & _EIGHTS
    return (x * _ONES) >> _TOP


@compiled
def bits_in_pairs(words: Any, rounds: int) -> Any:
    """Bits common to all pairs of rows, ``rounds`` times over: two words are read for each that is counted."""
    n_rows, n_words = words.shape
    total = np.uint64(0)
    for _ in range(rounds):
        for i in range(n_rows):
            for j in range(n_rows):
                part = np.uint64(0)
                for k in range(n_words):
                    part += _bits(words[i, k] & words[j, k])
                total += part
    return total


@compiled
def bits_in_squares(words: Any, rounds: int) -> Any:
    """The same for two rows against two at a time: every word that is read is counted twice."""
    n_rows, n_words = words.shape
    total = np.uint64(0)
    for _ in range(rounds):
        for i in range(0, n_rows, 2):
            for j in range(0, n_rows, 2):
                first, second, third, fourth = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
                for k in range(n_words):
                    first += _bits(words[i, k] & words[j, k])
                    second += _bits(words[i, k] & words[j + 1, k])
                    third += _bits(words[i + 1, k] & words[j, k])
                    fourth += _bits(words[i + 1, k] & words[j + 1, k])
                total += first + second + third + fourth
    return total


def words_per_second(repeats: int, work: int = _WORK) -> dict[str, float]:
    """Words per second of both loops, with one thread on every core at once; the ceiling is the larger one."""
    rng = np.random.default_rng(0)
    rounds = max(1, work // (_ROWS * _ROWS * _WORDS))
    threads = n_workers()
    data = [rng.integers(0, 2**63, (_ROWS, _WORDS)).astype(np.uint64) for _ in range(threads)]
    with ThreadPoolExecutor(threads) as pool:

        def everywhere(loop: Any) -> None:
            list(pool.map(lambda words: loop(words, rounds), data))

        loops = {"pairs": bits_in_pairs, "squares": bits_in_squares}
        seconds = in_turns({name: partial(everywhere, loop) for name, loop in loops.items()}, repeats)
    done = threads * rounds * _ROWS * _ROWS * _WORDS
    return {name: done / taken for name, taken in seconds.items()}
