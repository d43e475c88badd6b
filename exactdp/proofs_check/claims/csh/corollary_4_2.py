"""CSH, Corollary 4.2: the top-k mechanism has the guarantees of the CSH."""

from __future__ import annotations

from fractions import Fraction

from exactdp.accounting import top_k
from exactdp.accounting.sparse_histograms.csh_exact import pair
from exactdp.balls import ball
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._model import BITS, at_most, family, point, precision
from exactdp.proofs_check.claims.csh._published import delta_gauss, delta_inf, theorem_3_5
from exactdp.proofs_check.claims.csh._top_k import neighbours, reduced
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]

_CASES = (  # and the number of counters, all of which a user may change, and their largest count
    (point(1, "2", "8", "1"), 3, 2),
    (point(2, "3", "9", "0.5"), 4, 2),
    (point(3, "40", "12", "1.5"), 4, 2),
    (point(4, "2", "7", "0"), 5, 2),
    (point(4, "0.2", "1", "1"), 5, 2),
)


def _left(k: int, d: int, top: int) -> set[tuple[int, int, int]]:
    """What is left of all neighbouring histograms: (shared, shared and changed, on one side)."""
    found = set()
    for more, less in neighbours(d, top):
        both = list(zip(reduced(more, k), reduced(less, k), strict=True))
        shared = [(x, y) for x, y in both if x and y]
        alone = sum(bool(x) != bool(y) for x, y in both)
        found.add((len(shared), sum(x != y for x, y in shared), alone))
    return found


def _holds(scale: Fraction) -> str:
    """The exact delta of what is left of every pair is below both bounds, sensitivity scaled."""
    pairs = 0
    for at, d, top in _CASES:
        shipped = top_k.delta(k=at.k, sigma=at.sigma, tau=at.tau, epsilon=at.epsilon)
        with precision(BITS):
            total = delta_gauss(at, scale=scale) + delta_inf(at, at.k + 1)
            for j, a, r in _left(at.k, d, top):
                pairs += 1
                exact = pair(family(at), j, a, r)
                case = f"{at}, (j, a, r) = {j, a, r}: exact {exact.mid().str(9)}"
                require(at_most(exact, ball(shipped.upper)), f"{case} > {shipped}")
                for bound in (total, theorem_3_5(at, scale=scale)):
                    require(at_most(exact, bound), f"{case} > {bound.mid().str(9)}")
    return f"{len(_CASES)} points, {pairs} kinds of neighbours of up to 5 counters, all changed"


CLAIMS = (
    CSH.verified(
        "Corollary 4.2",
        "Algorithm 3 has the guarantees of Theorems 3.3 and 3.5, whatever number of "
        "counters a user changes.",
        "certified numerics",
        **varied(_holds, Fraction(1), Fraction(99, 100), "with 99 percent of the sensitivity"),
        note="of every pair of neighbours what Algorithm 3 leaves is followed; that the side which "
        "has the further counters is the worse one is under Exact analysis, side A suffices",
    ),
)
