"""SVA, Definitions 7 to 9: local privacy; event-level and user-level neighbours."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.local.sparse import Sampled
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.sva._model import Vector, distance, events, pairs, sparse
from exactdp.proofs_check.entries import SVA, varied
from exactdp.samplers import exact_law

__all__ = ["CLAIMS"]


def _reports(*clients: Vector) -> Law[tuple[int, ...]]:
    """The law of all that the server sees: one run of what is shipped, for all clients at once."""
    m = Sampled(d=2, k=1, epsilon=1)
    values = [{i: int(x) for i, x in enumerate(v) if x} for v in clients]
    return exact_law(lambda source: tuple(int(r) for r in m.draw_many(values, source)))


def _view(fixed: Fraction) -> str:
    """Only one client's message differs, so two clients lose no more than one."""
    vectors = sparse(2, 1, (-1, 0, 1))
    alone = {v: _reports(v) for v in vectors}
    for other in vectors[:2]:
        view = {v: _reports(other, v) for v in vectors}
        for v, w in pairs(vectors):
            one, both = max_loss(alone[v], alone[w]), max_loss(view[v], view[w])
            case = f"{v} against {w}: {float(both):.5g} with two clients, {float(one):.5g} alone"
            require(both == one * fixed, case)
    return "two clients of one sign each in one run, two inputs of one and every pair of the other"


def _largest(d: int, k: int, changed: int | None) -> Fraction:
    """The largest L1 distance of two k-sparse vectors that differ in so many coordinates."""
    vectors = sparse(d, k, (-1, 0, 1))
    return max(
        distance(v, w) for v, w in pairs(vectors) if changed is None or events(v, w) <= changed
    )


def _event(bound: Fraction) -> str:
    for d, k in ((1, 1), (3, 1), (3, 2), (4, 2)):
        found = _largest(d, k, 1)
        require(found == bound, f"d={d}, k={k}: one coordinate moves by up to {found}")
    return "d up to 4, every pair over the grid -1, 0, 1 (the distance is convex)"


def _user(factor: Fraction) -> str:
    for d, k in product((2, 3, 4), (1, 2)):
        found = _largest(d, k, None)
        require(found == factor * k, f"d={d}, k={k}: users differ by up to {found}")
    return "d up to 4, k = 1, 2, every pair over the grid -1, 0, 1"


def _same_for_one_item(hundredths: int) -> str:
    """k = 1: a change of item is a removal and an addition; two events, twice the epsilon.

    One bit about no item, item x or item y: every law on a grid.
    """
    coins = [Law({0: 1 - p, 1: p}) for p in (Fraction(i, 12) for i in range(1, 12))]
    costs = []
    for nothing, x, y in product(coins, repeat=3):
        event = max(_both(nothing, x), _both(nothing, y))
        costs.append((event, max(event, _both(x, y))))
    attained = sum(user == event**2 > 1 for event, user in costs)
    require(attained > 0, "e^(2 epsilon) is not attained")
    for event, user in costs:
        require(user**100 <= event**hundredths, f"{event} per event, {user} per user")
    return f"{len(costs)} mechanisms of one bit; {attained} attain e^(2 epsilon)"


def _both(p: Law[int], q: Law[int]) -> Fraction:
    """The largest ratio of two laws, in both directions."""
    return Fraction(max(max_loss(p, q), max_loss(q, p)))


CLAIMS = (
    SVA.verified(
        "Definition 7",
        "Local privacy bounds the server's view of all messages; as clients draw independently, in "
        "one run of the shipped code for two of them, too, the loss is that of the one whose input "
        "changes.",
        "exact law",
        **varied(_view, Fraction(1), Fraction(51, 50), "a second client adds 2 %"),
    ),
    SVA.verified(
        "Definition 8",
        "Event-level neighbours differ in one coordinate of one user, so in L1 distance "
        "by at most 2, attained.",
        "enumeration",
        **varied(_event, Fraction(2), Fraction(199, 100), "at most 1.99"),
    ),
    SVA.verified(
        "Definition 9",
        "User-level neighbours differ in all of one user's vector; two k-sparse vectors "
        "of [-1, 1]^d are up to 2k apart in L1 distance, attained.",
        "enumeration",
        **varied(_user, Fraction(2), Fraction(199, 100), "up to 1.99k apart"),
        note="the introduction refers to this definition as Def. 10",
    ),
    SVA.verified(
        "Definition 9, one item",
        "For k = 1 event-level and user-level privacy agree up to a constant: epsilon "
        "per event is 2 epsilon per user, and no less in general.",
        "enumeration",
        **varied(_same_for_one_item, 200, 199, "1.99 epsilon"),
    ),
)
