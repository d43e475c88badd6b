"""ALP, Section 5.1: privacy of Algorithm 9 (Lemma 5.6), where epsilon is limited."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product
from typing import Any

from exactdp.accounting.divergence import hockey_stick, total_variation
from exactdp.law import Law
from exactdp.mechanisms.projections.thresholds import ApproximateThreshold, Threshold
from exactdp.parameters import Real
from exactdp_proofs.comparisons import at_most, below, equal, holds
from exactdp_proofs.papers.alp._model import (
    distance,
    neighbours,
    text,
)
from exactdp_proofs.papers.alp._threshold import Vector, power, rounded_law, stored
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import ALP, as_printed, fitted, mutant

_ONE = Fraction(1)
_ROOT, _DELTA, _T = Fraction(3, 2), Fraction(4, 9), Fraction(3)  # e^(epsilon/2); t is Step (3)
_BASE = _ROOT**2
_SMALL = tuple(Fraction(n, 4) for n in range(5))
_GRID = (*_SMALL, Fraction(3, 2), Fraction(2))
#: e^(epsilon/2) and t: delta = e^(-(t - 2) epsilon) is 4/9 and 1/256. Entries near t see epsilon.
_CASES = ((_ROOT, _T), (Fraction(4), Fraction(4)))


@ALP.holds("Algorithm 9")
@mutant("noise is added to zero entries, too", pure=True)
def algorithm_9(pure: bool = False) -> None:
    """As shipped, only nonzero entries can be stored, each of them with some probability; so every
    output is k-sparse.
    """
    mechanism: Any = ApproximateThreshold(
        d=2, k=2, largest=4, epsilon=1, grid=1, delta=Fraction(1, 4)
    )
    if pure:
        mechanism = Threshold(d=2, k=2, largest=4, epsilon=1, grid=1, t=mechanism.threshold)
    half, third = Fraction(1, 2), Fraction(1, 3)
    vectors: tuple[dict[int, Real], ...] = ({0: half}, {1: 2}, {0: 3, 1: third})
    for x in vectors:
        index_sets = {tuple(i for i, _ in outcome) for outcome in mechanism.law(x).support}
        subsets = {c for size in range(len(x) + 1) for c in combinations(sorted(x), size)}
        equal(index_sets, subsets, x=str({i: str(value) for i, value in x.items()}))


@ALP.holds("Algorithm 9", "Step (1)")
@mutant("0.99 times that", share=Fraction(99, 100))
def rounding_needed(share: Fraction = _ONE) -> None:
    """With random rounding, one of d entries of size 1/d is stored with probability at most
    delta/(2 e^epsilon), as one entry of 1; without rounding, 8 entries are stored with more.
    """
    for root, d in product((Fraction(21, 20), Fraction(3, 2), Fraction(2)), (8, 2, 1)):
        base = root**2  # e^epsilon; t = 3 = log(1/delta)/epsilon + 2, delta = 1/base
        bound = 1 / base / (2 * base)
        if d == 8:  # more even with entries 0 in place of 1/8
            below(bound, 1 - (1 - stored(Fraction(0), _T, base)) ** d, e_epsilon=base)
        some = rounded_law((Fraction(1, d),) * d, _T, base).probability(any)
        at_most(some, share * bound, e_epsilon=base, d=d)


@cache
def _pairs(t: Fraction = _T) -> tuple[tuple[Vector, Vector, Fraction], ...]:
    """Neighbours of two entries up to t, where the model is exact."""
    grid = {*_GRID, t - _ONE, t}
    return tuple(neighbours(x for x in product(sorted(grid), repeat=2) if max(x) <= t))


@cache
def _law(x: Vector, t: Fraction = _T, root: Fraction = _ROOT) -> Law[tuple[int, ...]]:
    return rounded_law(x, t, root**2)


@ALP.holds("Lemma 5.6")
@mutant(share=Fraction(22, 100))
@fitted(share=Fraction(23, 100))
def lemma_5_6(share: Fraction = _ONE, loss: Fraction = _ONE) -> None:
    """Algorithm 9 is (epsilon, delta)-differentially private.

    Note: 1/(2 e^epsilon) of delta suffices, see the exact delta.

    Needs: the three cases of an entry's size for every delta, with rounding below 1, as one
        inequality.
    """
    for root, t in _CASES:
        delta = power(root**2, 2 - t)
        _require(root, t, share * delta, loss)


def _require(root: Fraction, t: Fraction, most: Fraction, loss: Fraction) -> None:
    """Require (epsilon, most)-DP of the mechanism made for loss times epsilon."""
    less = raised(root, loss)
    for x, other, _ in _pairs(t):
        laws = _law(x, t, less), _law(other, t, less)
        delta = hockey_stick(*laws, e_epsilon=root**2).lower
        at_most(delta, most, e_epsilon=root**2, t=t, x=text(x), other=text(other))


@ALP.holds("Lemma 5.6", "exact delta", ours=True)
@mutant("0.98 times that", share=Fraction(49, 50))
def exact_delta(share: Fraction = _ONE, loss: Fraction = _ONE) -> None:
    """On a grid of entries up to t, delta/(2 e^epsilon) suffices; with t = ln(1/delta)/epsilon + 1,
    delta/2 does.
    """
    for (root, t), lower in product(_CASES, (0, 1)):
        delta = power(root**2, 2 - t)
        most = delta / 2 if lower else delta / (2 * root**2)
        _require(root, t - lower, share * most, loss)


@ALP.holds("Lemma 5.6", "shipped code", ours=True, slow=True)
@mutant("0.95 times that delta", share=Fraction(19, 20))
def shipped_code(share: Fraction = _ONE, loss: Fraction = _ONE) -> None:
    """Algorithm 9 as shipped, on a grid, keeps the delta of its guarantee for entries on both sides
    of the threshold.
    """
    for values, half_steps, d, epsilon, delta in (
        ("positive", 1, 1, 2, Fraction(1, 100)),
        ("counts", 2, 2, 4, Fraction(1, 1000)),
    ):
        grid = Fraction(half_steps, 2)
        options: Any = {
            "d": d,
            "k": d,
            "largest": 5,
            "values": values,
            "grid": grid,
            "delta": delta,
        }
        promise = ApproximateThreshold(**options, epsilon=epsilon).guarantee
        mechanism = ApproximateThreshold(**options, epsilon=loss * epsilon)
        places = [n * grid for n in range(11)] if d == 1 else [Fraction(n) for n in (0, 1, 4, 5)]
        for x, other, _ in neighbours(product(places, repeat=d)):
            laws = _shipped(mechanism, x), _shipped(mechanism, other)
            delta = hockey_stick(*laws, e_epsilon=promise.e_epsilon).upper
            at_most(delta, share * promise.delta.upper, x=text(x), other=text(other))


@cache
def _shipped(mechanism: ApproximateThreshold, x: Vector) -> Law[Any]:
    return mechanism.law(dict(enumerate(x)))


def _hats(x: Vector, other: Vector, raised: bool = True) -> tuple[Vector, Vector]:
    """The two intermediate vectors of the proof."""
    pairs = list(zip(x, other, strict=True))
    first = tuple(min(_ONE, b) if a <= 1 else a for a, b in pairs)
    second = tuple(_ONE if b < 1 < a and raised else b for a, b in pairs)
    return first, second


@ALP.holds("Lemma 5.6", "proof, intermediate vectors")
@mutant("x^' is x' itself", raised=False)
def intermediate_vectors(raised: bool = True) -> None:
    """x and x^, and x' and x^', differ in entries up to 1 only, x^ and x^' in entries from 1 on;
    all distances stay at most 1.
    """
    for x, other, _ in _pairs():
        first, second = _hats(x, other, raised)
        case = {"x": text(x), "other": text(other)}
        for a, b in combinations((x, first, second, other), 2):
            at_most(distance(a, b), 1, **case)
        for pair in ((x, first), (other, second)):
            holds(all(a == b or max(a, b) <= 1 for a, b in zip(*pair, strict=True)), **case)
        holds(all(a == b or min(a, b) >= 1 for a, b in zip(first, second, strict=True)), **case)


@ALP.holds("Lemma 5.6", "proof, small entries")
@mutant("t = ln(1/delta)/epsilon + 1", shift=0)
def small_entries(shift: int = 1) -> None:
    """An entry x_i <= 1 is stored with probability x_i e^(-(t - 1) epsilon)/2 = x_i delta/(2
    e^epsilon).

    Note: Step (3) of Algorithm 9 prints log(1/delta), which is the natural logarithm, as the proof
        has it.
    """
    for halves, x in product(range(1, 6), _SMALL):
        delta, t = power(_BASE, Fraction(-halves, 2)), Fraction(halves, 2) + 1 + shift
        equal(rounded_law((x,), t, _BASE)[1,], x * delta / (2 * _BASE), delta=delta, x=x)


@ALP.holds("Lemma 5.6", "proof, distance of small entries")
@mutant("0.98 times that", share=Fraction(49, 50))
def distance_of_small_entries(share: Fraction = _ONE) -> None:
    """For entries up to 1, probabilities differ by at most |x^ - x|_1 delta/(2 e^epsilon)."""
    for x, other in combinations(product(_SMALL, repeat=2), 2):
        bound = share * distance(x, other) * _DELTA / (2 * _BASE)
        at_most(total_variation(_law(x), _law(other)).lower, bound, x=text(x), other=text(other))


@ALP.note("Lemma 5.6", "proof, pure step")
@as_printed(against_x=True)
@mutant("0.98 e^epsilon", share=Fraction(49, 50))
def pure_step(against_x: bool = False, share: Fraction = _ONE) -> None:
    r"""P(Threshold2(x^) in S) <= e^epsilon P(Threshold2(x) in S) for every S.

    Printed (Section 5.1, Lemma 5.6, proof, fourth display, line 569): \leq e^\varepsilon \cdot
        \Pr[\text{Threshold2}(x) \in S] .
    Corrected: The right side has x^' in place of x, as the next display has.
    Regime: x_i < x'_i <= 1 for some i.
    Extraction: possible, a hat and a prime.

    >>> from math import exp, log
    >>> eps, delta, x, other = 1, 0.01, 0, 1              # one entry
    >>> x_hat = min(1, other)                             # = 1, since x <= 1
    >>> t = log(1 / delta) / eps + 2
    >>> stored = {0: 0, 1: exp(-eps * (t - 1)) / 2}       # a zero entry is never stored
    >>> stored[x_hat] <= exp(eps) * stored[x]
    False
    """
    for x, other, _ in _pairs():
        first, second = _hats(x, other)
        p, q = _law(first), _law(x if against_x else second)
        case = {"x": text(x), "other": text(other)}
        if first != second:
            for outcome, chance in p.items():
                at_most(chance, share * _BASE * q[outcome], **case, stored=outcome)
