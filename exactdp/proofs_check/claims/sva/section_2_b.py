"""SVA, Section II-B: the event-level warm-up for frequencies, with k bins."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.sva._model import (
    bins,
    distance,
    events,
    hashes,
    pairs,
    report,
    sparse,
)
from exactdp.proofs_check.entries import SVA, varied

__all__ = ["CLAIMS"]

_A = Fraction(1, 2)


def _rescaled(power: int) -> str:
    """The law of the sum of all virtual reports, +-c each for an item nobody has, c = 2.

    Divided by kn it is the estimate for virtual clients, divided by n that for real ones.
    """
    for k, n in product((1, 2, 4), (1, 3)):
        total: Law[int] = Law.point(0)
        for _ in range(k * n):
            total = total.product(Law({2: Fraction(1, 2), -2: Fraction(1, 2)})).map(sum)
        square = total.expectation(lambda z: Fraction(z * z))
        virtual, real = square / (k * n) ** 2, square / n**2
        require(virtual == Fraction(4, k * n), f"k={k}, n={n}: squared error {virtual}")
        stated = Fraction(4 * k**power, n)
        require(real == stated, f"k={k}, n={n}: squared error {real}, stated {stated}")
    return "exact laws of up to 12 reports"


def _estimates(scale: Fraction) -> str:
    """The mean of B_h(x) s(x) is 1 for an owned item and 0 otherwise."""
    k = 2
    for v in sparse(3, k, (0, 1)):
        for x in range(3):
            values = [s[x] * bins(v, (h, s), k)[h[x]] for h, s in hashes(3, k)]
            found = sum(values, Fraction(0)) / len(values)
            require(found == v[x] * scale, f"{v}, item {x}: mean {found}")
    return "d = 3, k = 2, every h and s; the noise is symmetric"


def _load(cap: Fraction) -> str:
    """E(number of owned items x != x* in the bin of x*) <= cap * 1, k items in k bins."""
    for k in (1, 2, 3):
        v = [1] * k + [0]
        family = hashes(k + 1, k)
        total = sum(sum(v[x] and h[x] == h[k] for x in range(k)) for h, _ in family)
        found = Fraction(total, len(family))
        require(found == cap, f"k={k}: {found} items of one client share the bin of another item")
    return "k up to 3, every h: one in the mean, (k-1)/k when x* is owned"


def _one_bin(most: Fraction) -> str:
    """One changed bit changes one bin, by 1."""
    for v, w in pairs(sparse(3, 3, (0, 1))):
        if events(v, w) > 1:
            continue
        for f in hashes(3, 2):
            first, second = bins(v, f, 2), bins(w, f, 2)
            require(events(first, second) <= 1, f"{v}, {w}: two bins change")
            gap = distance(first, second)
            require(gap <= most, f"{v}, {w}: a bin changes by {gap}")
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

    t = sp.symbols("t", positive=True)
    for epsilon in (sp.Rational(1, 2), sp.Integer(1), sp.Integer(3)):
        mean = sp.integrate(t * epsilon * sp.exp(-epsilon * t), (t, 0, sp.oo))
        stated = sp.Rational(scale.numerator, scale.denominator) / epsilon
        require(mean == stated, f"epsilon={epsilon}: mean magnitude {mean}, stated {stated}")
    return "integrated at epsilon = 1/2, 1, 3; the scale is a unit"


def _repetition(changed: int) -> str:
    """k virtual clients with one item (or filler) each: an event concerns one of them."""
    flip = Fraction(1, 3)
    filler, item = Law({0: 1 - flip, 1: flip}), Law({0: flip, 1: 1 - flip})
    before = item.product(item)
    after = filler.product(item)
    found = max_loss(before, after)
    require(found == 2**changed, f"e^epsilon = 2: an event costs a factor {found}")
    return "two virtual clients, randomized response"


CLAIMS = (
    SVA.verified(
        "Section II-B, k-fold repetition",
        "An error of 1/(epsilon sqrt(kn)) over kn virtual clients is sqrt(k)/(epsilon "
        "sqrt(n)) over n real ones.",
        "exact law",
        **varied(_rescaled, 1, 2, "k/(epsilon sqrt(n))"),
    ),
    SVA.verified(
        "Section II-B, privacy of the repetition",
        "At event level only one virtual client's item changes, so repetition keeps epsilon.",
        "exact law",
        **varied(_repetition, 1, 2, "it doubles epsilon"),
    ),
    SVA.verified(
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
        "Event-level neighbours of binary vectors change one bin, by at most 1.",
        "enumeration",
        **varied(_one_bin, Fraction(1), Fraction(99, 100), "by at most 0.99"),
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
