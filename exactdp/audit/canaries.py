"""Auditing a training run in one run: canaries, guesses, and an exact bound on epsilon.

Each of m canaries is put into the training data by an independent fair coin. From the trained model
an attacker guesses, for r of them, whether they were in; v guesses are right. Setting and the case
delta = 0: Steinke, Nasr, Jagielski, Privacy Auditing with One (1) Training Run (NeurIPS 2023,
arXiv 2305.08846), section 5.

If training is (epsilon, delta)-private with respect to one canary, then with q = e^epsilon/(1 +
e^epsilon), B ~ Binomial(r, q) and f = P(B >= v),

    P(at least v of r guesses are right) <= f + m delta f (1 - f) / (v P(B = v)).

Proof. Averaging over relabelled coins and permuted canaries keeps privacy and success, so an output
with d wrong guesses may be taken to have a probability that depends on d alone: b_d / C(m, r), with
sum_d C(r, d) b_d = 1. With x_d = max(0, b_d - e^epsilon b_{d+1}), privacy of one canary, which is
guessed by a share r/m of the outputs, says sum_d C(r-1, d) x_d <= D = delta m/r. Let k = r - v.
Unrolling b_d <= e^epsilon b_{d+1} + x_d down from k+1, and b_{d+1} >= e^-epsilon (b_d - x_d) up
from it, bounds success G and failure 1 - G by multiples of b_{k+1}:

    G <= A b_{k+1} + sum_{j<=k} g_j x_j,     1 - G >= A' b_{k+1} - sum_{j>k} h_j x_j,

with f = A/(A + A'), g_j = sum_{d<=j} C(r, d) e^{epsilon (j-d)}, h_j likewise above j. Eliminating
b_{k+1}: G <= f + (1 - f) sum g_j x_j + f sum h_j x_j, at most f + D max((1-f) max_{j<=k}
g_j/C(r-1, j), f max_{j>k} h_j/C(r-1, j)). Binomials are log-concave, so the first ratio rises with
j, the second falls, and j = k of the first is largest; written out it is the bound above. []

For small delta it is attained (the tests solve the linear program). The delta term published as
Theorem 5.2, 2 m delta max_i (P(B >= v-i) - f)/i, is larger where audits are decided, and not a
bound everywhere: with m = r = 2, v = 1 and e^epsilon > 2 an (epsilon, delta)-private mechanism
exceeds it.

Beside it stands the bound on mu of Gaussian DP (tradeoffs.py), whose premise is stronger: that
training is mu-GDP for some mu, as noisy gradient descent nearly is. Where that holds it is sharper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import arb

from exactdp.accounting import gaussian
from exactdp.audit.bounds import binomial
from exactdp.audit.bounds.tails import at_least
from exactdp.audit.promises import Promise
from exactdp.audit.tradeoffs import impossible, least_mu, trade_off_of
from exactdp.balls import ball, enclosure, precision, refine
from exactdp.bisection import halved
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, decimal_text, false_alarm, integer, non_negative

_BITS = 128
_HALVINGS = 40
_NARROW = Fraction(1, 10**30)


@dataclass(frozen=True)
class OneRun:
    """What the guesses of one training run say, at one delta and one alpha.

    canaries, guesses, correct: m >= r >= v. epsilon_lower: epsilon is at least this, with
        confidence 1 - alpha, if training is (epsilon, delta)-private; rounded down.
    """

    canaries: int
    guesses: int
    correct: int
    delta: Fraction
    alpha: Fraction
    epsilon_lower: Fraction

    @cached_property
    def mu_lower(self) -> Fraction:
        """mu is at least this, with confidence 1 - alpha, if training is mu-GDP; rounded down."""
        return least_mu(self.canaries, self.guesses, self.correct, self.alpha)

    @cached_property
    def gaussian_epsilon_lower(self) -> Fraction:
        """epsilon at delta of mu_lower-GDP; rounded down, 0 where delta is 0."""
        return _gaussian_epsilon(self.mu_lower, self.delta)

    def p_value(self, epsilon: Real) -> Fraction:
        """How likely `correct` or more right guesses are, if training is (epsilon, delta)-private.

        epsilon: >= 0. Returns the bound, rounded up, at most 1.
        """
        exact_epsilon = non_negative("epsilon", epsilon)
        # a rate rounded up belongs to a slightly larger epsilon, which is promised as well
        rate = refine(lambda: 1 / (1 + (-ball(exact_epsilon)).exp()), relative_width=_NARROW).upper
        with precision(_BITS):
            value = _p_value(self.canaries, self.guesses, self.correct, rate, self.delta)
            return enclosure(value.min(arb(1))).upper

    def refutes(self, claim: Real | Promise) -> bool:
        """Whether a claim is violated, with confidence 1 - alpha.

        claim: an epsilon >= 0, to be judged with this delta; or a GaussianDP, a Profile or an
        ApproximateDP, judged by their whole curve.
        """
        if isinstance(claim, Promise):
            curve = trade_off_of(claim)
            return impossible(curve, self.canaries, self.guesses, self.correct, self.alpha)
        return self.p_value(claim) <= self.alpha

    @property
    def verdict(self) -> str:
        """One sentence for each premise; the larger bound on epsilon is marked."""
        low, mu, curved = (
            Enclosure.exact(bound).decimal_lower(6)
            for bound in (self.epsilon_lower, self.mu_lower, self.gaussian_epsilon_lower)
        )
        sure = Enclosure.exact(1 - self.alpha).decimal_lower(6)
        at = f"epsilon at delta {decimal_text(self.delta)} is at least"
        better = self.gaussian_epsilon_lower > self.epsilon_lower
        lines = [
            f"{at} {low}{'' if better else ' (the better bound)'}",
            f"if training is Gaussian DP: mu is at least {mu}"
            + (f", so {at} {curved}" if self.delta else "")
            + (" (the better bound)" if better else ""),
        ]
        return "\n".join(f"{line}, with confidence {sure}" for line in lines)

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON types; numbers are decimal strings, the bound rounded down."""
        return {
            "epsilon_lower": Enclosure.exact(self.epsilon_lower).decimal_lower(12),
            "delta": decimal_text(self.delta),
            "alpha": decimal_text(self.alpha),
            "canaries": self.canaries,
            "guesses": self.guesses,
            "correct": self.correct,
            "mu_lower": Enclosure.exact(self.mu_lower).decimal_lower(12),
            "gaussian_epsilon_lower": Enclosure.exact(self.gaussian_epsilon_lower).decimal_lower(
                12
            ),
        }


