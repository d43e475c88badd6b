"""CSH, Theorems 3.3 and 3.5: adding the deltas, and the tighter bound."""

from __future__ import annotations

from math import isqrt

from flint import acb, arb

from exactdp.accounting.sparse_histograms.csh_exact import noise_only, pair, threshold_only
from exactdp.balls import ball, precision
from exactdp.normal import cdf
from exactdp_proofs.comparisons import at_most, below, equal, holds
from exactdp_proofs.papers.csh._bounds import (
    delta_gauss,
    delta_inf,
    fourth,
    theorem_3_5_maximum,
    third,
)
from exactdp_proofs.papers.csh._densities import setting_of, side_b
from exactdp_proofs.papers.csh._model import (
    BITS,
    FAR,
    LARGE,
    POINTS,
    Point,
    either_way,
    exact_delta,
    family,
    loosened,
    one_shows,
    phi,
    point,
    weakened,
)
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CSH, as_printed, mutant

_CASES = (*POINTS, *FAR)


@CSH.holds("Theorem 3.3", "on instances", ours=True)
@mutant(scale=Fraction(99, 100))
def theorem_3_3(
    scale: Fraction = Fraction(1),
    loss: Fraction = Fraction(1),
    threshold: Fraction = Fraction(1),
) -> None:
    """Algorithm 2 is (epsilon, delta_gauss + delta_inf)-DP for k-sparse monotonic histograms:
    delta_gauss at sensitivity sqrt(k + sqrt k)/2, and
    delta_inf = 1 - Phi(tau/(sigma (1 + k^(-1/4))))^(k+1).
    """
    for at in (*_CASES, LARGE):
        exact = exact_delta(weakened(at, loss, threshold))
        with precision(BITS):
            total = delta_gauss(at, scale) + delta_inf(at)
            at_most(ball(exact.upper), loosened(total), point=at)


