"""Array aliases. The comment behind each alias names its axes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""Any array of reals."""
Ints: TypeAlias = NDArray[np.int64]
"""Any array of counts."""
Bools: TypeAlias = NDArray[np.bool_]
"""Any mask."""

Codes: TypeAlias = NDArray[np.integer[Any]]
"""[row, node] state codes 0..S-1."""
Rows: TypeAlias = Codes
"""[row, node] the same, by the name users know."""
PairTable: TypeAlias = NDArray[np.float64]
"""[child, candidate, state of child s', state of candidate s]."""
ScoreTable: TypeAlias = NDArray[np.float64]
"""[head, child, candidate]; NaN where the candidate is not allowed."""
Attention: TypeAlias = NDArray[np.float64]
"""[head, child, candidate]; the rows of a child with candidates sum to one."""

Parents: TypeAlias = tuple[tuple[int, ...], ...]
"""The parents of every node, in role order."""

Rng: TypeAlias = np.random.Generator | int
"""Where randomness comes from: a generator, or a seed for a new one."""
Names: TypeAlias = Sequence[str]
PathLike: TypeAlias = str | Path
