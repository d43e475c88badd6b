"""Lower bounds on the delta of the discrete correlated sparse histogram (CSH).

Every event that a reader can see gives one. Of k counters, r are 1 in the first histogram and 0 in
the second; the other j = k - r are in both, so large that all of them are released, and m of them
are larger by one in the first. With the notation of :mod:`discrete_csh`, let T be the sum of the
doubled noisy counters of these m minus that of the other j - m: up to a constant, T is
A + (2 m - j) Z with A a sum of j copies of Z_i, and in the first histogram 2 m more. The event is
that some of the r counters is released, or that T >= t:

    delta >= 1 - E[G(Z)^r P(A + (2 m - j) Z + 2 m < t | Z)] - e^epsilon P(A + (2 m - j) Z >= t),

where G(z) = P(Z_i + z <= 2 tau). For r = k this is the probability that some counter is released,
and for r = 0, k a square and m = (k + sqrt k)/2 the bound for the noise of k counters: both ends of
the bound by cases are attained then.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from flint import arb

from exactdp.accounting.certify.gaussian_sums import is_smooth, smoothing
from exactdp.accounting.sparse_histograms.discrete_csh_terms import Showing, sum_tail
from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure

#: The bound is a maximum over few cases; each of them takes a sum over the shared noise.
_MOST_CASES = 24

#: Thresholds t that are tried around the best one for continuous noise.
_TRIED = (-1, 0, 1)


def lower_bound(k: int, variance: Fraction, tau: Fraction, epsilon: Fraction) -> Enclosure:
    """The largest of the lower bounds. variance: V = 4 sigma^2."""

    def largest() -> arb:
        showing = Showing.of(k, variance, tau)
        bounds = [case_at_least(r, k, variance, epsilon, showing) for r in _cases(k)]
        return max(bounds, key=lambda bound: bound.lower()).max(arb(0))

    return refine(largest, relative_width=Fraction(1, 10**9))


def _cases(k: int) -> Iterator[int]:
    """Numbers of counters that only one histogram has: both ends, and some between them."""
    powers = [2**i for i in range(k.bit_length()) if 2**i < k]
    every = sorted({0, k, *powers, *(k - power for power in powers)})
    step = -(-len(every) // _MOST_CASES)
    yield from sorted({0, k, *every[::step]})


def case_at_least(r: int, k: int, variance: Fraction, epsilon: Fraction, showing: Showing) -> arb:
    """The best of some lower bounds for r counters in one histogram and k - r in both."""
    j = k - r
    if not j:
        return showing.any_of(k)
    shared = float(variance) / math.sqrt(k)
    best = min(max(round((j + math.sqrt(k)) / 2), 1), j)
    bounds = []
    for m in {best, min(best + 1, j)}:
        spread = j * float(variance) + (2 * m - j) ** 2 * shared
        start = math.floor(spread * float(epsilon) / (2 * m)) + m + 1
        bounds += [_seen(m, start + step, r, k, variance, epsilon, showing) for step in _TRIED]
    return max(bounds, key=lambda bound: bound.lower())


def _seen(
    m: int, t: int, r: int, k: int, variance: Fraction, epsilon: Fraction, showing: Showing
) -> arb:
    """The lower bound of the module's text, for m counters that differ and the threshold t."""
    j, shared = k - r, showing.shared
    tail, spread = sum_tail(j, variance), arb(0)
    if is_smooth(j, variance):
        spread = smoothing(j, variance) if j > 1 else spread
    factor, first, second = ball(epsilon).exp(), arb(0), arb(0)
    for index, (here, log) in enumerate(zip(shared.values[:-1], showing.logs, strict=False)):
        level = t - 1 - (2 * m - j) * (index - shared.reach)
        hidden = (r * log).exp()
        first += here * (1 - hidden + hidden * tail(level - 2 * m))
        second += here * tail(level)
    around = (spread * arb(0, 1)).exp()
    return first * around - factor * (second * around + shared.missing * arb(0.5, 0.5))
