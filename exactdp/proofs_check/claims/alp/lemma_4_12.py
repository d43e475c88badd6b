"""ALP, Lemma 4.12: the scaled projection is epsilon-differentially private."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.alp._model import exp_lower, projection_law
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _private(scale: Fraction) -> str:
    """Ratios of x and x' at distance <= 1 after scaling by eps, against e^(scale eps distance)."""
    hashes = ((0, 1), (0, 0), (1, 0))
    grid = [Fraction(n, 2) for n in range(4)]
    cases = 0
    for eps, alpha in (
        (Fraction(1, 4), Fraction(1)),
        (Fraction(1), Fraction(1)),
        (Fraction(2), Fraction(1)),
    ):
        laws = {
            x: projection_law([eps * v for v in x], hashes, 2, alpha)
            for x in product(grid, repeat=2)
        }
        for x, other in product(laws, repeat=2):
            gap = abs(x[0] - other[0]) + abs(x[1] - other[1])
            if 0 < gap <= 1:
                ratio = max_loss(laws[x], laws[other])
                limit = exp_lower(scale * eps * gap)
                require(ratio <= limit, f"eps={eps}, {x} against {other}: ratio {ratio}")
                cases += 1
    return f"{cases} pairs of neighbours, eps = 1/4, 1, 2"


def _single(factor: Fraction) -> str:
    """One entry that moves by 1, eps = n alpha: the loss is n ln(1 + alpha)."""
    for alpha, n in product((Fraction(1, 2), Fraction(1), Fraction(3)), (1, 2, 3)):
        laws = [projection_law((v,), ((0,),) * 3, 1, alpha) for v in (Fraction(0), n * alpha)]
        ratio = max_loss(laws[1], laws[0])
        require(
            ratio < exp_lower(n * alpha),
            f"alpha={alpha}, n={n}: e^epsilon is not above than {ratio}",
        )
        require(ratio == factor * (1 + alpha) ** n, f"alpha={alpha}, n={n}: {ratio}")
    return "alpha = 1/2, 1, 3, eps = alpha, 2 alpha, 3 alpha; at alpha = 3 e^(0.462 eps)"


CLAIMS = (
    ALP.verified(
        "Lemma 4.12",
        "Scaling x by epsilon before Algorithm 2 gives e^(epsilon * l1 distance), so Algorithm 4 "
        "is epsilon-differentially private.",
        "enumeration",
        **varied(_private, Fraction(1), Fraction(94, 100), "0.94 epsilon"),
    ),
    ALP.verified(
        "Lemma 4.12, exact loss of one entry",
        "A single entry that moves by 1 at epsilon = n alpha costs exactly "
        "n ln(1 + alpha) = epsilon ln(1 + alpha)/alpha, less than epsilon.",
        "enumeration",
        **varied(_single, Fraction(1), Fraction(51, 50), "1.02 times the ratio"),
        ours=True,
    ),
)
