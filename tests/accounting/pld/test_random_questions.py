"""Random questions of every noise and scheme against fine cells of the noise, composed in doubles.

The oracle knows nothing of losses in closed form: it takes the masses of both laws in fine cells of
the noise, shares each loss between two nodes so that both masses stay, and multiplies spectra. It
is good to a part in a thousand.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr

from exactdp.accounting import pld

Floats = NDArray[np.float64]
_Cells = Callable[[int], Floats]

QUESTIONS = 60
_NEAR = 2e-3


def _continuous(cdf: Callable[[Floats], Floats], reach: float) -> _Cells:
    ends = np.unique(
        np.concatenate([np.linspace(-2 - reach, 3 + reach, 300_001), np.arange(-2, 4)])
    )

    def cells(shift: int) -> Floats:
        z = ends - shift
        # from the nearer tail, so that small masses are accurate
        below, above = np.diff(cdf(z)), -np.diff(cdf(-z))
        masses: Floats = np.where(z[1:] <= 0, below, above)
        return masses

    return cells


def _laplace(z: Floats) -> Floats:
    tail = np.exp(-abs(z)) / 2
    return np.where(z < 0, tail, 1 - tail)


def _whole(mass: Callable[[Floats], Floats], reach: int) -> _Cells:
    z = np.arange(-reach, reach + 1, dtype=np.float64)
    total = mass(z).sum()
    return lambda shift: mass(z - shift) / total


def _noise(draw: random.Random) -> tuple[pld.Pld, _Cells, int, bool]:
    """The mechanism, masses of its noise moved so far, its sensitivity, whether groups are."""
    kind, shift = draw.randrange(4), draw.choice([1, 2, 3])
    scale = float(f"{math.exp(draw.uniform(-0.7, 2)):.3g}")
    if kind == 0:
        gaussian = pld.gaussian(sigma=str(scale))
        return gaussian, _continuous(lambda z: ndtr(z / scale), 9.5 * scale), 1, True
    if kind == 1:
        cells = _continuous(lambda z: _laplace(z / scale), 45 * scale)
        return pld.laplace(scale=str(scale)), cells, 1, False
    if kind == 2:
        cells = _whole(lambda z: np.exp(-(z**2) / (2 * scale)), int(12 * scale**0.5) + 30)
        return pld.discrete_gaussian(sigma2=str(scale), sensitivity=shift), cells, shift, False
    rate = scale / 8 / shift
    cells = _whole(lambda z: np.exp(-np.abs(z) * rate), int(40 / rate) + 30)
    return pld.discrete_laplace(epsilon=str(scale / 8), sensitivity=shift), cells, shift, False


def _question(draw: random.Random) -> tuple[pld.Pld, list[tuple[Floats, Floats]], bool]:
    """A step, the real pairs of laws, and whether both ends are to agree over several steps."""
    loss, cells, shift, groups = _noise(draw)
    rate = f"{math.exp(draw.uniform(-3.4, -0.1)):.3g}"
    q = float(rate)
    less, none, one = (cells(i * shift) for i in (-1, 0, 1))
    mixed = (1 - q) * none + q * one
    scheme = draw.choice(["plain", "sampled", "replaced", "batched", *["grouped"] * groups])
    if scheme == "plain":
        return loss, [(one, none)], True
    if scheme == "sampled":
        return loss.sampled(rate), [(mixed, none), (none, mixed)], True
    if scheme == "replaced":
        return loss.sampled(rate).replaced(), [(mixed, (1 - q) * none + q * less)], True
    if scheme == "batched":
        moved = (1 - q) * less + q * one
        return loss.batched(rate), [(moved, less), (less, moved)], False
    group = (1 - q) ** 2 * none + 2 * q * (1 - q) * one + q * q * cells(2)
    return loss.sampled(rate).grouped(2), [(group, none), (none, group)], True


def _composed(p: Floats, q: Floats, times: int, epsilon: float) -> float:
    seen = (p > 0) & (q > 0)
    p, q = p[seen], q[seen]
    if times == 1:
        return float(np.maximum(p - np.exp(epsilon) * q, 0).sum())
    losses = np.log(p) - np.log(q)
    least = float(losses.min())
    step = max((float(losses.max()) - least) / 20_000, 1e-12)
    places = np.floor((losses - least) / step).astype(int)
    right = -np.expm1(places * step - losses + least) / -math.expm1(-step)
    masses = np.zeros(int(places.max()) + 2)
    np.add.at(masses, places, p * (1 - right))
    np.add.at(masses, places + 1, p * right)
    count = (len(masses) - 1) * times + 1
    size = 1 << (count - 1).bit_length()
    sums = np.fft.irfft(np.fft.rfft(masses, size) ** times, size)[:count]
    totals = times * least + step * np.arange(count)
    beyond = totals > epsilon
    return float((sums[beyond] * -np.expm1(epsilon - totals[beyond])).sum())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_none_is_outside(seed: int) -> None:
    draw, questions = random.Random(seed), 0
    while questions < QUESTIONS:
        step, pairs, exact = _question(draw)
        times, epsilon = draw.choice([1, 2, 3, 8, 20]), math.exp(draw.uniform(-4.6, 1.6))
        loss = step.composed(times)
        delta = loss.delta(repr(epsilon))
        expected = max(_composed(p, q, times, epsilon) for p, q in pairs)
        if expected < 1e-9:
            continue  # beyond what doubles tell
        questions += 1
        low, high = delta.float_lower(), delta.float_upper()
        assert low <= expected * (1 + _NEAR), loss
        assert expected * (1 - _NEAR) <= high, loss
        if exact or times == 1:
            assert high <= low * 1.0011, loss
            back = loss.epsilon(repr(high))
            assert back.float_lower() <= epsilon * (1 + 1e-9), loss
            assert back.width <= 1e-3, loss
