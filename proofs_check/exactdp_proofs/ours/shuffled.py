"""The texts of exactdp.local.shuffled_many and shuffled_binary: shuffled k-ary responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations_with_replacement, product
from math import comb

from exactdp_proofs.comparisons import at_most, equal
from exactdp_proofs.ours.sampling import _excess, _Law
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import PLD, mutant

#: More than the largest count of a value: counts are the digits of a number.
_BASE = 16

#: e^epsilon of a report, and of the question, which is smaller.
_PAIRS = [(Fraction(r), Fraction(e)) for r, e in ((2, 1), (3, 1), (3, "6/5"), (3, 2), (5, "3/2"))]

_ZERO, _HALF = Fraction(0), Fraction(1, 2)


@cache
def _counts(values: tuple[int | None, ...], k: int, r: Fraction) -> _Law:
    """The law of the counts of the reports of users with these values; None reports uniformly."""
    law: _Law = {0: Fraction(1)}
    for value in values:
        weights = [r if y == value else Fraction(1) for y in range(k)]
        more: _Law = {}
        for (known, p), (y, weight) in product(law.items(), enumerate(weights)):
            place = known + _BASE**y
            more[place] = more.get(place, _ZERO) + p * weight / sum(weights)
        law = more
    return law


def _delta(others: Sequence[int | None], k: int, r: Fraction, e: Fraction) -> Fraction:
    """The largest delta if a user's value 0 changes to 1, in both orders."""
    p, q = (_counts((*sorted(others, key=str), value), k, r) for value in (0, 1))
    return max(_excess(p, q, e), _excess(q, p, e))


def _binomial(n: int, p: Fraction) -> list[Fraction]:
    return [comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]


def _mean(n: int, p: Fraction) -> Iterator[tuple[int, int, Fraction]]:
    """h_x, h_y and their probability, if n reports are 0 or 1 with probability p in all."""
    for t, mass in enumerate(_binomial(n, p)):
        for h, half in enumerate(_binomial(t, _HALF)):
            yield h, t - h, mass * half


def _uniform(m: int, k: int, r: Fraction, e: Fraction) -> Fraction:
    """delta of M reports, one of them the user's and the others uniform, by the text's formula."""
    delta = _ZERO
    for h, other, mass in _mean(m, Fraction(2, k)):
        delta += mass * max(h - e * other - m * (e - 1) / (r - 1), _ZERO)
    return delta * (r - 1) / (r + k - 1) * k / m


@PLD.holds("Shuffled reports", "a report among uniform ones")
@mutant("with k/(M + 1) for k/M", more=1)
def among_uniform(more: int = 0, loss: Fraction = Fraction(1)) -> None:
    """If all others report uniformly, delta is E_U[w] with w = (p - q) (k/M)
    (h_x - E h_y - M (E - 1)/(r - 1))_+ for M reports.
    """
    for k, m, (r, e) in product((2, 3, 4), (1, 2, 4), _PAIRS):
        delta = _uniform(m, k, r, e) * Fraction(m, m + more)
        equal(_delta([None] * (m - 1), k, raised(r, loss), e), delta, k=k, m=m, r=r, e=e)


@PLD.holds("Shuffled reports", "blocks of uniform reports")
@mutant("with the mean M of the block", mean=True)
def blocks(mean: bool = False) -> None:
    """Another uniform report does not raise delta, so the mean over a block is at most delta for
    the least number of them.
    """
    for k, first, (r, e) in product((3, 4), (1, 2, 5), _PAIRS):
        block = [_uniform(m, k, r, e) for m in range(first, first + 3)]
        bound = block[1] if mean else block[0]
        at_most(sum(block) / 3, bound, k=k, first=first, r=r, e=e)


@PLD.holds("Shuffled reports", "every data set")
@mutant("with that of the data sets where all others have a third value", third=True)
def every_data_set(third: bool = False, loss: Fraction = Fraction(1)) -> None:
    """For k >= 3 and any values of the others, delta is at most the mean over N from
    Bin(n - 1, k q) of delta of a report among N uniform ones.
    """
    for (k, n), (r, e) in product(((3, 2), (3, 4), (4, 3)), _PAIRS):
        weights = _binomial(n - 1, k / (r + k - 1))
        bound = sum((p * _uniform(m + 1, k, r, e) for m, p in enumerate(weights)), _ZERO)
        if third:
            bound = _delta([2] * (n - 1), k, r, e)
        for others in combinations_with_replacement(range(k), n - 1):
            at_most(_delta(others, k, raised(r, loss), e), bound, k=k, r=r, e=e, others=others)


