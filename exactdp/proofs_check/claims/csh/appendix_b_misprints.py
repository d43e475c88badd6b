"""CSH, Appendix B: slips in the construction that the proof of Theorem 3.5 uses."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.sparse_histograms.csh_exact import threshold_only
from exactdp.balls import ball
from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.csh._model import (
    BITS,
    MIXED,
    at_most,
    equal,
    precision,
    square_root,
)
from exactdp.proofs_check.claims.csh._published import log_psi
from exactdp.proofs_check.claims.csh._top_k import neighbours
from exactdp.proofs_check.claims.csh.lemma_2_8 import farthest
from exactdp.proofs_check.entries import CSH, varied

__all__ = ["CLAIMS"]


def _bottom(limit: int) -> str:
    """psi(k - j) is at most the chance that no entry j < i <= k has g~_(k+1)/k^(1/4) + g~_i above.

    The entries are 1/2 + Z_i and k^(1/4) (1/2 + Z_corr): the sum is 1 + Z_i + Z_corr, compared with
    limit + tau.
    """
    with precision(BITS):
        for at in MIXED:
            for j in (1, at.k // 2):
                ratio = ball((at.tau + limit - 1) / at.sigma)
                top = 1 - threshold_only(at.k - j, ratio, square_root(at.k), at.k - j)
                psi = log_psi(at, at.k - j).exp()
                case = f"k={at.k}, sigma={at.sigma}, tau={at.tau}, j={j}"
                text = f"P(no output 'bottom') = {top.mid().str(7)} < psi = {psi.mid().str(7)}"
                require(at_most(psi, top), f"{case}: {text}")
    return f"{len(MIXED)} parameter sets, two j each"


def _entry(always_noisy: bool) -> str:
    """The counters recovered from F(g), g_(k+1) = 0, hide a change as Theorem 3.3 says of
    Algorithm 2: the farthest is sqrt(k + sqrt k)/2 sigmas away.
    """
    for root, sigma in product((1, 2, 3), (Fraction(3), Fraction(1, 2))):
        last = sigma**2 if always_noisy else Fraction(0)
        # g~_(k+1) is divided by k^(1/4), its variance by sqrt k
        found, k = farthest(sigma**2, last / root, root**2), root**2
        wanted = Fraction(k + root, 4) / sigma**2
        case = f"k={k}, sigma={sigma}: squared distance {found}, of Algorithm 2 {wanted}"
        require(found == wanted, case)
    return "k = 1, 4, 9, two sigma, every change of 0/1 counters, covariance inverted in fractions"


def _recovered(index_last: bool) -> str:
    """H~_i = g~_i + g~_index/k^(1/4) restores H(X')_i from (H(X') - 1/2, k^(1/4)/2), noiseless."""
    for counts in product(range(1, 4), repeat=2):
        for k in (4, 16, 81):
            fourth = ball(k).root(4)
            entries = [ball(Fraction(c) - Fraction(1, 2)) for c in counts]
            last = fourth / 2
            for c, entry in zip(counts, entries, strict=True):
                value = entry + (last if index_last else entry) / fourth
                require(equal(value, ball(c)), f"k={k}, count {c}: {value.mid().str(6)}")
    return "two counters up to 3, k = 4, 16, 81"


def _sparse(which: str) -> str:
    """X^ of Theorem 3.3 for U in U' (|U| = j < |U'| <= k) is not k-sparse (is, but not j-sparse).

    X^ has the counts of X on the common support, elsewhere those of X'.
    """
    pairs = 0
    for k in (2, 3, 4):
        for second, first in neighbours(4, 2):  # the user is one more for X'
            j, most = (sum(x > 0 for x in h) for h in (first, second))
            if 0 < j < most <= k:
                middle = [p if p and q else q for p, q in zip(first, second, strict=True)]
                size = sum(x > 0 for x in middle)
                stated = size > k if which == "k" else j < size <= k
                require(stated, f"k={k}, j={j}: X^={middle} has {size} non-zero counters")
                pairs += 1
    return f"k = 2, 3, 4, {pairs} pairs of neighbours over four elements"


CLAIMS = (
    Refuted(
        paper="CSH",
        item="Appendix B, probability of no output bottom",
        printed=Printed(
            r"\mathbf{\tilde{g}}_{k+1}/k^{1/4}+\mathbf{\tilde{g}}_{i}>\tau",
            "Appendix B, mechanism F",
            549,
        ),
        statement="F outputs bottom when g~_(k+1)/k^(1/4) + g~_i > tau for some i > j, and "
        "psi(k - j) is a lower bound on the probability that it does not.",
        severity="cosmetic",
        method="certified numerics",
        check=lambda: _bottom(0),
        example="""
