"""One step of noise on the integers and of histograms, against sums and exact curves."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from mpmath import mpf

from exactdp.accounting import csh, discrete_gaussian, gaussian, gshm, pld
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from tests.reference import sampled_gaussian, to_mp

RATE = Fraction(1, 5)


def _gaussian(z: int) -> mpf:
    return mpmath.exp(-mpf(z * z) / (2 * mpf("7.3")))


def _laplace(z: int) -> mpf:
    return mpmath.exp(-abs(z) * mpf("0.45") / 3)


NOISES = {
    "gaussian": (pld.discrete_gaussian(sigma2="7.3", sensitivity=3), _gaussian, 150),
    "laplace": (pld.discrete_laplace(epsilon="0.45", sensitivity=3), _laplace, 900),
}

#: Weights of the noise around -3, 0 and 3, of either law.
SCHEMES = {
    "plain": [((0, 0, 1), (0, 1, 0))],
    "sampled": [((0, 1 - RATE, RATE), (0, 1, 0)), ((0, 1, 0), (0, 1 - RATE, RATE))],
    "replaced": [((0, 1 - RATE, RATE), (RATE, 1 - RATE, 0))],
    "batched": [((1 - RATE, 0, RATE), (1, 0, 0))],
}


def _sampled(loss: pld.Pld, scheme: str) -> pld.Pld:
    return {
        "plain": lambda: loss,
        "sampled": lambda: loss.sampled(RATE),
        "replaced": lambda: loss.sampled(RATE).replaced(),
        "batched": lambda: loss.batched(RATE),
    }[scheme]()


@pytest.mark.few(15)
@pytest.mark.parametrize("epsilon", ["0", "0.07", "0.4", "0.9", "2.5"])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("noise", NOISES)
def test_the_sum_over_all_outcomes(noise: str, scheme: str, epsilon: str) -> None:
    loss, mass, reach = NOISES[noise]
    with mpmath.workdps(40):
        ratio = mpmath.exp(mpf(epsilon))
        places = range(-reach, reach + 1)
        masses = {z: mass(z) for z in range(-reach - 6, reach + 7)}
        total = mpmath.fsum(masses.values())

        def law(weights: tuple[Fraction | int, ...], z: int) -> mpf:
            parts = zip(weights, (-3, 0, 3), strict=True)
            return mpmath.fsum(mpf(float(w)) * masses[z - at] for w, at in parts) / total

        expected = max(
            mpmath.fsum(max(law(p, z) - ratio * law(q, z), 0) for z in places)
            for p, q in SCHEMES[scheme]
        )
        delta = _sampled(loss, scheme).delta(epsilon)
        ends = [mpf(end.numerator) / end.denominator for end in (delta.lower, delta.upper)]
    assert ends[0] - mpf("1e-16") <= expected <= ends[1] + mpf("1e-16")
    assert delta.width <= delta.upper / 10**11


def test_noise_far_too_wide_to_be_listed() -> None:
    delta = pld.discrete_gaussian(sigma2=10**10, sensitivity=1000).delta("0.01")
    exact = discrete_gaussian.delta(sigma2=10**10, sensitivity=1000, epsilon="0.01")
    assert _meet(delta, exact)
    # the sum of a hundred is the noise of one query that moves ten times as far
    many = pld.discrete_gaussian(sigma2=10**10, sensitivity=1000).composed(100).delta("0.1")
    assert _meet(many, discrete_gaussian.delta(sigma2=10**10, sensitivity=10_000, epsilon="0.1"))
    continuous = gaussian.delta(sigma=10**5, sensitivity=1000, epsilon="0.01")
    assert delta.float_upper() == pytest.approx(continuous.float_upper(), rel=1e-6)


def _meet(one: Enclosure, other: Enclosure) -> bool:
    near = Fraction(1, 10**9)
    return one.lower <= other.upper * (1 + near) and other.lower <= one.upper * (1 + near)


FLAT = {"k": 30, "sigma": "51.98", "tau": "103.57"}
USUAL = {"k": 9, "sigma": "30", "tau": "110"}


@pytest.mark.few(2)
@pytest.mark.parametrize("parameters", [FLAT, USUAL], ids=["threshold alone", "noise too"])
@pytest.mark.parametrize("name", ["gshm", "csh"])
def test_one_histogram_has_its_exact_curve(name: str, parameters: dict[str, int | str]) -> None:
    loss = {"gshm": pld.gshm, "csh": pld.csh}[name](**parameters)  # type: ignore[arg-type]
    delta = {"gshm": gshm.delta, "csh": csh.delta}[name]
    for epsilon in ("0.0016", "0.2963"):
        exact = delta(**parameters, epsilon=epsilon)  # type: ignore[arg-type]
        bounds = loss.delta(epsilon)
        assert bounds.lower <= exact.upper
        assert exact.lower <= bounds.upper
        assert bounds.width <= bounds.upper / 10**8


@pytest.mark.parametrize("loss", [pld.gshm(**FLAT), pld.approximate(epsilon=4, delta="1e-3")])  # type: ignore[arg-type]
def test_a_delta_that_one_step_never_reaches(loss: pld.Pld) -> None:
    with pytest.raises(InvalidParameter, match="delta must be above"):
        loss.epsilon("1e-9")
    with pytest.raises(InvalidParameter, match="delta must be above"):
        loss.sampled("0.3").epsilon("1e-9")


def test_thresholds_alone_add_up() -> None:
    one = pld.gshm(k=30, sigma="51.98", tau="103.57")
    single, four = one.delta(5), one.composed(4).delta(5)
    assert four.lower <= 1 - (1 - single.upper) ** 4
    assert 1 - (1 - single.lower) ** 4 <= four.upper
    assert four.width <= four.upper / 10**3


@pytest.mark.parametrize("sigma", ["0.02", "0.001", "1e-5"])
def test_epsilon_where_no_float_tells_about_where_it_is(sigma: str) -> None:
    target, bounds = mpmath.mpf("1e-5"), pld.gaussian(sigma=sigma).sampled("0.01").epsilon("1e-5")
    with mpmath.workdps(60):
        rate, mu = mpmath.mpf("0.01"), 1 / mpmath.mpf(sigma)
        low, high = (sampled_gaussian(to_mp(e), rate, mu) for e in (bounds.lower, bounds.upper))
        assert low > target >= high
    assert bounds.width <= Fraction(1, 100)
