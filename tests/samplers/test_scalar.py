"""Each scalar sampler, enumerated down to single bits, has exactly its stated law."""

from __future__ import annotations

from fractions import Fraction

import pytest
from mpmath import mp, mpf

from exactdp import Enclosure, InvalidParameter
from exactdp.law import Law
from exactdp.samplers import (
    Bernoulli,
    BernoulliExp,
    BinaryRandomizedResponse,
    DiscreteGaussian,
    DiscreteLaplace,
    FastSample,
    Geometric,
    GeoSample,
    SeededSource,
    TwoSidedGeometric,
    UniformInteger,
    exact_law,
    random_rounding,
)
from exactdp.samplers.count_samplers import CountSampler
from exactdp.samplers.integer_law import IntegerLaw
from tests.samplers.bitwise import bitwise_law
from tests.samplers.test_laws import ends, ratio, total, weight

F = Fraction


CASES: list[IntegerLaw] = [
    *(DiscreteGaussian(sigma2=s) for s in ("1/10", "1", "7/3")),
    *(DiscreteLaplace(scale=t) for t in ("1/3", "1", "5/2")),
    *(Geometric(p=p) for p in ("1/3", "9/10")),
    TwoSidedGeometric(q="1/2"),
    *(BernoulliExp(gamma=g) for g in ("1/7", "5")),
    Bernoulli(p="2/7"),
    UniformInteger(-3, 8),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("noise", CASES, ids=str)
@pytest.mark.parametrize("tail", [20, pytest.param(36, marks=pytest.mark.slow)])
def test_law_by_single_bits(noise: IntegerLaw, tail: int) -> None:
    long = isinstance(noise, (DiscreteLaplace, Geometric, TwoSidedGeometric))  # tails
    residual = F(1, 2**tail) if long else F(1, 2**64)
    law = bitwise_law(noise.sample, residual)
    assert law.residual <= residual
    with mp.workdps(240):
        for z in law:
            low, high = ends(Enclosure(law[z], law[z] + law.residual))
            slack = mpf(2) ** -500
            assert low - slack <= weight(noise, z) / total(noise) <= high + slack


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "sigma2", [F(1, 100), F(1), F(50), F(10**4), F(10**12), F(10**18) + F(1, 3)]
)
def test_gaussian_cdf_at_every_scale(sigma2: Fraction) -> None:
    """Against mpmath's Poisson-summed total and direct or Euler-Maclaurin sums (mpmath.sumem)."""
    noise = DiscreteGaussian(sigma2=sigma2)
    with mp.workdps(60):
        s2 = ratio(sigma2)
        sigma = mp.sqrt(s2)
        for place in (0, 0.3, 1, 2.5, 6):
            z = int(place * sigma)

            def f(k: mpf) -> mpf:
                return mp.exp(-k * k / (2 * s2))

            if sigma2 < 10**5:
                reach = int(20 * sigma) + 20
                above = mp.fsum(f(mpf(k)) for k in range(z + 1, z + reach))
                whole = mp.fsum(f(mpf(k)) for k in range(-reach, reach + 1))
            else:  # the sum and the integral from z + 1/2 differ by f'(z + 1/2)/24 to high order
                whole = sigma * mp.sqrt(2 * mp.pi)
                x = mpf(z) + mpf(1) / 2
                above = sigma * mp.sqrt(mp.pi / 2) * mp.erfc(x / sigma / mp.sqrt(2))
                above += -x / s2 * f(x) / 24
            expected = 1 - above / whole
            error = mpf(10) ** -38 if sigma2 < 10**5 else 1 / s2**2
            level = noise.cdf(z)
            assert ratio(level.lower) - error <= expected <= ratio(level.upper) + error
            other = noise.cdf(-z - 1)
            assert abs(1 - level.lower - other.upper) <= F(1, 2**120)


@pytest.mark.parametrize("value", ["0", "7", "-7/3", "2.25", "-0.5"])
def test_random_rounding(value: str) -> None:
    law = exact_law(lambda source: random_rounding(value, source))
    assert law.expectation() == F(value)
    assert all(abs(z - F(value)) < 1 for z in law)


def test_randomized_response() -> None:
    response = BinaryRandomizedResponse(p="1/5")
    for bit in (0, 1):
        assert exact_law(lambda source, b=bit: response.sample(b, source)) == response.law(bit)
        assert response.law(bit)[1 - bit] == F(1, 5)
    for epsilon in ("0", "0.1", "1", "20"):
        p = F(BinaryRandomizedResponse.of_epsilon(epsilon).p)
        with mp.workdps(60):
            ideal = 1 / (mp.exp(mpf(epsilon)) + 1)
            assert ideal <= ratio(p) <= ideal + mpf(2) ** -63
    with pytest.raises(InvalidParameter, match="bit"):
        response.sample(2, SeededSource(1))


@pytest.mark.parametrize(
    ("sampler", "residual"),
    [
        (GeoSample(n=3, epsilon="1/2"), F(1, 2**20)),
        (FastSample(n=3, epsilon=4, gamma_inverse=2, bits=7), F(0)),  # seven bits decide
    ],
)
def test_counting_samplers_by_single_bits(sampler: CountSampler, residual: Fraction) -> None:
    for c in range(4):
        law = bitwise_law(lambda source, c=c: sampler.sample(c, source), residual)
        exact = exact_law(lambda source, c=c: sampler.sample(c, source))
        assert exact == sampler.law(c)
        for z in exact:
            assert law[z] <= exact[z] <= law[z] + law.residual


def test_bad_parameters() -> None:
    for make in (
        lambda: DiscreteGaussian(sigma2=0),
        lambda: DiscreteGaussian(sigma2="nan"),
        lambda: DiscreteLaplace(scale=-1),
        lambda: Geometric(p=0),
        lambda: Geometric(p=1),
        lambda: TwoSidedGeometric(q="1"),
        lambda: Bernoulli(p="1.1"),
        lambda: BernoulliExp(gamma=-1),
        lambda: UniformInteger(3, 2),
        lambda: BinaryRandomizedResponse(p="0.6"),
        lambda: GeoSample(n=0, epsilon=1),
        lambda: GeoSample(n=3, epsilon=0),
        lambda: GeoSample(n=3, epsilon=1).law(4),
        lambda: FastSample(n=3, epsilon=1, gamma_inverse=1),
    ):
        with pytest.raises(InvalidParameter):
            make()


def test_pmf_of_impossible_values() -> None:
    assert Geometric(p="1/2").pmf(-1) == 0
    assert Bernoulli(p="1/2").pmf(2) == 0
    assert BernoulliExp(gamma=1).pmf(2) == Enclosure.exact(0)
    assert BernoulliExp(gamma=0).pmf(1) == Enclosure.exact(1)
    assert Geometric(p="1/2").cdf(-1) == Enclosure.exact(0)
    assert UniformInteger(0, 3).cdf(3) == Enclosure.exact(1)
    assert Law.point(1) == exact_law(Bernoulli(p=1).sample)
