"""ALP, Lemmas 4.4, 4.7, 4.8, 4.14, Theorem 4.16 and Section 4.3: expected errors."""

from __future__ import annotations

from functools import cache
from itertools import product

import sympy as sp

from exactdp.balls import ball, precision
from exactdp_proofs.comparisons import at_most, below, identity
from exactdp_proofs.papers.alp._model import (
    constant,
    entry_law,
    estimate_law,
    exp_lower,
    flip,
    hit_chance,
    mean_distance,
    neighbours,
    projection_law,
    rates,
    ratio,
    round_law,
    spread,
    text,
)
from exactdp_proofs.papers.alp._shipped import HASH, literal, words
from exactdp_proofs.papers.alp._walk import furthest, last_return_bounds, peak_law
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import ALP, as_printed, fitted, mutant, weaker

_ONE, _HALF = Fraction(1), Fraction(1, 2)

#: alpha, k/s with bounds of Lemma 4.7 below 8 columns: no estimate satisfies them by itself.
_CASES = tuple(product(map(Fraction, (3, 10, 100)), (Fraction(0), Fraction(1, 10))))


@cache
def _entry_error(x: Fraction, alpha: Fraction, m: int, collision: Fraction) -> Fraction:
    return entry_law(x, alpha, m, collision).expectation()


@ALP.holds("Lemma 4.4", "on instances", ours=True)
@mutant(half=Fraction(49, 100))
def lemma_4_4(half: Fraction = _HALF) -> None:
    """The expected error of an entry at most beta is at most (1/2 + E|y_i - y~_i|) alpha."""
    collisions = (Fraction(0), Fraction(1, 5))
    for alpha, collision in product(map(Fraction, (1, 3, 1000)), collisions):
        for part in (Fraction(n, 4) for n in range(0, 24, 3)):
            error = _entry_error(alpha * part, alpha, 6, collision)
            wrong = rates(alpha, collision)
            inner = sum(w * mean_distance(y, 6, *wrong) for y, w in round_law(part).items())
            bound = (half + inner) * alpha
            at_most(error, bound, alpha=alpha, collision=collision, levels=part)


@ALP.holds("Lemma 4.7")
@mutant(share=Fraction(49, 100))
@fitted(share=_HALF)
def lemma_4_7(share: Fraction = _ONE) -> None:
    """E|y_i - y~_i| <= (4 alpha + 4)/alpha^2 + (4 gamma + 4)/gamma^2 for y_i <= m, with independent
    hash functions in the columns.

    Note: half of the bound suffices because the estimate is the average of the maximizers, while
        the proof bounds the distance to the furthest one.

    Needs: Lemmas 4.5 and 4.6 for all p, and monotonicity of the error in each bit's chance
        (coupling).
    """
    for (alpha, collision), y in product(_CASES, range(9)):
        wrong = rates(alpha, collision)
        bound = share * sum(spread(1 / chance - 2) for chance in wrong)
        at_most(mean_distance(y, 8, *wrong), bound, alpha=alpha, collision=collision, y=y)


@ALP.holds("Lemma 4.7", "independent columns", ours=True)
@mutant(factor=Fraction(129, 100))
@fitted(factor=Fraction(128, 100))
def independent_columns(factor: Fraction = _ONE) -> None:
    """The columns need independent hash functions: with one function for all of them the mean error
    can exceed the bound.

    Note: the text says "a sequence of universal hash functions".
    """
    alpha, collision = Fraction(100), Fraction(1, 20)
    p = flip(alpha)
    # what collides once, collides in every column
    error = (1 - collision) * mean_distance(0, 8, p, p) + collision * mean_distance(0, 8, p, 1 - p)
    bound = sum(spread(1 / chance - 2) for chance in rates(alpha, collision))
    at_most(factor * bound, error)


