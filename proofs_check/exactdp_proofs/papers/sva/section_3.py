"""SVA, Section III and Appendix A: closeness, local privacy, and what counts as neighbouring."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, combinations, product

from exactdp.accounting.divergence import hockey_stick, max_loss
from exactdp.law import Law
from exactdp.local.sparse import Sampled
from exactdp.samplers import exact_law
from exactdp_proofs.comparisons import at_most, equal
from exactdp_proofs.papers.sva._model import Vector, distance, events, pairs, sparse
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import SVA, as_printed, mutant, weaker

_FACTORS = (Fraction(1), Fraction(3, 2))
_SIZES = ((1, 1), (2, 1), (3, 1), (3, 2), (4, 2))


def _coin(p: Fraction) -> Law[int]:
    return Law({0: 1 - p, 1: p})


_COINS = tuple(_coin(Fraction(x, 200)) for x in (0, 2, 50, 151, 200))


def _delta(p: Law[int], q: Law[int], factor: Fraction) -> Fraction:
    return hockey_stick(p, q, e_epsilon=factor).upper


def _subsets(outcomes: Iterable[int]) -> list[tuple[int, ...]]:
    values = sorted(outcomes)
    return list(chain.from_iterable(combinations(values, r) for r in range(len(values) + 1)))


@SVA.holds("Definition 5", no_mechanism="a formula for the divergence of any two laws")
@mutant(share=Fraction(49, 50))
def definition_5(share: Fraction = Fraction(1)) -> None:
    """The least delta for which X is (epsilon, delta)-close to X', over all events S, is the
    hockey-stick divergence that is shipped: the sum of the positive parts of p - e^epsilon p'.
    """
    weights = ((1, 1, 1), (1, 2, 3), (4, 1, 0), (0, 1, 6), (5, 2, 2))
    laws = [Law({i: Fraction(w, sum(ws)) for i, w in enumerate(ws)}) for ws in weights]
    for p, q, factor in product(laws, laws, (*_FACTORS, Fraction(3))):
        worst = max(
            p.probability(lambda x: x in s) - factor * q.probability(lambda x: x in s)
            for s in _subsets(p.support | q.support)
        )
        equal(worst, _delta(p, q, factor) * share, e_epsilon=factor)


@SVA.holds(
    "Theorem 17", "on instances", ours=True, no_mechanism="it adds divergences of any pairs of laws"
)
@mutant("delta1 + 0.95 delta2", second=Fraction(19, 20))
def theorem_17(second: Fraction = Fraction(1)) -> None:
    """If X, X' are (eps1, delta1)-close and, for every x, Y given x and Y' given x are
    (eps2, delta2)-close, then the pairs are (eps1 + eps2, delta1 + delta2)-close.
    """
    for x, xp in product(_COINS[:4], repeat=2):
        for y0, y0p, y1, y1p in product(_COINS[:3:2], repeat=4):
            pair = x.then(lambda i: Law.point(i).product((y0, y1)[i]))
            other = xp.then(lambda i: Law.point(i).product((y0p, y1p)[i]))
            for f1, f2 in product(_FACTORS, repeat=2):
                worst = max(_delta(y0, y0p, f2), _delta(y1, y1p, f2))
                bound = _delta(x, xp, f1) + second * worst
                at_most(hockey_stick(pair, other, e_epsilon=f1 * f2).upper, bound, f1=f1, f2=f2)


@SVA.holds(
    "Theorem 18",
    "on instances",
    ours=True,
    no_mechanism="it compares any two laws before and after a mapping",
)
@mutant("and delta shrinks by 1 %", share=Fraction(99, 100))
def theorem_18(share: Fraction = Fraction(1)) -> None:
    """Closeness survives any randomized function of the outcome."""
    for (x, xp, y0, y1), factor in product(product(_COINS[::2], repeat=4), _FACTORS):
        after = _delta(x.then(lambda i: (y0, y1)[i]), xp.then(lambda i: (y0, y1)[i]), factor)
        at_most(after, share * _delta(x, xp, factor), e_epsilon=factor)


SVA.not_checkable(
    "Definition 6",
    "A function is (epsilon, delta)-DP when its outputs on any two neighbours are "
    "(epsilon, delta)-close.",
    "a definition; Definition 5 and the checks of Section IV use it",
)


def _reports(*clients: Vector, epsilon: Fraction = Fraction(1)) -> Law[tuple[int, ...]]:
    """The law of all that the server sees, in one run of the shipped code for all clients."""
    m = Sampled(d=2, k=1, epsilon=epsilon)
    values = [{i: int(x) for i, x in enumerate(v) if x} for v in clients]
    return exact_law(lambda source: tuple(int(r) for r in m.draw_many(values, source)))


@SVA.holds("Definition 7", "several clients", ours=True, slow=True)
@weaker
def definition_7(loss: Fraction = Fraction(1)) -> None:
    """Shipped clients draw independently, also in one run: the privacy loss of the server's whole
    view is that of the one client whose input changes.
    """
    vectors = sparse(2, 1, (-1, 0, 1))
    alone = {v: _reports(v) for v in vectors}
    for other in vectors[:2]:
        view = {v: _reports(other, v, epsilon=loss) for v in vectors}
        for v, w in pairs(vectors):
            equal(max_loss(view[v], view[w]), max_loss(alone[v], alone[w]))


@SVA.holds("Definition 8", "distance of neighbours", no_mechanism="distances of inputs")
@mutant(most=Fraction(199, 100))
def definition_8(most: Fraction = Fraction(2)) -> None:
    """Event-level neighbours, which differ in one coordinate of one user, are at most 2 apart in
    L1 distance, and some are 2 apart: privacy for 2-neighbouring inputs implies event-level
    privacy (Section III-B).

    Note: the distance is convex, so that coordinates -1, 0 and 1 decide.
    """
    for d, k in _SIZES:
        near = [p for p in pairs(sparse(d, k, (-1, 0, 1))) if events(*p) == 1]
        equal(max(distance(*p) for p in near), most, d=d, k=k)


@SVA.holds("Definition 9", "distance of neighbours", no_mechanism="distances of inputs")
@mutant(factor=Fraction(199, 100))
def definition_9(factor: Fraction = Fraction(2)) -> None:
    """User-level neighbours, two k-sparse vectors of [-1, 1]^d, are at most 2k apart, and some
    are 2k apart: privacy for 2k-neighbouring inputs implies user-level privacy (Section III-B).
    """
    for d, k in _SIZES:
        far = max(distance(*p) for p in pairs(sparse(d, k, (-1, 0, 1))))
        equal(far, factor * k, d=d, k=k)


def _both(p: Law[int], q: Law[int]) -> Fraction:
    """The largest ratio of two laws, in both directions."""
    return Fraction(max(max_loss(p, q), max_loss(q, p)))


@SVA.holds(
    "Section III-B", "one item", no_mechanism="losses of any laws of one bit against each other"
)
@mutant("1.99 epsilon per user", hundredths=199)
def one_item(hundredths: int = 200) -> None:
    """For k = 1 event-level and user-level privacy are the same up to a constant factor: epsilon
    per event is 2 epsilon per user, and in general not less.
    """
    coins = [_coin(Fraction(i, 12)) for i in range(1, 12)]
    ratio = {(p, q): _both(coins[p], coins[q]) for p, q in product(range(11), repeat=2)}
    for nothing, x, y in product(range(11), repeat=3):  # one bit about no item, item x, item y
        event = max(ratio[nothing, x], ratio[nothing, y])
        at_most(max(event, ratio[x, y]) ** 100, event**hundredths, nothing=nothing, x=x, y=y)


@SVA.holds("Definition 10", "binary events")
@mutant(length=2)
def binary_events(length: int = 1) -> None:
    """For binary vectors, 1-neighbouring is the same relation as event-level."""
    for d, k in _SIZES:
        for v, w in pairs(sparse(d, k, (0, 1))):
            equal(distance(v, w) <= length, events(v, w) == 1, d=d, k=k)


@SVA.refuted("Definition 10", "binary users", severity="unsafe", no_mechanism="distances of inputs")
@as_printed(multiple=1)
@mutant("(2k - 1)-neighbouring", less=1)
def binary_users(multiple: int = 2, less: int = 0) -> None:
    r"""For k-sparse binary vectors, privacy for k-neighbouring inputs is the same as user-level
    privacy.

    Printed (Section III-B, after Definition 10, line 236): A mechanism satisfies (ϵ, δ) -LDP for
        k -neighboring, if and only if it satisfies (ϵ, δ) -user-level-LDP.
    Corrected: Privacy for 2k-neighbouring inputs is the same as user-level privacy: disjoint
        supports are 2k apart. Privacy at epsilon for k-neighbouring inputs is user-level privacy
        at 2 epsilon.
    Regime: every k, wherever d > k.
    Extraction: no: Section II-C repeats it in words, while L = 2k is used for users elsewhere.

    >>> from fractions import Fraction as F                # k = 1: no item, item x, item y
    >>> one = {"none": F(1, 3), "x": F(2, 3), "y": F(1, 6)}    # P(the bit sent is 1)
    >>> ratio = lambda a, b: max(one[a] / one[b], (1 - one[a]) / (1 - one[b]))
    >>> both = lambda a, b: max(ratio(a, b), ratio(b, a))
    >>> both("none", "x"), both("none", "y")               # 1-neighbours: e^epsilon = 2
    (Fraction(2, 1), Fraction(2, 1))
    >>> both("x", "y")                                     # two users: e^(2 epsilon)
    Fraction(4, 1)
    """
    for d, k in _SIZES[1:]:
        for v, w in pairs(sparse(d, k, (0, 1))):
            at_most(distance(v, w), multiple * k - less, d=d, k=k)
