"""Programs that draw one or two doubles, for which a wrong law is tempting.

Each is called with a bit and a generator that has the methods of Python's or numpy's generator.
PYTHON, NUMPY: one double; TWO: two doubles. What the audit decides must be the law; it may refuse.
"""

from __future__ import annotations

import bisect
import math
from functools import lru_cache
from math import log as logarithm
from typing import Any

import numpy as np

MEMO: list[Any] = []


# -- functions that are not monotone, or only on a part of the range -------------------------------


def sine(bit: int, rng: Any) -> bool:
    return bool(np.sin(7 * rng.random()) > 0.5)


def square(bit: int, rng: Any) -> bool:
    u = rng.random() - 0.5
    return bool(u * u < 0.1)


def power(bit: int, rng: Any) -> bool:
    return bool((rng.random() - 0.5) ** 2 < 0.1)


def magnitude(bit: int, rng: Any) -> bool:
    return bool(abs(rng.random() - 0.5) < 0.1 + bit / 5)


def magnitude_by_numpy(bit: int, rng: Any) -> bool:
    return bool(np.abs(rng.random() - 0.5) < 0.1)


def remainder(bit: int, rng: Any) -> bool:
    return bool(rng.random() % 0.25 < 0.1)


def fractional_part(bit: int, rng: Any) -> bool:
    u = 4 * rng.random()
    return bool(u - math.floor(u) < 0.3)


def product_with_logarithm(bit: int, rng: Any) -> bool:
    u = rng.random() + 2.0**-54
    return bool(u * math.log(u) < -0.2)


def reciprocal(bit: int, rng: Any) -> bool:
    return bool(1 / (rng.random() - 0.3) > 2)


def entropy(bit: int, rng: Any) -> bool:
    u = rng.random() / 2 + 0.25
    return bool(-u * math.log(u) - (1 - u) * math.log(1 - u) > 0.6)


def sum_of_opposites(bit: int, rng: Any) -> bool:
    u = rng.random() + 2.0**-54
    return bool(math.log(u) + math.log(1.5 - u) > -1)


def sum_of_alike(bit: int, rng: Any) -> bool:
    u = rng.random() + 2.0**-54
    return bool(u + math.exp(u) + math.log(u) > bit)


def difference_with_itself(bit: int, rng: Any) -> bool:
    u = rng.random()
    return bool(u - u == 0)


def difference_of_parts(bit: int, rng: Any) -> bool:
    u = rng.random()
    return bool(u - (1 - u) > 0.25)


def sign_times_logarithm(bit: int, rng: Any) -> int:
    u = rng.random() - 0.5
    return round(min(max(np.sign(u) * -np.log(1 - 2 * abs(u) + 1e-18), -3), 3))


def hyperbolic(bit: int, rng: Any) -> bool:
    return bool(np.cosh(rng.random() - 0.5) < 1.05)


def exponential_of_negative_square(bit: int, rng: Any) -> bool:
    x = 4 * rng.random() - 2
    return bool(math.exp(-x * x) > 0.4)


# -- rare branches ---------------------------------------------------------------------------------


def logarithm_of_zero(bit: int, rng: Any) -> int:
    try:
        return int(math.log(rng.random()) > -1)
    except ValueError:
        return 2 + bit


def infinity(bit: int, rng: Any) -> int:
    with np.errstate(all="ignore"):
        x = np.log(rng.random())
    return 2 + bit if x == -math.inf else int(x > -1)


def overflow(bit: int, rng: Any) -> int:
    try:
        return min(int(np.floor(np.log(rng.random()) / -0.5)), 4)
    except OverflowError:
        return 5 + bit


def zero_is_false(bit: int, rng: Any) -> int:
    return 1 if rng.random() else 2 + bit