@ALP.refuted("Lemma 4.7", "proof, conditional expectations", severity="cosmetic")
@as_printed(conditional=True)
@mutant("0.68 times that", share=Fraction(68, 100))
@fitted(share=Fraction(70, 100))
def conditional_expectations(conditional: bool = False, share: Fraction = _ONE) -> None:
    r"""E[y_i - y_bar | y_bar <= y_i] <= (4 alpha + 4)/alpha^2 for the furthest maximizer y_bar.

    Printed (Section 4.2, Lemma 4.7, proof, first display, line 316): \mathbb{E}[y_i - \bar{y}_i
        \mid \bar{y}_i \leq y_i] \leq \frac{4(p-p^2)}{(1-2p)^2}
    Corrected: Without the condition, E(y_i - y_bar)+ <= (4 alpha + 4)/alpha^2 and E(y_bar - y_i)+
        <= (4 gamma + 4)/gamma^2, which is what Equation (4.1) needs.
    Regime: k = 100, s = 201, alpha = 20, y_i = 4, m = 12. The 99 other entries collide with
        probability at most 99/s by the union bound of the proof.
    Extraction: no: both conditional expectations are printed again in the last display of the
        proof.

    >>> from itertools import accumulate, product
    >>> p, c, y, m = 1 / 22, 99 / 201, 4, 12             # alpha = 20, k = 100, s = 201
    >>> wrong = [p] * y + [p + c * (1 - 2 * p)] * (m - y)     # chance that a bit is wrong
    >>> mean = mass = 0
    >>> for flips in product((0, 1), repeat=m):
    ...     steps = [(1 if b < y else -1) * (1 - 2 * e) for b, e in enumerate(flips)]
    ...     f = list(accumulate(steps, initial=0))
    ...     bar = max((n for n in range(m + 1) if f[n] == max(f)), key=lambda n: (abs(n - y), n))
    ...     if bar <= y:                                 # ties in distance go to the right
    ...         w = 1
    ...         for e, r in zip(flips, wrong): w *= r if e else 1 - r
    ...         mass, mean = mass + w, mean + w * (y - bar)
    >>> mean / mass > (4 * 20 + 4) / 20**2
    True
    """
    alpha, y, beyond = Fraction(20), 4, 8
    for collision, tie_left in product((Fraction(99, 201), Fraction(0)), (True, False)):
        p, q = rates(alpha, collision)
        mean = mass = after = Fraction(0)
        for (top, back), w in peak_law(p, y).items():
            for (other, ahead), v in peak_law(q, beyond).items():
                nearer = back >= ahead if tie_left else back > ahead or back == ahead == 0
                if top > other or (top == other and nearer):
                    mean, mass = mean + w * v * back, mass + w * v
                else:
                    after += w * v * ahead
        case = {"collision": collision, "ties_to_the_left": tie_left}
        at_most(after, spread(1 / q - 2), **case)
        at_most(mean / mass if conditional else mean, share * spread(alpha), **case)


@ALP.note("Lemma 4.7", "proof, second case")
@as_printed(beyond=False)
@mutant(share=Fraction(72, 100))
@fitted(share=Fraction(73, 100))
def second_case(beyond: bool = True, share: Fraction = _ONE) -> None:
    r"""A similar argument bounds y_bar - y_i when y_i >= y_bar.

    Printed (Section 4.2, Lemma 4.7, proof, after the first display, line 318): We can use a
        similar argument when $y_i \geq \bar{y}_i$
    Corrected: It is for y_bar >= y_i: with rates p up to y_i and q = 1/(gamma + 2) beyond, the
        one-sided distances to the furthest maximizer have means at most 4 (p - p^2)/(1 - 2p)^2
        and 4 (q - q^2)/(1 - 2q)^2 on their sides.
    Extraction: possible, one relation sign; the display after it conditions on y_bar >= y_i.
    """
    for alpha, collision in ((Fraction(10), Fraction(2, 5)), (Fraction(5), Fraction(1, 3))):
        p, q = rates(alpha, collision)
        for rate, bound in ((p, spread(alpha)), (q, spread(1 / (q if beyond else p) - 2))):
            at_most(furthest(rate, 24), share * bound, alpha=alpha, collision=collision, rate=rate)


