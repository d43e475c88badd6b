"""Parameters at the far ends of what is allowed: the truth stays inside, or nothing is said."""

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from exactdp.accounting import pld
from exactdp.accounting.pld import Pld
from exactdp.accounting.pld.ask import Delta
from exactdp.accounting.pld.grid.densities import bounds
from exactdp.accounting.pld.losses.normal import Gaussian, SampledNormal
from exactdp.errors import InvalidParameter, Undecided
from exactdp.law import Law
from tests.reference import gaussian


@pytest.mark.parametrize("epsilon", ["1e19", "1e60", "1e100"])
def test_responses_whose_odds_leave_arbs_exponents(epsilon: str) -> None:
    loss = pld.randomized_response(epsilon=epsilon).composed(3)
    assert loss.delta(1).lower > Fraction(99, 100)  # all answers are true, but for one in e^epsilon
    assert loss.delta(Fraction(epsilon) * 4).upper == 0


def test_epsilon_is_as_narrow_as_asked_for() -> None:
    epsilon = pld.gaussian(sigma=1).epsilon("1e-5", width="1e-60")
    assert epsilon.width <= Fraction(1, 10**60)
    with mp.workdps(120):
        low, high = (mp.mpf(x.numerator) / x.denominator for x in (epsilon.lower, epsilon.upper))
        assert gaussian(low, mp.mpf(1)) > mp.mpf("1e-5") >= gaussian(high, mp.mpf(1))


@pytest.mark.parametrize("digits", [9, 20])
def test_epsilon_of_hardly_any_noise(digits: int) -> None:
    epsilon = pld.gaussian(sigma=Fraction(1, 10**digits)).epsilon("1e-5")
    assert epsilon.width <= Fraction(1, 1000)
    mu = 10**digits
    # e^epsilon Phi(-mu/2 - epsilon/mu) is below 1/mu: what is left is the quantile of 1e-5
    assert float((epsilon.lower - Fraction(mu * mu, 2)) / mu) == pytest.approx(
        4.2648907939, rel=1e-8
    )


@pytest.mark.parametrize("delta", [0, "1e-300"])
def test_epsilon_is_0_where_nothing_leaks_but_a_failure(delta: int | str) -> None:
    assert pld.approximate(epsilon=0, delta=delta).composed(10**18).epsilon("0.1") == 0


def _questions(loss: Pld, width: str) -> list[tuple[str, Callable[[], object]]]:
    return [
        ("width", lambda: loss.epsilon("1e-5", width=width)),
        ("relative_width", lambda: loss.delta(1, relative_width=width)),
        ("relative_width", lambda: loss.mu(relative_width=width)),
        ("relative_width", lambda: loss.power("0.05", relative_width=width)),
        ("width", lambda: loss.type_two_error("0.05", width=width)),
    ]


@pytest.mark.parametrize("width", ["1e-400", "1e400"])
def test_widths_beyond_floats_are_refused(width: str) -> None:
    for name, ask in _questions(pld.gaussian(sigma=1).sampled("0.1").composed(3), width):
        with pytest.raises(InvalidParameter, match=rf"^{name} must be > 0, between"):
            ask()


def test_levels_below_doubles() -> None:
    error = pld.gaussian(sigma=1).type_two_error("1e-400")
    assert error.lower > Fraction(998, 1000)


@pytest.mark.slow
def test_a_mixture_with_a_weight_below_doubles() -> None:
    # next to sure to be 2: what the other shift may add is below the width
    rare = Fraction(1, 10**9000)
    mixed = pld.gaussian_mixture(sigma=1, sensitivities=[1, 2], weights=[rare, 1 - rare])
    with mp.workdps(30):
        exact = gaussian(mp.mpf(1), mp.sqrt(8))
    delta = mixed.composed(2).delta(1)
    assert delta.lower <= Fraction(float(exact)) <= delta.upper
    assert mixed.renyi(2) < "4.0000001"


def test_shares_of_a_cell_are_at_most_its_mass() -> None:
    # beside the largest loss almost nothing is known of them
    law = SampledNormal(Gaussian(Fraction(22907)), Fraction(1, 100), removed=False)
    for measure in bounds(law, Fraction(7, 1 << 19), 96):
        assert np.isfinite(measure.masses.mantissa).all()


def test_noise_that_is_not_needed_or_not_found() -> None:
    with pytest.raises(InvalidParameter, match=r"^delta must be less than the chance"):
        pld.calibrate_sgd(rate="0.01", steps=10, epsilon=1, delta="0.0957")  # 1 - 0.99^10 = 0.09562
    with pytest.raises(Undecided, match="still kept after"):
        pld.most_steps(noise_multiplier="1e50", rate=1, epsilon=1, delta="1e-5")


