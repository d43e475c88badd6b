"""Vectors for attacks: the power of the best test between neighbours, and mu of Gaussian DP.

With delta(epsilon) the larger one of both orders, and a the rate of false alarms, the power is the
least delta(epsilon) + a e^epsilon, or 1 - (1 - a - delta(epsilon)) e^-epsilon, over all
epsilon >= 0. The first is least where the loss exceeds epsilon with probability a without the user;
the second, where it does so with probability 1 - a with the user.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from mpmath import mp, mpf

from vectors.generate.common import (
    Bounds,
    Group,
    Recipe,
    bracket,
    number,
    recipes_for,
    root,
    settled,
)
from vectors.generate.contour import Kernel, Line, Rules, composed, saddle, solved
from vectors.generate.normal import hockey, hockey_integral, tail
from vectors.generate.sampled_gaussian import orders
from vectors.generate.shares import in_integers

_DIGITS = 75

Numbers = np.ndarray[Any, np.dtype[np.float64]]

#: Newton's method ends at this relative change of epsilon; the power changes by its square.
_NEAR = mpf(10) ** -42

#: Relative accuracy of what doubles compute, which only compare and start.
_ROUGHLY = 1e-6

#: Where the Gaussian mechanism is compared, as parts of the largest epsilon.
_PLACES = [*(i / 12 for i in range(12)), *(1 - 2**-j for j in range(4, 10))]

#: The level of the rules that doubles use.
_LEVEL = 4


def _power(k: str, sigma: str, rate: str, neighbours: str, false_alarms: str) -> Bounds:
    if rate == "1":
        return _gaussian_power(_shift(k, sigma, neighbours), false_alarms)
    if k == "1":
        return _power_of_one_step(sigma, rate, false_alarms)
    with mp.workdps(_DIGITS):
        alpha = number(false_alarms)
        first, *others = orders(k, sigma, rate, neighbours)
        side, start = _start(first, alpha)
        on, delta = composed(first, start)
        place = start if side == "both" else _newton(on, start, side, alpha)
        delta = on.delta(place)
        _first_is_largest(first, others, float(place))
        grids = in_integers(first, place, on.theta, delta)
        second = [(_at(place, near, alpha), accuracy) for near, accuracy in grids]
        tails = _with_user(on, place), _without(on, place)
        powers = {"without": tails[0], "with": 1 - tails[1], "both": tails[0] - tails[1] + alpha}
        return bracket(_at(place, delta, alpha), (powers[side], "1e-40"), *second, most=1)


def _at(epsilon: mpf, delta: mpf, alpha: mpf) -> mpf:
    """The power that (epsilon, delta) allows."""
    return min(delta + alpha * mp.exp(epsilon), 1 - (1 - alpha - delta) * mp.exp(-epsilon))


def _with_user(on: Line, epsilon: mpf) -> mpf:
    """P(L > epsilon) with the user."""
    return on.integral(epsilon, lambda s: 1 / s)


def _without(on: Line, epsilon: mpf) -> mpf:
    """The same without the user."""
    return on.integral(epsilon, lambda s: 1 / (s + 1)) * mp.exp(-epsilon)


def _start(rules: Rules, alpha: mpf) -> tuple[str, mpf]:
    """Which tail of the loss has the rate's probability at the best epsilon, and about where."""
    level = float(alpha)
    if _rough(rules, 0.0, _TAILS["without"]) > level:
        side, target = "without", level
    elif _rough(rules, 0.0, _TAILS["with"]) > 1 - level:
        side, target = "with", 1 - level
    else:
        return "both", mpf(0)
    low, high = 0.0, 1.0
    while _rough(rules, high, _TAILS[side]) > target:
        low, high = high, 2 * high
    while high - low > _ROUGHLY:
        middle = (low + high) / 2
        above = _rough(rules, middle, _TAILS[side]) > target
        low, high = (middle, high) if above else (low, middle)
    return side, mpf(high)


def _newton(on: Line, epsilon: mpf, side: str, alpha: mpf) -> mpf:
    """The epsilon at which a tail has the rate's probability, from a place nearby."""
    tail_of, target = (_without, alpha) if side == "without" else (_with_user, 1 - alpha)
    for _ in range(20):
        density = on.integral(epsilon, lambda s: mpf(1))  # with the user
        if side == "without":
            density *= mp.exp(-epsilon)
        value = tail_of(on, epsilon)
        move = mp.log(value / target) * value / density
        epsilon += move
        if abs(move) < _NEAR * epsilon:
            return epsilon
    raise ArithmeticError("Newton's method does not settle")


#: Which tail -> its kernel, without the factor e^-epsilon of the second one.
_TAILS: dict[str, Kernel] = {"with": lambda s: 1 / s, "without": lambda s: 1 / (s + 1)}


