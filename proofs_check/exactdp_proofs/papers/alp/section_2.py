"""ALP, Section 2: privacy, Laplace noise, random rounding, universal hashing, negative values."""

from __future__ import annotations

from functools import cache
from itertools import permutations, product

import sympy as sp

from exactdp.accounting.divergence import hockey_stick
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.mechanisms.projections.noisy_rows import DenseLaplace
from exactdp.samplers import exact_law, random_rounding
from exactdp_proofs.comparisons import at_most, equal, every, identity
from exactdp_proofs.papers.alp._model import distance, exp_lower, ratio, round_law
from exactdp_proofs.papers.alp._threshold import power
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import ALP, mutant, weaker

ALP.not_checkable(
    "Definition 2.1",
    "A mechanism is (epsilon, delta)-differentially private if P(M(x) in S) <= e^epsilon P(M(x') "
    "in S) + delta for neighbours x, x' with |x - x'|_1 <= 1 and every event S.",
    "a definition",
)


@ALP.holds(
    "Lemma 2.2",
    "on instances",
    ours=True,
    no_mechanism="it compares any two laws before and after a mapping",
)
@mutant(share=Fraction(49, 50))
def lemma_2_2(share: Fraction = Fraction(1)) -> None:
    """Any randomized mapping of the output keeps (epsilon, delta)."""
    p = Law({0: Fraction(1, 2), 1: Fraction(1, 3), 2: Fraction(1, 6)})
    q = Law({0: Fraction(1, 4), 1: Fraction(1, 4), 2: Fraction(1, 2)})
    for chances in product((Fraction(0), Fraction(1, 3), Fraction(1)), repeat=3):
        for factor in (Fraction(1), Fraction(6, 5), Fraction(2)):
            before = hockey_stick(p, q, e_epsilon=factor).lower
            coins = [Law({1: chance, 0: 1 - chance}) for chance in chances]
            images = [law.then(lambda x: coins[x]) for law in (p, q)]
            after = hockey_stick(*images, e_epsilon=factor).lower
            at_most(after, share * before, e_epsilon=factor, channel=[str(c) for c in chances])


@ALP.holds("Lemma 2.3", "on instances", ours=True)
@weaker
def lemma_2_3(loss: Fraction = Fraction(1)) -> None:
    """Independent releases with (e1, d1) and (e2, d2) are together (e1 + e2, d1 + d2)-private."""
    factors = (Fraction(3, 2), Fraction(2), Fraction(4))
    deltas = (Fraction(0), Fraction(1, 100), Fraction(1, 10))
    for f, g, d, e in product(factors, factors, deltas, deltas):
        (p, q), (r, s) = _worst_pair(raised(f, loss), d), _worst_pair(raised(g, loss), e)
        delta = hockey_stick(p.product(r), q.product(s), e_epsilon=f * g).lower
        at_most(delta, d + e, e_e1=f, e_e2=g, d1=d, d2=e)


def _worst_pair(factor: Fraction, delta: Fraction) -> tuple[Law[int], Law[int]]:
    """The worst pair of laws for (ln factor, delta)."""
    high = factor * (1 - delta) / (1 + factor)
    p = Law({0: delta, 1: high, 2: 1 - delta - high})
    q = Law({1: 1 - delta - high, 2: high, 3: delta})
    return p, q


@ALP.holds("Algorithm 1")
@weaker
def algorithm_1(loss: Fraction = Fraction(1)) -> None:
    """Laplace noise of scale 1/epsilon on every entry, as shipped on a grid, changes probabilities
    by at most a factor e^(epsilon * l1 distance).
    """
    step = 1 + _laplace(Fraction(1)).noise.rise  # what a step of the grid costs
    at_most(step, exp_lower(Fraction(1)))
    for x, other in permutations(product(range(2), repeat=2), 2):
        worst = ratio(_laplace_law(x, loss), _laplace_law(other, loss))
        at_most(worst, step ** int(distance(x, other)), x=x, other=other)


def _laplace(epsilon: Fraction) -> DenseLaplace:
    return DenseLaplace(d=2, k=2, largest=1, epsilon=epsilon, grid=1)


@cache
def _laplace_law(x: tuple[int, ...], epsilon: Fraction) -> Law[tuple[int, ...]]:
    return _laplace(epsilon).law(dict(enumerate(x)), None)


@ALP.holds("Definition 2.4")
@mutant("the exponent is doubled", factor=2)
def definition_2_4(factor: int = 1) -> None:
    """The density eps/2 e^(-|t| eps) integrates to e^(t eps)/2 below 0 and 1 - e^(-t eps)/2 from 0
    on.
    """
    tau, eps = sp.symbols("tau", real=True), sp.symbols("varepsilon", positive=True)
    density = eps / 2 * sp.exp(-factor * eps * sp.Abs(tau))
    below, above = sp.exp(tau * eps) / 2, 1 - sp.exp(-tau * eps) / 2
    identity(below.subs(tau, 0) - above.subs(tau, 0))
    identity(sp.limit(below.subs(eps, 1), tau, -sp.oo))
    for branch, sign in ((below, -1), (above, 1)):
        side = density.subs(sp.Abs(tau), sign * tau)
        identity(sp.diff(branch, tau) - side, side=sign)


