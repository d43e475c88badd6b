"""Programs that the reading of steps once misread, each called with a bit and a generator.

Single runs did not show it: rounds of a loop that were no product, and what Python refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def list_among_its_items(bit, rng):
    out = []
    for known in [out, out]:
        if rng.randrange(2):
            out.append(bit ^ rng.randrange(2) if len(known) == 0 else bit)
    return tuple(out)


def sets_that_a_loop_changes(bit, rng):
    sets = []
    for _ in range(2):
        sets.append({5 + rng.randrange(2)})
    marks = []
    for each in sets:
        if rng.randrange(2):
            each.add(bit)
        marks.append(0)
    seen = []
    for other in sets:
        seen.append(0 in other)
    return seen


def lists_that_a_loop_changes(bit, rng):
    lists = []
    for _ in range(2):
        lists.append([rng.randrange(2)])
    marks = []
    for each in lists:
        if rng.randrange(2):
            each[0] += 5 * bit
        marks.append(0)
    seen = []
    for other in lists:
        seen.append(other[0])
    return seen


def two_numbers(rng):
    out = []
    for _ in range(2):
        out.append(rng.randrange(3))
    return tuple(out)


def one_vector_or_two(bit, rng):
    one, other = two_numbers(rng), two_numbers(rng)
    out = []
    for each in (one, one, None) if bit else (one, other, None):
        out.append(rng.randrange(2) if each is None else each)
    return out


def one_vector_or_two_by_name(bit, rng):
    one = two_numbers(rng)
    other = two_numbers(rng)
    chosen = one if bit else other
    out = []
    for i in range(3):
        out.append(one if i == 0 else chosen if i == 1 else rng.randrange(2))
    return out


def parameter_of_a_loop(bit, rng, x=0):
    out, n = [], 0
    while n < 2:
        out = []
        for i, x in ((0, x), (1, bit)):  # noqa: B020  (the point of it)
            out.append(x if i == 0 else rng.randrange(2))
        n += 1
    return out


def key_with_none(bit, rng):
    out = {}
    for i in range(3):
        if i == 0 and rng.randrange(2):
            out[(None, 1)] = bit
        if i == 2:
            out[3] = rng.randrange(2)
    return out


def one_list_or_two(bit, rng):
    one = [1]
    other = one if bit else [1]
    out = []
    for i in range(3):
        if i < 2:
            if rng.randrange(2):
                out.append(other if i else one)
        else:
            out.append(rng.randrange(2))
    return out


def variable_called_list(bit, rng):
    return [
        rng.randrange(2) + rng.randrange(2) + sum([0 for _ in (1, 2)]) + len(list)
        for list in ((1, 2), (3,) if bit else (3, 4, 5))
    ]


#: Programs whose law was misread.
MISREAD: list[Callable[[Any, Any], Any]] = [
    *(list_among_its_items, sets_that_a_loop_changes, lists_that_a_loop_changes),
    *(one_vector_or_two, one_vector_or_two_by_name, parameter_of_a_loop, key_with_none),
    *(one_list_or_two, variable_called_list),
]


def truth_of_an_iterator(bit, rng):
    return bool(enumerate([])) ^ bool(rng.randrange(2))


def truth_of_a_generator(bit, rng):
    return bool(x for x in []) ^ bool(rng.randrange(2))


def length_of_an_iterator(bit, rng):
    return len(enumerate([])) + rng.randrange(2)


def reverse_of_an_iterator(bit, rng):
    return list(reversed(enumerate([rng.randrange(2)])))


def element_that_is_not_there(bit, rng):
    noise = [rng.randrange(2)]
    noise[1]
    return bit


def same(a):
    return a


def two_values_of_one_parameter(bit, rng):
    return same(rng.randrange(2), a=bit)


def two_dictionaries_in_one(bit, rng):
    return dict({rng.randrange(2): bit}, {})


#: Programs that may not be read.
REFUSED: list[Callable[[Any, Any], Any]] = [
    *(truth_of_an_iterator, truth_of_a_generator, length_of_an_iterator, reverse_of_an_iterator),
    *(element_that_is_not_there, two_values_of_one_parameter, two_dictionaries_in_one),
]


def base_of_a_number(bit, rng):
    return int(rng.integers(2), base=10) + bit


def integers_above_int64(bit, rng):
    return int(rng.integers(2**63 - 1, 2**63 + 1)) - bit


def integers_below_int64(bit, rng):
    return int(rng.integers(-(2**63) - 1, -(2**63))) - bit


#: Programs with a generator of numpy that may not be read: they raise.
REFUSED_NUMPY: list[Callable[[Any, Any], Any]] = [
    *(base_of_a_number, integers_above_int64, integers_below_int64),
]
