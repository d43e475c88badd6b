"""SVA, Definition 10: L-neighbouring, and what it says about events and users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.sva._model import (
    Vector,
    distance,
    events,
    pairs,
    sparse,
)
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]

Related = Callable[[Vector, Vector], bool]

_BINARY, _REAL = (0, 1), (-1, Fraction(-1, 2), 0, Fraction(1, 2), 1)
_SIZES = ((1, 1), (2, 1), (3, 1), (3, 2), (4, 2))
_REAL_SIZES = _SIZES[:-1]


def _within(length: Fraction | int) -> Related:
    return lambda v, w: distance(v, w) <= length


def _event(v: Vector, w: Vector) -> bool:
    return events(v, w) <= 1


def _same(
    left: Callable[[int], Related], right: Callable[[int], Related], grid: Sequence[Fraction | int]
) -> str:
    """Two relations on k-sparse vectors are the same relation."""
    for d, k in _SIZES:
        for v, w in pairs(sparse(d, k, grid)):
            first, second = left(k)(v, w), right(k)(v, w)
            shown = f"d={d}, k={k}: {_plain(v)} and {_plain(w)}, distance {distance(v, w)}"
            require(first == second, f"{shown}: related in one sense only")
    return f"every pair for (d, k) in {_SIZES}"


def _plain(v: Vector) -> str:
    return "(" + ", ".join(str(x) for x in v) + ")"


def _everyone(_: int) -> Related:
    return lambda v, w: True


def _contains(length: Fraction) -> str:
    """Every event-level pair is an L-neighbouring pair, not conversely."""
    more = 0
    for d, k in _REAL_SIZES:
        for v, w in pairs(sparse(d, k, _REAL)):
            near = distance(v, w) <= length
            require(near or not _event(v, w), f"one event of size {distance(v, w)} > {length}")
            more += near and not _event(v, w)
    return f"every pair over a grid of 5 values; {more} more pairs are 2-neighbours"


def _bit(p: Fraction) -> Law[int]:
    return Law({0: 1 - p, 1: p})


# One bit about one of three inputs: nothing, item x, item y; each step is within a factor 2.
_CHANNEL = {
    (0, 0): _bit(Fraction(1, 3)),
    (1, 0): _bit(Fraction(2, 3)),
    (0, 1): _bit(Fraction(1, 6)),
}


def _loss(related: Callable[[int], Related]) -> Fraction:
    """The largest ratio of the channel over related pairs, k = 1."""
    losses = [
        max_loss(p, q)
        for v, p in _CHANNEL.items()
        for w, q in _CHANNEL.items()
        if v != w and related(1)(_fractions(v), _fractions(w))
    ]
    return Fraction(max(losses))


def _fractions(v: tuple[int, ...]) -> Vector:
    return tuple(Fraction(x) for x in v)


def _users(length: Callable[[int], int]) -> str:
    """Neighbours at this distance, of k, are all users; so a channel has one loss for both."""
    near, user = _loss(lambda k: _within(length(k))), _loss(_everyone)
    case = f"factor {near} for {length(1)}-neighbours, {user} for users (k=1, d=2)"
    require(near == user, case)
    same = _same(lambda k: _within(length(k)), _everyone, _BINARY)
    return f"{same}, and a channel of three inputs as an example"


def _real_users(multiple: Fraction) -> str:
    for d, k in _REAL_SIZES:
        far = max(distance(v, w) for v, w in pairs(sparse(d, k, _REAL)))
        require(far <= multiple * k, f"d={d}, k={k}: two users {far} apart")
    return f"every pair over a grid of 5 values, (d, k) in {_REAL_SIZES}"


_DISJOINT = Refuted(
    paper="SVA",
    item="Definition 10, binary users",
    statement="For k-sparse binary vectors, privacy for k-neighbouring inputs is the same as "
    "user-level privacy.",
    severity="unsafe",
    printed=Printed(
        r"A mechanism satisfies (ϵ, δ) -LDP for k -neighboring, if and only if it satisfies "
        r"(ϵ, δ) -user-level-LDP.",
        "Section III-B, after Definition 10",
        236,
    ),
    method="enumeration",
    check=lambda: _users(lambda k: k),
    example="""
