"""A PrivacyAccountant for dp_accounting: its DpEvents in, certified answers out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from exactdp.accounting import gaussian
from exactdp.accounting.interop.reading import RELATIONS, loss_of, read
from exactdp.accounting.pld import ADD_REMOVE, Pld, approximate
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter, Undecided, UnreadableEvent
from exactdp.extras import optional
from exactdp.parameters import Real, choice, positive, probability

__all__ = ["accountant", "loss_of"]

#: Width of mu, of true positive rates, and of a delta for which no narrower enclosure is known.
_COARSE = Fraction(1, 1000)

#: mu holds for all false positive rates from this one on, unless the caller names others.
_LEAST_RATE = Fraction(1, 10**12)

_NOTHING = approximate(epsilon=0, delta=0)


def accountant(neighbours: Any = ADD_REMOVE, *, width: Real = "1e-5") -> Any:
    """A PrivacyAccountant of dp_accounting (the extra `peers`).

    neighbours: ADD_REMOVE, REPLACE_ONE, REPLACE_SPECIAL, or a NeighboringRelation. Every event
    counts as often as it is composed. Numbers are read as the decimals they print.
    width: get_epsilon exceeds the smallest epsilon by at most this, > 0; smaller ones are slow.
    True positive rates, and the mu of Gaussian DP, are accurate to 0.001.
    """
    ours = {theirs: relation for relation, theirs in RELATIONS.items()}
    relation = ours.get(getattr(neighbours, "name", ""), neighbours)
    choice("neighbours", relation, tuple(RELATIONS))
    return _accountant_class()(relation, positive("width", width))


@lru_cache(maxsize=1)
def _accountant_class() -> type:
    """The class, defined on first use because dp_accounting need not be installed."""
    theirs = optional("dp_accounting.privacy_accountant")

    class CertifiedAccountant(_Certified, theirs.PrivacyAccountant):  # type: ignore[misc,name-defined]
        """An accountant of dp_accounting whose answers are certified upper bounds."""

        def __init__(self, neighbours: str, width: Fraction) -> None:
            theirs.PrivacyAccountant.__init__(
                self, theirs.NeighboringRelation[RELATIONS[neighbours]]
            )
            self._neighbours, self._width = neighbours, width

    return CertifiedAccountant


class _Certified:
    """The answers of the accountant: each number is the safe end of a certified enclosure."""

    _neighbours: str
    _width: Fraction
    _total: Pld | None = None
    _contains_non_dp_event = False
    CompositionErrorDetails: Any

    def loss(self) -> Pld | None:
        """The privacy loss of the private events so far; None while nothing has leaked."""
        return self._total

    def enclosure(self, target_delta: Real, *, width: Real | None = None) -> Enclosure:
        """Both certified ends of epsilon. Raises InvalidParameter where it is infinite."""
        if self._contains_non_dp_event:
            raise InvalidParameter("target_delta", target_delta, "1: an event is not private")
        return self._leaked.epsilon(target_delta, width=self._width if width is None else width)

    @property
    def _leaked(self) -> Pld:
        return _NOTHING if self._total is None else self._total

    def get_epsilon(self, target_delta: float) -> float:
        """An epsilon that is certainly kept; infinity if none is."""
        delta = probability("target_delta", target_delta)
        if self._contains_non_dp_event or delta < self._leaked.infinite_mass().lower:
            return math.inf
        if not delta and self._leaked.largest_loss() is None:
            return math.inf
        return 0.0 if delta == 1 else self.enclosure(delta).float_upper()

    def get_delta(self, target_epsilon: float) -> float:
        """A delta that is certainly kept."""
        if self._contains_non_dp_event:
            return 1.0
        if target_epsilon == math.inf:
            return self._leaked.infinite_mass().float_upper()
        # the narrowest enclosure that is decided: near the largest loss only a wide one may be
        for width in (self._width / 4, _COARSE):
            with suppress(Undecided):
                return self._leaked.delta(target_epsilon, relative_width=width).float_upper()
        return self._leaked.delta(target_epsilon, relative_width=1).float_upper()

    def get_true_positive_rates(self, false_positive_rates: Any, deltas: Any = None) -> Any:
        """The largest true positive rate of any attack on a record, rounded up.

        false_positive_rates: one number or an array of numbers from 0 to 1. deltas: not needed;
        dp_accounting's answer depends on a list of deltas, this one holds for all of them.
        """
        if isinstance(false_positive_rates, Sequence | np.ndarray):
            return np.array([self._true_positives(rate) for rate in false_positive_rates])
        return self._true_positives(false_positive_rates)

    def _true_positives(self, rate: float) -> float:
        alpha = probability("false_positive_rates", rate)
        if self._contains_non_dp_event:
            return 1.0
        if self._hides_everything() or alpha == 1:
            return Enclosure.exact(alpha).float_upper()
        if not alpha:
            return self._leaked.infinite_mass().float_upper()
        return self._leaked.power(alpha).float_upper()

    def get_gdp_parameter_estimate(
        self, false_positive_rates: Any = None, deltas: Any = None
    ) -> float:
        """A mu whose Gaussian mechanism certainly allows better attacks than all events together.

        false_positive_rates: mu holds at these and at all rates above the smallest of them; by
        default at all rates from 1e-12 on. mu is infinite if the privacy loss is infinite with a
        probability above the smallest rate. deltas: not needed.
        """
        if self._contains_non_dp_event:
            return math.inf
        if self._hides_everything():
            return 0.0
        rate = _LEAST_RATE
        if false_positive_rates is not None:
            rates = [probability("false_positive_rates", rate) for rate in false_positive_rates]
            rate = positive("false_positive_rates", min(rates))
        if self._leaked.infinite_mass().upper > rate:
            return math.inf
        return _mu(self._leaked, rate).float_upper()

    def _hides_everything(self) -> bool:
        """Whether nothing leaks."""
        largest = self._leaked.largest_loss()
        return largest is not None and not largest.upper and not self._leaked.infinite_mass().upper

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
        try:
            # a count of 0 asks whether the event is supported
            reading = read(event, max(count, 1), neighbours=self._neighbours)
        except UnreadableEvent as error:
            return self.CompositionErrorDetails(error.event, str(error))
        if do_compose and count:
            self._contains_non_dp_event |= not reading.private
            if reading.loss is not None:
                self._total = (
                    reading.loss if self._total is None else self._total.then(reading.loss)
                )
        return None


def _mu(loss: Pld, rate: Fraction) -> Enclosure:
    """The mu that dominates a loss at all false positive rates from this one to one half.

    `Pld.mu` compares with the Gaussian mechanism's delta where the loss's own is above a least one.
    The best attack on the Gaussian mechanism with false positive rate P(X > z) has the slope
    e^epsilon, epsilon = mu z - mu^2/2, there; by symmetry, epsilon = mu^2/2 for the rate 1/2. Where
    the Gaussian delta at these epsilons is above the least one, the comparison covers the rates.
    """
    least = rate / 16
    while True:
        interval = loss.mu(least_delta=least)
        mu = interval.upper
        epsilon = max(mu * _quantile_above(rate) - mu**2 / 2, mu**2 / 2)
        if gaussian.delta(sigma=1, sensitivity=mu, epsilon=epsilon).lower >= least:
            return interval
        least /= 16


def _quantile_above(rate: Fraction) -> Fraction:
    """A z >= 0 that a normal variable exceeds with a probability of at most rate (or one half).

    P(X > z) <= e^(-z^2/2)/2 for z >= 0.
    """
    if 2 * rate >= 1:
        return Fraction(0)
    return refine(lambda: (-2 * ball(2 * rate).log()).sqrt()).upper
