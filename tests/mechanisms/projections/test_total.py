"""One array for all levels: its law, its loss, its size, and what it refuses."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from exactdp.accounting.divergence import max_loss
from exactdp.mechanisms import ALP, Sketch, TotalALP, read_sketch
from exactdp.mechanisms.projections.embedding import Layout
from exactdp.mechanisms.projections.universal_hashing import Tables
from exactdp.samplers import SystemSource

F = Fraction


def small(**more: object) -> TotalALP:
    """Two entries, two levels."""
    arguments = {
        "d": 2,
        "k": 2,
        "s": 11,
        "largest": 1,
        "epsilon": 2,
        "alpha": "3/2",
        "steps": 1,
        "total": 1,
    }
    return TotalALP(**{**arguments, **more})  # type: ignore[arg-type]


#: Rows of two entries at two levels: apart, an entry with itself, two entries across levels.
HASHES = [((0, 1), (2, 3)), ((0, 1), (0, 2)), ((0, 1), (1, 0))]


@pytest.mark.few(1)
@pytest.mark.parametrize("rows", HASHES)
def test_the_law_and_the_loss(rows: tuple[tuple[int, int], ...]) -> None:
    """Every bit by its definition; neighbours within the closed form, however bits coincide."""
    mechanism = small()
    # fewer bits than allowed, so that all can be enumerated
    object.__setattr__(mechanism, "layout", Layout(4, 2, shared=True))
    assert mechanism.levels == 2
    hashes, p, width = Tables(rows), mechanism.flip, mechanism.cells.width
    used = sorted({row for level in rows for row in level})
    vectors = [x for x in product((F(0), F(1, 4), F(1, 2), F(1)), repeat=2) if sum(x) <= 1]
    laws = {x: mechanism.law(dict(enumerate(x)), hashes) for x in vectors}
    for x, law in laws.items():
        places = [mechanism.cells.places(v) for v in x]
        for bits in product((0, 1), repeat=len(used)):
            stated = F(0)
            for (y0, w0), (y1, w1) in product(*(place.items() for place in places)):
                ones = {rows[b][i] for i, y in enumerate((y0, y1)) for b in range(y)}
                chance = w0 * w1
                for row, bit in zip(used, bits, strict=True):
                    chance *= 1 - p if bit == (row in ones) else p
                stated += chance
            pattern = dict(zip(used, bits, strict=True))
            seen = law.probability(
                lambda z, pattern=pattern: all(z[r] == v for r, v in pattern.items())
            )
            assert seen == stated
    assert width < 1
    losses = [max_loss(laws[x], laws[y]) for x, y in product(vectors, repeat=2)
              if x != y and sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= 1]  # fmt: skip
    assert 1 < max(losses) <= mechanism.e_epsilon


def test_as_many_bits_as_the_sum_asks_for() -> None:
    """Counts of 10^4 rows in all: far fewer bits than for as many entries that may be large."""
    n = 10**4
    mechanism = TotalALP(d=2**64, k=n, s=8 * n, largest=300, epsilon="0.5", total=n)
    assert (
        mechanism.layout.size
        == 8 * n
        < ALP(d=2**64, k=n, s=2 * n + 1, largest=300, epsilon="0.5").layout.size / 11
    )
    assert mechanism.collision < F(1, 5)
    vector = {i: 1 + 249 * (i % 500 == 0) for i in range(5000)}
    sketch = mechanism.project(vector, SystemSource())
    again = read_sketch(sketch.to_bytes())
    assert isinstance(again, Sketch)
    ids = list(range(4000, 6000))
    assert (sketch.estimate(ids) == again.estimate(ids)).all()
    law, bound = mechanism.error(250), mechanism.error_bound("0.01")
    assert law.beyond(bound).upper <= F(1, 100)
    large = [i for i, value in vector.items() if value > 1]
    assert sum(abs(float(sketch[i]) - 250) > bound for i in large) <= 2  # of 10; 1e-4 for more
