"""The discrete Gaussian mechanism: exact delta for one and for many integer queries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from flint import arb

from exactdp.accounting import gaussian
from exactdp.accounting.calculator import Calculator, Evaluated
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.gaussian_sums import combination, excess, is_smooth, smoothing
from exactdp.accounting.certify.grid import read_resolution, unit_of
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import add_remove
from exactdp.accounting.parameter_search import calibrated
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.lazy import own_names
from exactdp.parameters import (
    Real,
    decimal_text,
    delta_target,
    integer,
    non_negative,
    positive,
    rational,
)


def delta(*, sigma2: Real, epsilon: Real, sensitivity: int = 1) -> Enclosure:
    """The smallest delta for which one integer query with discrete Gaussian noise is private.

    sigma2: parameter of the noise, > 0: P(z) is proportional to exp(-z^2/(2 sigma2)).
    epsilon: >= 0.
    sensitivity: how far one user moves the query at most, an integer >= 1. A smaller move has a
    smaller delta.
    Returns an enclosure of relative width <= 1e-12. Raises InvalidParameter, Undecided.
    Source: Canonne, Kamath, Steinke 2020, the tight theorem for the discrete Gaussian; the noise is
    that of Lebeda and Retschmeier (CSH), Definition 7.1.

    >>> from exactdp.accounting import discrete_gaussian
    >>> print(discrete_gaussian.delta(sigma2=100, epsilon="0.35"))
    [7.001601232e-6, 7.001601233e-6]
    """
    return DiscreteGaussian(sigma2=sigma2, epsilon=epsilon, sensitivity=sensitivity).delta()


def check(*, sigma2: Real, epsilon: Real, delta: Real, sensitivity: int = 1) -> Check:
    """Whether the claimed delta, > 0 and < 1, is kept; other parameters as in :func:`delta`."""
    return DiscreteGaussian(sigma2=sigma2, epsilon=epsilon, sensitivity=sensitivity).check(delta)


def guarantee(*, sigma2: Real, epsilon: Real, sensitivity: int = 1) -> Guarantee:
    """The guarantee of a release; parameters as in :func:`delta`."""
    return DiscreteGaussian(sigma2=sigma2, epsilon=epsilon, sensitivity=sensitivity).guarantee()


def delta_many(*, shifts: Sequence[int], sigma2s: Sequence[Real], epsilon: Real) -> Enclosure:
    """The exact delta between a vector of integers and its shift, under discrete Gaussian noise.

    shifts: by how much each coordinate moves, integers.
    sigma2s: parameter of the independent noise of each coordinate, > 0.
    epsilon: >= 0.
    Returns an enclosure of relative width <= 1e-12.
    Raises InvalidParameter; and Undecided where the privacy loss has too many values to list, as
    for unequal shifts with much noise. :func:`exactdp.accounting.pld.discrete_gaussian` composes
    these, with a wider enclosure.
    Source: Canonne, Kamath, Steinke 2020, Theorem 2.14 (as cited in CSH, Section 7).

    The loss sum_i (2 x_i shift_i + shift_i^2)/(2 sigma2_i) is eta + g T for an integer T and
    constants eta and g. The sum over equal coordinates is replaced by one discrete Gaussian where
    the error of that is proved to be negligible, and is listed value by value elsewhere.

    >>> from exactdp.accounting import discrete_gaussian
    >>> print(discrete_gaussian.delta_many(shifts=[1, 2], sigma2s=[100, 150], epsilon="0.35"))
    [0.003024795957, 0.003024795958]
    """
    loss = non_negative("epsilon", epsilon)
    if len(shifts) != len(sigma2s):
        raise InvalidParameter(
            "sigma2s", Described(f"{len(sigma2s)} values"), f"{len(shifts)}, one per shift"
        )
    moves = [_move(shift) for shift in shifts]
    variances = [positive("sigma2s", sigma2) for sigma2 in sigma2s]
    groups = Counter((m, v) for m, v in zip(moves, variances, strict=True) if m)
    return refine(lambda: many(groups, loss)).clamped(0, 1) if groups else Enclosure.exact(0)


def calibrate(
    *, epsilon: Real, delta: Real, sensitivity: int = 1, resolution: Real = "1e-9"
) -> Calibration:
    """A least sigma2 on a decimal grid that makes one integer query (epsilon, delta)-DP.

    epsilon: >= 0.
    delta: target, > 0 and < 1.
    sensitivity: how far one user moves the query at most, an integer >= 1.
    resolution: relative step between values of sigma2 that are tried, in [1e-15, 0.1].
    The returned sigma2 provably satisfies the target, and the next smaller one provably does not.
    Use exactly this value. Unlike for continuous noise, delta can *rise* with sigma2: at
    epsilon = 1, from 0.1897 at sigma2 = 0.5 to 0.1918 at 0.6. Between two values of sigma2 at which
    some loss equals epsilon, more noise makes the same bad outcomes likelier. Any other sigma2,
    larger or smaller, therefore needs a check of its own. Raises InvalidParameter, Undecided.

    >>> from exactdp.accounting import discrete_gaussian
    >>> print(discrete_gaussian.calibrate(epsilon=1, delta="1e-5").sigma2)
    13.99122583
    """
    size, loss = integer("sensitivity", sensitivity, least=1), non_negative("epsilon", epsilon)
    target, step = delta_target("delta", delta), read_resolution(resolution)
    near = gaussian.calibrate(epsilon=loss, delta=target, sensitivity=size, resolution="1e-3")
    start = Fraction(near.sigma) ** 2
    return calibrated(
        DiscreteGaussian.name,
        "exact",
        lambda sigma2: DiscreteGaussian(sigma2=sigma2, epsilon=loss, sensitivity=size),
        target=target,
        name="sigma2",
        start=start,
        step=unit_of(start, step),
        lowest=1,
        given={"sensitivity": Fraction(size)},
    )


@frozen(kw_only=True)
class DiscreteGaussian(Calculator, Evaluated):
    """The calculator; parameters as in :func:`delta`."""

    sigma2: Number = number(positive)
    epsilon: Number = number(non_negative)
    sensitivity: int = whole(least=1, default=1)

    name = "discrete-gaussian"
    title = "an integer answer with discrete Gaussian noise"
    example: ClassVar = {"sigma2": "16", "epsilon": "1"}
    falls_with: ClassVar = {"epsilon": 0}
    calibrate = staticmethod(calibrate)

    source = "tight theorem of Canonne, Kamath, Steinke 2020; noise of CSH Definition 7.1"

    @property
    def neighbours(self) -> str:
        """Those of an integer query."""
        size = decimal_text(Fraction(self.sensitivity))
        return add_remove(f"moving the integer query by at most {size}")

    def evaluate(self) -> arb:
        """A ball around delta."""
        return excess(self.epsilon, self.sigma2, self.sensitivity)


#: The least epsilon for a delta, > 0 and < 1; other parameters as in :func:`delta`.
epsilon = DiscreteGaussian.least_epsilon


def many(groups: Counter[tuple[int, Fraction]], loss: Fraction) -> arb:
    """A ball around the delta of all coordinates. groups: (shift >= 1, sigma2) -> their number."""
    if len(groups) == 1:
        ((shift, sigma2), count) = next(iter(groups.items()))
        if is_smooth(count, sigma2):
            one = excess(loss, count * sigma2, count * shift)
            return one * _within(smoothing(count, sigma2)) if count > 1 else one
    rates = {key: Fraction(key[0]) / key[1] for key in groups}
    step = _common(list(rates.values()))
    parts = [(int(rates[key] / step), count, key[1]) for key, count in groups.items()]
    offset = sum((n * shift**2 / (2 * v) for (shift, v), n in groups.items()), Fraction(0))
    masses, spread = combination(parts)
    first = math.floor((loss - offset) / step) + 1
    start = max(first - masses.low, 0)
    # ratio: e^(epsilon - loss) at a value; fall: the factor to the ratio at the next value
    ratio = (ball(loss - offset - step * (masses.low + start))).exp()
    fall, total = (-ball(step)).exp(), arb(0)
    for mass in masses.values[start:]:
        total += mass * (1 - ratio)
        ratio *= fall
    return (total + masses.missing() * arb(0.5, 0.5)) * _within(spread)


def _move(shift: int) -> int:
    number = rational("shifts", shift)
    if number.denominator != 1:
        raise InvalidParameter("shifts", shift, "integers")
    return abs(int(number))


def _within(spread: arb) -> arb:
    """A ball around all factors from exp(-spread) to exp(spread)."""
    return (spread * arb(0, 1)).exp()


def _common(rates: Sequence[Fraction]) -> Fraction:
    """The largest number of which all rates are integer multiples."""
    denominator = math.lcm(*(rate.denominator for rate in rates))
    return Fraction(math.gcd(*(int(rate * denominator) for rate in rates)), denominator)


__dir__ = own_names(__name__)
