"""SVA, Section II: local hashing for one item, repetition, the warm-up, sampling, real values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations, product
from typing import Any

from flint import arb

from exactdp.accounting.divergence import max_loss
from exactdp.balls import ball, precision
from exactdp.law import Law
from exactdp.local.sparse import KFold, OneBit, Sampled
from exactdp.samplers import exact_law
from exactdp_proofs.boxes import always_positive, never_negative
from exactdp_proofs.comparisons import at_most, equal
from exactdp_proofs.papers.sva._model import (
    Vector,
    distance,
    events,
    hashes,
    pairs,
    report,
    sensitivity,
    sparse,
)
from exactdp_proofs.papers.sva._tails import least_integer, walk_tail
from exactdp_proofs.rationals import Fraction, raised
from exactdp_proofs.statements import SVA, as_printed, fitted, mutant, weaker

_FACTORS = (Fraction(3, 2), Fraction(3), Fraction(100))


def _hashed(slots: tuple[int, ...], d: int, flip: Fraction) -> Law[tuple[tuple[int, ...], int]]:
    """(s, s(item), flipped with this probability): s uniform, item one of the slots at random."""
    signs = list(product((-1, 1), repeat=d))
    return (
        Law.uniform(signs)
        .product(Law.uniform(slots))
        .then(lambda t: Law({(t[0], t[0][t[1]]): 1 - flip, (t[0], -t[0][t[1]]): flip}))
    )


@SVA.holds("Section II-A", "privacy")
@weaker
def hashing_private(loss: Fraction = Fraction(1)) -> None:
    """Flipping the bit s(x) with probability 1/(e^epsilon + 1) is epsilon-LDP, exactly."""
    for e_eps in _FACTORS:
        flip = 1 / (raised(e_eps, loss) + 1)
        equal(max_loss(_hashed((0,), 3, flip), _hashed((1,), 3, flip)), e_eps, e_epsilon=e_eps)


@SVA.holds("Section II-A", "estimator")
@mutant(more=Fraction(101, 100))
def hashing_unbiased(more: Fraction = Fraction(1)) -> None:
    """(e^epsilon + 1)/(e^epsilon - 1) (2 t/n - 1), with t the number of clients whose bit matches
    s_i(x), is unbiased for the share of clients that own x.
    """
    for e_eps, x in product(_FACTORS, range(3)):
        scale = (e_eps + more) / (e_eps - 1)
        laws = [_hashed((item,), 3, 1 / (e_eps + 1)) for item in (0, 1)]  # two clients
        mean = sum(law.expectation(lambda t: scale * (2 * (t[0][x] == t[1]) - 1)) for law in laws)
        equal(mean, int(x in (0, 1)), e_epsilon=e_eps, x=x)


def _sinhc(x: arb) -> arb:
    """A lower bound of sinh(x)/x, exact at 0."""
    return 1 + x * x / 6


@SVA.holds("Section II-A", "magnitude of one report")
@mutant(least=Fraction(216, 100))
def hashing_magnitude(least: Fraction = Fraction(217, 100)) -> None:
    """One report contributes +-(e^epsilon + 1)/(e^epsilon - 1), at most 2.17/epsilon for epsilon
    <= 1. By Hoeffding's inequality the error is then of the stated order.
    """
    # with x = epsilon/2 in [0, 1/2]: x cosh x <= (least/2) sinh x, over x
    always_positive(lambda x: ball(least / 2) * _sinhc(x) - x.cosh(), [(0, Fraction(1, 2))])


def _kfold(k: int, vector: Mapping[int, int], epsilon: Fraction = Fraction(1)) -> Law[Any]:
    """The law of the shipped report for k virtual clients and four items."""
    m = KFold(d=4, k=k, epsilon=epsilon)
    return exact_law(lambda source: m.draw(vector, source))


@SVA.holds("Section II-B", "k-fold repetition")
@mutant(share=Fraction(101, 100))
def repetition(share: Fraction = Fraction(1)) -> None:
    """The error of k-fold repetition is sqrt(k)/(epsilon sqrt(n)): k times the error
    1/(epsilon sqrt(kn)) of a mean over kn virtual clients. For an item that nobody has, the mean
    square of the shipped estimate is k/n times that of one report for one item.
    """
    for k, users in ((1, 1), (1, 2), (2, 1)):
        m, law = KFold(d=4, k=k, epsilon=1), _kfold(k, {0: 1})
        both = law.map(lambda r: (r,)) if users == 1 else law.product(law)

        def estimate(rows: tuple[Any, ...], m: KFold = m) -> Fraction:
            return Fraction(m.aggregate().add(list(rows)).estimate().exact([3])[0])

        one = ((m.e_epsilon + 1) / (m.e_epsilon - 1)) ** 2
        square = both.expectation(lambda rows: estimate(rows) ** 2)
        equal(square, one * share * k / users, k=k, n=users)


@SVA.holds("Section II-B", "privacy of the repetition", slow=True)
@weaker
def repetition_private(loss: Fraction = Fraction(1)) -> None:
    """At event level the item of one virtual client changes, so that repetition keeps epsilon: the
    shipped report costs exactly that.
    """
    vectors = sparse(3, 2, (-1, 0, 1))
    laws = {v: _kfold(2, {i: int(x) for i, x in enumerate(v) if x}, loss) for v in vectors}
    worst = max(max_loss(laws[v], laws[w]) for v, w in pairs(vectors) if events(v, w) == 1)
    equal(worst, KFold(d=4, k=2, epsilon=1).e_epsilon, k=2)


@SVA.holds("Section II-B", "privacy")
@weaker
def warm_up_private(loss: Fraction = Fraction(1)) -> None:
    """Noise of magnitude 1/epsilon on every bin is epsilon-event-level-LDP for binary vectors, and
    for no smaller epsilon.
    """
    a = Fraction(1, 2)
    laws = {v: report(v, 2, 1 / raised(1 / a, loss), 3) for v in sparse(2, 2, (0, 1))}
    near = [p for p in pairs(list(laws)) if events(*p) == 1]
    equal(max(max_loss(laws[v], laws[w]) for v, w in near), 1 / a)


SVA.not_checkable(
    "Remark 4",
    "In practice h and s are pseudorandom functions in place of random oracles.",
    "a computational assumption without a formula; the refuted part of Section IV-A says where "
    "privacy rests on it",
)


@SVA.note("Section II-C", "composition", no_mechanism="distances of bins before noise")
@as_printed(divisor=Fraction(1))
@mutant("at epsilon/(1.99 k)", divisor=Fraction(199, 100))
def composition(divisor: Fraction = Fraction(2)) -> None:
    r"""Running the warm-up with epsilon/k gives epsilon-user-level privacy.

    Printed (Section II-C, first paragraph, line 148): Specifically, to achieve ϵ -user-level-LDP,
        we would need to plug in a privacy parameter of $\frac{\epsilon}{k}$ when invoking the
        warmup scheme.
    Corrected: For binary vectors it is epsilon-user-level private at epsilon/(2k), not at more:
        two users with k items each differ in up to 2k coordinates.
    Extraction: no: the same section has L = 2k. The order of the error, for which the text
        dismisses this scheme, is not affected.

    >>> from math import exp                    # k = 1, one bin; s(x) = 1, s(y) = -1; epsilon = 1
    >>> density = lambda report, count: exp(-abs(report - count)) / 2       # Lap(k/epsilon)
    >>> x, y = 1, -1                            # the counts of users with item x, and with item y
    >>> ratio = density(1, x) / density(1, y)
    >>> round(ratio, 3), round(exp(1), 3), round(exp(2), 3)
    (7.389, 2.718, 7.389)
    """
    for d, k in ((2, 1), (4, 2)):
        users = [v for v in sparse(d, k, (0, 1)) if sum(v) == k]
        for v, w in combinations(users, 2):  # the loss in units of epsilon
            at_most(sensitivity(v, w, k) / (divisor * k), 1, d=d, k=k)


@SVA.conditional("Section II-C", "one bin")
@mutant("sqrt(1.4) in place of 3", square=Fraction(7, 5))
@fitted(square=Fraction(3, 2))
def one_bin(square: Fraction = Fraction(9)) -> None:
    """A bin changes by at most 3 sqrt((L/b) log(2b/delta)), but for probability delta/b.

    Condition: L/b >= log(2b/delta), as in Lemma 14; without it one collision exceeds the bound.
    """
    with precision(80):
        for length, b, exponent in product((1, 4, 30, 60), (1, 2, 200), (1, 3)):
            delta = Fraction(1, 10**exponent)
            log = ball(2 * b / delta).log()
            if length >= b * log:
                reach = least_integer((ball(square * length / b) * log).sqrt())
                at_most(walk_tail(length, b, reach), delta / b, L=length, b=b, delta=delta)


@SVA.holds("Section II-C", "noise parameter")
@mutant("c = 1/sqrt(17)", square=17)
def noise_parameter(square: int = 18) -> None:
    """epsilon' = c epsilon/min(L, sqrt(b L log(b/delta))) with c = 1/sqrt(18) is no more than Lemma
    14 allows, epsilon/min(L, 3 sqrt(b L log(2b/delta))), for b/delta >= 2.

    Note: the text has O(epsilon) in place of c epsilon.
    """
    # 9 log(2r) <= square log(r) for r = b/delta >= 2; over log(r), with w = log(2)/log(r) <= 1
    never_negative([square - 9, -9], 0, 1)


@SVA.holds("Section II-C", "user level")
@mutant(share=Fraction(113, 100))
@fitted(share=Fraction(112, 100))
def user_level(share: Fraction = Fraction(1)) -> None:
    """At user level (L = 2k) one bin makes sqrt(k/b) + min(L, sqrt(b L)) least, and of the order of
    sqrt(k).

    Note: the text calls this case k-neighbouring; see Definition 10, binary users.
    """
    with precision(80):
        for k in (2, 5, 64):
            totals = {
                b: ball(Fraction(k, b)).sqrt() + ball(min(4 * k * k, 2 * k * b)).sqrt()
                for b in range(1, 2 * k + 1)
            }
            at_most(totals[1], ball(Fraction(242, 100)) * ball(k).sqrt(), k=k)
            for b in range(2, 2 * k + 1):
                at_most(ball(share) * totals[1], totals[b], k=k, b=b)


@cache
def _sampled(k: int, vector: Vector, epsilon: Fraction = Fraction(1)) -> Law[int]:
    """The law of the shipped report of one sign out of k."""
    m = Sampled(d=len(vector), k=k, epsilon=epsilon)
    values = {i: int(x) for i, x in enumerate(vector) if x}
    return exact_law(lambda source: int(m.draw_many([values], source)[0]))


@SVA.holds("Section II-C", "sampling")
@mutant(share=Fraction(101, 100))
def sampling(share: Fraction = Fraction(1)) -> None:
    """Sampling one of k entries and scaling by k is unbiased, with second moment
    (k (e^epsilon + 1)/(e^epsilon - 1))^2 per client, as shipped.
    """
    for k in (1, 3):
        m = Sampled(d=4, k=k, epsilon=1)
        gain = (m.e_epsilon + 1) / (m.e_epsilon - 1)
        answers = {r: m.aggregate().add([r]).estimate().exact(range(4)) for r in range(8)}
        for v in sparse(4, k, (-1, 0, 1))[::14]:
            law = _sampled(k, v)
            for x in range(4):
                square = law.expectation(lambda r: answers[r][x] ** 2)
                equal(law.expectation(lambda r: answers[r][x]), v[x], k=k, x=x)
                equal(square, share * (k * gain) ** 2, k=k, x=x)


@SVA.holds("Section II-C", "privacy of sampling", slow=True)
@mutant("2 % less per event", share=Fraction(49, 50))
def sampling_private(share: Fraction = Fraction(1), loss: Fraction = Fraction(1)) -> None:
    """Sampling one entry and running the 1-sparse scheme at epsilon, as shipped, costs users
    exactly epsilon; one changed entry costs less, exactly log(1 + (e^epsilon - 1)/k).
    """
    for k in (1, 2, 3):
        e_eps = Sampled(d=4, k=k, epsilon=1).e_epsilon
        near = pairs(sparse(4, k, (-1, 0, 1)))
        losses = {(v, w): max_loss(_sampled(k, v, loss), _sampled(k, w, loss)) for v, w in near}
        equal(max(losses.values()), e_eps, k=k)
        event = max(worst for pair, worst in losses.items() if events(*pair) == 1)
        equal(event, 1 + share * (e_eps - 1) / k, k=k)


@SVA.holds("Section II-C", "distance from optimal")
@mutant("1.01 k/4 times", share=Fraction(101, 100))
def distance_from_optimal(share: Fraction = Fraction(1)) -> None:
    """Sampling is a factor of the order of sqrt(k) away from optimal: as shipped, its variance is
    k/4 times that of one bit of the sum clipped at 2 sqrt(k).
    """
    for root in (2, 4, 8, 32):
        k = root * root
        basic: dict[str, Any] = {"d": 10**5, "k": k, "epsilon": 1}
        ratio = Sampled(**basic).variance / OneBit(**basic, clip=2 * root).variance
        equal(ratio, share * k / 4, k=k)


@SVA.holds("Section II-C", "padding")
@mutant(scale=Fraction(101, 100))
def padding(scale: Fraction = Fraction(1)) -> None:
    """A client with m < k items must fill up to k before sampling. Then the estimate is unbiased;
    without filler items it is k/m for the client's own items.
    """
    for k, own in ((2, 1), (3, 1), (3, 2), (3, 3)):
        bare, full = (_hashed(tuple(range(slots)), k + 1, Fraction(1, 4)) for slots in (own, k))
        for x in (*range(own), k):
            stated = (Fraction(k, own), Fraction(1)) if x < own else (0, 0)
            for law, mean in zip((bare, full), stated, strict=True):
                average = law.expectation(lambda t: scale * k * 2 * t[0][x] * t[1])
                equal(average, mean, k=k, items=own, x=x)


@SVA.note("Section II-D", "bins")
@as_printed(own=False)
@mutant(most=Fraction(199, 100))
def real_bins(own: bool = True, most: Fraction = Fraction(2)) -> None:
    r"""For real vectors every bin holds the sum of s(x) v_x over all x, plus noise, and the scheme
    works as before.

    Printed (Section II-D, display, line 188): B_{i,j} := \sum_{x \in [d]} s_i(x) \cdot v_{i,x}
    Corrected: Bin j holds the sum over the x with h(x) = j: then one event moves the bins by at
        most 2 in total, which is attained.
    Extraction: no: the other sections restrict the sum to the bin.
    """
    vectors = sparse(3, 3, (-1, Fraction(1, 2), 1))
    near = [p for p in pairs(vectors) if events(*p) == 1]
    for h, s in hashes(3, 2):
        sums = {
            v: [sum(s[x] * v[x] for x in range(3) if h[x] == j or not own) for j in range(2)]
            for v in vectors
        }
        widest = max(distance(sums[v], sums[w]) for v, w in near)  # type: ignore[arg-type]
        equal(widest, most, h=h, s=s)


SVA.not_checkable(
    "Section II-E",
    "The lower bound of Bassily and Smith closes the event-level case and extends to users.",
    "announces Section VI; its parts are under Theorems 3, 11, 15 and Lemmas 20 to 23",
)
