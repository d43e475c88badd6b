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


class AddTheDeltas(Analysis):
    """The delta of the noise plus that of the threshold."""

    name, source = "add-the-deltas", "CSH Theorem 3.3"

    def neighbours(self, k: int) -> str:
        """Users change any counters, in one direction."""
        return sparse_counters(k)

    def evaluate(self, point: Point) -> arb:
        """A ball around the bound."""
        epsilon, scale, ratio = setting(point)
        root = arb(point.k).sqrt()
        noise = hockey_stick(epsilon, (scale * (point.k + root)).sqrt() / 2)
        return noise + StaysBelow(ratio / _share(point.k), epsilon).exceeded(point.k + 1)

    def noise_only(self, k: int, sigma: arb, epsilon: arb) -> arb:
        """The bound without a threshold."""
        return hockey_stick(epsilon, (k + arb(k).sqrt()).sqrt() / (2 * sigma))

    def threshold_only(self, k: int, ratio: arb) -> arb:
        """The bound without noise on old counters."""
        return StaysBelow(ratio / _share(k), arb(0)).exceeded(k + 1)


class Published(AddTheDeltas):
    """The largest case by the number of shared counters."""

    name, source = "published", "CSH Theorem 3.5"

    def evaluate(self, point: Point) -> arb:
        """A ball around the bound."""
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


PUBLISHED = {each.name: each for each in (Published(), AddTheDeltas())}
