"""f-divergences as small records, as written and in the matched form."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from kgmi.errors import DivergenceError
from kgmi.types import Floats

__all__ = ["DIVERGENCES", "Divergence", "divergence_named"]

_GRID = np.geomspace(1e-4, 1e4, 801)  # where a user's f is checked to be convex


@dataclass(frozen=True)
class Divergence:
    """A convex f with f(1) = 0, and its limits, which decide what happens off the common support.

    Parameters
    ----------
    name
        What people call it.
    f
        Vectorised function on x > 0.
    at_zero
        f(0) = lim x→0 of f(x); may be inf.
    slope_at_infinity
        f'(∞) = lim x→∞ of f(x)/x; may be inf.
    slope_at_one, curvature_at_one
        f'(1) and f''(1). They decide how a head is guided: to second order KG-MI is
        f'(1)⟨B^ℓ, B_ij⟩ + (f''(1)/2 − f'(1))‖B_ij‖². f'(1) = 0 gives no guidance at all.
    """

    name: str
    f: Callable[[Floats], Floats]
    at_zero: float
    slope_at_infinity: float
    slope_at_one: float
    curvature_at_one: float

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    def from_function(
        cls,
        f: Callable[[Floats], Floats],
        *,
        name: str,
        at_zero: float | None = None,
        slope_at_infinity: float | None = None,
    ) -> Divergence:
        """Make a divergence from a function, checked: f(1) = 0 and convex on a grid from 10⁻⁴ to 10⁴.

        Slopes at 1 are found by differences; where f has a kink at 1, its curvature there is the jump of the slope,
        as for total variation. The limits f(0) and f'(∞) are found numerically where they are not given.
        """
        with np.errstate(all="ignore"):
            zero = _limit(f, np.array([1e-200, 1e-300])) if at_zero is None else float(at_zero)
            far = np.array([1e100, 1e150])
            slope = _limit(lambda x: f(x) / x, far) if slope_at_infinity is None else float(slope_at_infinity)
        made = cls(name, f, zero, slope, np.nan, np.nan)
        step = 1e-4
        wide_low, low, mid, high, wide_high = (
            float(f(np.array([1.0 + steps * step]))[0]) for steps in (-2, -1, 0, 1, 2)
        )
        jump = (high - 2 * mid + low) / step
        wide_jump = (wide_high - 2 * mid + wide_low) / (2 * step)
        kink = jump > 1e-9 and wide_jump < 1.5 * jump  # where f is smooth the jump grows with the step
        return replace(made, slope_at_one=(high - low) / (2 * step), curvature_at_one=jump if kink else jump / step)

    @classmethod
    def from_expression(cls, text: str) -> Divergence:
        """Make a divergence from a formula in x, such as ``x*log(x)``.

        A formula may have numbers, ``+ - * / **``, parentheses, ``log``, ``sqrt``, ``exp`` and ``abs``. It is
        parsed, never run as Python.
        """
        if len(text) > _MOST_LETTERS:
            raise DivergenceError(f"a formula for f has at most {_MOST_LETTERS} characters, got {len(text)}")
        try:
            tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise DivergenceError(f"{text!r} is not a formula in x, such as x*log(x)") from None

        def f(x: Floats) -> Floats:
            with np.errstate(all="ignore"):  # what is not finite is refused where it matters
                return _value(tree, np.asarray(x, dtype=np.float64), text)

        return cls.from_function(f, name=text)

    @property
    def is_matched(self) -> bool:
        """Whether f'(1) = f''(1), so that a head seeks the candidate whose joint matches its kernel."""
        return bool(np.isclose(self.slope_at_one, self.curvature_at_one, rtol=1e-3, atol=1e-6))

    def matched(self) -> Divergence:
        """f + (f''(1) − f'(1))(x − 1): the same divergence and f-MI, but heads that are guided properly."""
        if self.is_matched:
            return self
        tilt = self.curvature_at_one - self.slope_at_one
        f = self.f
        return Divergence(
            name=f"{self.name}-matched",
            f=lambda x: f(x) + tilt * (x - 1.0),
            at_zero=self.at_zero - tilt,
            slope_at_infinity=self.slope_at_infinity + tilt,
            slope_at_one=self.slope_at_one + tilt,
            curvature_at_one=self.curvature_at_one,
        )

    def between(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """D_f(P‖Q) = Σ Q f(P/Q) over the last axis, with Q f(0) where P = 0 and P f'(∞) where Q = 0."""
        p, q = np.broadcast_arrays(np.asarray(p, np.float64), np.asarray(q, np.float64))
        if not (np.all(p >= 0) and np.all(q >= 0)):
            raise DivergenceError("a divergence is between probabilities; some are NaN or negative")
        both = (p > 0) & (q > 0)
        ratio = np.divide(p, q, out=np.ones(p.shape), where=both)
        terms = (
            np.where(both, q * self.f(ratio), 0.0)
            + _times(np.where(p > 0, 0.0, q), self.at_zero)
            + _times(np.where(q > 0, 0.0, p), self.slope_at_infinity)
        )
        return np.asarray(terms.sum(axis=-1))

    def per_ratio(self, ratio: Floats) -> Floats:
        """f(r)/r for r ≥ 0: what KG-MI weights with the kernel. At r = 0 its limit, which may be ±inf."""
        positive = ratio > 0
        if positive.all():
            return np.asarray(self.f(ratio) / ratio)
        safe = np.where(positive, ratio, 1.0)
        return np.where(positive, self.f(safe) / safe, self._per_ratio_at_zero)

    @property
    def _per_ratio_at_zero(self) -> float:
        """lim r→0 f(r)/r: infinite unless f(0) = 0, where it is the slope f'(0)."""
        if self.at_zero != 0:
            return float(np.copysign(np.inf, self.at_zero))
        return _limit(lambda x: self.f(x) / x, np.array([1e-200, 1e-300]))


def _limit(f: Callable[[Floats], Floats], near: Floats) -> float:
    """Limit of f from its values at two points far out: 0, a number that they share, or ±inf.

    A limit that exists is reached, nearly, a hundred decades apart; a logarithm still moves by a third.
    """
    first, second = (float(value) for value in np.asarray(f(near), dtype=np.float64))
    if abs(first) < 1e-12 and abs(second) < 1e-12:
        return 0.0
    return second if np.isclose(first, second, rtol=1e-3) else float(np.copysign(np.inf, second))


def _value(node: ast.expr, x: Floats, text: str) -> Floats:
    """Value of a parsed formula; the grammar is what is listed here and nothing else."""
    match node:
        case ast.Constant(value=float() | int() as number) if not isinstance(number, bool) and abs(number) < 1e300:
            return np.full(x.shape, float(number))
        case ast.Name(id="x"):
            return x
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=one):
            value = _value(one, x, text)
            return -value if isinstance(sign, ast.USub) else value
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            return np.asarray(_OPERATORS[type(operator)](_value(left, x, text), _value(right, x, text)))
        case ast.Call(func=ast.Name(id=name), args=[one], keywords=[]) if name in _FUNCTIONS:
            return np.asarray(_FUNCTIONS[name](_value(one, x, text)))
    known = f"numbers, x, + - * / **, parentheses, {', '.join(_FUNCTIONS)}"
    raise DivergenceError(f"{ast.unparse(node)!r} is not allowed in the formula {text!r} for f; use {known}")


