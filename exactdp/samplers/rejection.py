"""Loops that end with probability one, and raise an error if the source is not random.

With uniform bits, a loop needs more than LIMIT turns with probability below 2^-200; with a constant
source (for example all zeros), always.
"""

from __future__ import annotations

from exactdp.errors import RandomnessError

#: Largest number of turns; each ends the loop with probability about 1/2 or more.
LIMIT = 256


def never_settled(what: str) -> RandomnessError:
    """The error of a loop that needed more than LIMIT turns."""
    return RandomnessError(f"{LIMIT} turns did not determine {what}: the source is not random")
