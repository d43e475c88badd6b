"""CSH, Section 7: discrete Gaussian noise, up to Lemma 7.6."""

from __future__ import annotations

from itertools import product

import sympy as sp
from flint import arb

from exactdp import mechanisms
from exactdp.accounting import zcdp
from exactdp.balls import ball, precision
from exactdp.samplers import DiscreteGaussian, SeededSource, exact_law
from exactdp_proofs.comparisons import agree, at_most, below, equal, identity
from exactdp_proofs.papers.csh._discrete import (
    at_most_this,
    masses,
    own_noise,
    renyi,
    shared_noise,
    split,
    sum_law,
)
from exactdp_proofs.papers.csh._model import BITS, hull, loosened
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CSH, as_printed, mutant, weaker


@CSH.holds("Definition 7.1", "shipped distribution")
@mutant(divisor=Fraction(201, 100))
def definition_7_1(divisor: Fraction = Fraction(2)) -> None:
    """N_Z(0, sigma^2) has mass proportional to exp(-x^2/(2 sigma^2)) on the integers: so has the
    distribution function that the shipped sampler inverts.
    """
    with precision(BITS):
        for variance in map(Fraction, ("1/3", "1", "25", "1000")):
            law = masses(ball(variance * divisor / 2))
            code = DiscreteGaussian(sigma2=variance)
            for z in (-3, -1, 0, 1, 2, 7):
                agree(hull(code.cdf(z)), at_most_this(law, arb(z)), variance=variance, z=z)


CSH.not_checkable(
    "Definition 7.2",
    "rho-zCDP bounds every Renyi divergence D_alpha by rho alpha; it survives post-processing.",
    "a definition with a cited property",
)


def _conversion(rho: Fraction, delta: Fraction, twice: Fraction) -> Fraction:
    """rho + twice sqrt(rho log(1/delta)), rounded up."""
    with precision(BITS):
        value = ball(rho) + ball(twice) * (ball(rho) * -ball(delta).log()).sqrt()
        return Fraction(str(value.upper().str(25, radius=False))) * (1 + Fraction(1, 10**20))


@CSH.holds("Lemma 7.3", "on instances", ours=True)
@mutant(twice=Fraction(198, 100))
def lemma_7_3(twice: Fraction = Fraction(2), loss: Fraction = Fraction(1)) -> None:
    """rho-zCDP implies (rho + 2 sqrt(rho log(1/delta)), delta)-DP, log natural and delta < 1: at
    this epsilon the best conversion, over all orders, allows a larger rho.
    """
    deltas = map(Fraction, ("0.3", "1e-3", "1e-10", "1e-100"))
    for delta, rho in product(deltas, map(Fraction, ("0.0001", "0.02", "0.5", "4"))):
        largest_rho = zcdp.rho(epsilon=_conversion(rho, delta, twice), delta=delta)
        at_most(loss * rho, largest_rho.lower, rho=rho, delta=delta)


@CSH.holds("Lemma 7.4", "on instances", ours=True)
@weaker
def lemma_7_4(loss: Fraction = Fraction(1)) -> None:
    """Integer queries with sum_i (q_i - q'_i)^2/sigma_i^2 <= 2 rho and independent noise
    N_Z(0, sigma_i^2) are rho-zCDP: two queries with different noise, by products of masses.
    """
    with precision(BITS):
        for (v, s), (w, t) in product([(Fraction(2), 1), (Fraction(1, 2), 2)], repeat=2):
            rho = (s * s / v + t * t / w) / 2
            first, second = (masses(ball(x / loss**2)) for x in (v, w))
            law = {
                (x, y): first[x] * second[y]
                for x, y in product(range(-17, 18), repeat=2)
                if x in first and y in second
            }
            for alpha in (Fraction(3, 2), Fraction(2)):
                divergence = renyi(law, (s, t), alpha)
                at_most(divergence, loosened(ball(rho * alpha)), v=v, w=w, alpha=alpha)


@CSH.holds("Lemma 7.4", "one query")
@weaker
def lemma_7_4_one(loss: Fraction = Fraction(1)) -> None:
    """D_alpha between N_Z(s, v) and N_Z(0, v) is at most alpha s^2/(2 v), for integer s, also for
    small v and fractional orders.
    """
    with precision(BITS):
        for variance, shift in product(map(Fraction, ("0.1", "0.5", "3", "20")), (1, 2, 3)):
            law = masses(ball(variance / loss**2))
            for alpha in map(Fraction, ("1.01", "1.5", "2", "2.7", "6")):
                most = loosened(ball(alpha * shift**2 / (2 * variance)))
                at_most(renyi(law, shift, alpha), most, v=variance, s=shift, alpha=alpha)


