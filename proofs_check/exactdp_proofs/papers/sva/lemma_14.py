"""SVA, Lemma 14: binning squeezes the L1 distance to 3 sqrt(b L log(2b/delta))."""

from __future__ import annotations

from collections import Counter
from itertools import product

from flint import arb

from exactdp.balls import ball, precision
from exactdp_proofs.boxes import never_negative
from exactdp_proofs.comparisons import at_most, equal
from exactdp_proofs.papers.sva._model import bins, hashes
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import SVA, as_printed, fitted, mutant

_DELTAS = (Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**5))
#: b, and |v_l - v'_l| of the coordinates.
_CASES = (
    *((1, (2,) * 20), (1, (1,) * 30), (1, (2,) * 60), (1, (2,) * 116)),
    *((2, (2,) * 10), (2, (1, 2) * 6), (3, (2,) * 7)),
)


def _exceeds(steps: tuple[int, ...], b: int, threshold: arb) -> Fraction:
    """P(sum over bins of |difference| > threshold), over every h and s."""
    ways: Counter[tuple[int, ...]] = Counter({(0,) * b: 1})
    for step in steps:
        grown: Counter[tuple[int, ...]] = Counter()
        for state, number in ways.items():
            for j, sign in product(range(b), (-1, 1)):
                grown[(*state[:j], state[j] + sign * step, *state[j + 1 :])] += number
        ways = grown
    heavy = sum(number for state, number in ways.items() if sum(map(abs, state)) > threshold)
    return Fraction(heavy, (2 * b) ** len(steps))


@SVA.holds("Lemma 14", "on instances", ours=True)
@mutant(constant=Fraction(7, 4))
@fitted(constant=Fraction(9, 5))
def lemma_14(constant: Fraction = Fraction(3)) -> None:
    """For L-neighbouring v, v' with L/b >= log(2b/delta), the bins differ by more than
    3 sqrt(b L log(2b/delta)) in total with probability at most delta.
    """
    with precision(80):
        for (b, steps), delta in product(_CASES, _DELTAS):
            length, log = sum(steps), (2 * b / ball(delta)).log()
            if arb(length) >= b * log:
                threshold = ball(constant) * (b * length * log).sqrt()
                at_most(_exceeds(steps, b, threshold), delta, b=b, L=length, delta=delta)


@SVA.holds(
    "Lemma 14", "without its condition", ours=True, no_mechanism="distances of bins before noise"
)
@mutant(constant=Fraction(99, 100))
@fitted(constant=Fraction(1))
def without_condition(constant: Fraction = Fraction(3)) -> None:
    """The condition is not needed: for L <= b log(2b/delta) the threshold is at least L, which
    the difference never exceeds. So the last row but one of Table II is private there, too.
    """
    never_negative([constant**2, -1], 0, 1)  # (threshold/L)^2 = constant^2/r, r = L/(b log)


@SVA.note("Lemma 14", "proof, second moment")
@as_printed(signed=True)
@mutant(factor=Fraction(199, 100))
def second_moment(signed: bool = False, factor: Fraction = Fraction(2)) -> None:
    r"""E[Z_l^2] = (v_l - v'_l)^2/b <= (2/b)(v_l - v'_l), for every v_l and v'_l.

    Printed (Section IV-B, Lemma 14, proof, line 316): $\mathbf{E}[Z_l^2] = \frac{1}{b}(v_l -
        v'_l)^2 \leq \frac{2}{b}(v_l - v'_l)$
    Corrected: Z_l is +-(v_l - v'_l) with probability 1/(2b) each, and E[Z_l^2] =
        (v_l - v'_l)^2/b <= (2/b)|v_l - v'_l|.
    Extraction: possible: two bars lost, though those of the lemma's sums are kept.
    """
    for b, u in product((1, 2, 3, 5), (Fraction(x, 4) for x in range(-8, 9))):
        # one bin of a vector whose only entry is u/2, against one of -u/2
        differences = [bins((u / 2,), f, b)[0] - bins((-u / 2,), f, b)[0] for f in hashes(1, b)]
        if u:
            equal([2 * b * differences.count(z) for z in (u, -u)], [len(differences)] * 2, b=b, u=u)
        square = sum(z * z for z in differences) / len(differences)
        equal(square, u * u / b, b=b, u=u)
        at_most(square, factor / b * (u if signed else abs(u)), b=b, u=u)


@SVA.note("Lemma 14", "proof, Bernstein's exponent")
@as_printed(widest=Fraction(7, 5))
@mutant(least=Fraction(23, 20))
def exponent(least: Fraction = Fraction(9, 8), widest: Fraction = Fraction(1)) -> None:
    r"""With t = 3 sqrt(mu log(2b/delta)) and mu >= log(b/delta), Bernstein's exponent
    (9/2) mu/(2 mu + 2 sqrt(mu log(2b/delta))) is at least 9/8.

    Printed (Section IV-B, Lemma 14, proof, line 320): Using the condition that $\mu =
        \frac{L}{b} \geq \log(b/\delta)$
    Corrected: It is for mu >= log(2b/delta), which the lemma assumes.
    Regime: at b/delta = 2, r = sqrt(log(2b/delta)/mu) reaches sqrt(2) > 7/5.

    >>> from math import log, sqrt
    >>> mu, log2 = log(2), log(4)               # b = 1, delta = 1/2
    >>> 4.5 * mu / (2 * mu + 2 * sqrt(mu * log2)) >= 9 / 8
    False
    """
    # the exponent is (9/2)/(2 + 2r)
    never_negative([Fraction(9, 2) - 2 * least, -2 * least], 0, widest)
