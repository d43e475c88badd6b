"""CSH, Lemma 3.4: the threshold for a target delta, printed with the wrong sign."""

from __future__ import annotations

from flint import arb

from exactdp.balls import ball
from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.csh._model import BITS, Point, point, precision, tail
from exactdp.proofs_check.claims.csh._published import delta_gauss, delta_inf
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

#: (parameters without tau, target delta): delta_gauss is below the target in each.
_TARGETS = (
    (point(10, "18.5", "0", "0.35"), "1e-5"),
    (point(51914, "1150", "0", "0.35"), "1e-5"),
    (point(1, "2", "0", "1"), "0.05"),
    (point(5, "3", "0", "0.5"), "0.2"),
)


def _quantile(tail_mass: arb) -> arb:
    """x with 1 - Phi(x) = tail_mass in (0, 1), as a ball, by bisection."""
    low, high = arb(-40), arb(40)
    for _ in range(170):
        middle = ((low + high) / 2).mid()
        low, high = (middle, high) if tail(middle) > tail_mass else (low, middle)
    return low.union(high)


def threshold(at: Point, target: arb, sign: int) -> arb:
    """Phi^-1((1 - delta + sign delta_gauss)^(1/(k+1))) (1 + k^(-1/4)) sigma."""
    log_root = (-(target - sign * delta_gauss(at))).log1p() / (at.k + 1)
    return _quantile(-log_root.expm1()) * (1 + 1 / arb(at.k).root(4)) * ball(at.sigma)


def _reaches(sign: int) -> str:
    """At this tau the delta of Theorem 3.3 is the target."""
    from fractions import Fraction

    seen = []
    with precision(BITS):
        for at, text in _TARGETS:
            target = ball(Fraction(text))
            tau = threshold(at, target, sign)
            exact = at._replace(tau=Fraction(str(tau.mid().str(25, radius=False))))
            total = delta_gauss(exact) + delta_inf(exact, at.k + 1)
            case = f"k={at.k}, sigma={at.sigma}, tau={tau.mid().str(9, radius=False)}"
            found = f"delta_gauss + delta_inf = {total.mid().str(9, radius=False)}, target {text}"
            near = bool(abs(total - target) < target * arb(10) ** -12)
            require(near, f"{case}: {found}")
            seen.append(f"k={at.k}: tau={tau.mid().str(7, radius=False)}")
    return "; ".join(seen)


CLAIMS = (
    Refuted(
        paper="CSH",
        item="Lemma 3.4",
        printed=Printed(
            r"technique requires ... \tau\geq\Phi^{-1}\left("
            r"\sqrt[k+1]{1-\delta-\delta_{\text{gauss}}}\right)\cdot% "
            r"\left(1+k^{-1/4}\right)\sigma",
            "Section 3.1, Lemma 3.4",
            250,
        ),
        statement="For add-the-deltas it suffices (and is needed) that tau >= "
        "Phi^-1((1 - delta - delta_gauss)^(1/(k+1))) (1 + k^(-1/4)) sigma.",
        severity="unsafe",
        method="certified numerics",
        check=lambda: _reaches(-1),
        example="""
>>> from mpmath import erfinv, exp, mp, mpf, ncdf, nstr, sqrt
>>> mp.dps, k, sigma, eps, delta = 30, 10, mpf("18.5"), mpf("0.35"), mpf("1e-5")
>>> mu = sqrt(k + sqrt(k)) / (2*sigma)
>>> gauss = ncdf(mu/2 - eps/mu) - exp(eps) * ncdf(-mu/2 - eps/mu)
>>> def total(sign):
...     root = (1 - delta + sign*gauss) ** (mpf(1)/(k + 1))
...     tau = sqrt(2) * erfinv(2*root - 1) * (1 + k**-0.25) * sigma
...     return nstr(gauss + 1 - ncdf(tau / (sigma*(1 + k**-0.25))) ** (k + 1), 6)
>>> total(-1), total(+1)                # printed, corrected: the target is 1e-5
('2.03294e-5', '1.0e-5')
""",
        extraction="no: the root stands in the lemma and again in its proof with two minus signs, "
        "though the proof begins with delta - delta_gauss >= 1 - Phi(..)^(k+1)",
        corrected=CSH.verified(
            "Lemma 3.4, corrected",
            "Theorem 3.3 gives delta exactly at tau = "
            "Phi^-1((1 - delta + delta_gauss)^(1/(k+1))) (1 + k^(-1/4)) sigma, for "
            "delta_gauss < delta.",
            "certified numerics",
            **varied(_reaches, 1, -1, "1 - delta - delta_gauss under the root"),
        ),
    ),
)
