"""CSH, Appendix B: the proof of Theorem 3.5, its misprints, and the step that fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product
from math import isqrt
from typing import NamedTuple

import sympy as sp
from flint import acb, arb

from exactdp.accounting.sparse_histograms.csh_exact import pair, threshold_only
from exactdp.balls import ball, precision
from exactdp.normal import cdf, tail
from exactdp_proofs.comparisons import at_most, below, equal, holds, identity
from exactdp_proofs.papers.csh._bounds import delta_gauss, delta_inf, fourth, log_psi, third
from exactdp_proofs.papers.csh._model import (
    BITS,
    FAR,
    LARGE,
    MIXED,
    Point,
    distance,
    family,
    farthest,
    loosened,
    phi,
    point,
    reach,
    weakened,
)
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CSH, as_printed, fitted, mutant, weaker


@CSH.holds("Lemma B.1", "on instances", ours=True)
@weaker
def lemma_b_1(loss: Fraction = Fraction(1)) -> None:
    """For the same support of j <= k counters the Gaussian delta at
    gamma = min(sqrt(j + sqrt k)/2, sqrt j) bounds Algorithm 2: the exact distance is at most gamma.
    """
    for root, most in ((1, 1), (2, 4), (3, 9), (100, 4)):
        for j in range(1, most + 1):
            gamma = min(Fraction(j), Fraction(j + root, 4))
            for a in range(j + 1):
                at_most(loss**2 * distance(j, a, Fraction(root)), gamma, k=root**2, j=j, a=a)


@CSH.note("Lemma B.1", "proof, shared noise")
@as_printed(power=1)
@mutant(power=3)
def shared_noise(power: int = 2) -> None:
    r"""Adding a sample of N(0, sigma/sqrt k) to all entries turns the Gaussian mechanism into
    Algorithm 2.

    Printed (Appendix B, Lemma B.1, proof, line 508): Z_{cor}\sim\mathcal{N}(0,\sigma/\sqrt{k})
    Corrected: The variance is sigma^2/sqrt k, as in Algorithm 2, which the step names: only then
        is the farthest change sqrt(k + sqrt k)/2 sigmas away, as Theorem 3.3 says.
    Extraction: no: the proof has sigma/sqrt k twice.
    """
    for root, sigma in ((2, Fraction(3)), (3, Fraction(1, 2))):
        k = root**2
        stated = Fraction(k + root, 4) / sigma**2
        equal(farthest(sigma**2, sigma**power / root, k), stated, k=k, sigma=sigma)


@CSH.holds("Appendix B", "distance of g and g^")
@mutant("the counters of X' are lowered by 1/3", offset=Fraction(1, 3))
def distance_of_vectors(offset: Fraction = Fraction(1, 2)) -> None:
    """The two vectors are sqrt(j + sqrt k)/2 apart, whichever shared counters move: these differ
    by 1/2 and entry k + 1 by k^(1/4)/2. Without that offset they are at most sqrt j apart, which
    is reached.
    """
    for root, j in product((1, 2, 4), range(1, 5)):
        moved = list(product((0, 1), repeat=j))
        equal(max(sum(m * m for m in moves) for moves in moved), j, j=j)
        for moves in moved:
            squared = sum((m - offset) ** 2 for m in moves) + offset**2 * root
            equal(squared, Fraction(j + root, 4), k=root**2, moves=moves)


@CSH.holds(
    "Appendix B",
    "the larger support has k counters",
    elsewhere="the mutant is about one counter more",
)
@mutant("also with k + 1 counters", more=2)
def largest_support(more: int = 0) -> None:
    """Without loss of generality max(|U|, |U'|) = k: with fewer counters the third and fourth term
    at the same j are at most as large, psi(m) falling with m.
    """
    with precision(BITS):
        for at in (*MIXED, point(9, "20", "30", "0.1")):
            for j in sorted({1, at.k // 3, at.k - 2}):
                for size in sorted({j + 1, (j + at.k) // 2, at.k - 1 + more}):
                    for term in (third, fourth):
                        worst = loosened(term(at, j))
                        at_most(term(at, j, size), worst, k=at.k, j=j, size=size)


@CSH.holds("Appendix B", "first and second case")
@mutant(share=Fraction(99, 100))
def first_cases(
    share: Fraction = Fraction(1),
    loss: Fraction = Fraction(1),
    threshold: Fraction = Fraction(1),
) -> None:
    """U or U' empty leaves at most 1 - psi(k); U = U' at most the Gaussian delta at
    sqrt(k + sqrt k)/2, whatever number of counters there are (up to k).
    """
    with precision(BITS):
        for at in (*MIXED, point(9, "4", "9", "0.1"), point(100, "20", "20", "0.35"), LARGE):
            of = family(weakened(at, loss, threshold))
            sizes = sorted({1, at.k // 2, at.k})
            for r in sizes:
                at_most(pair(of, 0, 0, r), ball(share) * delta_inf(at), point=at, r=r)
            most = loosened(ball(share) * delta_gauss(at))
            for j in sizes:
                for a in sorted({1, min(j, (j + isqrt(at.k)) // 2), j}):
                    at_most(pair(of, j, a, 0), most, point=at, j=j, a=a)


#: Near the Gaussian part, half and sqrt j, and near the part of the counters that show (at 4, 1).
_PAIRS = (
    MIXED[0],
    point(4, "6", "20", "1"),
    point(3, "30", "40", "0.1"),
    *FAR[::2],
)


@CSH.holds("Appendix B", "case U' in U")
@mutant(share=Fraction(99, 100))
def third_case(
    share: Fraction = Fraction(1),
    loss: Fraction = Fraction(1),
    threshold: Fraction = Fraction(1),
) -> None:
    """delta of every pair with |U'| = j, |U| = k is at most the third term at j,
    delta_gauss(j) + delta_inf(j).
    """
    with precision(64):
        for at, j, a in _cases():
            of, most = family(weakened(at, loss, threshold)), loosened(ball(share) * third(at, j))
            at_most(pair(of, j, a, at.k - j), most, point=at, j=j, a=a)


def _cases() -> Iterator[tuple[Point, int, int]]:
    """Parameters, j, and how many of the j shared counters change."""
    for at in _PAIRS:
        for j in range(1, min(at.k, 4)):
            yield from ((at, j, a) for a in sorted({0, 1, j}))
    yield LARGE, 1, 0


@CSH.holds("Appendix B", "chain of inequalities")
@mutant("with eps^ = epsilon - ln psi", sign=-1)
def chain(sign: int = 1) -> None:
    """With eps^ = epsilon + ln psi, P(G) <= e^(eps^) P(G') + d and P(G') <= P(F')/psi give
    P(G) <= e^epsilon P(F') + d: what is left is the sum of what these leave, the second times
    e^(eps^).
    """
    names = "e_epsilon psi d G G_other F_other"
    factor, psi, d, first, second, other = sp.symbols(names, positive=True)
    grow = factor * psi**sign
    left = (grow * second + d - first) + grow * (other / psi - second)
    identity(factor * other + d - first - left)


@CSH.holds("Appendix B", "Bayes' theorem")
@mutant(times=Fraction(101, 100))
def hidden_and_noise(times: Fraction = Fraction(1)) -> None:
    """Given that the new counters stay hidden, a small shared noise is likelier:
    P(g~_(k+1) <= beta | no bottom) >= P(g~_(k+1) <= beta) for every beta.
    """
    with precision(64):
        for kappa, r, rho in ((2, 1, 1), (3, 4, 2), (4, 10, 3)):  # kappa = sqrt k, r < k

            def weighted(z: acb, _: bool, kappa: int = kappa, r: int = r, rho: int = rho) -> acb:
                return (-kappa * z * z / 2).exp() * phi(rho - z) ** r

            whole = acb.integral(weighted, acb(-14), acb(14)).real
            for quarters in (-6, -2, 0, 1, 3, 6):
                beta = arb(quarters) / 4
                conditional = acb.integral(weighted, acb(-14), acb(beta)).real / whole
                plain = cdf(beta * arb(kappa).sqrt())
                at_most(
                    ball(times) * plain, conditional, kappa=kappa, r=r, beta=Fraction(quarters, 4)
                )


@CSH.note("Appendix B", "probability of no output bottom")
@as_printed(limit=Fraction(0))
@mutant(limit=Fraction(7, 10))
@fitted(limit=Fraction(76, 100))
def no_bottom(limit: Fraction = Fraction(1)) -> None:
    r"""F outputs bottom when g~_(k+1)/k^(1/4) + g~_i > tau for some i > j, and psi(k - j) is a
    lower bound on the probability that it does not.

    Printed (Appendix B, mechanism F, line 549):
        \mathbf{\tilde{g}}_{k+1}/k^{1/4}+\mathbf{\tilde{g}}_{i}>\tau
    Corrected: F outputs bottom when the sum, which is the noisy count 1 + Z_i + Z_corr, exceeds
        1 + tau, as the end of the proof says; then psi(k - j) is that bound (Lemma 3.2).
    """
    with precision(BITS):
        for at in MIXED:
            for j in (1, at.k // 2):
                ratio = ball((at.tau + limit - 1) / at.sigma)
                bottom = threshold_only(at.k - j, ratio, None, at.k - j)
                at_most(bottom, -log_psi(at, at.k - j).expm1(), point=at, j=j)


@CSH.note("Appendix B", "mechanism F")
@as_printed(share=Fraction(0))
@mutant(share=Fraction(99, 100))
def mechanism_f(share: Fraction = Fraction(1)) -> None:
    r"""F adds noise to the non-zero entries; F(g), where g_(k+1) = 0, then has the law of G(g).

    Printed (Appendix B, mechanism F, line 549): that adds noise independently from ... to all
        non-zero entries of a vector.
    Corrected: F adds noise to entry k + 1 also where it is zero, as G does, whose law the proof
        says F(g) has. Without it the recovered counters would have no shared noise; with it the
        farthest change is sqrt(k + sqrt k)/2 sigmas away, as for Algorithm 2.
    """
    for root, sigma in product((1, 2, 3), (Fraction(3), Fraction(1, 2))):
        # g~_(k+1) is divided by k^(1/4), its variance by sqrt k
        k, stated = root**2, Fraction(root**2 + root, 4) / sigma**2
        equal(farthest(sigma**2, share * sigma**2 / root, k), stated, k=k, sigma=sigma)


@CSH.note("Appendix B", "recovering Algorithm 2")
@as_printed(last=False)
@mutant("g~_(k+1) is divided by sqrt k", power=2)
def recovering(last: bool = True, power: int = 1) -> None:
    r"""H~_i = g~_i + g~_i/k^(1/4) gives the noisy counts back.

    Printed (Appendix B, post-processing of F, line 566):
        \tilde{\mathbf{H}}_{i}=\mathbf{\tilde{g}}_{i}+\mathbf{\tilde{g}}_{i}/k^{1/4}
    Corrected: H~_i = g~_i + g~_(k+1)/k^(1/4), as in the definition of bottom: without noise the
        entries H_i - 1/2 and k^(1/4)/2 give H_i.
    """
    for count, fourth_root in product(range(1, 4), (2, 3, 4)):
        entry, extra = count - Fraction(1, 2), Fraction(fourth_root, 2)
        recovered = entry + (extra if last else entry) / fourth_root**power
        equal(recovered, count, k=fourth_root**4, count=count)


@CSH.note("Appendix B", "resampling")
@as_printed(hidden=2)
@mutant("until counter 1 shows", counter=0)
def resampling(hidden: int = 0, counter: int = 1) -> None:
    r"""Where F outputs bottom, Algorithm 2 is sampled on H(X') until H~_i != i for some i > j.

    Printed (Appendix B, post-processing of F, line 566): \tilde{H}_{i}\neq i
    Corrected: It is sampled until H~_i != 0, so until a counter i > j shows. Only then has the
        post-processed output the law of Algorithm 2, which the step is to show; to the letter
        (i = 2) nearly every sample would be taken.
    """
    noise, tau = {-3: 1, 0: 3, 1: 2, 3: 1}, 2  # of both counters and shared, value -> weight
    law: Counter[tuple[int, int]] = Counter()  # of Algorithm 2 on H(X') = (2, 1), j = 1
    for (x, p), (y, q), (z, r) in product(noise.items(), repeat=3):
        noisy = (2 + x + z, 1 + y + z)
        law[noisy[0] * (noisy[0] > 1 + tau), noisy[1] * (noisy[1] > 1 + tau)] += p * q * r
    bottom = sum(weight for y, weight in law.items() if y[1])
    taken = {y: weight for y, weight in law.items() if y[counter] != hidden}
    for output, weight in law.items():
        again = Fraction(taken.get(output, 0) * bottom, sum(taken.values()))
        equal(again + weight * (not output[1]), weight, output=output)


@CSH.note("Appendix B", "the intermediate histogram for U in U'")
@as_printed(above_k=True)
@mutant("it is j-sparse", above_j=False)
def intermediate(above_k: bool = False, above_j: bool = True) -> None:
    """For U in U' the intermediate histogram of Theorem 3.3 is not k-sparse.

    Printed (Appendix B, case U in U', line 539): does not give us the bound we want because it is
        not k
    Corrected: It is k-sparse, but not j-sparse, which the case before needed.
    Extraction: possible only if j was read as k; three renderings agree on k.
    """
    for k, (second, first) in product((2, 3), reach(3, 2)):  # the user is one more for X'
        j, most = (sum(x > 0 for x in h) for h in (first, second))
        if 0 < j < most <= k:
            middle = [p if p and q else q for p, q in zip(first, second, strict=True)]
            size = sum(x > 0 for x in middle)
            holds((size > k) == above_k, k=k, X=first, other=second)
            holds((size > j) == above_j, k=k, X=first, other=second)


class _Chances(NamedTuple):
    """Of the paper's event Y = {e^epsilon F(g')(y) <= F(g)(y)} at k = 2, j = 1."""

    conditional: arb  # P(F(g') in Y | no bottom)
    lifted: arb  # P(F(g') in Y)/psi(1)
    plain: arb  # P(G(g') in Y)


@cache
def _chances(at: Point) -> _Chances:
    """By integrating over entry k + 1, z; the first entry differs by 1/2, and g'_2 is 1/2."""
    fourth_root, lam = arb(at.k).root(4), 1 / ball(at.sigma)
    first, last, limit = lam / 2, lam * fourth_root / 2, (ball(at.tau) + arb(1) / 2) * lam
    squared, end = first**2 + last**2, arb(12)

    def hidden(z: acb) -> acb:
        return phi(limit - z / fourth_root)

    def density(z: acb) -> acb:
        return (-((z - last) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()

    def in_event(z: acb, analytic: bool) -> acb:
        # F(g')'s first entry, less its mean, is below this exactly where the loss is >= epsilon
        loss = squared / 2 - ball(at.epsilon) - last * z - hidden(z).log(analytic=analytic)
        return phi(loss / first - first) * density(z)

    seen = acb.integral(lambda z, analytic: in_event(z, analytic) * hidden(z), -end, end)
    top = acb.integral(lambda z, _: hidden(z) * density(z), -end, end)
    plain = acb.integral(in_event, -end, end)
    rest = arb(0).union(2 * tail(end - last))
    integrals: list[arb] = [part.real + rest for part in (seen, top, plain)]
    return _Chances(
        integrals[0] / integrals[1], integrals[0] / log_psi(at, at.k - 1).exp(), integrals[2]
    )


_LARGE_NOISE = (point(2, "30", "10", "1.2"), point(2, "5", "2", "0.2"))
_SMALL_NOISE = (point(2, "1", "1", "0.5"),)


@CSH.refuted("Appendix B", "the missing piece", severity="loose")
@as_printed(regime=_LARGE_NOISE)
@mutant(share=Fraction(93, 100))
@fitted(share=Fraction(94, 100))
def missing_piece(regime: tuple[Point, ...] = _SMALL_NOISE, share: Fraction = Fraction(1)) -> None:
    r"""P(F(g') in Y)/psi >= P(F(g') in Y | no bottom) >= P(G(g') in Y) for the event Y = Y_eps,
    where F(g) has at least e^epsilon times the density of F(g').

    Printed (Appendix B, case U in U', after the first display, line 559): the inequality still
        holds because ... occurring increases the probability that ... is small, which leads to a
        higher privacy loss event
    Corrected: The second inequality is reversed where the noise is large, and at the first point
        below even P(F(g') in Y)/psi < P(G(g') in Y). The step conditions on
        g~_(k+1) <= beta as if bottom did not matter then, which holds given g~_(k+1) = beta only.
        The theorem survives, as its third term covers this case.
    Regime: noise well above one count: at k = 2, j = 1 it fails at (sigma, tau, epsilon) =
        (30, 10, 1.2) and (5, 2, 0.2), and holds at (1, 1, 0.5).
        With large noise the loss grows with the shared noise, because a new counter then hardly
        stays hidden; so Y has the outputs of large shared noise, which are rare given no bottom.
    Extraction: no: text and display say it.

    >>> from mpmath import log, ncdf, npdf, quad
    >>> k, sigma, tau, eps = 2, 30, 10, 1.2             # j = 1, in units of sigma
    >>> first, last = 1/60, k**0.25/60                  # by which entries 1 and 3 of g' are larger
    >>> hidden = lambda z: ncdf((tau + 0.5)/sigma - z/k**0.25)  # of entry 2, z the noisy entry 3
    >>> gain = lambda z: (first**2 + last**2)/2 - eps - last*z - log(hidden(z))
    >>> event = lambda z: ncdf(gain(z)/first - first) * npdf(z, last, 1)   # z, and loss >= eps
    >>> cuts = [-8, -2, 0, 1, 1.5, 2, 2.5, 3, 4, 8]
    >>> seen = quad(lambda z: event(z) * hidden(z), cuts)
    >>> top = quad(lambda z: hidden(z) * npdf(z, last, 1), cuts)
    >>> float(round(seen / top, 4)), float(round(quad(event, cuts), 4))    # the first is not larger
    (0.045, 0.1499)
    """
    with precision(64):
        for at in regime:
            chances = _chances(at)
            at_most(chances.conditional, chances.lifted, point=at)
            at_most(chances.plain, chances.conditional, point=at)
        for at in _LARGE_NOISE:
            chances = _chances(at)
            if at.epsilon > 1:
                below(chances.lifted, chances.plain, point=at)
            below(chances.conditional, ball(share) * chances.plain, point=at)
