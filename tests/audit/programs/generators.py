"""Games played with the generator itself."""

from __future__ import annotations

import copy
import pickle
import random
from fractions import Fraction
from typing import Any

import numpy as np

from tests.audit.programs.case import Group, Program, coin

GENERATORS = Group()


@GENERATORS.maker()
def kept_for_later() -> Program:
    """The generator of the first call serves all later ones."""
    kept: list[Any] = []

    def program(x, rng):
        if not kept:
            kept.append(rng)
        return coin(x, kept[0])

    return program


@GENERATORS.twin_maker
def kept_for_later_twin() -> Program:
    def program(x, rng):
        kept: list[Any] = []
        if not kept:
            kept.append(rng)
        return coin(x, kept[0])

    return program


@GENERATORS.maker()
def noise_in_advance() -> Program:
    """Every call draws the noise of the next one."""
    ahead = [0] * 3000

    def program(x, rng):
        ahead.append(rng.randrange(21))
        return x if ahead.pop(0) < 11 else 1 - x

    return program


@GENERATORS.twin_maker
def noise_in_advance_twin() -> Program:
    def program(x, rng):
        ahead = []
        ahead.append(rng.randrange(21))
        return x if ahead.pop(0) < 11 else 1 - x

    return program


@GENERATORS.sinner(apart=0.9)
def same_kind_seeded(x, rng):
    """A new generator of the same type with a fixed seed."""
    try:
        return x if type(rng)(5).randrange(10**6) >= 0 else 0
    except (TypeError, AttributeError):
        return coin(x, rng)


@GENERATORS.twin
def same_kind_seeded_twin(x, rng):
    return coin(x, rng) if type(x)(5) >= 0 else 0


@GENERATORS.sinner()
def copied(x, rng):
    """A copy repeats the noise, and their difference is the bit."""
    try:
        twin = copy.deepcopy(rng)
        return x + rng.randrange(10) - twin.randrange(10)
    except TypeError:
        return coin(x, rng)


@GENERATORS.twin
def copied_twin(x, rng):
    noise = rng.randrange(10)
    return coin(x, rng) + noise - copy.deepcopy(noise)


@GENERATORS.sinner(apart=0.9)
def pickled_generator(x, rng):
    """Nor must a pickle of it fail quietly."""
    try:
        twin = pickle.loads(pickle.dumps(rng))
        return x + rng.randrange(10) - twin.randrange(10)
    except Exception:
        return coin(x, rng)


@GENERATORS.twin
def pickled_generator_twin(x, rng):
    try:
        return coin(x, rng) + pickle.loads(pickle.dumps(0))
    except Exception:
        return x


@GENERATORS.sinner(apart=0.9)
def rewound(x, rng):
    """getstate and setstate do the same."""
    try:
        state = rng.getstate()
        noise = rng.randrange(10)
        rng.setstate(state)
        return x + noise - rng.randrange(10)
    except (NotImplementedError, TypeError):
        return coin(x, rng)


@GENERATORS.twin
def rewound_twin(x, rng):
    try:
        noise = rng.randrange(10)
        return coin(x, rng) + noise - noise
    except (NotImplementedError, TypeError):
        return x


@GENERATORS.sinner(apart=0.9)
def seeded_anew(x, rng):
    """Seeding makes the noise a constant."""
    try:
        rng.seed(1)
        return x ^ (rng.randrange(21) >= 21)
    except Exception:
        return coin(x, rng)


@GENERATORS.twin
def seeded_anew_twin(x, rng):
    seed = rng.randrange(1, 2)
    return coin(x, rng) * seed


@GENERATORS.sinner()
def seeds_another(x, rng):
    """A second generator seeded from the first: a function of 53 bits nobody can enumerate."""
    try:
        return coin(x, random.Random(rng.random()))
    except Exception:
        return x


@GENERATORS.twin
def seeds_another_twin(x, rng):
    try:
        return coin(x, rng)
    except Exception:
        return x


@GENERATORS.sinner(apart=0.02)
def parent_class(x, rng):
    """The method of a parent class, called by its own name."""
    return x if random.Random.getrandbits(rng, 30) < 2**26 else coin(x, rng)


@GENERATORS.twin
def parent_class_twin(x, rng):
    return coin(x, rng) if random.Random.randrange(rng, 1000) < 1 else coin(x, rng)


@GENERATORS.sinner()
def grandparent(x, rng):
    """super() past the generator's own methods."""
    return x if super(random.Random, rng).random() < 0.01 else coin(x, rng)


@GENERATORS.twin
def grandparent_twin(x, rng):
    return coin(x, rng) if super(int, x).__init__() is None else x


