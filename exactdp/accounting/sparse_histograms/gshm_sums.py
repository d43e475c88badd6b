"""The discrete GSHM that also releases sums of users' values: an upper bound on its delta.

Sums enlarge the sensitivity only: a counter that is hidden hides its sums. A user moves k counters
by one, with noise N_Z(0, sigma^2), and k sums of every column c by at most its limit L_c, with
noise N_Z(0, (spread L_c sigma)^2): in all rho = k (1 + columns/spread^2)/(2 sigma^2) of zCDP,
turned into delta by the optimal conversion; the threshold part, which is exact, is added.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from exactdp.accounting import zcdp
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import Calibration
from exactdp.accounting.certify.lattice import above
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.sparse_histograms.least_threshold import calibrated, likely_threshold
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, counters, delta_target, integer, non_negative, positive

__all__ = ["DEFAULT_ANALYSIS", "SOURCE", "calibrate", "check", "delta", "guarantee"]

DEFAULT_ANALYSIS = "zcdp"

SOURCE = "CSH Section 6, zCDP for counters and sums, exact threshold part"

_NEIGHBOURS = (
    "add-remove neighbours: one user added or removed, changing at most k counters by one and "
    "their sums by at most their limits"
)

#: Shares of the target given to the noise; the one with the smallest threshold is taken.
_SHARES = (Fraction(1, 2), Fraction(3, 4), Fraction(9, 10), Fraction(97, 100))


def delta(
    *, k: int, columns: int, sigma: Real, tau: Real, epsilon: Real, spread: Real = 1
) -> Enclosure:
    """An upper bound on delta of counters with sums in so many columns.

    k: most counters one user changes, >= 1. columns: >= 0. sigma: noise of the counters, > 0.
    tau: counters are kept above 1 + tau, >= 0. epsilon: >= 0. spread: the sums of a column of limit
    L get N_Z(0, (spread L sigma)^2), > 0.
    Returns an enclosure of the bound. Raises InvalidParameter, Undecided.
    Source: CSH, Section 6 (aggregator functions; Wilkins et al. 2024).

    >>> from exactdp.accounting import gshm_sums
    >>> print(gshm_sums.delta(k=10, columns=1, sigma=50, tau=260, epsilon="0.35"))
    [5.534601416e-6, 5.534601417e-6]
    """
    number, share = counters(k), positive("spread", spread)
    size, noise = integer("columns", columns, least=0), positive("sigma", sigma)
    rho = number * (1 + size / share**2) / (2 * noise**2)
    lost = zcdp.delta(rho=rho, epsilon=epsilon)
    reach = int(non_negative("tau", tau))  # the floor: noise is an integer
    shows = refine(lambda: -(number * (-above(reach, noise**2)).log1p()).expm1())
    return Enclosure(lost.lower + shows.lower, lost.upper + shows.upper).clamped(0, 1)


def check(
    *,
    k: int,
    columns: int,
    sigma: Real,
    tau: Real,
    epsilon: Real,
    delta: Real,
    spread: Real = 1,
) -> Check:
    """Whether the bound shows (epsilon, delta)-DP; parameters as in :func:`delta`."""
    target = delta_target("delta", delta)
    found = _delta(k=k, columns=columns, sigma=sigma, tau=tau, epsilon=epsilon, spread=spread)
    if found.upper <= target:
        return Check("proved", found, target, tight=False)
    return Check("refuted" if found.lower > target else "undecided", found, target, tight=False)


def guarantee(
    *, k: int, columns: int, sigma: Real, tau: Real, epsilon: Real, spread: Real = 1
) -> Guarantee:
    """The promise of a release with these parameters, as in :func:`delta`."""
    bound = delta(k=k, columns=columns, sigma=sigma, tau=tau, epsilon=epsilon, spread=spread)
    return Guarantee(non_negative("epsilon", epsilon), bound, _NEIGHBOURS, SOURCE)


def calibrate(
    *,
    k: int,
    columns: int,
    epsilon: Real,
    delta: Real,
    sigma: Real | None = None,
    spread: Real = 1,
) -> Calibration:
    """The smallest whole threshold for (epsilon, delta); without sigma, also a sigma for it.

    Parameters as in :func:`delta`; epsilon > 0. The returned tau provably satisfies the target, and
    tau - 1 provably does not, by this bound. Raises InvalidParameter, Undecided.
    """
    target, loss = delta_target("delta", delta), positive("epsilon", epsilon)
    number, share = counters(k), positive("spread", spread)
    size = integer("columns", columns, least=0)
    if sigma is None:
        weight = number * (1 + size / share**2) / 2
        choices = [_least_sigma(weight, loss, part * target) for part in _SHARES]
    else:
        choices = [positive("sigma", sigma)]

    def least(noise: Fraction) -> Calibration:
        rho = number * (1 + size / share**2) / (2 * noise**2)
        if not zcdp.delta(rho=rho, epsilon=loss).upper < target:
            raise InvalidParameter("sigma", noise, "larger: at this one no tau is enough")
        fixed: dict[str, Any] = {"k": number, "columns": size, "sigma": noise, "epsilon": loss}
        fixed["spread"] = share
        return calibrated(
            "gshm-sums",
            DEFAULT_ANALYSIS,
            lambda tau: check(**fixed, tau=tau, delta=target),
            lambda tau: guarantee(**fixed, tau=tau),
            sigma=noise,
            start=likely_threshold(noise, number, target),
            step=Fraction(1),
            given={"k": Fraction(number), "columns": Fraction(size), "spread": share},
            epsilon=loss,
            target=target,
        )

    return min(map(least, choices), key=lambda found: found.tau or 0)


def _least_sigma(weight: Fraction, epsilon: Fraction, target: Fraction) -> Fraction:
    """A short decimal sigma with weight/sigma^2 of zCDP within the target; only a choice."""
    budget = zcdp.rho(epsilon=epsilon, delta=target).lower
    least = refine(lambda: (ball(weight) / ball(budget)).sqrt()).upper
    up = Context(prec=6, rounding=ROUND_CEILING)
    return Fraction(up.divide(Decimal(least.numerator), Decimal(least.denominator)))


_delta = delta  # the parameter of check has its name