def test_a_group_has_no_end_only_where_it_is_one_shift() -> None:
    noise = pld.gaussian(sigma="1e6")
    assert noise.grouped(10**6).delta(1) == pld.gaussian(sigma=1).delta(1)
    with pytest.raises(InvalidParameter, match=r"^size must be at most 1000 users on samples"):
        noise.sampled("0.1").grouped(10**6)


@pytest.mark.parametrize("rate", ["1", "0.2"])
@pytest.mark.parametrize(("p", "q"), [((1, 1, 1), (1, 1, 1)), ((5,), (5,)), ((2, 0), (0, 3))])
def test_laws_that_are_one_or_have_nothing_in_common(
    p: tuple[int, ...], q: tuple[int, ...], rate: str
) -> None:
    one, other = (
        Law({i: Fraction(x, sum(weights)) for i, x in enumerate(weights) if x})
        for weights in (p, q)
    )
    loss = pld.laws(one, other, neighbours=pld.ADD_REMOVE).sampled(rate)
    exact = Fraction(0) if p == q else Fraction(rate)  # whoever is in the sample is seen
    for times in (1, 3):
        delta = loss.composed(times).delta("1.4")
        assert delta.lower <= 1 - (1 - exact) ** times <= delta.upper
        assert delta.width < Fraction(1, 10**3)


@pytest.mark.parametrize("steps", [10**4, 10**9])
def test_with_little_noise_delta_is_next_to_1(steps: int) -> None:
    """At sigma = 0.01 noise reaches 1/2 never: delta is at least the chance to be in a sample."""
    delta = pld.gaussian(sigma="0.01").sampled("0.1").composed(steps).delta(1)
    assert 1 - Fraction(1, 1000) <= delta.lower <= delta.upper == 1


def test_beyond_the_largest_sum_of_losses_delta_is_0() -> None:
    """Without the user against with her, a loss is at most -log(1 - rate)."""
    _, added = pld.gaussian(sigma="0.1").sampled("0.5").composed(10).orders()
    largest = Fraction(10 * math.log(2))
    assert Delta(largest + Fraction(1, 10**9), Fraction(1, 100)).answer(added) == 0
    assert Delta(largest - Fraction(1, 10), Fraction(1, 100)).answer(added).upper > 0


@pytest.mark.slow
def test_a_narrow_mu_of_a_curve_that_is_gaussian() -> None:
    mu = pld.gaussian(sigma=4).composed(4).mu(relative_width="1e-5")
    assert mu.lower <= Fraction(1, 2) <= mu.upper
    assert mu.width <= Fraction(1, 10**5)


@pytest.mark.parametrize(("delta", "times"), [("1e-300", 10**18), ("1e-6", 10**6), ("0.5", 10**9)])
def test_failures_of_very_many_steps(delta: str, times: int) -> None:
    mass = pld.approximate(epsilon="0.1", delta=delta).composed(times).infinite_mass()
    with mp.workdps(700):
        exact = -mp.expm1(times * mp.log1p(-mp.mpf(delta)))
        low, high = (mp.mpf(x.numerator) / x.denominator for x in (mass.lower, mass.upper))
        assert low <= exact <= high <= low * (1 + mp.mpf("1e-11"))


EXTREME: list[Callable[[], object]] = [
    lambda: pld.noisy_max(epsilon="6.65e-320", noise="exponential").renyi_delta(1),
    lambda: pld.randomized_response(epsilon="1e-320").composed(3).epsilon("1e-3"),
    lambda: pld.randomized_response(epsilon="1e-320").composed(3).delta(0),
    lambda: pld.randomized_response(epsilon="1e-320").type_two_error("0.1"),
    lambda: pld.discrete_gaussian(sigma2=4).batched("0.5").composed(3).renyi_delta("4e308"),
    lambda: pld.laplace(scale=1).composed(3).against("1e400", "0.1"),
    lambda: pld.calibrate_sgd(rate="0.1", steps=10, epsilon="1e309", delta="1e-5"),
    lambda: pld.most_steps(noise_multiplier=9, rate="0.9", epsilon="1e309", delta="1e-9"),
]


@pytest.mark.parametrize("i", range(len(EXTREME)))
def test_what_cannot_be_followed_is_refused_by_an_error_of_this_library(i: int) -> None:
    with suppress(InvalidParameter, Undecided):
        EXTREME[i]()


@pytest.mark.slow
def test_neighbours_of_whom_nothing_can_be_told_leave_the_others() -> None:
    """At delta = 1e-20 some events of AboveThreshold are too rare for quadrature."""
    loss = pld.above_threshold(sigma=8, threshold_sigma=4, queries=10)
    more, less = loss.epsilon("1e-20"), loss.epsilon("1e-3")
    assert less.lower < more.lower < more.upper
    # publishing the noisy threshold and all noisy queries tells more
    everything = pld.gaussian(sigma=4).then(pld.gaussian(sigma=8).composed(10))
    assert more.lower < everything.epsilon("1e-20").lower
