"""Simple random walks with p < 1/2, counted step by step, with certified remainders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import comb

from exactdp_proofs.rationals import Fraction

#: place -> how many paths end there, a step up counted a times, a step down b - a times, p = a/b.
Paths = dict[int, int]


def _walk(
    p: Fraction, steps: int, stays: Callable[[int], bool], start: Mapping[int, int] | None = None
) -> list[Paths]:
    """Paths after 0, 1, ... steps that only visit places where `stays` holds."""
    paths = [dict(start or {0: 1})]
    up, down = p.numerator, p.denominator - p.numerator
    for _ in range(steps):
        after: Paths = {}
        for place, weight in paths[-1].items():
            for to, times in ((place + 1, up), (place - 1, down)):
                if stays(to):
                    after[to] = after.get(to, 0) + weight * times
        paths.append(after)
    return paths


def _left(p: Fraction, paths: list[Paths]) -> list[Fraction]:
    """The probability of the paths after 0, 1, ... steps."""
    return [Fraction(sum(law.values()), p.denominator**n) for n, law in enumerate(paths)]


def _later(p: Fraction, horizon: int) -> Fraction:
    """More than P(S_n >= 0 for some n >= horizon), for P(S_n >= 0) <= (4p(1-p))^(n/2) by Markov."""
    x = 4 * p * (1 - p)
    return 2 * x ** (horizon // 2) / (1 - x)


def hit_bounds(p: Fraction, level: int, horizon: int) -> tuple[Fraction, Fraction]:
    """Enclosure of P(S_n = level for some n >= 1), level >= 0."""
    hit = 1 - _left(p, _walk(p, horizon, lambda place: place != level))[-1]
    return hit, hit + _later(p, horizon + 1)


def last_return_bounds(p: Fraction, horizon: int) -> tuple[Fraction, Fraction]:
    """Enclosure of the mean of the last n with S_n >= 0, without any closed form; horizon even."""
    below = _left(p, _walk(p, horizon, lambda place: place < 0))
    mean = Fraction(0)
    for n, law in enumerate(_walk(p, horizon, lambda place: True)):
        mean += n * Fraction(law.get(0, 0), p.denominator**n) * below[horizon - n]
    x, half = 4 * p * (1 - p), horizon // 2
    # sum over n >= horizon of n x^floor(n/2) <= sum over j >= half of (4j + 1) x^j
    return mean, mean + x**half * ((4 * half + 1) / (1 - x) + 4 * x / (1 - x) ** 2)


def last_time_bounds(p: Fraction, last: int, horizon: int) -> tuple[Fraction, Fraction]:
    """Enclosure of P(the last n with S_n >= 0 is `last`), by counting paths to the horizon."""
    now = _walk(p, last, lambda place: True)[-1]
    reached = {place: weight for place, weight in now.items() if place >= 0}
    paths = _walk(p, horizon - last, lambda place: place < 0, reached)[-1]
    high = Fraction(sum(paths.values()), p.denominator**horizon)
    return high - _later(p, horizon + 1), high


def last_return(p: Fraction, steps: int) -> Fraction:
    """P(the last n with S_n >= 0 is 2 * steps), by the product of the proof of Lemma 4.6."""
    return comb(2 * steps, steps) * (p * (1 - p)) ** steps * (1 - 2 * p)


def peak_law(up: Fraction, steps: int) -> dict[tuple[int, int], Fraction]:
    """The joint law of the maximum of S_0, ..., S_steps and the last time it is reached."""
    law = {(0, 0): 1}
    times = ((1, up.numerator), (-1, up.denominator - up.numerator))
    for _ in range(steps):
        longer: dict[tuple[int, int], int] = {}
        for (top, when), weight in law.items():
            for step, number in times:  # a step put in front of the walk
                key = (top + step, when + 1) if top + step >= 0 else (0, 0)
                longer[key] = longer.get(key, 0) + weight * number
        law = longer
    return {key: Fraction(weight, up.denominator**steps) for key, weight in law.items()}


def furthest(p: Fraction, steps: int) -> Fraction:
    """The mean distance of the furthest maximizer of a walk."""
    return sum((w * when for (_, when), w in peak_law(p, steps).items()), Fraction(0))
