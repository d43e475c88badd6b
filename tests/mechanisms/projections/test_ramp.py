"""Ramps: what a step costs, their exact loss by enumeration, and what they are worth."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import pytest

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.mechanisms import ALP, HistogramALP
from exactdp.mechanisms.projections.exact_epsilon import e_epsilon
from exactdp.mechanisms.projections.ramp import Ramp, rise_of
from exactdp.mechanisms.projections.rounding import Cells, EqualSteps, GrowingSteps
from exactdp.mechanisms.projections.sparse_vectors import checked
from exactdp.mechanisms.projections.universal_hashing import Tables
from exactdp.samplers import exact_law

F = Fraction


@pytest.mark.parametrize("ratio", [F(2), F(3, 2), F(2718281828, 10**9), 1 + F(1, 100)])
def test_no_step_costs_more_than_its_ratio(ratio: Fraction) -> None:
    for steps in (1, 2, 3, 4, 7, 64):
        chances = Ramp(ratio, steps).chances
        assert len(chances) == steps + 1
        assert all(a < b for a, b in pairwise(chances))
        for a, b in pairwise(chances):
            assert b / a <= ratio
            assert (1 - a) / (1 - b) <= ratio
        assert [1 - x for x in reversed(chances)] == list(chances)
        for a, b in pairwise(chances):  # and none less, but for what is rounded: 2^-56 of a chance
            small = min(a, 1 - b)
            assert max(b / a, (1 - a) / (1 - b)) > ratio * (1 - F(1, 2**55) / small)


def test_one_step_is_the_papers_flip() -> None:
    assert Ramp(1 + rise_of(F(3), 1), 1).flip == F(1, 5)
    for steps in (2, 4, 64):
        assert 0 <= F(1, 5) - Ramp(1 + rise_of(F(3), steps), steps).flip < F(1, 10**9)


def joint(p: Fraction, set_before: list[Fraction]) -> Fraction:
    """A 1 after the noise where several entries may have set the bit, each by its own coin."""
    empty = F(1)
    for mark in set_before:
        empty *= 1 - mark
    return p + (1 - empty) * (1 - 2 * p)


@pytest.mark.few(1)
@pytest.mark.parametrize("rows", [(0, 1), (2, 2)])
@pytest.mark.parametrize("steps", [2, 4])
def test_the_law_of_a_cell_by_its_definition(steps: int, rows: tuple[int, int]) -> None:
    """Chances between two steps are in proportion; a shared bit is set by either entry."""
    mechanism = ALP(d=2, k=2, s=5, largest=1, epsilon=1, alpha=2, steps=steps)
    assert mechanism.levels == 1
    ramp, p, hashes = mechanism.ramp, mechanism.flip, Tables((rows,))
    for x in ((F(1, 3), F(1)), (F(0), F(4, 5))):
        marks = []
        for value in x:
            step, part = divmod(value / mechanism.step, 1)
            one = ramp.chances[int(step)] * (1 - part) + ramp.chances[int(step) + 1] * part
            marks.append((one - p) / (1 - 2 * p))
        chances = [joint(p, [m for m, r in zip(marks, rows, strict=True) if r == row])
                   for row in range(5)]  # fmt: skip
        law = mechanism.law(dict(enumerate(x)), hashes)
        for bits in ((0,) * 5, (1, 0, 1, 1, 0), (0, 1, 1, 0, 1)):
            stated = F(1)
            for bit, chance in zip(bits, chances, strict=True):
                stated *= chance if bit else 1 - chance
            assert law[bits] == stated


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("k", "epsilon", "alpha", "steps", "attained"),
    [
        (1, "1", 8, 2, True),
        (1, "1", 8, 4, True),
        (2, "1", 3, 4, True),
        (2, "2", 6, 6, True),
        (1, "4", 1, 2, False),  # a change of 1 passes several cells of one entry
    ],
)
def test_the_exact_epsilon_of_ramps(
    k: int, epsilon: str, alpha: int, steps: int, attained: bool
) -> None:
    """No neighbours lose more than the closed form; k entries from 0 lose it, if they can."""
    mechanism = ALP(d=k, k=k, s=2 * k + 1, largest=1, epsilon=epsilon, alpha=alpha, steps=steps)
    h, c = mechanism.step, mechanism.rise / mechanism.step
    stated = e_epsilon(c, mechanism.rise, k)
    steps_taken = range(int(1 / h) + 1)
    n = max(
        steps_taken,
        key=lambda n: (1 + mechanism.rise) ** n * (1 + (c - n * mechanism.rise) / k) ** k,
    )
    part = (1 - n * h) / k  # what n whole steps leave to each of k entries
    values = {F(0), F(1), h, part, part + n // k * h, part + -(-n // k) * h}
    vectors = list(product(sorted(v for v in values if v <= 1), repeat=k))
    ratios = []
    for rows in {(0,) * k, tuple(range(k))}:
        hashes = Tables((rows,) * mechanism.levels)
        laws = {x: one_law(mechanism, x, hashes) for x in vectors}
        for x, y in product(vectors, repeat=2):
            if x != y and sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= 1:
                ratio = max_loss(laws[x], laws[y])
                assert isinstance(ratio, F)
                assert ratio <= stated <= mechanism.e_epsilon
                ratios.append(ratio)
    assert (max(ratios) > stated * (1 - F(1, 10**12))) == attained


def one_law(mechanism: ALP, x: tuple[Fraction, ...], hashes: Tables) -> Law[tuple[int, ...]]:
    """Of the rows that any entry goes to: the others are noise alone, whatever the data."""
    used = sorted({row for rows in hashes.table for row in rows})
    kept = [b * mechanism.s + row for b in range(mechanism.levels) for row in used]
    levels = exact_law(lambda source: levels_of(mechanism, x, source), residual=0)
    masses: dict[tuple[int, ...], Fraction] = {}
    for chosen, weight in levels.items():
        ones = {b * mechanism.s + hashes.table[b][i] for i, y in enumerate(chosen)
                for b in range(y)}  # fmt: skip
        for bits in product((0, 1), repeat=len(kept)):
            chance = weight
            for place, bit in zip(kept, bits, strict=True):
                chance *= 1 - mechanism.flip if bit == (place in ones) else mechanism.flip
            masses[bits] = masses.get(bits, F(0)) + chance
    return Law(masses)


def levels_of(mechanism: ALP, x: tuple[Fraction, ...], source: object) -> tuple[int, ...]:
    """The levels that the code that ships rounds to."""
    entries = checked(dict(enumerate(x)), mechanism.d, mechanism.k, F(0), F(1))
    level_of = dict.fromkeys(range(mechanism.d), 0)
    levels = mechanism.cells.level(entries, source)  # type: ignore[arg-type]
    level_of.update(zip(entries.ids.tolist(), levels.tolist(), strict=True))
    return tuple(level_of.values())


@pytest.mark.parametrize("width", [3, 4])
def test_counts_in_wide_cells(width: int) -> None:
    """Every count costs exactly e^epsilon, from below or above one half."""
    mechanism = HistogramALP(d=1, k=1, s=3, largest=width, epsilon=1, width=width)
    assert mechanism.levels == 1
    laws = [mechanism.law({0: x} if x else {}, Tables(((1,),))) for x in range(width + 1)]
    for one, other in pairwise(laws):
        ratio = max(float(max_loss(one, other)), float(max_loss(other, one)))
        assert ratio == pytest.approx(float(mechanism.e_epsilon), rel=1e-12)
        assert max(max_loss(one, other), max_loss(other, one)) <= mechanism.e_epsilon


@pytest.mark.parametrize(
    "fine", [EqualSteps(8, F(1, 3)), GrowingSteps.geometric(F(1), F(1, 2), F(9), 4)]
)
def test_places_are_the_law_of_rounding(fine: EqualSteps | GrowingSteps) -> None:
    cells = Cells(fine, Ramp(F(3, 2), 4))
    for value in (F(1, 7), F(1), F(5, 3), cells.value(F(cells.count))):
        entries = checked({0: value}, 1, 1, F(0), None)
        law = exact_law(lambda source, e=entries: int(cells.level(e, source)[0]), residual=0)
        assert dict(law.items()) == cells.places(value)


def test_ramps_halve_the_error_in_the_same_space() -> None:
    """As many levels, the same rows: the paper's best alpha against ours."""
    plain = ALP(d=2**64, k=3000, s=100_000, largest=60, epsilon=1, alpha=3, steps=1)
    steep = ALP(d=2**64, k=3000, s=100_000, largest=60, epsilon=1)
    assert steep.levels <= plain.levels
    for value, share in ((0, F(1, 2)), (30, F(2, 3))):
        ours, theirs = (m.error(value).mean_absolute() for m in (steep, plain))
        assert ours.upper < share * theirs.lower
