"""The analytic Gaussian mechanism: exact delta, and the smallest noise for a target."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from flint import arb

from exactdp.accounting.calculator import Calculator, Evaluated
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import read_resolution, unit_of
from exactdp.accounting.certify.hints import exp2, falling_root, log2
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import add_remove
from exactdp.accounting.parameter_search import calibrated
from exactdp.balls import ball, precision
from exactdp.enclosure import Enclosure
from exactdp.fields import Number, frozen, number
from exactdp.lazy import own_names
from exactdp.normal import hockey_stick
from exactdp.parameters import Real, delta_target, non_negative, positive


def delta(*, sigma: Real, epsilon: Real, sensitivity: Real = 1) -> Enclosure:
    """The smallest delta for which the Gaussian mechanism is (epsilon, delta)-DP.

    sigma: standard deviation of the noise, > 0, in the units of the query.
    epsilon: >= 0.
    sensitivity: l2 sensitivity of the query, > 0, in the same units.
    Returns an enclosure of relative width <= 1e-12. Raises InvalidParameter, Undecided.
    Source: CSH, Lemma 2.5 (Balle and Wang 2018, Theorem 8).

    >>> from exactdp.accounting import gaussian
    >>> print(gaussian.delta(sigma=1, epsilon=1))
    [0.1269367375, 0.1269367376]
    """
    return Gaussian(sigma=sigma, epsilon=epsilon, sensitivity=sensitivity).delta()


def check(*, sigma: Real, epsilon: Real, delta: Real, sensitivity: Real = 1) -> Check:
    """Whether the claimed delta, > 0 and < 1, is kept; other parameters as in :func:`delta`."""
    return Gaussian(sigma=sigma, epsilon=epsilon, sensitivity=sensitivity).check(delta)


def guarantee(*, sigma: Real, epsilon: Real, sensitivity: Real = 1) -> Guarantee:
    """The guarantee of a release; parameters as in :func:`delta`."""
    return Gaussian(sigma=sigma, epsilon=epsilon, sensitivity=sensitivity).guarantee()


def calibrate(
    *, epsilon: Real, delta: Real, sensitivity: Real = 1, resolution: Real = "1e-9"
) -> Calibration:
    """The smallest sigma that makes the Gaussian mechanism (epsilon, delta)-DP.

    epsilon: >= 0.
    delta: target, > 0 and < 1.
    sensitivity: l2 sensitivity of the query, > 0.
    resolution: relative step between values of sigma that are tried, in [1e-15, 0.1].
    The returned sigma provably satisfies the target, and the next smaller one provably does not.
    Raises InvalidParameter, Undecided. Source: CSH, Lemma 2.5.

    >>> from exactdp.accounting import gaussian
    >>> print(gaussian.calibrate(epsilon=1, delta="1e-5").sigma)
    3.730631635
    """
    size, loss = positive("sensitivity", sensitivity), non_negative("epsilon", epsilon)
    target, step = delta_target("delta", delta), read_resolution(resolution)
    start = size * exp2(-_log_mu(loss, target))
    return calibrated(
        Gaussian.name,
        "exact",
        lambda sigma: Gaussian(sigma=sigma, epsilon=loss, sensitivity=size),
        target=target,
        name="sigma",
        start=start,
        step=unit_of(start, step),
        lowest=1,
        given={"sensitivity": size},
    )


@frozen(kw_only=True)
class Gaussian(Calculator, Evaluated):
    """The calculator; parameters as in :func:`delta`."""

    sigma: Number = number(positive)
    epsilon: Number = number(non_negative)
    sensitivity: Number = number(positive, default=1)

    name = "gaussian"
    title = "a real-valued answer with Gaussian noise (the analytic Gaussian mechanism)"
    example: ClassVar = {"sigma": "3.8", "epsilon": "1"}
    falls_with: ClassVar = {"sigma": 0, "epsilon": 0}
    calibrate = staticmethod(calibrate)

    neighbours = add_remove("moving the query by at most the l2 sensitivity")
    source = "CSH Lemma 2.5 (Balle and Wang 2018, Theorem 8)"

    def evaluate(self) -> arb:
        """A ball around delta."""
        return hockey_stick(ball(self.epsilon), ball(self.sensitivity / self.sigma))


#: The least epsilon for a delta, > 0 and < 1; other parameters as in :func:`delta`.
epsilon = Gaussian.least_epsilon


def _log_mu(epsilon: Fraction, target: Fraction) -> float:
    """About log2 of the sensitivity, in units of sigma, that the target allows."""

    def room(s: float) -> float:
        with precision(128):
            return -log2(hockey_stick(ball(epsilon), ball(exp2(s))) / ball(target))

    return falling_root(room, 0.0)


__dir__ = own_names(__name__)