@CSH.holds("Algorithm 4", "shipped mechanism")
@mutant("Z ~ N_Z(0, 4 sigma^2/k)", root=1)
def algorithm_4(root: int = 2) -> None:
    """Counters get (Z_i + Z)/2 with Z_i ~ N_Z(0, 4 sigma^2) and one shared
    Z ~ N_Z(0, 4 sigma^2/sqrt k): the law of Z by enumerating the shipped sampler at k = 2, the sums
    on the same random draws.
    """
    for k, sigma in ((2, Fraction(1, 5)), (9, Fraction(1))):
        code = mechanisms.CSH(sparsity=k, sigma=sigma, tau=1, epsilon=1, delta="0.999999")
        own, counts = DiscreteGaussian(sigma2=4 * sigma**2), {x: 1000 + x for x in range(k)}
        for seed in range(10):
            source = SeededSource(seed)
            common = code._noise.shared.sample(source)
            noisy = {x: c + Fraction(own.sample(source) + common, 2) for x, c in counts.items()}
            equal(dict(code.draw(counts, SeededSource(seed))), noisy, k=k, seed=seed)
    k, sigma = 2, Fraction(1, 5)
    code = mechanisms.CSH(sparsity=k, sigma=sigma, tau=1, epsilon=1, delta="0.999999")
    law = exact_law(code._noise.shared.sample, residual="1e-4")
    chances = dict(law.items())
    with precision(BITS):
        for z, p in masses(4 * ball(sigma**2) / arb(k).root(root)).items():
            at_most(p, chances.get(z, Fraction(0)) + law.residual, z=z)
            at_most(chances.get(z, Fraction(0)), p, z=z)


@CSH.holds("Lemma 7.5", "one counter")
@weaker
def lemma_7_5_one(loss: Fraction = Fraction(1)) -> None:
    """At k = 1 the divergence of the output, where the sum Z_1 + Z moves by 2 half-steps, is at
    most alpha rho, rho = (k + sqrt k)/(8 sigma^2).
    """
    with precision(64):
        for sigma in map(Fraction, ("0.2", "0.35", "1", "3")):
            law = sum_law(own_noise(sigma / loss), own_noise(sigma / loss))
            for alpha in map(Fraction, ("1.1", "2", "3.3", "5")):
                most = loosened(ball(alpha / (4 * sigma**2)))
                at_most(renyi(law, 2, alpha), most, sigma=sigma, alpha=alpha)


@CSH.holds("Lemma 7.5", "two counters")
@weaker
def lemma_7_5_two(loss: Fraction = Fraction(1)) -> None:
    """At k = 2, where sqrt k is not an integer, the divergence of order 2 of both counters, whose
    law is a sum over the shared noise, is at most 2 rho.
    """
    with precision(96):
        for sigma, moves in product((Fraction(3, 10), Fraction(4, 5)), ((2, 0), (2, 2))):
            own, shared = own_noise(sigma / loss), shared_noise(2, sigma / loss)
            law = {
                (x, y): sum(
                    (p * own.get(x - z, 0) * own.get(y - z, 0) for z, p in shared.items()), arb(0)
                )
                for x, y in product(range(-16, 17), repeat=2)
            }
            law = {y: p for y, p in law.items() if p > 0}
            rho = (2 + arb(2).sqrt()) / (8 * ball(sigma**2))
            at_most(renyi(law, moves, Fraction(2)), 2 * rho, sigma=sigma, moves=moves)


CSH.not_checkable(
    "Lemma 7.5",
    "Algorithm 4 is rho-zCDP with rho = (k + sqrt k)/(8 sigma^2), for every k.",
    "every k and every order; its proof is under the next parts and Lemma 7.4, its law at k = 1 "
    "and 2 under the others",
)


