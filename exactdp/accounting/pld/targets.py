"""The noise, or the number of steps, with which a training keeps a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypedDict, Unpack

from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.checking import Check
from exactdp.accounting.certify.grid import least_multiple, read_resolution, unit_of
from exactdp.accounting.certify.hints import exp2, falling_root, log
from exactdp.accounting.guarantee import Guarantee
from exactdp.accounting.pld.ask.followed import followed
from exactdp.accounting.pld.ask.grids import log_delta_guess
from exactdp.accounting.pld.correlated import Strategy
from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.training import sgd
from exactdp.balls import ball, precision
from exactdp.bisection import least
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter, Undecided
from exactdp.parameters import Real, as_decimal, delta_target, integer, non_negative, positive

_BITS = 128

#: The search for the noise covers multipliers from 2^-300 to 2^300.
_MOST_DOUBLINGS = 300

#: The error of a guess from saddle points, about, in doublings of the noise.
_NEAR = 0.05

#: Largest number of steps that is tried.
_MOST_STEPS = 10**18


@dataclass(frozen=True)
class StepsCalibration:
    """The largest number of steps within a target: `too_many` steps provably exceed the target.

    delta: enclosure after these steps, at most the target (0 for 0 steps). too_many: one more step,
    or one more epoch of random allocation. refuted: delta after too_many steps, above the target.
    """

    steps: int
    delta: Enclosure
    too_many: int
    refuted: Enclosure


class Scheme(TypedDict, total=False):
    """How the samples of the steps are drawn, see :func:`sgd`."""

    sampling: str
    neighbours: str
    batch_limit: int | str | None
    users: int | str | None
    strategy: Strategy | None
    bands: int | str | None


def _only_known(name: str, scheme: Scheme) -> None:
    """Raise the TypeError that Python raises for an unknown argument of the function `name`."""
    for option in scheme.keys() - Scheme.__annotations__.keys():
        raise TypeError(f"{name}() got an unexpected keyword argument {option!r}")


def calibrate_sgd(
    *,
    rate: Real,
    steps: int | str,
    epsilon: Real,
    delta: Real,
    resolution: Real = "1e-4",
    **scheme: Unpack[Scheme],
) -> Calibration:
    """The smallest noise multiplier with which DP-SGD is (epsilon, delta)-DP.

    rate, steps, scheme (sampling, neighbours, batch_limit, users, strategy, bands): as in
    :func:`sgd`. epsilon: > 0.
    delta: target, > 0 and < 1. resolution: relative step of the noise multiplier, in [1e-15, 0.1].
    The noise provably satisfies the target; the next smaller noise on the grid provably does not
    (for truncated samples and batches: the upper bound does not show it).
    Raises InvalidParameter, Undecided.

    >>> from exactdp.accounting import pld
    >>> calibration = pld.calibrate_sgd(
    ...     rate="0.1", steps=20, epsilon=2, delta="1e-5", resolution="1e-2"
    ... )
    >>> print(calibration.noise_multiplier, calibration.refuted.value)  # takes seconds
    1.37 1.36
    """
    _only_known("calibrate_sgd", scheme)
    loss, target = positive("epsilon", epsilon), delta_target("delta", delta)
    grid_step = read_resolution(resolution)
    count = integer("steps", steps, least=1)
    seen: dict[Fraction, Check] = {}

    def run(noise: Fraction) -> Pld:
        return sgd(noise_multiplier=noise, rate=rate, steps=count, **scheme)

    def test(noise: Fraction) -> Check:
        seen[noise] = _decide(run(noise), loss, target)
        return seen[noise]

    run(Fraction(1))  # checks the rate
    with precision(_BITS):
        if (
            scheme.get("sampling") != "allocated"
            and scheme.get("strategy") is None
            and ball(target) >= 1 - (1 - ball(positive("rate", rate))) ** count
        ):
            raise InvalidParameter("delta", delta, "less than the chance of ever being in a sample")
    start = _noise_guess(run, loss, target)
    unit = unit_of(start, grid_step)
    noise, refuted = least_multiple(test, start, unit, lowest=1, name="noise_multiplier")
    training = run(noise)
    promise = Guarantee(loss, seen[noise].delta, training.neighbours, training.source)
    settings = {"rate": positive("rate", rate), "steps": Fraction(count)}
    chosen = {"noise_multiplier": as_decimal(noise)}
    return Calibration("sgd", "exact", settings, chosen, target, refuted, promise)


def most_steps(
    *, noise_multiplier: Real, rate: Real, epsilon: Real, delta: Real, **scheme: Unpack[Scheme]
) -> StepsCalibration:
    """The largest number of steps for which DP-SGD is (epsilon, delta)-DP.

    Parameters as in :func:`sgd` and :func:`calibrate_sgd`; at least one step is tried. With
    sampling="allocated" the answer is a number of whole epochs, in steps.
    Raises InvalidParameter, Undecided.

    >>> from exactdp.accounting import pld
    >>> training = pld.most_steps(noise_multiplier=2, rate="0.1", epsilon=1, delta="1e-5")
    >>> training.steps  # takes seconds
    16
    """
    _only_known("most_steps", scheme)
    if scheme.get("strategy") is not None:
        raise InvalidParameter("steps", Described("none"), "given for correlated noise")
    loss, target = non_negative("epsilon", epsilon), delta_target("delta", delta)
    is_epochs = scheme.get("sampling") == "allocated"
    unit = int(1 / positive("rate", rate)) if is_epochs else 1
    one = sgd(noise_multiplier=noise_multiplier, rate=rate, steps=unit, **scheme)
    known: dict[int, Check] = {}

    def kept(steps: int) -> bool:
        if steps not in known:
            known[steps] = _decide(one.composed(steps), loss, target)
        if known[steps].verdict == "undecided":
            raise Undecided(f"whether {steps * unit} steps keep the target is not decided")
        return known[steps].verdict == "proved"

    most, too_many = 0, 1
    while kept(too_many):
        most, too_many = too_many, 4 * too_many
        if too_many * unit > _MOST_STEPS:
            raise Undecided(f"the target is still kept after {most * unit} steps")
    too_many = least(most + 1, too_many, lambda steps: not kept(steps))
    most = too_many - 1
    delta_kept = known[most].delta if most else Enclosure.exact(0)
    return StepsCalibration(most * unit, delta_kept, too_many * unit, known[too_many].delta)


@followed
def _noise_guess(run: Callable[[Fraction], Pld], loss: Fraction, target: Fraction) -> Fraction:
    """About the noise at which delta is the target: from saddle points, then from two deltas."""

    def sketched(doublings: float) -> float:
        orders = run(exp2(doublings)).orders()
        return max(log_delta_guess(order, float(loss)) for order in orders) - log_target

    log_target = log(target)
    place = falling_root(lambda x: round(sketched(x), 2), 0.0)  # a sketch is not more accurate
    if abs(place) > _MOST_DOUBLINGS:
        raise Undecided("the noise that meets the target is too small or too large to be found")
    slope = (sketched(place + _NEAR) - sketched(place - _NEAR)) / (2 * _NEAR)
    seen: list[tuple[float, float]] = []
    for width in ("2e-2", "5e-3"):
        delta = run(exp2(place)).bound().delta(loss, relative_width=width)
        about = (delta.lower + 2 * delta.upper) / 3  # the upper end is nearer, see ask.delta
        seen.append((place, log(about / target)))
        if len(seen) == 2:
            (a, fa), (b, fb) = seen
            slope = (fb - fa) / (b - a) if a != b else slope
        if slope < 0:
            place -= min(max(seen[-1][1] / slope, -_NEAR), _NEAR)
    return exp2(place)


def _decide(training: Pld, loss: Fraction, target: Fraction) -> Check:
    try:
        delta = training.bound().against(loss, target)
    except Undecided:  # no grid is so fine
        delta = Enclosure(Fraction(0), Fraction(1))
    return Check(delta, target, tight=training.exact)
