"""What the experiments rely on: users of several laws may share their random sets."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from exactdp.local import SubsetSelection
from lab.experiments import compressive_privatization
from lab.experiments.shares import exchanged


def test_exchanging_two_bits_makes_the_report_of_another_value() -> None:
    oracle = SubsetSelection(k=5, epsilon=1, size=2)
    assert oracle.bits == 5
    for value in range(5):

        def swapped(report: object, v: int = value) -> int:
            marks = [int(str(report)) >> x & 1 for x in range(5)]
            marks[0], marks[v] = marks[v], marks[0]
            return sum(mark << x for x, mark in enumerate(marks))

        assert oracle.law(0).map(swapped) == oracle.law(value)


def test_states_of_shared_sets_have_the_stated_mean_and_variance() -> None:
    """Fixed seed; 6.6 standard deviations per share, alpha < 1e-9 each by the normal law."""
    oracle, k = SubsetSelection(k=40, epsilon=1), 40
    laws = {"two": np.eye(k)[0] * 0.7 + np.eye(k)[7] * 0.3, "last": np.eye(k)[k - 1]}
    for grown in exchanged(oracle, laws, [3000, 12_500], seed=5):
        for law, p in laws.items():
            state = grown[law]
            assert state.counts.sum() == state.n * (oracle.size or 0)
            shares = [Fraction(float(share)) for share in p]
            reported = [float(oracle.variance(x, shares)) for x in range(k)]
            spread = np.sqrt((np.array(reported) + p * (1 - p)) / state.n)  # users are drawn, too
            assert (abs(state.estimate() - p) < 6.6 * spread).all()
    assert {state.n for state in grown.values()} == {12_500}


def test_the_best_other_mechanism_is_compared() -> None:
    table = {
        name: {"normalized": [[error], [error + 2]], "projected": [[2 * error], [2 * error]]}
        for name, error in (("CP", 1.0), ("RR", 9.0), ("SS", 5.0))
    }
    assert compressive_privatization.ratios(table) == {"normalized": [3.0], "projected": [5.0]}
