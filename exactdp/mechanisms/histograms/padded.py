"""A sparse histogram with pure differential privacy, in time linear in the number of rows.

Noisy counts that pass a threshold t are kept, as in the stability histogram, whose delta is the
probability p that a noisy count of 1 passes. Random elements outside the kept ones, with counts
above t, pad the release to a fixed number m of bins, so that every element may occur for every data
set. Then delta is 0.

Proof, for a uniform choice of padding elements: let K be the kept elements, k = |K|. The other bins
are uniform among the sets of m - k of the d - k elements outside K, and w_k = 1/C(d - k, m - k) has
w_(k+1)/w_k = (d - k)/(m - k), which increases in k. Remove one row, an only x. At most n - 1 other
elements are kept. Releases without x become less likely by 1 - p. The bin (x, v) is kept with
probability P(v), or drops out with 1 - p and pads with g(v), so releases with it change by
1 - p + P(v)/g(v) (d - k)/(m - k), which lies in [1 - p, R] with
R = 1 - p + max P/g (d - n + 1)/(m - n + 1). If x occurs in other rows, too, then every factor
changes by at most r, the ratio of the noise. To replace a row is to remove one and to add another:
e^epsilon = max(r, R) max(r, 1/(1 - p)).

Padding elements come from N uniform draws with replacement: the first different ones outside K. If
fewer than m + n of the N are different, nothing is released; that does not depend on the data, and
given the opposite, symmetry makes the choice uniform. A draw from S random bits has
probabilities within 1 +- h of 1/d, h = d/2^S, which changes the probability of any event by a
factor between (1 - h)^N and (1 + h)^N, so e^epsilon by at most 1/(1 - 2 N h/(1 - h)). These errors
are relative. Algorithm 8 of BV has an absolute error instead, which must be below the least
probability of a release, about d^-n: that takes n log2(d) bits for each of its 4 n draws.

Source: Kerschbaum, Lee and Wu, "Optimal Pure Differentially Private Sparse Histograms in
Deterministic Linear Time" (arXiv 2507.17017), for padding to a target length; the algorithm here,
its constants and its proof are ours.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from flint import arb

from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.neighbours import REPLACED_ROW
from exactdp.balls import ball, precision, refine
from exactdp.bisection import least
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.fields import Number, frozen, number, whole
from exactdp.mechanisms.accuracy import Accuracy
from exactdp.mechanisms.histograms.mechanism import Bins, BinsMechanism
from exactdp.mechanisms.histograms.padding import PaddingCounts
from exactdp.parameters import Real, delta_target, integer, positive
from exactdp.samplers import FastSample, Source

#: The part of epsilon that is kept for elements drawn from a fixed number of bits.
_SHARE = Fraction(1, 1 << 42)

#: log2 of the largest probability that nothing is released.
_FAILURE_BITS = 64


@frozen
class PaddedSparseHistogram(BinsMechanism):
    """Noisy counts above a threshold, padded with random bins: pure privacy in linear time.

    noise: a FastSample. universe: d >= 2 (length + n). epsilon: > 0. length: m >= n, the number of
    released bins. threshold: t, from 0 to n - 1. draws: N >= m + n, elements drawn for padding.
    Every release reads the same number of random bits and makes the same draws, comparisons and
    look-ups. Usually made by :meth:`of`. Raises InvalidParameter unless the exact loss is at most
    epsilon.
    Source: after arXiv 2507.17017, see the module.

    >>> from exactdp.mechanisms import PaddedSparseHistogram
    >>> from exactdp.samplers import SystemSource
    >>> mechanism = PaddedSparseHistogram.of(n=1000, epsilon=1, universe=2**64)
    >>> release = mechanism.release({17: 600, 2**63: 400}, SystemSource())
    >>> len(release), mechanism.threshold, 17 in release
    (1250, 78, True)
    """

    epsilon: Number = number(positive)
    length: int = whole(least=1)
    threshold: int = whole(least=0)
    draws: int = whole(least=2)

    source = "padding to a fixed length, after arXiv 2507.17017"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.noise, FastSample):
            raise InvalidParameter("noise", self.noise, "a FastSample")
        integer("length", self.length, least=self.n)
        integer("draws", self.draws, least=self.length + self.n)
        integer("universe", self.universe, least=2 * (self.length + self.n))
        with precision(256):
            if not ball(self.e_epsilon) <= ball(self.epsilon).exp():
                raise InvalidParameter("threshold", self.threshold, "a larger threshold or epsilon")

    @classmethod
    def of(  # type: ignore[override]  # its noise always reads a fixed number of bits
        cls, *, n: int, epsilon: Real, universe: int, length: int | None = None
    ) -> PaddedSparseHistogram:
        """The mechanism with the least threshold for epsilon.

        n: number of rows, >= 2, and so many that some count passes the threshold; the error says
        how many these are (PureSparseHistogram takes any n). epsilon: > 0. universe: d >= 2 (length
        + n). length: m >= n, the number of released bins, by default n + ceil(n/4). A larger length
        lowers the threshold, by about (2/epsilon) ln(m - n + 1).
        """
        rows, loss = integer("n", n, least=2), positive("epsilon", epsilon)
        bins = _usual_length(rows) if length is None else integer("length", length, least=rows)
        size = integer("universe", universe, least=2 * (bins + rows))
        noise, threshold = _noise_and_threshold(rows, loss, size, bins)
        if threshold == rows:
            raise _too_few(rows, loss, size)
        return cls(noise, size, loss, bins, threshold, _draws(size, bins + rows))

    @cached_property
    def padding(self) -> PaddingCounts:
        """The law g of the counts that pad the release."""
        assert isinstance(self.noise, FastSample)
        return PaddingCounts(self.noise, self.threshold)

    @property
    def element_bits(self) -> int:
        """S: for a universe of 2^j elements at least j, so that draws are uniform.

        Otherwise h = d/2^S is at most 2^-45 min(epsilon, 1)/N, so that rounding costs at most a
        factor 1/(1 - 4 N h) <= 1 + 2^-42 epsilon.
        """
        size = self.universe
        exact = (size * self.draws << 45) / min(self.epsilon, Fraction(1))
        needed = size if _is_power(size) else ceil(exact)
        return -(-(needed - 1).bit_length() // 8) * 8

    @property
    def bits(self) -> int:
        """Random bits read by every release."""
        per_draw = (self.n + self.length) * self.padding.noise.bits
        return per_draw + self.draws * self.element_bits

    @cached_property
    def e_epsilon(self) -> Fraction:
        """max(r, R) max(r, 1/(1 - p)) times the cost of rounding: a bound of the exact loss."""
        ratio, passing = self.noise.e_half_epsilon, self.padding.passing
        odds = Fraction(self.universe - self.n + 1, self.length - self.n + 1)
        removed = _removed(self.padding, odds)
        return max(ratio, removed) * max(ratio, 1 / (1 - passing)) * self._rounding

    @property
    def _rounding(self) -> Fraction:
        if _is_power(self.universe):
            return Fraction(1)
        h = Fraction(self.universe, 1 << self.element_bits)
        return 1 / (1 - 2 * self.draws * h / (1 - h))

    @cached_property
    def failure(self) -> Fraction:
        """An upper bound of the probability that nothing is released.

        With s = m + n - 1, some s elements hold all N draws with probability at most
        C(d, s) (s/d)^N <= (e d/s)^s (s/d)^N.
        """
        s = self.length + self.n - 1

        def bound() -> arb:
            return (s - (self.draws - s) * ball(Fraction(self.universe, s)).log()).exp()

        return min(refine(bound).upper * self._rounding, Fraction(1))

    @property
    def guarantee(self) -> Guarantee:
        zero = Enclosure.exact(0)
        return Guarantee(self.epsilon, zero, REPLACED_ROW, self.source, self.e_epsilon)

    def accuracy(self, beta: Real) -> Accuracy:
        """Per query: the error of one count, for counts above threshold + error.

        Simultaneous: a union bound over n noisy counts and m padding counts, plus the threshold.
        """
        chance = delta_target("beta", beta)
        rest = chance - self.failure
        if rest <= 0:
            allowed = f"> {self.failure}, the probability that nothing is released"
            raise InvalidParameter("beta", beta, allowed)
        single = self.noise.error(rest)
        every = self.noise.error(rest / (2 * self.n))
        padding = self.padding.error(rest / (2 * self.length))
        return Accuracy(
            chance, single, self.threshold + single, self.threshold + max(every, padding)
        )

    def _draw(self, counts: dict[int, int], source: Source) -> Bins:
        noisy = np.array(self._noisy(counts, source))
        kind: Any = np.uint64 if self.universe <= 1 << 64 else object
        kept = np.array(list(counts), kind)[noisy > self.threshold]
        padding = self.padding.draw_many(self.length, source)
        elements = source.fixed_below_many(self.universe, self.draws, self.element_bits)
        distinct, turns = np.unique(elements.astype(kind), return_index=True)
        if distinct.size < self.length + self.n:
            return ()
        missing, outside = self.length - kept.size, ~np.isin(distinct, kept)
        last = np.sort(turns[outside])[missing - 1] if missing else -1
        released = np.concatenate([kept, distinct[outside & (turns <= last)]])
        values = np.concatenate([noisy[noisy > self.threshold], padding[:missing]])
        order = np.argsort(released, kind="stable")
        return tuple(zip(released[order].tolist(), values[order].tolist(), strict=True))


def _is_power(size: int) -> bool:
    return size.bit_count() == 1


def _removed(padding: PaddingCounts, odds: Fraction) -> Fraction:
    """R: by what factor, at most, removing a row makes a release with its element less likely."""
    return 1 - padding.passing + padding.excess * odds


def _usual_length(rows: int) -> int:
    return rows + -(-rows // 4)


def _noise_and_threshold(
    rows: int, epsilon: Fraction, size: int, bins: int
) -> tuple[FastSample, int]:
    """The noise of counts and the least threshold; n where no count of at most n passes."""
    # A noisy count of 1 passes with probability about (r - 1)/odds, where r - 1 >= epsilon/2.
    # With this gamma, m padding counts contain a uniform count with probability about 2^-20.
    odds = Fraction(size - rows + 1, bins - rows + 1)
    usual = FastSample(n=rows, epsilon=epsilon).gamma_inverse
    gamma = max(usual, ceil(odds * (2 + 2 / epsilon) * bins) << 20)
    noise = FastSample(n=rows, epsilon=epsilon * (1 - _SHARE), gamma_inverse=gamma)
    return noise, _least_threshold(noise, odds)


def _too_few(rows: int, epsilon: Fraction, size: int) -> InvalidParameter:
    """The error for so few rows that no count passes; it names the least number that does."""

    def enough(n: int) -> bool:
        bins = _usual_length(n)
        return size < 2 * (bins + n) or _noise_and_threshold(n, epsilon, size, bins)[1] < n

    n = least(rows, None, enough)
    if size < 2 * (_usual_length(n) + n):
        allowed = "so many that some count passes; list this small universe with BasicHistogram"
    else:
        allowed = f">= {n}: no count of fewer rows passes (PureSparseHistogram takes any n)"
    return InvalidParameter("n", rows, allowed)


def _least_threshold(noise: FastSample, odds: Fraction) -> int:
    """The least t whose padding hides an element as well as noise hides a count, or n."""
    top, ratio = min(noise.n - 1, len(noise.tails)) + 1, noise.e_half_epsilon

    def hides(t: int) -> bool:
        padding = PaddingCounts(noise, t)
        return _removed(padding, odds) <= ratio and 1 / (1 - padding.passing) <= ratio

    threshold = least(0, top, hides)
    return noise.n if threshold == top else threshold


def _draws(universe: int, least: int) -> int:
    """The least N for which the bound of `failure` is at most 2^-64, rounded up."""
    s = least - 1

    def more() -> arb:
        return (s + _FAILURE_BITS * arb.const_log2()) / ball(Fraction(universe, s)).log()

    return s + ceil(refine(more).upper)
