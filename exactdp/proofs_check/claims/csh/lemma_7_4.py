"""CSH, Lemma 7.4: discrete Gaussian noise on integer queries is zCDP."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from flint import arb

from exactdp.balls import ball
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._discrete import masses, renyi
from exactdp.proofs_check.claims.csh._model import BITS, at_most, precision
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

_VARIANCES = tuple(Fraction(v) for v in ("0.1", "0.5", "3", "20"))
_ORDERS = tuple(Fraction(a) for a in ("1.01", "1.5", "2", "2.7", "6"))


def _one_query(scale: Fraction) -> str:
    """D_alpha <= scale alpha s^2/(2 v) for one query that moves by s."""
    with precision(BITS):
        for variance, shift in product(_VARIANCES, (1, 2, 3)):
            law = masses(ball(variance))
            for alpha in _ORDERS:
                found = renyi(law, shift, alpha)
                most = ball(alpha * shift**2 / (2 * variance) * scale)
                case = f"sigma^2={variance}, shift {shift}, alpha={alpha}: {found.mid()}"
                require(at_most(found, most), f"{case} > {most.mid()}")
    return f"{len(_VARIANCES)} variances, shifts 1 to 3, {len(_ORDERS)} orders"


def _unequal(scale: Fraction) -> str:
    """Two queries with different noise: divergences add, and so do s^2/(2 sigma_i^2)."""
    with precision(BITS):
        for (v, s), (w, t) in product([(Fraction(2), 1), (Fraction(1, 2), 2)], repeat=2):
            rho = (s * s / v + t * t / w) / 2
            for alpha in (Fraction(3, 2), Fraction(2)):
                # the joint law by products of masses, not by adding divergences
                total, power = arb(0), ball(alpha)
                first, second = masses(ball(v)), masses(ball(w))
                for x, y in product(range(-25, 26), repeat=2):
                    p = first.get(x, arb(0)) * second.get(y, arb(0))
                    q = first.get(x + s, arb(0)) * second.get(y + t, arb(0))
                    if p > 0 and q > 0:
                        total += p**power * q ** (1 - power)
                found = total.log() / (power - 1)
                most = ball(rho * alpha * scale) * (1 + arb(10) ** -9)
                case = f"sigma^2 = {v}, {w}, shifts {s}, {t}, alpha={alpha}: {found.mid()}"
                require(at_most(found, most), f"{case} > {most.mid()}")
    return "4 pairs of queries, orders 1.5 and 2"


CLAIMS = (
    CSH.verified(
        "Lemma 7.4",
        "Integer queries with sum_i (q_i - q'_i)^2/sigma_i^2 <= 2 rho and independent "
        "N_Z(0, sigma_i^2) noise are rho-zCDP.",
        "certified numerics",
        **varied(_unequal, Fraction(1), Fraction(98, 100), "98 percent of rho"),
    ),
    CSH.verified(
        "Lemma 7.4, one query",
        "D_alpha between N_Z(s, v) and N_Z(0, v) is at most alpha s^2/(2 v), for integer "
        "s, also for small v and fractional orders.",
        "certified numerics",
        **varied(_one_query, Fraction(1), Fraction(98, 100), "98 percent of it"),
    ),
)
