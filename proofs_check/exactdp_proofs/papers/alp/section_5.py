"""ALP, Section 5: Algorithms 6 to 8, Lemmas 5.1 to 5.5, Theorem 5.10."""

from __future__ import annotations

from itertools import permutations, product
from math import ceil

import sympy as sp
from flint import arb

from exactdp.balls import ball, precision, refine
from exactdp.law import Law
from exactdp.mechanisms.projections import alp as shipped
from exactdp.mechanisms.projections.combined import Combined
from exactdp.mechanisms.projections.combined_sketch import CombinedSketch
from exactdp.mechanisms.projections.thresholds import LargeValues, Threshold, usual_threshold
from exactdp.mechanisms.projections.unary_projection import Sketch
from exactdp.mechanisms.projections.universal_hashing import UniversalHashes
from exactdp.samplers import SeededSource
from exactdp_proofs.boxes import never_negative
from exactdp_proofs.comparisons import at_most, below, equal, identity
from exactdp_proofs.papers.alp._model import (
    distance,
    estimate,
    exp_lower,
    neighbours,
    ratio,
    text,
)
from exactdp_proofs.papers.alp._shipped import combined_laws, literal, read_off, words
from exactdp_proofs.papers.alp._threshold import power, stored
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import ALP, as_printed, fitted, mutant, weaker

_ONE = Fraction(1)


@ALP.note("Algorithm 6", severity="unsafe")
@as_printed(noisy=False)
@mutant("0.98 times that factor", share=Fraction(98, 100))
def algorithm_6(noisy: bool = True, share: Fraction = _ONE) -> None:
    r"""v_i is kept when y_i >= t, which changes the probability of storing an entry by a factor of
    at most e^(epsilon * distance). (y_i is read as in Algorithm 9: the value before noise.)

    Printed (Section 4.3, Algorithm 6, Step (2), line 435): v_i, & \text{if } y_i \geq t \\ 0, &
        \text{otherwise}
    Corrected: The test is v_i >= t, on the noisy value.
    Regime: every epsilon: the test on the value before noise has no privacy. The words around it,
        "truncate entries below t" and "the Laplace mechanism followed by post-processing", say
        what is meant.
    Extraction: possible, a single letter: no y occurs elsewhere in Algorithm 6, and Algorithm 9
        tests "y_i != 0 and v_i >= t".

    >>> t = 2.0
    >>> def stored(x, noise):                  # Step (2) with y = x, the value before noise
    ...     return x >= t
    >>> [stored(2.0, noise) for noise in (-9.0, 0.0, 9.0)]     # neighbours 2 and 3/2: whether the
    [True, True, True]
    >>> [stored(1.5, noise) for noise in (-9.0, 0.0, 9.0)]     # entry is stored tells them apart
    [False, False, False]
    """
    base, t = Fraction(9, 4), Fraction(2)  # e^epsilon
    laws = {}
    for x in (Fraction(n, 2) for n in range(5)):
        chance = stored(x, t, base) if noisy else Fraction(int(x >= t))
        laws[x,] = Law({1: chance, 0: 1 - chance})
    for v, other, gap in neighbours(laws):
        for kept in (1, 0):
            most = share * power(base, gap) * laws[other][kept]
            at_most(laws[v][kept], most, x=v[0], other=other[0], stored=kept)


@ALP.holds("Lemma 5.1", "on instances", ours=True)
@weaker
def lemma_5_1(loss: Fraction = _ONE) -> None:
    """Algorithm 6 is epsilon-differentially private: as shipped on a grid, its law depends on x by
    a factor of at most e^(epsilon * l1 distance).

    Note: Step (2) tests the noisy value v_i, as the proof reads it; see Algorithm 6.
    """
    step = 1 + _shipped(_ONE).noise.rise  # what a step of the grid costs
    at_most(step, exp_lower(_ONE))
    laws = {x: _shipped(loss).law(dict(enumerate(x))) for x in product(range(3), repeat=2)}
    for x, other in permutations(laws, 2):
        most = step ** int(distance(x, other))
        at_most(ratio(laws[x], laws[other]), most, x=x, other=other)


def _shipped(epsilon: Fraction) -> Threshold:
    return Threshold(d=2, k=2, largest=2, epsilon=epsilon, grid=1, t=1)


