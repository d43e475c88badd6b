"""Two arithmetics of one composition, and the exact numbers where there is a closed form."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from exactdp.accounting import composition, pld
from exactdp.accounting.pld.ask.search import measures
from exactdp.accounting.pld.compose.balls import Balls
from exactdp.accounting.pld.compose.doubles import Doubles, DoubleSums
from exactdp.accounting.pld.compose.engine import compose
from exactdp.balls import ball, precision
from tests.accounting.pld.integers import in_integers

STEP = Fraction(1, 64)
LOSSES = [
    pld.approximate(epsilon="0.5", delta="1e-3").composed(9),
    pld.gaussian(sigma=1).sampled("0.3").composed(6),
    pld.gaussian(sigma=1).sampled("0.3").composed(3).then(pld.gaussian(sigma=3).composed(2)),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("loss", LOSSES, ids=["with infinity", "sampled", "two kinds"])
def test_all_number_types_enclose_integers_of_other_code(loss: pld.Pld) -> None:
    order, epsilon = loss.orders()[0], Fraction(4, 3)
    parts = measures(order, STEP, 96)
    integers = in_integers(parts, epsilon)
    in_doubles = [compose(parts, rate, Doubles()) for rate in (0.0, 0.01, 0.07, 0.3)]
    exact = compose(parts, 0.0, Balls(200))
    with precision(512):
        low, high = ball(integers.lower), ball(integers.upper)
        # the mass at infinity is computed from sums of doubles, with a relative error
        infinite = any(low.infinity != 0 or high.infinity > 2**-90 for low, high, _ in parts)
        tiny = arb(10) ** (-14 if infinite else -30)
        for each in [*in_doubles, exact]:
            assert each.below(ball(epsilon)) <= low + tiny
            assert each.above(ball(epsilon)) >= high - tiny
        assert abs(exact.below(ball(epsilon)) - low) <= tiny
        assert abs(exact.above(ball(epsilon)) - high) <= tiny


def test_the_stated_error_holds_for_every_mass() -> None:
    """The cyclic masses in doubles against those in integers, tilt and scale undone."""
    (order, *_) = LOSSES[0].orders()
    parts = measures(order, STEP, 96)
    in_doubles = compose(parts, 0.05, Doubles())
    assert isinstance(in_doubles.high, DoubleSums)
    _, high, times = parts[0]
    masses = high.masses.at(0)
    tilted = masses * np.exp(0.05 * np.arange(len(masses)))
    direct = np.array([1.0])
    for _ in range(times):
        direct = np.convolve(direct, tilted / tilted.sum())
    start = times * (high.grid.offset + high.first * STEP)
    origin = round((float(in_doubles.start) - float(start)) / float(STEP))
    places = origin + np.arange(len(in_doubles.high.masses))
    inside = (places >= 0) & (places < len(direct))
    window = np.where(inside, direct[np.clip(places, 0, len(direct) - 1)], 0.0)
    seen = np.abs(in_doubles.high.masses - window).max()
    assert seen <= in_doubles.high.error + float(in_doubles.outside) + 1e-14 * times
    assert window.sum() > 1 - 1e-9


def test_integers_against_the_closed_form() -> None:
    loss = pld.approximate(epsilon="0.5", delta="1e-3").composed(9)
    delta = in_integers(measures(loss.orders()[0], Fraction(1), 96), Fraction(2))
    known = composition.optimal(k=9, epsilon="0.5", delta="1e-3", total_epsilon=2)
    assert delta.lower <= known.upper
    assert known.lower <= delta.upper
    # the masses are doubles
    assert delta.width <= delta.upper / 10**12