@ALP.holds("Proposition 2.5")
@mutant("only one tail counts", sides=1)
def proposition_2_5(sides: int = 2) -> None:
    """P(|Lap(1/eps)| <= ln(1/psi)/eps) >= 1 - psi, with equality for psi <= 1."""
    eps, psi = sp.symbols("varepsilon psi", positive=True)
    identity(sides * sp.exp(-eps * (sp.log(1 / psi) / eps)) / 2 - psi)  # Definition 2.4


@ALP.holds("Proposition 2.5", "per-entry error")
@mutant(constant=Fraction(49, 50))
def per_entry_error(constant: Fraction = Fraction(1)) -> None:
    """The expected error of an entry is exactly 1/epsilon."""
    t, eps = sp.symbols("t varepsilon", positive=True)
    mean = 2 * sp.integrate(t * eps / 2 * sp.exp(-eps * t), (t, 0, sp.oo))
    identity(mean - sp.Rational(str(constant)) / eps)


@ALP.holds("Proposition 2.5", "maximum error")
@mutant(offset=Fraction(49, 50))
def maximum_error(offset: Fraction = Fraction(1)) -> None:
    """The expected maximum error is (1 + 1/2 + ... + 1/d)/eps, at most (1 + ln d)/eps.

    Note: O(log d/eps) is read for d >= 2; at d = 1 the logarithm is 0.
    """
    x, harmonic = sp.symbols("x", positive=True), Fraction(0)
    for d in range(1, 200):
        harmonic += Fraction(1, d)
        if d < 4:
            survival = sp.expand(1 - (1 - sp.exp(-x)) ** d)
            equal(Fraction(str(sp.integrate(survival, (x, 0, sp.oo)))), harmonic, d=d)
        with precision(64):
            at_most(harmonic, ball(offset) + ball(d).log(), d=d)


@ALP.holds("Lemma 2.6", "on instances", ours=True)
@mutant(most=Fraction(49, 100))
def lemma_2_6(most: Fraction = Fraction(1, 2)) -> None:
    """E|r - RandRound(r)| = 2 f (1 - f) for the fractional part f, which is at most 1/2, with
    equality at f = 1/2; the shipped rounding has the law of RandRound.
    """
    for numerator in range(-12, 13):
        r = Fraction(numerator, 6)
        law = exact_law(lambda source: random_rounding(r, source), residual=0, progress=False)
        equal(law, round_law(r), r=r)
        error, part = law.expectation(lambda y: abs(r - y)), r % 1
        equal(error, 2 * part * (1 - part), r=r)
        at_most(error, most, r=r)


ALP.not_checkable(
    "Section 2",
    "A universal family of O(log |U|) bits with constant evaluation time is presented in [DHKP97]; "
    "a k-sparse vector takes O(k log(d + u)) bits with constant look-up on a word RAM.",
    "cited, asymptotic, and a machine model",
    "universal hashing and model of computation",
)


@ALP.holds("Section 2", "multiply-shift hashing", ours=True)
@mutant(factor=1)
def multiply_shift(factor: int = 2) -> None:
    """For the multiply-shift family, h(x) = (a x mod 32) >> 3 with odd a, two of 32 keys collide
    with probability at most 2/|R|, and not 1/|R| as Section 2 asks of a universal family.

    Note: [DHKP97] is known for this family, the text does not say that it is meant. If so, all
        bounds hold with 2k/s for k/s, and s > 4k is needed.
    """
    table = [[(a * x % 32) >> 3 for x in range(32)] for a in range(1, 32, 2)]
    for x, y in every("all pairs of 32 keys, all 16 functions", product(range(32), repeat=2)):
        if x < y:
            chance = Fraction(sum(h[x] == h[y] for h in table), len(table))
            at_most(chance, Fraction(factor, 4), x=x, y=y)


@ALP.conditional("Section 2", "negative values, privacy")
@mutant("for every epsilon-differentially private mechanism", scaled=False)
def negative_values(scaled: bool = True, loss: Fraction = Fraction(1)) -> None:
    """Representing the parts x = max(v, 0) and y = -min(v, 0) of v, each by an epsilon-
    differentially private mechanism, represents v with epsilon-differential privacy.

    Condition: on each part the loss is at most epsilon times the l1 distance, as for the Laplace
        and ALP mechanisms. Both parts can change at once, by 1/2 each, so a mechanism that only
        promises epsilon to neighbours loses 2 epsilon.
    Note: the text names no epsilon: "any differentially private representation of x and y can be
        used as a differentially private representation of v".
    """
    base, less = Fraction(9, 4), raised(Fraction(3, 2), loss) ** 2  # e^epsilon
    grid = [Fraction(n, 2) for n in range(-3, 4)]

    def response(part: Fraction) -> Law[int]:
        odds = power(less, part) if scaled else less if part else 1 / less
        return Law({1: odds / 100, 0: 1 - odds / 100})

    laws = {v: response(max(v, Fraction(0))).product(response(max(-v, Fraction(0)))) for v in grid}
    for v, w in product(grid, repeat=2):
        if 0 < abs(v - w) <= 1:
            at_most(ratio(laws[v], laws[w]), base, v=v, w=w)