@PLD.holds("Shuffled reports", "a third value")
@mutant("if the others have the new value", value=1)
def third_value(value: int = 2, loss: Fraction = Fraction(1)) -> None:
    """For k >= 3, and others who all have a third value, delta is the mean of (r - 1)/n
    (h_x - E h_y - m (E - 1)/(r - 1))_+ over n reports of that value, with m = B + (n - B)/r for B
    reports that differ from it.
    """
    for k, n, (r, e) in product((3, 4), (1, 2, 4), _PAIRS):
        delta = _ZERO
        for b, mass in enumerate(_binomial(n, (k - 1) / (r + k - 1))):
            for h, other, p in _mean(b, Fraction(2, k - 1)):
                delta += mass * p * _third(h, other, b + (n - b) / r, r, e) / n
        equal(_delta([value] * (n - 1), k, raised(r, loss), e), delta, k=k, n=n, r=r, e=e)


def _third(h: int, other: int, m: Fraction, r: Fraction, e: Fraction) -> Fraction:
    return (r - 1) * max(h - e * other - m * (e - 1) / (r - 1), _ZERO)


@PLD.holds("Shuffled reports", "a third value, two counts")
@mutant("by its least value", least=True)
def two_counts(least: bool = False) -> None:
    """If m is replaced by its mean for given h_x + h_y, n (o + (1 - o)/r) plus a slope times
    h_x + h_y, o being the part of the other reports that is not of the third value, delta does not
    rise.
    """
    for k, n, (r, e) in product((3, 4), (2, 4), _PAIRS):
        delta, q = _ZERO, 1 / (r + k - 1)
        part = (k - 3) * q / (1 - 2 * q)
        for h, other, p in _mean(n, 2 * q):
            m = n * (part + (1 - part) / r) + (1 - part) * (1 - 1 / r) * (h + other)
            m = h + other + (n - h - other) / r if least else m
            delta += p * _third(h, other, m, r, e) / n
        at_most(delta, _delta([2] * (n - 1), k, r, e), k=k, n=n, r=r, e=e)


@PLD.holds("Shuffled reports", "two values")
@mutant("with P(S > h)", more=1)
def two_values(more: int = 0, loss: Fraction = Fraction(1)) -> None:
    """For k = 2 and any values of the others, S of whom report 1, delta is the largest
    (p - E q) P(S = h - 1) - (E - 1) P(S >= h), or that with n - 1 - S for S.
    """
    for n, (r, e) in product((1, 2, 5), _PAIRS):
        for ones in range(n):
            s = _ones([1] * ones + [0] * (n - 1 - ones), r)
            delta = max(_best(s, r, e, more), _best(s[::-1], r, e, more))
            others = [1] * ones + [0] * (n - 1 - ones)
            equal(_delta(others, 2, raised(r, loss), e), delta, n=n, ones=ones, r=r)


def _ones(values: Iterable[int | None], r: Fraction) -> list[Fraction]:
    law = _counts(tuple(values), 2, r)
    masses = [_ZERO] * (max(z // _BASE for z in law) + 1)
    for z, mass in law.items():
        masses[z // _BASE] += mass
    return masses


def _best(s: list[Fraction], r: Fraction, e: Fraction, more: int) -> Fraction:
    return max(
        (r - e) / (r + 1) * s[h - 1] - (e - 1) * sum(s[h + more :], _ZERO)
        for h in range(1, len(s) + 1)
    )


@PLD.holds("Shuffled reports", "blocks of two values")
@mutant("if all others of the block report uniformly", all_uniform=True)
def blocks_of_two_values(all_uniform: bool = False, loss: Fraction = Fraction(1)) -> None:
    """For k = 2, and from l to u ones among the others, delta is at most the mean over N from
    Bin(u - l, 2 q) of delta with l ones, n - 1 - u zeros and N uniform reports.
    """
    n = 6
    for (r, e), (low, high) in product(_PAIRS, ((0, 0), (0, 2), (1, 2), (0, 5))):
        rate = Fraction(1) if all_uniform else 2 / (r + 1)
        bound = _ZERO
        for count, p in enumerate(_binomial(high - low, rate)):
            bound += p * _delta([1] * low + [0] * (n - 1 - high) + [None] * count, 2, r, e)
        for ones in range(low, high + 1):
            others = [1] * ones + [0] * (n - 1 - ones)
            at_most(
                _delta(others, 2, raised(r, loss), e),
                bound,
                r=r,
                e=e,
                low=low,
                high=high,
                ones=ones,
            )
