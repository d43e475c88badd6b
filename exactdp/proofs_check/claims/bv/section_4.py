"""BV, Section 4: counting queries, the geometric mechanism, GeoSample and FastSample."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.proofs_check.boxes import never_negative
from exactdp.proofs_check.claims.bv._errors import beyond, log_error, prove_log_bound
from exactdp.proofs_check.claims.bv._laws import clamped_geometric, fast, geo
from exactdp.proofs_check.comparisons import at_most, equal, identity
from exactdp.proofs_check.statements import BV, as_printed, fitted, mutant
from exactdp.samplers import FastSample, exact_law

#: q = e^(-epsilon/2).
_RATIOS = (Fraction(1, 2), Fraction(2, 3), Fraction(4, 5), Fraction(16, 17), Fraction(1, 10))

BV.not_checkable(
    "Definition 4.1",
    "Privacy for counting queries is privacy of M(c) for neighbouring bit strings of sum c, that "
    "is for counts c and c + 1 in either order.",
    "a definition",
)
BV.not_checkable(
    "Definition 4.2",
    "(a, beta)-accuracy: for every c, M(c) errs by <= a but for beta.",
    "a definition",
)


@BV.note("Definition 4.3")
@as_printed(always=True)
@mutant("exactly if P(M(0) <= 1) > 0", largest=1)
def definition_4_3(always: bool = False, largest: int = 0) -> None:
    r"""The scaled distribution function F_M of every deterministic counting-query algorithm takes
    its values in 1, ..., d.

    Printed (Section 4, Definition 4.3, line 271): be the function $F_{\mathcal{M}} : [n] \to
        [d]_+$ defined as $F_{\mathcal{M}}(z) = d \cdot F_{\mathcal{M}(0,U)}(z)$
    Corrected: The values lie in 1, ..., d exactly if P(M(0) = 0) > 0; else 0 is one of them.
    Extraction: no: [n], [d]_+ and [n]_+ are kept apart throughout; Proposition 6.3 has [d]_+, too.
    Note: Algorithm 6 and Proposition 6.3 take F to have this range; they also work with 0.
    """
    for n in (1, 2):
        for row in product(range(n + 1), repeat=n + 1):  # M(0, u) for u = 1, ..., d = n + 1
            scaled = {sum(out <= z for out in row) for z in range(n + 1)}
            inside = scaled <= set(range(1, len(row) + 1))
            equal(inside, always or min(row) <= largest, row=row)


@BV.holds("Definition 4.3", "shipped code", ours=True)
@mutant("one less than that", shift=1)
def shipped_scaled(shift: int = 0) -> None:
    """The integers of the shipped samplers are d P(M(0) <= z) for what is drawn, and d at n."""
    for noise in (geo(1), geo(3, 2), fast(2), fast(4, 3, 5)):
        cdf, law = noise.cdf(0), exact_law(lambda source: noise.sample(0, source), residual=0)
        equal(cdf.numerator(noise.n), cdf.denominator, n=noise.n)
        for z in range(noise.n + 1):
            exact = cdf.denominator * sum(law[y] for y in range(z + 1))
            equal(cdf.numerator(z) + shift, exact, n=noise.n, z=z)


@BV.holds("Section 4.1", "distribution function of Geo(s)")
@mutant("without e^(1/s) in the first line", lead=0)
def distribution_function(lead: int = 1) -> None:
    """F(z) = e^(1/s)/(e^(1/s) + 1) e^(-(c-z)/s) for z <= c and 1 - e^(-(z-c)/s)/(e^(1/s) + 1) above
    are the sums of f(z) = (e^(1/s) - 1)/(e^(1/s) + 1) e^(-|z - c|/s). They tend to 0 and 1.
    """
    import sympy

    e, k = sympy.symbols("E k", positive=True)  # E = e^(1/s) > 1, k = |z - c|
    low, mass = e**lead / (e + 1), (e - 1) / (e + 1)  # F(c - k) = low E^-k
    identity((1 - e**-k / (e + 1)) - (1 - e ** (1 - k) / (e + 1)) - mass * e**-k)
    identity(low * e**-k - low * e ** (-k - 1) - mass * e**-k)
    identity((1 - e**-1 / (e + 1)) - low - mass / e)


@BV.holds("Algorithm 2")
@mutant(ends=Fraction(101, 100))
def algorithm_2(ends: Fraction = Fraction(1)) -> None:
    """The noisy count clamped to [0, n] is 0 with probability q^c/(1 + q), n with q^(n-c)/(1 + q),
    and z between with (1 - q)/(1 + q) q^|z-c|, q = e^(-epsilon/2). That is the Truncated Geometric
    Mechanism (Sections 1 and 5).

    Note: the header of the algorithm is damaged in the text; its displayed formula is not.
    """
    for q, n in product(_RATIOS, (1, 2, 5, 12)):
        for c in range(n + 1):
            inner = [(1 - q) / (1 + q) * q ** abs(z - c) for z in range(1, n)]
            stated = [q**c / (ends + q), *inner, q ** (n - c) / (ends + q)]
            equal(clamped_geometric(n, q, c), stated, q=q, n=n, c=c)


@BV.holds("Theorem 4.4")
@mutant(slack=Fraction(98, 100))
def theorem_4_4(slack: Fraction = Fraction(1)) -> None:
    """The geometric mechanism clamped to [0, n] is (epsilon/2, 0)-DP for counting queries."""
    for q, n in product(_RATIOS, (1, 2, 3, 7)):
        laws = [Law(dict(enumerate(clamped_geometric(n, q, c)))) for c in range(n + 1)]
        for c in range(n):
            worst = max(max_loss(laws[c], laws[c + 1]), max_loss(laws[c + 1], laws[c]))
            at_most(Fraction(worst), slack / q, q=q, n=n, c=c)


@BV.holds("Theorem 4.4", "accuracy")
@mutant("a may be one less", less=1)
def accuracy(less: int = 0) -> None:
    """The mechanism errs by more than a = ceil((2/epsilon) ln(1/beta)) with probability at most
    beta.
    """
    for q, j, near in product(_RATIOS, range(1, 12), (Fraction(99, 100), Fraction(1))):
        beta, least = q**j * near, j + (near < 1)
        while least > 1 and q ** (least - 1) <= beta:
            least -= 1
        n, a = 2 * least + 3, least - less  # least = ceil(ln(1/beta)/ln(1/q))
        law = clamped_geometric(n, q, n // 2)
        fails = sum((p for z, p in enumerate(law) if abs(z - n // 2) > a), Fraction(0))
        at_most(fails, beta, q=q, beta=beta)


@BV.holds("Theorem 4.5")
@mutant("with b one larger", more=1)
def theorem_4_5(more: int = 0) -> None:
    """GeoSample has exactly the law of the clamped geometric mechanism for
    eps~ = 2 ln(1 + 2^-b), b = ceil(log2(2/epsilon)), and so its privacy and accuracy.

    Note: the construction is not printed; the shipped one is checked.
    """
    for n, k in product((1, 2, 3, 6), (1, 2, 3, 10)):
        b = (2 * k - 1).bit_length() + more
        for c in range(n + 1):
            exact = clamped_geometric(n, Fraction(2**b, 2**b + 1), c)
            equal(dict(geo(n, k).law(c).items()), dict(enumerate(exact)), n=n, k=k, c=c)


@BV.holds("Theorem 4.5", "eps~")
@mutant(low=Fraction(9, 20))
def eps_tilde(low: Fraction = Fraction(4, 9)) -> None:
    """eps~ lies in (4/9 epsilon, epsilon] for every real epsilon in (0, 1]: 2^-b lies in
    (epsilon/4, epsilon/2], and 2y/(2 + y) <= ln(1 + y) <= y.
    """
    prove_log_bound()
    # 2 ln(1 + y) with y > epsilon/4 exceeds 4 epsilon/(8 + epsilon)
    never_negative([4 - 8 * low, -low], 0, 1)


@BV.note("Theorem 4.5", "log d")
@as_printed(lead=1, constant=1000)
@mutant(lead=Fraction(39, 10))
def log_d(lead: int | Fraction = 4, constant: int = 1) -> None:
    r"""For some constant C and every epsilon = 1/k, log2 d <= C n log2(1/epsilon) + 1.

    Printed (Section 4.1, Theorem 4.5, line 301): where $\log d = O(n \cdot \log(1/\varepsilon))$
    Corrected: log2 d <= n log2(4/epsilon) + 1. The printed bound is 0 at epsilon = 1, where d has
        at least n bits; it is for epsilon <= 1/2.
    Extraction: no: the running times and Figure 1 have the same factor.
    """
    for n, k in product((1, 2, 3, 10, 50), (1, 2, 3, 7, 64, 65)):
        at_most(geo(n, k).cdf(0).denominator, 2 * (lead * k) ** (constant * n), n=n, k=k)


@BV.holds("Section 4.2", "bit length")
@mutant(least=Fraction(159, 100))
@fitted(least=Fraction(158, 100))
def bit_length(least: Fraction = Fraction(1)) -> None:
    """The denominator d of GeoSample has log2 d >= n, for the shipped construction."""
    for n, inverse in product((1, 2, 5, 40, 300), (1, 2, 3, 10)):
        with precision(128):
            bits = ball(geo(n, inverse).cdf(0).denominator).log() / ball(2).log()
            at_most(ball(least * n), bits, n=n, k=inverse)


#: n, 1/epsilon, 1/gamma; the noise is cut below n in the cases with n >= 10.
_CASES = ((1, 1, 2), (2, 2, 4), (3, 1, 8), (10, 1, 2), (12, 1, 16), (24, 2, 2), (30, 2, 3))
_SAMPLERS = [FastSample(n, Fraction(1, inverse), g) for n, inverse, g in _CASES]


def _by_hand(noise: FastSample, c: int, earlier: int = 0) -> Law[int]:
    """Noise clamped to [-t, t], the sum clamped to [0, n], mixed with the uniform law."""
    n, gamma = noise.n, Fraction(1, noise.gamma_inverse)
    t = max(noise.reach - earlier, 1)
    weights = dict.fromkeys(range(n + 1), gamma / (n + 1))
    for k, p in enumerate(clamped_geometric(2 * t, noise.q, t)):
        weights[min(max(c + k - t, 0), n)] += (1 - gamma) * p
    return Law(weights)


@BV.holds("Theorem 4.6")
@mutant("with the noise cut one earlier", earlier=1)
def theorem_4_6(earlier: int = 0) -> None:
    """FastSample is (epsilon/2, 0)-DP for counting queries, even (eps~/2, 0)-DP.

    Note: the construction is not printed; the shipped one is checked.
    """
    for noise in _SAMPLERS:
        laws, at = [_by_hand(noise, c, earlier) for c in range(noise.n + 1)], {"n": noise.n}
        for c in range(noise.n):
            worst = max(max_loss(laws[c], laws[c + 1]), max_loss(laws[c + 1], laws[c]))
            at_most(Fraction(worst), noise.e_half_epsilon, **at, c=c)


@BV.holds("Theorem 4.6", "shipped code", ours=True)
@mutant("clamped to [-(t - 1), t - 1]", earlier=1)
def fast_law(earlier: int = 0) -> None:
    """The shipped FastSample has the law of noise clamped to [-t, t], added, clamped to [0, n] and
    mixed with the uniform law.
    """
    for noise in _SAMPLERS:
        for c in range(noise.n + 1):
            equal(noise.law(c), _by_hand(noise, c, earlier), n=noise.n, c=c)


@BV.holds("Theorem 4.6", "accuracy")
@mutant(scale=Fraction(93, 100))
def fast_accuracy(scale: Fraction = Fraction(1)) -> None:
    """For beta > gamma, FastSample errs by more than ceil((2/eps~) ln(1/(beta - gamma))) with
    probability at most beta.
    """
    for noise in (*_SAMPLERS, FastSample(4000, Fraction(1, 33), 100)):
        gamma = Fraction(1, noise.gamma_inverse)
        with precision(256):
            factor = ball(scale) / ball(noise.e_half_epsilon).log()
        for over in (Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), noise.q**40):
            beta = gamma + over * (1 - gamma)
            a = log_error(factor, 1 / (beta - gamma))
            for c in (0, 1, noise.n // 2, noise.n):
                at_most(beyond(noise, c, a), beta, n=noise.n, c=c, beta=beta)


@BV.holds("Theorem 4.6", "log d of the shipped code")
@mutant(factor=Fraction(9, 10))
def fast_log_d(factor: Fraction = Fraction(1)) -> None:
    """log2 d <= (1/epsilon) log2(4/epsilon)^2 log2(2 n/gamma): the text has log d =
    quasi-O(1/epsilon) log(n/gamma).
    """
    with precision(128):
        two = ball(2).log()
        for n, k, g in product((1, 10, 1000, 10**5), (1, 2, 3, 10), (2, 10**6)):
            bits = ball(FastSample(n, Fraction(1, k), g).cdf(0).denominator).log() / two
            most = ball(factor * k) * (ball(4 * k).log() / two) ** 2 * ball(2 * n * g).log() / two
            at_most(bits, most, n=n, k=k, g=g)
