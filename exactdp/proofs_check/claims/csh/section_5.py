"""CSH, Section 5, running text: the settings of the experiments."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from math import isqrt

from flint import fmpq, fmpq_mat

from exactdp.accounting import csh, gaussian, gshm
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh.lemma_2_8 import distance
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS", "least_tau"]


@cache
def least_tau(mechanism: str, analysis: str, k: int) -> Fraction:
    """The least threshold for epsilon = 0.35, delta = 1e-5, any sigma."""
    calibrate = csh.calibrate if mechanism == "csh" else gshm.calibrate
    found = calibrate(k=k, epsilon="0.35", delta="1e-5", analysis=analysis, resolution="1e-6")
    return Fraction(found.tau or 0)


def _order(k: int, names: tuple[tuple[str, str], ...]) -> str:
    """Thresholds fall in this order."""
    taus = [least_tau(*name, k) for name in names]
    text = ", ".join(f"{m} {a}: {float(t):.6g}" for (m, a), t in zip(names, taus, strict=True))
    require(taus == sorted(taus, reverse=True), f"k={k}: {text}")
    return f"k={k}: {text}"


_SUM, _EXACT = ("gshm", "add-the-deltas"), ("gshm", "exact")
_ADDED, _TIGHTER = ("csh", "add-the-deltas"), ("csh", "published")


def _total(power: int) -> str:
    """A counter's variance is (1 + k^(-power/2)) sigma^2, from what the privacy loss rests on.

    The quadratic form of the loss, known from its values when one and two counters move, is the
    inverse of the covariance of the noise.
    """
    sigma = Fraction(7, 4)
    for root in (2, 3, 5):
        k = root * root
        one, two = (distance(k, a, Fraction(root)) for a in (1, 2))
        form = [[_rational(one if i == j else two / 2 - one) for i in range(k)] for j in range(k)]
        variance = fmpq_mat(form).inv()[0, 0]
        stated = 1 + Fraction(1, root**power)
        require(variance == _rational(stated), f"k={k}: {variance} sigma^2, not {stated} sigma^2")
        shown = csh.total_noise(k=k, sigma=sigma)
        square = stated * sigma**2
        require(shown.lower**2 <= square <= shown.upper**2, f"k={k}: reported as {shown}")
    return "k = 4, 9, 25, by inverting the form in fractions; as the library reports it"


def _rational(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _least_total(parts: Fraction) -> str:
    """The shipped exact delta at a far threshold passes 1e-5 at the stated total noise, to 1e-7:
    sqrt k sigma_1 for the GSHM, (sqrt k + 1)/parts sigma_1 for the CSH.
    """
    one, target = Fraction(gaussian.calibrate(epsilon="0.35", delta="1e-5").sigma), Fraction("1e-5")
    for root in (3, 4, 16, 228):  # (k + sqrt k)/2 is an integer: a change is the farthest
        k = root * root
        shared = one * (root + 1) / parts * _root(1 / (1 + Fraction(1, root)))
        for name, code in (("GSHM", gshm), ("CSH", csh)):
            sigma = shared if name == "CSH" else one * root
            deltas = [
                code.delta(k=k, sigma=sigma * (1 + off), tau=10**6, epsilon="0.35")
                for off in (Fraction(1, 10**7), -Fraction(1, 10**7))
            ]
            case = f"{name}, k={k}, sigma={float(sigma):.8g}: {deltas[0]}, {deltas[1]}"
            require(deltas[0].upper <= target < deltas[1].lower, case)
    return "k = 9, 16, 256, 51984; sigma_1 = 9.7549754 for sensitivity one"


def _root(square: Fraction) -> Fraction:
    """A square root, to 1e-12."""
    return Fraction(isqrt(int(square * 10**24)), 10**12)


CLAIMS = (
    CSH.verified(
        "Section 5, k = 51914",
        "At epsilon = 0.35, delta = 1e-5, k = 51914 the least thresholds fall in the "
        "order GSHM added, GSHM exact, CSH added, CSH Theorem 3.5.",
        "certified numerics",
        **varied(
            partial(_order, 51914),
            (_SUM, _EXACT, _ADDED, _TIGHTER),
            (_SUM, _EXACT, _TIGHTER, _ADDED),
            "Theorem 3.5 above Theorem 3.3",
        ),
    ),
    CSH.verified(
        "Section 5, k = 10",
        "At k = 10 the order is the same: even Theorem 3.3 for the CSH beats the exact "
        "analysis of the GSHM.",
        "certified numerics",
        **varied(
            partial(_order, 10),
            (_SUM, _EXACT, _ADDED, _TIGHTER),
            (_SUM, _ADDED, _EXACT, _TIGHTER),
            "the exact GSHM beats it",
        ),
    ),
    CSH.verified(
        "Section 5, total magnitude of noise",
        "A counter of the CSH has total noise (sigma^2 + sigma^2/sqrt k)^(1/2) = "
        "(1 + 1/sqrt k)^(1/2) sigma.",
        "enumeration",
        **varied(_total, 1, 2, "(1 + 1/k)^(1/2) sigma"),
    ),
    CSH.verified(
        "Section 5, dotted lines",
        "The least total noise is sqrt(k) sigma_1 for the GSHM and "
        "(sqrt(k) + 1)/2 sigma_1 for the CSH, to 1e-7, with sigma_1 the noise for sensitivity "
        "one (where (k + sqrt k)/2 is an integer).",
        "certified numerics",
        **varied(_least_total, Fraction(2), Fraction(201, 100), "(sqrt(k) + 1)/2.01 sigma_1"),
    ),
    CSH.not_checkable(
        "Section 5, privacy parameters of the Facebook URL data",
        "epsilon = 0.35 and delta = 1e-5 are those of Wilkins et al. 2024, based on the "
        "Facebook URL dataset.",
        "a citation; the numbers are used in every reproduction here",
    ),
)