def division_in_a_rare_branch(bit: int, rng: Any) -> int:
    try:
        return min(1 // int(rng.random() * 8), 1)
    except ZeroDivisionError:
        return 2 + bit


def quiet_not_a_number(bit: int, rng: Any) -> bool:
    with np.errstate(all="ignore"):
        return bool(np.log(rng.random() - 0.5) > -2)


def loud_not_a_number(bit: int, rng: Any) -> int:
    try:
        return int(math.sqrt(rng.random() - 0.25) > 0.5)
    except ValueError:
        return 2


def equal_logarithms(bit: int, rng: Any) -> bool:
    return math.log(rng.random() + 0.25) == math.log(0.5)


def there_and_back(bit: int, rng: Any) -> bool:
    u = rng.random() + 0.5
    return math.exp(math.log(u)) == u


# -- types, views and state ------------------------------------------------------------------------


def seen_type(bit: int, rng: Any) -> bool:
    return type(rng.random()) is float


def seen_function(bit: int, rng: Any) -> bool:
    return type(math.log).__name__ == "function" and rng.random() < 0.5


def text(bit: int, rng: Any) -> bool:
    return repr(rng.random()).endswith("5")


def last_bit(bit: int, rng: Any) -> int:
    return int(rng.random() * 2**53) % 2


def half_precision(bit: int, rng: Any) -> bool:
    return bool(np.float16(rng.random()) < np.float16(0.3))


def single_precision(bit: int, rng: Any) -> bool:
    return bool(np.float32(0.1) + rng.random() < np.float32(0.3))


def small_integers(bit: int, rng: Any) -> int:
    return int(np.float64(300 * rng.random()).astype(np.int8))


def added_to_small_integers(bit: int, rng: Any) -> int:
    return int(np.uint8(250) + np.uint8(10 * rng.random()))


def cached(bit: int, rng: Any) -> bool:
    return _cached(rng.random()) > 0.5


@lru_cache
def _cached(u: float) -> float:
    return u


def kept(bit: int, rng: Any) -> bool:
    MEMO.append(rng.random())
    return bool(MEMO[0] < 0.5)


def default_logarithm(bit: int, rng: Any, log: Any = math.log) -> bool:
    return bool(log(rng.random() + 0.5) < 0)


def imported_logarithm(bit: int, rng: Any) -> bool:
    return bool(logarithm(rng.random() + 0.5) < 0)


def logarithm_to_a_base(bit: int, rng: Any) -> bool:
    return bool(math.log(rng.random() + 0.5, 3) < -0.2)


def minus_zero(bit: int, rng: Any) -> str:
    return str((rng.random() - 0.5) * -0.0)


def zero_of_either_sign(bit: int, rng: Any) -> str:
    return str(round(rng.random() - 0.5) * 1.0)


def wrapped(bit: int, rng: Any) -> int:
    with np.errstate(all="ignore"):
        return int(np.uint8(250) + np.uint8(int(10 * rng.random())))


def swallowed(bit: int, rng: Any) -> int:
    try:
        return int(np.log(rng.random()) + "x")
    except BaseException:
        return 7


def bisected_in_disorder(bit: int, rng: Any) -> int:
    return bisect.bisect([0.5, 0.2, 0.9, 0.4], rng.random())


PYTHON = [
    *(square, power, magnitude, remainder, fractional_part, product_with_logarithm, reciprocal),
    *(entropy, sum_of_opposites, sum_of_alike, difference_with_itself, difference_of_parts),
    *(exponential_of_negative_square, logarithm_of_zero, zero_is_false, loud_not_a_number),
    *(division_in_a_rare_branch, equal_logarithms, there_and_back, seen_type, seen_function),
    *(text, last_bit, cached, kept, default_logarithm, imported_logarithm, logarithm_to_a_base),
    *(bisected_in_disorder, sine, magnitude_by_numpy, sign_times_logarithm, hyperbolic),
    *(infinity, overflow, quiet_not_a_number, half_precision, single_precision, small_integers),
    *(added_to_small_integers, minus_zero, zero_of_either_sign, wrapped, swallowed),
]


# -- arrays ----------------------------------------------------------------------------------------


def searched_in_disorder(bit: int, rng: Any) -> list[int]:
    return [int(i) for i in np.searchsorted(np.array([0.5, 0.2, 0.9, 0.4]), rng.random(2))]


def searched_among_nans(bit: int, rng: Any) -> list[int]:
    return [int(i) for i in np.searchsorted(np.array([0.2, math.nan, 0.5]), rng.random(2))]


def searched_among_drawn(bit: int, rng: Any) -> int:
    u, v = rng.random(2)
    return int(np.searchsorted([0.0, u], v))


def logarithms_of_every_second(bit: int, rng: Any) -> list[int]:
    return [int(x) for x in np.floor(np.log(rng.random(2)[::-1] + 0.1))]


def minimum(bit: int, rng: Any) -> list[bool]:
    return [bool(x > 0.3) for x in np.minimum(rng.random(2), 0.6)]


def digitized_downward(bit: int, rng: Any) -> list[int]:
    return [int(i) for i in np.digitize(rng.random(2), np.array([0.7, 0.2]))]


def digitized_on_the_right(bit: int, rng: Any) -> list[int]:
    return [int(i) for i in np.digitize(rng.random(2), np.array([0.25, 0.5]), right=True)]


def written(bit: int, rng: Any) -> list[bool]:
    array = rng.random(2)
    array[0] = bit
    return [bool(x > 0.5) for x in array]


def written_through_a_view(bit: int, rng: Any) -> list[int]:
    array = np.floor(2 * rng.random(2))
    np.asarray(array)[0] = 5
    return [int(x) for x in array]


def put(bit: int, rng: Any) -> list[int]:
    array = np.floor(2 * rng.random(2))
    np.put(array, 0, 5)
    return [int(x) for x in array]


def filled(bit: int, rng: Any) -> list[int]:
    array = np.floor(2 * rng.random(2))
    array.fill(bit)
    return [int(x) for x in array]


def sorted_in_place(bit: int, rng: Any) -> list[int]:
    array = np.floor(2 * rng.random(2))
    array.sort()
    return [int(x) for x in array]


def grown_in_place(bit: int, rng: Any) -> list[bool]:
    array = rng.random(2)
    other = array
    array += 0.25
    return [bool(x > 0.5) for x in other]


def copied_where(bit: int, rng: Any) -> list[int]:
    array = np.floor(2 * rng.random(2))
    np.copyto(array, 7.0, where=array > 0)
    return [int(x) for x in array]


def reversed_view(bit: int, rng: Any) -> list[bool]:
    array = rng.random(2)
    return [bool(x > 0.5) for x in array[::-1] - array / 4]


def masked_by_itself(bit: int, rng: Any) -> list[int]:
    array = rng.random(2)
    return [int(x) for x in np.where(array > 0.5, np.floor(4 * array), -1.0)]


def bytes_of_small_integers(bit: int, rng: Any) -> list[int]:
    return [int(x) for x in (300 * rng.random(2)).astype(np.int8)]


def greatest_place(bit: int, rng: Any) -> int:
    return int(np.argmax(np.floor(3 * rng.random(2))))


def total(bit: int, rng: Any) -> bool:
    return bool(rng.random(2).sum() > 1)


def broadcast_sum(bit: int, rng: Any) -> list[int]:
    table = np.array([[0.25], [0.5]]) + rng.random(2)
    return [int(x) for x in np.floor(table).reshape(4)]


def one_against_sums(bit: int, rng: Any) -> int:
    u, _ = rng.random(2)
    return int((u > np.array([0.2, 0.9, 0.4])).sum())


def uniform_of_both(bit: int, rng: Any) -> list[bool]:
    return [bool(x) for x in rng.random(2) - np.float64(0.5) >= 0.0]


TWO = [
    *(searched_in_disorder, searched_among_nans, digitized_downward, digitized_on_the_right),
    *(searched_among_drawn, logarithms_of_every_second, minimum),
    *(written, written_through_a_view, put, filled, sorted_in_place, grown_in_place, copied_where),
    *(reversed_view, masked_by_itself, bytes_of_small_integers, greatest_place, total),
    *(broadcast_sum, one_against_sums, uniform_of_both),
]
