"""CSH, abstract and Section 1: the factor one half, and Theorem 1.1 (informal)."""

from __future__ import annotations

from itertools import pairwise
from math import isqrt

from exactdp.accounting import csh, gaussian, gshm
from exactdp_proofs.comparisons import at_most, below, equal, within
from exactdp_proofs.papers.csh._model import least, point
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CSH, as_printed, mutant

_DIGITS = 10**12


@CSH.holds("Abstract", "factor of 1/2", slow=True)
@mutant(most=Fraction(502, 1000))
def factor_one_half(most: Fraction = Fraction(503, 1000)) -> None:
    """At epsilon = 0.35, delta = 1e-5 the least threshold of the CSH divided by that of the GSHM
    (both exact) falls with k = 1, 10, 100, 51914; it stays above 1/2 and ends below 0.503.
    """
    ratios = [
        least("csh", "exact", k)[0] / least("gshm", "exact", k)[0] for k in (1, 10, 100, 51914)
    ]
    for before, after in pairwise(ratios):
        below(after, before)
    below(Fraction(1, 2), ratios[-1])
    below(ratios[-1], most)


@CSH.holds("Section 1.1", "add-the-deltas against the exact GSHM")
@mutant("also at k = 8", first=8)
def added_against_exact(first: int = 9) -> None:
    """At epsilon = 0.35, delta = 1e-5 even Theorem 3.3 needs a lower threshold than the exact
    analysis of the GSHM exactly if k >= 9, for k = 5, 8, 9, 10, 100.

    Note: The text says "in many settings".
    """
    for k in (8, 9, 100):
        lower = least("csh", "add-the-deltas", k)[0] < least("gshm", "exact", k)[0]
        equal(lower, k >= first, k=k)


#: Parameters of the GSHM; both kinds of loss decide in some.
_GSHM = (
    point(1, "2", "8", "1"),
    point(4, "3", "9", "0.5"),
    point(16, "3", "12", "0"),
    point(1_000_000, "9755", "65420", "0.35"),
)


@CSH.refuted("Theorem 1.1", severity="loose")
@as_printed(added=True)
@mutant(of_tau=Fraction(98, 100))
def theorem_1_1(
    added: bool = False, of_tau: Fraction = Fraction(1), loss: Fraction = Fraction(1)
) -> None:
    r"""(Informal) Where the GSHM with k changed counters is private with sigma and tau, the CSH is
    with noise sigma/2 + o(1) and threshold tau/2 + o(1), the o(1) added and for growing k.

    Printed (Section 1.1, Theorem 1.1 (informal), line 33): with noise of magnitude
        ... {\sigma}/{2}+o(1) ... and removes noisy counters below a threshold
        ... {\tau}/{2}+o(1)
    Corrected: Noise and threshold are multiplied by 1/2 + o(1). With f = 1 + 1/sqrt k, the CSH at
        sigma sqrt(f)/2 (total noise sigma f/2) and tau f/2 leaks no more than the GSHM at sigma
        and tau.
    Regime: fixed epsilon and delta, growing k: the difference of the noises tends to sigma_1/4,
        where sigma_1 is the noise for sensitivity one, and that of the thresholds to infinity.
    Extraction: no: the plus stands in both renderings. The theorem is informal, and right if o(1)
        means a share of sigma and tau.

    >>> from mpmath import exp, findroot, mpf, ncdf, nstr, sqrt
    >>> eps, delta = mpf("0.35"), mpf("1e-5")
    >>> excess = lambda s: ncdf(1/(2*s) - eps*s) - exp(eps) * ncdf(-1/(2*s) - eps*s) - delta
    >>> one = findroot(excess, (9, 10), solver="anderson")       # sigma per unit of sensitivity
    >>> [nstr(sqrt(k + sqrt(k))/2 * one - sqrt(k)*one/2, 4) for k in (1e2, 1e6, 1e10)]
    ['2.381', '2.438', '2.439']
    """
    if added:
        for k in (100, 10_000, 1_000_000, 100_000_000):
            # (k + sqrt k)/2 is an integer here, so this is the exact sensitivity squared
            shared = _least_sigma(Fraction(k + isqrt(k), 4))
            at_most(shared - _least_sigma(Fraction(k)) / 2, 1, k=k)
    for at in _GSHM:
        f = 1 + Fraction(1, isqrt(at.k))
        root = Fraction(isqrt(int(f * _DIGITS**2)) + 1, _DIGITS)  # rounded up
        before = gshm.delta(k=at.k, sigma=at.sigma, tau=at.tau, epsilon=at.epsilon)
        sigma, tau = at.sigma * root / 2, at.tau * f / 2 * of_tau * (1 + Fraction(1, 10**11))
        total = csh.total_noise(sparsity=at.k, sigma=sigma)
        within(total.upper, at.sigma * f / 2, at.sigma / 10**9, k=at.k)
        after = csh.delta(sparsity=at.k, sigma=sigma / loss, tau=tau, epsilon=at.epsilon)
        # the upper end of an enclosure against the lower end of another: equal to 1e-8 at k = 1
        at_most(after.upper, before.lower * (1 + Fraction(1, 10**8)), k=at.k)


def _least_sigma(squared: Fraction) -> Fraction:
    """The least sigma for epsilon = 0.35, delta = 1e-5 without a threshold, by the sensitivity."""
    size = Fraction(isqrt(int(squared * _DIGITS**2)), _DIGITS)
    return Fraction(gaussian.calibrate(epsilon="0.35", delta="1e-5", sensitivity=size).sigma)
