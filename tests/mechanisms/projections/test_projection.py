"""Sketches of small vectors through all their random choices, against the ledger's plain models."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from exactdp_proofs.papers.alp._model import (
    embedding,
    estimate,
    noisy_law,
    projection_law,
    round_law,
)

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.mechanisms import ALP, HistogramALP, LogALP, SignedALP, UnitEpsilonALP
from exactdp.mechanisms.projections.exact_epsilon import e_epsilon, e_epsilon_above, least_width
from exactdp.mechanisms.projections.unary_projection import UnaryProjection
from exactdp.mechanisms.projections.universal_hashing import Tables
from exactdp.samplers import SeededSource

F = Fraction
Vector = tuple[Fraction, ...]


def sparse(x: Vector) -> dict[int, Fraction]:
    return dict(enumerate(x))


def tables(m: int, rows: tuple[tuple[int, ...], ...]) -> Tables:
    return Tables(tuple(rows[b % len(rows)] for b in range(m)))


#: Rows of two entries in turn, level by level: apart, together.
HASHES = [((0, 1),), ((2, 2),), ((1, 1), (0, 2))]


@pytest.mark.few(2)
@pytest.mark.parametrize("hashes", HASHES)
@pytest.mark.parametrize(
    "mechanism",
    [
        UnitEpsilonALP(d=2, k=1, s=3, largest=2, alpha=1),
        UnitEpsilonALP(d=2, k=1, s=3, largest=3, alpha="5/2"),
        ALP(d=2, k=1, s=3, largest="1.1", epsilon=2, alpha="7/3", steps=1),
        pytest.param(
            ALP(d=2, k=1, s=3, largest="1.5", epsilon=2, alpha="7/3", steps=1),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ALP(d=2, k=1, s=3, largest=3, epsilon="1/2", alpha=2, steps=1), marks=pytest.mark.slow
        ),
    ],
    ids=range(5),  # two to four levels
)
def test_law_is_that_of_algorithms_2_and_4(
    mechanism: ALP | UnitEpsilonALP, hashes: tuple[tuple[int, ...], ...]
) -> None:
    """Values of every level; rows of both entries apart and together."""
    m, width = mechanism.levels, mechanism.cells.width
    functions = tables(m, hashes)
    top = F(mechanism.largest)
    for part in (F(0), F(1, 3), F(3, 4), F(1)):
        x = (F(0), part * top)
        model = projection_law(x, functions.table, 3, width, mechanism.flip)
        assert mechanism.law(sparse(x), functions) == model


@pytest.mark.few(1)
@pytest.mark.parametrize("rows", [(0, 1), (3, 3)])
def test_two_entries_with_and_without_a_collision(rows: tuple[int, int]) -> None:
    mechanism = ALP(d=2, k=2, s=5, largest=1, epsilon=1, alpha=2, steps=1)
    assert mechanism.levels == 1
    for x in product((F(0), F(1, 3), F(1)), repeat=2):
        model = projection_law(x, (rows,), 5, mechanism.cells.width, mechanism.flip)
        assert mechanism.law(sparse(x), Tables((rows,))) == model


def worst(
    law: Callable[[Vector], Law[tuple[int, ...]]], vectors: list[Vector]
) -> tuple[Fraction, tuple[Vector, Vector]]:
    """The largest ratio of probabilities among neighbours, and a pair that has it."""
    laws = {x: law(x) for x in vectors}
    ratios = []
    for x, y in product(vectors, repeat=2):
        if x != y and sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= 1:
            ratio = max_loss(laws[x], laws[y])
            assert isinstance(ratio, F)
            ratios.append((ratio, (x, y)))
    return max(ratios)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("mechanism", "step", "attained"),
    [
        (UnitEpsilonALP(d=1, k=1, s=3, largest=2, alpha=2), F(1, 2), True),
        (UnitEpsilonALP(d=1, k=1, s=3, largest=1, alpha="1/2"), F(1, 4), True),
        pytest.param(
            UnitEpsilonALP(d=1, k=1, s=3, largest=1, alpha="2/5"),
            F(1, 10),
            True,
            marks=pytest.mark.slow,
        ),
        (ALP(d=2, k=1, s=3, largest=2, epsilon=1, alpha=2, steps=1), F(1, 2), True),
        (ALP(d=2, k=2, s=5, largest=1, epsilon=1, alpha=3, steps=1), F(1, 2), True),
        (ALP(d=2, k=2, s=5, largest="2/3", epsilon=1, alpha=3, steps=1), F(1, 3), False),
        (SignedALP(d=1, k=1, s=3, largest=1, epsilon=1, alpha=2, steps=1), F(1, 4), True),
        (LogALP(d=1, k=1, s=3, largest=6, epsilon=1, alpha=3, steps=1, start=1), F(1, 2), True),
    ],
    ids=range(8),
)
def test_the_exact_epsilon(mechanism: UnaryProjection, step: Fraction, attained: bool) -> None:
    """No pair of neighbours is above the closed form, and one has it, unless the grid forbids."""
    top = F(mechanism.largest)
    grid = [step * n for n in range(int(top / step) + 1)]
    if mechanism.signed:
        grid += [-v for v in grid[1:]]
    vectors = [x for x in product(grid, repeat=mechanism.d) if sum(map(bool, x)) <= mechanism.k]
    alpha = F(mechanism.alpha)  # type: ignore[attr-defined]
    stated = e_epsilon(alpha / mechanism.cells.width, alpha, mechanism.k)
    for rows in {(0,) * mechanism.d, tuple(range(mechanism.d))}:
        hashes = Tables((rows,) * mechanism.levels)
        ratio, pair = worst(lambda x, h=hashes: mechanism.law(sparse(x), h), vectors)
        assert ratio <= stated <= mechanism.e_epsilon < stated + F(1, 2**63), pair
        assert (ratio == stated) == attained or rows[0] == rows[-1], pair
    assert mechanism.guarantee.e_epsilon == mechanism.e_epsilon


@pytest.mark.parametrize("width", [1, 2])
def test_histograms(width: int) -> None:
    """Algorithm 10, and its form with wider cells: every pair of neighbouring histograms."""
    mechanism = HistogramALP(d=2, k=1, s=3, largest=2, epsilon=1, width=width)
    vectors = [x for x in product(map(F, range(3)), repeat=2) if 0 in x]
    hashes = Tables(((0, 1),) * mechanism.levels)
    ratio, _ = worst(lambda x: mechanism.law(sparse(x), hashes), vectors)
    assert ratio == mechanism.e_epsilon
    if width == 1:
        assert mechanism.flip == 1 / (mechanism.e_epsilon + 1)


@pytest.mark.parametrize("alpha", [F(1, 2), F(3), F(20)])
@pytest.mark.parametrize("k", [1, 2, 7, 100])
@pytest.mark.parametrize("epsilon", [F(1, 10), F(1), F(9)])
def test_the_closed_form_is_the_best_split(alpha: Fraction, k: int, epsilon: Fraction) -> None:
    """Against every split of a change into parts by dynamic programming over 24 shares."""
    width = least_width(epsilon, alpha, k)
    c = alpha / width
    if k <= 7:
        stated = float(e_epsilon(c, alpha, k))
        shares = 24
        gain = np.array([one_entry(c * n / shares, alpha) for n in range(shares + 1)], float)
        best = gain.copy()
        for _ in range(k - 1):
            best = np.array(
                [max(best[a] * gain[n - a] for a in range(n + 1)) for n in range(shares + 1)]
            )
        assert best[-1] <= stated * (1 + 1e-12)
        if shares % k == 0 and c / k <= alpha / 2:
            assert best[-1] == pytest.approx(stated, rel=1e-12)
    above = float(e_epsilon_above(c, alpha, k))
    assert np.log(above) == pytest.approx(float(epsilon), rel=1e-9)
    narrower = width * (1 - F(1, 2**37))
    assert float(np.log(float(e_epsilon_above(alpha / narrower, alpha, k)))) > float(epsilon)


def one_entry(move: Fraction, alpha: Fraction) -> Fraction:
    """The most that one entry gains by moving up so far, from any place in its cell."""
    best = F(0)
    for first in [F(n, 8) * alpha for n in range(8)]:  # where in the cell it starts
        ratio, left, at = F(1), move, first
        while left > 0:
            step = min(left, alpha - at)
            ratio *= (1 + at + step) / (1 + at)
            left, at = left - step, F(0)
        best = max(best, ratio)
    return best


@pytest.mark.parametrize("y", [(2, 0), (-2, 1), (-1, -2), (1, 2)])
def test_signed_arrays_are_those_of_section_10(y: tuple[int, int]) -> None:
    """Our two layers, read as one walk, are the paper's 2m columns, collisions included."""
    mechanism = SignedALP(d=2, k=2, s=5, largest="3.1", epsilon=1, alpha=2, steps=1)
    m = mechanism.cells.count
    assert m == 3
    hashes = Tables(((0, 0), (1, 4), (3, 3), (2, 0), (1, 1), (4, 4)))
    x = {i: mechanism.cells.width * v for i, v in enumerate(y)}

    def read(bits: np.ndarray) -> tuple[int, ...]:
        flat = np.unpackbits(bits, bitorder="little")[: 5 * 2 * m].tolist()
        order = [(p, turned) for p, turned in mechanism.walk]
        return tuple(flat[5 * p + a] ^ turned for p, turned in order for a in range(5))

    rows = [hashes.table[p] for p, _ in mechanism.walk]
    plain: list[int] = []
    for b, h in enumerate(rows):
        default = int(b < m)
        changed = {h[i] for i, v in enumerate(y) if int(b < m + v) != default}
        plain += [1 - default if a in changed else default for a in range(5)]
    source = SeededSource(3)
    noisy = read(mechanism.draw(x, hashes, source))
    again = SeededSource(3)
    flips = np.unpackbits(
        again.coins(5 * 2 * m, mechanism.flip).view(np.uint8), bitorder="little"
    ).tolist()
    expected = [
        bit ^ flips[5 * p + a]
        for (p, _), column in zip(mechanism.walk, range(2 * m), strict=True)
        for a, bit in enumerate(plain[5 * column : 5 * column + 5])
    ]
    assert list(noisy) == expected


