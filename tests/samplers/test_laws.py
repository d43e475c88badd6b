"""What a law says of itself: moments, quantiles, arrays; parameters of numpy, copies by pickle."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpf

from exactdp import Enclosure, InvalidParameter
from exactdp.errors import Undecided
from exactdp.samplers import (
    Bernoulli,
    BernoulliExp,
    BinaryRandomizedResponse,
    DiscreteGaussian,
    DiscreteLaplace,
    FastSample,
    Geometric,
    GeometricSample,
    GeoSample,
    SeededSource,
    TwoSidedGeometric,
    UniformInteger,
)
from exactdp.samplers.cdf import RealCdf
from exactdp.samplers.integer_law import IntegerLaw
from exactdp.samplers.inverse_cdf import quantile

F = Fraction

LAWS: list[IntegerLaw] = [
    *(DiscreteGaussian(sigma2=s) for s in ("1/1000", "0.1", "1/6", "0.17", "1", "7/3", "400")),
    *(DiscreteLaplace(scale=t) for t in ("1/40", "1/3", "1", "25")),
    *(Geometric(p=p) for p in ("1/12", "1/2", "0.999")),
    *(TwoSidedGeometric(q=q) for q in ("1/50", "1/2", "19/20")),
    *(Bernoulli(p=p) for p in ("0", "2/7", "1")),
    *(BernoulliExp(gamma=g) for g in ("0", "1/3", "40")),
    UniformInteger(-3, 8),
]


def weight(law: Any, z: int) -> mpf:
    """Of an unnormalised law, by its textbook formula."""
    if isinstance(law, DiscreteGaussian):
        return mp.exp(-mpf(z * z) / (2 * ratio(law.sigma2)))
    if isinstance(law, DiscreteLaplace):
        return mp.exp(-abs(z) / ratio(law.scale))
    if isinstance(law, TwoSidedGeometric):
        return ratio(law.q) ** abs(z)
    if isinstance(law, Geometric):
        return (1 - ratio(law.p)) ** z if z >= 0 else mpf(0)
    if isinstance(law, UniformInteger):
        return mpf(law.low <= z <= law.high)
    one = ratio(law.p) if isinstance(law, Bernoulli) else mp.exp(-ratio(law.gamma))
    return {0: 1 - one, 1: one}.get(z, mpf(0))


@cache
def total(law: IntegerLaw) -> mpf:
    with mp.workdps(240):
        return mp.fsum(weight(law, z) for z in range(-1200, 1201))


def ratio(value: Any) -> mpf:
    number = F(value)
    return mpf(number.numerator) / number.denominator


def ends(value: Fraction | Enclosure) -> tuple[mpf, mpf]:
    low, high = (value.lower, value.upper) if isinstance(value, Enclosure) else (value, value)
    return ratio(low), ratio(high)


@pytest.mark.few(1)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_moments_and_quantiles_by_summing_up(law: IntegerLaw) -> None:
    with mp.workdps(240):
        zs = range(-1200, 1201)
        weights = [weight(law, z) / total(law) for z in zs]
        mean = mp.fsum(z * w for z, w in zip(zs, weights, strict=True))
        square = mp.fsum(z * z * w for z, w in zip(zs, weights, strict=True))
        slack, cut = mpf(10) ** -16, mpf(10) ** -225
        for stated, exact in ((law.mean, mean), (law.variance, square - mean**2)):
            low, high = ends(stated)
            assert low * (1 - slack) - cut <= exact <= high * (1 + slack) + cut
            assert high - low <= abs(high) / 10**11
        levels = [F(1, 10**9), F(1, 3), F(1, 2), F(7, 10), F(999_999, 10**6)]
        below, place, places = mpf(0), 0, []
        for z, w in zip(zs, weights, strict=True):
            below += w
            while place < len(levels) and below >= ratio(levels[place]) - mpf(10) ** -20:
                places.append(z)
                place += 1
        assert [law.quantile(level) for level in levels] == places


@pytest.mark.few(1)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_stated_probabilities_by_summing_up(law: IntegerLaw) -> None:
    with mp.workdps(240):
        beyond = 400 * (weight(law, -1200) + weight(law, 1200)) + mpf(2) ** -500
        below = mp.fsum(weight(law, z) for z in range(-1200, -60)) / total(law)
        for z in range(-60, 12):
            chance = weight(law, z) / total(law)
            below += chance
            for stated, exact in ((law.pmf(z), chance), (law.cdf(z), below)):
                low, high = ends(stated)
                assert low - beyond <= exact <= high + beyond
                assert high - low <= mpf(2) ** -120


def test_variance_at_the_ends_of_the_scale() -> None:
    for exponent in (6, 20, 5000):
        variance = DiscreteGaussian(sigma2=F(10**exponent)).variance
        # sigma^2 less about 4 pi^2 sigma^4 exp(-2 pi^2 sigma^2), which is nothing here
        assert variance.lower <= 10**exponent <= variance.upper
    with mp.workdps(60):
        tiny = DiscreteGaussian(sigma2="1e-2").variance  # 2 exp(-50), then 8 exp(-200)
        ideal = 2 * mp.exp(-50) / (1 + 2 * mp.exp(-50))
        low, high = ends(tiny)
        assert low <= ideal * (1 + mpf(10) ** -40)
        assert ideal <= high


def test_quantiles_on_a_step_are_exact() -> None:
    assert Geometric(p="1/2").quantile(F(7, 8)) == 2
    assert Geometric(p="1/2").quantile(F(7, 8) + F(1, 10**90)) == 3
    assert TwoSidedGeometric(q="1/2").quantile(F(1, 3)) == -1
    assert UniformInteger(1, 3).quantile("1/3") == 1
    assert Bernoulli(p="1/4").quantile("0.75") == 0
    assert DiscreteGaussian(sigma2="1e40").quantile("0.5") == 0
    for level in (0, 1, "-0.1", "nan"):
        with pytest.raises(InvalidParameter, match="level"):
            Geometric(p="1/2").quantile(level)
    half = RealCdf(0, 1, lambda _: arb(1).exp().log() / 2)  # 1/2, though no ball can tell
    with pytest.raises(Undecided):
        quantile(half, F(1, 2))


def test_arrays_of_probabilities_enclose_each_of_them() -> None:
    for law in LAWS:
        zs = np.arange(-4, 6)
        for many, one in ((law.pmf_many, law.pmf), (law.cdf_many, law.cdf)):
            lower, upper = many(zs)
            assert lower.dtype == upper.dtype == np.float64
            for z, low, high in zip(zs.tolist(), lower, upper, strict=True):
                stated = one(z)
                if isinstance(stated, F):
                    stated = Enclosure.exact(stated)
                assert F(float(low)) <= stated.lower <= stated.upper <= F(float(high))
                assert high - low <= max(1e-11 * high, 2.0**-120)


@pytest.mark.parametrize(
    "law",
    [
        *LAWS,
        DiscreteGaussian(sigma2=10**20),
        GeometricSample(n=5, epsilon=1),
        GeoSample(n=5, epsilon=1),
        FastSample(n=5, epsilon=1),
        BinaryRandomizedResponse(p="1/3"),
    ],
    ids=str,
)
def test_copies_draw_the_same_before_and_after_a_first_draw(law: Any) -> None:
    fresh = copy.deepcopy(law)
    parameters = () if isinstance(law, IntegerLaw) else (1,)
    first = [law.sample(*parameters, SeededSource(3)) for _ in range(5)]
    if isinstance(law, IntegerLaw):
        law.sample_many(2, SeededSource(1))
    assert pickle.dumps(law)  # what goes to another process; deepcopy takes the same way
    for other in (fresh, copy.copy(law), copy.deepcopy(law)):
        assert other == law
        assert [other.sample(*parameters, SeededSource(3)) for _ in range(5)] == first


def test_numbers_of_numpy_are_parameters() -> None:
    assert DiscreteGaussian(sigma2=np.float32(0.1)).sigma2 == F(1, 10)
    assert DiscreteGaussian(sigma2=np.float64(0.1)).sigma2 == F(1, 10)
    assert DiscreteLaplace(scale=np.float16(2.5)).scale == F(5, 2)
    assert DiscreteLaplace(scale=np.int64(7)).scale == 7
    assert Geometric(p=np.float32(1e-7)).p == F(1, 10**7)
    assert UniformInteger(np.int8(-3), np.uint64(8)) == UniformInteger(-3, 8)
    assert len(Geometric(p="1/2").sample_many(np.int32(4), SeededSource(1))) == 4
    assert DiscreteGaussian(sigma2=1).pmf(np.int16(3)) == DiscreteGaussian(sigma2=1).pmf(3)
    for bad in (np.float32("nan"), np.float32("inf"), np.complex64(1), np.bool_(True)):
        with pytest.raises(InvalidParameter, match="sigma2"):
            DiscreteGaussian(sigma2=bad)
