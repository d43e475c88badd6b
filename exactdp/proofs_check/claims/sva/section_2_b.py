"""SVA, Section II-B: the event-level warm-up for frequencies, with k bins."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.local.sparse import KFold
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.sva._model import (
    Vector,
    bins,
    distance,
    events,
    hashes,
    pairs,
    report,
    sparse,
)
from exactdp.proofs_check.entries import SVA, varied
from exactdp.samplers import exact_law

__all__ = ["CLAIMS"]

_A = Fraction(1, 2)


def _kfold(k: int, vector: Mapping[int, int]) -> Law[Any]:
    """The law of the shipped report for k virtual clients, epsilon = 1 and four items."""
    m = KFold(d=4, k=k, epsilon=1)
    return exact_law(lambda source: m.draw(vector, source))


def _rescaled(share: Fraction) -> str:
    """The mean square of the shipped estimate of an item nobody has, over that for k = 1."""
    for k, users in ((1, 1), (1, 2), (2, 1), (2, 2)):
        m, law = KFold(d=4, k=k, epsilon=1), _kfold(k, {0: 1})
        both = law.map(lambda r: (r,)) if users == 1 else law.product(law)

        def estimate(rows: tuple[Any, ...], m: KFold = m) -> Fraction:
            return Fraction(m.aggregate().add(list(rows)).estimate().exact([3])[0])

        found = both.expectation(lambda rows: estimate(rows) ** 2)
        one = ((m.e_epsilon + 1) / (m.e_epsilon - 1)) ** 2
        stated = one * share * k / users
        require(found == stated, f"k={k}, n={users}: squared error {found}, stated {stated}")
    return "k and n up to 2, exact laws of the shipped reports"


def _estimates(scale: Fraction) -> str:
    """The mean of B_h(x) s(x) is 1 for an owned item and 0 otherwise."""
    for k in (1, 2, 3):
        for v, x in product(sparse(3, k, (0, 1)), range(3)):
            values = [s[x] * bins(v, (h, s), k)[h[x]] for h, s in hashes(3, k)]
            found = sum(values, Fraction(0)) / len(values)
            require(found == v[x] * scale, f"k={k}, {v}, item {x}: mean {found}")
    return "d = 3, k up to 3, every h and s; the noise is symmetric"


def _load(cap: Fraction) -> str:
    """E(number of owned items x != x* in the bin of x*) = cap * 1, k items in k bins."""
    for k in (1, 2, 3):
        v = [1] * k + [0]
        family = hashes(k + 1, k)
        total = sum(sum(v[x] and h[x] == h[k] for x in range(k)) for h, _ in family)
        found = Fraction(total, len(family))
        require(found == cap, f"k={k}: {found} items of one client share the bin of another item")
    return "k up to 3, every h"


def _one_bin(most: Fraction) -> str:
    """One changed bit changes one bin, by 1."""
    for v, w in pairs(sparse(3, 3, (0, 1))):
        if events(v, w) > 1:
            continue
        for f in hashes(3, 2):
            first, second = bins(v, f, 2), bins(w, f, 2)
            require(events(first, second) == 1, f"{v}, {w}: not one bin changes")
            gap = distance(first, second)
            require(gap == most, f"{v}, {w}: a bin changes by {gap}")
    return "d = 3, b = 2, every h and s"


def _private(power: Fraction) -> str:
    """Noise of ratio a = e^-epsilon: e^epsilon = 1/a exactly, for event-level neighbours."""
    worst = Fraction(0)
    for v, w in pairs(sparse(2, 2, (0, 1))):
        if events(v, w) == 1:
            worst = max(worst, Fraction(max_loss(report(v, 2, _A, 3), report(w, 2, _A, 3))))
    require(worst == power / _A, f"largest ratio {worst}, e^epsilon = {1 / _A}")
    return "d = 2, k = 2 bins: the whole message enumerated"


def _magnitude(scale: Fraction) -> str:
    """E|Lap(1/eps)| = 1/eps: integral of t eps e^(-eps t) over t > 0."""
    import sympy as sp

    t, epsilon = sp.symbols("t epsilon", positive=True)
    mean = 2 * sp.integrate(t * epsilon / 2 * sp.exp(-epsilon * t), (t, 0, sp.oo))
    stated = sp.Rational(scale.numerator, scale.denominator) / epsilon
    require(sp.simplify(mean - stated) == 0, f"mean magnitude {mean}, stated {stated}")
    return "integrated with a symbol for epsilon"


def _repetition(share: Fraction) -> str:
    """The shipped report of two virtual clients: the largest ratio over all events."""
    laws = {v: _kfold(2, _entries(v)) for v in sparse(3, 2, (-1, 0, 1))}
    event = [pair for pair in pairs(list(laws)) if events(*pair) == 1]
    found = max(max_loss(laws[v], laws[w]) for v, w in event)
    stated = KFold(d=4, k=2, epsilon=1).e_epsilon * share
    require(found == stated, f"an event costs a factor {float(found):.6g}")
    return f"{len(event)} pairs of vectors with up to two entries among three, the whole report"


def _entries(v: Vector) -> dict[int, int]:
    return {i: int(x) for i, x in enumerate(v) if x}


CLAIMS = (
    SVA.verified(
        "Section II-B, k-fold repetition",
        "An error of 1/(epsilon sqrt(kn)) over kn virtual clients is sqrt(k)/(epsilon "
        "sqrt(n)) over n real ones: the mean square of the shipped estimate of an item that nobody "
        "has is k/n times that of one report for one item.",
        "exact law",
        **varied(_rescaled, Fraction(1), Fraction(101, 100), "1.01 k/n times"),
    ),
    SVA.verified(
        "Section II-B, privacy of the repetition",
        "At event level only one virtual client's item changes, so repetition keeps epsilon: the "
        "shipped report costs exactly that.",
        "exact law",
        **varied(_repetition, Fraction(1), Fraction(99, 100), "e^epsilon 1 % smaller"),
    ),
    SVA.proved(
        "Section II-B, noise magnitude",
        "Lap(1/epsilon) has average magnitude 1/epsilon.",
        "symbolic",
        **varied(_magnitude, Fraction(1), Fraction(101, 100), "1.01/epsilon"),
    ),
    SVA.verified(
        "Section II-B, server",
        "The average of B_h(x) s(x) is unbiased for the share of clients that own x: an "
        "owned item contributes s(x)^2 = 1, others a random sign.",
        "enumeration",
        **varied(_estimates, Fraction(1), Fraction(101, 100), "one percent too large"),
    ),
    SVA.verified(
        "Section II-B, load",
        "With k items in k bins, the bin of another item holds one item on average, so "
        "the n random walks have expected total length n.",
        "enumeration",
        **varied(_load, Fraction(1), Fraction(99, 100), "0.99 items"),
    ),
    SVA.verified(
        "Section II-B, one bin changes",
        "Event-level neighbours of binary vectors change one bin, by 1.",
        "enumeration",
        **varied(_one_bin, Fraction(1), Fraction(99, 100), "by 0.99"),
    ),
    SVA.verified(
        "Section II-B, privacy",
        "Noise of magnitude 1/epsilon on every bin is epsilon-event-level-LDP for binary "
        "vectors, exactly, whatever h and s are.",
        "exact law",
        **varied(_private, Fraction(1), Fraction(99, 100), "at 0.99 e^epsilon"),
    ),
    SVA.not_checkable(
        "Remark 4",
        "In practice h and s are pseudorandom functions in place of random oracles.",
        "a computational assumption without a formula; in the warm-up privacy holds for "
        "every fixed h and s (Section II-B, privacy), but not in every row of Table II (Section "
        "IV-A, privacy without the computational assumption)",
    ),
)