@lru_cache(maxsize=4)
def _in_doubles(rules: Rules) -> tuple[Numbers, Numbers, int]:
    """Losses, logarithms of their masses, and how many there are of the only mechanism."""
    with mp.workdps(30):
        ((rule, count),) = rules(_LEVEL)
        losses = np.array([float(loss) for loss, _ in rule])
        return losses, np.array([float(mp.log(mass)) for _, mass in rule]), count


def _rough(rules: Rules, epsilon: float, kernel: Kernel) -> float:
    """An integral along the line through the saddle point, in doubles."""
    theta = float(saddle(rules(0), mpf(epsilon)))
    losses, logs, count = _in_doubles(rules)
    logs = logs + theta * losses
    height = logs.max()
    masses = np.exp(logs - height)
    scale = count * (np.log(masses.sum()) + height) - theta * epsilon
    step = 2 * np.pi * theta / (np.log(10) * 80)
    total, last, first = 0.0, 1.0, 0
    while last > 1e-14:
        turns = step * np.arange(first, first + 64)
        transform = np.exp(1j * np.outer(turns, losses)) @ masses / masses.sum()
        values = transform**count * np.exp(-1j * turns * epsilon)
        parts = (values * kernel(theta + 1j * turns)).real
        total += 2 * parts.sum() - (parts[0] if not first else 0)
        last, first = abs(values).max(), first + 64
    value = total * step / (2 * np.pi) * np.exp(scale)
    return float(value * np.exp(-epsilon) if kernel is _TAILS["without"] else value)


def _delta_kernel(s: complex) -> complex:
    return 1 / (s * (s + 1))


def _first_is_largest(first: Rules, others: list[Rules], epsilon: float) -> None:
    """Check that no other order has a larger delta there, so that the first one decides."""
    delta = _rough(first, epsilon, _delta_kernel)
    if any(_rough(other, epsilon, _delta_kernel) > delta * (1 + _ROUGHLY) for other in others):
        raise ArithmeticError("another order has a larger delta")


def _shift(k: str, sigma: str, neighbours: str) -> Callable[[], mpf]:
    """The distance of the means of k steps without sampling, in standard deviations."""
    twice = 2 if neighbours == "replace-one" else 1
    return lambda: twice * mp.sqrt(int(k)) / number(sigma)


def _gaussian_power(mu: Callable[[], mpf], false_alarms: str) -> Bounds:
    value = settled(lambda: tail(_quantile(number(false_alarms)) - mu()))
    with mp.workdps(60):
        alpha, shift = number(false_alarms), mu()
        level = shift * (_quantile(alpha) - shift / 2)
        other = _at(abs(level), hockey_integral(abs(level), shift), alpha)
    return bracket(value, (other, "1e-30"), most=1)


def _quantile(alpha: mpf) -> mpf:
    """The level that a standard normal variable exceeds with probability alpha."""
    level = mp.sqrt(2) * mp.erfinv(1 - 2 * alpha) if alpha > mpf(10) ** -6 else None
    if level is None:
        level = mp.sqrt(-2 * mp.log(alpha))
    for _ in range(200):
        move = mp.log(tail(level) / alpha) * tail(level) / mp.npdf(level)
        level += move
        if abs(move) < mp.eps * 16:
            return level
    raise ArithmeticError("Newton's method does not settle")


def _power_of_one_step(sigma: str, rate: str, false_alarms: str) -> Bounds:
    """One sampled step: the loss rises with the noisy sum."""

    def value() -> mpf:
        alpha, q = number(false_alarms), number(rate)
        return (1 - q) * alpha + q * tail(_quantile(alpha) - 1 / number(sigma))

    power = settled(value)
    with mp.workdps(60):
        alpha, q, mu = number(false_alarms), number(rate), 1 / number(sigma)
        level = _quantile(alpha)
        loss = mp.log(1 - q + q * mp.exp(mu * level - mu * mu / 2))
        if loss < 0:
            raise ArithmeticError("the loss is negative there")
        delta = q * hockey_integral(mp.log1p(mp.expm1(loss) / q), mu)
        other = _at(loss, delta, alpha)
    return bracket(power, (other, "1e-30"), most=1)


def _mu(k: str, sigma: str, rate: str, neighbours: str, least_delta: str) -> Bounds:
    if rate == "1":
        return bracket(settled(_shift(k, sigma, neighbours)))
    with mp.workdps(_DIGITS):
        least = number(least_delta)
        first, *others = orders(k, sigma, rate, neighbours)
        _, last = solved(first, least)

    def enough(mu: mpf) -> bool:
        return bool(hockey(last, mu) >= least)

    ends = root(enough, mpf(1))
    _end_is_largest(first, others, last, number(ends[0]))
    return ends


