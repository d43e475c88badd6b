"""Simple random walks with p < 1/2, counted step by step, with certified remainders."""

from __future__ import annotations

from fractions import Fraction

__all__ = [
    "hit_bounds",
    "last_return",
    "last_return_bounds",
    "last_time_bounds",
    "peak_law",
    "positions",
]


def positions(p: Fraction, steps: int) -> list[dict[int, Fraction]]:
    """The law of S_0, ..., S_steps."""
    laws = [{0: Fraction(1)}]
    for _ in range(steps):
        after: dict[int, Fraction] = {}
        for place, weight in laws[-1].items():
            after[place + 1] = after.get(place + 1, Fraction(0)) + weight * p
            after[place - 1] = after.get(place - 1, Fraction(0)) + weight * (1 - p)
        laws.append(after)
    return laws


def hit_bounds(p: Fraction, level: int, horizon: int) -> tuple[Fraction, Fraction]:
    """Enclosure of P(S_n = level for some n >= 1), level >= 0.

    Later than the horizon: P(S_n >= 0) <= (4 p (1 - p))^(n/2), by Markov's inequality.
    """
    alive, hit = {0: Fraction(1)}, Fraction(0)
    for _ in range(horizon):
        after: dict[int, Fraction] = {}
        for place, weight in alive.items():
            for step, chance in ((1, p), (-1, 1 - p)):
                if place + step == level:
                    hit += weight * chance
                else:
                    after[place + step] = after.get(place + step, Fraction(0)) + weight * chance
        alive = after
    x = 4 * p * (1 - p)
    return hit, hit + 2 * x ** ((horizon + 1) // 2) / (1 - x)


def last_return_bounds(p: Fraction, horizon: int) -> tuple[Fraction, Fraction]:
    """Enclosure of the mean of the last n with S_n >= 0, without any closed form; horizon even."""
    below = [Fraction(1)]  # probability that the next j steps all stay below the start
    alive = {0: Fraction(1)}
    for _ in range(horizon):
        after: dict[int, Fraction] = {}
        for place, weight in alive.items():
            for step, chance in ((1, p), (-1, 1 - p)):
                if place + step < 0:
                    after[place + step] = after.get(place + step, Fraction(0)) + weight * chance
        alive = after
        below.append(sum(alive.values(), Fraction(0)))
    mean = sum(
        (n * law.get(0, Fraction(0)) * below[horizon - n]
         for n, law in enumerate(positions(p, horizon))),
        Fraction(0),
    )  # fmt: skip
    x = 4 * p * (1 - p)
    half = horizon // 2
    # sum over n >= horizon of n x^floor(n/2) <= sum over j >= half of (4j + 1) x^j
    rest = x**half * ((4 * half + 1) / (1 - x) + 4 * x / (1 - x) ** 2)
    return mean, mean + rest


def last_return(p: Fraction, steps: int) -> Fraction:
    """P(the last n with S_n >= 0 is 2 * steps), by the product of the proof of Lemma 4.6."""
    from math import comb

    return comb(2 * steps, steps) * (p * (1 - p)) ** steps * (1 - 2 * p)


def peak_law(up: Fraction, steps: int) -> dict[tuple[int, int], Fraction]:
    """The joint law of the maximum of S_0, ..., S_steps and the last time it is reached."""
    law = {(0, 0): Fraction(1)}
    for _ in range(steps):
        longer: dict[tuple[int, int], Fraction] = {}
        for (top, when), weight in law.items():
            for step, chance in ((1, up), (-1, 1 - up)):  # a step put in front of the walk
                key = (top + step, when + 1) if top + step >= 0 else (0, 0)
                longer[key] = longer.get(key, Fraction(0)) + weight * chance
        law = longer
    return law


def last_time_bounds(p: Fraction, last: int, horizon: int) -> tuple[Fraction, Fraction]:
    """Enclosure of P(the last n with S_n >= 0 is `last`), by counting paths to the horizon.

    Later than the horizon: as for hit_bounds.
    """
    paths = {place: weight for place, weight in positions(p, last)[-1].items() if place >= 0}
    for _ in range(horizon - last):
        after: dict[int, Fraction] = {}
        for place, weight in paths.items():
            for step, chance in ((1, p), (-1, 1 - p)):
                if place + step < 0:
                    after[place + step] = after.get(place + step, Fraction(0)) + weight * chance
        paths = after
    high = sum(paths.values(), Fraction(0))
    x = 4 * p * (1 - p)
    return high - 2 * x ** ((horizon + 1) // 2) / (1 - x), high
