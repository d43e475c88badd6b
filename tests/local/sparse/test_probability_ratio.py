"""The law of squeezed bins by brute force, and bounds against every possible change."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest

from exactdp.balls import ball, precision
from exactdp.local.sparse.probability_ratio import rounding_loss, spread, squeezed, worst_ratio

F = Fraction


def brute(steps: tuple[int, ...], bins: int) -> dict[int, Fraction]:
    """P(sum over bins of |sum of signed steps| = w) over all bins and signs."""
    counts: Counter[int] = Counter()
    for places in product(product(range(bins), (-1, 1)), repeat=len(steps)):
        sums = [0] * bins
        for step, (place, sign) in zip(steps, places, strict=True):
            sums[place] += sign * step
        counts[sum(map(abs, sums))] += 1
    return {w: F(c, (2 * bins) ** len(steps)) for w, c in counts.items()}


@pytest.mark.parametrize(("steps", "bins"), [(1, 1), (5, 1), (4, 2), (3, 3), (3, 4)])
def test_the_law_of_equal_steps(steps: int, bins: int) -> None:
    law = dict(enumerate(spread(steps, bins)))
    assert {w: p for w, p in law.items() if p} == brute((1,) * steps, bins)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("bins", [1, 2])
@pytest.mark.parametrize("delta", [F(1, 3), F(1, 20)])
def test_no_change_is_squeezed_less_than_said(exact: bool, bins: int, delta: Fraction) -> None:
    length, step = 8, 2
    limit = squeezed(length, bins, delta, step, exact=exact)
    tried = 0
    for count in range(1, 6):
        for steps in combinations_with_replacement(range(1, step + 1), count):
            if sum(steps) <= length:
                law = brute(steps, bins)
                assert sum(p for w, p in law.items() if w > limit) <= delta, steps
                tried += 1
    assert tried > 15
    assert limit <= length


def test_the_exact_law_is_the_sharper_one_and_sharper_than_lemma_14() -> None:
    for bins in (1, 2, 4):
        close = squeezed(128, bins, F(1, 10**5), 2, exact=True)
        assert close < squeezed(128, bins, F(1, 10**5), 2, exact=False)
        with precision(64):
            lemma = 3 * (bins * 128 * ball(2 * bins * 10**5).log()).sqrt()
        assert close < 0.75 * float(lemma)


@pytest.mark.parametrize("length", [F(1, 3), F(3, 2), F(4), F(19, 2)])
@pytest.mark.parametrize("entries", [1, 3])
@pytest.mark.parametrize("rate", [F(1, 100), F(1, 2), F(3)])
def test_the_closed_form_is_above_every_distribution(
    length: Fraction, entries: int, rate: Fraction
) -> None:
    with precision(128):
        s = F(float((ball(rate)).exp()))
        largest = ball(worst_ratio(1 / s, length, entries)).log()
        bound = rounding_loss(rate, length, entries)
        assert largest <= bound * (1 + F(1, 10**12).__float__())
        assert float(bound - ball(rate * length)) <= entries * float(rate) ** 2 / 8 * 1.001 + 1e-12