@CSH.note("Lemma 7.5", "proof, construction")
@as_printed(sign=1)
@mutant("for H(X) - H(X') in {0,-1}^k", case=-1)
def construction(sign: int = -1, case: int = 1) -> None:
    r"""For H(X) - H(X') in {0,1}^k, the vectors (2 H(X), 0) and (2 H(X') - 1, 1) differ by one in
    every entry.

    Printed (Section 7, Lemma 7.5, proof, line 393):
        \hat{H}(\mathbf{X}^{\prime})_{i}=2\cdot\hat{H}(\mathbf{X}^{\prime})_{i}-1 ... and finally
        ... \hat{H}(\mathbf{X}^{\prime})_{k+1}=1
    Corrected: It is (2 H(X') + 1, -1), with H for H^ on the right. Half the sums with the last
        entry then give the counters back, and all entries differ by one, as the proof says next;
        the printed signs fit the other case, {0,-1}^k.
    """
    for counts, move in product(product(range(1, 4), repeat=2), product((0, 1), repeat=2)):
        other = [c - case * m for c, m in zip(counts, move, strict=True)]
        first, second = [*(2 * c for c in counts), 0], [*(2 * c - sign for c in other), sign]
        equal([Fraction(x + second[-1], 2) for x in second[:-1]], other, counts=counts, move=move)
        gaps = {abs(x - y) for x, y in zip(first, second, strict=True)}
        equal(gaps, {1}, counts=counts, move=move)


@CSH.holds("Lemma 7.5", "proof, display")
@mutant("with sigma_(k+1)^2 = 4 sigma^2/k^(1/4)", root=4)
def display(root: int = 2) -> None:
    """With sigma_i^2 = 4 sigma^2 and sigma_(k+1)^2 = 4 sigma^2/sqrt k, the sum of 1/sigma_i^2 over
    the k + 1 entries is 2 rho = (k + sqrt k)/(4 sigma^2).
    """
    k, sigma = sp.symbols("k sigma", positive=True)
    total = k / (4 * sigma**2) + 1 / (4 * sigma**2 / k ** sp.Rational(1, root))
    identity(total - 2 * (k + sp.sqrt(k)) / (8 * sigma**2))


@CSH.holds("Section 7", "the scaling step is crucial", no_mechanism="it says what is not private")
@mutant("that of order 2 exceeds 2 rho, too", alpha=2)
def scaling_step(alpha: int = 3) -> None:
    """With integer noise N_Z(0, sigma^2) and a shared N_Z(0, sigma^2/sqrt k) in Algorithm 4,
    rho = (k + sqrt k)/(8 sigma^2) is wrong: for k = 1 the divergence of order 3 exceeds 3 rho (at
    sigma^2 = 1/10, 1/2 and 1).
    """
    with precision(BITS):
        for variance in (Fraction(1, 10), Fraction(1, 2), Fraction(1)):
            noise = masses(ball(variance))
            divergence = renyi(sum_law(noise, noise), 1, Fraction(alpha))
            below(loosened(ball(alpha / (4 * variance))), divergence, variance=variance)


@CSH.holds("Section 7", "centring")
@mutant("whole values can, too", step=Fraction(1))
def centring(step: Fraction = Fraction(1, 2)) -> None:
    """The shared noise as shipped, in steps of one half, can put the changes 0 and 1 at equal
    distance 1/2, by one of its values; with its whole values it cannot.
    """
    code = mechanisms.CSH(sparsity=4, sigma=1, tau=1, epsilon=1, delta="0.999")
    law = exact_law(code._noise.shared.sample, residual="1e-3")
    offsets = [Fraction(z, 2) for z, _ in law.items() if Fraction(z, 2) % step == 0]
    centred = [o for o in offsets if all(abs(move - o) == Fraction(1, 2) for move in (0, 1))]
    equal(centred, [Fraction(1, 2)])


@CSH.holds("Lemma 7.6", "on instances", ours=True)
@mutant(share=Fraction(94, 100))
def lemma_7_6(share: Fraction = Fraction(1)) -> None:
    """With discrete noise Z ~ N_Z(0, 4 sigma^2/sqrt k), Z_i ~ N_Z(0, 4 sigma^2), some Z + Z_i
    exceeds 2 tau with probability at most 1 - P(Z <= 2 tau k^(-1/4)/(k^(-1/4)+1))
    P(Z_i <= 2 tau/(k^(-1/4)+1))^k.
    """
    with precision(BITS):
        for k, sigma in product((1, 2, 4, 30), map(Fraction, ("0.3", "1", "2.5"))):
            own, shared = own_noise(sigma), shared_noise(k, sigma)
            for tau in map(Fraction, ("0.4", "1", "3.5", "12")):
                exact = arb(0)
                for z, p in shared.items():
                    exact += p * (1 - at_most_this(own, ball(2 * tau - z)) ** k)
                stated = loosened(split(k, sigma, tau) * ball(share))
                at_most(exact, stated, k=k, sigma=sigma, tau=tau)
