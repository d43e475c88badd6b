"""Which mechanism for k values and this epsilon: exact errors, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from exactdp.errors import InvalidParameter
from exactdp.local.frequency_oracle import FrequencyOracle
from exactdp.local.hadamard_response import HadamardResponse
from exactdp.local.local_hashing import OptimizedLocalHashing
from exactdp.local.randomized_response import RandomizedResponse
from exactdp.local.subset_selection import SubsetSelection
from exactdp.local.unary_encoding import OptimizedUnaryEncoding, Rappor
from exactdp.parameters import Real, integer

#: Name on the command line -> mechanism.
ORACLES: dict[str, type[FrequencyOracle]] = {
    "randomized-response": RandomizedResponse,
    "rappor": Rappor,
    "unary": OptimizedUnaryEncoding,
    "hashing": OptimizedLocalHashing,
    "subset": SubsetSelection,
    "hadamard": HadamardResponse,
}


@dataclass(frozen=True)
class Row:
    """One mechanism. square_error: expected squared l2 error of its unbiased estimate, exactly."""

    name: str
    mechanism: FrequencyOracle
    square_error: Fraction


def compare(k: int, epsilon: Real, n: int) -> list[Row]:
    """Every mechanism that can serve k values, the least error of n reports first.

    Raises InvalidParameter.

    >>> [row.name for row in compare(10_000, "0.5", 100_000)][:2]
    ['subset', 'unary']
    """
    users = integer("n", n, least=1)
    RandomizedResponse(k, epsilon)  # serves every k: what it refuses is wrong
    rows = []
    for name, kind in ORACLES.items():
        try:
            mechanism = kind(k, epsilon)
        except InvalidParameter:
            continue  # too many values for reports of one bit each, or for its counters
        rows.append(Row(name, mechanism, mechanism.total_variance() / users))
    return sorted(rows, key=lambda row: row.square_error)
