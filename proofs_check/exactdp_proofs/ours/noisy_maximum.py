"""The text of exactdp.accounting.pld.selection: noise with a bounded hazard rate."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from math import prod

from flint import fmpq, fmpq_poly

from exactdp_proofs.comparisons import at_most, equal
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import PLD, mutant

#: The tail P(noise > v) as a function of w = e^(-v epsilon/(4 D)), v >= 0: from one w down to the
#: next, a constant times w^k. The hazard rate there is k epsilon/(4 D), of which 2 is the most.
_Noise = Sequence[tuple[Fraction, int]]

_HALF = Fraction(1, 2)
_EXPONENTIAL: _Noise = ((Fraction(1), 2),)
_NOISES: tuple[_Noise, ...] = (
    _EXPONENTIAL,
    ((Fraction(1), 1), (_HALF, 2)),
    ((Fraction(1), 2), (Fraction(2, 3), 0), (_HALF, 2)),
)
_TOO_SHORT: _Noise = ((Fraction(1), 2), (Fraction(2, 3), 3), (Fraction(1, 3), 2))


@PLD.holds("Noisy maximum", "hazard rate of a largest number")
@mutant("of a smallest number", largest=False)
def hazard_rate(largest: bool = True) -> None:
    """If independent numbers have hazard rates of at most 1, the largest of them has, too."""
    levels = (Fraction(1, 5), _HALF, Fraction(1))
    for tails, rates in product(product(levels, repeat=3), product((0, 1), repeat=3)):
        density = Fraction(0)
        for i, (tail, rate) in enumerate(zip(tails, rates, strict=True)):
            others = [1 - t if largest else t for j, t in enumerate(tails) if j != i]
            density += rate * tail * others[0] * others[1]
        none, all_three = (
            prod(factors, start=Fraction(1)) for factors in ([1 - t for t in tails], tails)
        )
        at_most(density, 1 - none if largest else all_three, tails=tails, rates=rates)


@PLD.holds("Noisy maximum", elsewhere="the mutant is about other noise")
@mutant("with a hazard rate of 3/2 times that on an interval", noises=(_TOO_SHORT,))
def noisy_maximum(noises: tuple[_Noise, ...] = _NOISES) -> None:
    """If the hazard rate of the noise is at most epsilon/(2 D) and utilities move by at most D, an
    event of probability G with the user has at least F(F^-1(G) - epsilon) without, where F is the
    distribution function of Laplace noise of scale 1.
    """
    powers = (Fraction(1), Fraction(4, 3), Fraction(5, 2))  # e^(utility epsilon/(4 D))
    for noise, move in product(noises, (Fraction(5, 4), Fraction(2))):
        for first, second in product(powers, repeat=2):
            utilities = (Fraction(1), first, second)
            wins = _wins(noise, utilities)
            for moves in product((1 / move, move), repeat=3):
                moved = _wins(noise, [u * m for u, m in zip(utilities, moves, strict=True)])
                for event in ((0,), (1,), (0, 1), (0, 2)):
                    with_, without = (sum((w[i] for i in event), fmpq(0)) for w in (wins, moved))
                    least = _laplace(with_, move**4)
                    at_most(least, without, noise=noise, u=utilities, moves=moves, event=event)


@PLD.holds("Noisy maximum", "attained")
@mutant("if the user moves one of them", both=False)
def attained(both: bool = True) -> None:
    """With two options and exponential noise, and a user who moves one up by D and the other down,
    the first has the probability G with the user and F(F^-1(G) - epsilon) without, for each G.
    """
    for ahead, move in product(("1/4", "2/3", "1", "3/2", "3", "6"), ("5/4", "2")):
        up, own = Fraction(move), Fraction(ahead)
        with_ = _wins(_EXPONENTIAL, (own, Fraction(1)))[0]
        without = _wins(_EXPONENTIAL, (own / up, up if both else Fraction(1)))[0]
        equal(_laplace(with_, up**4), without, ahead=ahead, move=move)


def _laplace(chance: fmpq, e: Fraction) -> fmpq:
    """F(F^-1(chance) - epsilon), e being e^epsilon."""
    ratio, rest = _q(e), 1 - chance
    if chance <= fmpq(1, 2):
        return chance / ratio
    return 1 - rest * ratio if 2 * rest * ratio <= 1 else 1 / (4 * ratio * rest)


def _wins(noise: _Noise, utilities: Sequence[Fraction]) -> list[fmpq]:
    """The probabilities that each option has the largest noisy utility.

    utilities: e^(utility epsilon/(4 D)). With w = e^(-v epsilon/(4 D)) for the noisy utility v, an
    option exceeds v with the probability T(u w), and is the largest with the mean of the product of
    the others' 1 - T, an integral of polynomials between the places where a tail changes.
    """
    places = sorted({w / u for w, _ in noise for u in utilities} | {Fraction(0)})
    chances = [fmpq(0)] * len(utilities)
    for low, high in pairwise(places):
        tails = [_tail(noise, u, (low + high) / 2) for u in utilities]
        for i, tail in enumerate(tails):
            others = [1 - other for j, other in enumerate(tails) if j != i]
            whole = (tail.derivative() * prod(others, start=fmpq_poly([1]))).integral()
            chances[i] += whole(_q(high)) - whole(_q(low))
    return chances


def _tail(noise: _Noise, u: Fraction, w: Fraction) -> fmpq_poly:
    """T(u w) as a polynomial in w, which is right around this w."""
    if u * w > noise[0][0]:
        return fmpq_poly([1])
    factor, power = Fraction(1), 0
    for start, k in noise:
        if u * w <= start:
            factor *= start ** (power - k)
            power = k
    return fmpq_poly([0] * power + [_q(factor * u**power)])


def _q(x: Fraction) -> fmpq:
    return fmpq(int(x.numerator), int(x.denominator))
