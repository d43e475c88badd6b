"""SVA, Theorem 12 with Sections IV-C and IV-D and Appendix C: utility and communication."""

from __future__ import annotations

from functools import partial
from itertools import product
from math import floor
from typing import Any

from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.local import SparseVectorMean
from exactdp.local.sparse.probability_ratio import worst_ratio
from exactdp.samplers import exact_law, random_rounding
from exactdp_proofs.boxes import never_negative
from exactdp_proofs.comparisons import agree, at_most, below, equal
from exactdp_proofs.papers.sva._model import (
    bins,
    distance,
    hashes,
    noisy,
    pairs,
    sensitivity,
    sparse,
)
from exactdp_proofs.papers.sva._tails import laplace_tail, least_integer, walk_tail
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import SVA, as_printed, fitted, mutant

SVA.not_checkable(
    "Theorem 12",
    "The error is O((sqrt(k/b) + Delta/epsilon) sqrt(log(d/beta)/n)) with probability 1 - beta.",
    "asymptotic. Its constants are parts of this entry; the failures of binning (beta/10), "
    "clipping (beta/2), noise (beta/10) and transmission (beta/5) add up to less than beta",
)


@SVA.holds("Theorem 12", "constant of the binning error")
@mutant(constant=Fraction(178, 100))
def binning_constant(constant: Fraction = Fraction(179, 100)) -> None:
    """By Bernstein's inequality the binning error of a coordinate is at most 1.79 sqrt(k/b)
    sqrt(l/n) but for probability p, where l = log(2/p) <= nk/b.

    Note: the theorem assumes nk/b >= log(5d/beta), with p = beta/(10d) this needs log(20d/beta).
    """
    # the exponent is l (constant^2/2)/(1 + (constant/3) r), with r = sqrt(l b/(nk)) <= 1
    never_negative([constant**2 / 2 - 1, -constant / 3], 0, 1)


@SVA.conditional("Theorem 12", "constant of the noise error")
@mutant(square=Fraction(212, 100) ** 2)
@fitted(square=Fraction(213, 100) ** 2)
def noise_constant(square: Fraction = Fraction(8)) -> None:
    """The mean of n noises is at most sqrt(8) (Delta/epsilon) sqrt(l/n) but for probability p,
    where l = log(2/p).

    Condition: n >= l, as a sum of n sub-exponential variables needs. One client at p = 1e-4
        exceeds the bound more often. The theorem asks for nk/b >= log(5d/beta) only.
    """
    with precision(128):
        few = Fraction(1, 10**4)
        below(few, laplace_tail(1, (8 * ball(2 / few).log()).sqrt()), n=1, p=few)
        for n, digits in product((1, 2, 5, 10, 20, 40), (1, 2, 4, 8)):
            p = Fraction(1, 10**digits)
            log = ball(2 / p).log()
            if ball(n) >= log:
                at_most(laplace_tail(n, (ball(square) * log * n).sqrt()), p, n=n, p=p)


@SVA.holds("Theorem 12", "proof, moment of the noise", ours=True)
@mutant("for s^2 <= 0.51", widest=Fraction(51, 100))
def noise_moment(widest: Fraction = Fraction(1, 2)) -> None:
    """E exp(s Lap(1)) = 1/(1 - s^2) is at most exp(2 s^2) for s^2 <= 1/2. By Markov's inequality
    at s = sqrt(l/(2n)) that gives the constant sqrt(8) of the noise error for every n >= l.
    """
    # 2u + log(1 - u), u = s^2, is 0 at 0 and has the derivative (1 - 2u)/(1 - u)
    never_negative([1, -2], 0, widest)


