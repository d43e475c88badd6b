"""BV, Algorithm 6: one step of OrdSample inverts the distribution function it is meant to."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import BV, varied

__all__ = ["CLAIMS"]

_SCALED = ((3, 5), (9, 11, 15), (1, 2, 3), (2, 2, 7))


def _one_step(range_of_previous: bool) -> str:
    """Least z <= v with F(z)^r >= u for uniform u: P(z <= y) = (F(y)/F(v))^r."""
    cases = 0
    for scaled, rest in product(_SCALED, (1, 2, 3)):
        for v in range(len(scaled)):
            top = scaled[v] if range_of_previous else scaled[-1]
            found = [_least(scaled, v, rest, u) for u in range(1, top**rest + 1)]
            for y in range(v + 1):
                exact = Fraction(sum(z <= y for z in found), len(found))
                stated = Fraction(scaled[y], scaled[v]) ** rest
                case = f"F={scaled}, previous {v}, power {rest}, P(z <= {y})"
                require(exact == stated, f"{case}: exact {exact}, wanted {stated}")
                cases += 1
    return f"{cases} probabilities, every u enumerated"


def _least(scaled: tuple[int, ...], v: int, rest: int, u: int) -> int:
    return next((z for z in range(v + 1) if scaled[z] ** rest >= u), v + 1)


CLAIMS = (
    BV.verified(
        "Algorithm 6",
        "With u uniform on 1, ..., F(v)^(m-i), v the previous value, the least z <= v "
        "with F(z)^(m-i) >= u has the distribution function (F(z)/F(v))^(m-i). (That this is the "
        "wrong law for a next order statistic is the entry of Proposition 6.3.)",
        "enumeration",
        **varied(_one_step, True, False, "u is drawn up to d^(m-i) every time"),
        note="the text reads F(v)^(m-i) without an index in step 2a, and [d] with a dot for [d]_+; "
        "both are read as v_(i-1) and [d]_+, as in step 2b and Proposition 6.3",
    ),
)
