"""Programs on numpy's numbers: they wrap, divide to infinity, and are not Python's."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tests.audit.programs.case import Group, numpy_coin

ARITHMETIC = Group("numpy")

HALF = Fraction(1, 2)


@ARITHMETIC.sinner(delta=HALF, apart=0.4)
def wraps(x, rng):
    """int64 wraps around."""
    return x if rng.integers(0, 2**62) * 4 < 0 else 0


@ARITHMETIC.twin
def wraps_twin(x, rng):
    return x if rng.integers(0, 2**60) * 4 < 0 else 0


@ARITHMETIC.sinner(delta=HALF, apart=0.4)
def sum_wraps(x, rng):
    """So does a sum of two."""
    a, b = rng.integers(0, 2) * 2**62, rng.integers(0, 2) * 2**62
    return x if a + b < 0 or a > b else 0


@ARITHMETIC.twin
def sum_wraps_twin(x, rng):
    a, b = rng.integers(0, 2) * 2**61, rng.integers(0, 2) * 2**61
    return x if a + b < 0 else 0


@ARITHMETIC.sinner(delta=HALF, apart=0.4)
def negation_wraps(x, rng):
    """-(-2^63) is -2^63."""
    low = -(2**63) + rng.integers(0, 2)
    return x if -low < 0 else 0


@ARITHMETIC.twin
def negation_wraps_twin(x, rng):
    low = -(2**62) + rng.integers(0, 2)
    return x if -low < 0 else 0


@ARITHMETIC.sinner(delta=HALF, apart=0.4)
def power_wraps(x, rng):
    """A power wraps to zero."""
    return x if rng.integers(1, 3) ** 64 == 0 else 0


@ARITHMETIC.twin
def power_wraps_twin(x, rng):
    return x if rng.integers(1, 3) ** 62 == 0 else 0


@ARITHMETIC.sinner(delta=HALF, apart=0.4)
def shift_wraps(x, rng):
    """A shift by 64 leaves nothing."""
    return x if 1 << rng.integers(62, 66) <= 0 and rng.integers(3) < 2 else 0


@ARITHMETIC.twin
def shift_wraps_twin(x, rng):
    return x if 1 << rng.integers(59, 63) <= 0 else 0


@ARITHMETIC.sinner(delta=HALF, apart=0.4)
def division_by_zero(x, rng):
    """1/0 is infinite, with a warning."""
    return x if 1 / rng.integers(0, 2) == math.inf else 0


@ARITHMETIC.twin
def division_by_zero_twin(x, rng):
    return x if 1 / rng.integers(1, 3) == math.inf else 0


@ARITHMETIC.sinner(delta=HALF, apart=0.4)
def whole_division_by_zero(x, rng):
    """1//0 and 1%0 are 0."""
    divisor = rng.integers(0, 2)
    return x if 1 // divisor == 0 and 1 % divisor == 0 else 0


@ARITHMETIC.twin
def whole_division_by_zero_twin(x, rng):
    divisor = rng.integers(1, 3)
    return x if 1 // divisor == 0 and 1 % divisor == 0 else 0


@ARITHMETIC.sinner(delta=HALF, apart=0.4)
def overflow_to_infinity(x, rng):
    """A float power overflows to inf instead of raising."""
    return x if 10.0 ** rng.integers(308, 310) == math.inf else 0


@ARITHMETIC.twin
def overflow_to_infinity_twin(x, rng):
    return x if 10.0 ** rng.integers(307, 309) == math.inf else 0


@ARITHMETIC.sinner(delta=Fraction(2**30 - 1, 2**31 - 1), apart=0.4)
def narrow_dtype(x, rng):
    """int32 was asked for."""
    return x if rng.integers(0, 2**31 - 1, dtype=np.int32) * 2 < 0 else 0


@ARITHMETIC.twin
def narrow_dtype_twin(x, rng):
    return x if rng.integers(0, 2**31 - 1) * 2 < 0 else 0


@ARITHMETIC.sinner(delta=Fraction(1, 4), apart=0.2)
def narrow_constant(x, rng):
    """An int8 array takes an int64 in place, and wraps it."""
    kept = np.full(1, 100, dtype=np.int8)
    kept += rng.integers(0, 4) * 10
    return x if kept[0] < 0 else 0


@ARITHMETIC.twin
def narrow_constant_twin(x, rng):
    kept = np.full(1, 100, dtype=np.int64)
    kept += rng.integers(0, 4) * 10
    return x if kept[0] < 0 else 0


@ARITHMETIC.sinner(delta=1, apart=0.9)
def unsigned(x, rng):
    """uint64 minus int64 is a float64."""
    return x if isinstance(np.uint64(3) - rng.integers(0, 8), float) else 0


@ARITHMETIC.twin
def unsigned_twin(x, rng):
    return x if isinstance(np.int64(3) - rng.integers(0, 8), float) else 0


@ARITHMETIC.sinner(delta=1, apart=0.9)
def not_an_int(x, rng):
    """numpy.int64 is no int."""
    return numpy_coin(x, rng) if isinstance(rng.integers(3), int) else x


@ARITHMETIC.twin
def not_an_int_twin(x, rng):
    return numpy_coin(x, rng) if isinstance(rng.integers(3), (int, np.integer)) else x


@ARITHMETIC.sinner(delta=1, apart=0.9)
def has_a_dtype(x, rng):
    """It has a dtype and a size."""
    return x if hasattr(rng.integers(3), "dtype") else numpy_coin(x, rng)


@ARITHMETIC.twin
def has_a_dtype_twin(x, rng):
    return x if hasattr(rng.random(), "dtype") else numpy_coin(x, rng)


