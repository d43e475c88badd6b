"""Discrete noise and threshold of the correlated sparse histogram for a target.

Its counters are multiples of one half, so thresholds between two of them are the same mechanism.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import partial

from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import Calibration
from exactdp.accounting.sparse_histograms import csh, discrete_csh
from exactdp.accounting.sparse_histograms.threshold import least_threshold, likely_threshold
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, as_decimal, delta_target, integer, non_negative, positive

__all__ = ["ANALYSIS", "calibrate"]

#: The analysis of releases.
ANALYSIS = "by-cases"

#: What is tried for sigma, in units of the one that is best for continuous noise: the first is
#: within one per cent of the lowest threshold at k = 1 to 10^5 and epsilon = 0.1 to 3.
_FACTORS = ("1.005", "1.025", "1.05", "1.1", "1.2", "1.5", "2", "4")
_SIGMA_DIGITS = 6
#: About by how much the threshold exceeds that for continuous noise: where to look first.
_MORE = Fraction(101, 100)
_STEP = Fraction(1, 2)


def calibrate(
    *,
    k: int,
    epsilon: Real,
    delta: Real,
    sigma: Real | None = None,
    analysis: str = ANALYSIS,
) -> Calibration:
    """The smallest threshold in steps of one half; without sigma, also a good sigma for it.

    k: sparsity of every histogram, >= 1. epsilon: >= 0. delta: target, > 0 and < 1. sigma: > 0.
    analysis: one of discrete_csh. The returned tau provably satisfies the target, and tau - 1/2
    provably does not, by the analysis. Raises InvalidParameter (also when no tau is enough for the
    given sigma), Undecided. Source: accounting.discrete_csh.

    >>> from exactdp.accounting import csh_target
    >>> found = csh_target.calibrate(k=10, epsilon="0.35", delta="1e-5", sigma="18.2")
    >>> print(found.tau)
    99
    """
    number, target = integer("k", k, least=1), delta_target("delta", delta)
    loss = non_negative("epsilon", epsilon)

    def check(noise: Fraction, tau: Fraction) -> Check:
        return discrete_csh.check(
            k=number, sigma=noise, tau=tau, epsilon=loss, delta=target, analysis=analysis
        )

    near = csh.calibrate(k=number, epsilon=loss, delta=target, resolution="1e-3")
    for noise in _choices(near) if sigma is None else [positive("sigma", sigma)]:
        far = 100 * likely_threshold(noise, number, target)
        if check(noise, far).verdict == "proved":
            break
    else:
        raise InvalidParameter("sigma", sigma, "larger: at this one no tau is enough")
    tau, refuted = least_threshold(partial(check, noise), Fraction(near.tau or 0) * _MORE, _STEP)
    promise = discrete_csh.guarantee(
        k=number, sigma=noise, tau=tau, epsilon=loss, analysis=analysis
    )
    return Calibration(
        mechanism="discrete-csh",
        analysis=analysis,
        given={"k": Fraction(number)},
        epsilon=loss,
        target=target,
        sigma=as_decimal(noise),
        tau=as_decimal(tau),
        delta=promise.delta,
        refuted=refuted,
        guarantee=promise,
    )


def _choices(best: Calibration) -> list[Fraction]:
    """Short decimals, in ascending order."""
    up = Context(prec=_SIGMA_DIGITS, rounding=ROUND_CEILING)
    scaled = [Fraction(best.sigma) * Fraction(f) for f in _FACTORS]
    return [Fraction(up.divide(Decimal(s.numerator), Decimal(s.denominator))) for s in scaled]
