"""SVA, Theorems 1, 2 and 3: the announced upper and lower bounds."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import product

from exactdp.balls import ball, precision
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import Conditional, Printed, Quibble, require
from exactdp.proofs_check.claims.sva._risk import bayes_risk
from exactdp.proofs_check.claims.sva._tails import at_most
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]


def _user_factor(widest: Fraction) -> str:
    """sqrt(k) + (2/eps) sqrt(2 k l) <= 3.83 (1/eps) sqrt(k l), r = eps/sqrt(l) in [0, widest].

    l = log(4n/beta); dividing by (1/eps) sqrt(k l) leaves r + 2 sqrt(2) <= 3.83.
    """
    constant = ball(Fraction(383, 100))
    parts = always_positive(lambda r: constant - r - 2 * ball(2).sqrt(), [(0, widest)])
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


def _least_errors() -> Iterator[tuple[int, Fraction, Fraction]]:
    """n, e^epsilon and the least error of any estimator at d = 2, k = 1: see Theorem 15."""
    for thousandths, n in product((1100, 1010, 1001), (1, 4, 7)):
        e_eps = Fraction(thousandths, 1000)
        yield n, e_eps, max(bayes_risk(n, e_eps, Fraction(j, 4)) for j in range(5))


def _informal(c: Fraction) -> str:
    """c (1/eps) sqrt(k log(d/k)/n) is at most the least error."""
    with precision(80):
        for n, e_eps, error in _least_errors():
            bound = ball(c) * (ball(2).log() / n).sqrt() / ball(e_eps).log()
            at_most(bound, error, f"c={c}, n={n}, e^epsilon={float(e_eps)}: bound, least error")
    return "nine pairs of epsilon and n"


def _levels_off(least: Fraction) -> str:
    """The least error stays between two constants as epsilon falls."""
    for n, e_eps, error in _least_errors():
        case = f"n={n}, e^epsilon={float(e_eps)}: least error {float(error):.5g}"
        require(error <= Fraction(1, 2), case)
        require(error >= least, case)
    return "e^epsilon = 1.1, 1.01, 1.001, up to 7 clients"


CLAIMS = (
    Conditional(
        paper="SVA",
        item="Theorem 1",
        statement="User-level: one bin clipped at eta = sqrt(2k log(4n/beta)) with Delta = 2 eta "
        "has error factor sqrt(k) + Delta/epsilon = O((1/epsilon) sqrt(k log(n/beta))), with "
        "constant 3.83.",
        outcome="proved",
        method="interval search",
        condition="epsilon <= sqrt(log(4n/beta)), which epsilon = O(1) ensures; and n >= "
        "log(d/beta), as for Theorem 12",
        **varied(
            _user_factor, Fraction(1), Fraction(101, 100), "for epsilon up to 1.01 times that"
        ),
        slack="decided without cutting the range of epsilon; 1 + sqrt(8) is 3.8284",
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
            partial(_event_factor, 4), Fraction(1, 4), Fraction(24, 100), "with 0.24 epsilon^2 k"
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
        check=lambda: _informal(Fraction(1, 100)),
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
            "The lower bound is capped at a constant, as in Theorem 15: as epsilon falls, the "
            "least error at d = 2, k = 1 stays between 0.44 and 1/2.",
            "enumeration",
            **varied(_levels_off, Fraction(44, 100), Fraction(45, 100), "between 0.45 and 1/2"),
        ),
    ),
)
