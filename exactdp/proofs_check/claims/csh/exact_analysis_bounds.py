"""Our exact analysis of Algorithm 2, Section 4: error bounds and cheap upper bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

from flint import acb, arb

from exactdp.accounting.sparse_histograms.csh_exact.cell_bounds import CellBounds
from exactdp.accounting.sparse_histograms.csh_exact.shared_noise import Profile, SharedNoise
from exactdp.accounting.sparse_histograms.csh_exact.terms import Terms
from exactdp.balls import ball
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._model import (
    BITS,
    at_most,
    cdf,
    equal,
    family,
    point,
    precision,
    tail,
)
from exactdp.proofs_check.entries import OUR_CSH as CSH
from exactdp.proofs_check.entries import varied

__all__ = ["CLAIMS", "one_minus_q"]

_CASES = (
    (point(6, "3", "7", "0.3"), None),
    (point(8, "20", "45", "0.05"), Fraction(1)),
    (point(5, "1", "2", "0"), Fraction(20)),
)


#: (kappa, r, rho, h); the bound nearly binds at the last two.
_SUMS = (
    (2, 3, 2, Fraction(1, 2)),
    (1, 1, 3, Fraction(1, 2)),
    (5, 12, 3, Fraction(1, 2)),
    (20, 1, 0, Fraction(1, 2)),
    (5, 1, 3, Fraction(1)),
)


def _phi(z: acb) -> acb:
    return (-z * acb(arb(2).rsqrt())).erfc() / 2


def _strip(power: Fraction) -> str:
    """|Phi(x + iy)| <= e^(power y^2) Phi(x)."""
    with precision(BITS):
        for i, k in product(range(-24, 25), range(1, 13)):
            x, y = arb(i) / 4, arb(k) / 4
            found, stated = abs(_phi(acb(x, y))), (ball(power) * y * y).exp() * cdf(x)
            case = f"x={i / 4}, y={k / 4}: {found.mid().str(8)} > {stated.mid().str(8)}"
            require(at_most(found, stated), case)
    return "x from -6 to 6, y from 0.25 to 3 in steps of 1/4"


def _hidden_strip(factor: Fraction) -> str:
    """|1 - F(x + iy)| <= e^(r y^2/2) min(2, r (1 - Phi(rho - x))), F = Phi(rho - z)^r."""
    with precision(BITS):
        for r, i, k in product((1, 3, 20), range(-16, 17, 2), range(1, 9)):
            rho, x, y = arb(3), arb(i) / 4, arb(k) / 4
            found, union = abs(1 - _phi(acb(rho - x, -y)) ** r), r * tail(rho - x) * ball(factor)
            stated = (r * y * y / 2).exp() * (arb(1) if union > 2 else union)
            case = f"r={r}, x={i / 4}, y={k / 4}: {found.mid().str(8)} > {stated.mid().str(8)}"
            require(at_most(found, stated), case)
    return "r = 1, 3, 20, rho = 3, |x| <= 4, y <= 2"


def _trapezoid(promised: Fraction) -> str:
    """The error of the coarse sum against the rigorous integral, within the stated bound."""
    with precision(BITS):
        for kappa, r, rho, step in _SUMS:
            total = arb(0)
            for node in range(math.ceil(-30 / step), math.ceil(30 / step)):
                z = ball(node * step)
                density = (-kappa * z * z / 2).exp() * (arb(kappa) / (2 * arb.pi())).sqrt()
                total += ball(step) * density * (1 - cdf(rho - z) ** r)
            exact = one_minus_q(kappa, r, rho)
            size = kappa + r
            x = 2 * arb.pi() ** 2 / (ball(step) ** 2 * size)
            union = r * tail(rho / (1 + arb(1) / kappa).sqrt())
            bound = 2 * arb(2).min(union) * (-x).exp() / (1 - (-2 * x).exp())
            off = abs(total - exact)
            case = f"kappa={kappa}, r={r}, rho={rho}, h={step}: error {off.mid().str(5)}"
            require(at_most(off, bound * ball(promised)), f"{case} > {bound.mid().str(5)}")
    return f"{len(_SUMS)} (kappa, r, rho, h)"


def one_minus_q(kappa: int, r: int, rho: int | Fraction) -> arb:
    """1 - q_r, the chance that one of r counters passes, as an integral over the shared noise."""
    scale = (arb(kappa) / (2 * arb.pi())).sqrt()

    def integrand(z: acb, _: bool) -> acb:
        return (-kappa * z * z / 2).exp() * scale * (1 - _phi(ball(rho) - z) ** r)

    value: arb = acb.integral(integrand, acb(-14), acb(14)).real
    return value + arb(0).union(arb(10) ** -35)


def _certified(scale: Fraction) -> str:
    """The library's 1 - q_r (times scale) meets the rigorous integral."""
    with precision(BITS):
        for kappa, r, rho in ((2, 3, 2), (1, 1, 3), (5, 12, 3), (3, 40, 4)):
            noise = SharedNoise(arb(kappa), arb(rho), 64, 40, 60)
            found, exact = noise.exceeded(r) * ball(scale), one_minus_q(kappa, r, rho)
            case = f"kappa={kappa}, r={r}, rho={rho}: {found.mid().str(12)}, {exact.mid().str(12)}"
            require(equal(found, exact), case)
    return "four (kappa, r, rho), 12 digits and more"


