"""Section 4 of the page: Gaussian noise around random shifts, and any mechanism on batches."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from flint import arb

from exactdp.balls import ball, precision
from exactdp.normal import cdf
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import OUR_PLD as PLD
from exactdp.proofs_check.entries import varied

__all__ = ["CLAIMS"]

_BITS = 96
_HALVINGS = 60
_FAR = 40

#: Weights of no shift and of two, and the sensitivities of the two.
_WEIGHTS = tuple(Fraction(w) for w in ("1/2", "3/10", "1/5"))
_SIZES = (Fraction(1), Fraction(2))
_RATIOS = tuple(Fraction(r) for r in ("3/5", "9/10", "1", "3/2", "4", "20"))

_Shifts = tuple[Fraction, ...]


def _ratio(shifts: _Shifts, x: arb) -> arb:
    """The density of the mixture at x over that of the noise alone."""
    moved = zip(_WEIGHTS[1:], shifts, strict=True)
    return ball(_WEIGHTS[0]) + sum(
        (ball(w) * (ball(u) * x - ball(u * u) / 2).exp() for w, u in moved), arb(0)
    )


def _roots(shifts: _Shifts, level: Fraction) -> Iterator[arb]:
    """Where the ratio, which is convex, passes a level: between ends that are on either side."""
    low, high = Fraction(-_FAR), Fraction(_FAR)
    for _ in range(3 * _HALVINGS):  # towards the least ratio, by thirds
        a, b = low + (high - low) / 3, high - (high - low) / 3
        a, b = (Fraction(round(x * 2**70), 2**70) for x in (a, b))
        low, high = (low, b) if _ratio(shifts, ball(a)) < _ratio(shifts, ball(b)) else (a, high)
    least = low
    if not _ratio(shifts, ball(least)) < ball(level):
        return
    for end in (Fraction(-_FAR), Fraction(_FAR)):
        inside, outside = least, end
        if not _ratio(shifts, ball(outside)) > ball(level):
            continue
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            over = bool(_ratio(shifts, ball(middle)) > ball(level))
            inside, outside = (inside, middle) if over else (middle, outside)
        yield ball(inside).union(ball(outside))


def _curve(shifts: _Shifts, level: Fraction) -> arb:
    """sup over S of P(S) - level Q(S): 1 - level, less the part between the roots."""
    roots = sorted(_roots(shifts, level), key=lambda r: float(r.mid()))
    if not roots:
        return arb(1 - level.numerator / level.denominator) if level < 1 else arb("nan")
    ends = {"low": arb(0), "high": arb(1)}
    moved = [(Fraction(0), _WEIGHTS[0]), *zip(shifts, _WEIGHTS[1:], strict=True)]

    def below(x: arb | None, side: str) -> tuple[arb, arb]:
        if x is None:
            return ends[side], ends[side]
        return sum((ball(w) * cdf(x - ball(u)) for u, w in moved), arb(0)), cdf(x)

    left, right = (roots[0], roots[1]) if len(roots) == 2 else _one_root(shifts, roots[0])
    (p, q), (p_high, q_high) = below(left, "low"), below(right, "high")
    return 1 - ball(level) - ((p_high - p) - ball(level) * (q_high - q))


def _one_root(shifts: _Shifts, root: arb) -> tuple[arb | None, arb | None]:
    """The ends of where the ratio is below the level, if it is so on a half-line."""
    return (None, root) if shifts[-1] > 0 else (root, None)


def _collinear(together: bool) -> str:
    """Shifts of all lengths and signs up to the sensitivities, on one number."""
    count = 0
    parts = (Fraction(-1), Fraction(-1, 2), Fraction(1, 2), Fraction(1))
    with precision(_BITS):
        for level in _RATIOS:
            worst = _curve((_SIZES[0] if together else -_SIZES[0], _SIZES[1]), level)
            for one, other in product(parts, repeat=2):
                found = _curve((one * _SIZES[0], other * _SIZES[1]), level)
                count += 1
                case = f"shifts {one * _SIZES[0]}, {other * _SIZES[1]} at ratio {level}"
                require(bool(found < worst + arb(2) ** -40), case)
    return f"{count} mixtures; the reverse order is that of the reciprocal ratio"


#: P, Q and R: the mechanism on three data sets, each two of which are neighbours.
_Laws = tuple[tuple[Fraction, ...], ...]


def _laws() -> Iterator[_Laws]:
    tenths = [(a, b, 10 - a - b) for a in (1, 4, 7) for b in (1, 2)]
    for three in product(tenths, repeat=3):
        yield tuple(tuple(Fraction(t, 10) for t in law) for law in three)


def _excess(p: tuple[Fraction, ...], q: tuple[Fraction, ...], level: Fraction) -> Fraction:
    return sum((max(a - level * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


def _any_mechanism(worst_sum: bool) -> str:
    """A batch of any mechanism, against the larger of its curves, as if both others were one."""
    count = 0
    for rate, (own, other, rest) in product((Fraction(1, 4), Fraction(2, 3)), _laws()):
        for level in (Fraction(1), Fraction(6, 5), Fraction(2)):
            on = [
                tuple((1 - rate) * r + rate * x for r, x in zip(rest, law, strict=True))
                for law in (own, other)
            ]
            a, b = (1 - rate) * (level - 1) / rate, level
            at = a + b if worst_sum else 2 * b
            bound = rate * max(_excess(own, rest, at), _excess(own, other, at))
            count += 1
            case = f"{own}, {other}, {rest} at {level}, q={rate}"
            require(_excess(on[0], on[1], level) <= bound, case)
    return f"{count} triples of laws on three outcomes"


CLAIMS = (
    PLD.verified(
        "Section 4, random shifts",
        "Gaussian noise on a number around a random shift, against none, leaks most, at any ratio, "
        "if all shifts have the same direction and are as long as they may be.",
        "certified numerics",
        **varied(_collinear, True, False, "opposite directions"),
    ),
    PLD.verified(
        "Section 4, any mechanism on batches",
        "For x >= 1 the curve of a batch is at most q D(a + x), a = (1 - q)(x - 1)/q, where D is "
        "the larger curve of the data with the user against each of the two without.",
        "enumeration",
        **varied(_any_mechanism, True, False, "q D(2 x)"),
    ),
)
