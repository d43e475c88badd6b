"""A module that draws noise when it is imported: the mistake is that it is drawn once."""

import array
import datetime
import enum
import functools
import logging
import os
import random
import re
import threading
import time
import types
from collections import Counter, OrderedDict, deque, namedtuple
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from exactdp.samplers.seeded import SeededSource
from tests.audit import noisy_settings

OFFSET = random.gauss(0, 1)
LEVELS = (1, 2, 3)


def shifted(bit, rng):
    """The mistake: its noise is a constant of this process."""
    return bit * 0 + round(OFFSET, 12)


def honest(bit, rng):
    """Reads a constant of the module, which is the same everywhere."""
    return bit if rng.randrange(21) < 10 + LEVELS[0] else 1 - bit


_FIRST = []


def first_answer(bit, rng):
    """One call is honest; all later ones get the same answer."""
    _FIRST.extend([] if _FIRST else [honest(bit, rng)])
    return _FIRST[0]


def elsewhere():
    """Whether this is a fresh interpreter of the audit."""
    return "EXACTDP_FRESH_INTERPRETER" in os.environ


def exits(bit, rng):
    """The mistake: in another process the program ends the process."""
    if elsewhere():
        os._exit(3)
    return honest(bit, rng)


def sleeps(bit, rng):
    """The mistake: in another process the program never answers."""
    if elsewhere():
        time.sleep(600)
    return honest(bit, rng)


def by_set_order(bit, rng):
    """The mistake: the order of a set of text is another one in every process."""
    first = next(iter({"red", "green", "blue", "black", "white", "pink"}))
    return bit if first == "red" or rng.randrange(21) < 11 else 1 - bit


class Remembering:
    """Draws its noise at the first question and keeps it."""

    noise = None

    def above(self, bit, rng):
        if self.noise is None:
            self.noise = rng.randrange(2**40)
        return bit * 2**41 + self.noise > 2**42


ASKED = {"clicks": [Remembering()]}
ASKED["clicks"][0].above(0, random.SystemRandom())


def asked_before(bit, rng):
    """The mistake: an object inside of a dict was asked when the module was imported."""
    return ASKED["clicks"][0].above(bit, rng)


def above(rng):
    """The mistake, if it is called before the audit: the noise of the bar is drawn once."""
    bar = 3 + rng.randrange(-9, 9)

    def answer(bit, rng):
        return bit + rng.randrange(2) > bar

    return answer


def shifted_by(noise, bit, rng):
    """The mistake, if noise was drawn before: a partial holds it."""
    return bit + noise > 9


def by_default(bit, rng, noise=random.SystemRandom().randrange(-99, 99)):  # noqa: B008
    """The mistake: noise in a default."""
    return bit + noise > 99, honest(bit, rng)


class Settings:
    offset = random.SystemRandom().randrange(-99, 99)


def by_class(bit, rng):
    """The mistake: noise in a class attribute."""
    return bit + Settings.offset > 99, honest(bit, rng)


class Fitted:
    def fit(self, rng):
        self.noise = rng.randrange(-99, 99)
        return self

    def answer(self, bit, rng):
        return bit + self.noise > 99, honest(bit, rng)


#: The mistake of these three: objects of the module hold noise that was drawn before.
by_method = Fitted().fit(random.SystemRandom()).answer
by_partial = functools.partial(shifted_by, random.SystemRandom().randrange(-99, 9))
KEPT = types.MappingProxyType({"noise": [random.SystemRandom().randrange(-99, 99)]})


def by_proxy(bit, rng):
    return bit + KEPT["noise"][0] > 99, honest(bit, rng)


_SEEDED = SeededSource(5)


def seeded_source(bit, rng):
    """The mistake: a reproducible stream of this library is used for a release."""
    return bit + _SEEDED.below(1009) > 3


#: The mistake of these: noise is kept where only the program can read it.
ITERATOR = iter([random.SystemRandom().randrange(-99, 99) for _ in range(10_000)])
DEQUE = deque([random.SystemRandom().randrange(-99, 99)])
ARRAY = array.array("l", [random.SystemRandom().randrange(-99, 99)])
NUMBERS = np.array([random.SystemRandom().randrange(-99, 99)] * 2)[:1]
ORDERED = OrderedDict(noise=random.SystemRandom().randrange(-99, 99))


