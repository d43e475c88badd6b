"""CSH, Section 7, running text: why the noise needs steps of one half."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from exactdp import mechanisms
from exactdp.balls import ball
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._discrete import masses, renyi, sum_law
from exactdp.proofs_check.claims.csh._model import BITS, at_most, precision
from exactdp.proofs_check.entries import CSH, varied
from exactdp.samplers import exact_law

__all__ = ["CLAIMS"]


def _integer_noise(alpha: int) -> str:
    """k = 1, noise N_Z(0, sigma^2) twice, count moved by 1: D_alpha exceeds alpha/(4 sigma^2)."""
    seen = []
    with precision(BITS):
        for sigma2 in (Fraction(1, 10), Fraction(1, 2), Fraction(1)):
            noise = masses(ball(sigma2))
            found = renyi(sum_law(noise, noise), 1, Fraction(alpha))
            most = ball(Fraction(alpha) / (4 * sigma2))
            texts = [x.mid().str(9, radius=False) for x in (found, most)]
            case = f"sigma^2={sigma2}, alpha={alpha}: {texts[0]}, promised {texts[1]}"
            require(bool(found > most), case)
            seen.append(case)
    return "; ".join(seen)


def _centring(step: Fraction) -> str:
    """One value of the shipped shared noise that is a multiple of step centres changes at 1/2."""
    code = mechanisms.CSH(k=4, sigma=1, tau=1, epsilon=1, delta="0.999")
    law = exact_law(code._shared.sample, residual="1e-3")
    offsets = [Fraction(z, 2) for z, _ in law.items() if Fraction(z, 2) % step == 0]
    require(len(offsets) > 2, f"only {offsets} can be drawn")
    found = [o for o in offsets if all(abs(move - o) == Fraction(1, 2) for move in (0, 1))]
    require(len(found) == 1, f"{len(found)} multiples of {step} make 0 and 1 equally far")
    return f"offset {found[0]}"


def _rounding(share: Fraction) -> str:
    """Rounding the outputs down maps the k = 1 law to integers; no D_alpha rises (times share)."""
    with precision(BITS):
        for variance in (Fraction(4), Fraction(1)):
            noise = masses(ball(variance))
            law = sum_law(noise, noise)
            rounded: dict[int, arb] = {}
            for z, p in law.items():
                rounded[z // 2] = rounded.get(z // 2, arb(0)) + p
            for alpha in (Fraction(3, 2), Fraction(3)):
                after, before = renyi(rounded, 1, alpha), renyi(law, 2, alpha)
                case = f"4 sigma^2={variance}, alpha={alpha}: {after.mid()} > {before.mid()}"
                require(at_most(after, before * ball(share)), case)
    return "k = 1, sigma = 1 and 1/2, orders 1.5 and 3"


CLAIMS = (
    CSH.verified(
        "Section 7, the scaling step is crucial",
        "With integer noise N_Z(0, sigma^2) and a shared N_Z(0, sigma^2/sqrt k) in "
        "Algorithm 4, rho = (k + sqrt k)/(8 sigma^2) is wrong: for k = 1 the divergence of "
        "order 3 exceeds 3 rho (at sigma^2 = 1/10, 1/2 and 1).",
        "certified numerics",
        **varied(_integer_noise, 3, 2, "that of order 2 exceeds 2 rho, too"),
    ),
    CSH.verified(
        "Section 7, centring",
        "The shared noise as shipped, in steps of one half, can put the changes 0 and 1 at equal "
        "distance 1/2, by one of its values; with its whole values it cannot.",
        "enumeration",
        **varied(_centring, Fraction(1, 2), Fraction(1), "whole values can, too"),
    ),
    CSH.verified(
        "Section 7, integer outputs",
        "Rounding the released half-integers is post-processing: no divergence rises.",
        "certified numerics",
        **varied(_rounding, Fraction(1), Fraction(97, 100), "every one falls by 3 percent"),
    ),
    CSH.not_checkable(
        "Section 7, simplicity of the zCDP route",
        "Going through zCDP is looser but simpler than analysing (epsilon, delta) directly.",
        "a judgement; that it is looser is under Exact analysis, discrete thresholds",
    ),
)