_MOST_LETTERS = 200
_OPERATORS: dict[type[ast.operator], Callable[[Floats, Floats], Floats]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
_FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {"log": np.log, "sqrt": np.sqrt, "exp": np.exp, "abs": np.abs}


def _times(weight: Floats, value: float) -> Floats:
    """weight · value with 0 · inf = 0."""
    out = np.zeros(weight.shape)
    np.multiply(weight, value, out=out, where=weight > 0)
    return out


def _check(made: Divergence) -> None:
    try:
        values = np.asarray(made.f(_GRID), dtype=np.float64)
        at_one = float(np.asarray(made.f(np.array([1.0])))[0])
    except (TypeError, ValueError, IndexError) as error:
        raise DivergenceError(f"f of '{made.name}' must take and return an array: {error}") from None
    if values.shape != _GRID.shape or not np.all(np.isfinite(values)):
        raise DivergenceError(f"f of '{made.name}' must be finite for all x from 1e-4 to 1e4")
    if not abs(at_one) <= 1e-9:
        raise DivergenceError(f"f(1) of '{made.name}' is {at_one:.6g}; an f-divergence needs f(1) = 0")
    slopes = np.diff(values) / np.diff(_GRID)
    drop = np.diff(slopes)
    scale = 1e-8 * (1 + np.abs(slopes[1:]))
    if np.any(drop < -scale):
        where = _GRID[1 + int(np.argmin(drop + scale))]
        raise DivergenceError(f"f of '{made.name}' is not convex near x = {where:.3g}")
    if np.isnan(made.at_zero) or np.isnan(made.slope_at_infinity):
        raise DivergenceError(f"give the limits f(0) and f'(∞) of '{made.name}'; they may be inf, not NaN")
    lowest = values[0] - slopes[0] * _GRID[0]  # a convex f lies above each of its chords prolonged
    if made.at_zero < lowest - 1e-8 * (1 + abs(lowest)):
        raise DivergenceError(
            f"f(0) of '{made.name}' is at least {lowest:.6g} by convexity, got {made.at_zero:.6g}"
        )
    if made.slope_at_infinity < slopes[-1] - scale[-1]:
        raise DivergenceError(
            f"f'(∞) of '{made.name}' is at least {slopes[-1]:.6g} by convexity, got {made.slope_at_infinity:.6g}"
        )


def _jensen_shannon(x: Floats) -> Floats:
    return np.asarray(0.5 * (x * np.log(x) - (x + 1) * np.log((x + 1) / 2)))


_LOG2_HALF = 0.5 * float(np.log(2.0))

# Total variation has a kink at 1: its f'' there is a point mass of weight 1, and that weight is its curvature.
DIVERGENCES: dict[str, Divergence] = {
    d.name: d
    for d in (
        Divergence("kl", lambda x: x * np.log(x), 0.0, np.inf, 1.0, 1.0),
        Divergence("pearson", lambda x: x * x - x, 0.0, np.inf, 1.0, 2.0),
        Divergence("neyman", lambda x: 1.0 / x - 1.0, np.inf, 0.0, -1.0, 2.0),
        Divergence("hellinger", lambda x: (np.sqrt(x) - 1.0) ** 2, 1.0, 1.0, 0.0, 0.5),
        Divergence("reverse-kl", lambda x: -np.log(x), np.inf, 0.0, -1.0, 1.0),
        Divergence("jensen-shannon", _jensen_shannon, _LOG2_HALF, _LOG2_HALF, 0.0, 0.25),
        Divergence("total-variation", lambda x: 0.5 * np.abs(x - 1.0), 0.5, 0.5, 0.0, 1.0),
    )
}
"""The named divergences; append ``-matched`` to a name for the matched form.

The paper writes out KL as x log x and Pearson's χ² as x² − x. The forms of the others are ours.
"""


def divergence_named(name: str | Divergence) -> Divergence:
    """A divergence by name (``kl``, ``pearson``, ``hellinger-matched``, …), or the one that was given."""
    if isinstance(name, Divergence):
        return name
    plain = name.removesuffix("-matched")
    if plain not in DIVERGENCES:
        raise DivergenceError(
            f"there is no divergence '{name}'; choose one of {', '.join(DIVERGENCES)}, "
            "each also with -matched, or make one with Divergence.from_function"
        )
    found = DIVERGENCES[plain]
    return found if plain == name else found.matched()
