"""CSH, Lemma 3.2: when one of several counters with shared noise passes the threshold."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from exactdp.accounting.sparse_histograms.csh_exact import threshold_only
from exactdp.balls import ball
from exactdp.proofs_check.claim import Mutant, require
from exactdp.proofs_check.claims.csh._model import BITS, at_most, one_shows, precision
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

_KS = (Fraction(1, 16), Fraction(1), Fraction(2), Fraction(10), Fraction(51914), Fraction(10**12))
_JS = (1, 2, 5, 40)
_RATIOS = (Fraction(1, 10), Fraction(1), Fraction(3), Fraction(6))


def _shared(k: Fraction) -> Fraction:
    """A shared variance slightly above 1/sqrt(k), as a rational: kappa <= sqrt(k)."""
    scale = 10**9
    from math import isqrt

    return Fraction(isqrt(k.numerator * scale**2 // k.denominator), scale)


def truth(k: Fraction, j: int, ratio: Fraction) -> arb:
    """P(some Z_corr + Z_i > tau), at ratio = tau/sigma, by the certified grid of the library."""
    return threshold_only(j, ball(ratio), _shared(k), j)


def _bound(spread: str, more: int) -> str:
    cases = 0
    with precision(BITS):
        for k in _KS:
            wide = _spread(k, spread)
            for j in _JS:
                for ratio in _RATIOS:
                    cases += 1
                    exact, stated = truth(k, j, ratio), one_shows(ball(ratio) / wide, j + more)
                    case = f"k={k}, j={j}, tau/sigma={ratio}: {exact.mid()} > {stated.mid()}"
                    require(at_most(exact, stated), case)
    return f"{cases} points, 0.06 <= k <= 10^12, j <= 40, tau/sigma from 0.1 to 6"


def _spread(k: Fraction, name: str) -> arb:
    root = ball(k).sqrt()
    return {
        "sum": 1 + 1 / root.sqrt(),
        "near": (1 + 1 / root.sqrt()) * arb(99) / 100,
        "total": (1 + 1 / root).sqrt(),
        "less": (1 + 1 / root).sqrt() * arb(99) / 100,
    }[name]


def _shares(of_common: int, of_own: int) -> str:
    """The two shares of the threshold are the same number of standard deviations, and add up."""
    import sympy as sp

    k, tau, sigma = sp.symbols("k tau sigma", positive=True)
    part = k ** sp.Rational(-1, 4)
    common, own = tau * part**of_common / (1 + part), tau * part**of_own / (1 + part)
    require(
        sp.simplify(common + own - tau) == 0, f"the shares add up to {sp.simplify(common + own)}"
    )
    gap = sp.simplify(common / (sigma * k ** sp.Rational(-1, 4)) - own / sigma)
    require(gap == 0, f"in standard deviations they differ by {gap}")
    return (
        "shares tau k^(-1/4)/(1 + k^(-1/4)) and tau/(1 + k^(-1/4)), both tau/(sigma (1+k^(-1/4)))"
    )


def _inclusion(strict: bool) -> str:
    """Z_corr + Z_i > tau needs one of the two to exceed its share (both, if strict)."""
    grid = [Fraction(i, 4) for i in range(-8, 17)]
    tau, share = Fraction(2), Fraction(1, 3)
    for common in grid:
        for own in grid:
            over = (common > tau * share, own > tau * (1 - share))
            holds = all(over) if strict else any(over)
            require(holds or common + own <= tau, f"Z_corr={common}, Z_i={own}, tau={tau}")
    return f"{len(grid) ** 2} pairs of values; in general the contrapositive adds two inequalities"


CLAIMS = (
    CSH.verified(
        "Lemma 3.2",
        "With shared N(0, sigma^2/sqrt k) and j independent N(0, sigma^2), real k > 0, "
        "some sum exceeds tau with probability at most "
        "1 - Phi(tau/(sigma (1 + k^(-1/4))))^(j+1).",
        "certified numerics",
        **varied(_bound, "sum", "near", "with 99 percent of the factor 1 + k^(-1/4)", 1),
    ),
    CSH.proved(
        "Lemma 3.2, proof, shares of the threshold",
        "Both noises get a part of tau in proportion to their standard deviations, so "
        "both stay below theirs with probability Phi(tau/(sigma (1 + k^(-1/4)))).",
        "symbolic",
        check=lambda: _shares(1, 0),
        mutant=Mutant("with the parts exchanged", lambda: _shares(0, 1)),
    ),
    CSH.verified(
        "Lemma 3.2, proof, equations (1) and (2)",
        "The sum exceeds tau only if one of the two exceeds its share; with their "
        "independence this gives the lemma.",
        "enumeration",
        **varied(_inclusion, False, True, "only if both do"),
        note="the text calls the inclusion of events a union bound, and counts k for j samples",
    ),
    CSH.verified(
        "Lemma 3.2, a sharper bound",
        "By Slepian's inequality the probability is even at most "
        "1 - Phi(tau/(sigma sqrt(1 + 1/sqrt k)))^j, with equality at j = 1: the threshold may be "
        "lower, in closed form.",
        "certified numerics",
        **varied(_bound, "total", "less", "with 99 percent of that spread", 0),
        note="ours; equally correlated sums pass together more often than independent ones",
        ours=True,
    ),
)