@pytest.mark.few(5)
@pytest.mark.parametrize("x", [F(0), F(1, 2), F(1), F(3, 2), F(7, 3), F(5), F(6)])
def test_growing_cells(x: Fraction) -> None:
    """Levels of a logarithmic scale by their definition: between two edges linearly."""
    mechanism = LogALP(d=1, k=1, s=3, largest=6, epsilon=1, alpha=3, steps=1, start=1)
    edges = mechanism.cells.fine.edges  # type: ignore[attr-defined]
    assert edges[0] == 1
    assert edges[-1] >= 6
    assert all(F(0) <= b / a - mechanism.growth < F(1, 2**30) for a, b in pairwise(edges))
    below = max((j for j, edge in enumerate(edges) if edge <= x), default=0)
    level = F(below)
    if edges[0] <= x and below + 1 < len(edges):
        level += (x - edges[below]) / (edges[below + 1] - edges[below])
    rows = Tables(((1,),) * mechanism.levels)
    model = round_law(level).map(lambda y: embedding((y,), rows.table, 3))
    model = model.then(lambda bits: noisy_law(bits, mechanism.flip))
    assert mechanism.law({0: x}, rows) == model


def test_estimates_are_those_of_algorithm_3() -> None:
    """All strings of six bits, asked at once: each entry has a row of its own."""
    mechanism = HistogramALP(d=64, k=31, s=64, largest=6, epsilon=1)
    strings = list(product((0, 1), repeat=6))
    array = np.array(strings, np.uint8).T.ravel()  # level after level, entry i in row i
    from exactdp.mechanisms.projections.unary_projection import Sketch

    hashes = Tables((tuple(range(64)),) * 6)
    sketch = Sketch(mechanism, hashes, np.packbits(array, bitorder="little"))  # type: ignore[arg-type]
    estimates = sketch.estimate(range(64))
    for i, bits in enumerate(strings):
        assert sketch[i] == estimate(bits)
        assert estimates[i] == pytest.approx(float(estimate(bits)), rel=1e-15)
