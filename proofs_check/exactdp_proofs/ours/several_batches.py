"""Section 4 of the page certified-pld: several batches, and samples of a largest size."""

from __future__ import annotations

from itertools import combinations, product

from exactdp.balls import ball, precision
from exactdp_proofs.comparisons import at_most, equal
from exactdp_proofs.ours.sampling import (
    _LOG_CONCAVE,
    _RATIOS,
    _excess,
    _Law,
    _mixed,
    _moved,
    _noise,
)
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import PLD, mutant

_Point = tuple[Fraction, Fraction]

#: Points of the unit disc, some of them on the circle.
_POINTS = [
    *(
        (Fraction(a, 5), Fraction(b, 5))
        for a, b in product(range(-5, 6), repeat=2)
        if a * a + b * b <= 25
    ),
    *((Fraction(a, c), Fraction(b, c)) for a, b, c in ((-7, 24, 25), (5, -12, 13), (-12, -5, 13))),
]

#: Places of the third vector, on an axis: turning all three changes nothing.
_THIRD = [(Fraction(a, 4), Fraction(0)) for a in (1, 3, 4)]


@PLD.holds("Section 4", "three vectors in a ball", elsewhere="the mutant weakens the condition")
@mutant("for all A and B", least=0)
def three_vectors(least: int = 4) -> None:
    """For u, v, w of length at most 1, with A = |u - w|^2, B = |v - w|^2 and A + B >= 4,
    C = |u - v|^2 is at most (sqrt(A (4 - B)) + sqrt(B (4 - A)))^2/4.
    """
    with precision(96):
        for w, (u, v) in product(_THIRD, combinations(_POINTS, 2)):
            a, b, c = _square(u, w), _square(v, w), _square(u, v)
            if a + b >= least:
                root = ball(a * (4 - b)).sqrt() + ball(b * (4 - a)).sqrt()
                at_most(ball(c).sqrt(), root / 2 + ball(Fraction(1, 1 << 60)), u=u, v=v, w=w)


def _square(one: _Point, other: _Point) -> Fraction:
    return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2


#: Pairs of laws of one answer in {0, 1}, in tenths: P(1) and Q(1).
_PAIRS = [(Fraction(p, 10), Fraction(q, 10)) for p, q in ((6, 3), (3, 6), (2, 1), (9, 7))]


def _pair(p: Fraction, q: Fraction) -> tuple[_Law, _Law]:
    return {0: 1 - p, 1: p}, {0: 1 - q, 1: q}


@PLD.holds("Section 4", "runs that choose their pair")
@mutant("where both runs have one pair", adaptive=False)
def chosen_pairs(adaptive: bool = True) -> None:
    """D_2(x) = max over pairs of E_P D_1(x Q/P) is the largest curve of two runs whose second pair
    depends on the first answer.
    """
    for x in _RATIOS:
        follow = [
            sum(
                first[0][i]
                * max(_excess(*_pair(*s), x * first[1][i] / first[0][i]) for s in _PAIRS)
                for i in (0, 1)
            )
            for first in (_pair(*pair) for pair in _PAIRS)
        ]
        known = max(
            _excess(*_two_runs(first, (one, two)), x)
            for first, one, two in product(_PAIRS, repeat=3)
            if adaptive or first == one == two
        )
        equal(max(follow), known, x=x)


def _two_runs(first: _Point, seconds: tuple[_Point, ...]) -> tuple[_Law, _Law]:
    sides: list[_Law] = []
    for side in (0, 1):
        start = _pair(*first)[side]
        laws = [_pair(*second)[side] for second in seconds]
        sides.append({2 * i + j: start[i] * laws[i][j] for i in (0, 1) for j in (0, 1)})
    return sides[0], sides[1]


@PLD.holds("Section 4", "samples of a largest size")
@mutant("with the sensitivity itself where the sample is full", moves=1)
def largest_size(moves: int = 2, loss: Fraction = Fraction(1)) -> None:
    """Of Poisson samples of four users at most two are kept. With T (two of the others are drawn)
    told, delta of the user who takes part against the one who does not is at most P(not T) times
    that of a Poisson sample, plus P(T) times that of a Poisson sample for twice the sensitivity at
    the rate P(more than 2 of 4 are drawn) (2/4)/P(T), in both orders.
    """
    noise, less = _noise(_LOG_CONCAVE[1]), _noise(_LOG_CONCAVE[1], loss)
    for rate, others in product((Fraction(1, 3), Fraction(4, 5)), product((-1, 0, 1), repeat=3)):
        full = sum((_chance_of_count(rate, 3, k) for k in (2, 3)), Fraction(0))
        displaces = (
            (_chance_of_count(rate, 4, 3) + _chance_of_count(rate, 4, 4)) * Fraction(1, 2) / full
        )
        free = _mixed((1 - rate, noise), (rate, _moved(noise, 1)))
        moved = _mixed((1 - displaces, noise), (displaces, _moved(noise, moves)))
        with_, without = (_kept(less, users, rate) for users in ((*others, 1), others))
        for ratio, order in product(_RATIOS, (1, -1)):
            delta, one, two = (
                _excess(p, q, ratio) if order > 0 else _excess(q, p, ratio)
                for p, q in ((with_, without), (free, noise), (moved, noise))
            )
            bound = (1 - full) * one + full * two
            at_most(delta, bound, rate=rate, others=others, ratio=ratio)


def _chance_of_count(rate: Fraction, users: int, count: int) -> Fraction:
    """P(count of the users are drawn)."""
    ways = len(list(combinations(range(users), count)))
    return ways * rate**count * (1 - rate) ** (users - count)


def _kept(noise: _Law, users: tuple[int, ...], rate: Fraction) -> _Law:
    """The law of the noisy sum over a sample of at most two users."""
    parts = []
    for count in range(len(users) + 1):
        for sample in combinations(users, count):
            chance = rate**count * (1 - rate) ** (len(users) - count)
            kept = list(combinations(sample, min(count, 2)))
            parts += [(chance / len(kept), _moved(noise, sum(some))) for some in kept]
    return _mixed(*parts)