>>> from fractions import Fraction as F                # k = 1: no item, item x, item y
>>> one = {"none": F(1, 3), "x": F(2, 3), "y": F(1, 6)}    # P(the bit sent is 1)
>>> ratio = lambda a, b: max(one[a] / one[b], (1 - one[a]) / (1 - one[b]))
>>> both = lambda a, b: max(ratio(a, b), ratio(b, a))
>>> both("none", "x"), both("none", "y")               # 1-neighbours: e^epsilon = 2
(Fraction(2, 1), Fraction(2, 1))
>>> both("x", "y")                                     # two users: e^(2 epsilon)
Fraction(4, 1)
""",
    extraction="no: Section II-C repeats it in words, while L = 2k is used for users elsewhere",
    corrected=SVA.verified(
        "Definition 10, binary users, corrected",
        "For k-sparse binary vectors, privacy for 2k-neighbouring inputs is the same as "
        "user-level privacy: disjoint supports are 2k apart.",
        "enumeration",
        **varied(_users, lambda k: 2 * k, lambda k: 2 * k - 1, "(2k - 1)-neighbouring"),
    ),
)


def _group(hundredths: int) -> str:
    """e^epsilon for users against that for k-neighbours, of random mechanisms of one bit."""
    near, user = _loss(lambda k: _within(k)), _loss(_everyone)
    require(user >= near**2, f"{near}, {user}: the factor 2 is not attained")
    generator, costs = np.random.default_rng(10), [(near, user)]
    for d, k in ((2, 1), (2, 2), (4, 2)):
        inputs = sparse(d, k, _BINARY)
        for _ in range(60):
            ones = {v: Fraction(int(generator.integers(1, 8)), 8) for v in inputs}
            loss = {
                (v, w): max(ones[v] / ones[w], (1 - ones[v]) / (1 - ones[w]))
                for v, w in pairs(inputs)
            }
            near = max(x for (v, w), x in loss.items() if distance(v, w) <= k)
            costs.append((near, max(loss.values())))
    for near, user in costs:
        require(user**100 <= near**hundredths, f"{near} for k-neighbours, {user} for users")
    return f"{len(costs)} mechanisms, k = 1, 2; the factor 2 is attained"


CLAIMS = (
    SVA.verified(
        "Definition 10",
        "Two inputs are L-neighbouring when one user's vectors differ, by at most L in "
        "L1 distance; for real vectors the event-level pairs are among the 2-neighbouring ones.",
        "enumeration",
        **varied(_contains, Fraction(2), Fraction(19, 10), "among the 1.9-neighbouring"),
    ),
    SVA.verified(
        "Definition 10, binary events",
        "For binary vectors, 1-neighbouring is the same relation as event-level.",
        "enumeration",
        **varied(
            _same,
            lambda _: _within(1),
            lambda _: _within(2),
            "2-neighbouring is",
            lambda _: _event,
            _BINARY,
        ),
    ),
    _DISJOINT,
    SVA.verified(
        "Definition 10, from k-neighbouring to users",
        "A mechanism private at epsilon for k-neighbouring binary inputs is user-level "
        "private at 2 epsilon, in general not at less.",
        "enumeration",
        **varied(_group, 200, 199, "at 1.99 epsilon"),
        ours=True,
    ),
    SVA.verified(
        "Definition 10, real users",
        "For k-sparse vectors in [-1, 1]^d, privacy for 2k-neighbouring inputs implies "
        "user-level privacy: no two inputs are farther apart.",
        "enumeration",
        **varied(_real_users, Fraction(2), Fraction(19, 10), "1.9 k suffices"),
    ),
)
