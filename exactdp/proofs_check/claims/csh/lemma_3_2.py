"""CSH, Lemma 3.2: when one of several counters with shared noise passes the threshold."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

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


def _bound(share: Fraction) -> str:
    """With the factor 1 + k^(-1/4) times share."""
    cases = 0
    with precision(BITS):
        for k in _KS:
            wide = (1 + 1 / ball(k).root(4)) * ball(share)
            for j in _JS:
                for ratio in _RATIOS:
                    cases += 1
                    exact, stated = truth(k, j, ratio), one_shows(ball(ratio) / wide, j + 1)
                    case = f"k={k}, j={j}, tau/sigma={ratio}: {exact.mid()} > {stated.mid()}"
                    require(at_most(exact, stated), case)
    return f"{cases} points, 0.06 <= k <= 10^12, j <= 40, tau/sigma from 0.1 to 6"


def _sharper(share: Fraction) -> str:
    """The chance is at most that of j independent sums, and the same for j = 1 (to 1e-6)."""
    with precision(BITS):
        for k, j, ratio in product(_KS, _JS, _RATIOS):
            wide = (1 + 1 / ball(k).sqrt()).sqrt() * ball(share)
            exact, stated = truth(k, j, ratio), one_shows(ball(ratio) / wide, j)
            case = f"k={k}, j={j}, tau/sigma={ratio}: {exact.mid()}, stated {stated.mid()}"
            # the shared variance in `truth` is that of the lemma to 1e-8
            require(j > 1 or bool(stated <= exact * (1 + arb(10) ** -6)), f"{case}: not equal")
            require(at_most(exact, stated), case)
    return f"{len(_KS) * len(_JS) * len(_RATIOS)} points as for the lemma, equality at j = 1"


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
    require(sp.simplify(own * (1 + part) - tau) == 0, f"the part of Z_i is {own}")
    return (
        "shares tau k^(-1/4)/(1 + k^(-1/4)) and tau/(1 + k^(-1/4)), both tau/(sigma (1+k^(-1/4)))"
    )


#: Laws of the shared and of a counter's own noise, in quarters: value -> weight.
_NOISES = (
    ({-4: 1, 0: 2, 4: 1}, {-4: 1, 0: 2, 4: 1}),
    ({-1: 1, 0: 8, 6: 1}, {-3: 1, 1: 5, 5: 2}),
    ({-2: 1, 2: 1}, {-8: 1, 0: 6, 8: 1}),
)


def _inclusion(shared_too: bool) -> str:
    """P(some Z_corr + Z_i > tau) <= 1 - P(Z_corr <= s) P(Z_i <= tau - s)^j for all shares s."""
    count = 0
    for (common, own), j, tau in product(_NOISES, (1, 2, 4), range(1, 9)):
        shared, single = _law(common), _law(own)
        shows = sum(
            (p * (1 - _below(single, tau - z) ** j) for z, p in shared.items()), Fraction(0)
        )
        for share in range(tau + 1):
            first = _below(shared, share) if shared_too else Fraction(1)
            bound = 1 - first * _below(single, tau - share) ** j
            count += 1
            case = f"laws {common}, {own}, j={j}, tau={tau}/4, share {share}/4"
            require(shows <= bound, f"{case}: {shows} > {bound}")
    return f"{count} laws, j, thresholds and shares, by enumeration"


def _law(weights: dict[int, int]) -> dict[int, Fraction]:
    return {z: Fraction(w, sum(weights.values())) for z, w in weights.items()}


def _below(law: dict[int, Fraction], limit: int) -> Fraction:
    return sum((p for z, p in law.items() if z <= limit), Fraction(0))


CLAIMS = (
    CSH.verified(
        "Lemma 3.2",
        "With shared N(0, sigma^2/sqrt k) and j independent N(0, sigma^2), real k > 0, "
        "some sum exceeds tau with probability at most "
        "1 - Phi(tau/(sigma (1 + k^(-1/4))))^(j+1).",
        "certified numerics",
        **varied(
            _bound, Fraction(1), Fraction(99, 100), "with 99 percent of the factor 1 + k^(-1/4)"
        ),
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
        "A sum exceeds tau only if one of the two noises exceeds its share s or tau - s; "
        "with independence P(some sum > tau) <= 1 - P(Z_corr <= s) P(Z_i <= tau - s)^j.",
        "enumeration",
        **varied(_inclusion, True, False, "<= 1 - P(Z_i <= tau - s)^j"),
        note="the text calls the inclusion of events a union bound, and counts k for j samples",
    ),
    CSH.verified(
        "Lemma 3.2, a sharper bound",
        "By Slepian's inequality the probability is even at most "
        "1 - Phi(tau/(sigma sqrt(1 + 1/sqrt k)))^j, with equality at j = 1: the threshold may be "
        "lower, in closed form.",
        "certified numerics",
        **varied(_sharper, Fraction(1), Fraction(99, 100), "with 99 percent of that spread"),
        note="ours; equally correlated sums pass together more often than independent ones",
        ours=True,
    ),
)