@SVA.conditional("Theorem 12", "communication")
@mutant(constant=Fraction(149, 100))
def communication(constant: Fraction = Fraction(3, 2)) -> None:
    """The b noisy bins of a report as shipped, on integers, take at most 1.5 b log2 k bits, at
    event level and epsilon = 1, for k from 64 to 16384.

    Condition: (Delta/epsilon) log(nb/beta) is polynomial in k; the size also grows with
        log(1/epsilon) and log log(nb/beta).
    """
    for digits in range(6, 15, 2):
        k = 1 << digits
        basic: dict[str, Any] = {"d": 10**5, "k": k, "epsilon": 1, "level": "event", "grid": 1}
        m = SparseVectorMean(**basic, bins=k // 4)
        noise_bits = m.bits - sum((size - 1).bit_length() for size in m.family.sizes)
        at_most(noise_bits, constant * m.plan.bins * digits, k=k, b=m.plan.bins)


@SVA.note("Section IV-C", "binning error")
@as_printed(own_sign=False)
@mutant(share=Fraction(99, 100))
def binning_error(own_sign: bool = True, share: Fraction = Fraction(1)) -> None:
    r"""The binning error of one client is the sum over l != x of Y_l = [h(l) = h(x)] v_l s(x).

    Printed (Section IV-C, Binning error, line 330): $Y_{i,l} = \mathbb{I}[h_i(l) = h_i(x)]
        v_{i,l} s_i(x)$ as the error introduced by coordinate $l \neq x$
    Corrected: Y_l = [h(l) = h(x)] v_l s(l) s(x), as in Appendix C-C.
    Extraction: hardly: the sketch lacks the factor that Algorithm 1 has.

    >>> v, s = (0, 1), (1, -1)               # one bin; x is the first item, l the second
    >>> s[0] * (s[0] * v[0] + s[1] * v[1]) - v[0], v[1] * s[0]      # the error, and as printed
    (-1, 1)
    """
    v = (Fraction(1), Fraction(-1, 2), Fraction(1, 3))
    for b in (1, 2, 3):
        for (h, s), x in product(hashes(3, b), range(3)):
            error = s[x] * bins(v, (h, s), b)[h[x]] - v[x]
            parts = [
                v[i] * (s[i] if own_sign else 1) * s[x] for i in range(3) if i != x and h[i] == h[x]
            ]
            equal(error, share * sum(parts), b=b, h=h, s=s, x=x)


@SVA.holds("Section IV-C", "colliding coordinate")
@mutant(share=Fraction(51, 100))
def colliding(share: Fraction = Fraction(1, 2)) -> None:
    """Each other coordinate contributes v_l and -v_l with probability 1/(2b) each, so E[Y_l^2] =
    v_l^2/b (Appendix C-C).
    """
    for b, sign in product((1, 2, 3), (-1, 1)):
        family = hashes(2, b)
        many = sum(h[0] == h[1] and s[0] * s[1] == sign for h, s in family)
        equal(Fraction(many, len(family)), share / b, b=b, sign=sign)


@SVA.holds("Section IV-C", "clipping error")
@mutant(share=Fraction(27, 100))
@fitted(share=Fraction(28, 100))
def clipping_error(share: Fraction = Fraction(1, 2)) -> None:
    """At eta = sqrt(2k log(4nb/beta)) no bin of any client is clipped, but for probability
    beta/2.
    """
    settings = product((1, 3, 5, 20, 80), (1, 3), (1, 100), (Fraction(1, 2), Fraction(9, 10)))
    with precision(80):
        for k, b, n, beta in settings:
            reach = least_integer((2 * k * ball(4 * n * b / beta).log()).sqrt())
            at_most(n * b * walk_tail(k, b, reach), share * beta, k=k, b=b, n=n, beta=beta)


@SVA.note("Section IV-C", "error as a minimum")
@as_printed(added=True)
@mutant(share=Fraction(101, 100))
def minimum(added: bool = False, share: Fraction = Fraction(1)) -> None:
    r"""With Delta = min(L, 3 sqrt(b L log(2b/delta))) the error factor sqrt(k/b) + Delta/epsilon
    is f1(b) + f2(b).

    Printed (Section IV-C, Selecting the number of bins, line 340): The error can be rewritten as
        $\min(f_1(b) + f_2(b)) \cdot \tilde{O}(\frac{1}{\sqrt{n}})$
    Corrected: It is min(f1(b), f2(b)). The sum is at least L/epsilon, for every b, and the text
        goes on to better errors.
    Extraction: possible: a comma read as a plus sign.
    """
    with precision(80):
        for k, length, b in product((8, 1000), (2, 30, 2000), (1, 4, 50)):
            tail = 3 * (b * length * ball(2 * b * 10**5).log()).sqrt()  # delta = 1e-5, epsilon = 1
            spread = ball(Fraction(k, b)).sqrt()
            both = (spread + length, spread + tail)
            stated = sum(both) if added else both[0].min(both[1])
            agree(spread + ball(length).min(tail), ball(share) * stated, k=k, L=length, b=b)


@SVA.note("Section IV-C", "f1")
@as_printed(multiple=Fraction(1))
@mutant(multiple=Fraction(199, 100))
def f1(multiple: Fraction = Fraction(2)) -> None:
    r"""f1(b) = sqrt(k/b) + L/epsilon is least at b = epsilon^2 k/L^2, with value L/epsilon.

    Printed (Section IV-C, Selecting the number of bins, line 340): Optimizing $f_1(b)$, the
        optimal b is $b_1^* = \frac{\epsilon^2 k}{L^2}$ and $f_1(b_1^*) = \frac{L}{\epsilon}$.
    Corrected: f1 decreases towards L/epsilon; b = epsilon^2 k/L^2 makes both terms equal and f1 =
        2L/epsilon, twice the infimum.
    Extraction: no: the value L/epsilon and the word optimal are used twice. As orders of magnitude
        both stand.

    >>> from math import sqrt
    >>> k, L, epsilon = 64, 2, 1
    >>> f1 = lambda b: sqrt(k / b) + L / epsilon
    >>> best = epsilon**2 * k / L**2
    >>> f1(best), L / epsilon
    (4.0, 2.0)
    >>> f1(4 * best)                         # more bins are better: f1 has no minimum
    3.0
    """
    settings = ((64, 2, Fraction(1)), (100, 5, Fraction(1, 2)), (9, 3, Fraction(3)))
    with precision(80):
        for k, length, epsilon in settings:
            first = epsilon**2 * k / length**2
            value, after = (ball(k / b).sqrt() + length / ball(epsilon) for b in (first, 4 * first))
            below(after, value, k=k, L=length, epsilon=epsilon)
            agree(value, ball(multiple * length / epsilon), k=k, L=length, epsilon=epsilon)


@SVA.holds("Section IV-C", "threshold")
@mutant("when L^3.1 < k", tenths=31)
def threshold(tenths: int = 30) -> None:
    """Up to logarithms and epsilon b = k/L^2 bins err less than b = sqrt(k/L) bins exactly when
    L < k^(1/3): the cases of Table II switch there.
    """
    with precision(80):
        for k, length in product(range(1, 600, 7), range(1, 12)):
            if length**3 == k:
                continue  # both choices are the same
            choices = ball(Fraction(k, length**2)), ball(Fraction(k, length)).sqrt()
            few, many = ((k / b).sqrt() + (b * length).sqrt().min(ball(length)) for b in choices)
            low, high = (few, many) if length**tenths < k**10 else (many, few)
            below(low, high, k=k, L=length)


@SVA.holds(
    "Section IV-D",
    "sensitivity after clipping",
    no_mechanism="distances of bins before noise",
)
@mutant("by 1.98 eta", share=Fraction(99, 100))
def after_clipping(share: Fraction = Fraction(1)) -> None:
    """One bin clipped at eta moves by at most 2 eta between any inputs, so Delta = 2 eta is
    (epsilon, 0)-private at user level; the most it moves is exactly min(2 eta, 2k).
    """
    halves = [(k, Fraction(x, 2)) for k, xs in ((1, (10,)), (2, (1, 2, 3, 4, 10))) for x in xs]
    for k, eta in (*halves, (3, Fraction(2))):
        inputs = sparse(k, k, (-1, 0, 1))
        largest = max(sensitivity(v, w, 1, eta) for v, w in pairs(inputs))
        equal(largest, min(2 * eta * share, Fraction(2 * k)), k=k, eta=eta)


@SVA.holds("Appendix C-A", "DSC")
@mutant(shift=Fraction(1, 100))
def discretized(shift: Fraction = Fraction(0)) -> None:
    """Rounding down or up with probability by the fractional part, as shipped, is unbiased and
    moves the value by less than 1.
    """
    for x in (Fraction(i, 7) for i in range(-20, 21)):
        law = exact_law(partial(random_rounding, x))
        below(max(abs(y - x) for y in law), 1, x=x)
        equal(law.expectation(), x + shift, x=x)


_THIRD = Fraction(1, 3)


def _report(v: tuple[Fraction, ...], signs: tuple[int, ...]) -> Law[int]:
    """One bin: the rounded entries with their signs, and geometric noise of ratio 1/3."""
    sums: Law[int] = Law.point(0)
    for value, sign in zip(v, signs, strict=True):
        low = floor(value)
        part = Law({sign * low: 1 - (value - low), sign * (low + 1): value - low})
        sums = sums.product(part).map(sum)
    return sums.then(lambda centre: noisy(centre, _THIRD, 4))


def _rounding_cost(k: int, length: Fraction) -> Fraction:
    """The largest ratio of two reports about two items at most this L1 distance apart."""
    largest = Fraction(0)
    vectors = sparse(2, k, [Fraction(i, 4) for i in range(-4, 5)])
    for signs in ((1, 1), (1, -1)):  # the others mirror these
        laws = [(v, _report(v, signs)) for v in vectors]
        for (v, p), (w, q) in product(laws, laws):
            if distance(v, w) <= length:
                largest = max(largest, *(p[y] / q[y] for y in p))
    return largest


def _stated_cost(k: int, length: Fraction) -> Fraction:
    s, off = 1 / _THIRD, length % 1
    parts = [off + i for i in range(floor(length) + 1) if off + i <= k]
    return max(s ** int(length - f) * (1 + (s - 1) * f / k) ** k for f in parts)


@SVA.holds("Appendix C-A", "rounding before the noise", ours=True, slow=True)
@mutant("no more than s^L", accounted=False)
def rounding_before(accounted: bool = True) -> None:
    """Rounding k entries at random to a grid before the noise, where the noise loses log s per
    unit, costs a change of length L exactly a factor max over F of s^(L - F) (1 + (s - 1) F/k)^k,
    F <= min(L, k) with L - F whole, as the shipped code accounts for: more than s^L.

    Note: the paper rounds after the noise, which costs nothing. A computer draws noise on a grid,
        so that values have to be rounded first.
    """
    for k, length in product((1, 2), (Fraction(1, 2), Fraction(3, 2))):
        cost = _rounding_cost(k, length)
        equal(worst_ratio(_THIRD, length, k), cost, k=k, L=length)
        square = _stated_cost(k, length) ** 2 if accounted else (1 / _THIRD) ** int(2 * length)
        equal(cost**2, square, k=k, L=length)


@SVA.refuted("Appendix C-C", "Bernstein's inequality", severity="cosmetic")
@as_printed(half=Fraction(1))
@mutant(half=Fraction(63, 100))
def bernstein(half: Fraction = Fraction(1, 2)) -> None:
    r"""P(|binning error| >= t) <= 2 exp(-(nt)^2/(variance + nt/3)), with variance <= nk/b.

    Printed (Appendix C-C, second display, line 639): \leq 2 \exp \left(- \frac{(nt)^2}{\frac{nk}{b}
        + \frac{1}{3}nt} \right)
    Corrected: P(|binning error| >= t) <= 2 exp(-(1/2)(nt)^2/(variance + nt/3)).
    Regime: already one client with one other item in one bin. The constant of t = Theta(...)
        in the next step absorbs it.
    Extraction: no: the exponent is printed three times without the 1/2, while the proof of Lemma
        14 has it.

    >>> from math import comb, exp
    >>> round(2 * exp(-1 / (1 + 1 / 3)), 3)      # one client, one other item, b = 1: |sum| is 1
    0.945
    >>> # and for 100 other items in one bin, |sum| >= 20:
    >>> tail = 2 * sum(comb(100, j) for j in range(60, 101)) / 2**100
    >>> round(tail, 4), round(2 * exp(-20**2 / (100 + 20 / 3)), 4)
    (0.0569, 0.047)
    """
    with precision(80):
        for steps, b in (*product((2, 10, 40, 400), (1, 4)), (40, 40)):
            for x in range(1, steps + 1):
                exponent = -half * x * x / (Fraction(steps, b) + Fraction(x, 3))
                at_most(walk_tail(steps, b, x), 2 * ball(exponent).exp(), nk=steps, b=b, nt=x)


@SVA.holds("Appendix C-C", "sub-Gaussian tail")
@mutant(square=Fraction(9, 10))
def sub_gaussian(square: Fraction = Fraction(1)) -> None:
    """P(|B_j| >= eta) <= 2 exp(-eta^2/(2k)) for a bin of k ones, by its exact law."""
    with precision(80):
        for k, b in product((1, 10, 40, 400), (1, 2)):
            for x in range(1, k + 1):
                bound = 2 * ball(-Fraction(x * x) / (2 * square * k)).exp()
                at_most(walk_tail(k, b, x), bound, k=k, b=b, eta=x)