@ALP.holds("Lemma 4.7", "proof, hash collisions")
@mutant(one=Fraction(49, 50))
def hash_collisions(one: Fraction = _ONE) -> None:
    """A column beyond y_i is reported as one with probability at most (1 - k/s) p + k/s (1 - p) =
    (1 + alpha k/s)/(alpha + 2).

    Note: the text has "(1 + alpha k/s)/9 alpha + 20" for the last fraction.
    """
    for alpha, k, s in product(map(Fraction, (1, 3, 10)), (1, 2), (5, 6)):
        p, hit = flip(alpha), hit_chance(k, s)
        at_most(hit, Fraction(k, s), k=k, s=s)
        bound = (one + alpha * Fraction(k, s)) / (alpha + 2)
        at_most((1 - hit) * p + hit * (1 - p), bound, alpha=alpha, k=k, s=s)


@ALP.holds("Lemma 4.7", "proof, value of gamma")
@mutant("minus 1 in place of minus 2", shift=1)
def value_of_gamma(shift: int = 2) -> None:
    """1/(gamma + 2) = (1 + alpha k/s)/(alpha + 2) gives the stated gamma = alpha (1 - 2 k/s)/(1 +
    alpha k/s), positive if and only if s > 2k; and 4 (p - p^2)/(1 - 2p)^2 = (4 alpha + 4)/alpha^2.
    """
    a, c = sp.symbols("alpha c", positive=True)
    g, p = (a + 2) / (1 + a * c) - shift, 1 / (a + 2)
    identity(4 * (p - p**2) / (1 - 2 * p) ** 2 - (4 * a + 4) / a**2)
    identity(1 / (g + 2) - (1 + a * c) / (a + 2))
    identity(g - a * (1 - 2 * c) / (1 + a * c))


@ALP.holds("Equation (4.1)")
@mutant(share=Fraction(72, 100))
@fitted(share=Fraction(73, 100))
def equation_4_1(share: Fraction = _ONE) -> None:
    """The mean distances of the furthest maximizers of both walks add up to the expected error at
    least, and each is at most the mean of the last nonnegative step of an infinite walk.

    Note: with one-sided means for the conditional ones, see Lemma 4.7, proof, conditional
        expectations.
    """
    for (alpha, collision), y in product(_CASES, range(9)):
        p, q = rates(alpha, collision)
        both = furthest(p, y) + furthest(q, 8 - y)
        at_most(mean_distance(y, 8, p, q), both, alpha=alpha, collision=collision, y=y)
    for p in (Fraction(1, 10), Fraction(1, 5)):
        at_most(furthest(p, 36), share * last_return_bounds(p, 36)[0], p=p)


@ALP.holds("Lemma 4.8")
@mutant(share=Fraction(98, 100))
def lemma_4_8(share: Fraction = _ONE) -> None:
    """E|x_i - x~_i| <= max(0, x_i - beta) + C with C = (1/2 + (4 alpha + 4)/alpha^2 + (4 gamma +
    4)/gamma^2) alpha.

    Needs: Lemma 4.7 over its whole domain; the step from there is the triangle inequality.
    """
    for alpha, collision in product(map(Fraction, (20, 1000)), (Fraction(0), Fraction(1, 100))):
        for x in (alpha * Fraction(n, 4) for n in (*range(0, 45, 2), 1001)):
            error = _entry_error(x, alpha, 8, collision)
            bound = max(Fraction(0), x - 8 * alpha) + share * constant(alpha, collision)
            at_most(error, bound, alpha=alpha, collision=collision, beta=8 * alpha, x=x)


