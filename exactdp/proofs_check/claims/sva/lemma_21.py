"""SVA, Lemma 21 and the encoding-decoding process of Appendix D."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from operator import sub

from exactdp.proofs_check.claim import Printed, Quibble, require
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]

Vector = tuple[Fraction, ...]

_EIGHTHS = tuple(Fraction(x, 8) for x in range(-6, 15))

#: By how many eta an answer is off in two coordinates: where it is wrong, at just 1/2 or beyond.
_OFF = tuple((Fraction(x, 8), Fraction(y, 8)) for x, y in product((0, -5, 4), repeat=2))


def _members(d: int, k: int) -> list[Vector]:
    return [tuple(Fraction(i in ones) for i in range(d)) for ones in combinations(range(d), k)]


def _rounded(y: Vector) -> Vector:
    return tuple(Fraction(x >= Fraction(1, 2)) for x in y)


def _decode(answer: Vector, eta: Fraction, members: list[Vector], divisor: int) -> Vector:
    """Y = (answer - (1 - eta) (1/divisor) sum over S)/eta."""
    centre = [sum(column) / divisor for column in zip(*members, strict=True)]
    return tuple((a - (1 - eta) * c) / eta for a, c in zip(answer, centre, strict=True))


def _perfect(divisor: Callable[[int], int]) -> str:
    """With the exact mean of P_V as the answer, decoding returns V; divisor: from |S|."""
    for d, k, eta in ((2, 1, Fraction(1, 10)), (3, 1, Fraction(1, 2)), (4, 2, Fraction(1, 100))):
        members = _members(d, k)
        for v in members:
            answer = tuple(eta * x + (1 - eta) * Fraction(k, d) for x in v)
            by = divisor(len(members))
            y = _decode(answer, eta, members, by)
            shown = tuple(str(x) for x in y)
            require(_rounded(y) == v, f"d={d}, k={k}, eta={eta}, divisor {by}: Y = {shown}")
            require(y == v, f"d={d}, k={k}, eta={eta}, divisor {by}: Y = {shown}")
    return "three sizes, every V: Y = V exactly"


def _markov(factor: Fraction) -> str:
    """P(V-hat != V) <= factor/eta E max|answer - mean of P_V|, at most factor/10 for eta/10.

    The law of the answer: exact but for two outcomes, off by eta times shifts of _OFF.
    """
    tried = small = 0
    members = _members(2, 1)
    for eta, tenths in product((Fraction(1, 10), Fraction(1, 2)), ((1, 1), (3, 4), (1, 9))):
        for v, shifts in product(members, product(_OFF, repeat=2)):
            wrong = mean = Fraction(0)
            for p, shift in zip((Fraction(x, 10) for x in tenths), shifts, strict=True):
                centre = [eta * x + (1 - eta) / 2 for x in v]
                answer = tuple(c + eta * s for c, s in zip(centre, shift, strict=True))
                wrong += p * (_rounded(_decode(answer, eta, members, len(members))) != v)
                mean += p * max(abs(a - c) for a, c in zip(answer, centre, strict=True))
            case = f"V={v[0]}, {v[1]}, eta={eta}, off by {_shown(shifts)}: error {wrong}"
            require(wrong <= factor / eta * mean, f"{case}, E max {mean / eta} eta")
            if mean <= eta / 10:
                require(wrong <= factor / 10, f"{case}, though the mean error is at most eta/10")
                small += 1
            tried += 1
    return f"{tried} laws of the answer on two coordinates, {small} with mean error <= eta/10"


def _shown(shifts: tuple[Vector, ...]) -> str:
    return " or ".join(f"({x}, {y})" for x, y in shifts)


def _far(half: Fraction) -> str:
    """A wrong bit is at least `half` from the right one."""
    for v, y in product((Fraction(0), Fraction(1)), _EIGHTHS):
        wrong = (y >= Fraction(1, 2)) != v
        away = abs(y - v)
        require(not wrong or away >= half, f"V={v}, Y={y} is only {away} away")
    return "both bits, a grid of values of Y that contains 1/2"


def _scaled(share: Fraction) -> str:
    """E|Y - V| = (1/eta) E|answer - mean of P_V|; eta/10 gives 1/10, so P(error) <= 1/5."""
    shifts = (Fraction(1, 7), Fraction(-1, 3), Fraction(0))
    for d, k, eta in ((2, 1, Fraction(1, 10)), (3, 1, Fraction(1, 2)), (3, 2, Fraction(1, 100))):
        members = _members(d, k)
        for v, off in product(members, product(shifts, repeat=d)):
            mean = [eta * x + (1 - eta) * Fraction(k, d) for x in v]
            answer = tuple(m + s * eta * share for m, s in zip(mean, off, strict=True))
            y = _decode(answer, eta, members, len(members))
            gap, stated = (max(abs(x) for x in e) for e in (map(sub, y, v), off))
            require(gap == stated, f"d={d}, eta={eta}: answer off by {off} eta, Y by {gap}")
    return "three sizes, every V, errors of the answer by coordinate"


CLAIMS = (
    SVA.verified(
        "Lemma 21",
        "A decoding error needs max|Y - V| >= 1/2, so by Markov its probability is at "
        "most 2 E max|Y - V|, that is (2/eta) times the mean of the largest error of the answer: "
        "at most 1/5 when that mean is at most eta/10.",
        "enumeration",
        **varied(_markov, Fraction(2), Fraction(99, 50), "1.98 E max|Y - V|"),
    ),
    SVA.verified(
        "Lemma 21, proof, rounding",
        "Rounding at 1/2 errs only when Y is at least 1/2 away from V.",
        "enumeration",
        **varied(_far, Fraction(1, 2), Fraction(51, 100), "at least 0.51 away"),
    ),
    SVA.verified(
        "Lemma 21, proof, scaling",
        "The L_infinity error of Y is 1/eta times the error of the estimate of the mean of P_V.",
        "enumeration",
        **varied(_scaled, Fraction(1), Fraction(99, 100), "one percent more"),
    ),
    Quibble(
        paper="SVA",
        item="Appendix D, decoding step",
        statement="V is recovered from an exact estimate A of the mean of P_V by "
        "Y = (A - (1 - eta) (1/n) sum over S of v)/eta, n the number of clients.",
        printed=Printed(
            r"(1 - \eta) \cdot \frac{1}{n} \sum_{v \in \mathcal{S}} v)$",
            "Appendix D, step 3 of the process",
            671,
        ),
        method="enumeration",
        check=lambda: _perfect(lambda _: 100),
        example="""
>>> eta, n = 0.1, 100                      # S = {(1, 0), (0, 1)}, V = (1, 0)
>>> mean = (eta + (1 - eta) / 2, (1 - eta) / 2)
>>> [round((a - (1 - eta) * 1 / n) / eta, 2) for a in mean]         # the sum over S is (1, 1)
[5.41, 4.41]
>>> [round((a - (1 - eta) * 1 / 2) / eta, 2) for a in mean]         # divided by |S| = 2
[1.0, 0.0]
""",
        extraction="unlikely: n and |S| do not look alike; the degrading channel of equation (2) "
        "averages over S",
        corrected=SVA.verified(
            "Appendix D, decoding step, corrected",
            "The uniform part has mean (1/|S|) sum over S of v; with it Y = V.",
            "enumeration",
            **varied(_perfect, lambda size: size, lambda size: size + 1, "divided by |S| + 1"),
        ),
    ),
)
