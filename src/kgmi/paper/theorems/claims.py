"""The statements, one by one, and the cases that each is held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["CLAIMS", "Claim"]


@dataclass(frozen=True)
class Claim:
    """One statement on one group of cases; ``reason`` says, as we understand it, where it is missed."""

    part: str
    group: str
    name: str
    claim: str
    source: Literal["paper", "kgmi"] = "paper"
    reason: str = ""


_LOSS = "L* − L(t) ≤ max(I_max ε_attn, ε) when ε < Δ/4"
_ROOT = (
    "|attn − 1/(i−1)| ≤ 64 (log(1/ε_attn)/ε_attn + i log i) ε / ((i−1)² Δ) at a root i > 1, after as many epochs "
    "as theorem 2 asks for at a node i with parents and the gap Δ"
)
_HEAD = "The best candidate of head ℓ is p(i)^ℓ: no other scores higher"
_DECAY = "|P_ij(s',s) − μ(s)μ(s')| ≤ √(μ(s)μ(s')) λ^d(i,j)"
_SPREAD = (
    "The state frequencies μ̂ of one sequence are near μ when T_eff is large. The constant is ours, got by summing "
    "the decay of correlation: E (μ̂(s) − μ(s))² ≤ μ(s) / T_eff(λ)"
)

CLAIMS = (
    Claim("theorem 1", "I_max ≥ 1", "theorem 1, I_max ≥ 1", f"After τ* epochs {_LOSS}; here where I_max ≥ 1."),
    Claim(
        "theorem 1",
        "I_max < 1",
        "theorem 1, I_max < 1",
        f"After τ* epochs {_LOSS}; here where I_max < 1, as on the paper's graph.",
        reason="as I_max falls, τ* falls faster than the time that training takes",
    ),
    Claim(
        "theorem 1, longer",
        "all",
        "theorem 1 with the epochs of theorem 2",
        f"After the epochs that theorem 2 asks for at the last node, {_LOSS}.",
        "kgmi",
    ),
    Claim(
        "theorem 2",
        "all",
        "theorem 2, nodes with parents",
        "After τ^(ℓ,i) epochs a head has over 1 − ε_attn of its attention on its best candidate, when ε < Δ/4. One "
        "case is the worst column of a run.",
    ),
    Claim(
        "theorem 2, roots",
        "small bound",
        "theorem 2, roots, bound up to 1/(i−1)",
        f"{_ROOT}; here where the bound is at most 1/(i−1).",
    ),
    Claim(
        "theorem 2, roots",
        "large bound",
        "theorem 2, roots, larger bound",
        f"{_ROOT}; here where the bound is larger than 1/(i−1) (above 1 it says nothing).",
        reason="a root with many candidates can settle on one whose score is overestimated, with ε < Δ/4",
    ),
    Claim(
        "theorem 2, roots",
        "together",
        "theorem 2, roots drawn together",
        "The same at a root drawn jointly with an earlier one, as in copies of the paper's graph (again, a bound "
        "above 1 says nothing). Whether the theorem means those too is a question of reading.",
        "kgmi",
    ),
    Claim("theorem 3", "chains", "theorem 3, order-2 chains", f"{_HEAD}; here where its condition holds."),
    Claim(
        "theorem 3",
        "general",
        "theorem 3, general graphs",
        f"{_HEAD}; here where its condition need not hold.",
        reason="the parents do not follow M_π",
    ),
    Claim("decay", "trees", "decay of correlation, one parent", f"{_DECAY}, on trees."),
    Claim(
        "decay",
        "two parents",
        "decay of correlation, two parents",
        f"{_DECAY}, with K = 2.",
        reason="λ looks at one parent at a time and misses what two do together, and nodes may be off μ_π",
    ),
    Claim("length", "all", "effective length", "T_eff(λ) ≥ T (1 − λ) / L."),
    Claim("concentration", "trees", "concentration, one parent", f"{_SPREAD}, on trees.", "kgmi"),
    Claim("concentration", "two parents", "concentration, two parents", f"{_SPREAD}, with K = 2.", "kgmi"),
)
