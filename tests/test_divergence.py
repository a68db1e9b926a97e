import math

import numpy as np
import pytest

from kgmi import DIVERGENCES, Divergence
from kgmi.divergence import divergence_named
from kgmi.errors import DivergenceError

from . import brute

NAMES = sorted(DIVERGENCES)
ALL = [*NAMES, *(f"{name}-matched" for name in NAMES)]
SMOOTH = [name for name in ALL if not name.startswith("total-variation")]
every = pytest.mark.parametrize("name", ALL)
POINTS = np.geomspace(1e-3, 1e3, 61)


def f_of(name):
    """f as a plain function, the matched form with f''(1) − f'(1) worked out by hand."""
    plain = name.removesuffix("-matched")
    tilt = {
        "kl": 0.0,
        "pearson": 1.0,
        "neyman": 3.0,
        "hellinger": 0.5,
        "reverse-kl": 2.0,
        "jensen-shannon": 0.25,
        "total-variation": 1.0,
    }[plain]
    return brute.F[plain] if plain == name else lambda x: brute.F[plain](x) + tilt * (x - 1)


@every
def test_f_is_the_written_function_and_zero_at_one(name):
    divergence = divergence_named(name)
    assert divergence.f(np.array([1.0]))[0] == pytest.approx(0, abs=1e-15)
    assert divergence.f(POINTS).tolist() == pytest.approx([f_of(name)(x) for x in POINTS], rel=1e-12, abs=1e-12)


@every
def test_the_limits_are_those_of_f(name):
    divergence, f = divergence_named(name), f_of(name)
    if math.isinf(divergence.at_zero):
        assert f(1e-12) > f(1e-9) > f(1e-6) > 10
    else:
        assert divergence.at_zero == pytest.approx(f(1e-14), abs=1e-6)
    if math.isinf(divergence.slope_at_infinity):
        assert f(1e12) / 1e12 > f(1e9) / 1e9 > f(1e6) / 1e6 > 10
    else:
        assert divergence.slope_at_infinity == pytest.approx(f(1e14) / 1e14, abs=1e-6)


@pytest.mark.parametrize("name", SMOOTH)
def test_slope_and_curvature_at_one_are_the_derivatives(name):
    divergence, f, step = divergence_named(name), f_of(name), 1e-4
    assert divergence.slope_at_one == pytest.approx((f(1 + step) - f(1 - step)) / (2 * step), abs=1e-6)
    assert divergence.curvature_at_one == pytest.approx((f(1 + step) + f(1 - step)) / step**2, abs=1e-5)


def test_total_variation_has_a_kink_whose_weight_is_its_curvature():
    # f'' is a point mass at 1: second differences grow without end, their product with the step is the jump of f'.
    divergence, f, step = DIVERGENCES["total-variation"], brute.F["total-variation"], 1e-4
    assert divergence.slope_at_one == (f(1 + step) - f(1 - step)) / (2 * step) == 0
    assert divergence.curvature_at_one == pytest.approx((f(1 + step) + f(1 - step)) / step)
    assert divergence.matched().slope_at_one == 1


@every
def test_the_matched_form_is_matched(name):
    matched = divergence_named(name).matched()
    assert matched.is_matched
    assert matched.slope_at_one == matched.curvature_at_one
    assert matched.matched() is matched


def test_only_kl_is_matched_as_written():
    assert [name for name in NAMES if DIVERGENCES[name].is_matched] == ["kl"]
    assert divergence_named("kl-matched") is DIVERGENCES["kl"]
    assert divergence_named("hellinger-matched").name == "hellinger-matched"


@every
def test_per_ratio_is_f_over_its_argument(name):
    divergence, f = divergence_named(name), f_of(name)
    assert divergence.per_ratio(POINTS).tolist() == pytest.approx([f(x) / x for x in POINTS], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("kl", -math.inf),
        ("pearson", -1.0),
        ("neyman", math.inf),
        ("hellinger", math.inf),
        ("reverse-kl", math.inf),
        ("jensen-shannon", math.inf),
        ("total-variation", math.inf),
        ("pearson-matched", -math.inf),
        ("neyman-matched", math.inf),
        ("hellinger-matched", math.inf),
        ("reverse-kl-matched", math.inf),
        ("jensen-shannon-matched", math.inf),
        ("total-variation-matched", -math.inf),
    ],
)
def test_per_ratio_at_zero_is_its_limit(name, limit):
    assert divergence_named(name).per_ratio(np.array([0.0, 1.0])).tolist() == [limit, 0.0]
    tiny = f_of(name)(1e-9) / 1e-9
    assert tiny == pytest.approx(limit, abs=1e-6) if math.isfinite(limit) else tiny * math.copysign(1, limit) > 10


def test_an_unknown_name_lists_the_choices():
    with pytest.raises(DivergenceError, match="there is no divergence 'kullback'") as caught:
        divergence_named("kullback")
    assert all(name in str(caught.value) for name in [*NAMES, "-matched", "Divergence.from_function"])
    own = Divergence("mine", lambda x: x - 1, -1.0, 1.0, 1.0, 0.0)
    assert divergence_named(own) is own