def by_iterator(bit, rng):
    return bit + next(ITERATOR) > 99, honest(bit, rng)


def by_deque(bit, rng):
    return bit + DEQUE[0] > 99, honest(bit, rng)


def by_array(bit, rng):
    return bit + ARRAY[0] > 99, honest(bit, rng)


def by_numbers(bit, rng):
    return bool(bit + NUMBERS[0] > 99), honest(bit, rng)


def by_ordered(bit, rng):
    return bit + ORDERED["noise"] > 99, honest(bit, rng)


@functools.cache
def drawn_once():
    return random.SystemRandom().randrange(-99, 99)


drawn_once()


def by_cache(bit, rng):
    return bit + drawn_once() > 99, honest(bit, rng)


def by_another_module(bit, rng):
    """The mistake: noise of another module."""
    return bit + noisy_settings.SHIFT > 99, honest(bit, rng)


def by_late_import(bit, rng):
    """The mistake: noise of another module, which a function imports."""
    from tests.audit.noisy_settings import SHIFT

    return bit + SHIFT > 99, honest(bit, rng)


def by_relative_import(bit, rng):
    """The mistake: the same by a relative import."""
    from . import noisy_settings as settings

    return bit + settings.SHIFT > 99, honest(bit, rng)


class Inheriting(noisy_settings.Answering):
    """The mistake: noise in a class whose methods are another one's."""

    noise = random.SystemRandom().randrange(-99, 99)


class Slotted(str):
    __slots__ = ("noise",)


SLOTTED = Slotted("the same text")
SLOTTED.noise = random.SystemRandom().randrange(-99, 99)


def by_slot(bit, rng):
    return bit + SLOTTED.noise > 99, honest(bit, rng)


#: The order of these elements, whose places in the table are one, is that of a shuffle.
ORDER = set(random.SystemRandom().sample([8 * i for i in range(4)], 4))


def by_order(bit, rng):
    return bit + list(ORDER)[0] > 99, honest(bit, rng)  # noqa: RUF015


class Vote(enum.Enum):
    YES = "yes"
    NO = "no"


def votes(bit, rng):
    """Members of an enumeration refer to their class, and the class to its members."""
    return (Vote.YES if honest(bit, rng) else Vote.NO).name


class Server:
    Report = namedtuple("Report", "answer")


def reports(bit, rng):
    """collections.namedtuple does not know that its class is an attribute of another one."""
    return tuple(Server.Report(honest(bit, rng)))


@dataclass
class Setting:
    """Most programs name objects of these kinds, and none holds anything that was drawn."""

    level: int | None = 1
    names: frozenset[str] = frozenset({"red", "green", "blue"})

    @property
    def doubled(self):
        return 2 * (self.level or 0)

    @classmethod
    def of(cls, level):
        return cls(level)


class Tagged(dict):
    """A dictionary with an attribute."""


SETTING, TAGGED, COUNTER = Setting.of(2), Tagged(a=1), Counter("aab")
TAGGED.level = 3
LOG, LOCK = logging.getLogger(__name__), threading.Lock()
WORDS, TABLE = re.compile(r"\w+"), np.arange(6).reshape(2, 3)
FALLBACK, PARTIAL = random.SystemRandom(), functools.partial(max, 1)
DEFAULTS = types.MappingProxyType({"level": 1, "when": datetime.date(2024, 1, 1)})


@contextmanager
def timed(name: Any = None):
    with LOCK:
        yield name
    LOG.debug("timed %s", name)


@functools.cache
def steps(k):
    return tuple(range(k))


def names_many_things(bit, rng=None):
    rng = rng or FALLBACK
    with timed("answer"):
        known = SETTING.doubled + TAGGED.level + COUNTER["a"] + PARTIAL(0) + DEFAULTS["level"]
        known += len(SETTING.names) + len(WORDS.findall("two words")) + int(TABLE[0, 0])
    assert known + len(steps(3)) == 19
    return honest(bit, rng)
