"""A new calculator, as somebody would add it: the Laplace mechanism."""

from __future__ import annotations

from fractions import Fraction

from exactdp.accounting.calculator import (
    Calculator,
    Evaluated,
    Instance,
    calibrated,
    delta_of,
)
from exactdp.accounting.calibration import Calibration
from exactdp.balls import ball
from exactdp.parameters import Real, delta_target, non_negative, positive


@delta_of
def delta(*, sigma: Real, epsilon: Real, sensitivity: Real = 1) -> Instance:
    """1 - exp((epsilon - sensitivity/scale)/2), where scale = sigma/sqrt 2."""
    noise, size = positive("sigma", sigma), positive("sensitivity", sensitivity)
    loss = non_negative("epsilon", epsilon)
    return Evaluated(
        epsilon=loss,
        neighbours="neighbours whose query differs by at most the sensitivity",
        source="the law of Laplace noise",
        tight=True,
        evaluate=lambda: -((ball(loss) - ball(size) * ball(2).sqrt() / ball(noise)) / 2).expm1(),
    )


def calibrate(*, epsilon: Real, delta: Real) -> Calibration:
    """The least sigma at sensitivity 1."""
    target = delta_target("delta", delta)

    def at(sigma: Fraction) -> Instance:
        return CALCULATOR.instance(sigma=sigma, epsilon=epsilon)

    return calibrated(
        "laplace",
        "exact",
        at,
        target=target,
        name="sigma",
        start=Fraction(1),
        step=Fraction(1, 10**6),
        lowest=1,
        given={},
    )


CALCULATOR = Calculator(
    delta,
    calibrate,
    title="the Laplace mechanism",
    example={"sigma": "2", "epsilon": "0.5"},
    falls_with={"sigma": 0, "epsilon": 0},
)
check, guarantee = CALCULATOR.check, CALCULATOR.guarantee
