"""The settings of another module, one of which is drawn when they are imported."""

import random

SHIFT = random.SystemRandom().randrange(-99, 99)


class Answering:
    noise = 0

    def answer(self, bit, rng):
        return bit + self.noise > 99, rng.randrange(21) < 10 + bit