def one_run(
    *, canaries: Real, guesses: Real, correct: Real, delta: Real = "0", alpha: Real = "0.01"
) -> OneRun:
    """Certified lower bounds on epsilon and on mu from the canaries of one training run.

    canaries: m >= 1, each put into the training data by its own fair coin.
    guesses: r from 1 to m, how many of the coins were guessed: a number fixed before the model is
        looked at; which ones are guessed may depend on the model.
    correct: v from 0 to r, how many guesses were right.
    delta: >= 0 and < 1. alpha: how likely the bound is wrong, >= 1e-100 and < 1.

    Neighbours differ in one canary: added or removed, or replaced by the one that the coin's other
    side puts in its place. The bound on epsilon takes nothing else for granted; the bound on mu is
    for training that is mu-GDP for some mu. Raises InvalidParameter. Sources: this module and
    tradeoffs.py.

    >>> print(one_run(canaries=1000, guesses=100, correct=95, delta="1e-5").verdict)
    epsilon at delta 1e-5 is at least 1.93619, with confidence 0.99
    if training is Gaussian DP: mu is at least 0.657295, so ...2.70968 (the better bound), ...
    """
    m = integer("canaries", canaries, least=1)
    r = integer("guesses", guesses, least=1)
    v = integer("correct", correct, least=0)
    if r > m:
        raise InvalidParameter("guesses", guesses, f"at most canaries, which is {m}")
    if v > r:
        raise InvalidParameter("correct", correct, f"at most guesses, which is {r}")
    slack, level = non_negative("delta", delta), false_alarm("alpha", alpha)
    if slack >= 1:
        raise InvalidParameter("delta", delta, ">= 0 and < 1")
    return OneRun(m, r, v, slack, level, _epsilon_lower(m, r, v, slack, level))


def _gaussian_epsilon(mu: Fraction, delta: Fraction) -> Fraction:
    """The largest epsilon, nearly, at which mu-GDP is proved to have more than this delta."""
    if not mu or not delta:
        return Fraction(0)
    low, high = Fraction(0), 1 + mu * mu + mu * math.isqrt(int(2 / delta).bit_length() + 1) * 2
    for _ in range(_HALVINGS):
        middle = Fraction(float((low + high) / 2))
        exceeded = gaussian.delta(sigma=1, epsilon=middle, sensitivity=mu).lower > delta
        low, high = (middle, high) if exceeded else (low, middle)
    return low


def _epsilon_lower(m: int, r: int, v: int, delta: Fraction, alpha: Fraction) -> Fraction:
    """The largest epsilon, nearly, whose p-value is proved to be at most alpha; 0 for none.

    Whatever epsilon is refuted, every smaller one is too: (epsilon, delta)-privacy implies it. The
    search is over rates of right guesses, e^epsilon/(1 + e^epsilon), which are rational.
    """

    def certain(rate: Fraction) -> bool:
        with precision(_BITS):
            return bool(_p_value(m, r, v, rate, delta) <= ball(alpha))

    low, high = Fraction(1, 2), binomial._lower(v, r, alpha)  # the latter is the rate at delta = 0
    if high <= low or not certain(low):
        return Fraction(0)
    if certain(high):
        low = high
    low, _ = halved(low, high, lambda rate: not certain(rate), times=_HALVINGS)
    return refine(lambda: (ball(low) / ball(1 - low)).log()).lower if 2 * low > 1 else Fraction(0)


def _p_value(m: int, r: int, v: int, rate: Fraction, delta: Fraction) -> arb:
    """f + m delta f (1-f) / (v P(B = v)) for B ~ Binomial(r, rate), at the working precision."""
    if not v:
        return arb(1)
    tail = at_least(v, r, rate)
    if not delta or rate >= 1:
        return tail
    choose = arb(r + 1).lgamma() - arb(v + 1).lgamma() - arb(r - v + 1).lgamma()
    mass = (choose + v * ball(rate).log() + (r - v) * ball(1 - rate).log()).exp()
    return tail + m * ball(delta) * tail * (1 - tail) / (v * mass)
