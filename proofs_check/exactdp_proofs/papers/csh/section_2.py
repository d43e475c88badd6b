"""CSH, Section 2: definitions, symbols and drawings."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import sympy as sp

from exactdp_proofs.comparisons import below, equal, identity
from exactdp_proofs.papers.csh._model import Vector, binary
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CSH, as_printed, mutant

CSH.not_checkable(
    "Definition 2.1",
    "Neighbouring datasets differ by one data point, added or removed.",
    "a definition; every check of the ledger of this paper uses it, in both orders",
)
CSH.not_checkable(
    "Definition 2.2",
    "(epsilon, delta)-differential privacy, which survives post-processing (Dwork and Roth).",
    "a definition with a cited property; delta of a pair of laws is computed as the sum of "
    "(p - e^epsilon q)_+ throughout",
)
CSH.not_checkable(
    "Section 2.4",
    "For users with k <= d/2 entries there is an optimal amount of shared noise (Joseph and Yu).",
    "cited without formula; that it gains little is the part beside this one",
    "Joseph and Yu",
)
CSH.not_checkable(
    "Table 1",
    "Symbols: the threshold is 1 + tau with tau > 0; delta_gauss, delta_inf (for j counters, "
    "delta_inf^j); Phi and its inverse.",
    "notation only, consistent with the text",
)
CSH.not_checkable(
    "Figure 1",
    "Three kinds of neighbours of the GSHM with at most four changed counters: only shared "
    "counters change, only new ones appear, or both.",
    "a drawing; the cases are the terms of Lemma 2.7",
)
CSH.not_checkable(
    "Figure 2",
    "The intermediate histogram that separates the two kinds of loss.",
    "a drawing; its construction is checked under Theorem 3.3, proof, intermediate histogram",
)


@CSH.holds("Definition 2.3")
@mutant("{0,1}^d alone", signs=(1,))
def definition_2_3(signs: tuple[int, ...] = (1, -1)) -> None:
    """The sensitivity space of the histogram of {0,1}^d users is {0,1}^d joined with {0,-1}^d,
    and its l2 sensitivity, the largest norm in that space, is sqrt(d).
    """
    for d in (1, 2, 3):
        space = _differences(d)
        equal(max(sum(x * x for x in v) for v in space), d, d=d)
        equal(space, {tuple(sign * x for x in v) for v in binary(d) for sign in signs}, d=d)


def _differences(d: int) -> set[Vector]:
    """H(X) - H(X') over all datasets of up to 3 users and one user less, in both orders."""
    changes: set[Vector] = set()
    for size in range(1, 4):
        for data in combinations_with_replacement(binary(d), size):
            for i in range(size):
                more, less = (_histogram(users, d) for users in (data, data[:i] + data[i + 1 :]))
                change = tuple(a - b for a, b in zip(more, less, strict=True))
                changes |= {change, tuple(-x for x in change)}
    return changes


def _histogram(data: tuple[Vector, ...], d: int) -> Vector:
    return tuple(sum(user[i] for user in data) for i in range(d))


@CSH.note("Definition 2.4")
@as_printed(power=Fraction(1))
@mutant(power=Fraction(51, 100))
def definition_2_4(power: Fraction = Fraction(1, 2)) -> None:
    r"""N(0, sigma^2) has the density exp(-x^2/(2 sigma^2))/(2 pi sigma^2).

    Printed (Section 2, Definition 2.4, line 77):
        \phi(x,\sigma^{2})=\frac{1}{2\pi\sigma^{2}}\exp(-\frac{x^{2}}{2\sigma^{2}})
    Corrected: The density is exp(-x^2/(2 sigma^2))/sqrt(2 pi sigma^2); without the root its mass
        is not 1. The definition names the normal distribution.
    Extraction: no: LaTeX source and plain text of the formula both lack the root.
    """
    x, sigma = sp.symbols("x"), sp.symbols("sigma", positive=True)
    bell = sp.exp(-(x**2) / (2 * sigma**2))
    norm = (2 * sp.pi * sigma**2) ** sp.Rational(str(power))
    for moment, stated in ((1, sp.Integer(1)), (x**2, sigma**2)):
        identity(sp.integrate(moment * bell, (x, -sp.oo, sp.oo)) / norm - stated)


@CSH.holds("Section 2.4", "little gain for k much smaller than d")
@mutant(share=Fraction(98, 100))
def little_gain(share: Fraction = Fraction(1)) -> None:
    """For users with at most k <= d/2 of d entries no amount of shared noise of the form of
    Lemma 2.8 brings the total noise below sqrt(1 - k/d) of that of the Gaussian mechanism.
    """
    for k, twice in product((1, 1000, 300_000, 500_000), (1, 2, 4, 14, 2000)):
        d, gamma = 10**6, Fraction(twice, 2)
        # k <= (d + gamma)/2 moved counters are the farthest (Lemma 2.8, exact sensitivity)
        total = (1 + 1 / gamma) * (k - k * k / (d + gamma))
        below(k * (1 - share * Fraction(k, d)), total, d=d, k=k, gamma=gamma)
