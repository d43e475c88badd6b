"""BV, Theorem 4.6: FastSample, noise cut off early and mixed with the uniform law."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._errors import beyond, log_error
from exactdp.proofs_check.claims.bv._laws import clamped_geometric
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers import FastSample

__all__ = ["CLAIMS"]

_F = Fraction

#: n, 1/epsilon, 1/gamma; the noise is cut below n in the cases with n >= 10.
_CASES = ((1, 1, 2), (2, 2, 4), (3, 1, 8), (10, 1, 2), (12, 1, 16), (24, 2, 2), (30, 2, 3))


def _samplers() -> Iterator[FastSample]:
    for n, inverse, g in _CASES:
        yield FastSample(n, _F(1, inverse), g)


def _by_hand(noise: FastSample, c: int, earlier: int = 0) -> Law[int]:
    """Noise clamped to [-t, t], the sum clamped to [0, n], mixed with the uniform law."""
    n, gamma = noise.n, _F(1, noise.gamma_inverse)
    t = max(noise.reach - earlier, 1)
    cut = clamped_geometric(2 * t, noise.q, t)
    weights = dict.fromkeys(range(n + 1), gamma / (n + 1))
    for k, p in enumerate(cut):
        weights[min(max(c + k - t, 0), n)] += (1 - gamma) * p
    return Law(weights)


def _shipped_law(earlier: int) -> str:
    cases = 0
    for noise in _samplers():
        for c in range(noise.n + 1):
            law = noise.law(c)
            require(law == _by_hand(noise, c, earlier), f"{noise}, c={c}: {law}")
            cases += 1
    return f"{cases} laws, t = " + ", ".join(str(noise.reach) for noise in _samplers())


def _private(earlier: int) -> str:
    """Ratios of neighbouring counts are at most 1 + 2^-b = e^(eps~/2) < e^(epsilon/2)."""
    for noise in _samplers():
        laws = [_by_hand(noise, c, earlier) for c in range(noise.n + 1)]
        for c in range(noise.n):
            worst = max(max_loss(laws[c], laws[c + 1]), max_loss(laws[c + 1], laws[c]))
            case = f"n={noise.n}, epsilon={noise.epsilon}, 1/gamma={noise.gamma_inverse}"
            with precision(128):
                half = ball(_F(noise.epsilon) / 2).exp()
                require(bool(ball(noise.e_half_epsilon) < half), f"{case}: eps~ >= epsilon")
            require(worst <= noise.e_half_epsilon, f"{case}, c={c}: ratio {worst}")
    return f"{len(_CASES)} samplers, every pair of neighbouring counts"


def _accurate(scale: Fraction) -> str:
    """a = ceil(scale (2/eps~) ln(1/(beta - gamma))) for beta > gamma, every count."""
    cases = 0
    for noise in (*_samplers(), FastSample(4000, _F(1, 33), 100)):
        gamma = _F(1, noise.gamma_inverse)
        with precision(256):
            factor = ball(scale) / ball(noise.e_half_epsilon).log()
        for over in (_F(1, 10), _F(1, 3), _F(1, 2), noise.q**40):
            beta = gamma + over * (1 - gamma)
            a = log_error(factor, 1 / (beta - gamma))
            worst = max(beyond(noise, c, a) for c in (0, 1, noise.n // 2, noise.n))
            case = f"n={noise.n}, epsilon={noise.epsilon}, gamma={gamma}, over={over}, a={a}"
            require(worst <= beta, f"{case}: fails with {float(worst):.4f}")
            cases += 1
    return f"{cases} cases, c = 0, 1, n/2, n"


def _needs_more_than_gamma(least: Fraction) -> str:
    """No a < n has failure probability below gamma times P(uniform count is off by more than a)."""
    for noise in _samplers():
        n, gamma = noise.n, _F(1, noise.gamma_inverse)
        for a in range(n):
            fails = beyond(noise, 0, a)
            share = gamma * _F(n - a, n + 1)
            require(fails >= least * share, f"n={n}, a={a}: {fails} < {least * share}")
    return "every a < n, c = 0"


def _bits(factor: Fraction) -> str:
    """log2 d <= factor (1/epsilon) log2(4/epsilon)^2 log2(2 n/gamma), up to n = 10^5."""
    with precision(128):
        two = ball(2).log()
        for n, k, g in product((1, 10, 1000, 10**5), (1, 2, 3, 10), (2, 10**6)):
            d = FastSample(n, _F(1, k), g).cdf(0).denominator
            bits = ball(d).log() / two
            most = ball(factor * k) * (ball(4 * k).log() / two) ** 2 * ball(2 * n * g).log() / two
            case = f"n={n}, k={k}, g={g}: log2 d = {bits.str(6)} > {most.str(6)}"
            require(bool(bits <= most), case)
    return "32 samplers"


CLAIMS = (
    BV.verified(
        "Theorem 4.6",
        "FastSample is (epsilon/2, 0)-DP for counting queries, even (eps~/2, 0)-DP.",
        "enumeration",
        **varied(_private, 0, 1, "with the noise cut one earlier"),
        note="the construction is not printed; the shipped derivation is checked",
    ),
    BV.verified(
        "Theorem 4.6, shipped code",
        "The shipped FastSample has the law of noise clamped to [-t, t], clamped to "
        "[0, n] and mixed with the uniform law.",
        "exact law",
        **varied(_shipped_law, 0, 1, "clamped to [-(t-1), t-1]"),
        ours=True,
    ),
    BV.verified(
        "Theorem 4.6, accuracy",
        "For beta > gamma it errs by more than ceil((2/eps~) ln(1/(beta - gamma))) with "
        "probability at most beta.",
        "exact law",
        **varied(_accurate, _F(1), _F(93, 100), "93 % of that error"),
    ),
    BV.verified(
        "Theorem 4.6, beta > gamma",
        "The condition beta > gamma has a reason: at the count 0 an error above a < n has "
        "probability at least gamma (n - a)/(n + 1), however large a is.",
        "exact law",
        **varied(_needs_more_than_gamma, _F(1), _F(101, 100), "at least 1.01 times that"),
        ours=True,
    ),
    BV.verified(
        "Theorem 4.6, log d",
        "log2 d <= 1/epsilon log2(4/epsilon)^2 log2(2 n/gamma).",
        "exact law",
        **varied(_bits, _F(1), _F(9, 10), "90 % of that"),
        note="the text says log d = quasi-O(1/epsilon) log(n/gamma); the constant and the power of "
        "the logarithm are those of the shipped construction",
    ),
    BV.not_checkable(
        "Theorem 4.6, running times",
        "Sampling in quasi-linear time in (1/epsilon) log n log(n/gamma).",
        "asymptotic running time in the word RAM model",
    ),
)
