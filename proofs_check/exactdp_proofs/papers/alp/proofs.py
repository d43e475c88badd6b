"""ALP, Lemmas of Sections 2, 4, 5, 7 and 8: proofs whose steps are decided for all values."""

from __future__ import annotations

import sympy as sp

from exactdp_proofs.comparisons import identity
from exactdp_proofs.polynomials import never_below_zero
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import ALP, mutant, weaker

_ONE = Fraction(1)


def _rational(value: Fraction | int) -> sp.Rational:
    return sp.Rational(str(value))


@ALP.holds("Lemma 2.2")
@mutant(share=Fraction(97, 100))
def lemma_2_2(share: Fraction = _ONE) -> None:
    """Any randomized mapping of the output keeps (epsilon, delta).

    Proof: For an event of the result, let k(x) in [0, 1] be its chance given x. The excess
        sum_x (p - e^epsilon q) k is at most sum_x (p - e^epsilon q)_+ <= delta, term by term.
    Rocq: randomized_mapping
    """
    s, u, v = sp.symbols("s u v", nonnegative=True)
    chance = u / (u + v)
    never_below_zero(0 - (-s) * chance)  # p <= e^epsilon q: the term is at most 0
    never_below_zero(_rational(share) * s - s * chance)


@ALP.holds("Lemma 2.3")
@weaker
def lemma_2_3(loss: Fraction = _ONE) -> None:
    """Independent releases with (e1, d1) and (e2, d2) are together (e1 + e2, d1 + d2)-private.

    Proof: Split P = A + R with A = min(P, e^e1 Q) and R of mass at most d1, and P' = B + S alike.
        Then P P' = A B + A S + R P', where A B <= e^(e1 + e2) Q Q', A S has a mass of at most d2,
        as A <= P, and R P' one of at most d1.
    Rocq: two_releases
    """
    a, r, b, s, t, u = sp.symbols("A R B S t u", nonnegative=True)
    identity((a + r) * (b + s) - a * b - a * s - r * (b + s))
    never_below_zero((a + t) * (b + u) - a * b)  # A <= e^e1 Q and B <= e^e2 Q'
    first, second = sp.symbols("e1 e2", positive=True)
    identity(_rational(loss) * first + _rational(loss) * second - (first + second))


@ALP.holds("Lemma 2.6")
@mutant(most=Fraction(485, 1000))
def lemma_2_6(most: Fraction = Fraction(1, 2)) -> None:
    """E|r - RandRound(r)| = 2 f (1 - f) for the fractional part f, which is at most 1/2, with
    equality at f = 1/2.

    Note: RandRound is f below r with probability 1 - f, else 1 - f above.
    """
    f = sp.Symbol("f", real=True)
    error = (1 - f) * f + f * (1 - f)
    identity(error - 2 * f * (1 - f))
    identity(_rational(most) - error - (1 - 2 * f) ** 2 / 2)


def _moved_within_a_cell(loss: Fraction) -> None:
    """P(a reported bit) times 1 + t is at least its probability after a move by t in its cell."""
    alpha, t, u, v, x, y = sp.symbols("alpha t u v x y", nonnegative=True)
    p = 1 / (_rational(loss) * alpha + 2)
    rest, w = u / (u + v), x / (x + y)  # shares: no other entry sets the bit; the bit is set
    for set_chance in (w, 1 - w):  # the reported bit is 1, or 0
        chance = p + (1 - 2 * p) * set_chance
        never_below_zero(chance - p)
        # moving by t/alpha of the cell changes the set chance by rest t/alpha, up or down
        changed = chance + (1 - 2 * p) * rest * t / alpha
        never_below_zero(chance * (1 + t) - changed)
    identity((1 - 2 * p) / alpha - 1 / (alpha + 2))


