"""From a law near a pure DP law to pure DP, by mixing with a law that reaches every output.

Source: Balcer and Vadhan, "Differential Privacy on Finite Computers" (BV), Section 3.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactdp.errors import InvalidParameter
from exactdp.law import Law
from exactdp.parameters import Real, delta_target, positive, rational


def required_distance(*, e_epsilon: Real, gamma: Real, least: Real) -> Fraction:
    """Largest distance delta to an (epsilon, 0)-DP mechanism that a mixture makes (epsilon, 0)-DP.

    e_epsilon: e^epsilon > 1. gamma: weight of the law U that is mixed in, > 0 and < 1.
    least: the smallest probability that U gives to any output, > 0 and <= 1.
    Returns delta = (e^epsilon - 1)/(e^epsilon + 1) * gamma/(1 - gamma) * least. If the output
    probabilities of M' and of an (epsilon, 0)-DP mechanism M differ by at most delta for every data
    set and output, then (1 - gamma) M' + gamma U is (epsilon, 0)-DP; no larger delta suffices in
    general. Raises InvalidParameter. Source: BV, Lemma 3.1.

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
    """The mixture (1 - gamma) law + gamma other, 0 <= gamma <= 1."""
    weight = delta_target("gamma", gamma)
    return Law.mixture([(1 - weight, law), (weight, other)])
