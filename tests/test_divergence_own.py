import math
import re

import numpy as np
import pytest

from kgmi import DIVERGENCES, Divergence
from kgmi.errors import DivergenceError


def made(f, at_zero=math.inf, slope_at_infinity=math.inf):
    return Divergence.from_function(f, name="mine", at_zero=at_zero, slope_at_infinity=slope_at_infinity)


@pytest.mark.parametrize("name", sorted(DIVERGENCES))
def test_the_named_divergences_pass_as_a_users_own(name):
    given = DIVERGENCES[name]
    own = made(given.f, given.at_zero, given.slope_at_infinity)
    assert own.slope_at_one == pytest.approx(given.slope_at_one, abs=1e-6)
    assert own.curvature_at_one == pytest.approx(given.curvature_at_one, abs=1e-5)
    assert own.is_matched is given.is_matched
    p, q = np.array([0.2, 0.3, 0.5]), np.array([0.4, 0.5, 0.1])
    assert own.matched().between(p, q) == pytest.approx(given.between(p, q))


def test_an_alpha_divergence_of_ones_own():
    alpha = 3.0
    own = made(lambda x: (x**alpha - 1) / (alpha * (alpha - 1)), at_zero=-1 / 6)
    assert own.name == "mine"
    assert own.slope_at_one == pytest.approx(0.5)
    assert own.curvature_at_one == pytest.approx(1, abs=1e-5)
    assert own.between([0.5, 0.5], [0.25, 0.75]) == pytest.approx((0.25 * 8 + 0.75 * (2 / 3) ** 3 - 1) / 6)
    assert own.matched().is_matched


def test_a_kink_at_one_has_the_jump_of_its_slope_as_curvature():
    own = made(lambda x: np.maximum(x - 1, 0), at_zero=0.0, slope_at_infinity=1.0)
    assert own.slope_at_one == pytest.approx(0.5)
    assert own.curvature_at_one == pytest.approx(1.0)
    flat = made(lambda x: np.maximum(np.abs(x - 1) - 0.5, 0), at_zero=0.5, slope_at_infinity=1.0)
    assert (flat.slope_at_one, flat.curvature_at_one) == (0, 0)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: x * x, "f(1) of 'mine' is 1; an f-divergence needs f(1) = 0"),
        (lambda x: 1 - x * x, "f of 'mine' is not convex near x = "),
        (np.log, "f of 'mine' is not convex near x = "),
        (lambda x: np.where(x > 100, np.nan, x - 1), "f of 'mine' must be finite for all x from 1e-4 to 1e4"),
        (lambda x: np.where(x > 100, np.inf, x - 1), "f of 'mine' must be finite for all x from 1e-4 to 1e4"),
        (lambda x: np.where(x == 1, np.nan, (x - 1) ** 2), "f"),
        (lambda x: x[:-1], "f of 'mine' must"),
        (lambda x: x * math.log(x), "f of 'mine' must take and return an array"),
        (lambda x: x - 1 if x > 1 else 1 - x, "f of 'mine' must take and return an array"),
        (lambda x: 0.0, "f of 'mine' must take and return an array"),
    ],
)
def test_what_is_no_f_is_refused(f, message):
    with pytest.raises(DivergenceError, match=re.escape(message)):
        made(f)


@pytest.mark.parametrize(
    ("at_zero", "slope", "message"),
    [
        (math.nan, math.inf, "they may be inf, not NaN"),
        (1.0, math.nan, "they may be inf, not NaN"),
        (-math.inf, math.inf, "f(0) of 'mine' is at least 1 by convexity, got -inf"),
        (0.5, math.inf, "f(0) of 'mine' is at least 1 by convexity, got 0.5"),
        (1.0, 3.0, "f'(∞) of 'mine' is at least 19770"),
    ],
)
def test_limits_that_contradict_f_are_refused(at_zero, slope, message):
    with pytest.raises(DivergenceError, match=re.escape(message)):
        made(lambda x: (x - 1) ** 2, at_zero, slope)


@pytest.mark.parametrize("power", [1.05, 1.2, 3.0])
def test_the_slope_at_zero_is_found_where_it_is_reached_slowly(power):
    own = Divergence.from_function(lambda x: x**power - x, name="power", at_zero=0.0, slope_at_infinity=np.inf)
    assert own.per_ratio(np.array([0.0]))[0] == pytest.approx(-1.0)


def test_the_plain_constructor_checks_too():
    with pytest.raises(DivergenceError, match=r"f\(1\) of 'bad' is 6"):
        Divergence("bad", lambda x: x + 5, 5.0, 1.0, 1.0, 0.0)
    with pytest.raises(DivergenceError, match="not convex"):
        Divergence("bad", lambda x: np.log(x), -np.inf, 0.0, 1.0, -1.0)