@ARITHMETIC.sinner(delta=1, apart=0.9)
def not_true(x, rng):
    """A comparison is a numpy.bool, and never `is True`."""
    return numpy_coin(x, rng) if (rng.integers(3) >= 0) is True else x


@ARITHMETIC.twin
def not_true_twin(x, rng):
    return numpy_coin(x, rng) if rng.integers(3) >= 0 else x


@ARITHMETIC.sinner(delta=1, apart=0.9)
def inverted_comparison(x, rng):
    """~ of a comparison is its negation, where Python's would be -2 and true."""
    return numpy_coin(x, rng) if ~(rng.integers(3) >= 0) else x


@ARITHMETIC.twin
def inverted_comparison_twin(x, rng):
    return numpy_coin(x, rng) if not ~(rng.integers(3) >= 0) else x


@ARITHMETIC.sinner(delta=Fraction(1, 4), apart=0.2)
def sum_of_comparisons(x, rng):
    """True + True is True, not 2."""
    hits = (rng.integers(2) > 0) + (rng.integers(2) > 0)
    return x if hits == 1 and rng.integers(3) < 1 else 0


@ARITHMETIC.twin
def sum_of_comparisons_twin(x, rng):
    hits = (rng.integers(2) > 0) + (rng.integers(2) > 0)
    return x if hits == 2 else 0


@ARITHMETIC.sinner(delta=HALF, apart=0.4)
def promoted_choice(x, rng):
    """choice makes an array of its list: 1 among 1 and 2.5 becomes 1.0."""
    picked = rng.choice([1, 2.5])
    return x if str(picked) == "1.0" else 0


@ARITHMETIC.twin
def promoted_choice_twin(x, rng):
    picked = rng.choice([1, 2])
    return x if str(picked) == "1.0" else 0


@ARITHMETIC.sinner(delta=HALF, apart=0.4)
def text_choice(x, rng):
    """And 0 among words becomes a word."""
    return x if rng.choice([0, "none"]) == "0" else 0


@ARITHMETIC.twin
def text_choice_twin(x, rng):
    return x if rng.choice(["1", "none"]) == "0" else 0


@ARITHMETIC.sinner(delta=1, apart=0.9)
def out_of_range(x, rng):
    """A range beyond int64 is refused by numpy; the program expects that."""
    try:
        return numpy_coin(x, rng) if rng.integers(2**70) >= 0 else x
    except ValueError:
        return x


@ARITHMETIC.twin
def out_of_range_twin(x, rng):
    try:
        return numpy_coin(x, rng) if rng.integers(2**60) >= 0 else x
    except ValueError:
        return x


@ARITHMETIC.sinner(delta=1, apart=0.9)
def negative_power(x, rng):
    """An integer to a negative power is an error in numpy."""
    try:
        return numpy_coin(x, rng) if rng.integers(1, 3) ** -1 > 0 else x
    except ValueError:
        return x


@ARITHMETIC.twin
def negative_power_twin(x, rng):
    try:
        return numpy_coin(x, rng) if rng.integers(1, 3) ** 2 > 0 else x
    except ValueError:
        return x


@ARITHMETIC.sinner(delta=1, apart=0.9)
def single_precision(x, rng):
    """A float32 uniform plus 2^24 forgets itself."""
    return x + 0 * int(rng.random(dtype=np.float32) + np.float32(2**24))


@ARITHMETIC.twin
def single_precision_twin(x, rng):
    return x if np.float32(0.5) > 1 else numpy_coin(x, rng)


@ARITHMETIC.sinner(delta=HALF, apart=0.4)
def array_of_draws(x, rng):
    """An array built from draws is int64, not Python objects."""
    draws = np.array([rng.integers(2) * 2**62 for _ in range(1)])
    return x if (draws * 2)[0] < 0 else 0


@ARITHMETIC.twin
def array_of_draws_twin(x, rng):
    draws = np.array([rng.integers(2) * 2**61 for _ in range(1)])
    return x if (draws * 2)[0] < 0 else 0


@ARITHMETIC.sinner(delta=1, apart=0.9)
def known_generator(x, rng):
    """A program that makes sure of what it was given."""
    return x if isinstance(rng, np.random.Generator) else numpy_coin(x, rng)


@ARITHMETIC.twin
def known_generator_twin(x, rng):
    return x if rng is None else numpy_coin(x, rng)


#: numpy's constants beside the draws of random.Random.
MIXED = Group()


@MIXED.sinner(delta=HALF, apart=0.4)
def array_that_wraps(x, rng):
    """And wraps like one."""
    scaled = np.array([rng.randrange(2)]) * 2**62 * 2
    return x if scaled[0] < 0 else 0


@MIXED.twin
def array_that_wraps_twin(x, rng):
    scaled = np.array([rng.randrange(2)]) * 2**61 * 2
    return x if scaled[0] < 0 else 0


@MIXED.sinner(delta=HALF, apart=0.4)
def narrow_scalar(x, rng):
    """numpy.uint8(200) + r is a uint8."""
    return x if np.uint8(200) + rng.randrange(0, 112) < 200 else 0


@MIXED.twin
def narrow_scalar_twin(x, rng):
    return x if np.uint8(100) + rng.randrange(0, 112) < 100 else 0


@MIXED.sinner(delta=Fraction(84, 255), apart=0.2)
def narrow_factor(x, rng):
    """A product that wraps twice is not monotone."""
    product = rng.randrange(0, 255) * np.uint8(3)
    return x if product >= 171 else 0


@MIXED.twin
def narrow_factor_twin(x, rng):
    product = rng.randrange(0, 56) * np.uint8(3)
    return x if product >= 171 else 0
