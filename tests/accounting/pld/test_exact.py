"""Three arithmetics of one composition, and the exact numbers where there is a closed form."""

from fractions import Fraction

import numpy as np
import pytest

from exactdp.accounting import composition, pld
from exactdp.accounting.pld import exact
from exactdp.accounting.pld.composed import BITS, compose
from exactdp.accounting.pld.queries import measures
from exactdp.balls import ball, precision

STEP = Fraction(1, 64)
LOSSES = [
    pld.gaussian(sigma=1).sampled("0.3").composed(6),
    pld.gaussian(sigma=1).sampled("0.3").composed(3).then(pld.gaussian(sigma=3).composed(2)),
    pld.approximate(epsilon="0.5", delta="1e-3").composed(9),
]


@pytest.mark.parametrize("loss", LOSSES, ids=["sampled", "two kinds", "with infinity"])
def test_doubles_enclose_integers_and_balls(loss: pld.Pld) -> None:
    order, epsilon = loss.orders()[0], Fraction(4, 3)
    parts = measures(order, STEP, 96)
    integers, balls = exact.in_integers(parts, epsilon), exact.in_balls(parts, epsilon)
    assert abs(integers.lower - balls.lower) <= Fraction(1, 10**30)
    assert abs(integers.upper - balls.upper) <= Fraction(1, 10**30)
    for rate in (0.0, 0.01, 0.07, 0.3):
        with precision(BITS):
            found = compose(parts, rate)
            assert found.below(ball(epsilon)) <= ball(integers.lower)
            assert found.above(ball(epsilon)) >= ball(integers.upper)


def test_the_stated_error_holds_for_every_mass() -> None:
    """The cyclic masses in doubles against those in integers, tilt and scale undone."""
    (order, *_) = LOSSES[0].orders()
    parts = measures(order, STEP, 96)
    with precision(BITS):
        found = compose(parts, 0.05)
    _, high, times = parts[0]
    masses = high.masses.at(0)
    tilted = masses * np.exp(0.05 * np.arange(len(masses)))
    direct = np.array([1.0])
    for _ in range(times):
        direct = np.convolve(direct, tilted / tilted.sum())
    start = times * (high.grid.offset + high.first * STEP)
    origin = round((float(found.start) - float(start)) / float(STEP))
    places = origin + np.arange(len(found.high))
    inside = (places >= 0) & (places < len(direct))
    window = np.where(inside, direct[np.clip(places, 0, len(direct) - 1)], 0.0)
    seen = np.abs(found.high - window).max()
    assert seen <= found.error + found.outside + 1e-14 * times
    assert window.sum() > 1 - 1e-9


def test_integers_against_the_closed_form() -> None:
    loss = pld.approximate(epsilon="0.5", delta="1e-3").composed(9)
    found = exact.in_integers(measures(loss.orders()[0], Fraction(1), 96), Fraction(2))
    known = composition.optimal(k=9, epsilon="0.5", delta="1e-3", total_epsilon=2)
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    # the masses are doubles
    assert found.width <= found.upper / 10**12
