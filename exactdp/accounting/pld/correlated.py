"""The privacy loss of matrix mechanisms: training with correlated noise (DP-FTRL).

The answers are C x + sigma z for a lower triangular n x n matrix C, the strategy; row x_i is the
clipped sum of step i, and z is standard normal. To add C^-1 z to the steps' sums is
post-processing. A user takes part in at most k steps, any two of them at least b apart, with a
vector of norm at most 1 in each. Let c_i be column i of C and S the user's steps. With vectors u_i
the answers move by D, and |D|^2 is the sum over i, j in S of <c_i, c_j> <u_i, u_j>. The sensitivity
is the largest |D|. It is known exactly in three cases.

- Toeplitz strategies (column i is the sequence c_0, c_1, ... moved down by i and cut off) with
  c_0 >= c_1 >= ... >= 0. All <c_i, c_j> are >= 0, so |D| is largest if all u_i are equal. For i < j
  <c_i, c_j> is the sum of c_(v + j - i) c_v over v < n - j, which falls if j or j - i grows. Let
  s_0 < s_1 < ... be the steps in S: s_l >= l b and s_l - s_m >= (l - m) b. So no sum is larger than
  for the steps 0, b, 2 b, ..., and more steps only add terms >= 0.
- Strategies of at most b bands (C_ij = 0 for i - j >= b). The columns in S have no row in common,
  so |D|^2 is at most the sum of |c_i|^2 over S, for any signs. A dynamic program finds the best S;
  for a Toeplitz strategy |c_i| does not grow with i, so it is 0, b, 2 b, ... again.
- One participation: the largest norm of a column.

In all cases a user with equal vectors in the best steps attains the sensitivity, so the loss is
that of the Gaussian mechanism with this sensitivity, from both sides. Sums may depend on earlier
answers, since C is lower triangular and the noise is Gaussian (Denisov et al. 2022, Theorem 2.1).
If batches are drawn at random, this is still an upper bound for the participations that are
counted. Amplification is proved for cyclic Poisson samples (:func:`sampled_matrix`): users belong
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

Source: Choquette-Choo et al. 2023 (arXiv 2306.08153) for banded strategies; Kalinin and Lampert
2024 (arXiv 2405.13763) for Toeplitz strategies; the proofs above are complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, zip_longest
from math import comb, lcm
from typing import ClassVar, cast

from exactdp.accounting.neighbours import ADD_REMOVE, add_remove
from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.losses.base import LossLaw, Step
from exactdp.accounting.pld.losses.normal import Gaussian
from exactdp.accounting.pld.mechanisms import between, root
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import Real, integer, positive, rational

Strategy = Sequence[Real] | Sequence[Sequence[Real]]

#: mu^2 lies between 1/_EXTREME and _EXTREME.
_EXTREME = 10**200

_SAMPLED = "Choquette-Choo et al. 2023 (arXiv 2306.08153), exactdp.accounting.pld.correlated"

_NO_WORST = "a strategy with a part whose columns are the largest: the loss of others is not known"

_KNOWN = (
    "a Toeplitz strategy with coefficients that are >= 0 and do not increase, at most "
    "`separation` bands, or one participation: of others the largest sensitivity is not known"
)


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
    square = _square(strategy, steps, participations, separation) / positive("sigma", sigma) ** 2
    if not 1 <= square * _EXTREME <= _EXTREME**2:
        raise InvalidParameter("sigma", sigma, "1e-100 to 1e100 times the sensitivity")
    low, high = (Step.alike(Correlated(mu)) for mu in root(square))
    step = high if low == high else replace(high, real=((low,),), attained=False)
    apart = f"taking part in at most {participations} of {steps} steps, {separation} apart or more"
    source = "Denisov et al. 2022 (arXiv 2202.08312), exactdp.accounting.pld.correlated"
    return Pld(((step, 1),), add_remove(apart), source)


def sampled_matrix(*, sigma: Real, strategy: Strategy, steps: int, bands: int, rate: Real) -> Pld:
    """A banded matrix mechanism on cyclic Poisson samples: amplified DP-FTRL.

    sigma, strategy, steps: as in :func:`matrix`. bands: b; C_ij = 0 for i - j >= b. Users belong to
    b parts, chosen without regard to their data, and step i (from 0) draws every user of part
    i mod b with probability rate, in (0, 1], independently. Participations are not limited.
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
    return loss


