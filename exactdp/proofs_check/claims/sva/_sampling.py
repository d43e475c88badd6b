"""SVA, Section II-C: the strawman that reports one entry out of k, as it is shipped."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.local.sparse import OneBit, Sampled
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.sva._model import Vector, events, pairs, sparse
from exactdp.proofs_check.entries import SVA, varied
from exactdp.samplers import exact_law

__all__ = ["SAMPLING"]


@cache
def _shipped(k: int, vector: Vector) -> Law[int]:
    """The law of the shipped report of one sign out of k, epsilon = 1."""
    m = Sampled(d=len(vector), k=k, epsilon=1)
    values = {i: int(x) for i, x in enumerate(vector) if x}
    return exact_law(lambda source: int(m.draw_many([values], source)[0]))


def _sampled(share: Fraction) -> str:
    """Mean and second moment of the shipped estimates, for all vectors of up to k of four items."""
    for k in (1, 2, 3):
        m = Sampled(d=4, k=k, epsilon=1)
        gain = (m.e_epsilon + 1) / (m.e_epsilon - 1)
        answers = {r: m.aggregate().add([r]).estimate().exact(range(4)) for r in range(8)}
        for v in sparse(4, k, (-1, 0, 1))[::3]:
            law = _shipped(k, v)
            for x in range(4):
                mean = law.expectation(lambda r: answers[r][x])
                square = law.expectation(lambda r: answers[r][x] ** 2)
                require(mean == v[x], f"k={k}, item {x} of {v}: mean {mean}")
                require(square == share * (k * gain) ** 2, f"k={k}: second moment {square}")
    return "k up to 3, exact laws of the shipped reports for every third vector over -1, 0, 1"


def _sample(slots: tuple[int, ...], d: int, e_eps: Fraction) -> Law[tuple[tuple[int, ...], int]]:
    """(s, flipped s(item)) for one of the client's slots at random."""
    signs = list(product((-1, 1), repeat=d))
    flip = 1 / (e_eps + 1)
    return (
        Law.uniform(signs)
        .product(Law.uniform(slots))
        .then(lambda t: Law({(t[0], t[0][t[1]]): 1 - flip, (t[0], -t[0][t[1]]): flip}))
    )


def _amplified(share: Fraction) -> str:
    """e^epsilon of the shipped report for users, and 1 + share (e^epsilon - 1)/k for events.

    The largest ratios over all pairs of vectors with up to k entries among four.
    """
    for k in (1, 2, 3):
        vectors = sparse(4, k, (-1, 0, 1))
        e_eps = Sampled(d=4, k=k, epsilon=1).e_epsilon
        losses = {p: max_loss(_shipped(k, p[0]), _shipped(k, p[1])) for p in pairs(vectors)}
        users = max(losses.values())
        require(users == e_eps, f"k={k}: two users differ by a factor {float(users):.5g}")
        event = max(loss for pair, loss in losses.items() if events(*pair) == 1)
        stated = 1 + share * (e_eps - 1) / k
        case = f"k={k}: one entry costs {float(event):.5g}, stated {float(stated):.5g}"
        require(event == stated, case)
    return "k up to 3, exact laws of the shipped reports"


def _ratios(share: Fraction) -> str:
    """The shipped sampling against the shipped bit of a sum clipped at 2 sqrt(k): variances."""
    for root in (2, 4, 8, 32):
        k = root * root
        basic: dict[str, Any] = {"d": 10**5, "k": k, "epsilon": 1}
        found = Sampled(**basic).variance / OneBit(**basic, clip=2 * root).variance
        require(found == share * k / 4, f"k={k}: {float(found):.5g} times the variance")
    return "k = 4, 16, 64, 1024"


def _padded(scale: Fraction) -> str:
    """k s(x) bit is unbiased with filler items, and k/own times too large without."""
    gain, e_eps = Fraction(2), Fraction(3)
    for k, own in ((2, 1), (3, 1), (3, 2), (3, 3)):
        bare, full = (_sample(tuple(range(slots)), k + 1, e_eps) for slots in (own, k))
        for x in (*range(own), k):
            means = [
                law.expectation(lambda t: scale * k * gain * t[0][x] * t[1]) for law in (bare, full)
            ]
            stated = [Fraction(k, own), Fraction(1)] if x < own else [Fraction(0)] * 2
            require(means == stated, f"k={k}, {own} items, item {x}: means {means}")
    return "k = 2, 3, one to k items, an owned and a foreign item; fillers lie outside of [d]"


SAMPLING = (
    SVA.verified(
        "Section II-C, sampling",
        "Sampling one of k entries and scaling by k is unbiased, with second moment "
        "(k (e^epsilon + 1)/(e^epsilon - 1))^2 per client, as shipped: error of order k/(epsilon "
        "sqrt(n)).",
        "exact law",
        **varied(_sampled, Fraction(1), Fraction(101, 100), "a second moment 1 % larger"),
    ),
    SVA.verified(
        "Section II-C, privacy of sampling",
        "Sampling one entry and running the 1-sparse scheme at epsilon, as shipped, costs users "
        "exactly epsilon; one changed entry costs less, exactly log(1 + (e^epsilon - 1)/k).",
        "exact law",
        **varied(_amplified, Fraction(1), Fraction(49, 50), "2 % less per event"),
        note="so at event level sampling may use a larger epsilon, and its error is then of order "
        "(1/epsilon + k)/sqrt(n); Table I has 'same as user-level', k/epsilon, an upper bound",
    ),
    SVA.verified(
        "Section II-C, distance from optimal",
        "Sampling is a factor sqrt(k) away from optimal: as shipped, its variance is k/4 times "
        "that of one bit of the sum clipped at 2 sqrt(k).",
        "exact law",
        **varied(_ratios, Fraction(1), Fraction(101, 100), "1.01 k/4 times"),
    ),
    SVA.verified(
        "Section II-C, padding",
        "A client with fewer than k items must fill up to k before sampling: then the estimate is "
        "unbiased for its items and others; without, that of one of its m items is k/m.",
        "exact law",
        **varied(_padded, Fraction(1), Fraction(101, 100), "one percent more"),
    ),
)
