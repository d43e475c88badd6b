"""Random numbers of runs: Poisson, and truncated negative binomial.

K runs have the generating function f(x) = E x^K. With a = 1 - x and odds o,

- Poisson: f(x) = e^(-mean a);
- truncated negative binomial of shape s > -1: f'(x) = mean (1 + o a)^-(s + 1), where o > 0 solves
  mean = s o/(1 - (1 + o)^-s), or mean = o/ln(1 + o) for s = 0. In the source's words o = 1/gamma -
  1. Shape 1 is geometric, and shape 0 logarithmic.

Source: Papernot and Steinke 2022 (arXiv 2110.03620), Definitions 1 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from exactdp.accounting.zcdp import rising_root
from exactdp.balls import ball, precision
from exactdp.errors import Undecided

_BITS = 256


@dataclass(frozen=True)
class Repetitions:
    """The law of the number of runs. mean: > 0, with a shape > 1. shape: None for Poisson."""

    mean: Fraction
    shape: Fraction | None

    def slope(self, above: arb) -> arb:
        """f' at 1 - above."""
        if self.shape is None:
            return ball(self.mean) * (-ball(self.mean) * above).exp()
        power = ball(self.shape + 1) * (self.odds * above).log1p()
        return ball(self.mean) * (-power).exp()

    def bend(self, above: arb) -> arb:
        """f''/f' at 1 - above."""
        if self.shape is None:
            return ball(self.mean)
        return ball(self.shape + 1) * self.odds / (1 + self.odds * above)

    def some(self, above: arb) -> arb:
        """1 - f(1 - above): the probability that a set of this probability has some of the runs."""
        if self.shape is None:
            return -(-ball(self.mean) * above).expm1()
        runs, grown = ball(self.mean) / self.odds, (self.odds * above).log1p()
        if not self.shape:
            return runs * grown
        shape = ball(self.shape)
        return runs * -(-shape * grown).expm1() / shape

    @property
    def odds(self) -> arb:
        """o, of a truncated negative binomial law."""
        return _odds(self.mean, self.shape or Fraction(0))


@lru_cache(maxsize=32)
def _odds(mean: Fraction, shape: Fraction) -> arb:
    with precision(_BITS):
        s, target = ball(shape), ball(mean).log()

        def excess(w: arb) -> arb:
            return _log_mean(w.exp(), s) - target

        def rate(w: arb) -> arb:
            odds = w.exp()
            log = odds.log1p()
            fall = -log if not shape else (-s * log).expm1() / (s * (-s * log).exp())
            return 1 + odds / (1 + odds) / fall

        w = rising_root(excess, rate)
        if w is None or not w.is_finite():
            raise Undecided("no parameter of the number of runs was found for this mean and shape")
        return w.exp()


def _log_mean(odds: arb, shape: arb) -> arb:
    log = odds.log1p()
    if shape == 0:
        return (odds / log).log()
    return (shape * odds / -(-shape * log).expm1()).log()
