"""Seventy programs as people write them, each called with a bit and a generator.

Some are private, some leak, some write in a way that is easily misread: two names of one list, a
default, a variable of a comprehension, a list that grows while a loop goes over it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

THIRDS = (0, 0, 1)
TABLE = {"a": 1, "b": 2}
SIZE = 3
NAMES = ["x", "y"]


def flip(bit, rng):
    return bit if rng.randrange(4) else 1 - bit


def flip_by_a_float(bit, rng):
    return bit if rng.random() < 0.75 else 1 - bit


def flip_swapped(bit, rng):
    return 1 - bit if rng.random() >= 0.75 else bit


def from_a_table(bit, rng):
    return bit ^ THIRDS[rng.randrange(len(THIRDS))]


def by_choice(bit, rng):
    return bit + rng.choice([0, 1, 1, 2])


def by_randint(bit, rng):
    noise = rng.randint(-2, 2)
    return bit + noise


def by_bits(bit, rng):
    return bit ^ (rng.getrandbits(2) == 3)


def geometric(rng):
    n = 0
    while rng.randrange(2):
        n += 1
    return n


def two_sided(bit, rng):
    return bit + geometric(rng) - geometric(rng)


def clamped(bit, rng):
    return max(0, min(2, bit + geometric(rng) - geometric(rng)))


def rejected(bit, rng):
    while True:
        u = rng.randrange(4)
        if u < 3:
            return (bit + u) % 3


def rejected_by_hand(bit, rng):
    u = rng.randrange(4)
    while u == 3:
        u = rng.randrange(4)
    return bit if u else 1 - bit


def vector(bit, rng):
    return [x + rng.randrange(3) for x in [bit, 1, 0]]


def vector_by_append(bit, rng):
    out = []
    for x in (bit, 1):
        noisy = x + rng.randrange(3)
        if noisy > 1:
            out.append(noisy)
    return out


def vector_and_its_total(bit, rng):
    noisy = [x + rng.randrange(3) for x in (bit, 1)]
    return sum(noisy), noisy[0] > 1


def histogram(bit, rng):
    counts = {"a": 0, "b": 0}
    for name in ("a", "b", "a") if bit else ("a", "b"):
        counts[name] += 1
    return {name: n + rng.randrange(3) for name, n in counts.items()}


def histogram_with_threshold(bit, rng):
    data = {"a": 1 + bit, "b": 1}
    out = {}
    for name, n in data.items():
        noisy = n + rng.randrange(3)
        if noisy >= 3:
            out[name] = noisy
    return out


def two_passes(bit, rng):
    noisy = {name: n + rng.randrange(3) for name, n in {"a": bit, "b": 1}.items()}
    return {name: n for name, n in noisy.items() if n > 1}


def two_passes_over_a_list(bit, rng):
    noisy = [x + rng.randrange(3) for x in (bit, 1)]
    return tuple(x > 1 for x in noisy)


def sparse_vector(bit, rng):
    bar = 1 + rng.randrange(3)
    out = []
    for query in (bit, 1 - bit, 1):
        if query + rng.randrange(3) >= bar:
            out.append(True)
            break
        out.append(False)
    return out


def report_noisy_max(bit, rng):
    best, place = -1, 0
    for i, score in enumerate([bit, 1, 0]):
        noisy = score + rng.randrange(4)
        if noisy > best:
            best, place = noisy, i
    return place


def shuffled_by_hand(bit, rng):
    items = [bit, 0, 1]
    for i in range(2, 0, -1):
        j = rng.randrange(i + 1)
        items[i], items[j] = items[j], items[i]
    return items


def three_of_a_set(bit, rng):
    chosen = set()
    while len(chosen) < 2:
        chosen.add(rng.randrange(3) + bit)
    return sorted(chosen)


def with_a_default(bit, rng, width=3):
    return bit + rng.randrange(width)


def of_keywords(bit, rng):
    return shifted(rng=rng, by=bit)


def shifted(by, rng, width=2):
    return by + rng.randrange(width)


def short_circuit(bit, rng):
    return bool(bit and rng.randrange(2)) or rng.randrange(4) == 0


def a_chain(bit, rng):
    return 0 < bit + rng.randrange(3) < 3


def conditional_draw(bit, rng):
    return rng.randrange(2) if bit else rng.randrange(4) % 2


def total_of_a_generator(bit, rng):
    return sum(rng.randrange(2) for _ in range(2 + bit))


def shadowed(bit, rng):
    x = 5
    y = [x * 1 for x in range(bit + 1)]
    return x, len(y) + rng.randrange(2)


def nested(bit, rng):
    return [(i, j + rng.randrange(2)) for i in range(2) for j in range(i + bit)]


def inner_iterable(bit, rng):
    x = [bit, 1]
    return [x + rng.randrange(2) for x in x if x >= 0]


def a_fraction(bit, rng):
    return Fraction(bit + rng.randrange(3), 3)


def of_math(bit, rng):
    return math.floor(math.sqrt(4 * bit + rng.randrange(5)))


def while_and_else(bit, rng):
    n = 0
    while n < 3:
        if rng.randrange(2):
            break
        n += 1
    else:
        return "never", bit
    return n, bit ^ (rng.randrange(4) == 0)


def for_and_else(bit, rng):
    for x in (bit, 1):
        if x + rng.randrange(2) == 2:
            break
    else:
        x = 7
    return x


def with_continue(bit, rng):
    out = []
    for x in (bit, 1, 2):
        if x == 1 and rng.randrange(2):
            continue
        out.append(x + rng.randrange(2))
    return out


# -- easily misread: the real Python decides -------------------------------------------------------


def two_names(bit, rng):
    a = []
    b = a
    a.append(bit)
    return len(b), rng.randrange(2)


def two_names_in_a_tuple(bit, rng):
    a = []
    pair = (a, 1)
    a.append(bit)
    return len(pair[0]), rng.randrange(2)


def handed_over(bit, rng):
    a = []
    b = same(a, rng)
    a.append(bit)
    return len(b) + bit, rng.randrange(2)


def same(items, rng):
    rng.randrange(2)
    return items


def fill(items, bit, rng):
    items.append(bit + rng.randrange(2))


def filled_by_a_function(bit, rng):
    out = []
    fill(out, bit, rng)
    return out


def growing_default(bit, rng, seen=[]):  # noqa: B006
    return bit if seen else bit ^ (rng.randrange(4) == 0)


def grows_in_a_loop(bit, rng):
    items = [1]
    for x in items:
        if x < 2 + bit:
            items.append(x + 1)
    return len(items), rng.randrange(2)


def inner_lists(bit, rng):
    rows = [[0]] * 2
    rows[0].append(bit)
    return len(rows[1]), rng.randrange(2)


def one_object_twice(bit, rng):
    a = [rng.randrange(2)]
    return [a, a] if bit else [a, list(a)]


def true_and_one(bit, rng):
    return 1 in [True], (True if bit else 1), rng.randrange(2)


def zeros(bit, rng):
    return (-0.0 if bit else 0.0), rng.randrange(2)


def one_and_a_half(bit, rng):
    n = rng.randrange(2)
    return n / 2 if bit else n * 1


def integers_and_floats(bit, rng):
    return (1.0 if bit else 1) * rng.randrange(2)


def carried_over(bit, rng):
    last, out = bit, []
    for _ in range(2):
        last = last ^ rng.randrange(2)
        out.append(last)
    return out


def carried_over_in_a_list(bit, rng):
    out = [bit]
    for _ in range(2):
        out.append(out[-1] ^ (rng.randrange(4) == 0))
    return out[1:]


def left_after_a_loop(bit, rng):
    out = []
    for x in (0, bit):
        out.append(x + rng.randrange(2))
    return out, x


def one_key_for_all(bit, rng):
    out = {}
    for x in (bit, 1):
        out["all"] = x + rng.randrange(2)
    return out


def two_keys_for_one(bit, rng):
    out = {}
    for x in (0, 1):
        out[(x + rng.randrange(2)) % 2] = bit
    return out


def order_of_keys(bit, rng):
    noise = rng.randrange(2)
    return {"a": noise, "b": 0} if bit else {"b": 0, "a": noise}


def noise_of_one_round_for_all(bit, rng):
    z = rng.randrange(3)
    return [x + z for x in (bit, 1)]


def noise_of_another_size(bit, rng):
    return [x + rng.randrange(2 + bit) for x in (0, 1)]


def length_leaks(bit, rng):
    return [x + rng.randrange(2) for x in range(2 + bit)]


def filter_leaks(bit, rng):
    return [x + rng.randrange(2) for x in (0, 1, 2) if x or bit]


def the_bit_at_last(bit, rng):
    for _ in range(3):
        if rng.randrange(2):
            return 2
    return bit


def keys_of_noisy_counts(bit, rng):
    noisy = {name: n + rng.randrange(3) for name, n in {"a": bit, "b": 1}.items()}
    return [name for name in noisy if name]


def names_and_noisy_counts(bit, rng):
    noisy = {(name, 0): n + rng.randrange(3) for name, n in {"a": bit, "b": 1}.items()}
    out = []
    for (name, _), n in noisy.items():
        if n:
            out.append((name, n))
    return out


def bound_late(bit, rng):
    n, out = bit, 0
    for x in (n + rng.randrange(2) for _ in range(2)):
        n = 5
        out += x
    return out


def a_count_beside_a_list(bit, rng):
    n = 0
    out = []
    for x in (bit, 1):
        n += 2
        out.append(x * n + rng.randrange(2))
    return out


def a_value_of_the_round_before(bit, rng):
    out = []
    before = 0
    for x in (bit, 1, 1):
        out.append(before + rng.randrange(2))
        before = x
    return out


def one_list_in_two_loops(bit, rng):
    out = []
    for x in (bit, 1):
        out.append(x + rng.randrange(2))
    for x in (1, bit):
        out.append(x + rng.randrange(3))
    return out


def loop_in_a_loop(bit, rng):
    out = []
    for _ in range(2):
        for x in (bit, 1):
            out.append(x + rng.randrange(2))
    return out


def missing_key(bit, rng):
    data = {"a": 1, "b": 2, "c": 1} if bit else {"a": 1, "c": 1}
    return {name: n + rng.randrange(2) for name, n in data.items() if n + rng.randrange(3) > 1}


def other_order(bit, rng):
    data = {"a": 1, "b": 1} if bit else {"b": 1, "a": 1}
    return {name: n + rng.randrange(2) for name, n in data.items()}


def thresholds_of_noisy_values(bit, rng):
    noisy = [x + rng.randrange(3) for x in (bit, 1, 0)]
    kept = [x for x in noisy if x > 1]
    return tuple(x + rng.randrange(2) for x in kept)


PROGRAMS: list[Callable[[Any, Any], Any]] = [
    *(flip, flip_by_a_float, flip_swapped, from_a_table, by_choice, by_randint, by_bits),
    *(two_sided, clamped, rejected, rejected_by_hand, vector, vector_by_append),
    *(vector_and_its_total, histogram, histogram_with_threshold, two_passes),
    *(two_passes_over_a_list, sparse_vector, report_noisy_max, shuffled_by_hand, three_of_a_set),
    *(with_a_default, of_keywords, short_circuit, a_chain, conditional_draw),
    *(total_of_a_generator, shadowed, nested, inner_iterable, a_fraction, of_math),
    *(while_and_else, for_and_else, with_continue, two_names, two_names_in_a_tuple, handed_over),
    *(filled_by_a_function, growing_default, grows_in_a_loop, inner_lists, one_object_twice),
    *(true_and_one, zeros, one_and_a_half, integers_and_floats, carried_over),
    *(carried_over_in_a_list, left_after_a_loop, one_key_for_all, two_keys_for_one, order_of_keys),
    *(noise_of_one_round_for_all, noise_of_another_size, length_leaks, filter_leaks),
    *(the_bit_at_last, keys_of_noisy_counts, names_and_noisy_counts, bound_late),
    *(a_count_beside_a_list, a_value_of_the_round_before),
    *(one_list_in_two_loops, loop_in_a_loop, missing_key, other_order),
    *(thresholds_of_noisy_values,),
]
