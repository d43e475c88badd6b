"""Certified positivity over boxes: proofs, counterexamples, and honest failure."""

from __future__ import annotations

import pytest
from exactdp_proofs.boxes import always_positive
from exactdp_proofs.comparisons import Counterexample
from flint import arb

from exactdp.errors import Undecided


def test_proves_a_tight_inequality() -> None:
    # the minimum of x^4 - x + 0.4725 is 0.0000296 at x = 4^(-1/3)
    assert always_positive(lambda x: x**4 - x + arb(4725) / 10000, [(0, 2)]) > 10


def test_finds_a_narrow_violation() -> None:
    with pytest.raises(Counterexample, match=r"at 0\.6"):
        always_positive(lambda x: x**4 - x + arb(4724) / 10000, [(0, 2)])


def test_every_coordinate_is_searched() -> None:
    def bowl(x: arb, y: arb) -> arb:
        return (x - arb("0.3")) ** 2 + (y - arb("0.7")) ** 2 - arb("0.0001")

    with pytest.raises(Counterexample, match=r"at 0\.\d+, 0\.\d+"):
        always_positive(bowl, [(0, 1), (0, 1)])
    assert always_positive(lambda x, y: bowl(x, y) + arb("0.001"), [(0, 1), (0, 1)]) > 4


def test_a_touched_zero_is_not_guessed() -> None:
    with pytest.raises((Undecided, Counterexample)):
        always_positive(lambda x: (x - arb(1) / 3) ** 2, [(0, 1)], most_boxes=500)


def test_a_point_and_ends_are_included() -> None:
    assert always_positive(lambda x: x, [("0.5", "0.5")]) == 1
    with pytest.raises(Counterexample):
        always_positive(lambda x: 1 - x, [(1, 1)])
