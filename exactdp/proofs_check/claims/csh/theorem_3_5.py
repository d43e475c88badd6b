"""CSH, Theorem 3.5: the tighter bound; its fourth term does not bound the case it is made for."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import acb, arb

from exactdp.balls import ball
from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.csh._densities import side_b
from exactdp.proofs_check.claims.csh._model import (
    BITS,
    POINTS,
    Point,
    at_most,
    cdf,
    exact_delta,
    point,
    precision,
)
from exactdp.proofs_check.claims.csh._published import (
    delta_gauss,
    delta_inf,
    fourth,
    theorem_3_5,
    third,
)
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS", "vanishing"]

_CASES = (
    *(at for at in POINTS if at.k < 1000 and at.k != 16),
    point(9, "4", "400", "0.35"),
    point(4, "3", "9", "0.1"),
    point(3, "40", "12", "1.5"),
    point(9, "4", "1", "3"),
)


def _bounds(scale: Fraction) -> str:
    """The exact delta against the maximum, and against its first two terms (sensitivity scaled)."""
    for at in _CASES:
        exact = exact_delta(at)
        with precision(BITS):
            stated = theorem_3_5(at, scale=scale)
            ends = delta_inf(at, at.k + 1).max(delta_gauss(at, scale=scale))
            case = f"{at}: exact {float(exact.lower):.9g} > {stated.mid().str(9)}"
            require(at_most(ball(exact.upper), stated), case)
            require(at_most(ball(exact.upper), ends), f"{case}, first two {ends.mid().str(9)}")
    return f"the exact delta at {len(_CASES)} points, every j"


def _between(scale: Fraction) -> str:
    """The tighter bound is at most the sum of Theorem 3.3 (times scale)."""
    with precision(BITS):
        for at in _CASES:
            tight, total = theorem_3_5(at), delta_gauss(at) + delta_inf(at, at.k + 1)
            case = f"{at}: {tight.mid().str(9)} > {total.mid().str(9)}"
            require(at_most(tight, total * ball(scale)), case)
    return f"{len(_CASES)} points, every j"


def _fourth_below_third(more: Fraction) -> str:
    with precision(BITS):
        for at in _CASES:
            for j in range(1, at.k):
                last, other = fourth(at, j) * (1 + ball(more)), third(at, j)
                case = f"{at}, j={j}: {last.mid().str(9)} > {other.mid().str(9)}"
                require(at_most(last, other), case)
    return f"{len(_CASES)} points, every j"


def vanishing(at: Point) -> arb:
    """A lower bound on delta for U in U', k = 2: one shared counter moves, one appears in X'.

    The event is a half-line of the shared counter's noisy value y, with no counter released
    beside it: P(y > cut) - e^epsilon times the integral over y > cut of the density on the other
    side times the chance that the new counter stays hidden, given y.
    """
    kappa, lam = arb(at.k).sqrt(), 1 / ball(at.sigma)
    total = 1 + 1 / kappa  # variance of y in units of sigma^2
    rest = (1 + 1 / (1 + kappa)).sqrt()  # of the new counter's noise, given y
    grow, root = ball(at.epsilon).exp(), (2 * arb.pi() * total).sqrt()

    def hidden(y: acb) -> acb:
        shared = (y - lam) / (1 + kappa)  # its mean given y, on the side with the larger count
        top = (acb(ball(at.tau) * lam) - shared) / rest
        return (-top * acb(arb(2).rsqrt())).erfc() / 2

    def other(y: acb, _: bool) -> acb:
        return (-((y - lam) ** 2) / (2 * total)).exp() / root * hidden(y)

    best = arb(0)
    for tenths in range(15, 40):
        cut = arb(tenths) / 10
        # beyond cut + 20 the integrand is at most its density
        missing = arb(0).union((-(arb(16) ** 2) / (2 * total)).exp())
        value = acb.integral(other, acb(cut), acb(cut.max(arb(0)) + 16)).real + missing
        best = best.max(cdf(-cut / total.sqrt()) - grow * value)
    return best


_VANISH = (point(2, "30", "10", "1.2"), point(2, "50", "12", "1.2"))
_FAR = (point(4, "2", "30", "0.5"), point(9, "4", "60", "0.35"))


def _fourth_bounds() -> str:
    """The fourth term, as printed, bounds the case U in U' at k = 2, j = a = r = 1."""
    with precision(BITS):
        for at in _VANISH:
            exact, stated = vanishing(at), fourth(at, 1)
            texts = [x.mid().str(6, radius=False) for x in (exact, stated)]
            case = f"k=2, sigma={at.sigma}, tau={at.tau}, epsilon={float(at.epsilon)}, j=a=r=1"
            require(at_most(exact, stated), f"{case}: delta {texts[0]} > {texts[1]}")
    return f"{len(_VANISH)} points"


