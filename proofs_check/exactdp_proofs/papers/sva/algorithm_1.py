"""SVA, Sections IV-A, IV-B and Appendix C-B: Algorithm 1, line by line, and its privacy."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from math import prod

import numpy as np
from flint import arb

from exactdp.accounting.divergence import hockey_stick, max_loss
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.local import SparseVectorMean
from exactdp.samplers import SeededSource
from exactdp_proofs.comparisons import at_most, equal
from exactdp_proofs.papers.sva._model import (
    Hashes,
    Vector,
    bins,
    distance,
    hashes,
    noisy,
    pairs,
    report,
    sensitivity,
    sparse,
)
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import SVA, as_printed, mutant, weaker

_INPUTS: tuple[Vector, ...] = (
    *sparse(3, 2, (-1, Fraction(-1, 3), 0, Fraction(1, 2), 1))[::9],
    *sparse(3, 3, (1,)),
)


def _estimates(v: Vector, b: int, x: int, family: list[Hashes]) -> list[Fraction]:
    """s(x) B_h(x) for every pair of hash functions of a family, without noise."""
    return [s[x] * bins(v, (h, s), b)[h[x]] for h, s in family]


def _mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


@SVA.holds("Algorithm 1")
@mutant("the first two items share their sign 51 % of the time", alike=Fraction(51, 100))
def algorithm_1(alike: Fraction = Fraction(1, 2)) -> None:
    """With independent uniform h and s, s(x) B_h(x) has mean v_x for every coordinate x and every
    vector, so that the server's average is unbiased (without clipping; the noise is symmetric).
    """
    for v, b in product(_INPUTS, (1, 2, 3)):
        parts = [[f for f in hashes(3, b) if (f[1][0] == f[1][1]) == same] for same in (1, 0)]
        for x in range(3):
            same, other = (_mean(_estimates(v, b, x, part)) for part in parts)
            equal(alike * same + (1 - alike) * other, v[x], b=b, x=x)


@SVA.holds("Algorithm 1", "line 6")
@mutant(factor=Fraction(51, 50))
def line_6(factor: Fraction = Fraction(1)) -> None:
    """Binning contributes exactly (sum over l != x of v_l^2)/b to the variance of one client's
    estimate of v_x.
    """
    for v, b in product(_INPUTS, (1, 2, 3)):
        for x in range(3):
            values = _estimates(v, b, x, hashes(3, b))
            rest = sum((y * y for i, y in enumerate(v) if i != x), Fraction(0))
            variance = _mean([y * y for y in values]) - _mean(values) ** 2
            equal(variance, rest / b * factor, b=b, x=x)


@SVA.holds("Algorithm 1", "line 9", no_mechanism="distances of bins before noise")
@mutant(factor=Fraction(99, 100))
def line_9(factor: Fraction = Fraction(1)) -> None:
    """Without clipping the bins of two inputs are at most as far apart in L1 distance as the
    inputs, and for some h and s as far. So Delta = L, without clipping, gives pure
    epsilon-privacy by Claim 13, also where the text says (epsilon, delta).
    """
    for v, w in pairs(sparse(3, 2, (-1, 0, 1))[::2]):
        equal(sensitivity(v, w, 2), distance(v, w) * factor, L=distance(v, w))


@SVA.note("Algorithm 1", "line 11", severity="unsafe")
@as_printed(noise=False)
@weaker
def line_11(noise: bool = True, loss: Fraction = Fraction(1)) -> None:
    r"""The client sends its clipped bins as they are before noise (tilde), and the message is
    epsilon-LDP.

    Printed (Section IV-A, Algorithm 1, line 11, line 268): Send $(h_i, s_i, \tilde{B}_{i,1},
        \dots, \tilde{B}_{i,b})$ to the server
    Corrected: The client sends the noisy bins (hat), which line 13 uses; then the whole message
        is epsilon-LDP.
    Extraction: likely: Appendix C has a bar for the clipped and a tilde for the noisy bins, here
        they are a tilde and a hat.
    Regime: every input.

    >>> s = (1, 1)                                   # one bin; the signs are sent along
    >>> sent = lambda v: sum(a * b for a, b in zip(s, v))        # the bin before noise
    >>> sent((1, 0)), sent((0, 0))                   # neighbours: told apart with certainty
    (1, 0)
    """
    a, b = Fraction(1, 2), 2  # noise of ratio 1/2: e^epsilon = 2 for inputs at distance 1
    laws = {}
    for v in sparse(2, 2, (0, 1)):
        exact = Law.uniform(hashes(2, b)).map(lambda f: (f, bins(v, f, b)))
        laws[v] = report(v, b, 1 / raised(1 / a, loss), 3) if noise else exact
    for v, w in pairs(list(laws)):
        length = int(distance(v, w))
        delta = hockey_stick(laws[v], laws[w], e_epsilon=a**-length).upper
        at_most(delta, 0, L=length)


@SVA.holds("Algorithm 1", "line 13", ours=True)
@mutant("divided by n + 1/100", more=Fraction(1, 100))
def line_13(more: Fraction = Fraction(0)) -> None:
    """The shipped server, which decodes all items by one Walsh-Hadamard transform, returns what
    line 13 says: the average of s_i(x) times the noisy bin h_i(x) over the n clients.
    """
    vectors = [{0: 1, 3: -1}, {2: Fraction(1, 2)}, {3: 1, 5: Fraction(-1, 3)}, {}]
    for number, seed in product((1, 4), (1, 2)):
        m = SparseVectorMean(d=6, k=2, epsilon=1, level="event", bins=number)
        reports = m.draw_many(vectors, SeededSource(seed))
        functions, values = m.functions_of(reports), m.bins_of(reports)
        users, means = np.arange(len(vectors)), m.aggregate().add(reports).estimate()
        for x in range(m.d):
            place, sign = m.family.places(functions, np.full(len(vectors), x))
            total = Fraction(int((sign * values[users, place]).sum()), m.plan.grid)
            equal(means.exact([x])[0], total / (len(vectors) + more), b=number, x=x)


_RATIOS = (Fraction(1, 2), Fraction(1, 100))
_CASES: tuple[tuple[Vector, Vector, int], ...] = tuple(
    (tuple(Fraction(x) for x in v), tuple(Fraction(x) for x in w), b)
    for v, w, b in (
        ((1, 1), (0, 0), 1),
        ((1, 1), (-1, -1), 1),
        ((1, 0), (0, 1), 2),
        ((1, 1), (0, 0), 2),
        ((1, 0, 1), (0, 1, 0), 1),
    )
)


@SVA.holds("Claim 13")
@weaker
def claim_13(loss: Fraction = Fraction(1)) -> None:
    """If the L1 distance of the bins exceeds Delta with probability at most delta over h and s,
    noise of magnitude Delta/epsilon makes the messages (epsilon, delta)-close.

    Note: the premise is printed with P(distance >= Delta), which is stronger; Claim 19 restates
    it with lambda for Delta, and its last sentence has delta where lambda is meant.
    """
    for (v, w, b), a in product(_CASES, _RATIOS):
        less = 1 / raised(1 / a, loss)
        first, second = report(v, b, less, 3), report(w, b, less, 3)
        family = hashes(len(v), b)
        spread = Law.uniform([distance(bins(v, f, b), bins(w, f, b)) for f in family])
        for far in range(5):
            delta = hockey_stick(first, second, e_epsilon=a**-far).upper
            at_most(delta, spread.probability(lambda x: x > far), b=b, Delta=far, a=a)


@SVA.note("Section IV-B", "bound by L")
@as_printed(own=False)
@mutant(share=Fraction(99, 100))
def bound_by_l(own: bool = True, share: Fraction = Fraction(1)) -> None:
    r"""For fixed h and s the bins of v and v' differ by the sum over j of |sum over l in bin j of
    s(l)(v_j - v'_j)|, which is at most L.

    Printed (Section IV-B, after Claim 13, line 308): \left| \sum_{l \in [d], h(l)=j} s(l)(v_j -
        v'_j) \right|
    Corrected: The inner sum is over s(l)(v_l - v'_l); the result is at most the distance of v
        and v', which is at most L.
    """
    for v, w, b in _CASES:
        for h, s in hashes(len(v), b):
            inner = [Fraction(0)] * b
            for i, j in enumerate(h):
                inner[j] += s[i] * (v[i] - w[i] if own else v[j] - w[j])
            gap = distance(bins(v, (h, s), b), bins(w, (h, s), b))
            equal(gap, sum(map(abs, inner), Fraction(0)), b=b, h=h, s=s)
            at_most(gap, share * distance(v, w), b=b, h=h, s=s)


_CENTRES = tuple(Fraction(x, 2) for x in (-3, 0, 2))


def _mass(centre: Fraction, low: Fraction, high: Fraction) -> arb:
    """P(centre + Lap(1) in [low, high]) through the distribution function."""
    tails = [(x < centre, ball(-abs(x - centre)).exp() / 2) for x in (low, high)]
    first, second = (tail if left else 1 - tail for left, tail in tails)
    return second - first


@SVA.note("Claim 19", "proof, density ratio")
@as_printed(rate=Fraction(1))
@mutant("an exponent 1 % smaller", rate=Fraction(-99, 100))
def density_ratio(rate: Fraction = Fraction(-1)) -> None:
    r"""The density of B + Lap at x over that of B' + Lap is the exponential of
    (epsilon/lambda)(|x - B| - |x - B'|).

    Printed (Appendix C-B, Claim 19, proof, display, line 623): \frac{\prod_{j \in [b]}
        \exp(\frac{\epsilon}{\lambda} \|x - B_j\|)}{\prod_{j \in [b]} \exp(\frac{\epsilon}{\lambda}
        \|x - B'_j\|)}
    Corrected: It is the exponential of (epsilon/lambda)(|x - B'| - |x - B|).
    Extraction: no: the minus sign is missing in three expressions in a row that agree; the final
        bound is symmetric and stands.
    Note: the masses of short intervals decide, whose ratio lies between the extremes of the
        formula on the interval.

    >>> from math import exp                   # scale 1, B = 0, B' = 1, x = 0
    >>> density = lambda y: exp(-abs(y)) / 2
    >>> round(density(0 - 0) / density(0 - 1), 3)
    2.718
    >>> round(exp(abs(0 - 0) - abs(0 - 1)), 3)          # as printed
    0.368
    """
    width, rounding = Fraction(1, 4), Fraction(1, 10**9)
    lows = [*(Fraction(x, 2) for x in (-6, -3, 0, 3, 6)), *(c - Fraction(1, 10) for c in _CENTRES)]
    with precision(80):
        for x, here, there in product(lows, _CENTRES, _CENTRES):
            ratio = _mass(here, x, x + width) / _mass(there, x, x + width)
            turns = [y for y in (here, there) if x < y < x + width]  # linear in between
            ends = [rate * (abs(y - here) - abs(y - there)) for y in (x, x + width, *turns)]
            at_most(min(ends) - rounding, ratio.log(), x=x, B=here, other=there)
            at_most(ratio.log(), max(ends) + rounding, x=x, B=here, other=there)


#: Inputs and b; the first are L = 2k = 14 apart with b = 1, so in the row L >= cube root of k.
_FAR: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
    ((1,) * 7, (-1,) * 7, 1),
    ((0,) * 5, (1,) * 5, 1),
    ((1, 0, -1), (0, 1, -1), 1),
    ((1, 1, 0, 0), (0, -1, 1, 0), 2),
    ((1, 0, 0), (0, 1, 0), 3),
)
#: e^(-epsilon/Delta) of the noise on the bins, so that epsilon is Delta ln 2.
_RATIO = Fraction(1, 2)


@cache
def _bin_loss(x: int, y: int, a: Fraction) -> Fraction:
    """The largest ratio of the laws of one noisy bin around x and around y."""
    return Fraction(max_loss(noisy(x, a, 8), noisy(y, a, 8)))


def _losses(eta: Fraction | None, loss: Fraction) -> Iterator[tuple[int, int, Fraction]]:
    """b, L, and e^loss of the noisy bins, for every fixed h and s."""
    a = 1 / raised(1 / _RATIO, loss)
    for first, second, b in _FAR:
        v, w = (tuple(Fraction(x) for x in vector) for vector in (first, second))
        for f in hashes(len(v), b):
            both = zip(bins(v, f, b, eta), bins(w, f, b, eta), strict=True)
            losses = (_bin_loss(int(x), int(y), a) for x, y in both)
            yield b, int(distance(v, w)), prod(losses, start=Fraction(1))


@SVA.refuted("Section IV-A", "privacy without the computational assumption", severity="cosmetic")
@as_printed(third_row=True)
@mutant("Delta = 0.95 L is enough", twentieths=19)
def assumption(third_row: bool = False, twentieths: int = 20, loss: Fraction = Fraction(1)) -> None:
    r"""In every setting, that h and s are pseudorandom is needed only for measure concentration,
    not for privacy.

    Printed (Section IV-A, after Theorem 12, line 280): As mentioned earlier, the computational
        assumption here is not needed for the privacy but only for measure concentration.
    Corrected: It is true where Delta = L, and for the clipped row, where Delta = 2 eta (Theorems
        1 and 2): for every fixed h and s the loss is at most epsilon.
    Regime: the row L >= cube root of k of Table II: its Delta = 3 sqrt(b L log(2b/delta)) < L
        rests on Lemma 14, which is a concentration over the random h and s.
    Extraction: no: the sentence is complete, and Section I has it, too, of Theorems 1 and 2,
        where it is true.

    >>> from math import log, sqrt
    >>> k, epsilon, delta = 1000, 1, 1e-5
    >>> L, b = 2 * k, 1                             # the best number of bins is at most 1 at L = 2k
    >>> Delta = 3 * sqrt(b * L * log(2 * b / delta))
    >>> round(Delta, 1)
    468.7
    >>> # if s(l) = +1 for all l: a thousand entries from -1 to 1 move the bin by 2000
    >>> round(L * epsilon / Delta, 1)               # privacy loss at the largest ratio
    4.3
    """
    if third_row:
        with precision(80):
            for b, length, worst in _losses(None, loss):
                noise = 3 * (b * length * ball(4 * b).log()).sqrt()  # delta = 1/2
                at_most(ball(worst).log() / ball(2).log(), noise, b=b, L=length)
    for eta in (1, 5):
        for b, length, worst in _losses(Fraction(eta), loss):
            if b == 1:
                at_most(worst, _RATIO ** (-2 * eta), b=b, L=length, eta=eta)
    for b, length, worst in _losses(None, loss):
        at_most(worst**20, _RATIO ** (-length * twentieths), b=b, L=length)


SVA.not_checkable(
    "Section IV-A",
    "Almost t-wise independent functions with t about logarithmic suffice.",
    "cited without proof in footnote 3; no parameters are given",
    "footnote 3",
)
