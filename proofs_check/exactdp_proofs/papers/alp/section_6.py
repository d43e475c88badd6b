"""ALP, Section 6: projection on logarithms, multiplicative error, and the best alpha."""

from __future__ import annotations

from itertools import count, pairwise, product

import sympy as sp
from flint import arb

from exactdp.balls import ball, precision, refine
from exactdp.mechanisms.projections.alp import LogALP
from exactdp.mechanisms.projections.thresholds import usual_threshold
from exactdp_proofs.boxes import never_negative
from exactdp_proofs.comparisons import agree, at_most, below, every, identity, reproduces
from exactdp_proofs.papers.alp._model import estimate_law, flip, rates, round_law
from exactdp_proofs.papers.alp._shipped import HASH, words
from exactdp_proofs.papers.alp._walk import last_return
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import ALP, as_printed, fitted, mutant

_ONE = Fraction(1)
_P = flip(Fraction(3))  # alpha = 3 without collisions


@ALP.holds("Lemma 6.1")
@mutant("from 0.98/ln B on", start=Fraction(98, 100))
def lemma_6_1(start: Fraction = _ONE) -> None:
    """x -> max(log_B(x ln B), 0) never increases distances, which is what Lemma 4.12 needs: it is
    constant up to 1/ln B, continuous there, and its derivative 1/(x ln B) is at most 1 beyond.
    """
    x, b = sp.symbols("x b", positive=True)  # b = ln B
    image = sp.log(x * b) / b
    identity(image.subs(x, 1 / b))
    identity(sp.diff(image, x) - 1 / (x * b))
    never_negative([1, -1 / start], 0, 1)  # 1 - 1/(x b) in start/(x b)


@ALP.holds("Section 6", "number of columns")
@mutant("m = ceil(log_B(beta) epsilon/alpha)", factor=False)
def number_of_columns(factor: bool = True) -> None:
    """m = ceil(log_B(beta ln B) epsilon/alpha) is the largest rounded image of an entry up to beta:
    the least y with B^(y alpha/epsilon) >= beta ln B.
    """
    for base, beta in product((Fraction(6, 5), Fraction(20)), (30, 1000)):
        for eps, alpha in product((Fraction(1, 2), Fraction(4)), (1, 3)):
            with precision(128):
                log_base = ball(base).log()
                inside = beta * log_base if factor else ball(beta)
                m = (inside.log() / log_base * ball(eps / alpha)).ceil()
                step = ball(base) ** ball(alpha / eps)
                needed = next(y for y in count() if bool(step**y >= beta * log_base))
            agree(m, ball(needed), B=base, beta=beta, eps=eps, alpha=alpha)


def _unit(p: Fraction) -> arb:
    """B^(alpha/eps) = (4 (p - p^2))^(-1/4): the factor that one column stands for."""
    return ball(4 * (p - p * p)) ** ball(Fraction(-1, 4))


def _bound(p: Fraction) -> arb:
    """(2 - 4p)/((4p - 4p^2)^(1/4) - (4p - 4p^2)^(3/4))."""
    x = ball(4 * (p - p * p))
    return ball(2 - 4 * p) / (x ** ball(Fraction(1, 4)) - x ** ball(Fraction(3, 4)))


@ALP.holds("Lemma 6.2")
@mutant(share=Fraction(27, 100))
@fitted(share=Fraction(28, 100))
def lemma_6_2(share: Fraction = _ONE) -> None:
    """For x_i >= 1/ln B the expected multiplicative error E max(x~/x, x/x~) is at most (2 - 4p)/
    ((4p - 4p^2)^(1/4) - (4p - 4p^2)^(3/4)), a constant for fixed alpha and k/s.

    Note: the proof counts both walks, the furthest maximizer for the average, and one whole column
        for the rounding.

    Needs: the geometric sum of Lemma 4.11's tails for every p and B.
    """
    for alpha, collision in ((1, Fraction(0)), (3, Fraction(1, 10)), (20, Fraction(0))):
        p, q = rates(Fraction(alpha), collision)
        for place in (Fraction(n, 2) for n in range(15)):  # of 7 columns
            law = round_law(place).then(lambda y: estimate_law(min(y, 7), 7, p, q))
            with precision(64):
                unit = _unit(q)
                mean = sum((ball(w) * unit ** ball(abs(place - e)) for e, w in law.items()), arb(0))
                at_most(mean, ball(share) * _bound(q), alpha=alpha, collision=collision, at=place)