@ALP.holds("Lemma 5.2", "on instances", ours=True)
@mutant("t = 1.99 ln(d)/epsilon", factor=Fraction(199, 100))
def lemma_5_2(factor: Fraction = Fraction(2)) -> None:
    """With t = 2 ln(d)/epsilon the output of Algorithm 6 is k-sparse with probability at least 1 -
    1/(2d).
    """
    for d, eps in product((2, 3, 10, 100, 300), (Fraction(1, 10), Fraction(3))):
        with precision(128):
            t = ball(factor) * ball(d).log() / ball(eps)
            chance = (-ball(eps) * t).exp() / 2  # P(Lap(1/eps) >= t), Definition 2.4
            at_most(1 - (1 - chance) ** d, Fraction(1, 2 * d), d=d, eps=eps)  # d zero entries


@ALP.holds("Algorithm 7")
@mutant("m = ceil(t epsilon1/alpha)", part=1)
def algorithm_7(part: int = 2) -> None:
    """With t = 2 ln(d)/epsilon1, m = ceil(t epsilon2/alpha) columns are just enough for every entry
    up to t, that is for all that the threshold can drop without help of the noise.
    """
    for d, first, second, alpha in product((2, 100), (1, 3), (1, 3), (1, 5)):
        t = refine(lambda: 2 * ball(d).log() / first).lower  # t is irrational; less by 1e-19
        m = -(-t * (second if part == 2 else first) // alpha)
        mechanism = literal((t + 1) * second, Fraction(alpha))
        entries = [t * n / 40 for n in range(41)]
        largest = max(
            y for x in entries for y, w in mechanism.cells.places(x * second).items() if w
        )
        equal(m, largest, d=d, epsilon1=first, epsilon2=second, alpha=alpha)


@ALP.holds("Algorithm 8")
@mutant("always with the estimate", prefer_stored=False)
def algorithm_8(prefer_stored: bool = True) -> None:
    """The shipped sketch answers with the stored value where there is one, else with the estimate
    of Algorithm 3 from the bits.
    """
    mechanism = Threshold(d=64, k=8, largest=64, epsilon=1, t=8)
    below = shipped.ALP(d=64, k=8, s=20, largest=8, epsilon=1, alpha=3, steps=1)
    vector = {7 * i: 2 * (i + 1) for i in range(8)}  # up to twice the threshold, and 56 zeros
    for seed in range(2):
        source, limited = SeededSource(seed), {i: min(x, 8) for i, x in vector.items()}
        hashes = UniversalHashes.draw(below.levels, 64, 20, source)
        small = Sketch(below, hashes, below.draw(limited, hashes, source))
        released = CombinedSketch(LargeValues(mechanism, mechanism.draw(vector, source)), small)
        large = {i: steps * Fraction(1, 64) for i, steps in released.first.stored}
        for i in range(64):
            stated = min(estimate(_own_bits(small, i)) * below.cells.width, Fraction(8))
            if i in large and prefer_stored:
                stated = large[i]
            equal(released[i], stated, seed=seed, entry=i)


def _own_bits(small: Sketch, i: int) -> list[int]:
    """The bits of entry i, one per hash function; each hash function has 20 rows."""
    keys = small.hashes.keys([i])
    levels = range(small.mechanism.levels)
    places = [20 * b + int(small.hashes.rows(keys, b)[0]) for b in levels]
    return [int(small.bits[place // 8]) >> place % 8 & 1 for place in places]


@ALP.holds("Lemma 5.3", "on instances", ours=True)
@weaker
def lemma_5_3(loss: Fraction = _ONE) -> None:
    """Algorithm 7, as shipped, is (epsilon1 + epsilon2)-differentially private."""
    for first, second in ((Fraction(2), _ONE), (Fraction(1, 2), _ONE)):
        mechanism = Combined(
            large=Threshold(d=1, k=1, largest=3, epsilon=loss * first, grid=1, t=2),
            small=shipped.ALP(d=1, k=1, s=3, largest=2, epsilon=loss * second, alpha=3, steps=1),
        )
        laws = combined_laws(mechanism, [Fraction(n, 2) for n in range(7)])
        for x, other, _ in neighbours(laws):
            worst, most = ratio(laws[x], laws[other]), exp_lower(first + second)
            at_most(worst, most, epsilon1=first, epsilon2=second, x=text(x), other=text(other))


@ALP.holds("Lemma 5.4")
@mutant(constant=Fraction(87, 10))
@fitted(constant=Fraction(89, 10))
def lemma_5_4(constant: Fraction = Fraction(9)) -> None:
    """Bit array and hash functions take O(k log d + log^2 d) bits: as shipped at most 9 (k log2 d
    + log2(d)^2), for d from 2^30 on, alpha = 1, s = 3k and epsilon1 = epsilon2.

    Note: the O(k log(d + u)) bits of the thresholded vector are cited, their probability is under
        Lemma 5.2.

    Needs: the shipped sizes as functions of all d, k and epsilon, bounded by calculus.
    """
    for log_d, k, eps in product((30, 64, 129, 300), (1, 10, 1000), (Fraction(1, 2), Fraction(4))):
        t = usual_threshold(2**log_d, eps, Fraction(1, 2**20))
        mechanism = literal(t * eps, _ONE, k, 3 * k, 2**log_d)
        bits = mechanism.layout.size + words(mechanism.levels, 2**log_d)
        at_most(bits, constant * (k * log_d + log_d**2), log_d=log_d, k=k, eps=eps)


@ALP.holds("Lemma 5.5")
@mutant(first=Fraction(98, 100))
def lemma_5_5(first: Fraction = _ONE) -> None:
    """The expected error of an entry is at most 1/epsilon1 + C/epsilon2, for every entry and
    threshold, with C/epsilon2 the error of the projection for entries up to beta (Lemma 4.14).
    """
    a, c = sp.symbols("a c", positive=True)  # a = |beta - x|, c = C/epsilon2, epsilon1 = 1
    tail = sp.exp(-a) / 2
    beyond = (a + 1) * tail  # the integral of t e^-t/2 from a on
    identity(sp.diff(beyond, a) + a * tail)
    # at x = beta - a the error is c (1 - tail) + beyond; 1 + c exceeds it by 1 - g/2 + c tail with
    # g = (a + 1) e^-a in [0, 1]
    never_negative([first, Fraction(-1, 2)], 0, 1)
    over = (a + c) * tail + (1 - beyond)  # at x = beta + a, where E|noise| = 1
    identity(over - (1 - tail) - c * tail)
    # 1 + c - over = e/2 + c (1 - e/2) with e = e^-a
    never_negative([1, Fraction(-1, 2)], 0, 1)
    never_negative([first - 1, Fraction(1, 2)], 0, 1)


def _half_line(w: Fraction, c: Fraction) -> arb:
    """The integral of (|h| + c) e^-|h|/2 over h < w."""
    size = ball(abs(w))
    tail = (-size).exp() / 2 * (size + 1 + ball(c))
    return tail if w <= 0 else 1 + ball(c) - tail


@ALP.refuted("Lemma 5.5", "proof, integration limits", severity="cosmetic")
@as_printed(from_x=True, factor=10**6)
@mutant("with 0.9 c for c on the right", factor=Fraction(9, 10))
def integration_limits(from_x: bool = False, factor: Fraction | int = 1) -> None:
    r"""With constants c and c' for the two O(1/epsilon2), (max(0, x - beta) + c) P(Lap < beta - x)
    is less than the integral over v < beta - x of (|v - x| + c') times the density at v - x.

    Printed (Section 5, Lemma 5.5, proof, fourth line of the display, line 511): &<
        \int_{-\infty}^{\beta - x_i} (|v - x_i| + O(1/\varepsilon_2)) \cdot \frac{\varepsilon_1}{2}
        e^{-|v - x_i|\varepsilon_1} dv
    Corrected: With the limit beta, or beta - x for the noise as variable, it holds with c' = c.
    Regime: x well above 1/epsilon1: the printed limit loses a factor that grows like e^x, so no
        constant makes up for it.
    Extraction: no: the limit beta - x occurs in four integrals, beside the integrand |v - x|.

    >>> from math import exp
    >>> for x in (5, 10, 20):                          # = beta; eps1 = c = c' = 1; P(Lap < 0) = 1/2
    ...     left = (max(0, x - x) + 1) * 0.5
    ...     w = (x - x) - x                            # v < beta - x means noise v - x < w = -x
    ...     right = exp(w) / 2 * (abs(w) + 1 + 1)      # integral of (|h| + 1) e^-|h|/2 over h < w
    ...     print(f"{left / right:.2g}")               # no constant bounds the quotient
    21
    1.8e+03
    2.2e+07
    """
    for x, beta, c in product(range(21), (1, 5, 20), (Fraction(1), Fraction(10))):
        gap = Fraction(beta - x)
        with precision(64):
            size = (-ball(abs(gap))).exp() / 2
            left = ball(max(Fraction(0), -gap) + c) * (size if gap < 0 else 1 - size)
            right = _half_line(gap - x if from_x else gap, factor * c)
            below(left, right, x=x, beta=beta, c=c)


@ALP.refuted("Lemma 5.5", "proof, largest estimate", severity="cosmetic")
@as_printed(steps=Fraction(0))
@mutant("beta + 0.97 alpha/epsilon", steps=Fraction(97, 100))
def largest_estimate(steps: Fraction = _ONE) -> None:
    r"""The output of Algorithm 5 is at most beta, whatever the bits are.

    Printed (Section 5, Lemma 5.5, proof, last paragraph, line 517): the output of the Algorithm
        5 is at most β
    Corrected: It is at most beta + alpha/epsilon, which the order of the maximum error absorbs.
    Regime: beta epsilon/alpha is not an integer, and u > beta, so that restricting estimates to
        [0, u] does not help.
    Extraction: no: the sentence is complete.

    >>> from math import ceil
    >>> alpha, eps, beta = 3, 1, 1
    >>> m = ceil(beta * eps / alpha)
    >>> m * alpha / eps                    # the estimate when all m bits are one
    3.0
    """
    betas, alphas = map(Fraction, ("3", "3.01", "2.5")), (Fraction(1), Fraction(2))
    for beta, eps, alpha in product(betas, (1, 2), alphas):
        m = literal(beta * eps, alpha).levels
        largest = max(read_off(bits) for bits in product((0, 1), repeat=m)) * alpha / eps
        at_most(largest, beta + steps * alpha / eps, beta=beta, eps=eps, alpha=alpha)


@ALP.holds("Lemma 5.5", "maximum error")
@mutant("0.95 beta for beta", threshold=Fraction(19, 20))
def maximum_error(threshold: Fraction = _ONE) -> None:
    """Whatever the bits are, every entry errs by at most beta + alpha/epsilon2 plus the size of its
    Laplace noise.

    Note: with the maximum of the noise, Proposition 2.5, the expected maximum error is at most
        (2 ln d + 1 + ln d)/epsilon1 + alpha/epsilon2.
    """
    noises = [Fraction(n, 2) for n in range(-10, 11)]
    for unit, beta, x, eta in product((Fraction(1, 2), Fraction(12, 5)), (3, 5), range(12), noises):
        v = x + eta
        answers = [v] if v >= beta else [g * unit for g in range(ceil(beta / unit) + 1)]
        worst = max(abs(x - answer) for answer in answers)
        at_most(worst, threshold * beta + unit + abs(eta), beta=beta, unit=unit, x=x, noise=eta)


@ALP.holds("Section 5", "constant factors")
@mutant(least=Fraction(121, 10))
def constant_factors(least: Fraction = Fraction(12)) -> None:
    """The Laplace mechanism has the lower constant: the bound for the projection without
    collisions, (1/2 + 2 (4 alpha + 4)/alpha^2) alpha, is at least 12, with equality at alpha = 4.
    """
    a = sp.symbols("alpha", positive=True)
    bound = (sp.Rational(1, 2) + 2 * (4 * a + 4) / a**2) * a
    identity(bound - sp.Rational(str(least)) - (a - 4) ** 2 / (2 * a))


@ALP.holds("Theorem 5.10")
@mutant("1.99 log2 d columns", factor=Fraction(199, 100))
def theorem_5_10(factor: Fraction = Fraction(2)) -> None:
    """For d >= 2, alpha = 1 and epsilon1 = epsilon2 the access reads at most 2 log2 d columns as
    shipped.

    Note: privacy is under Lemma 5.3, space under Lemmas 5.2 and 5.4, the error of an entry under
        Lemma 5.5.

    Needs: the ceilings of m bounded for every d >= 2 and epsilon, not for those listed.
    """
    for bits in (1, 2, 3, 10, 64, 1000):
        t = usual_threshold(2**bits, _ONE, Fraction(1, 2**20))
        at_most(literal(t, _ONE).levels, factor * bits, log_d=bits)


@ALP.holds("Theorem 5.10", "maximum error")
@mutant(constant=Fraction(56, 10))
def theorem_5_10_maximum(constant: Fraction = Fraction(57, 10)) -> None:
    """The expected maximum error, at most beta + alpha/epsilon2 + (1 + 1/2 + ... + 1/d)/epsilon1 by
    Lemma 5.5 and Proposition 2.5, is at most 5.7 ln(d)/epsilon1 for d >= 2, alpha = 1, epsilon1 =
    epsilon2 and beta = t = 2 ln(d)/epsilon1.
    """
    for exponent in (1, 2, 3, 6, 10):
        harmonic = sum((Fraction(1, n) for n in range(1, 2**exponent + 1)), Fraction(0))
        with precision(64):
            log_d = exponent * ball(2).log()
            at_most(2 * log_d + 1 + ball(harmonic), ball(constant) * log_d, log_d=exponent)
