"""The text of exactdp.accounting.pld.losses.allocated: the convex order of mean ratios."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from math import floor

from exactdp_proofs.comparisons import at_most, equal
from exactdp_proofs.ours.sampling import _RATIOS, _excess, _Law, _mixed
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import PLD, mutant

#: Ratio, or mean of ratios -> probability without the user.
_Ratios = dict[Fraction, Fraction]

_ZERO, _HALF = Fraction(0), Fraction(1, 2)


def _steps() -> Iterator[tuple[_Law, _Law]]:
    """Laws of a step with the user and without, on three or four answers, in twentieths."""
    for with_, without in (
        ((9, 6, 5), (2, 7, 11)),
        ((3, 12, 5), (8, 5, 7)),
        ((10, 0, 7, 3), (4, 6, 10, 0)),  # with ratios 0 and infinity
    ):
        one, other = ({z: Fraction(m, 20) for z, m in enumerate(ms)} for ms in (with_, without))
        yield one, other


def _ratios(with_: _Law, without: _Law) -> _Ratios:
    ratios: _Ratios = {}
    for z, mass in without.items():
        if mass:
            ratio = with_[z] / mass
            ratios[ratio] = ratios.get(ratio, _ZERO) + mass
    return ratios


def _infinite(with_: _Law, without: _Law) -> Fraction:
    """The probability of an infinite ratio, with the user."""
    return sum((mass for z, mass in with_.items() if not without[z]), _ZERO)


def _mean(law: _Ratios, copies: int) -> _Ratios:
    """The law of the mean of independent copies."""
    total: _Ratios = {_ZERO: Fraction(1)}
    for _ in range(copies):
        more: _Ratios = {}
        for (s, p), (r, q) in product(total.items(), law.items()):
            more[s + r] = more.get(s + r, _ZERO) + p * q
        total = more
    return {s / copies: p for s, p in total.items()}


def _above(law: _Ratios, x: Fraction) -> Fraction:
    """E (S - x)+"""
    return sum((p * (s - x) for s, p in law.items() if s > x), _ZERO)


def _below(law: _Ratios, x: Fraction) -> Fraction:
    """E (1 - x S)+"""
    return sum((p * (1 - x * s) for s, p in law.items() if x * s < 1), _ZERO)


def _kinks(*laws: _Ratios) -> list[tuple[Callable[[_Ratios, Fraction], Fraction], Fraction]]:
    """The curves of both orders with the places where they bend, at which their order is tested."""
    ratios = {s for law in laws for s in law}
    first = [(_above, s) for s in sorted({_ZERO, *ratios})]
    return [*first, *((_below, 1 / s) for s in sorted(ratios) if s)]


@PLD.holds("Random allocation", "curves")
@mutant("without the probability that S is infinite", infinite=False)
def curves(infinite: bool = True) -> None:
    """P is the mean of the t products with A in one place and B in all others, Q the product of t
    laws B, and S the mean of t independent ratios dA/dB under B. Then D(P, Q)(x) = E (S - x)+ +
    P(S infinite) and D(Q, P)(x) = E (1 - x S)+.
    """
    for (with_, without), t in product(_steps(), (1, 2, 3)):
        places = [[with_ if i == j else without for i in range(t)] for j in range(t)]
        p = _mixed(*((Fraction(1, t), _run(place)) for place in places))
        q, s = _run([without] * t), _mean(_ratios(with_, without), t)
        far = _infinite(with_, without) if infinite else _ZERO
        for x in _RATIOS:
            equal(_excess(q, p, x), _below(s, x), t=t, x=x)
            equal(_excess(p, q, x), _above(s, x) + far, t=t, x=x)


def _run(steps: list[_Law]) -> _Law:
    """The law of the answers of all steps, as the digits of a number."""
    law: _Law = {0: Fraction(1)}
    for step in steps:
        law = {10 * z + y: p * q for (z, p), (y, q) in product(law.items(), step.items())}
    return law


#: A randomised image of answers 0, 1, 2: the probabilities of 0, 1, 2 for each.
_Image = tuple[tuple[int | Fraction, ...], ...]

_IMAGES: tuple[_Image, ...] = (
    ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    ((1, 0, 0), (0, 1, 0), (0, 1, 0)),
    ((0, _HALF, _HALF), (_HALF, 0, _HALF), (1, 0, 0)),
)


@PLD.holds("Random allocation", "adaptive steps")
@mutant("with one more ratio in the mean", more=1)
def adaptive_steps(more: int = 0) -> None:
    """If every step is a randomised image of (A, B), chosen by the answers before, then the curves
    of both orders are at most those of t independent steps (A, B).
    """
    for (with_, without), first in product(list(_steps())[:2], _IMAGES):
        s = _mean(_ratios(with_, without), 2 + more)
        for seconds in product(_IMAGES, repeat=3):
            places = (with_, without), (without, with_), (without, without)
            one, other, q = (_two_steps(place, first, seconds) for place in places)
            p = _mixed((_HALF, one), (_HALF, other))
            for x in _RATIOS[1::2]:
                at_most(_excess(p, q, x), _above(s, x), first=first, seconds=seconds, x=x)
                at_most(_excess(q, p, x), _below(s, x), first=first, seconds=seconds, x=x)


def _two_steps(place: tuple[_Law, _Law], first: _Image, seconds: tuple[_Image, ...]) -> _Law:
    return {
        10 * y + z: p * q
        for y, p in _seen(place[0], first).items()
        for z, q in _seen(place[1], seconds[y]).items()
    }


def _seen(law: _Law, image: _Image) -> _Law:
    return {y: sum((p * image[z][y] for z, p in law.items()), _ZERO) for y in range(3)}


def _shared(law: _Ratios, unit: Fraction, *, keeps_mean: bool = True) -> _Ratios:
    """Ratios moved to the nodes below and above them."""
    rounded: _Ratios = {}
    for ratio, mass in law.items():
        node = floor(ratio / unit)
        up = ratio / unit - node
        if not keeps_mean:
            up = Fraction(round(up))
        for place, share in ((node, 1 - up), (node + 1, up)):
            if share:
                rounded[place * unit] = rounded.get(place * unit, _ZERO) + share * mass
    return rounded


@PLD.holds("Random allocation", "ratios moved to two ends")
@mutant("to the nearer node", keeps_mean=False)
def two_ends(keeps_mean: bool = True) -> None:
    """If the mass of every ratio moves to the two nodes around it so that the mean is kept, neither
    curve of the mean S falls anywhere.
    """
    for (with_, without), t, unit in product(_steps(), (1, 2, 3), (Fraction(1, 3), Fraction(2))):
        law = _ratios(with_, without)
        low, high = _mean(law, t), _mean(_shared(law, unit, keeps_mean=keeps_mean), t)
        for curve, x in _kinks(low, high):
            at_most(curve(low, x), curve(high, x), ratios=law, t=t, unit=unit, x=x)


@PLD.holds("Random allocation", "ratios merged")
@mutant("to the middle of the cell", to_mean=False)
def merged(to_mean: bool = True) -> None:
    """If all ratios in a cell are replaced by their mean, neither curve of the mean S rises
    anywhere.
    """
    for (with_, without), t, unit in product(_steps(), (1, 2, 3), (Fraction(1, 3), Fraction(2))):
        law, cells = _ratios(with_, without), dict[int, _Ratios]()
        for ratio, mass in law.items():
            cells.setdefault(floor(ratio / unit), {})[ratio] = mass
        joined: _Ratios = {}
        for node, cell in cells.items():
            mass = sum(cell.values(), _ZERO)
            mean = sum((r * m for r, m in cell.items()), _ZERO) / mass
            joined[mean if to_mean else (node + _HALF) * unit] = mass
        low, high = _mean(joined, t), _mean(law, t)
        for curve, x in _kinks(low, high):
            at_most(curve(low, x), curve(high, x), ratios=law, t=t, unit=unit, x=x)


@PLD.holds("Random allocation", "sums", elsewhere="the mutant allows more laws")
@mutant("if the means are equal and the second moment of U is larger", moments=True)
def sums(moments: bool = False) -> None:
    """If E f(R) <= E f(U) for every convex f, and the same of two laws that are independent of
    these, it holds of the two sums.
    """
    laws = [m for m in product(range(4), repeat=4) if sum(m) == 4]  # masses at 0, 1, 2, 3
    test = _moments_are_ordered if moments else _is_ordered
    pairs = [(r, u) for r, u in product(laws, repeat=2) if r != u and test(r, u)]
    for (r, u), (other, wider) in product(pairs[::2], pairs[::5]):
        low, high = _added(r, other), _added(u, wider)
        for x in range(6):
            less, more = (sum(max(s - x, 0) * m for s, m in law.items()) for law in (low, high))
            at_most(less, more, r=r, u=u, other=other, wider=wider, x=x)


def _is_ordered(r: tuple[int, ...], u: tuple[int, ...]) -> bool:
    """Functions of four points are convex if they are linear and kinks at 1 and 2 with sign +."""
    gains = [[sum(max(z - x, 0) * m for z, m in enumerate(law)) for law in (r, u)] for x in (1, 2)]
    return _first_moment(r) == _first_moment(u) and all(low <= high for low, high in gains)


def _moments_are_ordered(r: tuple[int, ...], u: tuple[int, ...]) -> bool:
    second = [sum(z * z * m for z, m in enumerate(law)) for law in (r, u)]
    return _first_moment(r) == _first_moment(u) and second[0] <= second[1]


def _first_moment(law: tuple[int, ...]) -> int:
    return sum(z * m for z, m in enumerate(law))


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> Counter[int]:
    products: Counter[int] = Counter()
    for (y, m), (z, n) in product(enumerate(one), enumerate(other)):
        products[y + z] += m * n
    return products


@PLD.holds("Random allocation", "mass left out")
@mutant("in the first order, what is missing from Q", from_p=False)
def mass_left_out(from_p: bool = True) -> None:
    """If masses of ratios and of S are rounded down, and those of the largest S left out, then an
    infinite loss with what is missing from mass 1 of P, or of Q in the other order, gives curves
    that are nowhere below.
    """
    for (with_, without), t, bits in product(_steps(), (2, 3), (4, 7)):
        law, far = _ratios(with_, without), _infinite(with_, without)
        whole = _mean(law, t)
        kept = _rounded(_mean(_rounded(law, bits), t), bits)
        kept = {s: m for s, m in kept.items() if s < max(whole)}
        lost = 1 - sum(kept.values(), _ZERO)
        p_lost = 1 - sum((s * m for s, m in kept.items()), _ZERO) if from_p else lost + far
        for curve, x in _kinks(whole):
            exact, more = (far, p_lost) if curve is _above else (_ZERO, lost)
            at_most(curve(whole, x) + exact, curve(kept, x) + more, ratios=law, t=t, x=x)


def _rounded(law: _Ratios, bits: int) -> _Ratios:
    return {s: Fraction(floor(m * 2**bits), 2**bits) for s, m in law.items()}
