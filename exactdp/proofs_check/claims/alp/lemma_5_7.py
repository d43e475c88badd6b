"""ALP, Lemma 5.7: maximum error of Algorithm 9; epsilon must not exceed log(1/delta) by much."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.alp._large_epsilon import max_error
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _pointwise(below: Fraction) -> str:
    """Each nonzero entry errs by at most t + below * |noise| - dropped, or released and rounded."""
    for t, x, eta in product((2, 3, 5), (Fraction(n, 4) for n in range(1, 40)), range(-6, 7)):
        for y in (x,) if x >= 1 else (Fraction(0), Fraction(1)):
            v = y + eta
            kept = v if y and v >= t else Fraction(0)
            bound = t + below * abs(eta)
            require(abs(x - kept) <= bound, f"t={t}, x={x}, y={y}, noise {eta}: kept {kept}")
    return "t = 2, 3, 5, 39 entries, 13 values of noise, both roundings"


CLAIMS = (
    Refuted(
        paper="ALP",
        item="Lemma 5.7",
        statement="For delta = O(1/k) the expected maximum error of Algorithm 9 is "
        "O(log(1/delta)/epsilon), for every epsilon > 0.",
        severity="loose",
        printed=Printed(
            r"Suppose that $\delta = O(1/k)$. Then the expected maximum error of Algorithm 9 "
            r"is $O(\log(1/\delta)/\varepsilon)$.",
            "Section 5.1, Lemma 5.7",
            582,
        ),
        method="certified numerics",
        check=lambda: max_error(20, Fraction(0)),
        example="""
>>> from math import exp, log
>>> delta, x = 1e-6, 2                                 # k = 1
>>> for eps in (1, 10, 100, 1000, 10_000):             # the quotient grows without bound
...     t = log(1 / delta) / eps + 2
...     dropped = 1 - exp(-eps * (t - x)) / 2          # then the error is 2
...     print(round(2 * dropped / (log(1 / delta) / eps), 1))
0.1
1.4
14.5
144.8
1447.6
""",
        extraction="no: t = log(1/delta)/epsilon + 2 is printed twice and used in the proofs",
        corrected=ALP.verified(
            "Lemma 5.7, corrected",
            "For k = 1 and delta = 1/4, 1/1000 the expected error is at most 2 + 2 ln(1/delta)/"
            "epsilon for every epsilon.",
            "certified numerics",
            **varied(partial(max_error, 2), Fraction(2), Fraction(39, 20), "1.95 instead of 2"),
            note="That is O(log(1/delta)/epsilon) for epsilon = O(log(1/delta)). For any k see the "
            "display of the proof.",
        ),
        note="The cause of Lemmas 5.8 and 5.9 too: the summand 2 of t, which, like the rounding of "
        "entries below 1, does not shrink with 1/epsilon. True for epsilon = O(log(1/delta)), the "
        "usual range; but Section 7 lets epsilon tend to infinity and extends its results to "
        "Algorithm 9, so that large epsilon is not outside the paper's range.",
    ),
    ALP.verified(
        "Lemma 5.7, proof, display",
        "Every entry errs by at most t plus the size of its noise.",
        "enumeration",
        **varied(_pointwise, Fraction(1), Fraction(19, 20), "t plus 0.95 of it"),
        note="With the maximum of the noise of k entries, Proposition 2.5, the expected maximum is "
        "at most (1 + ln k)/epsilon + t.",
    ),
)
