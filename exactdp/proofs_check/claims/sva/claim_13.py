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

_A = Fraction(1, 2)
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
    tried = 0
    for (v, w, b), delta_noise in product(_CASES, (0, 1, 2, 3, 4)):
        first, second = report(v, b, _A, _REACH), report(w, b, _A, _REACH)
        factor = _A**-delta_noise * (cut if delta_noise else 1)
        found = hockey_stick(first, second, e_epsilon=factor).upper
        failing = _spread(v, w, b).probability(lambda x: x > delta_noise)
        require(
            found <= failing,
            f"b={b}, Delta={delta_noise}: delta is {found}, P(distance > Delta) is {failing}",
        )
        tried += 1
    return f"{tried} cases, the whole message (h, s, noisy bins) enumerated"


def _cancel(probability: Fraction) -> str:
    """Two coordinates that go from 1 to -1 in one bin cancel when their signs differ."""
    v, w = (Fraction(1),) * 2, (Fraction(-1),) * 2
    law = _spread(v, w, 1)
    require(distance(v, w) == 4, f"the inputs are {distance(v, w)} apart")
    require(law[Fraction(0)] == probability, f"distance 0 with probability {law[Fraction(0)]}")
    return "both signs of both coordinates: distance 0 or 4, one half each"


def _triangle(index: int) -> str:
    """Sum over bins of |sum of s(l)(v_l - w_l)| <= sum of |v_l - w_l| = distance <= L."""
    for v, w, b in _CASES:
        for h, s in hashes(len(v), b):
            gap = distance(bins(v, (h, s), b), bins(w, (h, s), b))
            inner = [
                sum((s[i] * (v[i if index else 0] - w[i if index else 0]) for i in members),
                    Fraction(0))
                for members in ([i for i in range(len(v)) if h[i] == j] for j in range(b))
            ]  # fmt: skip
            stated = sum((abs(x) for x in inner), Fraction(0))
            require(gap <= distance(v, w), f"h={h}, s={s}: {gap} apart")
            require(gap == stated, f"h={h}, s={s}: {gap}, the formula gives {stated}")
    return "five pairs of inputs, every h and s"


CLAIMS = (
    SVA.verified(
        "Claim 13",
        "If the L1 distance of the bins exceeds Delta with probability at most delta "
        "over h and s, noise of magnitude Delta/epsilon makes the messages (epsilon, delta)-close.",
        "enumeration",
        **varied(_close, Fraction(1), Fraction(99, 100), "e^epsilon one percent smaller"),
        note="stated with P(distance >= Delta), which is a stronger premise; > suffices",
    ),
    SVA.verified(
        "Section IV-B, bound by L",
        "For fixed h and s the bins of v and v' differ by sum over j of |sum over l in "
        "bin j of s(l)(v_l - v'_l)|, which is at most the distance of v and v', so at most L.",
        "enumeration",
        **varied(_triangle, 1, 0, "with a fixed index inside the sum over l"),
        note="the text reads v_j - v'_j inside the sum over l, and 'exactly L' for 'at most L'",
    ),
    SVA.verified(
        "Section IV-B, cancelling example",
        "Inputs that differ by 2 in each of two coordinates are 4 apart; in a common bin "
        "the difference cancels with probability 1/2 over the signs.",
        "enumeration",
        **varied(_cancel, Fraction(1, 2), Fraction(1, 4), "with probability 1/4"),
    ),
)
