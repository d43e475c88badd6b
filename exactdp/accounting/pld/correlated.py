"""The privacy loss of matrix mechanisms: training with correlated noise (DP-FTRL).

The answers are C x + sigma z for a lower triangular n x n matrix C, the strategy; row x_i is the
clipped sum of step i, and z is standard normal. To add C^-1 z to the steps' sums is
post-processing. A user takes part in at most k steps, any two of them at least b apart, with a
vector of norm at most 1 in each. The loss is at most that of the Gaussian mechanism with the
sensitivity that :mod:`~exactdp.accounting.pld.participation` encloses, and a user whose vectors
attain it attains the loss. Sums may depend on earlier answers, since C is lower triangular and the
noise is Gaussian (Denisov et al. 2022, Theorem 2.1). If batches are drawn at random, this is still
an upper bound for the participations that are counted.

Amplification is proved for cyclic Poisson samples (:func:`sampled_matrix`): users belong
to b fixed parts, and step i samples from part i mod b at rate q. Let C have at most b bands. A user
of part r can take part in the steps j = r, r + b, ..., each with a bit of its own. Column j is 0
outside of the rows j to j + b - 1, so every row depends on at most one of these bits, and the rows
of one bit are a block. Fix the samples of all others, and let the user's vector v at step j, |v| <=
1, be any function of the answers before row j. Take from every answer of the block what follows
from the answers before, without the user: that is one to one. What is left is z, or z plus v times
column j with probability q: Gaussian noise on a Poisson sample, at a sensitivity of at most |c_j|.
The blocks follow one another with fresh noise and fresh bits, so the loss is that of their adaptive
composition, and constant vectors of norm 1 attain it. For a Toeplitz strategy |c_j| does not grow
with j, so part 0 loses most; of rows, one part must have the largest columns.

Source: Choquette-Choo et al. 2023 (arXiv 2306.08153), Section 5; the proof above is complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, zip_longest
from math import comb
from typing import ClassVar, cast

from exactdp.accounting.neighbours import ADD_REMOVE, add_remove
from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.losses.base import LossLaw, Step
from exactdp.accounting.pld.losses.normal import Gaussian
from exactdp.accounting.pld.mechanisms import between, root
from exactdp.accounting.pld.participation import Ends, of_rows, of_toeplitz
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import Real, integer, positive, rational

Strategy = Sequence[Real] | Sequence[Sequence[Real]]

#: mu^2 lies between 1/_EXTREME and _EXTREME.
_EXTREME = 10**200

_SAMPLED = "Choquette-Choo et al. 2023 (arXiv 2306.08153), exactdp.accounting.pld.correlated"

_NO_WORST = "a strategy with a part whose columns are the largest: the loss of others is not known"


def matrix(
    *,
    sigma: Real,
    strategy: Strategy,
    steps: int,
    participations: int = 1,
    separation: int = 1,
) -> Pld:
    """A matrix mechanism, such as DP-FTRL: n steps with correlated Gaussian noise.

    sigma: standard deviation of z, > 0, in units of the clipping norm. Other parameters and errors
    as in :func:`matrix_sensitivity`. The loss is that of all n steps; `composed` runs all n steps
    again with fresh noise. Samples of users are refused; see :func:`sampled_matrix`.
    Source: the module's text; Denisov et al. 2022 (arXiv 2202.08312), Theorem 2.1.

    >>> from exactdp.accounting import pld
    >>> roots = pld.square_root_strategy(1000, bands=100)
    >>> loss = pld.matrix(
    ...     sigma=8, strategy=roots, steps=1000, participations=4, separation=250
    ... )
    >>> print(format(loss.epsilon("1e-6"), "4"))
    [1.754, 1.755]
    """
    noise = positive("sigma", sigma) ** 2
    least, most = (x / noise for x in _squares(strategy, steps, participations, separation))
    if not (least * _EXTREME >= 1 and most * _EXTREME <= _EXTREME**2):
        raise InvalidParameter("sigma", sigma, "1e-100 to 1e100 times the sensitivity")
    low, high = (Step.alike(Correlated(mu)) for mu in (root(least)[0], root(most)[1]))
    step = high if low == high else replace(high, real=((low,),), attained=False)
    apart = f"taking part in at most {participations} of {steps} steps, {separation} apart or more"
    source = "Denisov et al. 2022 (arXiv 2202.08312), exactdp.accounting.pld.correlated"
    return Pld(((step, 1),), add_remove(apart), source)


def sampled_matrix(
    *, sigma: Real, strategy: Strategy, steps: int, rate: Real, bands: int | None = None
) -> Pld:
    """A banded matrix mechanism on cyclic Poisson samples: amplified DP-FTRL.

    sigma, strategy, steps: as in :func:`matrix`. bands: b, by default the number of bands of the
    strategy; C_ij = 0 for i - j >= b. Users belong to b parts, chosen without regard to their data,
    and step i (from 0) draws every user of part i mod b with probability rate, in (0, 1],
    independently. Participations are not limited. This is no method of :func:`matrix`, because
    Poisson samples of every step from all users, which `sampled` draws, are not covered.
    Raises InvalidParameter for strategies with more bands, and where no part has the largest
    columns.
    Source: Choquette-Choo et al. 2023 (arXiv 2306.08153), Section 5; the module's text.

    >>> from exactdp.accounting import pld
    >>> roots = pld.square_root_strategy(1000, bands=10)
    >>> loss = pld.sampled_matrix(sigma=2, strategy=roots, steps=1000, bands=10, rate="0.1")
    >>> print(format(loss.epsilon("1e-6"), "4"))  # takes seconds
    [4.067, 4.068]
    """
    n, noise = integer("steps", steps, least=1), positive("sigma", sigma)
    parts = [sorted(norms, reverse=True) for norms in _norms(strategy, n, bands)]
    most = [max(norms) for norms in zip_longest(*parts, fillvalue=Fraction(0))]
    if most not in parts:
        raise InvalidParameter("strategy", Described("another"), _NO_WORST)
    loss: Pld | None = None
    for square, times in Counter(norm for norm in most if norm).items():
        block = Pld(((between(square / noise**2), 1),), ADD_REMOVE, _SAMPLED)
        run = block.sampled(rate).composed(times)
        loss = run if loss is None else loss.then(run)
    if loss is None:
        raise InvalidParameter("strategy", strategy, "not all 0")
    # the blocks of users in different parts overlap, so no loss of a group is proved
    for_one = tuple(
        (_OfOneUser(step.removed, step.added, step.real, step.attained), times)
        for step, times in loss.steps
    )
    return Pld(for_one, loss.neighbours, loss.source)


class _OfOneUser(Step):
    """A step whose loss is known for one user, and not for a group."""

    def grouped(self, size: int) -> Step:
        allowed = "1 for correlated noise on samples: a loss is proved for one user alone"
        raise InvalidParameter("size", size, allowed)


def _norms(strategy: Strategy, n: int, bands: int | None) -> list[list[Fraction]]:
    """The squared norms of the columns of every part."""
    if _has_rows(strategy):
        rows = _rows(cast(Sequence[Sequence[Real]], strategy), n)
        used = (i - j for i, row in enumerate(rows) for j in range(i + 1) if row[j])
        squares = [sum((row[j] ** 2 for row in rows), Fraction(0)) for j in range(n)]
    else:
        c = [rational("strategy", x) for x in cast(Sequence[Real], strategy)][:n]
        used = (place for place, x in enumerate(c) if x)
        sums = list(accumulate((x * x for x in c), initial=Fraction(0)))
        squares = [sums[min(n - j, len(sums) - 1)] for j in range(n)]
    least = 1 + max(used, default=0)
    parts = least if bands is None else integer("bands", bands, least=1)
    if parts < least:
        raise InvalidParameter(
            "bands", bands, f"the number of bands of the strategy, {least}, or more"
        )
    return [squares[part :: min(parts, n)] for part in range(min(parts, n))]


def _has_rows(strategy: Strategy) -> bool:
    return any(isinstance(entry, Sequence) and not isinstance(entry, str) for entry in strategy)


def matrix_sensitivity(
    *, strategy: Strategy, steps: int, participations: int = 1, separation: int = 1
) -> Enclosure:
    """The l2 sensitivity of a matrix mechanism, for vectors of norm at most 1.

    strategy: C, as the coefficients c_0, c_1, ... of a Toeplitz matrix (zeros follow), or as rows.
    C_ij is the weight of step j in answer i, so the noise of the steps is C^-1 z; if you know the
    coefficients of C^-1, give those of the inverse power series. steps: n, >= 1.
    participations: k >= 1, the most steps with one user. separation: b >= 1, the least distance of
    such steps (1: any two steps).
    The enclosure is narrow for Toeplitz strategies whose coefficients are >= 0 and do not increase,
    for at most 2 b bands and for at most two participations; of other strategies it may be wide.
    Raises InvalidParameter.
    Source: exactdp.accounting.pld.participation.

    >>> from exactdp.accounting import pld
    >>> print(pld.matrix_sensitivity(strategy=[1, "0.5"], steps=3, participations=2))
    [1.870828693, 1.870828694]
    """
    least, most = _squares(strategy, steps, participations, separation)
    return Enclosure(root(least)[0], root(most)[1])


def square_root_strategy(steps: int, bands: int | None = None) -> list[Fraction]:
    """Toeplitz coefficients comb(2 j, j)/4^j: the square root of the matrix of prefix sums.

    steps: n >= 1. bands: number of coefficients that are kept, 1 to n; by default all.
    Source: Kalinin and Lampert 2024 (arXiv 2405.13763), banded square root.

    >>> [str(c) for c in square_root_strategy(9, bands=4)]
    ['1', '1/2', '3/8', '5/16']
    """
    n = integer("steps", steps, least=1)
    kept = n if bands is None else min(integer("bands", bands, least=1), n)
    return [Fraction(comb(2 * j, j), 4**j) for j in range(kept)]


@dataclass(frozen=True)
class Correlated(Gaussian):
    """The loss of all steps together. Their noise is correlated, so steps are not sampled alone."""

    one_step: ClassVar[bool] = False

    def replaced(self) -> LossLaw:
        return Correlated(2 * self.mu)

    def grouped(self, size: int) -> tuple[LossLaw, LossLaw]:
        return Correlated(size * self.mu), Correlated(size * self.mu)


def _squares(strategy: Strategy, steps: int, participations: int, separation: int) -> Ends:
    """Both ends of the square of the sensitivity."""
    n = integer("steps", steps, least=1)
    apart = integer("separation", separation, least=1)
    times = min(integer("participations", participations, least=1), -(-n // apart))
    if not len(strategy):
        raise InvalidParameter("strategy", strategy, "at least one coefficient")
    if _has_rows(strategy):
        ends = of_rows(_rows(cast(Sequence[Sequence[Real]], strategy), n), times, apart)
    else:
        coefficients = [rational("strategy", c) for c in cast(Sequence[Real], strategy)]
        ends = of_toeplitz(coefficients, n, times, apart)
    if not ends[1]:
        raise InvalidParameter("strategy", strategy, "not all 0")
    return ends


def _rows(strategy: Sequence[Sequence[Real]], n: int) -> list[list[Fraction]]:
    shape = f"{n} rows of {n} numbers each, lower triangular"
    if len(strategy) != n or any(isinstance(r, str) or len(r) != n for r in strategy):
        raise InvalidParameter("strategy", strategy, shape)
    rows = [[rational("strategy", x) for x in row] for row in strategy]
    if any(any(row[i + 1 :]) for i, row in enumerate(rows)):
        raise InvalidParameter("strategy", strategy, shape)
    return rows
