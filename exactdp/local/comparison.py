"""Comparison of the mechanisms for k values at the same epsilon, by exact errors."""

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
    """A mechanism. square_error: exact expected squared l2 error of its unbiased estimate."""

    name: str
    mechanism: FrequencyOracle
    square_error: Fraction


def compare(k: int, epsilon: Real, n: int) -> list[Row]:
    """All mechanisms that support k values, in ascending order of their error for n reports.

    k: number of values, >= 2. epsilon: of one report. n: number of reports, >= 1.
    Raises InvalidParameter.

    >>> [row.name for row in compare(10_000, "0.5", 100_000)][:2]
    ['subset', 'unary']
    """
    users = integer("n", n, least=1)
    RandomizedResponse(k, epsilon)  # supports every k, so it refuses invalid arguments only
    rows = []
    for name, kind in ORACLES.items():
        try:
            mechanism = kind(k, epsilon)
        except InvalidParameter:
            continue  # too many values for the mechanism's reports or counters
        rows.append(Row(name, mechanism, mechanism.total_variance() / users))
    return sorted(rows, key=lambda row: row.square_error)
