"""CP, Theorem 3.4 and Corollary 3.4.1: the error bound and the numbers of samples from it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement, product

from exactdp.balls import ball
from exactdp_proofs.boxes import always_positive, never_negative
from exactdp_proofs.comparisons import at_most
from exactdp_proofs.papers.cp._model import (
    HIGH_PRIVACY,
    TANH_HALF,
    Columns,
    Vector,
    channel,
    counts,
    deviation,
    dot,
    image,
    instances,
    measured,
    minus,
    output,
    plus,
    projection,
    scaled,
    square,
    tail,
    weights,
    x_coth,
)
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CP, as_printed, fitted, mutant


def _outcomes(e: Fraction) -> Iterator[tuple[Columns, int, Vector]]:
    """Matrix, value of all users, and what the server may see.

    Two or three columns of six signs (repeats allowed) with 2 to 4 of them +1: beta is at most 1/3,
    which P1 allows for e^epsilon = 2. Seen are the law of a report (the limit of many) and every
    empirical law of two; last a law at which the wrong value fits as well.
    """
    sets = [c for c in product((1, -1), repeat=6) if 2 <= plus(c) <= 4]
    for k, step in ((2, 150), (3, 8000)):
        for columns in list(combinations_with_replacement(sets, k))[::step]:
            for x in range(k):
                yield columns, x, output(columns, e, _point(x, k))
                for tally in counts(2, 6):
                    yield columns, x, tuple(Fraction(c, 2) for c in tally)
    first, second = (1,) * 20 + (-1,) * 20, (-1,) + (1,) * 20 + (-1,) * 19
    middle = 1 + dot(first, second) / 40
    y = [(a + b) / middle for a, b in zip(first, second, strict=True)]
    yield (first, second), 1, tuple((1 + v * (e - 1) / (e + 1)) / 40 for v in y)


def _point(x: int, k: int) -> Vector:
    return tuple(Fraction(int(j == x)) for j in range(k))


def _recover_one(columns: Columns, y: Vector) -> Vector:
    """sqrt(m) y to the 1-sparse f with the least |y - Bf|, by trying every position."""
    fits = [dot(c, y) / len(y) for c in columns]
    best = max(range(len(fits)), key=lambda x: (abs(fits[x]), -x))
    return scaled(fits, _point(best, len(fits)))


@CP.note("Theorem 3.4", severity="unsafe")
@as_printed(order=1)
@mutant("97 % of the bound", share=Fraction(97, 100))
@fitted(slope=Fraction(0))
def theorem_3_4(
    order: int = 2, slope: Fraction = Fraction(1, 2), share: Fraction = Fraction(1)
) -> None:
    r"""If P1 holds, and P2 with order 2s, the l2 error for s-sparse p is at most
    (1 + beta/2) D |e_1 + e_2|_2. Checked for s = 1 and recovery by trial, with D = 2/(1 - delta).

    Printed (Section 2, property P2, a premise of Theorem 3.4, line 91): satisfies (s, δ) -RIP,
        where s is the target sparsity and $\delta \leq 1/\sqrt{2}$.
    Corrected: P2 must be RIP of order 2s, as in Lemma 1.2, which the proof applies. With order s
        two values may have the same set. For the random matrices of Theorem 3.6 the order 2s costs
        constants only.
    Extraction: no: P2 and the theorem say s.

    >>> from fractions import Fraction as F
    >>> e, column = F(2), (1, -1)                  # both values have the same set, of size m/2
    >>> laws = [[(e if sign == 1 else 1) / (e + 1) for sign in column] for value in (1, 2)]
    >>> sum(F(sign * sign, 2) for sign in column)  # |B x| = |x| for 1-sparse x: (1, 0)-RIP
    Fraction(1, 1)
    >>> laws[0] == laws[1] # (1, 0) and (0, 1) give the same reports: no error bound below sqrt(2)/2
    True
    """
    e = Fraction(2)
    for columns, x, seen in _outcomes(e):
        pairs = combinations(columns, 2) if order == 2 else ()
        # the least |Bx|^2/|x|^2 is 1 for order 1 (columns are units), and 1 - |g| for order 2
        low = 1 - max((abs(dot(a, b)) / len(a) for a, b in pairs), default=Fraction(0))
        if low < Fraction(86, 1000):  # (1 - 1/sqrt(2))^2 = 0.0857...
            continue
        d, p, y = weights(columns, e), _point(x, len(columns)), measured(seen, e)
        noise = square(minus(y, image(columns, scaled(d, p)))) / len(columns[0])
        f = _recover_one(columns, y)
        estimate = projection([a / b for a, b in zip(f, d, strict=True)])
        most = share**2 * (1 + slope * deviation(columns)) ** 2 * 4 / low * noise
        at_most(square(minus(p, estimate)), most, columns=columns, value=x, seen=seen)


@CP.refuted("Theorem 3.4", "proof, first display", severity="cosmetic")
@as_printed(power=-1)
@mutant("the tail does not grow", power=0)
def first_display(power: int = 1) -> None:
    r"""Scaling by D' changes the tail by at most max_i d'_i: |p' - [p']_s|_1 <= max_i d'_i
    |p - [p]_s|_1.

    Printed (Section 3, Theorem 3.4, proof, first display, line 211): \leq \max_i \frac{1}{d'_i}
        \cdot \frac{C}{\sqrt{s}} \|p - [p]_s\|_1
    Corrected: The factor is max d'_i; the theorem then holds with C enlarged by 2.5 %.
    Regime: sets of unequal sizes.
    Extraction: no: the next sentence bounds max 1/d'_i as well; p' = D'p is scaled by d'_i.

    >>> from fractions import Fraction as F
    >>> e, m, sizes = F(27, 10), 6, (3, 2)         # beta = 1/3 <= eps/2 = 0.497
    >>> d = [m * (e + 1) / 2 / (n * e + m - n) for n in sizes]
    >>> p = [F(9, 10), F(1, 10)]                   # s = 1: the tail is the second entry
    >>> d[1] * p[1] > max(1 / w for w in d) * p[1]
    True
    >>> d[1] > 1 + F(1, 3) / 2                     # nor is it within 1 + beta/2
    True
    """
    for columns, e, p in instances(HIGH_PRIVACY[2:]):  # P1: beta <= 1/3 <= epsilon/2
        d = weights(columns, e)
        for s in range(1, len(p)):
            most = max(w**power for w in d) * tail(p, s)
            at_most(tail(scaled(d, p), s), most, e=e, s=s, p=p)


@CP.holds("Theorem 3.4", "factor of the tail term", ours=True)
@mutant("by 2 %", constant=Fraction(102, 100))
def factor_of_the_tail_term(constant: Fraction = Fraction(1025, 1000)) -> None:
    """The factor (1 + beta t)/(1 - beta t) that the corrected proof gives the tail is at most
    1.025 (1 + beta/2)^2 for beta <= epsilon/2 <= 1/2, t = tanh(epsilon/2): C grows by 2.5 %.
    """
    always_positive(
        lambda b, t: ball(constant) * (1 + b / 2) ** 2 * (1 - b * t) - (1 + b * t),
        [(0, Fraction(1, 2)), (0, TANH_HALF)],
    )


@CP.conditional("Corollary 3.4.1", rests_on="CP-Theorem-3.4")
@mutant("n = 52 D^2 m/(epsilon alpha)^2", samples=52)
def corollary_3_4_1(samples: int = 53) -> None:
    """For s-sparse p, epsilon <= 1, beta <= epsilon/2 and beta <= alpha/(4D), the bound of Theorem
    3.4 gives expected l2 error alpha with n = 53 D^2 m/(epsilon alpha)^2 samples.

    Condition: P2 of order 2s; for the l1 error also the corrected last display, with n =
        4 * 53 D^2 s m/(epsilon alpha)^2.
    """
    # beta <= alpha/(4D) bounds the first part by alpha/2, beta <= epsilon/2 the outer factor
    half, root = ball(Fraction(1, 2)), ball(samples).sqrt()
    always_positive(lambda eps: 1 - (1 + eps / 4) * (half + 2 * x_coth(eps / 2) / root), [(0, 1)])


@CP.refuted("Corollary 3.4.1", "proof, bound on the first term", severity="cosmetic")
@as_printed(outer=Fraction(2), inner=Fraction(1, 4))
@mutant("1.2 in place of 5/4", outer=Fraction(12, 10))
def bound_on_the_first_term(
    outer: Fraction = Fraction(5, 4), inner: Fraction = Fraction(1, 2)
) -> None:
    r"""With beta <= alpha/(4D) and beta <= epsilon/2 <= 1/2 the first error term is at most
    (5/4)(alpha/2 + (3D/epsilon) sqrt(m/n)).

    Printed (Section 3, Corollary 3.4.1, proof, line 221): The first term is bounded by
        $2(\frac{\alpha}{4} + \frac{3D}{\varepsilon} \sqrt{\frac{m}{n}})$.
    Corrected: The factor 1 + beta/2 belongs to both summands; O(m/(epsilon alpha)^2) absorbs it.
    Regime: beta near alpha/(4D) and large n.
    Extraction: no: beta <= alpha/(4D) stands in statement and proof.

    >>> from fractions import Fraction as F
    >>> D, alpha = 1, F(2, 5)
    >>> beta = alpha / (4 * D)                # 1/10; let n go to infinity
    >>> (1 + beta / 2) * 2 * D * beta         # the first term of Theorem 3.4
    Fraction(21, 100)
    >>> 2 * (alpha / 4)                       # the printed bound
    Fraction(1, 5)
    """
    # the coefficient of sqrt(m/n), over D/epsilon; and of alpha, for beta from 0 to 1/2
    always_positive(lambda eps: 3 * ball(outer) - (1 + eps / 4) * 2 * x_coth(eps / 2), [(0, 1)])
    never_negative([outer * inner - Fraction(1, 2), -Fraction(1, 4)], 0, Fraction(1, 2))


def _recovered() -> Iterator[tuple[Vector, Vector]]:
    """Pairs (p, f): a distribution and an s-sparse, unprojected recovery on its heavy entries."""
    for k, s in product((3, 8, 60), (1, 2)):
        p = tuple(Fraction(int(j < s), s) for j in range(k))
        for share in (Fraction(1, 2), Fraction(9, 10), Fraction(5, 4)):
            yield p, tuple(share * v for v in p)
    for k, slack in product((11, 1001), (Fraction(1, 10), Fraction(1, 4))):
        half = k // 2
        left = (slack / half,) * half + (Fraction(0),) * half
        yield (1 - slack, *left), (1 - slack, *[Fraction(0)] * (k - 1))
        yield (1 - slack, *left), (1 - slack, *left[::-1])


@CP.refuted("Corollary 3.4.1", "proof, last display", severity="cosmetic")
@as_printed(factor=Fraction(2), tails=1)
@mutant("sqrt(3.9 s)", factor=Fraction(39, 10))
def last_display(factor: Fraction = Fraction(4), tails: int = 2) -> None:
    r"""For every distribution p_hat, |p - p_hat|_1 <= 2 sqrt(s)|p - p_hat|_2 + 2|p - [p]_s|_1.

    Printed (Section 3, Corollary 3.4.1, proof, display, line 223): \|p - \hat{p}\|_1 &= \|p -
        \hat{p}\|_2 + \|(p - \hat{p}) - [p - \hat{p}]_{2s}\|_1 \\ &\leq \sqrt{2s} \|p - \hat{p}\|_2
        + \alpha.
    Corrected: The recovered vector is s-sparse, but its projection p_hat need not be. No sparsity
        of p_hat is needed for the bound above. Constants only: the l2 target for l1 error alpha is
        alpha/(2 sqrt(s)).
    Regime: recovered vectors with a total below 1, to which the projection adds equal shares.
    Extraction: no for the constant: Algorithm 1 projects after recovery. The display's first
        equality also has |p - p_hat|_2 where only the l1 norm of the 2s largest entries fits.

    >>> from fractions import Fraction as F
    >>> f = [F(1, 2), 0, 0]                        # 1-sparse; its projection onto the simplex
    >>> p_hat = [F(2, 3), F(1, 6), F(1, 6)]        # (equal shifts of 1/6) has three entries
    >>> [a - b for a, b in zip(p_hat, f)] == [F(1, 6)] * 3 and sum(p_hat) == 1
    True
    >>> h = [a - b for a, b in zip(p_hat, [1, 0, 0])]
    >>> sum(map(abs, h)) ** 2 <= 2 * 1 * sum(v * v for v in h)
    False
    """
    for p, f in _recovered():
        h = minus(projection(f), p)
        for s in (1, 2):
            rest = max(sum(map(abs, h), Fraction(0)) - tails * tail(p, s), Fraction(0))
            at_most(rest**2, factor * s * square(h), k=len(p), s=s, tail=tail(p, s))


@CP.holds("Corollary 3.4.1", "certificate of a support", ours=True)
@mutant("9/10 of the bound", share=Fraction(9, 10))
def certificate_of_a_support(share: Fraction = Fraction(1)) -> None:
    """For every vector u with <u, b_x> <= h on a set S and <= c < h elsewhere, b_x being the
    centred columns of equation (2), the share of the values outside S is at most
    (h - <u, q - 1/m>)/(h - c), for every distribution and without sparsity.
    """
    for columns, e, p in instances((Fraction(3, 2), Fraction(4))):
        m = len(columns[0])
        laws = channel(columns, e)
        seen = tuple(v - Fraction(1, m) for v in output(columns, e, p))
        for x in range(len(columns)):
            u = tuple(Fraction(sign) for sign in columns[x])
            levels = [dot(u, (law[y] - Fraction(1, m) for y in range(m))) for law in laws]
            high, low = levels[x], max(levels[:x] + levels[x + 1 :])
            if low < high:
                outside = (high - dot(u, seen)) / (high - low)
                at_most(1 - p[x], share * outside, x=x, e=e)


@CP.holds("Corollary 3.4.1", "bounds by the coherence", ours=True)
@mutant("s = 11", sparsity=11)
def bounds_by_the_coherence(sparsity: int = 12) -> None:
    """At the size of Section 5 (k = 10000, m = 500) no matrix has a bound by its coherence for 12
    values or more: by Welch's inequality (2s - 1) coherence >= 1.
    """
    k, m = 10_000, 500
    squared = Fraction(k - m, m * (k - 1))  # sum of squared cosines >= k^2/m, k of them are 1
    at_most(1, (2 * sparsity - 1) ** 2 * squared)
