"""A module that draws noise when it is imported: the mistake is that it is drawn once."""

import random

OFFSET = random.gauss(0, 1)
LEVELS = (1, 2, 3)


def shifted(bit, rng):
    """The mistake: its noise is a constant of this process."""
    return bit * 0 + round(OFFSET, 12)


def honest(bit, rng):
    """Reads a constant of the module, which is the same everywhere."""
    return bit if rng.randrange(21) < 10 + LEVELS[0] else 1 - bit


def by_set_order(bit, rng):
    """The mistake: the order of a set of text is another one in every process."""
    first = next(iter({"red", "green", "blue", "black", "white", "pink"}))
    return bit if first == "red" or rng.randrange(21) < 11 else 1 - bit
