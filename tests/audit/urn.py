"""A module with mechanisms in it, as programs import them: some draw from its variable random."""

import random

RANDOM = random


def coin(bit):
    """The bit, or with probability 10/21 the other one."""
    return bit if random.randrange(21) < 11 else 1 - bit


def real_coin(bit):
    """The same from a real number, about."""
    return bit if random.random() < 11 / 21 else 1 - bit


def given_coin(bit, rng=None):
    """The same from a generator that is handed over, if one is."""
    if rng is None:
        rng = random.SystemRandom()
    return bit if rng.random() < 11 / 21 else 1 - bit


def typed_coin(bit, rng):
    """The bit, if a real number is a float."""
    return bit if type(rng.random()) is float else 1 - bit
