"""Section 4 of the page certified-pld: noisy maximum and AboveThreshold with Gaussian noise."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from math import prod

from flint import arb

from exactdp.balls import ball, precision
from exactdp.normal import cdf
from exactdp_proofs.comparisons import at_most
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import PLD, mutant

#: Places of normal numbers, and distances by which they are moved.
_PLACES = [Fraction(z, 2) for z in (-5, -2, 0, 1, 4)]
_MOVES = [Fraction(m) for m in ("1/4", "1", "3")]


@PLD.holds("Section 4", "products of moved probabilities")
@mutant("for probabilities that fall", rise=-1)
def products(rise: int = 1) -> None:
    """With U(a) = Phi(Phi^-1(a) + move), the product of U(a_r) over n numbers is at most
    U(a^(1/n))^n, where a is the product of all a_r.
    """
    with precision(96):
        for move, places in product(_MOVES, combinations_with_replacement(_PLACES, 3)):
            moved = [cdf(ball(z + rise * move)) for z in places]
            centre = _place(prod((cdf(ball(z)) for z in places), start=arb(1)) ** (arb(1) / 3))
            bound = cdf(centre + ball(rise * move)) ** 3 + ball(Fraction(1, 1 << 50))
            at_most(prod(moved, start=arb(1)), bound, places=places, move=move)


def _place(chance: arb) -> arb:
    """Phi^-1 of a probability, within 2^-60."""
    low, high = arb(-12), arb(12)
    for _ in range(66):
        middle = ((low + high) / 2).mid()
        low, high = (middle, high) if cdf(middle) < chance else (low, middle)
    return low.union(high)


@PLD.holds("Section 4", "the first of several queries above a threshold")
@mutant("with the largest of one number less", fewer=1)
def first_above(fewer: int = 0, loss: Fraction = Fraction(1)) -> None:
    """Three queries are answered "below" with probabilities Phi(c_j), and with Phi(c_j + s_j)
    where 0 <= s_j <= s. In both orders, no event has a larger delta than a threshold on M + s
    against M, M being the largest of three standard normal numbers.
    """
    thresholds = [ball(Fraction(z, 64)) for z in range(-320, 257)]
    with precision(64):
        for move, x in product((Fraction(1, 2), Fraction(2)), (Fraction(1), Fraction(3, 2))):
            # below the curve by less than 1/64 times the largest density of 3 numbers
            curves = [_curve(3 - fewer, ball(move), ball(x), thresholds, side) for side in (0, 1)]
            for places in product((Fraction(-1), Fraction(1), Fraction(2)), repeat=3):
                for shares in ((1, 1, 1), (1, 0, 1), (0, 1, 1)):
                    moves = [loss * move * share for share in shares]
                    stops = [_stops(places, rest) for rest in ([Fraction(0)] * 3, moves)]
                    for side, curve in enumerate(curves):
                        p, q = stops if side == 0 else stops[::-1]
                        excesses = [
                            (a - ball(x) * b).max(arb(0)) for a, b in zip(p, q, strict=True)
                        ]
                        at_most(sum(excesses, arb(0)), curve, places=places, moves=moves, x=x)


def _curve(n: int, move: arb, x: arb, thresholds: list[arb], side: int) -> arb:
    """An upper bound on delta over all thresholds: the maximum at those given, plus a margin."""
    largest = arb(0)
    for z in thresholds:
        below = cdf(z) ** n, cdf(z + move) ** n
        p, q = (1 - below[0], 1 - below[1]) if side == 0 else (below[1], below[0])
        largest = largest.max(p - x * q)
    # about the best threshold the value is flat: the second derivative is below 3 n (1 + x)
    return largest + 3 * n * (1 + x) / arb(2 * 128**2)


def _stops(places: tuple[Fraction, ...], moves: list[Fraction]) -> list[arb]:
    left, chances = arb(1), []
    for place, move in zip(places, moves, strict=True):
        below = cdf(ball(place + move))
        chances.append(left * (1 - below))
        left *= below
    return [*chances, left]
