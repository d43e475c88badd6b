"""SVA, Claim 13: bins that are rarely far apart, plus Laplace noise, are (epsilon, delta)-close."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import hockey_stick
from exactdp.law import Law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.sva._model import (
    Vector,
    bins,
    distance,
    hashes,
    report,
)
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]

_RATIOS = (Fraction(1, 2), Fraction(1, 100))
_REACH = 3
_CASES: tuple[tuple[Vector, Vector, int], ...] = tuple(
    (tuple(Fraction(x) for x in v), tuple(Fraction(x) for x in w), b)
    for v, w, b in (
        ((1, 1), (0, 0), 1),
        ((1, 1), (-1, -1), 1),
        ((1, 0), (0, 1), 2),
        ((1, 1), (0, 0), 2),
        ((1, 0, 1), (0, 1, 0), 1),
    )
)


def _spread(v: Vector, w: Vector, b: int) -> Law[Fraction]:
    """The law of the L1 distance of the bins over h and s."""
    family = hashes(len(v), b)
    return Law.uniform([distance(bins(v, f, b), bins(w, f, b)) for f in family])


def _close(cut: Fraction) -> str:
    """hockey-stick at e^epsilon = a^-Delta <= P(distance > Delta)."""
    found: dict[str, tuple[Fraction, Fraction]] = {}
    for (v, w, b), a in product(_CASES, _RATIOS):
        first, second = report(v, b, a, _REACH), report(w, b, a, _REACH)
        for far in (0, 1, 2, 3, 4):
            factor = a**-far * (cut if far else 1)
            delta = hockey_stick(first, second, e_epsilon=factor).upper
            failing = _spread(v, w, b).probability(lambda x: x > far)
            found[f"{v}, {w}, b={b}, Delta={far}, a={a}"] = delta, failing
    reached = max(delta / failing for delta, failing in found.values() if failing < 1 and failing)
    require(reached >= Fraction(97, 100), f"delta is never above {float(reached):.4g} of that")
    less = max(_CASES, key=lambda c: distance(c[0], c[1]))  # epsilon is needed as well, all of it
    v, w, b = less
    first, second = (report(x, b, _RATIOS[0], _REACH) for x in (v, w))
    whole = _RATIOS[0] ** -int(distance(v, w)) * Fraction(99, 100)
    require(hockey_stick(first, second, e_epsilon=whole).lower > 0, "less epsilon is enough")
    for case in found:
        delta, failing = found[case]
        shown = f"{case}: delta is {delta}, P(distance > Delta) is {failing}"
        require(delta <= failing, shown)
    return f"{len(found)} cases, the whole message (h, s, noisy bins) enumerated"


def _cancel(probability: Fraction) -> str:
    """Two coordinates that go from 1 to -1 in one bin cancel when their signs differ."""
    v, w = (Fraction(1),) * 2, (Fraction(-1),) * 2
    law = _spread(v, w, 1)
    require(distance(v, w) == 4, f"the inputs are {distance(v, w)} apart")
    require(law[Fraction(0)] == probability, f"distance 0 with probability {law[Fraction(0)]}")
    return "both signs of both coordinates: distance 0 or 4, one half each"


def _triangle(share: Fraction) -> str:
    """Sum over bins of |sum of s(l)(v_l - w_l)| <= share * distance of v and w."""
    for v, w, b in _CASES:
        for h, s in hashes(len(v), b):
            gap = distance(bins(v, (h, s), b), bins(w, (h, s), b))
            inner = [
                sum((s[i] * (v[i] - w[i]) for i in range(len(v)) if h[i] == j), Fraction(0))
                for j in range(b)
            ]
            stated = sum((abs(x) for x in inner), Fraction(0))
            require(gap == stated, f"h={h}, s={s}: {gap}, the formula gives {stated}")
            require(gap <= share * distance(v, w), f"h={h}, s={s}: {gap} apart")
    return "five pairs of inputs, every h and s"


CLAIMS = (
    SVA.verified(
        "Claim 13",
        "If the L1 distance of the bins exceeds Delta with probability at most delta "
        "over h and s, noise of magnitude Delta/epsilon makes the messages (epsilon, delta)-close; "
        "delta reaches 0.97 of that probability, and e^epsilon 1 % smaller is not enough.",
        "enumeration",
        **varied(_close, Fraction(1), Fraction(99, 100), "e^epsilon one percent smaller"),
        note="stated with P(distance >= Delta), which is a stronger premise; > suffices",
    ),
    SVA.verified(
        "Section IV-B, bound by L",
        "For fixed h and s the bins of v and v' differ by sum over j of |sum over l in "
        "bin j of s(l)(v_l - v'_l)|, which is at most the distance of v and v', so at most L.",
        "enumeration",
        **varied(_triangle, Fraction(1), Fraction(99, 100), "at most 0.99 of it"),
        note="the text reads v_j - v'_j inside the sum over l, and 'exactly L' for 'at most L'",
    ),
    SVA.verified(
        "Section IV-B, cancelling example",
        "Inputs that differ by 2 in each of two coordinates are 4 apart; in a common bin "
        "the difference cancels with probability 1/2 over the signs.",
        "enumeration",
        **varied(_cancel, Fraction(1, 2), Fraction(51, 100), "with probability 0.51"),
    ),
)
