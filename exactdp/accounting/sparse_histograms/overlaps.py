"""The terms of the delta of a Gaussian histogram with a threshold, for j shared counters.

Neighbours share j counters, which the Gaussian noise must hide. A further n = n(j) counters exist
on one side only and are hidden by the threshold: psi = Phi(ratio)^n is the probability that all of
them stay below the threshold. Let mu be the sensitivity of the shared part in units of the noise.
Every term is a supremum over events of an expression that falls with psi and rises with mu.
Therefore a term

* does not decrease in n or in mu, and
* for a <= j <= b is at most its value at n(a) and mu(b).

By the envelope theorem, the derivatives are those with the worst event held fixed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

from flint import arb

from exactdp.normal import hockey_stick, pdf, raised_tail, tail


@dataclass(frozen=True)
class StaysBelow:
    """The event that new counters, which are 1, stay below the threshold; and epsilon."""

    ratio: arb  # threshold distance in units of one counter's noise
    epsilon: arb

    @cached_property
    def rate(self) -> arb:
        """-log Phi(ratio): psi = e^(-rate n)."""
        return -(-tail(self.ratio)).log1p()

    @cached_property
    def e_epsilon(self) -> arb:
        return self.epsilon.exp()

    def exceeded(self, n: int | arb) -> arb:
        """1 - psi: the probability that one of n counters passes the threshold."""
        return -(-self.rate * n).expm1()


@dataclass(frozen=True)
class Overlaps(ABC):
    """first <= j <= last shared counters: n(j) = only - j, mu(j)^2 = scale (j + shift)."""

    threshold: StaysBelow
    first: int
    last: int
    only: int
    scale: arb
    shift: arb

    def value(self, j: int) -> arb:
        return self.term(self.only - j, self._mu(j))

    def bound(self, a: int, b: int) -> arb:
        return self.term(self.only - a, self._mu(b))

    def slope(self, a: int, b: int) -> arb:
        overlap = arb(a).union(arb(b))
        mu = self._mu(overlap)
        by_n, by_mu = self.partials(self.only - overlap, mu)
        return by_mu * self.scale / (2 * mu) - by_n

    def _mu(self, j: int | arb) -> arb:
        return (self.scale * (j + self.shift)).sqrt()

    @abstractmethod
    def term(self, n: int | arb, mu: arb) -> arb:
        """The term for n counters on one side only and shared sensitivity mu."""

    @abstractmethod
    def partials(self, n: arb, mu: arb) -> tuple[arb, arb]:
        """Derivatives of the term by n and by mu."""


class AppearBound(Overlaps):
    """The side with the extra counters, bounded by a sum: 1 - psi + H(epsilon, mu)."""

    def term(self, n: int | arb, mu: arb) -> arb:
        return self.threshold.exceeded(n) + hockey_stick(self.threshold.epsilon, mu)

    def partials(self, n: arb, mu: arb) -> tuple[arb, arb]:
        limit = self.threshold
        u = mu / 2 - limit.epsilon / mu
        return limit.rate * (-limit.rate * n).exp(), pdf(u)


class Vanish(Overlaps):
    """The side without them: H(epsilon + log psi, mu)."""

    def term(self, n: int | arb, mu: arb) -> arb:
        return hockey_stick(self.threshold.epsilon - self.threshold.rate * n, mu)

    def partials(self, n: arb, mu: arb) -> tuple[arb, arb]:
        limit = self.threshold
        loss = limit.epsilon - limit.rate * n
        t, half = loss / mu, mu / 2
        other = raised_tail(loss.exp(), half + t, lambda: pdf(half - t))
        return limit.rate * other, pdf(half - t)
