"""ALP, Lemmas 4.1 and 4.12: privacy of the projection, its proof, and its exact loss."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement, product
from math import prod

import sympy as sp

from exactdp.law import Law
from exactdp.mechanisms.projections.exact_epsilon import e_epsilon
from exactdp.mechanisms.projections.ramp import Ramp
from exactdp_proofs.comparisons import at_most, below, equal, identity
from exactdp_proofs.papers.alp._model import (
    Bits,
    Hashes,
    all_hashes,
    exp_lower,
    flip,
    neighbours,
    projection_law,
    ratio,
    text,
)
from exactdp_proofs.papers.alp._threshold import joint
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import ALP, mutant, weaker

Vector = tuple[Fraction, ...]
_ONE = Fraction(1)
_HALVES = tuple(Fraction(n, 2) for n in range(4))
_SMALL = Fraction(1, 200)
_ALPHAS = (Fraction(1, 2), _ONE, Fraction(3))


def _layouts() -> Iterator[Hashes]:
    """Every pair of hash functions of two entries into two rows, up to names of rows and order."""
    for pair in combinations_with_replacement(all_hashes(2, 2), 2):
        if all(h[0] == 0 for h in pair):
            yield pair


@ALP.holds("Lemma 4.1", "on instances", ours=True)
@weaker
def lemma_4_1(loss: Fraction = _ONE) -> None:
    """For every sequence of hash functions, Algorithm 2 changes no output probability by more than
    a factor e^(l1 distance), so it is 1-differentially private.
    """
    for alpha, hashes in product(_ALPHAS, _layouts()):
        # a small change is where 1 + distance is nearest to its exponential
        grid = [(alpha * a, alpha * b) for a, b in product((*_HALVES, _SMALL), repeat=2)]
        for x, other, gap in neighbours(grid):
            laws = (_law(v, hashes, alpha, flip(loss * alpha)) for v in (x, other))
            case = {"alpha": alpha, "h": hashes, "x": text(x), "other": text(other)}
            at_most(ratio(*laws), exp_lower(gap), **case)


@cache
def _law(x: Vector, hashes: Hashes, alpha: Fraction, p: Fraction | None = None) -> Law[Bits]:
    return projection_law(x, hashes, 2, alpha, p)


@ALP.holds("Lemma 4.1", "proof, difference of probabilities")
@mutant("p = 1/(alpha + 1)", shift=1)
def difference(shift: int = 2) -> None:
    """Moving one entry inside one bit changes the probability of that bit by exactly
    |x_i - x'_i|/(alpha + 2), and by no more when the bit is one with probability q >= p by other
    entries.
    """
    r, s, alpha, more = sp.symbols("r s alpha more", positive=True)
    p = 1 / (alpha + shift)
    chance = {(q, t): (1 - t) * q + t * (1 - p) for q in (p, p + more) for t in (r, s)}
    collided = chance[p + more, r] - chance[p + more, s]
    identity(collided - (r - s) * (1 - 2 * p) + (r - s) * more)
    identity(chance[p, r] - chance[p, s] - (r - s) * alpha / (alpha + 2))


@ALP.holds("Lemma 4.1", "proof, ratio of one bit")
@mutant("p = 1/(alpha + 3)", shift=3)
def ratio_of_one_bit(shift: int = 2) -> None:
    """With P(Y) >= p = 1/(alpha + 2) the ratio is at most 1 + |x_i - x'_i|, with equality at p."""
    t, alpha, more = sp.symbols("t alpha more", positive=True)
    least = 1 / (alpha + shift)
    bound = 1 + t / (alpha + 2) / (least + more)
    # what is missing to 1 + t is t more/(least + more) >= 0
    identity(1 + t - bound - t * more / (least + more))


@ALP.holds("Lemma 4.1", "proof, range of a response")
@mutant("between 1.02 p and 1 - 1.02 p", low=Fraction(51, 50))
def range_of_a_response(low: Fraction = _ONE) -> None:
    """A bit is reported as one with probability between p and 1 - p, collisions included."""
    for alpha, hashes in product(_ALPHAS, _layouts()):
        for x in product([alpha * v for v in _HALVES], repeat=2):
            law = _law(x, hashes, alpha)
            for b in range(4):
                for value in (0, 1):
                    chance = law.probability(lambda z: z[b] == value)
                    at_most(
                        low * flip(alpha),
                        chance,
                        alpha=alpha,
                        h=hashes,
                        x=text(x),
                        bit=b,
                        is_=value,
                    )