@ALP.holds("Lemma 4.14")
@mutant("0.99 times the first term", excess=Fraction(99, 100))
def lemma_4_14(excess: Fraction = _ONE) -> None:
    """Algorithm 5 has E|x_i - x~_i| <= max(0, x_i - beta) + C/epsilon with the constant C of Lemma
    4.8, and reads m = ceil(beta epsilon/alpha) bits.

    Needs: Lemma 4.8 over its whole domain, scaled by epsilon.
    """
    alpha, collision = Fraction(20), Fraction(1, 100)
    for eps, quarters in product((Fraction(1, 10), Fraction(5)), (*range(0, 45, 4), 1001)):
        beta, x = 8 * alpha / eps, quarters * alpha / eps / 4
        m = literal(beta * eps, alpha).levels
        error = _entry_error(x * eps, alpha, m, collision) / eps
        bound = excess * max(Fraction(0), x - beta) + constant(alpha, collision) / eps
        at_most(error, bound, eps=eps, beta=beta, x=x)


@ALP.conditional("Lemma 4.2")
@mutant("for beta >= 0.49 alpha", least=Fraction(49, 100))
def lemma_4_2(least: Fraction = _ONE) -> None:
    """For beta >= alpha and d from 2^30 on, the array and the hash functions as shipped take at
    most 2 (s + 6.5 log2 d) beta/alpha bits, which is O((s + log d) beta/alpha).

    Condition: beta = Omega(alpha): a smaller beta still costs one column.
    """
    for log_d in (31, 32, 33, 63, 64, 65, 129, 1000, 4096):  # d up to 2^log_d, one less at least
        at_most(words(1, 2**log_d), HASH * (log_d - 1), log_d=log_d)
    sizes, logs = ((1, 3), (10**4, 40000)), (30, 64, 129, 4096)
    for alpha, step, (k, s), log_d in product((_HALF, Fraction(3)), range(20), sizes, logs):
        beta = alpha * (least + Fraction(step**2, 100))
        mechanism = literal(beta, alpha, k, s, 2**log_d)
        bound = 2 * (s + HASH * log_d) * beta / alpha
        bits = mechanism.layout.size + words(mechanism.levels, 2**log_d)
        at_most(bits, bound, alpha=alpha, s=s, log_d=log_d, step=step)


@ALP.conditional("Lemma 4.13")
@mutant("for beta epsilon >= 0.49", least=Fraction(49, 100))
def lemma_4_13(least: Fraction = _ONE) -> None:
    """For beta epsilon >= 1, alpha = 1 and s = 3k the output of Algorithm 4 as shipped takes at
    most (6 k + 13 log2 d) beta epsilon bits, which is O((k + log d) beta epsilon).

    Condition: beta epsilon = Omega(1): one column is the least.
    """
    for step, k, log_d in product(range(20), (1, 10**4), (30, 129)):
        scaled = least + Fraction(step**2, 100)  # beta epsilon
        mechanism = literal(scaled, _ONE, k, 3 * k, 2**log_d)
        bits = mechanism.layout.size + words(mechanism.levels, 2**log_d)
        at_most(bits, 2 * (3 * k + HASH * log_d) * scaled, k=k, log_d=log_d, step=step)


@ALP.conditional("Theorem 4.16")
@mutant(least=Fraction(49, 100))
def theorem_4_16(least: Fraction = _ONE) -> None:
    """With beta = u, alpha = 1, s = 4k and u epsilon >= 1 the shipped algorithm reads at most 2 u
    epsilon columns and takes at most (8 k + 13 log2 d) u epsilon bits.

    Condition: u epsilon = Omega(1) for Algorithm 4. For smaller u epsilon the algorithm must be the
        one that answers 0, which is off by at most u < 1/epsilon.
    Note: the error is under Lemma 4.14.
    """
    for step, k, log_d in product(range(32), (1, 10**4), (30, 129)):
        scaled = least + Fraction(step, 8)  # u epsilon
        mechanism = literal(scaled, _ONE, k, 4 * k, 2**log_d)
        bits = mechanism.layout.size + words(mechanism.levels, 2**log_d)
        at_most(bits, 2 * (4 * k + HASH * log_d) * scaled, k=k, log_d=log_d, step=step)
        at_most(mechanism.levels, 2 * scaled, step=step)