@ALP.holds("Lemma 4.1")
@weaker
def lemma_4_1(loss: Fraction = _ONE) -> None:
    """For every sequence of hash functions, Algorithm 2 changes no output probability by more than
    a factor e^(l1 distance), so it is 1-differentially private.

    Proof: A change of x is a sequence of moves of one entry inside one cell, whose lengths t add up
        to the l1 distance. Such a move concerns one bit, which is set with a probability
        w = 1 - (1 - f) rest, f the share of the cell that lies below the entry: w changes by
        rest t/alpha <= t/alpha. The reported bit has a probability of p + (1 - 2p) w >= p, or
        p + (1 - 2p)(1 - w), which changes by at most (1 - 2p) t/alpha = p t, so by a factor of at
        most 1 + t <= e^t. Bits are independent, and factors multiply.
    """
    _moved_within_a_cell(loss)


@ALP.holds("Lemma 4.12")
@weaker
def lemma_4_12(loss: Fraction = _ONE) -> None:
    """Scaling x by epsilon before Algorithm 2 gives the factor e^(epsilon * l1 distance), so
    Algorithm 4 is epsilon-differentially private.

    Proof: The scaled vectors are epsilon times as far apart, and Lemma 4.1 is for every distance.
    """
    epsilon, t = sp.symbols("epsilon t", positive=True)
    identity(_rational(loss) * epsilon * t - epsilon * t)


@ALP.holds("Lemma 4.4")
@mutant(half=Fraction(485, 1000))
def lemma_4_4(half: Fraction = Fraction(1, 2)) -> None:
    """The expected error of an entry at most beta is at most (1/2 + E|y_i - y~_i|) alpha.

    Proof: x = alpha (x/alpha), y rounds x/alpha at random, and the estimate is alpha y~. By the
        triangle inequality |x - alpha y~| <= alpha |x/alpha - y| + alpha |y - y~|; the first mean
        is at most 1/2 (Lemma 2.6), and clamping to [0, beta] moves no estimate away from x.
    """
    a, b = sp.symbols("a b", nonnegative=True)
    never_below_zero((a + (a + b)) - b)  # differences a and -(a + b) of two signs
    alpha, mean, f = sp.symbols("alpha E f", real=True)
    bound = (_rational(half) + mean) * alpha
    identity(
        sp.expand(bound - alpha * (2 * f * (1 - f)) - alpha * mean - alpha * (1 - 2 * f) ** 2 / 2)
    )


def _noise_moves(loss: Fraction) -> None:
    """||v - x'| - |v - x|| <= |x - x'| for every v, in units of 1/epsilon; x < x' without loss."""
    s, u, epsilon = sp.symbols("s u epsilon", nonnegative=True)
    never_below_zero((s + u) - (u - s))  # v = x + s between x and x' = v + u, either way round
    never_below_zero((s + u) - (s - u))
    # v = x - s is outside, x' = x + u: the distance changes by u exactly
    identity(_rational(loss) * epsilon * ((s + u) - s) - epsilon * u)


@ALP.holds("Lemma 5.1")
@weaker
def lemma_5_1(loss: Fraction = _ONE) -> None:
    """Algorithm 6 is epsilon-differentially private: the density of its noisy values depends on x
    by a factor of at most e^(epsilon * l1 distance).

    Proof: The density of v_i is proportional to e^(-epsilon |v_i - x_i|), which changes by at most
        e^(epsilon |x_i - x'_i|), by the triangle inequality; entries are independent, so distances
        add up. To drop values below t is post-processing (Lemma 2.2).
    Note: Step (2) tests the noisy value v_i, as the proof reads it; see Algorithm 6.
    Rocq: laplace_on_entries
    """
    _noise_moves(loss)


