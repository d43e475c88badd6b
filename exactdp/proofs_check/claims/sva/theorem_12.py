"""SVA, Theorem 12 (main theorem): privacy, error and communication of Algorithm 1."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

from flint import arb

from exactdp.balls import ball, precision
from exactdp.proofs_check.boxes import always_positive
from exactdp.proofs_check.claim import Refuted, require
from exactdp.proofs_check.claims.sva._model import distance, pairs, sensitivity, sparse
from exactdp.proofs_check.claims.sva._tails import (
    at_most,
    laplace_tail,
    least_integer,
    walk_tail,
)
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]


def _asymptotic(constant: int, m: int) -> str:
    """P(error > C (sqrt(k/b) + Delta/epsilon) sqrt(log(d/beta)/n)) <= beta for n = 1.

    b = 1, k = d = 2m, beta = 2^-m, and epsilon so small that sqrt(k/b) <= Delta/epsilon. The noise
    is symmetric, so the error exceeds t Delta/epsilon with probability at least e^-t / 2.
    """
    with precision(80):
        d, minus_log_beta = 2 * m, m * ball(2).log()
        at_most(ball(5 * d).log() + minus_log_beta, d, "the condition nk/b >= log(5d/beta)")
        t = 2 * constant * (ball(d).log() + minus_log_beta).sqrt()
        case = f"n=b=1, k=d={d}, beta=2^-{m}, C={constant}: log P(failure), log beta"
        at_most(-t - ball(2).log(), -minus_log_beta, case)
    return f"C = {constant}"


def _noise(enough: bool) -> str:
    """P(|mean of n Lap(1)| >= sqrt(8 l/n)) <= p where l = log(2/p) <= n (or not)."""
    tried = 0
    with precision(128):
        for n, digits in product((1, 2, 5, 10, 20, 40), (1, 2, 4, 8)):
            p = Fraction(1, 10**digits)
            log = ball(2 / p).log()
            if enough and not _at_least(n, log):
                continue
            tail = laplace_tail(n, (8 * log * n).sqrt())
            at_most(tail, p, f"n={n}, p=1e-{digits}: P(noise too large), p")
            tried += 1
    return f"noise: {tried} cases, exact tail"


def _at_least(n: int, log: arb) -> bool:
    """Whether n >= a ball, certainly."""
    return bool(ball(n) >= log)


def _binning(constant: Fraction) -> str:
    """P(|sum of nk steps| >= c n sqrt(k/b) sqrt(l/n)) <= p where l = log(2/p) <= nk/b."""
    tried = 0
    with precision(80):
        for steps, b, digits in product((4, 20, 60, 120), (1, 2, 5), (1, 2, 4)):
            p = Fraction(1, 10**digits)
            log = ball(2 / p).log()
            if not _at_least(steps, b * log):
                continue
            reach = least_integer(ball(constant) * (ball(Fraction(steps, b)) * log).sqrt())
            found = walk_tail(steps, b, reach)
            require(found <= p, f"nk={steps}, b={b}, p=1e-{digits}: P(binning) = {float(found)}")
            tried += 1
    return f"binning: {tried} cases, exact tail"


def _constant(c: Fraction) -> str:
    """Bernstein at t = c sqrt(k/b) sqrt(l/n), l <= nk/b: exponent/l = (c^2/2)/(1 + (c/3) r)."""
    value = ball(c)
    parts = always_positive(lambda r: value * value / 2 - 1 - value / 3 * r, [(0, 1)])
    return f"Bernstein's exponent covers log(2/p) for all sqrt(lb/(nk)) <= 1, {parts} part(s)"


def _moment() -> str:
    """E exp(s Lap(1)) = 1/(1 - s^2) <= exp(2 s^2) for s^2 <= 1/2; s = t/4: tail e^(-nt^2/8)."""
    # u = s^2: 2u + log(1 - u) is 0 at 0 and has derivative 2 - 1/(1 - u) >= 0 on [0, 1/2]
    parts = always_positive(
        lambda u: 2 * (1 - u) - ball(Fraction(999, 1000)), [(0, Fraction(1, 2))]
    )
    return f"moment bound by its derivative, {parts} part(s)"


def _explicit(c: Fraction, enough: bool) -> str:
    return "; ".join((_noise(enough), _binning(c), _constant(c), _moment()))


def _budget(pieces: tuple[Fraction, ...], most: Fraction) -> str:
    total = sum(pieces, Fraction(0))
    require(total <= most, f"the parts fail with probability up to {total} beta, allowed {most}")
    return f"{' + '.join(str(x) for x in pieces)} = {total} times beta"


def _private(noise_share: Fraction) -> str:
    """Delta = L covers unclipped bins; Delta = 2 eta covers one clipped bin; both for all h, s."""
    one_off = Fraction(1)
    for v, w in pairs(sparse(3, 2, (-1, 0, 1))[::2]):
        gap = distance(v, w)
        require(sensitivity(v, w, 2) <= gap * noise_share, f"{v}, {w}: Delta = {gap * noise_share}")
        clipped = sensitivity(v, w, 1, one_off)
        require(clipped <= 2 * one_off * noise_share, f"{v}, {w}: {clipped} after clipping at 1")
    return "pairs of 2-sparse vectors, every h and s; Lemma 14 covers the remaining row"


def _bits(k: int, noise: Fraction, nb_over_beta: int) -> int:
    """Bits for one discretized bin: integers from floor(-U) to ceil(U), at most 2U + 3 of them."""
    with precision(4096):
        most = 2 * (k + ball(noise) * ball(10 * nb_over_beta).log()) + 3
        return (_ceiling(most) - 1).bit_length()


def _ceiling(value: arb) -> int:
    """The least integer certainly >= a ball that may be huge."""
    whole = value.ceil().unique_fmpz()
    assert whole is not None
    return int(whole)


def _communication(constant: int) -> str:
    """Bits per bin <= C log2 k, for every noise magnitude."""
    k = 4
    for power in (0, 10, 100, 1000):
        found = _bits(k, Fraction(2**power), 100)
        limit = constant * (k.bit_length() - 1)
        require(found <= limit, f"k={k}, Delta/epsilon=2^{power}: {found} bits, C log2 k = {limit}")
    return f"C = {constant}"


def _enough_bits(spare: int) -> str:
    """2^bits values suffice for the integers in [floor(-U), ceil(U)]."""
    for k, power, many in product((1, 4, 100), (0, 3, 40), (1, 1000, 10**9)):
        with precision(256):
            top = _ceiling(k + ball(2**power) * ball(10 * many).log())
        bits = _bits(k, Fraction(2**power), many) + spare
        require(2 * top + 1 <= 2**bits, f"k={k}, nb/beta={many}: {2 * top + 1} values, {bits} bits")
    return "27 combinations of k, Delta/epsilon and nb/beta"


CLAIMS = (
    Refuted(
        paper="SVA",
        item="Theorem 12",
        statement="Whenever nk/b >= log(5d/beta), the L_infinity error of Algorithm 1 is at most "
        "C (sqrt(k/b) + Delta/epsilon) sqrt(log(d/beta)/n) with probability 1 - beta, for one C "
        "(fails only for n < log(d/beta), where the bound exceeds C Delta/epsilon).",
        severity="loose",
        method="certified numerics",
        check=lambda: _asymptotic(10, 2000),
        example="""
