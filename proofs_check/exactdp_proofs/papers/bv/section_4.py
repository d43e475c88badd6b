"""BV, Section 4: counting queries, the geometric mechanism, GeoSample and FastSample."""

from __future__ import annotations

from itertools import pairwise, product

from exactdp.accounting.divergence import max_loss
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.samplers import FastSample, exact_law
from exactdp_proofs.boxes import never_negative
from exactdp_proofs.comparisons import at_most, below, equal, identity
from exactdp_proofs.papers.bv._errors import beyond, log_error, prove_log_bound
from exactdp_proofs.papers.bv._laws import clamped_geometric, fast, geo, weakened
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import BV, as_printed, fitted, mutant, weaker

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


@BV.holds("Theorem 4.4", "on instances", ours=True)
@weaker
def theorem_4_4(loss: Fraction = Fraction(1)) -> None:
    """The geometric mechanism clamped to [0, n] is (epsilon/2, 0)-DP for counting queries."""
    for q, n in product(_RATIOS, (1, 2, 3, 7)):
        less = 1 / raised(1 / q, loss)
        laws = [Law(dict(enumerate(clamped_geometric(n, less, c)))) for c in range(n + 1)]
        for c in range(n):
            worst = max(max_loss(laws[c], laws[c + 1]), max_loss(laws[c + 1], laws[c]))
            at_most(Fraction(worst), 1 / q, q=q, n=n, c=c)


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


@BV.holds("Theorem 4.5", "on instances", ours=True)
@mutant("with b one larger", more=1)
def theorem_4_5(more: int = 0, loss: Fraction = Fraction(1)) -> None:
    """GeoSample has exactly the law of the clamped geometric mechanism for
    eps~ = 2 ln(1 + 2^-b), b = ceil(log2(2/epsilon)), and so its privacy and accuracy.

    Note: the construction is not printed; the shipped one is checked.
    """
    for n, k in product((1, 2, 3, 6), (1, 2, 3, 10)):
        b = (2 * k - 1).bit_length() + more
        for c in range(n + 1):
            exact = clamped_geometric(n, Fraction(2**b, 2**b + 1), c)
            law = weakened(geo(n, k), loss).law(c)
            equal(dict(law.items()), dict(enumerate(exact)), n=n, k=k, c=c)


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


#: n, 1/epsilon, 1/gamma, T; with few bits the noise ends before n.
_CASES = ((1, 1, 2, None), (2, 2, 4, None), (12, 1, 16, None), (48, 2, 2, 15), (30, 1, 5, 15))
_SAMPLERS = [fast(*case) for case in _CASES]


def _weights(noise: FastSample, c: int) -> list[int]:
    """2^T P(M(c) = z) for all z."""
    numerator = noise.cdf(c).numerator
    sums = [0, *map(numerator, range(noise.n + 1))]
    return [above - below for below, above in pairwise(sums)]


@BV.holds("Theorem 4.6", elsewhere="uniform counts do not enter the rounded e^(epsilon/2)")
@mutant("without uniform counts", uniform=0)
def theorem_4_6(uniform: int = 1, loss: Fraction = Fraction(1)) -> None:
    """FastSample is (epsilon/2, 0)-DP for counting queries.

    Note: the construction is not printed; the shipped one is checked.

    Needs: the shipped rounding of tails to T bits bounded for every n, epsilon and gamma, not read
        off.
    """
    for noise in _SAMPLERS:
        less = (1 - uniform) * noise.uniform_weight
        weak = weakened(noise, loss)
        laws = [[w - less for w in _weights(weak, c)] for c in range(noise.n + 1)]
        for c in range(noise.n):
            for p, q in (laws[c : c + 2], laws[c : c + 2][::-1]):
                for x, y in zip(p, q, strict=True):
                    at_most(x, noise.e_half_epsilon * y, n=noise.n, c=c)
        with precision(256):
            half = ball(noise.epsilon / 2).exp()
            at_most(ball(noise.e_half_epsilon), half, n=noise.n)


@BV.holds("Theorem 4.6", "shipped code", ours=True, slow=True)
@mutant("differ by less than 1/2", most=Fraction(1, 2))
@fitted(most=Fraction(1))
def fast_law(most: Fraction = Fraction(3)) -> None:
    """The shipped FastSample has probabilities that are multiples of 2^-T, and differ by less than
    3 2^-T from clamped geometric noise mixed with uniform counts.
    """
    for noise in _SAMPLERS:
        scale, uniform = 1 << noise.bits, noise.uniform_weight
        for c in range(noise.n + 1):
            exact = clamped_geometric(noise.n, noise.q, c)
            for w, p in zip(_weights(noise, c), exact, strict=True):
                mixed = (scale - (noise.n + 1) * uniform) * p + uniform
                below(abs(w - mixed), most, n=noise.n, c=c)


@BV.holds("Theorem 4.6", "bits of the shipped code", ours=True)
@mutant("the inverse of the distribution function alone", whole=False)
def fast_bits(whole: bool = True) -> None:
    """The uniform integers of T bits are mapped to counts with exactly the law of FastSample."""
    for noise in (fast(3, 1, 2, 12), fast(24, 2, 2, 14)):
        for c in (0, 1, noise.n):
            cdf = noise.cdf(c)
            assert cdf.fixed is not None
            weights = [0] * (noise.n + 1)
            for u in range(1 << noise.bits):
                weights[cdf.fixed(u) if whole or u < noise.noise_weight else 0] += 1
            equal(weights, _weights(noise, c), n=noise.n, c=c)


@BV.holds("Theorem 4.6", "accuracy")
@mutant(scale=Fraction(93, 100))
def fast_accuracy(scale: Fraction = Fraction(1)) -> None:
    """For beta > gamma, FastSample errs by more than ceil((2/eps~) ln(1/(beta - gamma))) with
    probability at most beta, where e^(eps~/2) is the ratio of its noise.
    """
    for noise in (*_SAMPLERS, fast(4000, 33, 100)):
        gamma = Fraction(1, noise.gamma_inverse)
        with precision(256):
            factor = ball(scale) / ball(1 / noise.q).log()
        for over in (Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), noise.q**40):
            beta = gamma + over * (1 - gamma)
            a = log_error(factor, 1 / (beta - gamma))
            for c in (0, 1, noise.n // 2, noise.n):
                at_most(beyond(noise, c, a), beta, n=noise.n, c=c, beta=beta)


@BV.holds("Theorem 4.6", "log d of the shipped code")
@mutant(more=Fraction(52))
def fast_log_d(more: Fraction = Fraction(60)) -> None:
    """log2 d <= log2(n/gamma) + 2 log2(1/epsilon) + 60: the text has log d = quasi-O(1/epsilon)
    log(n/gamma).
    """
    with precision(128):
        two = ball(2).log()
        for n, k, g in product((1, 10, 1000, 10**5), (1, 2, 3, 10), (2, 10**6)):
            bits = fast(n, k, g).bits
            at_most(bits, ball(n * g * k**2).log() / two + ball(more), n=n, k=k, g=g)
