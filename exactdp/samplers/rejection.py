"""Loops that end with probability one, and say so when the randomness behind them is not random.

Every such loop here fails to end within LIMIT turns with a probability below 2^-200, and on a
constant source (all zeros, say) for certain.
"""

from __future__ import annotations

from exactdp.errors import ExactDPError

#: Turns of a loop, each of which ends it with a probability of at least about one half.
LIMIT = 256


class RandomnessError(ExactDPError, OSError):
    """Randomness failed to come, or what came cannot be random."""


def never_settled(what: str) -> RandomnessError:
    """The error for a loop that used up its turns."""
    return RandomnessError(f"{LIMIT} turns did not settle {what}: the source is not random")