>>> from math import log, sqrt
>>> C, m = 10, 2000                          # one client, b = 1, beta = 2^-m
>>> d = k = 2 * m
>>> k >= log(5 * d) + m * log(2)             # the theorem's condition holds
True
>>> t = 2 * C * sqrt(log(d) + m * log(2))    # claimed error / (Delta/epsilon), small epsilon
>>> -t - log(2) > -m * log(2)                # P(noise beyond t)/2 = e^-t / 2 against beta
True
""",
        extraction="no: the condition reads the same in the appendix; it is the noise term, a sum "
        "of n sub-exponential variables, that needs n >= log(d/beta)",
        corrected=SVA.verified(
            "Theorem 12, corrected",
            "If also n >= log(20d/beta) and nk/b >= log(20d/beta), then with l = "
            "log(20d/beta) each coordinate's error is at most 1.8 sqrt(k/b) sqrt(l/n) from binning "
            "and sqrt(8) (Delta/epsilon) sqrt(l/n) from noise, each but for beta/(10d).",
            "certified numerics",
            **varied(partial(_explicit, Fraction(9, 5)), True, False, "without n >= log(20d/beta)"),
            note="moving the final estimates into [-1, 1], as the published code does, also "
            "repairs it for Delta/epsilon >= 1: below n = log(d/beta) the bound exceeds C "
            "Delta/epsilon",
        ),
    ),
    SVA.proved(
        "Theorem 12, binning constant",
        "By Bernstein's inequality the binning error is at most 1.8 sqrt(k/b) sqrt(l/n) "
        "but for probability p, where l = log(2/p) <= nk/b.",
        "interval search",
        **varied(_constant, Fraction(9, 5), Fraction(7, 4), "constant 1.75"),
    ),
    SVA.verified(
        "Theorem 12, privacy",
        "With Table II's Delta, Algorithm 1 is L-neighbouring (epsilon, delta)-LDP: "
        "Delta = L and Delta = 2 eta bound the distance of the bins for every h and s.",
        "enumeration",
        **varied(_private, Fraction(1), Fraction(99, 100), "one percent less noise"),
    ),
    SVA.proved(
        "Theorem 12, failure probability",
        "Binning, clipping and noise fail with at most beta/10 + beta/2 + beta/10 over "
        "all coordinates, and rounding with at most another beta/5: below beta.",
        "enumeration",
        **varied(
            _budget,
            (Fraction(1, 10), Fraction(1, 2), Fraction(1, 10), Fraction(1, 5)),
            (Fraction(1, 10), Fraction(1), Fraction(1, 10), Fraction(1, 5)),
            "with a clipping failure of beta instead of beta/2",
            Fraction(1),
        ),
        note="the appendix concludes with 1 - 5 beta/4, which would not give the theorem; 4 beta/5 "
        "is the sum of the three parts and of the first half of the rounding",
    ),
    Refuted(
        paper="SVA",
        item="Theorem 12, communication",
        statement="The discretized bins take O(b log k) bits per client.",
        severity="loose",
        method="certified numerics",
        check=lambda: _communication(10),
        example="""
>>> from math import log, log2
>>> k, n, beta = 4, 100, 0.1
>>> for epsilon in (1, 2.0**-10, 2.0**-100):         # b = 1, Delta = 2: range of Appendix C-A
...     U = k + 2 / epsilon * log(10 * n / beta)
...     print(round(log2(2 * U + 1)), "bits, log2 k =", round(log2(k)))
6 bits, log2 k = 2
15 bits, log2 k = 2
105 bits, log2 k = 2
""",
        extraction="no: Appendix C-A clips at U = k + (Delta/epsilon) log(10nb/beta), so the count "
        "also grows with log(1/epsilon) and log log(nb/beta)",
        corrected=SVA.verified(
            "Theorem 12, communication, corrected",
            "ceil(log2(2U + 3)) bits per bin suffice, U = k + (Delta/epsilon) log(10nb/beta).",
            "certified numerics",
            **varied(_enough_bits, 0, -1, "one bit fewer"),
        ),
    ),
)