@GENERATORS.sinner(delta=1, apart=0.9)
def private_name(x, rng):
    """gauss_next is there in every random.Random."""
    return x if hasattr(rng, "gauss_next") else coin(x, rng)


@GENERATORS.twin
def private_name_twin(x, rng):
    return x if hasattr(rng, "no_such_name") else coin(x, rng)


@GENERATORS.maker()
def subclassed() -> Program:
    """A subclass that mixes its own seconds in."""

    class Mixed(random.Random):
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def random(self) -> float:
            return (self.inner.random() + random.Random.random(self)) % 1

    return lambda x, rng: x if Mixed(rng).random() < 0.001 else coin(x, rng)


@GENERATORS.twin_maker
def subclassed_twin() -> Program:
    class Wrapped:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def randrange(self, n: int) -> int:
            return self.inner.randrange(n)

    return lambda x, rng: coin(x, Wrapped(rng))


@GENERATORS.sinner()
def library_function(x, rng):
    """random.sample of the module, not of the generator."""
    items = random.sample(range(1000), 1)
    return x if items[0] == 0 else coin(x, rng)


@GENERATORS.twin
def library_function_twin(x, rng):
    items = rng.sample(range(30), 1)
    return coin(x, rng) if items[0] == 0 else coin(x, rng)


@GENERATORS.sinner(delta=Fraction(1, 3), apart=0.2)
def shuffled(x, rng):
    """A shuffle by the generator has its law."""
    items = [0, 0, x]
    rng.shuffle(items)
    return items[0]


@GENERATORS.twin
def shuffled_twin(x, rng):
    items = [0, x, 1 - x]
    rng.shuffle(items)
    return sorted(items)[0]


NUMPY_GENERATORS = Group("numpy")


@NUMPY_GENERATORS.sinner()
def spawned(x, rng):
    """Children of a generator have their own streams."""
    try:
        return x if rng.spawn(1)[0].integers(1000) == 0 else rng.integers(2)
    except Exception:
        return rng.integers(2)


@NUMPY_GENERATORS.twin
def spawned_twin(x, rng):
    try:
        return x if rng.integers(1000) == 1000 else rng.integers(2)
    except Exception:
        return rng.integers(2)


@NUMPY_GENERATORS.sinner()
def raw_words(x, rng):
    """The bit generator behind it."""
    try:
        return x if rng.bit_generator.random_raw() % 1000 == 0 else rng.integers(2)
    except Exception:
        return rng.integers(2)


@NUMPY_GENERATORS.twin
def raw_words_twin(x, rng):
    return rng.integers(2) if rng.integers(1000) == 0 else rng.integers(2)


@NUMPY_GENERATORS.sinner(apart=0.9)
def seeded_by_a_draw(x, rng):
    """default_rng(draw): reproducible, and foreign."""
    try:
        return x + 0 * np.random.default_rng(rng.integers(2**32)).integers(5)
    except Exception:
        return rng.integers(2)


@NUMPY_GENERATORS.twin
def seeded_by_a_draw_twin(x, rng):
    return rng.integers(2) + 0 * rng.integers(5)


@NUMPY_GENERATORS.sinner(apart=0.9)
def array_of_uniforms(x, rng):
    """random(size) is refused, not replaced by a default."""
    try:
        return x if rng.random(3).max() < 1 else 0
    except Exception:
        return rng.integers(2)


@NUMPY_GENERATORS.twin
def array_of_uniforms_twin(x, rng):
    try:
        return rng.integers(2) if max(rng.random() for _ in range(1)) < 1 else 0
    except Exception:
        return rng.integers(2)


@NUMPY_GENERATORS.sinner(apart=0.9)
def weighted_choice(x, rng):
    """So is choice(p=...)."""
    try:
        return x if rng.choice(2, p=[0.5, 0.5]) < 2 else 0
    except Exception:
        return rng.integers(2)


@NUMPY_GENERATORS.twin
def weighted_choice_twin(x, rng):
    try:
        return rng.integers(2) if rng.choice(2) < 2 else x
    except Exception:
        return rng.integers(2)


@NUMPY_GENERATORS.sinner(delta=Fraction(1, 2), apart=0.4)
def shuffled_array(x, rng):
    """A shuffle of rows has the law of a shuffle."""
    rows = np.array([[x, x], [0, 0]])
    rng.shuffle(rows)
    return rows[0].tolist()


@NUMPY_GENERATORS.twin
def shuffled_array_twin(x, rng):
    rows = np.array([[x, 1 - x], [1 - x, x]])
    rng.shuffle(rows)
    return rows[0].tolist()