@CSH.holds("Theorem 3.3", "equation (3)")
@mutant(scale=Fraction(99, 100))
def equation_3(scale: Fraction = Fraction(1), loss: Fraction = Fraction(1)) -> None:
    """Histograms with the same support of at most k counters are
    (epsilon, delta_gauss)-indistinguishable.
    """
    with precision(BITS):
        for at in _CASES:
            less = weakened(at, loss)
            deltas = {at.k: noise_only(at.k, ball(less.sigma), ball(at.epsilon), None, at.k)}
            for j in {1, at.k // 2} - {0}:
                half = (j + isqrt(at.k)) // 2  # where the distance is largest
                deltas[j] = arb.max(
                    *(pair(family(less), j, min(a, j), 0) for a in (half, half + 1))
                )
            for j, exact in deltas.items():
                at_most(exact, loosened(delta_gauss(at, scale)), point=at, j=j)


@CSH.holds("Theorem 3.3", "equation (4)")
@mutant(share=Fraction(85, 100))
def equation_4(share: Fraction = Fraction(1), threshold: Fraction = Fraction(1)) -> None:
    """Histograms that differ in at most k counters, 1 on one side and 0 on the other, are
    (0, delta_inf)-indistinguishable; the worst case is 1^k against 0^k.
    """
    with precision(BITS):
        for at in (*_CASES, LARGE):
            ratio = ball(threshold * at.tau / at.sigma)
            exact = threshold_only(at.k, ratio, None, at.k)
            for r in {1, at.k // 2} & set(range(1, min(at.k, 10**5))):
                below(threshold_only(at.k, ratio, None, r), exact, point=at, new=r)
            at_most(exact, ball(share) * delta_inf(at), point=at)


@CSH.holds("Theorem 3.3", "a sharper threshold", ours=True)
@mutant(scale=Fraction(999, 1000))
def sharper_threshold(scale: Fraction = Fraction(1)) -> None:
    """By the sharper form of Lemma 3.2 delta_inf = 1 - Phi(tau/(sigma sqrt(1 + 1/sqrt k)))^k will
    do; for delta_inf = 1e-5 its threshold is within 0.01 percent of the exact one at
    k = 10, 51914, 10^6.
    """
    with precision(BITS):
        for k, quantile in ((10, "4.75343"), (51914, "6.25989"), (1_000_000, "6.70603")):
            # tau/(sigma sqrt(1 + 1/sqrt k)), rounded up
            at_most(one_shows(ball(Fraction(quantile)), k), Fraction(1, 10**5), k=k)
            ratio = ball(Fraction(quantile) * scale) * (1 + 1 / arb(k).sqrt()).sqrt()
            lower = threshold_only(k, ratio * ball(Fraction(9999, 10000)), None, k)
            below(Fraction(1, 10**5), lower, k=k)
            at_most(threshold_only(k, ratio, None, k), Fraction(1, 10**5), k=k)


@CSH.holds("Theorem 3.3", "proof, intermediate histogram")
@mutant("it has the support of X", own_support=True)
def intermediate_histogram(own_support: bool = False) -> None:
    """The intermediate histogram has the support of X', differs from X' only on shared counters,
    and from X only where one of them is 0 and the other 1; in both orders.
    """
    for x, y in either_way(3, 2):
        middle = x if own_support else tuple(p if p and q else q for p, q in zip(x, y, strict=True))
        for p, q, m in zip(x, y, middle, strict=True):
            holds(m == p if p and q else m == q, X=x, other=y)
            holds(m == p or {m, p} == {0, 1}, X=x, other=y)
        equal([bool(m) for m in middle], [bool(q) for q in y], X=x, other=y)


_SMALLER = (*(at for at in _CASES if at.k < 1000 and at.k != 16), point(4, "3", "9", "0.1"))


@CSH.holds("Theorem 3.5", "on instances", ours=True)
@mutant(scale=Fraction(99, 100))
def theorem_3_5(
    scale: Fraction = Fraction(1),
    loss: Fraction = Fraction(1),
    threshold: Fraction = Fraction(1),
) -> None:
    """delta of Algorithm 2 is at most the maximum of 1 - psi(k), the Gaussian delta at
    sqrt(k + sqrt k)/2, and the two families over j in [k-1] at
    gamma(j) = min(sqrt j, sqrt(j + sqrt k)/2). At the points checked the first two suffice.

    Note: Its proof takes a step that fails (Appendix B, the missing piece); the theorem holds all
    the same, by the exact analysis (side A suffices).
    """
    for at in (*_SMALLER, LARGE):
        exact = exact_delta(weakened(at, loss, threshold))
        with precision(BITS):
            if at != LARGE:
                at_most(ball(exact.upper), loosened(theorem_3_5_maximum(at, scale)), point=at)
            two_terms = delta_inf(at).max(delta_gauss(at, scale))
            at_most(ball(exact.upper), loosened(two_terms), point=at)


@CSH.holds("Theorem 3.5", "against Theorem 3.3")
@mutant(share=Fraction(999, 1000))
def against_theorem_3_3(share: Fraction = Fraction(1)) -> None:
    """The maximum is never above the sum of the deltas."""
    with precision(BITS):
        for at in _SMALLER:
            total = ball(share) * (delta_gauss(at) + delta_inf(at))
            at_most(theorem_3_5_maximum(at), loosened(total), point=at)


@CSH.holds("Theorem 3.5", "last maximum", ours=True)
@mutant(times=Fraction(51, 50))
def last_maximum(times: Fraction = Fraction(1)) -> None:
    """The last family is never needed: each of its terms is at most the term of the third at the
    same j.
    """
    with precision(BITS):
        for at in _SMALLER:
            for j in range(1, at.k):
                at_most(ball(times) * fourth(at, j), loosened(third(at, j)), point=at, j=j)


_VANISH = (point(2, "30", "10", "1.2"), point(2, "50", "12", "1.2"))
_FAR = (point(4, "2", "30", "0.5"), point(9, "4", "60", "0.35"))


def _vanishing(at: Point) -> arb:
    """A lower bound on delta for U in U', k = 2: one shared counter moves, one appears in X'.

    The event is a half-line y > cut of the shared counter's noisy value, with no counter released
    beside it: P(y > cut) - e^epsilon times the integral over y > cut of the density on the other
    side times the chance that the new counter stays hidden, given y.
    """
    kappa, lam = arb(at.k).sqrt(), 1 / ball(at.sigma)
    total = 1 + 1 / kappa  # variance of y in units of sigma^2
    rest = (1 + 1 / (1 + kappa)).sqrt()  # of the new counter's noise, given y
    cut = arb(27) / 10

    def other(y: acb, _: bool) -> acb:
        shared = (y - lam) / (1 + kappa)  # its mean given y, on the side with the larger count
        hidden = phi((acb(ball(at.tau) * lam) - shared) / rest)
        return (-((y - lam) ** 2) / (2 * total)).exp() * hidden

    # beyond cut + 16 the integrand is at most its density
    missing = arb(0).union((-(arb(16) ** 2) / (2 * total)).exp())
    value = acb.integral(other, acb(cut), acb(cut + 16)).real / (2 * arb.pi() * total).sqrt()
    return cdf(-cut / total.sqrt()) - ball(at.epsilon).exp() * (value + missing)


@CSH.refuted(
    "Theorem 3.5",
    "case of the last maximum",
    severity="loose",
    follows_from="CSH-Appendix-B-the-missing-piece",
)
@as_printed(family=fourth)
@mutant(share=Fraction(99, 100))
def case_of_the_last_maximum(family: object = third, share: Fraction = Fraction(1)) -> None:
    r"""The last family bounds delta where the second histogram has the further counters (U in U').

    Printed (Section 3.2, after Theorem 3.5, line 268): while the second covers the cases where
        ... U\subset U^{\prime}
    Corrected: The third family bounds this case, too (here to a relative 1e-4), so the theorem
        holds and its last maximum can be dropped.
    Regime: noise much larger than one count and epsilon above the Gaussian loss: sigma = 30,
        tau = 10 and sigma = 50, tau = 12 at k = 2, epsilon = 1.2 (as for the missing piece).
    Extraction: no: theorem, Section 3.2 and Appendix B assign the term to this case alike.

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
    """
    assert callable(family)
    with precision(BITS):
        for at in _VANISH:
            at_most(_vanishing(at), family(at, 1), point=at)
        for at in (*_VANISH, *_FAR):
            for j in range(1, min(at.k, 4)):
                # formula (B) of the exact analysis, summed in floats
                most = family(at, j) * ball(share) * (1 + arb(10) ** -4)
                for a in sorted({1, j}):
                    delta = side_b((j, a, at.k - j), setting_of(at))
                    at_most(delta, most, point=at, j=j, a=a)


@CSH.holds("Theorem 3.5", "not tight", no_mechanism="how far a bound is from the exact delta")
@mutant(share=Fraction(82, 100))
def not_tight(share: Fraction = Fraction(83, 100)) -> None:
    """At k = 10, sigma = 17.8, tau = 132.3, epsilon = 0.35 the exact delta is below 83 percent of
    the bound. (Section 8 says the bound is not tight.)
    """
    at = point(10, "17.8", "132.3", "0.35")
    exact = exact_delta(at)
    with precision(BITS):
        below(ball(exact.upper), ball(share) * theorem_3_5_maximum(at))