@ALP.holds("Lemma 5.2")
@mutant("t = 1.94 ln(d)/epsilon", factor=Fraction(194, 100))
def lemma_5_2(factor: Fraction = Fraction(2)) -> None:
    """With t = 2 ln(d)/epsilon the output of Algorithm 6 is k-sparse with probability at least 1 -
    1/(2d).

    Proof: A zero entry is stored with probability P(Lap(1/epsilon) >= t) = e^(-epsilon t)/2, that
        is d^-2/2; at most d of them, and at most k entries are not zero.
    """
    d, epsilon = sp.symbols("d epsilon", positive=True)
    t = _rational(factor) * sp.log(d) / epsilon
    stored = sp.expand_log(sp.log(d) + (-epsilon * t) + sp.log(sp.Rational(1, 2)))
    identity(sp.expand(stored - (-sp.log(d) - sp.log(2))))


@ALP.holds("Lemma 5.3")
@weaker
def lemma_5_3(loss: Fraction = _ONE) -> None:
    """Algorithm 7 is (epsilon1 + epsilon2)-differentially private.

    Proof: Its two releases draw independent noise. The first is Algorithm 6 for epsilon1 (Lemma
        5.1), the second Algorithm 4 for epsilon2 (Lemma 4.12), on the vector clipped at t, which
        brings no two vectors further apart. Lemma 2.3 adds them up, with d1 = d2 = 0.
    Rocq: threshold_and_sketch
    """
    s, u, first, second = sp.symbols("s u e1 e2", nonnegative=True)
    never_below_zero((s + u) - s)  # from t - s to t + u: s apart once clipped at t
    identity(_rational(loss) * first + _rational(loss) * second - (first + second))


@ALP.holds("Lemma 7.1")
@mutant("the flip probability is 1/(e^epsilon + 2)", shift=2)
def lemma_7_1(shift: int = 1, loss: Fraction = _ONE) -> None:
    """Algorithm 10 is epsilon-differentially private for histograms, with no slack: for every
    sequence of hash functions the largest ratio of neighbours is e^epsilon.

    Proof: One entry that changes by 1 sets or clears one bit, unless another entry sets it. The
        reported bit is right with probability 1 - p and wrong with p = 1/(e^epsilon + 1), so its
        probability changes by (1 - p)/p = e^epsilon or its inverse; all other bits stay.
    Rocq: one_bit_changes
    """
    r = sp.Symbol("r", positive=True)
    p = 1 / (r ** _rational(loss) + shift)
    identity(sp.simplify((1 - p) / p) - r)


@ALP.holds("Lemma 8.1")
@weaker
def lemma_8_1(loss: Fraction = _ONE) -> None:
    """Algorithm 11 is epsilon-differentially private: the density of its noisy maxima depends on x
    by a factor of at most e^(epsilon * l1 distance).

    Proof: The maximum of a row changes by at most the largest change of an entry in the row, so by
        at most their sum; every entry is in one row, so the maxima change by at most the l1
        distance in total. Laplace noise on each row then changes densities as in Lemma 5.1.
    Rocq: noisy_maxima
    """
    x, s, t, u = sp.symbols("x s t u", nonnegative=True)
    # x_i = M - s and |x'_i - x_i| = T - u: x'_i <= x_i + T - u <= M + T
    largest, change = x + s, t + u
    never_below_zero(largest + change - (x + t))
    _noise_moves(loss)


@ALP.holds("Lemma 8.2")
@mutant("at most 1.94/epsilon", factor=Fraction(194, 100))
def lemma_8_2(factor: Fraction = Fraction(2)) -> None:
    """With s >= epsilon |x|_1 rows the expected error of an entry is at most 2/epsilon.

    Proof: The maximum of its row exceeds an entry by at most the sum of the others in the row, each
        there with probability 1/s: on average by |x|_1/s <= 1/epsilon. The mean of |Lap(1/epsilon)|
        is 1/epsilon.
    """
    n, u, epsilon = sp.symbols("n u epsilon", nonnegative=True)  # s = epsilon n + u
    never_below_zero(_rational(factor) / epsilon - 1 / epsilon - n / (epsilon * n + u))
