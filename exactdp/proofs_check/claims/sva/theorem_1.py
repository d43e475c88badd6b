"""SVA, Theorems 1, 2 and 3: the announced upper and lower bounds."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

from exactdp.balls import ball, precision
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import Conditional, Printed, Quibble, require
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]


def _user_factor(constant: Fraction, widest: int) -> str:
    """sqrt(k) + (2/eps) sqrt(2 k l) <= C (1/eps) sqrt(k l), r = eps/sqrt(l) in [0, widest].

    l = log(4n/beta); dividing by (1/eps) sqrt(k l) leaves r + 2 sqrt(2) <= C.
    """
    parts = always_positive(
        lambda r: ball(constant) - r - 2 * ball(2).sqrt(), [(0, Fraction(widest))]
    )
    return f"all 0 <= epsilon <= {widest} sqrt(log(4n/beta)), {parts} part(s)"


def _event_factor(constant: int, shape: Fraction) -> str:
    """sqrt(k/b) + 2/eps <= C/eps at b = ceil(eps^2 k/4), and b <= max(1, k) for eps <= 2."""
    for k, step in product((1, 2, 7, 100), range(1, 41)):
        epsilon = Fraction(step, 20)
        exact = epsilon * epsilon * k * shape
        b = -(-exact.numerator // exact.denominator)
        # sqrt(k/b) <= (C - 2)/eps
        require(b <= max(1, k), f"k={k}, epsilon={epsilon}: {b} bins")
        small = Fraction(k, b) * epsilon**2 <= (constant - 2) ** 2
        require(small, f"k={k}, epsilon={epsilon}: b={b}, sqrt(k/b) > {constant - 2}/epsilon")
    return "epsilon up to 2 in steps of 1/20, k up to 100"


def _informal(n: int, cap: bool) -> str:
    """The bound c (1/eps) sqrt(k log(d/k)/n), capped or not, against the error 1 of output 0."""
    with precision(80):
        for epsilon in (Fraction(1), Fraction(1, 10**3), Fraction(1, 10**9)):
            bound = ball(Fraction(1, 100) / epsilon) * (2 * ball(512).log() / n).sqrt()
            if cap and bound > 1:
                bound = ball(1)
            case = f"c=1/100, k=2, d=1024, n={n}, eps={float(epsilon)}"
            require(bool(bound <= 1), f"{case}: bound {float(bound):.4g} > 1, error of output 0")
    return "three epsilons; an output of 0 has error at most 1"


CLAIMS = (
    Conditional(
        paper="SVA",
        item="Theorem 1",
        statement="User-level: one bin clipped at eta = sqrt(2k log(4n/beta)) with Delta = 2 eta "
        "has error factor sqrt(k) + Delta/epsilon = O((1/epsilon) sqrt(k log(n/beta))), with "
        "constant 4.",
        outcome="proved",
        method="interval search",
        condition="epsilon <= sqrt(log(4n/beta)), which epsilon = O(1) ensures; and n >= "
        "log(d/beta), as for Theorem 12",
        **varied(partial(_user_factor, Fraction(4)), 1, 2, "for epsilon up to twice that range"),
        slack="decided without cutting the range of epsilon; the constant would be 3.83",
        note="The pseudorandom function and negl(lambda) are not modelled: h and s are random "
        "functions",
    ),
    Conditional(
        paper="SVA",
        item="Theorem 2",
        statement="Event-level: with b = ceil(epsilon^2 k/4) bins and Delta = 2 the error factor "
        "sqrt(k/b) + Delta/epsilon is O(1/epsilon), at most 4/epsilon, and b = O(k): b <= k.",
        outcome="verified",
        method="enumeration",
        condition="epsilon = O(1), here epsilon <= 2, for the communication, as b grows with "
        "epsilon^2; and n >= log(d/beta) for the error, as for Theorem 12",
        **varied(
            partial(_event_factor, 4), Fraction(1, 4), Fraction(1, 5), "with epsilon^2 k/5 bins"
        ),
    ),
    SVA.not_checkable(
        "Theorem 3",
        "Every (epsilon, o(epsilon/(n log n))) user-level mechanism has expected error "
        "Omega((1/epsilon) sqrt(k log(d/k)/n)).",
        "asymptotic and announced as informal; its formal version is Theorem 15",
    ),
    Quibble(
        paper="SVA",
        item="Theorem 3, no cap",
        statement="Every user-level mechanism has expected error at least c (1/epsilon) "
        "sqrt(k log(d/k)/n), for one c > 0 and all epsilon = O(1) and n.",
        printed=Printed(
            r"must suffer from at least $\Omega\left(\frac{1}{\epsilon}\sqrt{\frac{k "
            r"\log(d/k)}{n}}\right)$ error in expectation.",
            "Section I-A, Theorem 3",
            63,
        ),
        method="certified numerics",
        check=lambda: _informal(100, False),
        example="""
>>> from math import log, sqrt
>>> c, k, d, n = 0.01, 2, 1024, 100
>>> bound = lambda epsilon: c / epsilon * sqrt(k * log(d / k) / n)
>>> bound(1e-9) > 1         # but the constant answer 0 has error <= 1 for vectors in [-1, 1]^d
True
""",
        extraction="no: Table I has no cap either",
        note="Called informal; its formal version, Theorem 15, has a cap.",
        corrected=SVA.verified(
            "Theorem 3, no cap, corrected",
            "The lower bound is capped at a constant, as in Theorem 15.",
            "certified numerics",
            **varied(partial(_informal, 100), True, False, "no cap"),
        ),
    ),
)