@ALP.conditional("Lemma 6.2", "evaluation time", elsewhere="the mutant weakens the condition")
@mutant("for epsilon <= beta^2", power=2)
def evaluation_time(power: int = 1) -> None:
    """For alpha = 3 without collisions and epsilon <= beta, m = ceil(log_B(beta ln B) epsilon/
    alpha) <= 16 ln beta columns are read, so the evaluation time is O(log beta).

    Condition: log epsilon = O(log beta). In general m is of the order log(beta) + log(1 + epsilon),
        since u = 1 + O(log(beta)/epsilon) times epsilon leaves a term in epsilon.
    """
    for beta, exponent in product((100, 10**6), range(power + 1)):
        with precision(64):
            per_column = (1 / ball(4 * (_P - _P * _P))).log() / 4  # ln B alpha/eps
            m = ((beta * per_column * beta**exponent / 3).log() / per_column).ceil()
            at_most(m, 16 * ball(beta).log(), beta=beta, log_beta_eps=exponent)


@ALP.conditional("Lemma 6.2", "space", elsewhere="the mutant weakens the condition")
@mutant("for epsilon <= beta^2", power=2)
def space(power: int = 1) -> None:
    """For alpha = 3, s = 10k and epsilon <= beta the space as shipped is at most 60 (10 k + 6.5
    log2 d) ln beta bits, which is O((k + log d) log beta).

    Condition: log epsilon = O(log beta), as for the evaluation time.
    """
    betas = (100, 1000, 10**6)  # epsilon is at most 1e6
    for beta, exponent, k, log_d in product(betas, range(power + 1), (1, 100), (30, 129)):
        mechanism = LogALP.of(
            d=2**log_d, k=k, s=10 * k, largest=beta, epsilon=beta**exponent, alpha=3, steps=1
        )
        bits = mechanism.layout.size + words(mechanism.levels, 2**log_d)
        with precision(64):
            bound = 60 * ball(10 * k + HASH * log_d) * ball(beta).log()
            at_most(bits, bound, beta=beta, log_beta_eps=exponent, k=k, log_d=log_d)


@ALP.holds("Lemma 6.2", "proof, first display")
@mutant("0.95 times that", share=Fraction(19, 20))
def first_display(share: Fraction = _ONE) -> None:
    """The sum over tau of B^((2 tau + 1) alpha/epsilon) 2 P(last nonnegative step = 2 tau) is at
    most the constant.
    """
    for p in (Fraction(1, 1000), Fraction(1, 20), Fraction(1, 5), Fraction(2, 5)):
        with precision(64):
            unit = _unit(p)
            terms = [unit ** (2 * tau + 1) * 2 * ball(last_return(p, tau)) for tau in range(61)]
            falls = ball(4 * (p - p * p)).sqrt()
            for term, after in pairwise(terms):
                below(after, falls * term, p=p)
            total = sum(terms, arb(0)) + terms[-1] * falls / (1 - falls)
            at_most(total, ball(share) * _bound(p), p=p)


@ALP.holds("Lemma 6.2", "proof, second display")
@mutant("the exponent is -epsilon/(8 alpha)", exponent=Fraction(1, 8))
def second_display(exponent: Fraction = Fraction(1, 4)) -> None:
    """With B = (4 (p - p^2))^(-epsilon/(4 alpha)) the geometric series sums to the constant."""
    w = sp.symbols("w", positive=True)  # 4 (p - p^2) = w^4
    unit = w ** (-4 * sp.Rational(str(exponent)))
    identity(unit / (1 - unit**2 * w**4) - 1 / (w - w**3))


@ALP.holds("Lemma 6.2", "proof, log_B(ln B) < 1")
@mutant(most=Fraction(9, 25))
@fitted(most=Fraction(368, 1000))
def log_of_log(most: Fraction = _ONE) -> None:
    """log_B(ln B) < 1 for every B > 1: ln(y)/y is largest at y = ln B = e, with the value 1/e."""
    y = sp.symbols("y", positive=True)
    identity(sp.diff(sp.log(y) / y, y) - (1 - sp.log(y)) / y**2)
    with precision(64):
        for at in every("the only maximum, y = e", (1,)):
            below((-ball(at)).exp(), most)


@ALP.holds("Lemma 6.2", "proof, bound on the logarithms")
@mutant(one=Fraction(36, 100))
@fitted(one=Fraction(37, 100))
def bound_on_the_logarithms(one: Fraction = _ONE) -> None:
    """The largest transformed entry is at most u = 1 + 4 alpha ln(beta)/(epsilon ln(1/(4p -
    4p^2))), here for alpha = 3 without collisions.

    Note: times epsilon this is O(log beta) + epsilon, not O(log beta).
    """
    for beta, eps in product((30, 1000, 10**6), (1, 10, 73, 10**4)):  # ln B = e at 73
        with precision(64):
            rate = (1 / ball(4 * (_P - _P * _P))).log()
            log_base = rate * eps / 12
            largest = (beta * log_base).log() / log_base
            at_most(largest, 12 * ball(beta).log() / (eps * rate) + ball(one), beta=beta, eps=eps)


