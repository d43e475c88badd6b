"""Programs that fill in their output part by part, each called with a bit and a generator.

In some the parts are independent, in others they only look so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def three_numbers(bit, rng):
    return [x + rng.randrange(4) for x in (bit, 1, bit)]


def three_in_a_tuple(bit, rng):
    return tuple(x + rng.randrange(4) for x in (bit, 1, bit))


def appended_by_hand(bit, rng):
    out = []
    for x in (1, bit, 0):
        noisy = x + rng.randrange(3) + rng.randrange(2)
        out.append(noisy)
    return out


def a_count_above_a_threshold(bit, rng):
    out = {}
    for name, n in {"a": 1, "b": 1 + bit, "c": 2}.items():
        noisy = n + rng.randrange(3)
        if noisy > 2:
            out[name] = noisy
    return out


def a_key_more(bit, rng):
    out = {}
    for name in ("a", "b", "c") if bit else ("a", "c"):
        noisy = 1 + rng.randrange(4)
        if noisy > 3:
            out[name] = noisy
    return out


def a_key_more_at_the_end(bit, rng):
    return {name: rng.randrange(3) for name in (("a", "b", "c") if bit else ("a", "b"))}


def pairs_above_a_threshold(bit, rng):
    out = []
    for name, n in (("a", 1), ("b", bit), ("c", 2)):
        noisy = n + rng.randrange(3)
        if noisy > 1:
            out.append((name, noisy))
    return out


def by_another_function(bit, rng):
    return three_numbers(bit, rng)


def keys_in_another_order(bit, rng):
    out = {}
    for name in ("a", "b") if bit else ("b", "a"):
        out[name] = rng.randrange(3)
    return out


def keys_that_meet(bit, rng):
    out = {}
    for name in (0, bit, 2):
        out[name] = name + rng.randrange(3)
    return out


def a_random_key(bit, rng):
    out = {}
    for x in (bit, 1, 2):
        out[x + rng.randrange(2)] = x
    return out


def items_without_names(bit, rng):
    out = []
    for x in (bit, 1, 1):
        if x + rng.randrange(2) > 1:
            out.append(1)
    return out


def one_part_of_two_lengths(bit, rng):
    out = [rng.randrange(3)]
    if rng.randrange(2) + bit:
        out.append(5)
    out.append(bit + rng.randrange(3))
    return out


def looked_at(bit, rng):
    out = []
    for x in (bit, 1, 1):
        noisy = x + rng.randrange(2)
        if len(out) < 2 or noisy:
            out.append(noisy)
    return out


def the_last_one_again(bit, rng):
    out = [bit]
    for _ in range(3):
        out.append(rng.randrange(2) if out[-1] else rng.randrange(3))
    return out


def one_noise_for_all(bit, rng):
    z = rng.randrange(3)
    out = []
    for x in (bit, 1, bit):
        out.append(x + z)
        rng.randrange(2)
    return out


def noise_of_the_round_before(bit, rng):
    out = []
    before = 0
    for x in (bit, 1, bit):
        z = rng.randrange(3)
        out.append(x + before)
        before = z
    return out


def stops_at_the_first(bit, rng):
    out = []
    for x in (bit, 1, 0):
        noisy = x + rng.randrange(3)
        out.append(noisy)
        if noisy > 2:
            break
    return out


def returns_early(bit, rng):
    out = []
    for x in (bit, 1, 0):
        noisy = x + rng.randrange(3)
        if noisy > 2:
            return noisy
        out.append(noisy)
    return out


def begins_anew(bit, rng):
    out = []
    out.append(bit + rng.randrange(3))
    if rng.randrange(4):
        out = []
    out.append(rng.randrange(2))
    return out


def the_first_one_replaced(bit, rng):
    out = []
    for x in (bit, 1, bit):
        out.append(x + rng.randrange(3))
        out[0] = x + rng.randrange(2)
    return out


def keys_of_a_dictionary(bit, rng):
    out = {}
    for name in ("a", "b", "c"):
        if rng.randrange(3) + bit > 1:
            out[name] = bit
    return list(out)


def a_list_or_a_tuple(bit, rng):
    out = []
    for x in (bit, 1, bit):
        out.append(x + rng.randrange(3))
    if bit:
        return tuple(out)
    return out


def one_list_or_another(bit, rng):
    one = []
    other = []
    for x in (bit, 1, 0):
        one.append(x + rng.randrange(3))
        other.append(x)
    if rng.randrange(2):
        return one
    return other


def true_or_one(bit, rng):
    out = []
    for x in (True if bit else 1, 1):
        out.append(x if rng.randrange(3) else 5)
    return out


def an_endless_search_between(bit, rng):
    out = [rng.randrange(3)]
    while rng.randrange(2):
        rng.randrange(1)
    out.append(bit + rng.randrange(3))
    return out


PARTS: list[Callable[[Any, Any], Any]] = [
    *(three_numbers, a_count_above_a_threshold, a_key_more, keys_that_meet, items_without_names),
    *(three_in_a_tuple, appended_by_hand, a_key_more_at_the_end, by_another_function),
    *(keys_in_another_order, a_random_key, one_part_of_two_lengths, looked_at, the_last_one_again),
    *(one_noise_for_all, noise_of_the_round_before, stops_at_the_first, returns_early, begins_anew),
    *(the_first_one_replaced, keys_of_a_dictionary, a_list_or_a_tuple, one_list_or_another),
    *(true_or_one, pairs_above_a_threshold, an_endless_search_between),
]