def _norms(strategy: Strategy, n: int, bands: int) -> list[list[Fraction]]:
    """The squared norms of the columns of every part."""
    apart = min(integer("bands", bands, least=1), n)
    if _has_rows(strategy):
        rows = _rows(cast(Sequence[Sequence[Real]], strategy), n)
        if any(any(row[: max(i - apart + 1, 0)]) for i, row in enumerate(rows)):
            raise InvalidParameter("bands", bands, "the number of bands of the strategy, or more")
        squares = [sum((row[j] ** 2 for row in rows), Fraction(0)) for j in range(n)]
    else:
        c = [rational("strategy", x) for x in cast(Sequence[Real], strategy)][:n]
        if any(c[apart:]):
            raise InvalidParameter("bands", bands, "the number of bands of the strategy, or more")
        sums = list(accumulate((x * x for x in c[:apart]), initial=Fraction(0)))
        squares = [sums[min(n - j, len(sums) - 1)] for j in range(n)]
    return [squares[part::apart] for part in range(apart)]


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
    Raises InvalidParameter for strategies whose sensitivity is not known, see the module's text.

    >>> from exactdp.accounting import pld
    >>> print(pld.matrix_sensitivity(strategy=[1, "0.5"], steps=3, participations=2))
    [1.870828693, 1.870828694]
    """
    return Enclosure(*root(_square(strategy, steps, participations, separation)))


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


def _square(strategy: Strategy, steps: int, participations: int, separation: int) -> Fraction:
    """The square of the sensitivity."""
    n = integer("steps", steps, least=1)
    apart = integer("separation", separation, least=1)
    times = min(integer("participations", participations, least=1), -(-n // apart))
    if not len(strategy):
        raise InvalidParameter("strategy", strategy, "at least one coefficient")
    if _has_rows(strategy):
        square = _of_rows(_rows(cast(Sequence[Sequence[Real]], strategy), n), times, apart)
    else:
        coefficients = [rational("strategy", c) for c in cast(Sequence[Real], strategy)]
        square = _of_toeplitz(coefficients[:n], n, times, apart)
    if not square:
        raise InvalidParameter("strategy", strategy, "not all 0")
    return square


def _of_toeplitz(c: list[Fraction], n: int, times: int, apart: int) -> Fraction:
    falls = all(x >= y for x, y in zip(c, [*c[1:], Fraction(0)], strict=True))
    if not falls and any(c[apart:]) and times > 1:
        raise InvalidParameter("strategy", Described("another"), _KNOWN)
    scale = lcm(*(x.denominator for x in c))
    whole, total = [int(x * scale) for x in c], [0] * n
    for first in range(0, times * apart, apart):
        for i, x in enumerate(whole[: n - first], first):
            total[i] += x
    return Fraction(sum(x * x for x in total), scale**2)


def _of_rows(rows: list[list[Fraction]], times: int, apart: int) -> Fraction:
    n = len(rows)
    if times > 1 and any(any(row[: max(i - apart + 1, 0)]) for i, row in enumerate(rows)):
        raise InvalidParameter("strategy", Described("another"), _KNOWN)
    norms = [sum((row[j] ** 2 for row in rows), Fraction(0)) for j in range(n)]
    # best[i]: the largest sum of norms of at most t columns from i on
    best = [Fraction(0)] * (n + apart)
    for _ in range(times):
        more = [Fraction(0)] * (n + apart)
        for i in reversed(range(n)):
            more[i] = max(more[i + 1], norms[i] + best[i + apart])
        best = more
    return best[0]


def _rows(strategy: Sequence[Sequence[Real]], n: int) -> list[list[Fraction]]:
    shape = f"{n} rows of {n} numbers each, lower triangular"
    if len(strategy) != n or any(isinstance(r, str) or len(r) != n for r in strategy):
        raise InvalidParameter("strategy", strategy, shape)
    rows = [[rational("strategy", x) for x in row] for row in strategy]
    if any(any(row[i + 1 :]) for i, row in enumerate(rows)):
        raise InvalidParameter("strategy", strategy, shape)
    return rows
