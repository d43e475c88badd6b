"""CSH, Definition 7.2: zero-concentrated differential privacy."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

Law = tuple[Fraction, ...]

_PAIRS: tuple[tuple[Law, Law], ...] = (
    (
        (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)),
        (Fraction(1, 5), Fraction(3, 10), Fraction(1, 2)),
    ),
    (
        (Fraction(1, 9), Fraction(4, 9), Fraction(4, 9)),
        (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)),
    ),
)


def _power_sum(p: Law, q: Law, alpha: int) -> Fraction:
    """sum of p^alpha q^(1 - alpha), the exponential of (alpha - 1) times the Renyi divergence."""
    pairs = zip(p, q, strict=True)
    return sum((x**alpha / y ** (alpha - 1) for x, y in pairs if x), Fraction(0))


def _image(p: Law, mapping: tuple[int, ...]) -> Law:
    return tuple(
        sum((x for x, to in zip(p, mapping, strict=True) if to == out), Fraction(0))
        for out in range(len(p))
    )


def _post_processing(scale: Fraction) -> str:
    """No map of the outputs has a D_alpha above `scale` times that before."""
    for (p, q), alpha in product(_PAIRS, (2, 3, 5)):
        before = _power_sum(p, q, alpha)
        for mapping in product(range(3), repeat=3):
            after = _power_sum(_image(p, mapping), _image(q, mapping), alpha)
            # (alpha - 1) D_alpha is the logarithm of the sum
            fits = after**scale.denominator <= before**scale.numerator
            require(fits, f"alpha={alpha}, map {mapping}: {after} > {before}^{scale}")
    return "2 pairs of laws, orders 2, 3, 5, all 27 maps of the outputs, in fractions"


CLAIMS = (
    CSH.verified(
        "Definition 7.2",
        "A map of the outputs raises no Renyi divergence D_alpha, so that zCDP, which bounds "
        "D_alpha by rho alpha, survives post-processing.",
        "enumeration",
        **varied(
            _post_processing,
            Fraction(1),
            Fraction(99, 100),
            "it lowers D_alpha by 1 percent",
        ),
    ),
)
