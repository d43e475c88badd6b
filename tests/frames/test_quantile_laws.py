"""Laws of releases of counts and quantiles on small tables, by enumeration of all random bits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import polars as pl
import pytest

from exactdp.frames import CountsAndQuantiles, KeyedHash, Quantile, release_by
from exactdp.law import Law
from exactdp.mechanisms import GSHM
from exactdp.samplers import Source, exact_law
from tests.mechanisms.test_grid_quantile import expected

pytestmark = pytest.mark.slow

_ASKED = {"amount": Quantile(["0.5", "0.75"], 0, 3, of="users")}


@pytest.fixture(autouse=True)
def _one_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """One random order of keys in place of 2^186: users have one key, so none is left out."""
    keyed = KeyedHash(7, 1, 2, 3, 4, 5)
    monkeypatch.setattr(KeyedHash, "draw", classmethod(lambda *_: keyed))


def mechanism() -> CountsAndQuantiles:
    counts = GSHM.for_target(k=1, epsilon=2, delta="0.05")
    return CountsAndQuantiles.for_target(counts, _ASKED, epsilon=4, delta="0.1")


def law_of(both: CountsAndQuantiles, amounts: list[int]) -> Law[Any]:
    """The law of the released rows, of users with one amount each."""
    rows = [(user, "a", amount) for user, amount in enumerate(amounts)]
    frame = pl.DataFrame(rows, schema=["uid", "url", "amount"], orient="row")

    def run(source: Source) -> Any:
        out = release_by(
            frame, user="uid", by="url", mechanism=both, source=source, quantiles=_ASKED
        )
        return tuple(out.frame.rows())

    return exact_law(run, residual="1e-3")


def test_the_law_is_that_of_the_counts_times_those_of_independent_choices() -> None:
    """Counts by their own law, and points by the definition, value by value."""
    both, amounts = mechanism(), [0, 2, 2, 3, 1]
    law, counts = law_of(both, amounts), both.counts.law({"a": len(amounts)}, "1e-9")
    choices = [expected(chooser, amounts) for chooser in both.columns.values()]
    for bins, chance in counts.items():
        if not bins:
            assert abs(law[()] - chance) <= law.residual + counts.residual
            continue
        ((key, count),) = bins
        for x in range(4):
            for y in range(4):
                true = mpmath.mpf(chance.numerator) / chance.denominator
                true *= choices[0][x] * choices[1][y]
                assert abs(float(law[(key, count, x, y),]) - true) <= float(law.residual) + 1e-9


@pytest.mark.parametrize("joined", [0, 3])
def test_neighbours_keep_the_guarantee_of_counts_and_quantiles_together(joined: int) -> None:
    """delta of a user who joins, in both orders, by the enumerated laws; the residual may add."""
    both, amounts = mechanism(), [1, 2]
    without, with_ = law_of(both, amounts), law_of(both, [*amounts, joined])
    growth = Fraction(float(mpmath.exp(4)))
    for p, q in ((with_, without), (without, with_)):
        above = (p[y] - growth * q[y] for y in p.support)
        delta = sum((max(x, Fraction(0)) for x in above), Fraction(0))
        assert delta <= both.guarantee.delta.upper + p.residual