@ALP.holds("Lemma 4.1", "proof, several bits")
@mutant("only the first two bits count", counted=2)
def several_bits(counted: int = 3, loss: Fraction = _ONE) -> None:
    """When an entry moves across several bits, the ratios of the single bits multiply."""
    for alpha, bottom, top in product(_ALPHAS, range(0, 7, 2), range(1, 7)):
        x, other = alpha * Fraction(bottom, 2), alpha * Fraction(top, 2)
        parts = _ONE
        for cell in range(counted):
            first, second = (min(max(v - cell * alpha, Fraction(0)), alpha) for v in (x, other))
            parts *= _move(first, second, alpha, 1)
        moved = _move(x, other, alpha, 3, flip(loss * alpha))
        equal(moved, parts, alpha=alpha, x=x, other=other)


def _move(
    x: Fraction, other: Fraction, alpha: Fraction, columns: int, p: Fraction | None = None
) -> Fraction:
    first, second = (projection_law((v,), ((0,),) * columns, 1, alpha, p) for v in (x, other))
    return ratio(second, first)


@ALP.holds("Lemma 4.12", "on instances", ours=True)
@weaker
def lemma_4_12(loss: Fraction = _ONE) -> None:
    """Scaling x by epsilon before Algorithm 2 gives the factor e^(epsilon * l1 distance), so
    Algorithm 4 is epsilon-differentially private.
    """
    for eps in (Fraction(1, 4), _ONE, Fraction(2)):
        for x, other, gap in neighbours(product((*_HALVES, _SMALL), repeat=2)):
            scaled = [(loss * eps * v[0], loss * eps * v[1]) for v in (x, other)]
            worst = ratio(*(_law(v, ((0, 1), (0, 0)), _ONE) for v in scaled))
            at_most(worst, exp_lower(eps * gap), eps=eps, x=text(x), other=text(other))


#: alpha, k, step of the grid of values up to 1: the scale is 1, as in Algorithm 2.
_INSTANCES = (
    (Fraction(3), 1, Fraction(1, 4)),
    (Fraction(1, 2), 1, Fraction(1, 4)),
    (Fraction(2, 3), 1, Fraction(1, 3)),
    (Fraction(2), 2, Fraction(1, 2)),
    (Fraction(2, 3), 2, Fraction(1, 6)),
)


def _largest(laws: dict[Vector, Law[tuple[int, ...]]]) -> Fraction:
    """The largest ratio over all neighbours."""
    return max(ratio(laws[x], laws[other]) for x, other, _ in neighbours(laws))


def _closed(change: Fraction, rise: Fraction, k: int) -> Fraction:
    """max over J of (1 + rise)^J (1 + (change - J rise)/k)^k."""
    ends = range(int(change / rise) + 1)
    return max((1 + rise) ** j * (1 + (change - j * rise) / k) ** k for j in ends)


@ALP.holds("Lemma 4.1", "exact loss", ours=True, slow=True)
@mutant("1 % more than that (less 1)", share=Fraction(101, 100))
def exact_loss(share: Fraction = _ONE, loss: Fraction = _ONE) -> None:
    """The largest ratio of Algorithm 2 is exactly max over J of (1 + alpha)^J (1 + (1 - J
    alpha)/k)^k, as the library computes it: J whole cells and the rest in equal parts over k
    entries. Collisions do not add to it.

    Note: the sketches spend what is left up to e^epsilon on narrower cells.
    """
    for alpha, k, step in _INSTANCES:
        equal(_closed(_ONE, alpha, k), e_epsilon(_ONE, alpha, k), alpha=alpha, k=k)
        stated = 1 + share * (_closed(_ONE, alpha, k) - 1)
        for row in ((0,) * k, tuple(range(k))):
            worst = _enumerated(alpha, step, row, flip(loss * alpha))
            at_most(worst, stated, alpha=alpha, k=k, rows=row)
        equal(worst, stated, alpha=alpha, k=k)


