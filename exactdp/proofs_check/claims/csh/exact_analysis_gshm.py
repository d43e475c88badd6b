"""Our exact delta of the GSHM: max(1 - Phi(tau/sigma)^k, H(epsilon, sqrt(k)/sigma)).

Proof. By the theorem on side A only delta_A counts. Put mu = sqrt(k)/sigma,
beta = -k ln Phi(tau/sigma), x = j/k in [0, 1], y = sqrt x, psi = e^(-beta (1-x)),
e' = epsilon + beta (1-x), u = mu y/2 - e'/(mu y) and v = mu y - u. With lambda = phi/Phi(-.) the
slope of delta_A in x is psi (phi(u) mu/(2 y) - beta Phi(-u)), so lambda(u) = 2 beta y/mu where it
vanishes inside. There delta_A <= 1 - e^(-beta), the value at x = 0, exactly if

    R = ln(phi(u) (1/lambda(u) + 1/lambda(v))) + lambda(u)(u + v)/2 >= 0.

e' >= 0 gives v >= |u|; dR/dv = lambda(u) (1/2 - (lambda(v) - v)/(lambda(u) + lambda(v))) >= 0, as
lambda(v) - 2 v <= lambda(-v) <= lambda(u), because 0 < lambda' < 1. R(-u) = 0 for u < 0, and for
u >= 0 R(u) = ln(2 Phi(-u)) + u lambda(u), which is 0 at 0 and rises with u. So the maximum is at an
end.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from exactdp.accounting import gshm
from exactdp.balls import ball
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._model import (
    BITS,
    SMALL,
    Point,
    equal,
    hockey,
    one_shows,
    precision,
    tail,
)
from exactdp.proofs_check.claims.csh.lemma_2_7 import appear, printed, vanish
from exactdp.proofs_check.entries import OUR_CSH as CSH
from exactdp.proofs_check.entries import elsewhere, varied

__all__ = ["CLAIMS"]


def ends(at: Point) -> tuple[arb, arb]:
    """1 - Phi(tau/sigma)^k and H(epsilon, sqrt(k)/sigma)."""
    noise = hockey(ball(at.epsilon), arb(at.k).sqrt() / ball(at.sigma))
    return one_shows(ball(at.tau / at.sigma), at.k), noise


def _tuned(rng: np.random.Generator) -> Point:
    """Random sigma and epsilon, and tau so that both ends are about the same: the hardest case."""
    k = int(rng.choice((2, 3, 5, 9, 20, 60)))
    sigma = Fraction(f"{k**0.5 * 10 ** rng.uniform(-1, 1.3):.6g}")
    epsilon = Fraction(str(rng.choice(("0", "0.01", "0.35", "1", "3"))))
    low, high = Fraction(0), 40 * sigma
    for _ in range(30):
        tau = (low + high) / 2
        shows, noise = ends(Point(k, sigma, tau, epsilon))
        low, high = (tau, high) if shows > noise else (low, tau)
    return Point(k, sigma, low, epsilon)


def _points(count: int) -> list[Point]:
    rng = np.random.default_rng(8)
    return [*SMALL, *(_tuned(rng) for _ in range(count))]


def _two_terms(epsilon: Fraction | None) -> str:
    """At every point, and with this epsilon instead if one is given."""
    points = _points(25)
    with precision(BITS):
        for at in points:
            if epsilon is not None:
                at = at._replace(epsilon=epsilon)
            found, (shows, noise) = printed(at), ends(at)
            stated = shows.max(noise)
            case = f"{at}: over all j {found.mid().str(12)}, two terms {stated.mid().str(12)}"
            require(bool(found.overlaps(stated)) and found.rad() < 1e-20, case)
    return f"{len(points)} points, every j of Lemma 2.7, 25 of them with both ends tuned to agree"


def _over_some_j(at: Point) -> arb:
    """The maximum of Lemma 2.7 with j = 1, 2, 4, ..., and k."""
    best = one_shows(ball(at.tau / at.sigma), at.k)
    for j in {min(2**i, at.k) for i in range(at.k.bit_length() + 1)}:
        best = best.max(appear(at, j)).max(vanish(at, j))
    return best


def _shipped(scale: Fraction) -> str:
    points = _points(10) + [
        Point(51914, Fraction(2222), Fraction(t), Fraction("0.35")) for t in (0, 13910)
    ]
    for at in points:
        found = gshm.delta(k=at.k, sigma=at.sigma, tau=at.tau, epsilon=at.epsilon)
        with precision(256):
            stated = _over_some_j(at) * ball(scale)
            inside = equal(ball(found.lower).union(ball(found.upper)), stated)
            require(inside, f"{at}: library {found}, over j {stated.mid().str(15)}")
    return f"{len(points)} points, j = 1, 2, 4, ..., k up to 51914"


def _hazard(u: arb) -> arb:
    """phi(u)/Phi(-u)."""
    return (-u * u / 2).exp() / (2 * arb.pi()).sqrt() / tail(u)


def _slope_below(one: Fraction) -> str:
    """lambda' = lambda (lambda - u) < one."""

    def gap(u: arb) -> arb:
        rate = _hazard(u)
        return ball(one) - rate * (rate - u)

    parts = always_positive(gap, [(-4, 4)], bits=128)
    return f"-4 <= u <= 4 in {parts} intervals (Sampford's inequality)"


def _slope_positive(times: Fraction) -> str:
    parts = always_positive(lambda u: _hazard(u) - ball(times) * u, [(-4, 4)], bits=128)
    return f"-4 <= u <= 4 in {parts} intervals"