def _end_is_largest(first: Rules, others: list[Rules], last: mpf, mu: mpf) -> None:
    """Check that a smaller epsilon, of a larger delta, does not ask for a larger mu."""
    with mp.workdps(30):
        for part in _PLACES:
            place = float(last) * part
            _first_is_largest(first, others, place)
            if _rough(first, place, _delta_kernel) > hockey(mpf(place), mu):
                raise ArithmeticError("a larger delta asks for a larger mu")


_AR, _RO = "add-remove", "replace-one"

POWERS = [
    # k, sigma, rate, neighbours, false_alarms, comment, flags
    ("1", "1", "1", _AR, "0.05", "Gaussian noise", "Ordinary"),
    ("1", "1", "1", _AR, "0.5", "every second is an alarm", "Ordinary"),
    ("1", "1", "1", _AR, "1e-6", "one in a million", "FewAlarms"),
    ("1", "1", "1", _AR, "1e-9", "one in a thousand million", "FewAlarms"),
    ("10", "1", "1", _AR, "1e-12", "ten steps", "FewAlarms"),
    ("1", "16", "1", _AR, "1e-6", "much noise", "FewAlarms"),
    ("4", "2", "1", _RO, "1e-6", "four steps, replaced", "FewAlarms Relation"),
    ("1", "1", "0.01", _AR, "0.001", "one sampled step", "FewCompositions"),
    ("1", "1", "0.01", _AR, "1e-6", "one sampled step", "FewCompositions FewAlarms"),
    ("1", "1", "0.01", _AR, "1e-12", "one sampled step", "FewCompositions FewAlarms"),
    ("1000", "1", "0.01", _AR, "1e-9", "a thousand steps", "FewAlarms"),
    ("1000", "1", "0.01", _AR, "1e-6", "a thousand steps", "FewAlarms"),
    ("1000", "1", "0.01", _AR, "0.0001", "a thousand steps", "Ordinary"),
    ("1000", "1", "0.01", _AR, "0.01", "a thousand steps", "Ordinary"),
    ("1000", "1", "0.01", _AR, "0.42", "between the two orders", "ManyAlarms"),
    ("1000", "1", "0.01", _AR, "0.5", "every second is an alarm", "ManyAlarms"),
    ("1000", "1", "0.01", _RO, "0.0001", "a thousand steps, replaced", "Relation"),
    ("100", "2", "0.1", _AR, "1e-6", "a hundred steps", "FewAlarms"),
    ("10000", "1", "0.01", _AR, "1e-6", "ten thousand steps", "FewAlarms ManyCompositions"),
    ("100000", "8", "0.01", _AR, "1e-6", "a hundred thousand", "FewAlarms ManyCompositions"),
]  # fmt: skip

MUS = [
    # k, sigma, rate, neighbours, least_delta, comment, flags
    ("4", "4", "1", _AR, "1e-5", "Gaussian noise", "Ordinary"),
    ("1000", "1", "0.01", _AR, "1e-5", "a thousand steps", "GaussianFit"),
    ("100", "2", "0.1", _AR, "1e-6", "a hundred steps", "GaussianFit"),
    ]  # fmt: skip


def _recipes() -> list[Recipe]:
    names = ("k", "sigma", "rate", "neighbours")
    return [
        *recipes_for("power", (*names, "false_alarms"), _power, POWERS),
        *recipes_for("mu", (*names, "least_delta"), _mu, MUS, "Calibration"),
    ]


GROUP = Group(
    name="power",
    description="What an attacker can do who sees k steps, each with Gaussian noise of deviation "
    "`sigma` on the sum of a Poisson sample, in which every user is with probability `rate`, and "
    "knows everything but one user. Neighbours: that user takes part or not, or the user's data "
    "are replaced.",
    questions={
        "power": "the largest probability of an alarm with the user, of all tests whose "
        "probability of an alarm without the user is at most `false_alarms`; as the deltas of both "
        "orders imply it together, so that a test may be for either order",
        "mu": "the least mu whose Gaussian mechanism has at least the epsilon of all steps "
        "together at every delta >= `least_delta`",
    },
    source="Dong, Roth, Su 2022, Propositions 2.4 and 2.12; Kulynych et al. 2024",
    methods=(
        "no sampling, one step: the closed form at two precisions, and from delta by quadrature",
        "many steps: from delta as in sampled_gaussian where the tail of the loss has the rate's "
        "probability; the tail on the same line, agreeing to 1e-40; delta by integers on grids, "
        "where at most 300000 nodes suffice, agreeing to 1e-4",
        "mu: bisection at the epsilon of least_delta, both ends checked; at 18 smaller epsilons "
        "the Gaussian mechanism's delta is larger",
    ),
    recipes=_recipes,
)
