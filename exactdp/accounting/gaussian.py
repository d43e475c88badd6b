"""The analytic Gaussian mechanism: exact delta, and the smallest noise for a target."""

from __future__ import annotations

from fractions import Fraction

from exactdp.accounting.certify.checking import Check, decide
from exactdp.accounting.certify.grid import Calibration, read_resolution, smallest_on_grid
from exactdp.accounting.certify.hints import exp2, falling_root, log2
from exactdp.accounting.guarantee import Guarantee
from exactdp.balls import ball, precision, refine
from exactdp.enclosure import Enclosure
from exactdp.normal import hockey_stick
from exactdp.parameters import Real, as_decimal, delta_target, non_negative, positive

__all__ = ["DEFAULT_ANALYSIS", "calibrate", "check", "delta", "guarantee"]

DEFAULT_ANALYSIS = "exact"

_SOURCE = "CSH Lemma 2.5 (Balle and Wang 2018, Theorem 8)"
_NEIGHBOURS = "add-remove neighbours: one user moves the query by at most the l2 sensitivity"


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
    ratio, loss = _read(sigma, epsilon, sensitivity)
    return refine(lambda: hockey_stick(ball(loss), ball(ratio))).clamped(0, 1)


def check(*, sigma: Real, epsilon: Real, delta: Real, sensitivity: Real = 1) -> Check:
    """Whether the Gaussian mechanism is (epsilon, delta)-DP: proved, refuted or undecided.

    Parameters as in :func:`delta`; delta is the claimed value, > 0 and < 1.
    """
    ratio, loss = _read(sigma, epsilon, sensitivity)
    target = delta_target("delta", delta)
    return decide(lambda: hockey_stick(ball(loss), ball(ratio)), target, tight=True)


def guarantee(*, sigma: Real, epsilon: Real, sensitivity: Real = 1) -> Guarantee:
    """The promise of a release with these parameters, as in :func:`delta`."""
    bound = delta(sigma=sigma, epsilon=epsilon, sensitivity=sensitivity)
    return Guarantee(non_negative("epsilon", epsilon), bound, _NEIGHBOURS, _SOURCE)


def calibrate(
    *, epsilon: Real, delta: Real, sensitivity: Real = 1, resolution: Real = "1e-9"
) -> Calibration:
    """The smallest sigma that makes the Gaussian mechanism (epsilon, delta)-DP.

    epsilon: >= 0. delta: target, > 0 and < 1. sensitivity: l2 sensitivity of the query, > 0.
    resolution: relative step of the returned sigma, in [1e-15, 0.1].
    The returned sigma provably satisfies the target; the next smaller one provably does not.
    Raises InvalidParameter, Undecided. Source: CSH, Lemma 2.5.

    >>> from exactdp.accounting import gaussian
    >>> print(gaussian.calibrate(epsilon=1, delta="1e-5").sigma)
    3.730631635
    """
    size, loss = positive("sensitivity", sensitivity), non_negative("epsilon", epsilon)
    target, step = delta_target("delta", delta), read_resolution(resolution)

    def test(sigma: Fraction) -> Check:
        return check(sigma=sigma, epsilon=loss, delta=target, sensitivity=size)

    hint = size * exp2(-_log_mu(loss, target))
    sigma, refuted = smallest_on_grid(test, hint, step)
    promise = guarantee(sigma=sigma, epsilon=loss, sensitivity=size)
    return Calibration(
        mechanism="gaussian",
        analysis="exact",
        given={"sensitivity": size},
        epsilon=loss,
        target=target,
        sigma=as_decimal(sigma),
        tau=None,
        delta=promise.delta,
        refuted=refuted,
        guarantee=promise,
    )


def _read(sigma: Real, epsilon: Real, sensitivity: Real) -> tuple[Fraction, Fraction]:
    noise = positive("sigma", sigma)
    return positive("sensitivity", sensitivity) / noise, non_negative("epsilon", epsilon)


def _log_mu(epsilon: Fraction, target: Fraction) -> float:
    """About log2 of the sensitivity, in units of sigma, that the target allows."""

    def room(s: float) -> float:
        with precision(128):
            return -log2(hockey_stick(ball(epsilon), ball(exp2(s))) / ball(target))

    return falling_root(room, 0.0)
