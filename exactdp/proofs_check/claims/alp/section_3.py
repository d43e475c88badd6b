"""ALP, Section 3: what is said about earlier mechanisms."""

from __future__ import annotations

from fractions import Fraction

from exactdp.mechanisms.projections.noisy_rows import DenseLaplace
from exactdp.mechanisms.projections.thresholds import Threshold
from exactdp.parameters import Real
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _released_one(shift: int) -> str:
    """e^(-eps (t - 1))/2 = delta at t = shift + ln(1/(2 delta))/eps."""
    import sympy as sp

    eps, delta = sp.symbols("varepsilon delta", positive=True)
    t = shift + sp.log(1 / (2 * delta)) / eps
    gap = sp.simplify(sp.expand(sp.exp(sp.expand(-eps * (t - 1)))) / 2 - delta)
    require(gap == 0, f"off by {gap}")
    return "t = 1 + ln(1/(2 delta))/eps"


def _at_threshold(loss: Fraction) -> str:
    """An entry of size t is dropped w.p. 1/2: error loss * t + 1/(2 eps)."""
    import sympy as sp

    eps, t, h = sp.symbols("varepsilon t h", positive=True)
    kept = sp.integrate(h * eps / 2 * sp.exp(-eps * h), (h, 0, sp.oo))
    error = t * sp.integrate(eps / 2 * sp.exp(-eps * h), (h, 0, sp.oo)) + kept
    gap = sp.simplify(error - sp.Rational(loss) * t - 1 / (2 * eps))
    require(gap == 0, f"off by {gap}")
    return "E = t/2 + 1/(2 eps)"


def _construction(dropped: int) -> str:
    """Two shipped algorithms: noise on every entry and a threshold, or a binomial number of zeros.

    dropped: how far above the threshold values are dropped in the first.
    """
    made = Threshold(d=2, k=1, u=3, epsilon=1, grid=1, t=2)
    every = DenseLaplace(d=2, k=1, u=3, epsilon=1, grid=1)
    vectors: tuple[dict[int, Real], ...] = ({}, {1: 3}, {0: 1})
    for x in vectors:
        kept = every.law(x, None).map(
            lambda values: tuple((i, v) for i, v in enumerate(values) if v >= 2 + dropped)
        )
        require(made.law(x) == kept, f"x={x}: other laws")
    return "three vectors of two entries, noise on a grid, both laws as shipped"


CLAIMS = (
    ALP.proved(
        "Section 3, threshold of [KKMN09]",
        "With t = 1 + ln(1/(2 delta))/epsilon, delta <= 1/2, an entry of 1 is released with "
        "probability delta.",
        "symbolic",
        **varied(_released_one, 1, 0, "t = ln(1/(2 delta))/epsilon"),
        note="The text says O(log(1/delta)/epsilon) + 1.",
    ),
    ALP.proved(
        "Section 3, entry at the threshold",
        "An entry of size t is removed by any negative noise, so its expected error is t/2 + "
        "1/(2 epsilon).",
        "symbolic",
        **varied(_at_threshold, Fraction(1, 2), Fraction(49, 100), "0.49 t + 1/(2 epsilon)"),
        note="The text says O(t), which it is for t >= 1/epsilon.",
    ),
    ALP.verified(
        "Section 3, construction of [CPST12]",
        "Drawing the number of stored zeros from a binomial distribution and then their places, as "
        "the library does, gives the same law as noise on every entry and a threshold.",
        "exact law",
        **varied(_construction, 0, 1, "as noise and a threshold one step higher"),
    ),
    ALP.not_checkable(
        "Section 3, maximum error of [KKMN09]",
        "The expected maximum error is O(log(max(k, 1/delta))/epsilon).",
        "cited; asymptotic. Lemma 5.7 checks the variant of this paper",
    ),
    ALP.not_checkable(
        "Section 3, output size of [CPST12]",
        "The number of noisy entries above t is O(k) with high probability.",
        "cited; Lemma 5.2 has the precise statement for t = 2 ln(d)/epsilon",
    ),
    ALP.not_checkable(
        "Section 3, lower bound for sparse outputs",
        "Mechanisms with sparse output have error Omega(min(log d, log(epsilon/delta), n)/"
        "epsilon).",
        "cited from [BV19, Theorem 7.2]; asymptotic",
    ),
    ALP.not_checkable(
        "Section 3, compact representation of [BV19]",
        "Expected error O(1/epsilon), maximum O(log(d)/epsilon), about n log(d)/epsilon bits and "
        "time n/epsilon.",
        "cited; asymptotic",
    ),
)
