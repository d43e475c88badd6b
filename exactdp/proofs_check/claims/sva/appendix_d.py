"""SVA, Section VI and Appendix D: the degrading channel, Fano's inequality, and the final step."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.proofs_check.claim import Mutant, Printed, Quibble, Refuted, require
from exactdp.proofs_check.claims.sva._channels import (
    Channel,
    mutual_information,
    randomized_response,
)
from exactdp.proofs_check.claims.sva._tails import at_most
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]


def _symmetric(size: int, kept: Fraction) -> list[Law[int]]:
    """Returns the input with a given probability, else another one at random."""
    rest = (1 - kept) / (size - 1) if size > 1 else Fraction(0)
    return [Law({z: kept if z == v else rest for z in range(size)}) for v in range(size)]


def _error(channel: Channel) -> Fraction:
    """The error of guessing the most likely input, for a uniform one."""
    outcomes = set().union(*(q.support for q in channel))
    right = sum((max(q[z] for q in channel) for z in outcomes), Fraction(0))
    return 1 - right / len(channel)


def _fano(extra: Fraction, bits: bool) -> str:
    """P(error) >= 1 - (I + extra)/log|S|, in bits or nats."""
    tried = 0
    with precision(96):
        unit = ball(2).log() if bits else ball(1)
        for size, kept in product((2, 16, 32), (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10))):
            channel = _symmetric(size, kept)
            information = mutual_information(channel) / unit
            bound = 1 - (information + ball(extra)) * unit / ball(size).log()
            at_most(bound, ball(_error(channel)), f"|S|={size}, kept {kept}: Fano, P(error)")
            tried += 1
    return f"{tried} channels, the best decoder"


def _joint(channel: Channel, n: int) -> list[Law[int]]:
    """n independent reports of the same input, as one outcome."""
    laws = list(channel)
    for _ in range(n - 1):
        laws = [p.product(q).map(lambda t: 1000 * t[0] + t[1])
                for p, q in zip(laws, channel, strict=True)]  # fmt: skip
    return laws


def _sums(equal: bool) -> str:
    """I(V; z_1, ..., z_n) = (or <=) the sum of I(V; z_i)."""
    with precision(96):
        for size, e_eps, n in ((2, Fraction(3), 2), (3, Fraction(10), 2), (2, Fraction(100), 3)):
            channel = randomized_response(size, e_eps)
            together = mutual_information(_joint(channel, n))
            apart = n * mutual_information(channel)
            case = f"|S|={size}, e^epsilon={e_eps}, n={n}"
            at_most(together, apart, f"{case}: together, sum")
            if equal:
                at_most(apart, together, f"{case}: sum of the parts, together")
    return "three channels, independent reports of one input"


def _below(constant: Fraction) -> str:
    """I(V; z_1, ..., z_n) <= constant * the sum."""
    with precision(96):
        for n in (2, 3):
            channel = randomized_response(2, Fraction(3, 2))
            together = mutual_information(_joint(channel, n))
            bound = ball(constant * n) * mutual_information(channel)
            at_most(together, bound, f"n={n}: together, sum")
    return "n = 2, 3"


def _below_half(size: int, bits: Fraction) -> bool:
    """(I + 1)/log2|S| < 1/2, that is 4^(1 + I) < |S|."""
    return bool(4 ** (bits.denominator + bits.numerator) < size**bits.denominator)


def _final(bits: Fraction, least: int) -> str:
    for size in (least, least + 1, 10 * least, 10**6):
        require(_below_half(size, bits), f"|S|={size}, I={bits}: (I + 1)/log2|S| is not below 1/2")
    return f"|S| >= {least}"


def _only_large(bits: Fraction) -> str:
    """At |S| <= 4 the inequality fails even for I = 0; from |S| = 5 on it can be had."""
    for size in (2, 3, 4):
        require(not _below_half(size, Fraction(0)), f"|S| = {size} is enough")
    return _final(bits, 5)


def _little_o(power: Fraction) -> str:
    """n x log(1/x) falls with n at x = delta/epsilon = c/(n log(n)^power), c = 1/100."""
    c = ball(Fraction(1, 100))
    with precision(80):
        terms = []
        for digits in (1, 2, 5, 20, 50, 100):
            n = ball(10**digits)
            x = c / n / n.log() ** ball(power)
            terms.append(n * x * -x.log() / c)
        for before, after in pairwise(terms):
            at_most(after, before, "n x log(1/x)/c, that of the n before")
        for found, stated in ((terms[0], Fraction(336, 100)), (terms[-1], Fraction(104, 100))):
            off = abs(found - ball(stated))
            require(bool(off <= ball(Fraction(1, 200))), f"{found.str(6)} c, stated {stated} c")
    return f"n from 10 to 1e100: from {float(terms[0]):.3g} c to {float(terms[-1]):.3g} c"


def _contradiction(share: Fraction) -> str:
    """Where some decoder errs with probability <= 1/5, (I + 1)/log2|S| is above the share."""
    tried = 0
    with precision(96):
        for size, kept in product((16, 64, 128), (Fraction(n, 20) for n in (15, 16, 18))):
            channel = _symmetric(size, kept)
            if _error(channel) <= Fraction(1, 5):
                value = (mutual_information(channel) + ball(2).log()) / ball(size).log()
                case = f"|S|={size}, kept {kept}: (I + 1)/log2|S| = {value.str(5, radius=False)}"
                require(bool(value > ball(share)), f"{case}, not above {share}")
                tried += 1
    return f"{tried} channels whose best decoder errs at most 1/5 of the time"


CLAIMS = (
    SVA.verified(
        "Equation (4)",
        "Fano: P(error) >= 1 - (I(V; z) + 1)/log|S| for uniform V, in bits.",
        "certified numerics",
        check=lambda: _fano(Fraction(1), True) + "; " + _fano(Fraction(1), False),
        mutant=Mutant("I + 0.95 in bits", lambda: _fano(Fraction(19, 20), True)),
        note="in nats it holds as well, with room: 1 in place of log 2",
    ),
    Refuted(
        paper="SVA",
        item="Appendix D, information of independent reports",
        statement="As the z_i are independent given V, I(V; z_1, ..., z_n) = sum of I(V; z_i).",
        severity="cosmetic",
        printed=Printed(
            r"Since conditioning on V , the \mathbf{z}_i 's are independent, we have: $I(V; "
            r"\mathbf{z}_1, \dots, \mathbf{z}_n) = \sum_{i \in [n]} I(V; \mathbf{z}_i)$.",
            "Appendix D, after equation (4)",
            680,
        ),
        method="certified numerics",
        check=lambda: _sums(True),
        example="""
