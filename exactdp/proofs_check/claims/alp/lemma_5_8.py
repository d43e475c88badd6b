"""ALP, Lemma 5.8: the combined structure with approximate privacy."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

from exactdp.accounting.divergence import hockey_stick
from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.alp._large_epsilon import access
from exactdp.proofs_check.claims.alp._model import exp_lower, projection_law
from exactdp.proofs_check.claims.alp._threshold import Vector, distance, rounded_law
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]

_ONE = Fraction(1)


def _private(share: Fraction) -> str:
    """Joint output at e^(eps1 + share * eps2), t = 3, delta = e^-eps1."""
    pairs: list[Vector] = [(Fraction(a, 2), Fraction(b, 2)) for a in range(4) for b in range(3)]
    single: list[Vector] = [(Fraction(n, 2),) for n in range(7)]
    # the last entries, near t, are stored half of the time
    cases = ((Fraction(9, 4), Fraction(2), pairs, (0, 1)), (Fraction(16), _ONE, single, (0,)))
    for base, eps, grid, rows in cases:
        laws = {
            x: rounded_law(x, Fraction(3), base).product(
                projection_law([eps * v for v in x], (rows,) * 3, len(rows), _ONE)
            )
            for x in grid
        }
        factor, delta = base * exp_lower(share * eps), 1 / base
        for x, other in product(grid, repeat=2):
            if 0 < distance(x, other) <= 1:
                exact = hockey_stick(laws[x], laws[other], e_epsilon=factor).lower
                case = f"e^eps1={base}, {x} against {other}: delta {float(exact)}"
                require(exact <= delta / (2 * base), case)
    return "neighbours among 12 vectors of two entries, 7 of one up to t; joint law of both parts"


def _small_entries(constant: Fraction) -> str:
    """x < 1: x P(stored | y = 1) E(error) <= constant/eps1, from w = ln(1/delta) + eps1."""
    import sympy as sp

    log_delta, eps = sp.symbols("L varepsilon", positive=True)
    t = log_delta / eps + 2
    error = sp.exp(-log_delta - eps) / 2 * (t + 1 / eps)  # x <= 1, at most t - x + 1/eps
    w = sp.symbols("w", positive=True)
    scaled = sp.exp(-w) * (2 * w + 1) / 2
    slack = sp.simplify(scaled.subs(w, log_delta + eps) - eps * error)
    require(sp.simplify(slack - sp.exp(-log_delta - eps) * log_delta / 2) == 0, f"slack {slack}")
    slope = sp.simplify(sp.diff(scaled, w) * 2 * sp.exp(w))
    require(
        sp.expand(slope - (1 - 2 * w)) == 0, f"it does not rise up to 1/2 and then fall: {slope}"
    )
    most = scaled.subs(w, sp.Rational(1, 2))
    require(bool(most <= sp.Rational(constant)), f"largest value {most}")
    return "eps1 * error <= e^-w (2w + 1)/2 <= e^(-1/2) = 0.607 at w = 1/2"


CLAIMS = (
    Refuted(
        paper="ALP",
        item="Lemma 5.8",
        statement="With Algorithm 9 inside Algorithm 7 the access time is O(log(1/delta)), for "
        "every epsilon.",
        severity="loose",
        printed=Printed(
            r"By using Algorithm 9 in Algorithm 7 the access time is $O(\log(1/\delta))$.",
            "Section 5.1, Lemma 5.8",
            592,
        ),
        follows_from="ALP-Lemma-5.7",
        method="enumeration",
        check=lambda: access(Fraction(10), Fraction(0)),
        example="""
>>> from math import ceil, log
>>> alpha, delta = 3, 1e-6                                # log(1/delta) = 13.8
>>> for eps in (1, 10, 100, 1000, 10_000):                # eps1 = eps2 = eps: columns read
...     print(ceil((log(1 / delta) / eps + 2) * eps / alpha))
6
12
72
672
6672
""",
        extraction="no: the summand 2 of t is printed in Algorithm 9 and in Lemma 5.9",
        corrected=ALP.verified(
            "Lemma 5.8, corrected",
            "The access reads at most (ln(1/delta) + epsilon)/3 + 1 columns (alpha = 3, epsilon1 = "
            "epsilon2 = epsilon/2), which is O(log(1/delta)) for epsilon = O(log(1/delta)).",
            "enumeration",
            **varied(
                partial(access, Fraction(1, 3)),
                Fraction(1, 3),
                Fraction(8, 25),
                "with 0.96 epsilon for epsilon",
                extra=1,
            ),
        ),
        note="The maximum error of Lemma 5.8 needs the same condition, see Lemma 5.7.",
    ),
    ALP.proved(
        "Lemma 5.8, per-entry error",
        "That an entry below 1 may be stored adds at most 0.61/epsilon1 to its expected error.",
        "symbolic",
        **varied(_small_entries, Fraction(61, 100), Fraction(60, 100), "at most 0.6/epsilon1"),
        note="Lemma 5.5 alone does not cover rounded entries, whose error is not the noise. It "
        "covers all others, so the expected error is at most 1/epsilon1 + C/epsilon2 for every "
        "epsilon.",
    ),
    ALP.verified(
        "Lemma 5.8, privacy",
        "The combined mechanism is (epsilon1 + epsilon2, delta)-differentially private, here even "
        "with delta/(2 e^epsilon1).",
        "enumeration",
        **varied(_private, _ONE, Fraction(13, 20), "(epsilon1 + 0.65 epsilon2, delta)"),
    ),
)
