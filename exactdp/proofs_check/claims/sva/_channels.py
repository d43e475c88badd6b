"""Small channels with exact laws for the lower-bound lemmas, and information in nats as balls."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from exactdp.balls import ball
from exactdp.law import Law

__all__ = ["Channel", "degrade", "leak", "mutual_information", "randomized_response", "uniform"]

Channel = Sequence[Law[int]]


def uniform(size: int) -> Law[int]:
    """The uniform law on range(size)."""
    return Law.uniform(range(size))


def randomized_response(size: int, e_epsilon: Fraction) -> list[Law[int]]:
    """Keeps the input with e^epsilon times the weight of every other value."""
    total = e_epsilon + size - 1
    return [
        Law({z: (e_epsilon if z == v else Fraction(1)) / total for z in range(size)})
        for v in range(size)
    ]


def leak(channel: Channel, delta: Fraction) -> list[Law[int]]:
    """With probability delta the input itself, in a part of the alphabet of its own."""
    size = len(channel)
    return [Law.mixture([(1 - delta, q), (delta, Law.point(size + v))])
            for v, q in enumerate(channel)]  # fmt: skip


def degrade(channel: Channel, eta: Fraction) -> list[Law[int]]:
    """The channel fed with its input with probability eta, with a uniform one otherwise."""
    average = Law.mixture([(Fraction(1, len(channel)), q) for q in channel])
    return [Law.mixture([(eta, q), (1 - eta, average)]) for q in channel]


def mutual_information(channel: Channel) -> arb:
    """I(V; Q(V)) in nats for uniform V."""
    share = Fraction(1, len(channel))
    average = Law.mixture([(share, q) for q in channel])
    return sum(
        (ball(share * p) * ball(p / average[z]).log() for q in channel for z, p in q.items()),
        arb(0),
    )