@ALP.holds("Section 4.3", "flip probability 1/(epsilon + 2)")
@weaker
def unscaled_privacy(loss: Fraction = _ONE) -> None:
    """Without scaling and with p = 1/(epsilon + 2) the projection is epsilon-differentially
    private.
    """
    grid = [(Fraction(n, 4),) for n in range(7)]
    for eps in (Fraction(1, 10), _ONE, Fraction(4)):
        laws = {v: projection_law(v, ((0,), (0,)), 1, _ONE, flip(loss * eps)) for v in grid}
        for v, w, gap in neighbours(grid):
            worst = ratio(laws[v], laws[w])
            at_most(worst, exp_lower(eps * gap), eps=eps, v=text(v), w=text(w))


@ALP.note("Section 4.3", "error of flip probability 1/(epsilon + 2)")
@as_printed(rounding=Fraction(0))
@mutant(rounding=Fraction(49, 100))
def unscaled_error(rounding: Fraction = _HALF) -> None:
    r"""Without collisions the expected error of that variant is at most (8 epsilon + 8)/epsilon^2.

    Printed (Section 4.3, first paragraph, line 378): the expected per-entry error would be bounded
        by $(8\varepsilon + 8)/\varepsilon^2$ by Equation 4.1 (without considering hash collisions)
    Corrected: It is at most 1/2 + (8 epsilon + 8)/epsilon^2, and for integers without the 1/2:
        Equation (4.1) bounds the distance to the rounded value.
    Regime: large epsilon. The sentence is about small epsilon, where 1/2 is nothing beside
        8/epsilon^2; its point, O(1/epsilon^2), stands.
    Extraction: no: the sentence is complete.

    >>> eps = 100
    >>> x = 0.5                       # rounded to 0 or 1; all peaks have the same parity, so the
    >>> guesses = [0, 1, 2, 3]        # average of peaks is 0 or at least 1: the error is >= 0.5
    >>> min(abs(x - g) for g in guesses) > (8 * eps + 8) / eps**2
    True
    """
    for eps, x in product(map(Fraction, (2, 10, 100, 1000)), (_HALF, Fraction(2))):
        law = round_law(x).then(lambda y: estimate_law(y, 4, 1 / (eps + 2), 1 / (eps + 2)))
        bound = (8 * eps + 8) / eps**2 + (rounding if x.denominator > 1 else 0)
        at_most(law.expectation(lambda e: abs(x - e)), bound, eps=eps, x=x)


@ALP.holds(
    "Section 4.3",
    "other flip probabilities",
    no_mechanism="it names flip probabilities that are not private",
)
@mutant(share=Fraction(93, 100))
def other_flip_probabilities(share: Fraction = Fraction(92, 100)) -> None:
    """Every flip probability that makes the unscaled projection epsilon-differentially private is
    at least 1/(e^epsilon + 1), and for those and epsilon <= 1 the bound of Equation (4.1) is at
    least 0.92 times 8/epsilon^2: no choice of p avoids the order 1/epsilon^2.

    Note: the text names no choices; this covers all of them.
    """
    for base in (Fraction(11, 10), Fraction(3, 2), Fraction(27, 10)):  # e^epsilon
        laws = [
            projection_law((v,), ((0,),), 1, _ONE, Fraction(99, 100) / (base + 1))
            for v in (Fraction(0), _ONE)
        ]
        below(base, ratio(laws[1], laws[0]), e_epsilon=base)
    p = sp.symbols("p", positive=True)
    bound = 8 * (p - p**2) / (1 - 2 * p) ** 2  # rises with p < 1/2, as its slope is
    identity(sp.diff(bound, p) - 8 / (1 - 2 * p) ** 3)
    b = sp.symbols("b", positive=True)
    identity(bound.subs(p, 1 / (b + 1)) - 8 * b / (b - 1) ** 2)
    # over 8/epsilon^2 that is (epsilon/(2 sinh(epsilon/2)))^2, a power series in the denominator
    # with positive coefficients: least at epsilon = 1
    with precision(64):
        half = ball(_HALF)
        at_most(share, 1 / (half.exp() - (-half).exp()) ** 2)
