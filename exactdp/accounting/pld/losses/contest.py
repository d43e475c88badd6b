"""Laws of private choice: two options with noisy utilities, and losses of bounded range.

The option with the larger noisy utility is chosen. The noise on both options is of one kind; `gap`
is the difference of their utilities in units of the scale of the noise. The first option wins with
probability F(gap), where F is the distribution function of the difference of two noises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from exactdp.accounting.pld.grid.lattice import Outcome
from exactdp.accounting.pld.losses.base import Family
from exactdp.accounting.pld.losses.listed import ListedLaw
from exactdp.balls import ball, precision, refine
from exactdp.enclosure import Enclosure

_BITS = 192

#: Parts of the interval of the larger loss.
_PARTS = 24


def _logistic(gap: Fraction) -> arb:
    """Gumbel noise: the difference is logistic."""
    return 1 / (1 + (-ball(gap)).exp())


def _exponential(gap: Fraction) -> arb:
    """Exponential noise: the difference has a Laplace law."""
    tail = (-ball(abs(gap))).exp() / 2
    return 1 - tail if gap >= 0 else tail


def _laplace(gap: Fraction) -> arb:
    """Laplace noise: the density of the difference is (1 + |x|) e^-|x| / 4."""
    size = ball(abs(gap))
    tail = (-size).exp() * (2 + size) / 4
    return 1 - tail if gap >= 0 else tail


#: Noise -> distribution of the difference of two of them, of scale 1.
NOISES: dict[str, Callable[[Fraction], arb]] = {
    "gumbel": _logistic,
    "exponential": _exponential,
    "laplace": _laplace,
}


@dataclass(frozen=True)
class Contest(ListedLaw):
    """The first option is ahead by `gap` with the user, and by `gap - shift` without."""

    noise: str
    gap: Fraction
    shift: Fraction

    def outcomes(self, tail_bits: int) -> Iterator[Outcome]:
        with precision(_BITS):
            wins = NOISES[self.noise]
            p, q = wins(self.gap), wins(self.gap - self.shift)
            other_p, other_q = wins(-self.gap), wins(self.shift - self.gap)
            losses = (p / q).log(), (other_p / other_q).log()
        half = self.shift / 2
        if self.noise == "gumbel" and self.gap == half:  # then p = 1/(1 + e^-half) and q = 1 - p
            yield Outcome.at(half, p, q)
            yield Outcome.at(-half, other_p, other_q)
        else:
            yield Outcome(losses[0], p, q)
            yield Outcome(losses[1], other_p, other_q)


@dataclass(frozen=True)
class BoundedRange:
    """The curve of all mechanisms whose losses lie in an interval of length `width`.

    The worst pairs have two outcomes, with losses s and s - w, 0 <= s <= w, for the width w.
    Their probabilities add up to 1 on both sides, so the first has Q(A) = (1 - e^(s - w))/(e^s -
    e^(s - w)), and delta at epsilon is (e^s - e^epsilon) Q(A) = (1 - e^(epsilon - s))
    (1 - e^(s - w))/(1 - e^-w). The product is largest where both exponents are equal, at
    s = (epsilon + w)/2: delta = (1 - e^((epsilon - w)/2))^2/(1 - e^-w), and 0 from epsilon = w on.
    Exchanging P and Q exchanges s and w - s.
    """

    width: Fraction
    delta_floor = Fraction(0)
    most_points = 512

    @property
    def mu(self) -> Fraction:
        """An eighth of the width: a composition then has about 200 points up to the width."""
        return self.width / 8

    @property
    def family(self) -> Family:
        return _Ranges(self.width)

    def delta(self, epsilon: Fraction) -> Enclosure:
        """The largest delta of these pairs."""
        if epsilon >= self.width:
            return Enclosure.exact(0)
        return refine(lambda: _largest(self.width, Fraction(0), self.width, epsilon))


@dataclass(frozen=True)
class _Ranges:
    """The pairs of `BoundedRange` by their larger loss s, in parts of the interval of s."""

    width: Fraction
    losses = ()

    def deltas(self, losses: Sequence[Fraction]) -> list[list[arb]]:
        part = self.width / _PARTS
        with precision(_BITS):
            return [
                [_largest(self.width, i * part, (i + 1) * part, loss) for loss in losses]
                for i in range(_PARTS)
            ]

    def reversed(self, number: int) -> int:
        return _PARTS - 1 - number

    def spread(self) -> float:
        return float(self.width) / 2

    def reach(self, bits: int) -> float:
        return float(self.width)


def _largest(width: Fraction, low: Fraction, high: Fraction, epsilon: Fraction) -> arb:
    """The largest delta at epsilon >= 0 of the pairs with low <= s <= high."""
    s = min(max((epsilon + width) / 2, low), high)
    if s <= epsilon:
        return arb(0)
    product = (ball(epsilon - s)).expm1() * ball(s - width).expm1()
    return product / -(-ball(width)).expm1()
