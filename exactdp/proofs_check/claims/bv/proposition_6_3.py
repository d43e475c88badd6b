"""BV, Proposition 6.3: OrdSample against the order statistics it should draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

from exactdp.law import Law
from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.bv._laws import top_values
from exactdp.proofs_check.claims.bv._printed import ord_sample_law
from exactdp.proofs_check.entries import BV, varied
from exactdp.samplers import OrderStatistics, RationalCdf, exact_law

__all__ = ["CLAIMS"]

_SCALED = ((3, 5), (5, 9), (9, 11, 15), (1, 2, 3), (2, 2, 7), (0, 3, 7))

Sampler = Callable[[Sequence[int], int, int], Law[tuple[int, ...]]]


def _is_top_values(sampler: Sampler, surplus: int = 0) -> str:
    """The law of the sampler against all tuples of m = n + 1, ..., 5 draws."""
    cases = 0
    for scaled in _SCALED:
        n = len(scaled) - 1
        weights = [Fraction(b - a, scaled[-1]) for a, b in pairwise((0, *scaled))]
        for m in range(n + 1, 6):
            exact = top_values(weights, m, n + 1)
            drawn = sampler(scaled, m + surplus, n + 1)
            for top in sorted(exact.support | drawn.support):
                case = f"F={scaled}, m={m}, P{top}"
                require(exact[top] == drawn[top], f"{case} = {exact[top]}, drawn {drawn[top]}")
            cases += 1
    return f"{cases} cases, n <= 2, m <= 5, every outcome"


def _shipped(scaled: Sequence[int], variables: int, k: int) -> Law[tuple[int, ...]]:
    cdf = RationalCdf(0, len(scaled) - 1, scaled.__getitem__, scaled[-1])
    order = OrderStatistics(cdf, variables)
    return exact_law(lambda source: order.sample(k, source), residual=0)


def _largest_only(surplus: int) -> str:
    for scaled in _SCALED:
        weights = [Fraction(b - a, scaled[-1]) for a, b in pairwise((0, *scaled))]
        for m in range(len(scaled), 6):
            exact = top_values(weights, m, 1)
            drawn = ord_sample_law(scaled, m + surplus, len(scaled)).map(lambda top: top[:1])
            require(exact == drawn, f"F={scaled}, m={m}: {drawn} instead of {exact}")
    return f"{len(_SCALED)} distribution functions, m up to 5"


CLAIMS = (
    Refuted(
        paper="BV",
        item="Proposition 6.3",
        printed=Printed(
            r"Then the following algorithm $\mathsf{OrdSample}_F(m)$ is identically distributed to "
            r"the top n+1 order statistics $(Z_{(m)}, \ldots, Z_{(m-n)})$.",
            "Section 6.1, Proposition 6.3",
            401,
        ),
        follows_from="BV-Lemma-2.9",
        statement="OrdSample draws the n + 1 largest of m independent variables with their exact "
        "joint law.",
        severity="unsafe",
        method="exact law",
        check=lambda: _is_top_values(ord_sample_law),
        example="""
>>> from fractions import Fraction as Q
>>> from itertools import product
>>> p = {0: Q(3, 5), 1: Q(2, 5)}                           # F(0) = 3, F(1) = d = 5; m = 3
>>> sum(p[a] * p[b] * p[c] for a, b, c in product(p, repeat=3)
...     if sorted((a, b, c))[1:] == [0, 1])                # largest 1, second largest 0
Fraction(54, 125)
>>> (1 - Q(3, 5)**3) * Q(3, 5)**2                          # what OrdSample does
Fraction(882, 3125)
""",
        extraction="no: algorithm, Lemma 2.9 and the proposition agree with each other",
        corrected=BV.verified(
            "Proposition 6.3, corrected",
            "Drawing the largest value, then how many variables share it, then the "
            "largest of the rest below it, gives the n + 1 largest with their exact joint law.",
            "exact law",
            **varied(_is_top_values, _shipped, ord_sample_law, "OrdSample as printed has that law"),
        ),
    ),
    BV.verified(
        "Proposition 6.3, largest value",
        "The first value OrdSample returns is distributed as the largest of the m variables.",
        "exact law",
        **varied(_largest_only, 0, 1, "as the largest of m + 1 variables"),
    ),
    BV.not_checkable(
        "Proposition 6.3, running time",
        "OrdSample runs in time O(n log n) (O(m log d) + Time(F)).",
        "asymptotic running time in the word RAM model",
    ),
)
