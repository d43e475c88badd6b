"""ALP, Lemma 5.9: memory of the approximate variant; its beta has the wrong epsilon."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from exactdp.proofs_check.claim import Printed, Quibble, Refuted, require
from exactdp.proofs_check.claims.alp._large_epsilon import space
from exactdp.proofs_check.claims.alp._model import columns
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _beta(of_second: bool) -> str:
    """Every entry up to t, which the threshold may drop, has an estimate within half a step."""
    alpha = 3
    for first, second, log_delta in ((1, 1, 100), (1, 2, 100), (2, 1, 100), (1, 4, 50)):
        t = Fraction(log_delta, first) + 2
        beta = Fraction(log_delta, second if of_second else first) + 2
        step, levels = Fraction(alpha, second), columns(beta * second, Fraction(alpha))
        for x in (t * n / 40 for n in range(41)):
            gap = min(abs(x - step * y) for y in range(levels + 1))
            case = (
                f"eps1={first}, eps2={second}, delta=e^-{log_delta}, beta={beta}, {levels} columns"
            )
            require(gap <= step / 2, f"{case}: x={x} is {gap} from every estimate")
    return "four pairs of epsilons, alpha = 3, entries at fortieths of t"


CLAIMS = (
    Refuted(
        paper="ALP",
        item="Lemma 5.9",
        statement="Algorithm 9 and the projection together take O(k log(d + u) + k log(1/delta) + "
        "log(d) log(1/delta)) bits, for every epsilon.",
        severity="loose",
        printed=Printed(
            r"Then the memory requirement of combining Algorithm 9 and the ALP mechanism is "
            r"$O(k \log(d+u) + k \log(1/\delta) + \log(d) \log(1/\delta))$.",
            "Section 5.1, Lemma 5.9",
            596,
        ),
        follows_from="ALP-Lemma-5.7",
        method="enumeration",
        check=lambda: space(10, Fraction(0)),
        example="""
>>> from math import ceil, log
>>> k, s, w, alpha, delta = 1, 3, 20, 3, 1e-6          # w = log2(d) bits per hash function
>>> for eps in (1, 10, 100, 1000, 10_000):             # bits over (k + w) log(1/delta)
...     m = ceil((log(1 / delta) / eps + 2) * eps / alpha)
...     print(round(m * (s + w) / ((k + w) * log(1 / delta)), 1))
0.5
1.0
5.7
53.3
528.9
""",
        extraction="no: beta = ln(1/delta)/epsilon + 2 stands in the proof",
        corrected=ALP.verified(
            "Lemma 5.9, corrected",
            "The embedding takes O((k + log d)(log(1/delta) + epsilon)) bits; with s = 3k, alpha = "
            "3, epsilon1 = epsilon2 = epsilon/2 and w bits per hash function (k + w)(ln(1/delta) + "
            "epsilon + 3) suffice.",
            "enumeration",
            **varied(partial(space, 1), Fraction(1), Fraction(24, 25), "0.96 epsilon", extra=3),
        ),
        note="True as printed for epsilon = O(log(1/delta)).",
    ),
    Quibble(
        paper="ALP",
        item="Lemma 5.9, proof, beta",
        statement="beta = ln(1/delta)/epsilon2 + 2 covers the entries that the threshold t of "
        "Algorithm 9 drops.",
        printed=Printed(
            r"We set $\beta = \ln(1/\delta)/\varepsilon_2 + 2$",
            "Section 5.1, Lemma 5.9, proof",
            598,
        ),
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
            "beta = t = ln(1/delta)/epsilon1 + 2 does.",
            "enumeration",
            **varied(_beta, False, True, "beta = ln(1/delta)/epsilon2 + 2"),
        ),
        note="The lemma is about memory, which is not affected; for epsilon1 = epsilon2 both are "
        "the same, and Algorithm 7 itself uses t. Only who takes beta from here, with epsilon2 > "
        "epsilon1, gets a per-entry error that grows with log(1/delta).",
    ),
)