def _third_bounds(share: Fraction) -> str:
    """The third term (times share) bounds every pair U in U', |U'| = k, to a relative 1e-4."""
    pairs, nearest = 0, 0.0
    for at in (*_VANISH, *_FAR):
        setting = [float(at.sigma), float(at.tau), float(at.epsilon), math.sqrt(at.k)]
        for j in range(1, at.k):
            with precision(BITS):
                stated = float(third(at, j) * ball(share))
            for a in range(1, j + 1):
                found = side_b((j, a, at.k - j), setting)
                pairs, nearest = pairs + 1, max(nearest, found / stated)
                case = f"{at}, j={j}, a={a}: {found:.7g} > {stated:.7g}"
                require(found <= stated * (1 + 1e-4), case)
    return f"{pairs} pairs, at most {nearest:.4f} of the third term"


def _slack(share: Fraction) -> str:
    at = point(10, "17.8", "132.3", "0.35")
    exact = exact_delta(at)
    with precision(BITS):
        stated = theorem_3_5(at)
        case = f"{at}: exact {float(exact.upper):.9g}, bound {stated.mid().str(9, radius=False)}"
        require(bool(ball(exact.upper) < ball(share) * stated), case)
    return case


CLAIMS = (
    CSH.verified(
        "Theorem 3.5",
        "delta of Algorithm 2 is at most the maximum of 1 - psi(k), the Gaussian delta "
        "at sqrt(k + sqrt k)/2, and the two families over j in [k-1] at "
        "gamma(j) = min(sqrt j, sqrt(j + sqrt k)/2). (At the points tried the first two suffice.)",
        "certified numerics",
        **varied(
            _bounds,
            Fraction(1),
            Fraction(99, 100),
            "99 percent of the sensitivity in the second term",
        ),
        note="its proof takes a step that fails (Appendix B, the missing piece); the theorem holds "
        "all the same, by the exact analysis (Theorem 3.5, case of the last maximum, corrected). "
        "At the points here its first two terms alone would do",
    ),
    CSH.verified(
        "Theorem 3.5, against Theorem 3.3",
        "The maximum is never above the sum of the deltas.",
        "certified numerics",
        **varied(_between, Fraction(1), Fraction(999, 1000), "99.9 percent of that sum"),
    ),
    CSH.verified(
        "Theorem 3.5, last maximum",
        "The last family is never needed: each of its terms is at most the term of the "
        "third at the same j.",
        "certified numerics",
        **varied(_fourth_below_third, Fraction(0), Fraction(1, 50), "even with a factor 1.02"),
        note="psi instead of the true chance in the exact analysis, side A suffices",
        ours=True,
    ),
    Refuted(
        paper="CSH",
        item="Theorem 3.5, case of the last maximum",
        printed=Printed(
            r"while the second covers the cases where ... U\subset U^{\prime}",
            "Section 3.2, after Theorem 3.5",
            268,
        ),
        follows_from="CSH-Appendix-B-the-missing-piece",
        statement="The last family bounds delta where the second histogram has the further "
        "counters (U in U').",
        severity="loose",
        method="certified numerics",
        check=_fourth_bounds,
        example="""
>>> from mpmath import exp, inf, mp, mpf, ncdf, npdf, nstr, quad, sqrt
>>> k, sigma, tau, eps = 2, 30, 10, mpf("1.2")   # one shared counter moves, one appears in X'
>>> kap, lam, rho = sqrt(k), mpf(1)/sigma, mpf(tau)/sigma
>>> sd, rest = sqrt(1 + 1/kap), sqrt(1 + 1/(1 + kap))
>>> hidden = lambda y: ncdf((rho - (y - lam)/(1 + kap)) / rest)
>>> gain = lambda y: npdf(y, 0, sd) - exp(eps) * npdf(y, lam, sd) * hidden(y)
>>> nstr(quad(lambda y: max(gain(y), 0), [-8, 2, 2.5, 3, 3.5, 4, 8, 16]), 3)
'0.00552'
>>> eps4 = eps + 2*mp.log(ncdf(rho / (1 + k**-0.25)))  # ln psi(k - j), j = 1
>>> mu = min(1, sqrt(1 + kap)/2) * lam
>>> nstr(ncdf(mu/2 - eps4/mu) - exp(eps4) * ncdf(-mu/2 - eps4/mu), 3)
'5.48e-6'
""",
        extraction="no: theorem, Section 3.2 and Appendix B assign the term to this case alike",
        corrected=CSH.verified(
            "Theorem 3.5, case of the last maximum, corrected",
            "The third family bounds this case, too (to a relative 1e-4), so the theorem holds and "
            "its last maximum can be dropped.",
            "certified numerics",
            **varied(_third_bounds, Fraction(1), Fraction(95, 100), "95 percent of it do"),
            note="delta of the pairs by formula (B) of the exact analysis, summed in floats; with "
            "certainty by Exact analysis, side A suffices",
        ),
    ),
    CSH.verified(
        "Theorem 3.5, not tight",
        "At k = 10, sigma = 17.8, tau = 132.3, epsilon = 0.35 the exact delta is below 83 percent "
        "of the bound (Section 8 says the bound is not tight).",
        "certified numerics",
        **varied(_slack, Fraction(83, 100), Fraction(82, 100), "below 82 percent"),
    ),
)
