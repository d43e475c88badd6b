"""The l2 sensitivity of a matrix mechanism for users who take part in several steps.

The answers are C x, row x_i being the clipped sum of step i. A user takes part in a set S of at
most k steps, any two of them at least b apart, with a vector u_i of norm at most 1 in each. Let c_i
be column i of C. The answers move by D, and |D|^2 is the sum over i, j in S of <c_i, c_j> <u_i,
u_j>. The sensitivity is the largest |D|.

It is known exactly in three cases.

- Toeplitz strategies (column i is the sequence c_0, c_1, ... moved down by i and cut off) with
  c_0 >= c_1 >= ... >= 0. All <c_i, c_j> are >= 0, so |D| is largest if all u_i are equal. For i < j
  <c_i, c_j> is the sum of c_(v + j - i) c_v over v < n - j, which falls if j or j - i grows. Let
  s_0 < s_1 < ... be the steps in S: s_l >= l b and s_l - s_m >= (l - m) b. So no sum is larger than
  for the steps 0, b, 2 b, ..., and more steps only add terms >= 0.
- Strategies of at most b bands (C_ij = 0 for i - j >= b), and one participation. The columns in S
  have no row in common, so |D|^2 is at most the sum of |c_i|^2 over S, for any signs. A dynamic
  program finds the best S; for a Toeplitz strategy |c_i| does not grow with i, so it is 0, b, ...
- Strategies of at most 2 b bands, and two participations, with coefficients of any sign and order.
  Only steps that follow one another in S have columns with a row in common. So |D|^2 is at most the
  sum of |c_i|^2 over S plus twice |<c_i, c_j>| over all pairs of neighbours in S; parallel vectors
  attain that, since each u_j may have the sign that its predecessor asks for. A dynamic program
  over the last step of S finds the best S.

For all others it is enclosed. Any S with equal vectors is a lower bound. Above: |<c_i, c_j>| is at
most the inner product of the absolute values, so of a Toeplitz strategy at most that of the
smallest sequence that does not rise and is nowhere below |c_j|, to which the first case applies.
For rows let v_i be the largest sum of |<c_i, c_j>| over any allowed set of steps j: |D|^2 is at
most the largest sum of v_i over S.

Source: Choquette-Choo et al. 2023 (arXiv 2306.08153) for banded strategies; Kalinin and Lampert
2024 (arXiv 2405.13763) for Toeplitz strategies; the proofs above are complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise
from math import lcm

from flint import fmpz_mat

#: Largest number of steps of the dynamic program over the last step: about ten seconds.
_MOST_WORK = 10**7

#: Both ends of the square of the sensitivity.
Ends = tuple[Fraction, Fraction]


def of_toeplitz(c: Sequence[Fraction], n: int, times: int, apart: int) -> Ends:
    """For coefficients c_0, c_1, ... of a Toeplitz strategy of n steps."""
    scale = lcm(*(x.denominator for x in c))
    whole = [int(x * scale) for x in c[:n]]
    bands = max((i + 1 for i, x in enumerate(whole) if x), default=0)
    whole = whole[:bands]
    low = high = _moved(whole, n, times, apart)
    falls = all(x >= y for x, y in pairwise([*whole, 0]))
    if not falls and bands > apart and times > 1:
        if (times == 2 or bands <= 2 * apart) and times * n * bands <= _MOST_WORK:
            low = high = _best_chain(n, times, apart, bands, _products(whole, n))
        else:
            majorant = list(accumulate((abs(x) for x in reversed(whole)), max))[::-1]
            high = _moved(majorant, n, times, apart)
            low = max(low, sum(x * x for x in whole))
    return Fraction(low, scale**2), Fraction(high, scale**2)


def of_rows(rows: Sequence[Sequence[Fraction]], times: int, apart: int) -> Ends:
    """For the rows of a lower triangular strategy."""
    n, scale = len(rows), lcm(*(x.denominator for row in rows for x in row))
    whole = fmpz_mat([[int(x * scale) for x in row] for row in rows])
    gram = [[int(x) for x in row] for row in (whole.transpose() * whole).tolist()]
    bands = max(
        (i - j + 1 for i, row in enumerate(rows) for j in range(i + 1) if row[j]), default=0
    )
    norms = [gram[i][i] for i in range(n)]
    if bands <= apart or times == 1:
        low = high = sum(norms[i] for i in _best_steps(norms, times, apart))
    elif times == 2 or (bands <= 2 * apart and times * n * bands <= _MOST_WORK):
        low = high = _best_chain(n, times, apart, bands, lambda i, j: gram[i][j])
    else:
        sizes = [[abs(x) for x in row] for row in gram]
        most = [sum(row[j] for j in _best_steps(row, times, apart)) for row in sizes]
        steps = _best_steps(most, times, apart)
        high = sum(most[i] for i in steps)
        sets = (steps, list(range(0, n, apart))[:times])
        low = max(*norms, *(sum(gram[i][j] for i in chosen for j in chosen) for chosen in sets))
    return Fraction(low, scale**2), Fraction(high, scale**2)


def _moved(c: Sequence[int], n: int, times: int, apart: int) -> int:
    """The square of the sum of the columns 0, b, 2 b, ..."""
    total = [0] * n
    for first in range(0, times * apart, apart):
        for i, x in enumerate(c[: n - first], first):
            total[i] += x
    return sum(x * x for x in total)


def _products(c: Sequence[int], n: int) -> Callable[[int, int], int]:
    """<c_i, c_j> for i <= j < n: the sum of c_(v + j - i) c_v over v < n - j."""

    @cache
    def sums(distance: int) -> list[int]:
        products = (x * y for x, y in zip(c[distance:], c, strict=False))
        return list(accumulate(products, initial=0))

    def product(i: int, j: int) -> int:
        known = sums(j - i)
        return known[min(n - j, len(known) - 1)]

    return product


def _best_chain(
    n: int, times: int, apart: int, bands: int, product: Callable[[int, int], int]
) -> int:
    """The largest sum of squares and of twice the moduli of products of neighbours in a set."""
    norms = [product(j, j) for j in range(n)]
    ending = norms  # ending[j]: the most for a set whose last step is j
    best = max(ending)
    for _ in range(times - 1):
        far = [0, *accumulate(ending, max)]  # far[i]: the most for a last step before i
        longer = []
        for j in range(n):
            before = far[max(j - max(bands, apart) + 1, 0)]
            for i in range(max(j - bands + 1, 0), j - apart + 1):
                before = max(before, ending[i] + 2 * abs(product(i, j)))
            longer.append(norms[j] + before)
        ending = longer
        best = max(best, *ending)
    return best


def _best_steps(weights: Sequence[int], times: int, apart: int) -> list[int]:
    """The set of at most `times` steps, at least `apart` apart, with the largest sum of weights."""
    n = len(weights)
    best = [[0] * (n + apart)]  # best[t][i]: the largest sum over t steps from i on
    for _ in range(times):
        more = [0] * (n + apart)
        for i in reversed(range(n)):
            more[i] = max(more[i + 1], weights[i] + best[-1][i + apart])
        best.append(more)
    steps, i, left = [], 0, times
    while i < n and left:
        if best[left][i] == best[left][i + 1]:
            i += 1
        else:
            steps.append(i)
            i, left = i + apart, left - 1
    return steps
