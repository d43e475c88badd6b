"""Each scalar sampler, enumerated down to single bits, has exactly its stated law."""

from __future__ import annotations

from collections.abc import Callable
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

F = Fraction
SIXTY_FOUR = F(1, 2**64)


def gaussian_pmf(sigma2: Fraction) -> Callable[[int], mpf]:
    def pmf(z: int) -> mpf:
        s = mpf(sigma2.numerator) / sigma2.denominator
        reach = int(40 * mp.sqrt(s)) + 40
        total = mp.fsum(mp.exp(-mpf(k * k) / (2 * s)) for k in range(-reach, reach + 1))
        return mp.exp(-mpf(z * z) / (2 * s)) / total

    return pmf


def laplace_pmf(scale: Fraction) -> Callable[[int], mpf]:
    def pmf(z: int) -> mpf:
        q = mp.exp(-mpf(scale.denominator) / scale.numerator)
        return (1 - q) / (1 + q) * q ** abs(z)

    return pmf


def rational(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


#: Samplers beside their probabilities by independent high-precision sums.
CASES: list[tuple[IntegerLaw, Callable[[int], mpf]]] = [
    *((DiscreteGaussian(sigma2=s), gaussian_pmf(F(s))) for s in ("1/10", "1", "7/3", "100")),
    *((DiscreteLaplace(scale=t), laplace_pmf(F(t))) for t in ("1/3", "1", "5/2")),
    (Geometric(p="1/3"), lambda z: rational(F(1, 3) * F(2, 3) ** z if z >= 0 else F(0))),
    (Geometric(p="9/10"), lambda z: rational(F(9, 10) * F(1, 10) ** z if z >= 0 else F(0))),
    (TwoSidedGeometric(q="1/2"), lambda z: rational(F(1, 3) * F(1, 2) ** abs(z))),
    (BernoulliExp(gamma="1/7"), lambda z: mp.exp(-mpf(1) / 7) if z else 1 - mp.exp(-mpf(1) / 7)),
    (BernoulliExp(gamma="5"), lambda z: mp.exp(-mpf(5)) if z else 1 - mp.exp(-mpf(5))),
    (Bernoulli(p="2/7"), lambda z: rational(F(2, 7) if z else F(5, 7))),
    (UniformInteger(-3, 8), lambda z: rational(F(1, 12))),
]

#: The widest takes longest, and its law is found by the same code as the others'.
PARAMETERS = [
    pytest.param(*case, id=str(case[0]), marks=pytest.mark.slow if i == 3 else ())
    for i, case in enumerate(CASES)
]


def inside(value: mpf, lower: Fraction, upper: Fraction) -> bool:
    slack = mpf(2) ** -500
    return bool(rational(lower) - slack <= value <= rational(upper) + slack)


@pytest.mark.parametrize(("noise", "pmf"), PARAMETERS)
@pytest.mark.parametrize("tail", [20, pytest.param(36, marks=pytest.mark.slow)])
def test_law_by_single_bits(noise: IntegerLaw, pmf: Callable[[int], mpf], tail: int) -> None:
    heavy = isinstance(noise, DiscreteGaussian) and noise.sigma2 == 100
    long = isinstance(noise, (DiscreteLaplace, Geometric, TwoSidedGeometric))  # tails
    residual = F(1, 2**9) if heavy else (F(1, 2**tail) if long else SIXTY_FOUR)
    law = bitwise_law(noise.sample, residual)
    assert law.residual <= residual
    with mp.workprec(600):
        for z in law:
            assert inside(pmf(z), law[z], law[z] + law.residual)


@pytest.mark.parametrize(("noise", "pmf"), PARAMETERS)
def test_stated_pmf_and_cdf(noise: IntegerLaw, pmf: Callable[[int], mpf]) -> None:
    with mp.workprec(600):
        two_sided = isinstance(noise, (DiscreteLaplace, TwoSidedGeometric))
        total = mp.fsum(pmf(z) for z in range(-400, -60)) if two_sided else mpf(0)
        for z in range(-60, 12):
            inside_support = not isinstance(noise, (Geometric, Bernoulli, BernoulliExp)) or z >= 0
            if isinstance(noise, (Bernoulli, BernoulliExp)) and z > 1:
                inside_support = False
            if isinstance(noise, UniformInteger) and not -3 <= z <= 8:
                inside_support = False
            value = pmf(z) if inside_support else mpf(0)
            total += value
            stated = noise.pmf(z)
            ends = (
                (stated, stated) if isinstance(stated, Fraction) else (stated.lower, stated.upper)
            )
            assert inside(value, *ends)
            if not isinstance(noise, DiscreteGaussian) or noise.sigma2 <= 3:
                level = noise.cdf(z)
                below = mpf(2) ** -120  # of the tail further left
                assert rational(level.lower) <= total + below
                assert total <= rational(level.upper) + below
                assert level.width <= F(1, 2**126)


@pytest.mark.parametrize(
    "sigma2", [F(1, 100), F(1), F(50), F(10**4), F(10**12), F(10**18) + F(1, 3)]
)
def test_gaussian_cdf_at_every_scale(sigma2: Fraction) -> None:
    """Against mpmath's Poisson-summed total and direct or Euler-Maclaurin sums (mpmath.sumem)."""
    noise = DiscreteGaussian(sigma2=sigma2)
    with mp.workdps(60):
        s2 = rational(sigma2)
        sigma = mp.sqrt(s2)
        for place in (0, 0.3, 1, 2.5, 6):
            z = int(place * sigma)

            def f(k: mpf) -> mpf:
                return mp.exp(-k * k / (2 * s2))

            if sigma2 < 10**5:
                reach = int(20 * sigma) + 20
                above = mp.fsum(f(mpf(k)) for k in range(z + 1, z + reach))
                total = mp.fsum(f(mpf(k)) for k in range(-reach, reach + 1))
            else:  # the sum and the integral from z + 1/2 differ by f'(z + 1/2)/24 to high order
                total = sigma * mp.sqrt(2 * mp.pi)
                x = mpf(z) + mpf(1) / 2
                above = sigma * mp.sqrt(mp.pi / 2) * mp.erfc(x / sigma / mp.sqrt(2))
                above += -x / s2 * f(x) / 24
            expected = 1 - above / total
            error = mpf(10) ** -38 if sigma2 < 10**5 else 1 / s2**2
            level = noise.cdf(z)
            assert rational(level.lower) - error <= expected <= rational(level.upper) + error
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
            assert ideal <= rational(p) <= ideal + mpf(2) ** -63
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
