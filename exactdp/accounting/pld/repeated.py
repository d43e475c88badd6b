"""The privacy loss of a random number of runs of which only the best output is published.

Upper ends: :mod:`~exactdp.accounting.pld.losses.selected`. Lower ends: events. Outputs with losses
above t are in an event S, those with losses up to l in an event R. If R is better than S, and S
better than all else, the best output is in S if no run is in R and some run is in S.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from flint import arb

from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.losses.base import Step
from exactdp.accounting.pld.losses.curves import KnownCurve
from exactdp.accounting.pld.losses.finite import FiniteLaws
from exactdp.accounting.pld.losses.repetitions import Repetitions
from exactdp.accounting.pld.losses.selected import selected
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.errors import Described, InvalidParameter
from exactdp.law import Law
from exactdp.parameters import Real, delta_target, positive, rational

_BITS = 192

#: The last epsilon of one run is a multiple of 1/_FINE, or the largest loss where this is at most
#: _NEARLY times as large.
_FINE, _NEARLY = 1 << 30, Fraction(65, 64)

#: Below this part of the least delta, what one run may leak does not count.
_RARE = Fraction(1, 1000)

#: Events of the lower bound begin at these parts of the last epsilon of one run. Those are kept
#: that are best at one of _TARGETS epsilons.
_EVENTS, _TARGETS = tuple(Fraction(i, 12) for i in range(9)), 12

#: The parameters of a law of the number of runs.
_MOST_RUNS, _LARGEST_SHAPE = 10**9, 1000


class _Detail(NamedTuple):
    """How closely one run is looked at.

    points: values of delta, from 0 to the last epsilon. near: the slope at an event is taken over
    this part of the last epsilon, from values of the relative width `narrow`.
    """

    points: int
    near: Fraction
    narrow: Fraction


_OF_ONE = _Detail(128, Fraction(1, 10_000), Fraction(1, 10**6))

#: Where one run is itself a composition, each value takes longer.
_OF_MANY = _Detail(64, Fraction(1, 250), Fraction(1, 10**4))


def repeat_and_select(
    run: Pld, *, mean: Real, shape: Real | str = 1, least_delta: Real = "1e-12"
) -> Pld:
    """The best output of a random number of runs, such as the best of several trainings.

    run: the loss of one run, which outputs the score with all that is published of it; runs are
    independent. Outputs are compared in any order that is fixed without the data. mean: of the
    number of runs, > 0 for "poisson", where no run may happen, else >= 1. shape: of the truncated
    negative binomial law, > -1: 1 is geometric, 0 logarithmic; or "poisson". The number of runs is
    secret. least_delta: below it delta is not followed, > 0 and < 1.
    Upper ends hold for all orders; lower ends are those of events for some orders.
    Raises InvalidParameter, Undecided.
    Source: the module's text; Papernot and Steinke 2022 (arXiv 2110.03620).

    >>> from exactdp.accounting import pld
    >>> best = pld.repeat_and_select(pld.gaussian(sigma=1), mean=10)
    >>> print(format(best.epsilon("1e-6"), "3"))
    [6.14, 6.91]
    """
    if not isinstance(run, Pld):
        raise InvalidParameter("run", run, "the loss of one run, of this module")
    runs = _read(mean, shape)
    if runs.shape is not None and runs.mean == 1:
        return run
    least = delta_target("least_delta", least_delta) * _RARE / max(runs.mean, Fraction(1))
    one, whole = _one_run(run, least)
    law = selected(one, runs, whole=whole)
    real = tuple((step,) for step in _trials(run, one.losses[-1], runs, law))
    step = Step(law, law, real or ((),), attained=False)
    source = f"{run.source}; exactdp.accounting.pld.repeated"
    return Pld(((step, 1),), run.neighbours, source)


def _read(mean: Real, shape: Real | str) -> Repetitions:
    runs = positive("mean", mean)
    if runs > _MOST_RUNS:
        raise InvalidParameter("mean", mean, "at most 1e9")
    if shape == "poisson":
        return Repetitions(runs, None)
    kind = rational("shape", shape)
    if not -1 < kind <= _LARGEST_SHAPE:
        raise InvalidParameter("shape", shape, "poisson, or a number > -1 and <= 1000")
    if runs < 1:
        raise InvalidParameter("mean", mean, ">= 1, where at least one run happens")
    return Repetitions(runs, kind)


def _detail(loss: Pld) -> _Detail:
    return _OF_ONE if loss.count == 1 else _OF_MANY


def _one_run(loss: Pld, least: Fraction) -> tuple[KnownCurve, bool]:
    """Upper bounds of delta of one run; whether they reach the largest loss, or else `least`."""
    never, largest = loss.infinite_mass().upper, loss.largest_loss()
    if never == 1:
        raise InvalidParameter("run", Described("always infinite"), "finite with some probability")
    end = loss.epsilon(max(least, never + never * (1 - never) / 2)).upper
    whole = largest is not None and 0 < largest.upper <= end * _NEARLY
    end = Fraction(math.ceil(end * _FINE) + 1, _FINE)
    if largest is not None and whole:
        end = largest.upper
    points = _detail(loss).points
    step, deltas = end / points, [Fraction(1)]
    for i in range(points):
        deltas.append(min(deltas[-1], loss.delta(i * step).upper))
    deltas.append(never if whole else min(deltas[-1], loss.delta(end).upper))
    return KnownCurve(step, tuple(deltas[1:])), whole


#: Probabilities of an event under P and under Q.
_Event: TypeAlias = tuple[arb, arb]


def _trials(loss: Pld, end: Fraction, runs: Repetitions, law: KnownCurve) -> list[Step]:
    """Steps of two outcomes, whether the best output is in an event, that leak at most as much."""
    if any(step.real for step, _ in loss.steps):  # no pair of neighbours is known to have all laws
        return []
    with precision(_BITS):
        removed, added = (list(_events(_in_one_order(loss, way), end)) for way in (True, False))
        chances = [(x, False) for x in _chances(removed, added, runs)]
        if any(not step.is_alike for step, _ in loss.steps):
            chances += [(x, True) for x in _chances(added, removed, runs)]
        best = {}
        for i in range(_TARGETS if chances else 0):
            x = ball(i * law.losses[-1] / _TARGETS).exp()
            k = max(
                range(len(chances)), key=lambda k: (chances[k][0][0] - x * chances[k][0][1]).lower()
            )
            best[k] = chances[k]
        return [_trial(*chance, turned=turned) for chance, turned in best.values()]


def _in_one_order(loss: Pld, removed: bool) -> Pld:
    """The mechanisms as if they had the curve of this order in both."""
    laws = ((step.removed if removed else step.added, n) for step, n in loss.steps)
    return Pld(tuple((Step.alike(law), n) for law, n in laws), loss.neighbours, loss.source)


def _events(loss: Pld, end: Fraction) -> Iterator[_Event]:
    """Events that contain the outputs with a loss above some number.

    Let delta, a function of x, have a slope -q between two places. It has that slope at a place
    between them: there is an event with Q(S) = q, and P(S) = p is the intercept.
    """
    _, near, narrow = _detail(loss)
    for part in _EVENTS:
        epsilons = part * end, (part + near) * end
        left, right = (ball(epsilon).exp() for epsilon in epsilons)
        high, low = (_as_ball(loss.delta(x, relative_width=narrow)) for x in epsilons)
        q = (high - low) / (right - left)
        p = (high + left * q).union(low + left * q)
        if q > 0:
            yield p, q


def _chances(first: list[_Event], turned: list[_Event], runs: Repetitions) -> Iterator[_Event]:
    """The probabilities that the best output is in an event, for some orders of the outputs."""
    nothing = arb(0), arb(0)
    for i, (p, q) in enumerate(first):
        better = [
            nothing,
            *((b, a) for a, b in turned),
            *((1 - a, 1 - b) for a, b in first[: i + 1]),
        ]
        for r, s in better:
            yield _some(runs, p.lower(), r.upper()), _some(runs, q.upper(), s.lower())


def _some(runs: Repetitions, chance: arb, better: arb) -> arb:
    """The probability of the best output; it rises with the first argument, and falls with the
    second."""
    return runs.some(chance + better) - runs.some(better)


def _trial(p: arb, q: arb, *, turned: bool) -> Step:
    # an event that is less likely under P and more likely under Q has a smaller delta
    with_, without = enclosure(p).lower, enclosure(q).upper
    laws = [Law({True: x, False: 1 - x}) for x in (with_, without)]
    step = Step(FiniteLaws(*laws), FiniteLaws(*laws[::-1]))
    return step.turned() if turned else step


def _as_ball(delta: Enclosure) -> arb:
    return ball(delta.lower).union(ball(delta.upper))