def _upper_bounds(scale: Fraction) -> str:
    """The sum and the cells, few and many, are at least the pair's delta."""
    count = 0
    with precision(BITS):
        for at, kappa in _CASES:
            terms = Terms(family(at, kappa))
            for r in (1, at.k // 2, at.k - 2):
                j = at.k - r
                profile = Profile(terms.noise, j, r)
                for a in {1, (j + 1) // 2, j}:
                    squared, covariance = terms.squared(j, a), terms.covariance(j, a)
                    exact = terms.between(profile, squared, covariance, a == j)
                    bounds = [terms.sum_bound(r, squared)]
                    for number in (16, 600):
                        cells = CellBounds(profile, number)
                        found = cells.bound(terms.epsilon, squared, covariance, a == j)
                        bounds.append(found.upper)
                        within = number < 600 or at_most(found.upper, exact * arb("1.001"))
                        require(within, f"{at}, (j, a, r) = {j, a, r}: {number} cells are far off")
                    for bound in bounds:
                        count += 1
                        case = f"{at}, (j, a, r) = {j, a, r}: {exact.mid().str(9)}"
                        upper = bound * ball(scale)
                        require(at_most(exact, upper), f"{case} > {upper.mid().str(9)}")
    return f"{count} bounds"


def _search(target: Fraction) -> str:
    """The library's exact delta at epsilon = 0.35, k = 51914 is settled by cheap bounds."""
    from exactdp.accounting import csh

    found = csh.delta(k=51914, sigma="1113.8", tau=6987, epsilon="0.35")
    require(found.relative_width < target, f"relative width {float(found.relative_width):.2g}")
    return f"{found}"


CLAIMS = (
    CSH.verified(
        "Exact analysis, Phi on a strip",
        "|Phi(x + iy)| <= e^(y^2/2) Phi(x).",
        "certified numerics",
        **varied(_strip, Fraction(1, 2), Fraction(45, 100), "e^(0.45 y^2)"),
    ),
    CSH.verified(
        "Exact analysis, hidden counters on a strip",
        "|1 - F(x + iy)| <= e^(r y^2/2) min(2, r (1 - Phi(rho - x))); where the 2 decides, half of "
        "the bound is enough.",
        "certified numerics",
        **varied(_hidden_strip, Fraction(1), Fraction(98, 100), "with 98 percent of the second"),
    ),
    CSH.verified(
        "Exact analysis, trapezoidal rule",
        "For 1 - q_r the sum of step h errs by at most 2 N0 e^(-x)/(1 - e^(-2x)), "
        "x = 2 pi^2/(h^2 (kappa + r)), N0 = min(2, r P(Z + xi > rho)).",
        "certified numerics",
        **varied(_trapezoid, Fraction(1), Fraction(85, 100), "by 85 percent of it"),
    ),
    CSH.verified(
        "Exact analysis, certified threshold part",
        "The library's enclosure of 1 - q_r meets that of a rigorous integral.",
        "certified numerics",
        **varied(_certified, Fraction(1), 1 + Fraction(1, 10**12), "up to a factor 1 + 1e-12"),
    ),
    CSH.verified(
        "Exact analysis, cheap upper bounds",
        "delta_A <= 1 - q_r (1 - H(epsilon, D)), and at most the sum over cells of M of Section 4 "
        "(16 or 600 of them), which is within 0.1 percent of it for 600.",
        "certified numerics",
        **varied(_upper_bounds, Fraction(1), Fraction(99, 100), "99 percent of them"),
        seconds=30,
    ),
    CSH.verified(
        "Exact analysis, the search closes",
        "At k = 51914, sigma = 1113.8, tau = 6987, epsilon = 0.35 the search encloses "
        "delta to a relative width below 1e-24.",
        "certified numerics",
        **varied(_search, Fraction(1, 10**24), Fraction(1, 10**25), "below 1e-25"),
    ),
)