@ALP.holds("Section 6", "capped entries")
@mutant("2 alpha in the numerator", factor=2)
def capped_entries(factor: int = 4) -> None:
    """Entries up to 1/ln B are treated as 1/ln B = 4 alpha/(ln(1/(4p - 4p^2)) epsilon)."""
    x, eps, alpha = sp.symbols("x varepsilon alpha", positive=True)  # x = 4p - 4p^2
    log_base = -eps / (4 * alpha) * sp.log(x)
    identity(1 / log_base - factor * alpha / (-sp.log(x) * eps))


@ALP.note("Section 6", "minimum 4.83")
@as_printed(at="20.26")
@mutant(value="4.82")
def minimum_of_the_constant(at: str = "20.27", value: str = "4.83") -> None:
    r"""Without collisions the constant of Lemma 6.2 is smallest, 4.83, at alpha = 20.26.

    Printed (Section 6, after Lemma 6.2, line 649): minimized with value ≈ 4.83 when $\alpha
        \approx 20.26$
    Corrected: It is smallest at alpha = 20.27 (20.2667, truncated), with the value 2 + 2 sqrt 2.
    Extraction: no: a number cut off is not a number lost.

    >>> c = lambda a: (2 * a / (a + 2)) / ((w := (1 - (a / (a + 2)) ** 2) ** 0.25) - w**3)
    >>> c(20.2667) < c(20.265), c(20.2667) < c(20.268)
    (True, True)
    """
    w = sp.symbols("w", positive=True)  # sqrt(4p - 4p^2): the square of the constant is
    square = 4 * (1 + w) / (w * (1 - w))
    (best,) = [r for r in sp.solve(sp.numer(sp.together(sp.diff(square, w))), w) if 0 < r < 1]
    ratio = sp.sqrt(1 - best**2)  # 1 - 2p = alpha/(alpha + 2)
    reproduces(_decimal(2 * ratio / (1 - ratio)), at)
    identity(square.subs(w, best) - (2 + 2 * sp.sqrt(2)) ** 2)
    reproduces(_decimal(2 + 2 * sp.sqrt(2)), value)


def _decimal(value: sp.Expr) -> Fraction:
    """To 20 digits, where the printed numbers have 4."""
    return Fraction(str(sp.N(value, 20)))


@ALP.holds("Section 6", "minimum 26.89/epsilon at alpha = 3.07")
@mutant(at="3.08")
def minimum_of_the_additive_error(at: str = "3.07") -> None:
    """The additive error 1/ln B = 4 alpha/(ln((alpha + 2)^2/(4 alpha + 4)) epsilon) is smallest at
    alpha = 3.07, with the value 26.89/epsilon.
    """
    with precision(128):
        # the slope has the sign of ln((a + 2)^2/(4a + 4)) - a^2/((a + 1)(a + 2)), which is negative
        # up to the minimum and positive beyond
        low, high = Fraction(1), Fraction(20)
        for _ in range(60):
            middle = (low + high) / 2
            square = ball((middle + 2) ** 2 / (4 * middle + 4)).log()
            low, high = (middle, high) if square < ball(_slope(middle)) else (low, middle)
        reproduces(4 * ball(low) / ball((low + 2) ** 2 / (4 * low + 4)).log(), "26.89")
        reproduces(low, at)


def _slope(a: Fraction) -> Fraction:
    """a times the derivative of ln((a + 2)^2/(4a + 4))."""
    return a * a / ((a + 1) * (a + 2))


@ALP.conditional("Section 6.1", "applications", elsewhere="the mutant weakens the condition")
@mutant("for log(d)/epsilon >= 1.9", least=Fraction(19, 10))
def applications(least: Fraction = Fraction(2)) -> None:
    """With the threshold's beta = 2 ln(d)/epsilon as shipped and log(d)/epsilon >= 2, log beta is
    at most 2 log(log(d)/epsilon) up to rounding, so the running time is O(log(log(d)/epsilon)).

    Condition: log(d)/epsilon is bounded away from 1; for epsilon > log d the printed logarithm is
        negative.
    Note: beta = u, and 1/delta in place of d, are the same substitution.
    """
    for bits, quotient in product((10, 64, 1000), (least, Fraction(5, 2), Fraction(30))):
        eps = refine(lambda: bits * ball(2).log() / ball(quotient)).lower
        t = usual_threshold(2**bits, eps, Fraction(1, 2**20))
        with precision(64):
            bound = 2 * (bits * ball(2).log() / ball(eps)).log() + ball(Fraction(1, 10**5))
            at_most(ball(t).log(), bound, log_d=bits, quotient=quotient)