@cache
def _enumerated(alpha: Fraction, step: Fraction, row: tuple[int, ...], p: Fraction) -> Fraction:
    """The largest ratio of values up to 1 on a grid; every column sends entries to these rows."""
    vectors = product([step * n for n in range(int(1 / step) + 1)], repeat=len(row))
    hashes = (row,) * int(-(-1 // alpha))
    return _largest({x: projection_law(x, hashes, len(row), alpha, p) for x in vectors})


#: Ratio of a step, steps of a cell, width of a step, entries: half a cell each is a change of 1.
_RAMPS = (
    (Fraction(2), 4, Fraction(1, 2), 1),
    (Fraction(3, 2), 4, Fraction(1, 2), 2),
    (Fraction(3), 2, Fraction(1), 2),
)


def _chance(value: Fraction, ramp: Ramp, width: Fraction) -> Fraction:
    """P(the noisy bit of the first cell is 1) for one entry with this value."""
    step, part = divmod(value / width, 1)
    ends = ramp.chances[int(step) :][:2]
    return ends[0] + part * (ends[-1] - ends[0])


def _ramp_law(x: Vector, ramp: Ramp, width: Fraction, together: bool) -> Law[tuple[int, ...]]:
    """The law of one noisy bit per entry, or (together) of one bit that every entry may set."""
    p, ones = ramp.flip, [_chance(value, ramp, width) for value in x]
    if together:
        unset = prod((1 - (one - p) / (1 - 2 * p) for one in ones), start=Fraction(1))
        ones = [p + (1 - unset) * (1 - 2 * p)]
    return joint(ones)


@ALP.holds("Lemma 4.1", "levels in steps of one ratio", ours=True)
@mutant("1 % more than that (less 1)", share=Fraction(101, 100))
def ramps(share: Fraction = _ONE, loss: Fraction = _ONE) -> None:
    """Where the probability of a 1 rises to 1/2 by a factor r per step, k entries that rise by half
    a level lose exactly max over J of r^J (1 + (c - J (r - 1))/k)^k, c = (r - 1)/(width of a step);
    collisions add nothing.

    Note: random rounding in one step is Algorithm 2; several steps halve the error in the same
        space.
    """
    values = [Fraction(n, 4) for n in range(5)]
    for r, steps, width, k in _RAMPS:
        rise = r - 1
        ramp = Ramp(1 + loss * rise, steps)
        equal(_closed(rise / width, rise, k), e_epsilon(rise / width, rise, k), r=r, k=k)
        stated = 1 + share * (_closed(rise / width, rise, k) - 1)
        for together in (True, False):
            vectors = product(values, repeat=k)
            worst = _largest({x: _ramp_law(x, ramp, width, together) for x in vectors})
            at_most(worst, stated, r=r, steps=steps, k=k, together=together)
        equal(worst, stated, r=r, steps=steps, k=k)


@ALP.holds("Lemma 4.1", "how much is left", ours=True)
@mutant("at most e/(4k)", rate=Fraction(1, 4))
def how_much_is_left(rate: Fraction = Fraction(1, 2), loss: Fraction = _ONE) -> None:
    """For alpha >= 1 the loss of Algorithm 2 is (1 + 1/k)^k, below e by at most e/(2k): the
    constant 1 of the lemma cannot be lowered for all k.
    """
    for k, alpha in product((1, 2, 5, 20, 100), (_ONE, Fraction(3))):
        exact = e_epsilon(_ONE, alpha, k)
        if k <= 5:  # k entries apart that rise from 0 to 1/k each
            hashes = (tuple(range(k)),)
            zero, risen = (
                projection_law((Fraction(n, k),) * k, hashes, k, alpha, flip(loss * alpha))
                for n in (0, 1)
            )
            equal(ratio(risen, zero), (1 + Fraction(1, k)) ** k, k=k, alpha=alpha)
        equal(exact, (1 + Fraction(1, k)) ** k, k=k, alpha=alpha)
        gap = exp_lower(_ONE) - exact
        below(0, gap, k=k)
        at_most(gap, rate * exp_lower(_ONE) / k, k=k, alpha=alpha)
