"""ALP, Lemma 5.9: memory of the approximate variant; its beta has the wrong epsilon."""

from __future__ import annotations

from fractions import Fraction

from exactdp.proofs_check.claim import Mutant, Refuted, require
from exactdp.proofs_check.claims.alp._large_epsilon import space
from exactdp.proofs_check.claims.alp._model import gamma, spread
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _beta(of_second: bool) -> str:
    """x = t is dropped w.p. 1/2 and then estimated by beta at most: error against Lemma 5.5.

    alpha = 3, s = 10 k; the estimate is at most beta + alpha/eps2.
    """
    alpha = Fraction(3)
    constant = (Fraction(1, 2) + spread(alpha) + spread(gamma(alpha, Fraction(1, 10)))) * alpha
    for first, second, log_delta in ((1, 1, 100), (1, 2, 100), (2, 1, 100), (1, 4, 50)):
        t = Fraction(log_delta, first) + 2
        beta = Fraction(log_delta, second if of_second else first) + 2
        least = max(Fraction(0), t - beta - alpha / second) / 2
        stated = Fraction(1, first) + constant / second
        require(
            least <= stated,
            f"eps1={first}, eps2={second}, delta=e^-{log_delta}, x=t={t}: error at least {least} > "
            f"{float(stated):.3g} of Lemma 5.5",
        )
    return "four pairs of epsilons, x at the threshold"


CLAIMS = (
    Refuted(
        paper="ALP",
        item="Lemma 5.9",
        statement="Algorithm 9 and the projection together take O(k log(d + u) + k log(1/delta) + "
        "log(d) "
        "log(1/delta)) bits, for every epsilon.",
        severity="loose",
        method="enumeration",
        check=lambda: space(1000, 0),
        example="""
>>> from math import ceil, log
>>> k, s, w, alpha, eps, delta = 1, 3, 20, 3, 10**6, 1e-6   # w = log2(d) bits per function
>>> m = ceil((log(1 / delta) / eps + 2) * eps / alpha)
>>> m * (s + w) > 1000 * (k + w) * log(1 / delta)
True
""",
        extraction="no: beta = ln(1/delta)/epsilon + 2 stands in the proof",
        corrected=ALP.verified(
            "Lemma 5.9, corrected",
            "The embedding takes O((k + log d)(log(1/delta) + epsilon)) bits; with s = 3k, alpha = "
            "3 and w bits per hash function 6 (k + w)(ln(1/delta) + epsilon) suffice.",
            "enumeration",
            check=lambda: space(6, 1),
            mutant=Mutant("without epsilon", lambda: space(1000, 0)),
        ),
        note="One cause in Lemmas 5.7, 5.8, 5.9: the summand 2 of t. True as printed for "
        "epsilon = O(log(1/delta)).",
    ),
    Refuted(
        paper="ALP",
        item="Lemma 5.9, proof, beta",
        statement="beta = ln(1/delta)/epsilon2 + 2 is the bound of the projection that goes with "
        "Lemma 5.8.",
        severity="cosmetic",
        method="enumeration",
        check=lambda: _beta(True),
        example="""
>>> eps1, eps2, log_delta, alpha = 1, 2, 100, 3          # delta = e^-100
>>> t, beta = log_delta / eps1 + 2, log_delta / eps2 + 2
>>> x = t                 # dropped with probability 1/2; then the estimate is <= beta + alpha/eps2
>>> (x - (beta + alpha / eps2)) / 2      # least expected error
24.25
>>> 1 / eps1 + 16.9 / eps2               # the O(1/eps) of Lemma 5.5 with alpha = 3, s = 10k
9.45
""",
        extraction="no: Algorithm 9 runs with epsilon1, and Algorithm 7 sets m from its threshold "
        "t",
        corrected=ALP.verified(
            "Lemma 5.9, proof, beta, corrected",
            "beta = t = ln(1/delta)/epsilon1 + 2.",
            "enumeration",
            **varied(_beta, False, True, "beta = ln(1/delta)/epsilon2 + 2"),
        ),
        note="Algorithm 7 itself uses t, and the memory bound is not affected. With beta as "
        "printed and epsilon2 > epsilon1, which the paper suggests, the per-entry error grows with "
        "log(1/delta).",
    ),
)
