"""The least parameter whose delta meets a target, where delta is only known to some width."""

from __future__ import annotations

from fractions import Fraction

import pytest

from exactdp.accounting import gshm_sums
from exactdp.accounting.certify.inversion import least
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter

_WIDTH = Fraction(1, 10**6)


def falling(value: Fraction) -> Enclosure:
    """(1 - value)/10, known to a relative width."""
    delta = max(Fraction(0), (1 - value) / 10)
    return Enclosure(delta * (1 - _WIDTH), delta * (1 + _WIDTH))


@pytest.mark.parametrize("root", [Fraction(1, 2), Fraction(1, 10**5), _WIDTH / 2, Fraction(0)])
def test_both_ends_are_proved_where_delta_is_not_told_from_the_target(root: Fraction) -> None:
    answer = least(falling, (1 - root) / 10, zero=True)
    assert answer.lower <= root <= answer.upper
    assert falling(answer.upper).upper <= (1 - root) / 10
    assert answer.upper <= max(root, 4 * _WIDTH) * 2


def test_a_delta_that_is_not_known_well_enough_has_no_answer() -> None:
    with pytest.raises(InvalidParameter, match="delta"):
        least(lambda _: Enclosure(Fraction(0), Fraction(1)), Fraction(1, 2), zero=True)


def test_the_epsilon_of_sums_keeps_the_delta_at_0() -> None:
    parameters = {"k": 10, "columns": 1, "sigma": 50, "tau": 243}
    at_zero = gshm_sums.delta(**parameters, epsilon=0)
    target = (at_zero.lower + at_zero.upper) / 2  # proved neither kept nor broken at 0
    answer = gshm_sums.epsilon(**parameters, delta=target)
    assert answer.lower == 0
    assert gshm_sums.check(**parameters, epsilon=answer.upper, delta=target).verdict == "proved"
