"""ALP, Section 10: variants for unknown sparsity and for negative values."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import sympy as sp

from exactdp.accounting.divergence import hockey_stick
from exactdp.law import Law
from exactdp.mechanisms.projections.alp import SignedALP, TotalALP
from exactdp.mechanisms.projections.private_size import PrivateSize
from exactdp.mechanisms.projections.universal_hashing import Tables
from exactdp_proofs.comparisons import at_most, equal, identity
from exactdp_proofs.papers.alp._model import (
    Bits,
    all_hashes,
    exp_lower,
    flip,
    neighbours,
    noisy_law,
    ratio,
    round_law,
    text,
)
from exactdp_proofs.papers.alp._shipped import read_off
from exactdp_proofs.papers.alp._threshold import stored
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import ALP, mutant, weaker

_ONE = Fraction(1)

ALP.not_checkable(
    "Section 10",
    "When to prefer the Laplace mechanism, thresholding or the ALP mechanism; the sparsity of "
    "neighbouring histograms differs by at most 1; an implementation in OpenDP.",
    "advice, a fact without a proof to check, and a pointer to software",
    "suggestions",
)


@ALP.holds("Section 10", "estimated sparsity")
@mutant("with ln(d)/epsilon", half=1)
def estimated_sparsity(half: int = 2) -> None:
    """k~ = k + Lap(1/epsilon) + ln(d/2)/epsilon is at most k with probability 1/d, for d >= 2."""
    d, eps = sp.symbols("d varepsilon", positive=True)
    shift = sp.log(d / half) / eps
    identity(sp.exp(-eps * shift) / 2 - 1 / d)


@ALP.conditional("Section 10", "known l1 norm, collisions")
@mutant("the array is split into m columns", one_array=False)
def known_norm_collisions(one_array: bool = True) -> None:
    """With |x|_1 = n known, epsilon = alpha = 1, and n entries of 1 in an array of 2n bits, an
    empty bit is hit with probability at most 0.4, so Theta(n epsilon) bits bound it by a constant.

    Condition: all columns share one array of that size, pairs (entry, column) being hashed. The s x
        m array of Algorithm 2 has Theta(n epsilon) columns for u = n, so it needs s = Theta(n
        epsilon) rows: with fewer, the probability is bounded on average, not in the first columns.
    Note: hash functions are fully random here.
    """
    for n in (1, 2, 3):
        hit = [h[0] in h[1:] for h in all_hashes(n + 1, 2 * n)]
        equal(Fraction(sum(hit), len(hit)), _hit(n, 2 * n), n=n)
    for n in (30, 100, 1000):  # all n ones stand in the first column, of 2 rows if split
        at_most(_hit(n, 2 * n if one_array else 2), Fraction(2, 5), n=n)


def _hit(n: int, cells: int) -> Fraction:
    return 1 - (1 - Fraction(1, cells)) ** n


@cache
def _sums(epsilon: Fraction) -> tuple[Fraction, dict[tuple[Fraction, ...], Law[int]]]:
    mechanism = PrivateSize(d=2, largest=2, epsilon=epsilon, values="positive")
    vectors = product(map(Fraction, range(3)), [Fraction(n, 4) for n in range(9)])
    return mechanism.e_epsilon, {x: mechanism.law(dict(enumerate(x))) for x in vectors}


@ALP.holds("Section 10", "estimated sum, shipped code", ours=True, slow=True)
@weaker
def estimated_sum(loss: Fraction = _ONE) -> None:
    """The sum of real values, rounded up to an integer, changes by at most 1 at l1 distance 1, so
    the shipped noisy size keeps its epsilon for sums as for numbers of entries.
    """
    limit, laws = _sums(_ONE)[0], _sums(loss)[1]
    for x, other, _ in neighbours(laws):
        at_most(ratio(laws[x], laws[other]), limit, x=text(x), other=text(other))


@ALP.holds("Section 10", "known l1 norm, mean number of ones", ours=True)
@mutant("2 % less", share=Fraction(49, 50))
def mean_number_of_ones(share: Fraction = _ONE) -> None:
    """A value x sets at most c x/w bits on average as shipped, where c is the steepest ratio of
    the ramp; so the sum of the values bounds collisions without a bound of k.
    """
    for steps in (1, 2, 8, 64):
        mechanism = TotalALP(d=1, k=1, s=99, largest=3, epsilon=1, total=9, alpha=8, steps=steps)
        width, factor = mechanism.cells.width, mechanism.ramp.steepest
        marks = (width * n / 64 for n in range(1, 193) if width * n / 64 <= mechanism.largest)
        for x in marks:
            mean = sum(level * p for level, p in mechanism.cells.places(x).items())
            at_most(mean, share * factor * x / width, steps=steps, x=x)


@ALP.holds("Section 10", "known l1 norm, with a threshold")
@mutant("also when d t < n", short=False)
def ones_below_a_threshold(short: bool = True) -> None:
    """The largest expected number of ones for |x|_1 = n with entries limited to t is min(n, d t)
    epsilon/alpha: while d t >= n, a threshold does not lower the size Theta(n epsilon).
    """
    n, d, eps, alpha = Fraction(4), 3, Fraction(2), Fraction(3)
    for t in (n, Fraction(5, 2), Fraction(3, 2), _ONE):
        most = Fraction(0)
        for halves in product(range(9), repeat=d):
            if sum(halves) == 2 * n:
                laws = (round_law(min(Fraction(v, 2), t) * eps / alpha) for v in halves)
                most = max(most, sum((law.expectation() for law in laws), Fraction(0)))
        equal(most, (n if n <= d * t or not short else d * t) * eps / alpha, t=t)


def _signed(y: int, m: int, row_of: tuple[int, ...], rows: int) -> Bits:
    """2m columns: the first m are one by default and 0 for the |y| columns next to the middle."""
    bits: list[int] = []
    for b in range(2 * m):
        default, own = int(b < m), int(b < m + y)
        bits += [own if a == row_of[b] else default for a in range(rows)]
    return tuple(bits)


@ALP.holds("Section 10", "negative values")
@mutant("the offset is m - 1", offset=2)
def negative_values(offset: int = 3) -> None:
    """With 2m columns, the first m set by default, the shipped estimate minus m recovers noiseless
    values from -m to m.
    """
    for y, h in product(range(-3, 4), product(range(2), repeat=6)):
        bits = _signed(y, 3, h, 2)
        equal(read_off([bits[2 * b + h[b]] for b in range(6)]) - offset, y, y=y, h=h)


@ALP.holds("Section 10", "negative values, privacy")
@weaker
def negative_values_privacy(loss: Fraction = _ONE) -> None:
    """The signed encoding of an entry has the privacy of Algorithm 2, also when the entry changes
    sign: ratios are at most e^distance.
    """
    small = Fraction(1, 200)  # where 1 + distance is nearest to its exponential
    grid = [*(Fraction(n, 4) for n in range(-4, 5)), small, -small]
    for alpha in (_ONE, Fraction(3)):
        laws = {
            (alpha * x,): round_law(x).then(
                lambda y: noisy_law(_signed(y, 1, (0, 0), 1), flip(loss * alpha))
            )
            for x in grid
        }
        for x, other, gap in neighbours(laws):
            limit = exp_lower(gap)
            at_most(ratio(laws[x], laws[other]), limit, alpha=alpha, x=x[0], other=other[0])


@ALP.holds("Section 10", "negative values, shipped code", ours=True, slow=True)
@weaker
def negative_values_shipped(loss: Fraction = _ONE) -> None:
    """The shipped signed projection loses just the epsilon that it promises, up to rounding, for
    neighbours on either side of 0 or across it.
    """
    mechanism = SignedALP(d=1, k=1, s=3, largest=1, epsilon=1, alpha=3, steps=1)
    less, hashes = replace(mechanism, epsilon=loss), Tables(((0,),) * (2 * mechanism.levels))
    laws = {(x,): less.law({0: x}, hashes) for x in (Fraction(n, 2) for n in range(-2, 3))}
    worst = max(ratio(laws[x], laws[y]) for x, y, _ in neighbours(laws))
    at_most(mechanism.e_epsilon - worst, Fraction(1, 2**60))
    at_most(worst, mechanism.e_epsilon)


@ALP.holds("Section 10", "signs in Algorithm 9")
@mutant("when the sign does not matter", sign_rule=False)
def signs_in_algorithm_9(sign_rule: bool = True, loss: Fraction = _ONE) -> None:
    """When only entries whose true and noisy values have the same sign are released, signed vectors
    need no more than delta/(2 e^epsilon), as nonnegative ones (Lemma 5.6, exact delta).

    Note: the mechanism is Algorithm 9 with |v| >= t for v >= t and rounding towards 0 or +-1.
        Without the sign rule an entry of 1 is stored 1 + e^(-2 epsilon) times as often.
    """
    base, t = Fraction(16), Fraction(3)  # e^epsilon; delta = 1/16
    less = raised(Fraction(4), loss) ** 2

    def side(x: Fraction) -> Law[int]:
        """Which side is stored: 1, -1 or 0. Given that, |v| - t is exponential whatever x is."""
        sign, y = (1 if x > 0 else -1), max(abs(x), _ONE)
        weight = min(abs(x), _ONE)
        same, opposite = weight * stored(y, t, less), weight * stored(-y, t, less) * (not sign_rule)
        return Law({sign: same, -sign: opposite, 0: 1 - same - opposite})

    grid = [Fraction(n, 2) for n in (*range(-3, 4), 4, 6)]  # up to t
    laws = {(a, b): side(a).product(side(b)) for a, b in product(grid, repeat=2)}
    for x, other, _ in neighbours(laws):
        delta = hockey_stick(laws[x], laws[other], e_epsilon=base).lower
        at_most(delta, stored(_ONE, t, base), x=text(x), other=text(other))
