"""BV, Figure 1: errors of BasicHistogram for the three counting-query algorithms."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from exactdp.balls import ball, precision
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.bv._errors import beyond, log_error
from exactdp.proofs_check.claims.bv._laws import fast, geo
from exactdp.proofs_check.claims.bv._table_rows import Column, require_column
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers.count_samplers import CountSampler

__all__ = ["CLAIMS"]

_HALF = Fraction(1, 2)


def _fast_columns(gamma: Fraction) -> str:
    """gamma beta/|X| leaves beta/2 per query and beta/(2|X|) per bin, |X| >= 1."""
    require_column(Column(Fraction(1), Fraction(2), False, gamma, least=1))
    return require_column(Column(Fraction(1), Fraction(2), True, gamma))


def _exact_errors(factor: Fraction, quick: bool) -> str:
    """The exact failure probability of a bin is at most beta at ceil(factor/epsilon ln(..))."""
    cases = 0
    for inverse in (1, 2, 9, 65):
        for beta, universe in ((Fraction(1, 2), 3), (Fraction(1, 20), 10), (Fraction(9, 10), 2)):
            n = (1000 if quick else 40) * inverse
            gamma = ceil(2 * universe / beta)
            noise: CountSampler = fast(n, inverse, gamma) if quick else geo(n, inverse)
            argument = (2 if quick else 1) / beta
            for share in (1, universe):
                a = log_error(factor * inverse, argument * share)
                fails = max(beyond(noise, c, a) for c in (0, 1, n // 2, n))
                case = f"epsilon=1/{inverse}, beta={beta}, |X|={universe}, error {a}"
                require(fails <= beta / share, f"{case}: fails with {float(fails):.4g}")
                cases += 1
    return f"{cases} cases, exact tail probabilities at c = 0, 1, n/2, n"


def _geometric_row(factor: Fraction) -> str:
    """GeometricMechanism: F(-a-1) + 1 - F(a) <= beta at a = ceil(2/epsilon ln(1/beta)).

    F of Section 4.1 with e^(1/s) = e^(epsilon/2) = E; the sum is 2 E^-a/(E + 1) <= E^-a <= beta.
    """
    with precision(128):
        for inverse in (1, 2, 7, 50):
            for argument in (Fraction(3, 2), Fraction(20), Fraction(10**6), Fraction(101, 100)):
                a = log_error(factor * inverse, argument)
                e = ball(Fraction(1, 2 * inverse)).exp()
                fails = e / (e + 1) * e ** (-a - 1) + 1 / (e + 1) * e ** (-a)
                require(
                    bool(fails <= ball(1 / argument)),
                    f"epsilon=1/{inverse}, ln({argument}), error {a}: {fails}",
                )
    return "16 points; the argument is |X|/beta in the simultaneous column"


CLAIMS = (
    BV.proved(
        "Figure 1",
        "FastSample with gamma = beta/(2|X|) has errors ceil(9/(2 epsilon) ln(2/beta)) "
        "per query and ceil(9/(2 epsilon) ln(2|X|/beta)) at once by Theorem 4.6: beta and "
        "beta/|X| exceed gamma by beta/2 and beta/(2|X|) at least.",
        "enumeration",
        **varied(_fast_columns, _HALF, Fraction(51, 100), "gamma = 0.51 beta/|X|"),
    ),
    BV.verified(
        "Figure 1, row GeometricMechanism",
        "Errors ceil(2/epsilon ln(1/beta)) per query and ceil(2/epsilon ln(|X|/beta)) at once.",
        "certified numerics",
        **varied(
            _geometric_row, Fraction(2), Fraction(19, 10), "1.9/epsilon in place of 2/epsilon"
        ),
    ),
    BV.verified(
        "Figure 1, row GeoSample",
        "Errors ceil(9/(2 epsilon) ln(1/beta)) per query and "
        "ceil(9/(2 epsilon) ln(|X|/beta)) at once hold for the exact law, and even with 4/epsilon "
        "in place of 9/(2 epsilon).",
        "exact law",
        **varied(_exact_errors, Fraction(4), Fraction(39, 10), "even 3.9/epsilon", False),
        note="epsilon~ > epsilon/2 for 1/epsilon an integer",
    ),
    BV.verified(
        "Figure 1, row FastSample",
        "Errors ceil(9/(2 epsilon) ln(2/beta)) per query and "
        "ceil(9/(2 epsilon) ln(2|X|/beta)) at once hold for the exact law, "
        "gamma = beta/(2|X|), and even with 4/epsilon in place of 9/(2 epsilon).",
        "exact law",
        **varied(_exact_errors, Fraction(4), Fraction(39, 10), "even 3.9/epsilon", True),
    ),
    BV.not_checkable(
        "Figure 1, running times",
        "Running times of BasicHistogram for GeoSample and FastSample, beta >= 1/poly(n).",
        "asymptotic running time in the word RAM model",
    ),
)