>>> from math import log2                 # z_1 = z_2 = V, a fair bit: independent given V
>>> joint = {(v, v, v): 0.5 for v in (0, 1)}
>>> sum(p * log2(p / (0.5 * 0.5)) for p in joint.values())            # I(V; z_1, z_2)
1.0
>>> 2 * sum(0.5 * log2(0.5 / (0.5 * 0.5)) for v in (0, 1))           # I(V; z_1) + I(V; z_2)
2.0
""",
        extraction="no: the equality is used twice with the same reason",
        note="The proof needs only <=, which is true.",
        corrected=SVA.verified(
            "Appendix D, information of independent reports, corrected",
            "I(V; z_1, ..., z_n) <= sum of I(V; z_i).",
            "certified numerics",
            check=lambda: _sums(False) + "; " + _below(Fraction(1)),
            mutant=Mutant("<= 0.97 times the sum", lambda: _below(Fraction(97, 100))),
        ),
    ),
    Quibble(
        paper="SVA",
        item="Appendix D, final inequality",
        statement="With eta and delta small enough, (I(V; z) + 1)/log|S| < 1/2 for every S.",
        printed=Printed(
            r"= \frac{\sum_{i \in [n]} I(V; \mathbf{z}_i) + 1}{\log |\mathcal{S}|} < "
            r"\frac{1}{2}$",
            "Appendix D, end of the proof of Theorem 15",
            708,
        ),
        method="enumeration",
        check=lambda: _final(Fraction(0), 2),
        example="""
>>> from math import comb, log2
>>> d, k = 2, 1                        # |S| = 2; even without any information, I = 0:
>>> (0 + 1) / log2(comb(d, k)) < 0.5
False
""",
        extraction="no: it follows from equation (4), printed with + 1",
        note="The bound is about large |S|; smaller ones change constants only.",
        corrected=SVA.verified(
            "Appendix D, final inequality, corrected",
            "It can be had exactly for |S| > 4: I <= 0.16 bit is enough for |S| >= 5, and at |S| "
            "<= 4 not even I = 0.",
            "enumeration",
            **varied(_only_large, Fraction(4, 25), Fraction(17, 100), "I <= 0.17 bit is enough"),
            note="smaller S change constants only: the bound is then of order 1/(epsilon sqrt(n))",
        ),
    ),
    SVA.verified(
        "Appendix D, contradiction",
        "(I + 1)/log|S| < 1/2 contradicts Lemma 21's error probability of at most 1/5: a decoder "
        "as good as that needs more than 1/2, even 4/5.",
        "certified numerics",
        **varied(_contradiction, Fraction(4, 5), Fraction(17, 20), "even 0.85"),
    ),
    SVA.verified(
        "Appendix D, condition on delta",
        "At delta = c epsilon/(n log n) the terms n (delta/epsilon) log(epsilon/delta) "
        "fall as n grows from 10 to 10^100, from 3.36 c to 1.04 c, so the logarithm in the "
        "condition is what they need.",
        "certified numerics",
        **varied(_little_o, Fraction(1), Fraction(9, 10), "delta = c epsilon/(n log(n)^0.9)"),
    ),
    SVA.not_checkable(
        "Appendix D, information per report",
        "I(V; z_i) = O(eta^2 epsilon^2 + (delta/epsilon) log|S| + (delta/epsilon) "
        "log(epsilon/delta)), and eta = min(Theta((1/epsilon) sqrt(log|S|/n)), 1), delta = "
        "o(epsilon/(n log n)) make the sum small.",
        "asymptotic constants; Lemmas 22 and 23 are checked with explicit ones",
    ),
)
