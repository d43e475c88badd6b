"""The bounds that Lebeda and Retschmeier prove for the correlated sparse histogram (CSH)."""

from __future__ import annotations

from math import isqrt

from flint import arb

from exactdp.accounting.neighbours import sparse_counters
from exactdp.accounting.sparse_histograms.analysis import Analysis, Point, largest, setting
from exactdp.accounting.sparse_histograms.overlaps import AppearBound, Overlaps, StaysBelow, Vanish
from exactdp.normal import hockey_stick


def _share(k: int) -> arb:
    """1 + k^(-1/4): the factor by which Lemma 3.2 splits the threshold between the two noises."""
    return 1 + 1 / arb(k).root(4)


def _noise_only(k: int, sigma: arb, epsilon: arb) -> arb:
    return hockey_stick(epsilon, (k + arb(k).sqrt()).sqrt() / (2 * sigma))


def _threshold_only(k: int, ratio: arb) -> arb:
    return StaysBelow(ratio / _share(k), arb(0)).exceeded(k + 1)


def _add_the_deltas(point: Point) -> arb:
    epsilon, scale, ratio = setting(point)
    root = arb(point.k).sqrt()
    noise = hockey_stick(epsilon, (scale * (point.k + root)).sqrt() / 2)
    return noise + StaysBelow(ratio / _share(point.k), epsilon).exceeded(point.k + 1)


def _published(point: Point) -> arb:
    epsilon, scale, ratio = setting(point)
    k, root = point.k, arb(point.k).sqrt()
    threshold = StaysBelow(ratio / _share(k), epsilon)
    # sqrt(j) <= sqrt(j + sqrt k)/2 exactly up to this j: two smooth pieces
    split = min(isqrt(k // 9), k - 1)
    pieces = [(1, split, scale, arb(0)), (split + 1, k - 1, scale / 4, root)]
    kinds: list[type[Overlaps]] = [AppearBound, Vanish]
    families = [
        kind(threshold, first, last, k + 1, size, shift)
        for kind in kinds
        for first, last, size, shift in pieces
    ]
    noise = hockey_stick(epsilon, (scale * (k + root)).sqrt() / 2)
    return largest(families, threshold.exceeded(k + 1), noise)


PUBLISHED = {
    "published": Analysis(
        "published",
        "CSH Theorem 3.5",
        sparse_counters,
        False,
        _published,
        _noise_only,
        _threshold_only,
    ),
    "add-the-deltas": Analysis(
        "add-the-deltas",
        "CSH Theorem 3.3",
        sparse_counters,
        False,
        _add_the_deltas,
        _noise_only,
        _threshold_only,
    ),
}
