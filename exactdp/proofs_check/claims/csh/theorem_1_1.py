"""CSH, Theorem 1.1 (informal): noise and threshold of the GSHM, halved up to o(1)."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from exactdp.accounting import csh, gaussian, gshm
from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.csh._model import point
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

_DIGITS = 10**12


def _gap(most: Fraction) -> str:
    """sigma of the CSH (any threshold) minus half that of the GSHM, at growing k."""
    seen = []
    for k in (100, 10_000, 1_000_000, 100_000_000):
        half = _least_sigma(Fraction(k)) / 2
        # (k + sqrt k)/2 is an integer here, so this is the exact sensitivity squared
        shared = _least_sigma(Fraction(k + isqrt(k), 4))
        gap = shared - half
        require(gap <= most, f"k={k}: sigma {float(shared):.6f} against {float(half):.6f} + o(1)")
        seen.append(f"k={k}: {float(gap):.4f}")
    return "gap " + ", ".join(seen)


def _least_sigma(squared: Fraction) -> Fraction:
    """The least sigma for epsilon = 0.35, delta = 1e-5 without a threshold, by the sensitivity."""
    size = Fraction(isqrt(int(squared * _DIGITS**2)), _DIGITS)
    return Fraction(gaussian.calibrate(epsilon="0.35", delta="1e-5", sensitivity=size).sigma)


_GSHM = (
    point(1, "2", "8", "1"),
    point(4, "3", "9", "0.5"),
    point(9, "6", "20", "1"),
    point(16, "3", "12", "0"),
    point(100, "97.6", "507.2", "0.35"),
    point(51984, "2224.2", "13924", "0.35"),
    point(1_000_000, "9755", "65420", "0.35"),
)


def _halved(of_tau: Fraction) -> str:
    """CSH at sigma sqrt(f)/2, tau f/2 with f = 1 + 1/sqrt k: delta at most that of the GSHM."""
    for at in _GSHM:
        f = 1 + Fraction(1, isqrt(at.k))
        root = Fraction(isqrt(int(f * _DIGITS**2)) + 1, _DIGITS)  # rounded up
        before = gshm.delta(k=at.k, sigma=at.sigma, tau=at.tau, epsilon=at.epsilon)
        sigma, tau = at.sigma * root / 2, at.tau * f / 2 * of_tau * (1 + Fraction(1, 10**11))
        total = csh.total_noise(k=at.k, sigma=sigma)
        near = abs(total.upper - at.sigma * f / 2) < at.sigma / 10**9
        require(near, f"k={at.k}: total noise {float(total.upper):.9g}")
        after = csh.delta(k=at.k, sigma=sigma, tau=tau, epsilon=at.epsilon)
        allowed = before.upper * (1 + Fraction(1, 10**8))  # both are enclosures
        case = f"k={at.k}: GSHM {float(before.upper):.9g}, CSH {float(after.lower):.9g}"
        require(after.upper <= allowed, case)
    return f"{len(_GSHM)} parameter sets of the GSHM, k from 1 to 10^6"


CLAIMS = (
    Refuted(
        paper="CSH",
        item="Theorem 1.1",
        printed=Printed(
            r"with noise of magnitude ... {\sigma}/{2}+o(1) ... and removes noisy counters below a "
            r"threshold ... {\tau}/{2}+o(1)",
            "Section 1.1, Theorem 1.1 (informal)",
            33,
        ),
        statement="(Informal) Where the GSHM is private with sigma and tau, the CSH is with noise "
        "sigma/2 + o(1) and threshold tau/2 + o(1), the o(1) added and for growing k.",
        severity="loose",
        method="certified numerics",
        check=lambda: _gap(Fraction(1)),
        example="""
>>> from mpmath import exp, findroot, mpf, ncdf, nstr, sqrt
>>> eps, delta = mpf("0.35"), mpf("1e-5")
>>> excess = lambda s: ncdf(1/(2*s) - eps*s) - exp(eps) * ncdf(-1/(2*s) - eps*s) - delta
>>> one = findroot(excess, (9, 10), solver="anderson")       # sigma per unit of sensitivity
>>> [nstr(sqrt(k + sqrt(k))/2 * one - sqrt(k)*one/2, 4) for k in (1e2, 1e6, 1e10)]
['2.381', '2.438', '2.439']
""",
        extraction="no: the plus stands in both renderings; it is an informal statement, and "
        "right if o(1) means a share of sigma and tau",
        note="the difference tends to sigma_1/4, where sigma_1 is the noise for sensitivity one; "
        "counting the shared noise, to sigma_1/2; the threshold's difference grows without bound",
        corrected=CSH.verified(
            "Theorem 1.1, corrected",
            "With f = 1 + 1/sqrt k, the CSH at noise sigma sqrt(f)/2 (total noise "
            "sigma f/2) and threshold tau f/2 leaks no more than the GSHM at sigma and tau: both "
            "fall to (1/2 + o(1)) times the GSHM's.",
            "certified numerics",
            **varied(_halved, Fraction(1), Fraction(98, 100), "at 98 percent of that threshold"),
            note="the ends of the exact analysis give this by Slepian's inequality, for every k "
            "at which the worst case is an end",
        ),
    ),
)