>>> from mpmath import ncdf, sqrt
>>> k, j, sigma, tau = 4, 3, 0.2, 1.0
>>> psi = ncdf(tau / ((1 + k**-0.25) * sigma)) ** (k - j + 1)
>>> sd = sigma * sqrt(1 + k**-0.5)         # of Z_i + Z_corr; the sum is 1 + Z_i + Z_corr
>>> float(round(psi, 4)), float(round(ncdf((tau - 1) / sd), 4)), float(round(ncdf(tau / sd), 4))
(0.9966, 0.5, 1.0)
""",
        extraction="no: entries 1/2 + Z_i and 1/2 + Z_corr are printed as such; their sum is the "
        "noisy count, which Algorithm 2 compares with 1 + tau",
        corrected=CSH.verified(
            "Appendix B, probability of no output bottom, corrected",
            "F outputs bottom when the sum exceeds 1 + tau; then psi(k - j) is that "
            "bound (Lemma 3.2).",
            "certified numerics",
            **varied(_bottom, 1, 0, "when it exceeds tau"),
        ),
    ),
    Refuted(
        paper="CSH",
        item="Appendix B, mechanism F",
        printed=Printed(
            r"that adds noise independently from ... to all non-zero entries of a vector.",
            "Appendix B, mechanism F",
            549,
        ),
        statement="F adds noise to the non-zero entries; F(g), g_(k+1) = 0, then has the law of "
        "G(g) and gives Algorithm 2 back.",
        severity="cosmetic",
        method="enumeration",
        check=lambda: _entry(False),
        example="""
>>> g = [7, 0, 0, 0, 0]                        # k = 4, j = 1: entry k + 1 of g is 0
>>> noisy_in_F = [i + 1 for i, x in enumerate(g) if x != 0]
>>> noisy_in_G = [1, 5]                        # entries up to j, and entry k + 1
>>> noisy_in_F == noisy_in_G
False
""",
        extraction="no: 'all non-zero entries' is plain text",
        corrected=CSH.verified(
            "Appendix B, mechanism F, corrected",
            "F adds noise to entry k + 1 also where it is zero; the counters recovered from it "
            "then hide a change as those of Algorithm 2 do: the farthest is sqrt(k + sqrt k)/2 "
            "sigmas away.",
            "enumeration",
            **varied(_entry, True, False, "to entry k + 1 only if it is not zero"),
        ),
    ),
    Refuted(
        paper="CSH",
        item="Appendix B, recovering Algorithm 2",
        printed=Printed(
            r"\tilde{\mathbf{H}}_{i}=\mathbf{\tilde{g}}_{i}+\mathbf{\tilde{g}}_{i}/k^{1/4}",
            "Appendix B, post-processing of F",
            566,
        ),
        statement="H~_i = g~_i + g~_i/k^(1/4) gives the noisy counts back.",
        severity="cosmetic",
        method="certified numerics",
        check=lambda: _recovered(False),
        example="""
>>> k, count = 16, 3                            # without noise: entries 2.5 and k^(1/4)/2
>>> entry, last = count - 0.5, k**0.25 / 2
>>> entry + entry / k**0.25, entry + last / k**0.25
(3.75, 3.0)
""",
        extraction="possible in principle (an index lost), but both renderings have the index i; "
        "so have g^_i = g^_i (for g'_i) and H~_i != i (for 0) nearby",
        corrected=CSH.verified(
            "Appendix B, recovering Algorithm 2, corrected",
            "H~_i = g~_i + g~_(k+1)/k^(1/4).",
            "certified numerics",
            **varied(_recovered, True, False, "with g~_i in both places"),
        ),
    ),
    Refuted(
        paper="CSH",
        item="Appendix B, the intermediate histogram for U in U'",
        printed=Printed(
            r"does not give us the bound we want because it is not k",
            "Appendix B, case U in U'",
            539,
        ),
        statement="For U in U' the intermediate histogram of Theorem 3.3 is not k-sparse.",
        severity="cosmetic",
        method="enumeration",
        check=lambda: _sparse("k"),
        example="""
>>> k, first, second = 3, [2, 0, 0], [3, 1, 1]     # U in U', |U'| = k
>>> middle = [p if p and q else q for p, q in zip(first, second)]
>>> middle, sum(x > 0 for x in middle) <= k
([2, 1, 1], True)
""",
        extraction="possible only if j was read as k; three renderings agree on k",
        corrected=CSH.verified(
            "Appendix B, the intermediate histogram for U in U', corrected",
            "It is k-sparse but not j-sparse.",
            "enumeration",
            **varied(_sparse, "j", "k", "not k-sparse"),
        ),
    ),
)
