"""From nearly to purely private: mix with a law that reaches every output (BV, Section 3)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.parameters import Real, delta_target, positive, rational


def required_distance(*, e_epsilon: Real, gamma: Real, least: Real) -> Fraction:
    """How close to an (epsilon, 0)-DP law a law must be for its mixture to be (epsilon, 0)-DP.

    e_epsilon: e^epsilon > 1. gamma: weight of the law D that is mixed in, > 0 and < 1.
    least: the smallest probability D gives to any output, > 0 and <= 1.
    Returns delta = (e^epsilon - 1)/(e^epsilon + 1) * gamma/(1 - gamma) * least: if for every data
    set D M'(D) is within delta of M(D), at every output, then (1 - gamma) M' + gamma D is
    (epsilon, 0)-DP. No larger delta suffices in general. Source: BV, Lemma 3.1.

    >>> required_distance(e_epsilon=3, gamma="1/2", least="1/2")
    Fraction(1, 4)
    """
    factor, weight = rational("e_epsilon", e_epsilon), delta_target("gamma", gamma)
    floor = positive("least", least)
    if factor <= 1:
        raise InvalidParameter("e_epsilon", e_epsilon, "> 1")
    if floor > 1:
        raise InvalidParameter("least", least, "> 0 and <= 1")
    return (factor - 1) / (factor + 1) * weight / (1 - weight) * floor


def mixed_law(law: Law[Any], other: Law[Any], gamma: Real) -> Law[Any]:
    """(1 - gamma) law + gamma other."""
    weight = delta_target("gamma", gamma)
    return Law.mixture([(1 - weight, law), (weight, other)])
