"""A new calculator, as somebody would add it: the Laplace mechanism."""

from __future__ import annotations

from fractions import Fraction

from exactdp.accounting.calculator import Calculator, Evaluated, Instance, delta_of
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import Calibration, smallest_on_grid
from exactdp.balls import ball
from exactdp.parameters import Real, as_decimal, delta_target, non_negative, positive


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


def check(*, sigma: Real, epsilon: Real, delta: Real, sensitivity: Real = 1) -> Check:
    """Whether the Laplace mechanism is (epsilon, delta)-DP."""
    return CALCULATOR.check(delta, sigma=sigma, epsilon=epsilon, sensitivity=sensitivity)


def calibrate(*, epsilon: Real, delta: Real) -> Calibration:
    """The least sigma at sensitivity 1."""
    target = delta_target("delta", delta)

    def at(sigma: Fraction) -> Instance:
        return CALCULATOR.instance(sigma=sigma, epsilon=epsilon)

    sigma, refuted = smallest_on_grid(
        lambda sigma: at(sigma).check(target), Fraction(1), Fraction(1, 10**6)
    )
    kept = at(sigma).guarantee()
    return Calibration(
        mechanism="laplace",
        analysis="exact",
        given={},
        epsilon=kept.epsilon,
        target=target,
        sigma=as_decimal(sigma),
        tau=None,
        delta=kept.delta,
        refuted=refuted,
        guarantee=kept,
    )


CALCULATOR = Calculator(
    delta,
    calibrate,
    title="the Laplace mechanism",
    example={"sigma": "2", "epsilon": "0.5"},
    falls_with={"sigma": 0, "epsilon": 0},
)
guarantee = CALCULATOR.guarantee
