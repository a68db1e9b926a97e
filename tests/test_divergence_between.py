import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgmi import DIVERGENCES
from kgmi.divergence import divergence_named
from kgmi.errors import DivergenceError

from .test_divergence import every, f_of

some = settings(max_examples=40, deadline=None)


@st.composite
def laws(draw):
    """Two laws on the same states, now and then with zeros."""
    size = draw(st.integers(2, 5))
    weights = st.lists(st.integers(0, 9), min_size=size, max_size=size)
    p, q = (np.array(draw(weights.filter(any)), dtype=float) for _ in range(2))
    return p / p.sum(), q / q.sum()


@every
@some
@given(laws())
def test_a_divergence_is_not_negative_and_zero_between_equals(name, pair):
    p, q = pair
    divergence = divergence_named(name)
    assert divergence.between(p, q) >= -1e-12
    assert divergence.between(p, p) == pytest.approx(0, abs=1e-12)
    if np.abs(p - q).max() > 0.01:
        assert divergence.between(p, q) > 1e-6


@every
@some
@given(laws())
def test_the_matched_form_is_the_same_divergence(name, pair):
    p, q = pair
    divergence = divergence_named(name)
    assert divergence.matched().between(p, q) == pytest.approx(divergence.between(p, q), abs=1e-12)


@every
@some
@given(laws())
def test_between_follows_the_rules_off_the_common_support(name, pair):
    divergence, f = divergence_named(name), f_of(name)
    total = 0.0
    for p, q in zip(*pair, strict=True):
        if p > 0 and q > 0:
            total += q * f(p / q)
        elif q > 0:
            total += q * divergence.at_zero
        elif p > 0:
            total += p * divergence.slope_at_infinity
    assert divergence.between(*pair) == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "p_is_zero", "q_is_zero"),
    [
        ("kl", math.log(2), math.inf),
        ("pearson", 1.0, math.inf),
        ("neyman", math.inf, 1.0),
        ("hellinger", 2 - math.sqrt(2), 2 - math.sqrt(2)),
        ("reverse-kl", math.inf, math.log(2)),
        ("jensen-shannon", *[1.5 * math.log(2) - 0.75 * math.log(3)] * 2),
        ("total-variation", 0.5, 0.5),
    ],
)
def test_a_point_mass_against_a_fair_coin_by_hand(name, p_is_zero, q_is_zero):
    point, coin = [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]  # the third state has no mass in either and adds nothing
    for divergence in (DIVERGENCES[name], DIVERGENCES[name].matched()):
        assert divergence.between(point, coin) == pytest.approx(p_is_zero)
        assert divergence.between(coin, point) == pytest.approx(q_is_zero)


def test_between_works_on_the_last_axis_and_broadcasts():
    p, q = np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([0.4, 0.6])
    found = DIVERGENCES["kl"].between(p, q)
    assert found.shape == (2,)
    assert found[1] == pytest.approx(0.9 * math.log(0.9 / 0.4) + 0.1 * math.log(0.1 / 0.6))


@pytest.mark.parametrize("bad", [[math.nan, 0.5], [-0.5, 1.5]])
def test_what_is_no_probability_is_not_passed_over(bad):
    for pair in ((bad, [0.5, 0.5]), ([0.5, 0.5], bad)):
        with pytest.raises(DivergenceError, match="NaN or negative"):
            DIVERGENCES["kl"].between(*pair)
