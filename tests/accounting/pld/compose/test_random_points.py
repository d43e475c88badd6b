"""Random training runs: the enclosure in doubles contains the integers', at every point."""

from fractions import Fraction

import numpy as np
import pytest

from exactdp.accounting import pld
from exactdp.accounting.pld.ask.search import measures
from exactdp.accounting.pld.compose.doubles import Doubles
from exactdp.accounting.pld.compose.engine import BITS, compose
from exactdp.balls import ball, precision
from exactdp.errors import TooCoarse
from tests.accounting.pld.integers import in_integers

POINTS = 400


def _outside(seed: int, count: int) -> tuple[int, int]:
    """Points asked, and points at which the doubles do not enclose the integers."""
    generator = np.random.default_rng(seed)
    points = outside = 0
    while points < count:
        mu = Fraction(int(generator.integers(20, 200)), 100)
        rate = Fraction(int(generator.integers(5, 101)), 100)
        times = int(2 ** generator.integers(0, 10))
        loss = pld.gaussian(sigma=1, sensitivity=mu).sampled(rate).composed(times)
        order = loss.orders()[int(generator.integers(0, len(loss.orders())))]
        try:
            parts = measures(order, Fraction(1, 32), 96)
        except TooCoarse:
            continue
        in_doubles = compose(parts, float(generator.random()) * 0.2, Doubles())
        for _ in range(10):
            # also below all losses of the window, and beyond most of them
            epsilon = Fraction(int(generator.integers(-300, 3000)), 100)
            integers = in_integers(parts, epsilon, bits=640)
            with precision(BITS):
                below, above = in_doubles.below(ball(epsilon)), in_doubles.above(ball(epsilon))
                kept = below <= ball(integers.lower) and above >= ball(integers.upper)
            points, outside = points + 1, outside + (not kept)
    return points, outside


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.slow
def test_none_is_outside(seed: int) -> None:
    assert _outside(seed, POINTS) == (POINTS, 0)