def _derivative(half: Fraction) -> str:
    """dR/dv as in the proof, with lambda written out; L = lambda(u)."""
    import sympy as sp

    u, v, lu = sp.symbols("u v L", positive=True)
    lam = _written_out(v)
    value = sp.log(1 / lu + 1 / lam) + lu * (u + v) / 2
    stated = lu * (sp.Rational(half.numerator, half.denominator) - (lam - v) / (lu + lam))
    rest = sp.simplify(sp.diff(value, v) - stated)
    require(rest == 0, f"it differs by {rest}")
    return "dR/dv = L (1/2 - (lambda(v) - v)/(L + lambda(v)))"


def _written_out(u: Any) -> Any:
    """lambda(u) = phi(u)/Phi(-u) as an expression."""
    import sympy as sp

    return sp.sqrt(2 / sp.pi) * sp.exp(-(u**2) / 2) / sp.erfc(u / sp.sqrt(2))


def _start(power: int) -> str:
    """d/du of ln(2 Phi(-u)) + u lambda(u) is u lambda'(u), and lambda' = lambda (lambda - u)."""
    import sympy as sp

    u = sp.symbols("u", positive=True)
    lam = _written_out(u)
    value = sp.log(sp.erfc(u / sp.sqrt(2))) + u * lam
    require(value.subs(u, 0) == 0, "it is not 0 at 0")
    require(sp.simplify(sp.diff(lam, u) - lam * (lam - u)) == 0, "another slope of lambda")
    rest = sp.simplify(sp.diff(value, u) - u**power * sp.diff(lam, u))
    require(rest == 0, f"it differs by {rest}")
    return "u lambda'(u) >= 0, and the value at 0 is ln(2 Phi(0)) = 0"


def _optimal_slope(two: int) -> str:
    """The slope of delta_A in x, by the envelope theorem, with the hockey stick differentiated."""
    with precision(BITS):
        for mu, beta, epsilon, x in ((1, 2, 0, 0.4), (3, 0.5, 1, 0.7), (0.4, 4, 0.3, 0.2)):
            step, at = arb(10) ** -12, arb(x)

            def value(x: arb, mu: float = mu, beta: float = beta, eps: float = epsilon) -> arb:
                shift = arb(beta) * (1 - x)
                inner = hockey(arb(eps) + shift, arb(mu) * x.sqrt())
                return 1 - (-shift).exp() + (-shift).exp() * inner

            numeric = (value(at + step) - value(at - step)) / (2 * step)
            y, shift = at.sqrt(), arb(beta) * (1 - at)
            u = arb(mu) * y / 2 - (arb(epsilon) + shift) / (arb(mu) * y)
            density = (-u * u / 2).exp() / (2 * arb.pi()).sqrt()
            stated = (-shift).exp() * (density * arb(mu) / (two * y) - arb(beta) * tail(u))
            case = f"mu={mu}, beta={beta}, epsilon={epsilon}, x={x}: {numeric.mid().str(9)}"
            close = bool(abs(numeric - stated) < arb(10) ** -9)
            require(close, f"{case}, stated {stated.mid().str(9)}")
    return "difference quotients at three points, to 9 digits"


CLAIMS = (
    CSH.verified(
        "Exact analysis, GSHM in two terms",
        "The maximum of Lemma 2.7 is max(1 - Phi(tau/sigma)^k, H(epsilon, "
        "sqrt(k)/sigma)), for every k, sigma, tau >= 0 and epsilon >= 0: no mixed case is worse.",
        "certified numerics",
        **elsewhere(
            "the mutant widens the domain of epsilon",
            varied(_two_terms, None, Fraction(-1, 20), "and for epsilon = -1/20"),
        ),
        note="proof in the module's text; its steps are the next entries. Not so for the CSH",
    ),
    CSH.verified(
        "Exact analysis, GSHM in two terms, shipped delta",
        "gshm.delta, which evaluates these two terms, returns the maximum of Lemma 2.7 over j = 1, "
        "2, 4, ..., k.",
        "certified numerics",
        **varied(_shipped, Fraction(1), 1 + Fraction(1, 10**9), "times 1 + 1e-9"),
    ),
    CSH.verified(
        "Exact analysis, GSHM in two terms, slope in j",
        "d delta_A/dx = psi (phi(u) mu/(2 y) - beta Phi(-u)), here to 1e-9.",
        "certified numerics",
        **varied(_optimal_slope, 2, 3, "mu/(3 y)"),
    ),
    CSH.proved(
        "Exact analysis, GSHM in two terms, slope of R",
        "dR/dv = lambda(u) (1/2 - (lambda(v) - v)/(lambda(u) + lambda(v))).",
        "symbolic",
        **varied(_derivative, Fraction(1, 2), Fraction(1, 3), "1/3 instead of 1/2"),
    ),
    CSH.proved(
        "Exact analysis, GSHM in two terms, start of R",
        "R(u) = ln(2 Phi(-u)) + u lambda(u) is 0 at 0 and has the slope u lambda'(u), with lambda' "
        "= lambda (lambda - u).",
        "symbolic",
        **varied(_start, 1, 2, "u^2 lambda'(u)"),
    ),
    CSH.proved(
        "Exact analysis, hazard rate rises by less than one",
        "lambda = phi/Phi(-.) has lambda (lambda - u), its slope, < 1 for -4 <= u <= 4.",
        "interval search",
        **varied(_slope_below, Fraction(1), Fraction(93, 100), "< 0.93"),
        note="for all u by Sampford 1953",
    ),
    CSH.proved(
        "Exact analysis, hazard rate rises",
        "lambda(u) > u, so lambda' > 0, for -4 <= u <= 4.",
        "interval search",
        **varied(_slope_positive, Fraction(1), Fraction(106, 100), "lambda(u) > 1.06 u"),
        note="for all u by Gordon 1941",
    ),
)
