"""SVA, Appendix D: the lemmas and the displays of the lower bound's proof."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import comb

import sympy as sp
from flint import arb

from exactdp.accounting.divergence import hockey_stick
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp_proofs.comparisons import at_most, below, equal, identity
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import SVA, as_printed, fitted, mutant, weaker

Channel = Sequence[Law[int]]
Vector = tuple[Fraction, ...]

_FACTORS = (Fraction(101, 100), Fraction(3, 2), Fraction(27, 10))


def _members(d: int, k: int) -> list[Vector]:
    return [tuple(Fraction(i in ones) for i in range(d)) for ones in combinations(range(d), k)]


def _randomized_response(size: int, e_epsilon: Fraction) -> list[Law[int]]:
    """Keeps the input with e^epsilon times the weight of every other value."""
    total = e_epsilon + size - 1
    return [
        Law({z: (e_epsilon if z == v else Fraction(1)) / total for z in range(size)})
        for v in range(size)
    ]


def _leak(channel: Channel, delta: Fraction) -> list[Law[int]]:
    """With probability delta the input itself, in a part of the alphabet of its own."""
    return [
        Law.mixture([(1 - delta, q), (delta, Law.point(len(channel) + v))])
        for v, q in enumerate(channel)
    ]


def _degrade(channel: Channel, eta: Fraction) -> list[Law[int]]:
    """The channel fed with its input with probability eta, with a uniform one otherwise."""
    average = Law.mixture([(Fraction(1, len(channel)), q) for q in channel])
    return [Law.mixture([(eta, q), (1 - eta, average)]) for q in channel]


def _information(channel: Channel) -> arb:
    """I(V; Q(V)) in nats for uniform V."""
    share = Fraction(1, len(channel))
    average = Law.mixture([(share, q) for q in channel])
    return sum(
        (ball(share * p) * ball(p / average[z]).log() for q in channel for z, p in q.items()),
        arb(0),
    )


@SVA.holds("Lemma 20", "on instances", ours=True)
@mutant(square=Fraction(19, 100))
@fitted(square=Fraction(1, 5))
def lemma_20(square: Fraction = Fraction(1, 2)) -> None:
    """The empirical mean of n samples is within sqrt(log(2d)/(2n)) of the distribution's mean in
    expected L_infinity distance, so within O(sqrt(log d/n)) for d >= 2. Checked for uniform
    samples from S.
    """
    with precision(80):
        for d, k, n in ((2, 1, 1), (2, 1, 6), (3, 1, 4), (4, 2, 3), (5, 1, 3)):
            samples = list(product(_members(d, k), repeat=n))
            means = [[sum(column) / n for column in zip(*u, strict=True)] for u in samples]
            total = sum(max(abs(x - Fraction(k, d)) for x in mean) for mean in means)
            at_most(total / len(samples), (ball(square / n) * ball(2 * d).log()).sqrt(), d=d, n=n)


@SVA.refuted("Lemma 20", "smaller order", severity="loose")
@as_printed(least=Fraction(0), most=Fraction(40, 100))
@mutant(least=Fraction(46, 100))
def smaller_order(least: Fraction = Fraction(45, 100), most: Fraction = Fraction(1)) -> None:
    r"""The distance is of smaller order than (1/epsilon) sqrt(k log(d/k)/n), for every epsilon =
    O(1) and every k.

    Printed (Appendix D, Lemma 20, line 663): \leq O\left(\sqrt{\frac{\log d}{n}}\right) =
        o\left(\frac{1}{\epsilon} \sqrt{\frac{k \log(d/k)}{n}}\right)
    Corrected: For k <= sqrt(d) the bound sqrt(log d/n) is of smaller order exactly as epsilon^2/k
        tends to 0. At d = 2 and epsilon = k = 1 the distance itself is at least 0.45 of
        (1/epsilon) sqrt(k log(d/k)/n), for all n tried up to 1024.
    Regime: epsilon and k constant, which Theorem 15 admits. Where epsilon^2/k is below a constant,
        the reduction to the distribution's mean goes through with another constant.
    Extraction: no: the same little-o is what the reduction needs.

    >>> from math import log, sqrt
    >>> epsilon, k = 1, 1
    >>> [epsilon * sqrt(log(d) / (k * log(d / k))) for d in (10, 10**3, 10**9)]     # the ratio
    [1.0, 1.0, 1.0]
    """
    with precision(80):
        for n in (1, 4, 16, 64, 256, 1024):
            weights = [(comb(n, m), abs(Fraction(m, n) - Fraction(1, 2))) for m in range(n + 1)]
            distance = sum(w * x for w, x in weights) / Fraction(2**n)  # n samples of two items
            bound = (ball(2).log() / n).sqrt()
            at_most(distance, ball(most) * bound, n=n)
            at_most(ball(least) * bound, distance, n=n)


def _decode(answer: Sequence[Fraction], eta: Fraction, members: list[Vector], by: int) -> Vector:
    """Y = (answer - (1 - eta) (1/by) sum over S)/eta."""
    sums = [sum(column) for column in zip(*members, strict=True)]
    return tuple((a - (1 - eta) * c / by) / eta for a, c in zip(answer, sums, strict=True))


@SVA.note("Appendix D", "decoding step")
@as_printed(users=100)
@mutant("divided by |S| + 1", more=1)
def decoding(users: int | None = None, more: int = 0) -> None:
    r"""V is recovered from an exact estimate A of the mean of P_V by Y = (A - (1 - eta) (1/n) sum
    over S of v)/eta, with n the number of clients.

    Printed (Appendix D, step 3 of the process, line 671): (1 - \eta) \cdot \frac{1}{n} \sum_{v \in
        \mathcal{S}} v)$
    Corrected: The uniform part has the mean (1/|S|) sum over S of v; with it Y = V.
    Extraction: unlikely: n and |S| do not look alike; equation (2) averages over S.

    >>> eta, n = 0.1, 100                      # S = {(1, 0), (0, 1)}, V = (1, 0)
    >>> mean = (eta + (1 - eta) / 2, (1 - eta) / 2)
    >>> [round((a - (1 - eta) * 1 / n) / eta, 2) for a in mean]         # the sum over S is (1, 1)
    [5.41, 4.41]
    >>> [round((a - (1 - eta) * 1 / 2) / eta, 2) for a in mean]         # divided by |S| = 2
    [1.0, 0.0]
    """
    for d, k, eta in ((2, 1, Fraction(1, 10)), (3, 1, Fraction(1, 2)), (4, 2, Fraction(1, 100))):
        members = _members(d, k)
        for v in members:
            answer = tuple(eta * x + (1 - eta) * Fraction(k, d) for x in v)
            recovered = _decode(answer, eta, members, (users or len(members)) + more)
            equal(recovered, v, d=d, k=k, eta=eta)


#: Errors of an answer in two coordinates, in units of eta; from 1/2 on the decoding may fail.
_OFF = tuple((Fraction(x, 8), Fraction(y, 8)) for x, y in product((0, -5, 4), repeat=2))


@SVA.holds("Lemma 21", "on instances", ours=True)
@mutant(factor=Fraction(99, 50))
def lemma_21(factor: Fraction = Fraction(2)) -> None:
    """The decoding error has probability at most (2/eta) E max|A - mean of P_V|, by Markov's
    inequality, since it needs max|Y - V| >= 1/2: at most 1/5 where that mean is at most eta/10.
    """
    members = _members(2, 1)
    for eta, tenths in product((Fraction(1, 10), Fraction(1, 2)), ((1, 1), (3, 4), (1, 9))):
        for v, shifts in product(members, product(_OFF, repeat=2)):
            wrong = mean = Fraction(0)  # the answer is exact but for two outcomes
            for p, shift in zip((Fraction(x, 10) for x in tenths), shifts, strict=True):
                centre = [eta * x + (1 - eta) / 2 for x in v]
                answer = [c + eta * s for c, s in zip(centre, shift, strict=True)]
                y = _decode(answer, eta, members, len(members))
                wrong += p * (tuple(Fraction(x >= Fraction(1, 2)) for x in y) != v)
                mean += p * max(abs(a - c) for a, c in zip(answer, centre, strict=True))
            at_most(wrong, factor / eta * mean, eta=eta)


SVA.not_checkable(
    "Lemma 22",
    "For uniform V in S and an (epsilon, delta)-private channel, I(V; Q(V)) = O(epsilon^2 + "
    "(delta/epsilon) log|S| + (delta/epsilon) log(epsilon/delta)).",
    "asymptotic, cited from Bassily and Smith",
)


@SVA.holds("Lemma 22", "randomized response")
@mutant(share=Fraction(9, 10))
def lemma_22(share: Fraction = Fraction(1), loss: Fraction = Fraction(1)) -> None:
    """Randomized response that leaks its input with probability delta carries at most 0.127
    epsilon^2 + (delta/epsilon) log|S| nats: the third term of the lemma is not needed there.
    """
    leaks = (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
    with precision(96):
        for size, factor, part in product((2, 3, 12), _FACTORS, leaks):
            epsilon = ball(factor).log()
            delta = part * (factor - 1) / factor  # below epsilon
            bound = ball(Fraction(127, 1000)) * epsilon**2
            bound += ball(share * delta) / epsilon * ball(size).log()
            less = _randomized_response(size, raised(factor, loss))
            information = _information(_leak(less, delta))
            at_most(information, bound, size=size, e_epsilon=factor, delta=delta)


@SVA.holds(
    "Lemma 22",
    "pure channels, degraded",
    ours=True,
    slack="the information of nearly equal laws is half of the variance of their ratio",
)
@mutant("sinh(epsilon/2)^2/4 in place of sinh(epsilon/2)^2", share=Fraction(1, 4))
def pure_channels(share: Fraction = Fraction(1)) -> None:
    """A pure channel that gets its input only with probability eta, else a uniform one, carries at
    most eta^2 sinh(epsilon/2)^2 nats: likelihood ratios have mean 1 and lie within a factor
    r = e^epsilon, so their variance is at most (M - 1)(1 - M/r) <= (r - 1)^2/(4 r) for the largest
    M. This is the constant of `exactdp.local.sparse.lower_bound` at user level.
    """
    r, m = sp.symbols("r M", positive=True)
    identity((r - 1) ** 2 / (4 * r) - (m - 1) * (1 - m / r) - (m - (r + 1) / 2) ** 2 / r)
    with precision(96):
        for size, factor, eta in product((2, 3, 12), _FACTORS, (Fraction(1, 100), Fraction(1))):
            information = _information(_degrade(_randomized_response(size, factor), eta))
            at_most(
                information, share * eta**2 * (factor - 1) ** 2 / (4 * factor), size=size, r=factor
            )


@SVA.holds("Lemma 23", "on instances", ours=True)
@weaker
def lemma_23(loss: Fraction = Fraction(1)) -> None:
    """A private channel that gets its input only with probability eta, else a uniform one, is
    private with e^eps' = 1 + eta (e^eps - 1) and delta' = eta delta, so (O(eta eps), O(eta
    delta)). Checked for randomized response that leaks its input with probability delta.
    """
    etas, deltas = (Fraction(1, 100), Fraction(1, 2)), (Fraction(0), Fraction(1, 20))
    for size, factor, eta, delta in product((2, 3, 12), (Fraction(1), *_FACTORS), etas, deltas):
        less = _randomized_response(size, raised(factor, loss))
        first, second, *_ = _degrade(_leak(less, delta), eta)
        allowed = 1 + eta * (factor - 1)
        degraded_delta = hockey_stick(first, second, e_epsilon=allowed).upper
        at_most(degraded_delta, eta * delta, size=size, e_epsilon=factor, eta=eta)


@SVA.holds("Equation (4)")
@mutant("I + 0.95 in place of I + 1", extra=Fraction(19, 20))
def fano(extra: Fraction = Fraction(1)) -> None:
    """Fano's inequality: P(error) >= 1 - (I(V; z) + 1)/log|S| for uniform V, in bits. Checked for
    channels that keep their input or replace it, and their best decoder.
    """
    with precision(96):
        for size, kept in product((2, 16, 32), (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10))):
            odds = kept * (size - 1) / (1 - kept)
            bits = _information(_randomized_response(size, odds)) / ball(2).log()
            bound = 1 - (bits + ball(extra)) * ball(2).log() / ball(size).log()
            error = 1 - max(kept, (1 - kept) / (size - 1))
            at_most(bound, error, size=size, kept=kept)


@SVA.refuted("Appendix D", "information of independent reports", severity="cosmetic")
@as_printed(alike=True)
@mutant(share=Fraction(97, 100))
def independent_reports(alike: bool = False, share: Fraction = Fraction(1)) -> None:
    r"""As the z_i are independent given V, I(V; z_1, ..., z_n) is the sum of the I(V; z_i).

    Printed (Appendix D, after equation (4), line 680): Since conditioning on V , the \mathbf{z}_i
        's are independent, we have: $I(V; \mathbf{z}_1, \dots, \mathbf{z}_n) = \sum_{i \in [n]}
        I(V; \mathbf{z}_i)$.
    Corrected: I(V; z_1, ..., z_n) is at most the sum, which is all that the proof needs.
    Regime: wherever the reports carry information.
    Extraction: no: the equality is used twice with the same reason.

    >>> from math import log2                 # z_1 = z_2 = V, a fair bit: independent given V
    >>> joint = {(v, v, v): 0.5 for v in (0, 1)}
    >>> sum(p * log2(p / (0.5 * 0.5)) for p in joint.values())            # I(V; z_1, z_2)
    1.0
    >>> 2 * sum(0.5 * log2(0.5 / (0.5 * 0.5)) for v in (0, 1))           # I(V; z_1) + I(V; z_2)
    2.0
    """
    cases = ((2, Fraction(3, 2), 2), (2, Fraction(3, 2), 3), (3, Fraction(10), 2))
    with precision(96):
        for size, e_eps, n in cases:
            channel = _randomized_response(size, e_eps)
            laws = list(channel)
            for _ in range(n - 1):
                both = zip(laws, channel, strict=True)
                laws = [p.product(q).map(lambda t: 1000 * t[0] + t[1]) for p, q in both]
            together, apart = _information(laws), n * _information(channel)
            if alike:
                at_most(apart, together, size=size, e_epsilon=e_eps, n=n)
            at_most(together, ball(share) * apart, size=size, e_epsilon=e_eps, n=n)


@SVA.note("Appendix D", "final inequality")
@as_printed(least=2, bits=Fraction(0))
@mutant("I = 0.17 bit", bits=Fraction(17, 100))
def final_inequality(least: int = 5, bits: Fraction = Fraction(4, 25)) -> None:
    r"""With eta and delta small enough, (I(V; z) + 1)/log|S| < 1/2, for every S.

    Printed (Appendix D, end of the proof of Theorem 15, line 708): = \frac{\sum_{i \in [n]} I(V;
        \mathbf{z}_i) + 1}{\log |\mathcal{S}|} < \frac{1}{2}$
    Corrected: It can be had exactly for |S| > 4: there I = 0.16 bit is small enough, while at |S|
        <= 4 not even I = 0 is. Smaller S change constants only.
    Extraction: no: it follows from equation (4), printed with + 1.

    >>> from math import comb, log2
    >>> d, k = 2, 1                        # |S| = 2; even without any information, I = 0:
    >>> (0 + 1) / log2(comb(d, k)) < 0.5
    False
    """
    for size in (least, least + 1, 10 * least, 10**6):  # 4^(1 + I) < |S|
        power = 1 + bits
        below(4**power.numerator, size**power.denominator, size=size)


SVA.not_checkable(
    "Appendix D",
    "I(V; z_i) = O(eta^2 epsilon^2 + (delta/epsilon) log|S| + (delta/epsilon) "
    "log(epsilon/delta)), and eta = min(Theta((1/epsilon) sqrt(log|S|/n)), 1), delta = "
    "o(epsilon/(n log n)) make the sum small.",
    "asymptotic; Lemma 22, randomized response, and Lemma 23 have explicit constants",
    "information per report",
)
