"""Programs in the style of everyday code, each judged by hand before it was run.

A verdict is about one pair of data sets, at the epsilon and delta that are given.
"""

from __future__ import annotations

import bisect
import collections
import dataclasses
import functools
import itertools
import json
import math
import secrets
import statistics
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special


class Judged(NamedTuple):
    """A program, data, a claim, and the verdict by hand. options: others of `private`."""

    program: Callable[[Any, Any], Any]
    verdict: str
    left: Any
    right: Any
    epsilon: str
    delta: str
    options: dict[str, Any]


JUDGED: list[Judged] = []


def judged(verdict, left, right, epsilon, delta="0", **options):
    """The verdict by hand, and the claim that it is about."""

    def add(program):
        JUDGED.append(Judged(program, verdict, left, right, epsilon, delta, options))
        return program

    return add


ROWS = [("ann", 31, "A"), ("bob", 45, "B"), ("eve", 27, "A")]
FEWER = ROWS[:-1]


# -- counts and sums -------------------------------------------------------------------------------


@judged("proved", ROWS, FEWER, "0.5109", "1e-9")  # ln(5/3) = .51082...
def count_with_geometric_noise(rows, rng):
    noisy = len(rows)
    for sign in (1, -1):
        while rng.randrange(5) < 3:
            noisy += sign
    return noisy


@judged("refuted", ROWS, FEWER, "0.5108", "1e-9")
def count_with_geometric_noise_claims_too_little(rows, rng):
    noisy = len(rows)
    for sign in (1, -1):
        while rng.randrange(5) < 3:
            noisy += sign
    return noisy


@judged("refuted", ROWS, FEWER, "1")
def count_with_noise_that_ends(rows, rng):
    """Uniform noise on [-2, 2]: the largest value is possible on one side alone."""
    return len(rows) + rng.randint(-2, 2)


@judged("proved", ROWS, FEWER, "1", "0.2")
def count_with_noise_that_ends_and_delta(rows, rng):
    return len(rows) + rng.randint(-2, 2)


@judged("refuted", ROWS, FEWER, "1", "0.199")
def count_with_too_small_a_delta(rows, rng):
    return len(rows) + rng.randint(-2, 2)


@judged("refuted", [3, 9, 4], [3, 9, 5], "2")
def exact_sum_beside_a_noisy_count(values, rng):
    return {"count": len(values) + rng.randrange(3), "sum": sum(values)}


@judged("proved", [3, 9, 4], [3, 9, 5], "0")
def count_alone_of_equal_sizes(values, rng):
    return {"count": len(values) + rng.randrange(3)}


@judged("proved", [2, 9], [2, 1], "0", "0.5")
def clamped_sum(values, rng):
    total = sum(min(max(v, 0), 3) for v in values)  # 5 against 3
    return total + rng.randrange(4)


@judged("refuted", [2, 9], [2, 1], "0", "0.5")
def sum_that_forgets_to_clamp(values, rng):
    return sum(values) + rng.randrange(4)  # 11 against 3


@judged("refuted", [1, 2, 3, 4], [1, 2, 3], "1")
def mean_by_the_exact_size(values, rng):
    noisy = sum(values) + rng.randrange(8)
    return noisy / len(values)  # multiples of 1/4 and of 1/3


@judged("proved", 5, 6, "0", "0.25")
def rounded_afterwards(n, rng):
    return round((n + rng.randrange(4)) / 2)  # 2, 3, 4, 4 (5/2 -> 2, 7/2 -> 4); 3, 4, 4, 4


@judged("proved", 5, 6, "0", "0.25")
def the_same_noise_twice(n, rng):
    noisy = n + rng.randrange(4)
    return noisy if noisy > 0 else 0.0, noisy * 2


@judged("refuted", 5, 6, "3", "0.9")
def the_noise_itself_in_a_log(n, rng):
    z = rng.randrange(100)
    return {"count": n + z, "noise": z}


@judged("refuted", 5, 6, "3", "0.9")
def a_difference_with_the_noise(n, rng):
    z = rng.randrange(100)
    return n + z, 3 * n - z


@judged("proved", 5, 6, "0", "0.01")
def noise_of_another_draw_in_the_log(n, rng):
    return {"count": n + rng.randrange(100), "noise": rng.randrange(100)}


# -- randomised response ---------------------------------------------------------------------------


@judged("proved", True, False, "1.0987")
def warner(answer, rng):
    if rng.random() < 0.5:
        return answer
    return rng.random() < 0.5


@judged("refuted", True, False, "1.0986")
def warner_claims_too_little(answer, rng):
    if rng.random() < 0.5:
        return answer
    return rng.random() < 0.5


@judged("refuted", True, False, "9")
def response_that_tells_its_coin(answer, rng):
    truthful = rng.random() < 0.5
    return truthful, answer if truthful else rng.random() < 0.5


@judged("proved", "red", "blue", "1.3863")  # ln 4
def k_ary_response(colour, rng):
    colours = ["red", "green", "blue"]
    if rng.randrange(2):
        return colour
    return rng.choice(colours)


@judged("refuted", "red", "violet", "1.4")
def response_outside_of_its_list(colour, rng):
    colours = ["red", "green", "blue"]
    return colour if rng.randrange(2) else rng.choice(colours)


@judged("proved", [1, 0, 1], [0, 0, 1], "1.0987", interface="numpy")
def flips_of_an_array(bits, rng):
    bits = np.array(bits)
    flip = rng.random(bits.shape) < 0.25
    return np.where(flip, 1 - bits, bits)


@judged("refuted", [1, 0, 1], [0, 0, 1], "1.0987", interface="numpy")
def one_flip_for_the_whole_array(bits, rng):
    bits = np.array(bits)
    return 1 - bits if rng.random() < 0.2 else bits  # ratio 4


@judged("refuted", [1, 0, 1], [0, 1, 1], "1.0987", interface="numpy")
def two_bits_of_one_user(bits, rng):
    bits = np.array(bits)
    flip = rng.random(bits.shape) < 0.25
    return np.where(flip, 1 - bits, bits)


@judged("proved", 2, 0, "1.7918")  # ln 6
def unary_encoding(value, rng):
    out = []
    for k in range(3):
        hot = k == value
        out.append(int(rng.randrange(2) == 0) if hot else int(rng.randrange(7) == 0))
    return out  # (1/2)/(1/7) * (6/7)/(1/2) = 6


# -- choices ---------------------------------------------------------------------------------------


@judged("proved", [3, 1, 0], [2, 1, 0], "1", interface="numpy")
def exponential_mechanism(scores, rng):
    weights = np.exp(0.5 * np.array(scores))
    return int(rng.choice(len(scores), p=weights / weights.sum()))


@judged("refuted", [3, 1, 0], [2, 1, 0], "0.5", interface="numpy")
def exponential_mechanism_at_twice_the_weight(scores, rng):
    weights = np.exp(np.array(scores))
    return int(rng.choice(len(scores), p=weights / weights.sum()))  # .844/.665 and .042/.090


@judged("proved", [3, 1, 0], [2, 1, 0], "1")
def exponential_by_choices(scores, rng):
    return rng.choices("abc", [2.0**s for s in scores])[0]


@judged("refuted", [3, 1, 0], [0, 1, 0], "1")
def most_frequent_with_small_noise(scores, rng):
    noisy = [s + rng.randrange(3) for s in scores]
    return noisy.index(max(noisy))


@judged("refuted", [3, 1, 0], [2, 1, 0], "5")
def noisy_maximum_and_its_exact_score(scores, rng):
    noisy = [s + rng.randrange(9) for s in scores]
    best = noisy.index(max(noisy))
    return best, scores[best]


@judged("proved", [4, 1, 3], [4, 2, 3], "0", "0.34")
def permuted_ranks(scores, rng):
    order = sorted(range(3), key=lambda i: -scores[i])
    return order[rng.randrange(3)]


@judged("refuted", [4, 1, 3], [4, 3, 1], "0", "0.34")
def ranks_from_a_pair_of_places(scores, rng):
    order = sorted(range(3), key=lambda i: -scores[i])
    i = rng.randrange(2)
    return order[i], order[i + 1]


@judged("proved", [5, 7, 9], [5, 7, 8], "0", "0.34")
def random_sample_of_one(values, rng):
    return rng.sample(values, 1)


@judged("refuted", [5, 7, 9], [5, 7, 8], "0", "0.34")
def random_sample_of_two(values, rng):
    return sorted(rng.sample(values, 2))


@judged("refuted", [5, 7, 9], [5, 7, 8], "9")
def shuffled_values(values, rng):
    values = list(values)
    rng.shuffle(values)
    return values


@judged("proved", [5, 7, 7], [7, 5, 7], "0")
def shuffled_multiset(values, rng):
    values = list(values)
    rng.shuffle(values)
    return values


# -- histograms and thresholds ---------------------------------------------------------------------


@judged("refuted", ["a", "b"], ["a"], "3", "0.3")
def keys_of_the_data(words, rng):
    counts = collections.Counter(words)
    return {word: n + rng.randrange(3) for word, n in sorted(counts.items())}


@judged("proved", ["a", "b"], ["a"], "0", "0.34")
def keys_that_are_known(words, rng):
    counts = collections.Counter(words)
    return {word: counts[word] + rng.randrange(3) for word in ("a", "b", "c")}


@judged("proved", ["a", "b"], ["a"], "0", "0.25")
def keys_above_a_threshold(words, rng):
    out = {}
    for word, n in sorted(collections.Counter(words).items()):
        noisy = n + rng.randrange(4)
        if noisy > 3:
            out[word] = noisy
    return out


@judged("refuted", ["a", "b"], ["a"], "0", "0.25")
def names_below_the_threshold_in_a_log(words, rng):
    out, dropped = {}, []
    for word, n in sorted(collections.Counter(words).items()):
        noisy = n + rng.randrange(4)
        if noisy > 3:
            out[word] = noisy
        else:
            dropped.append(word)
    return out, dropped


@judged("refuted", ["a", "b"], ["b", "a"], "3")
def order_of_first_appearance(words, rng):
    return {word: rng.randrange(3) for word in dict.fromkeys(words)}


@judged("proved", [1, 5, 9], [1, 5], "0", "0.5", interface="numpy")
def histogram_of_numpy(values, rng):
    counts, _ = np.histogram(values, bins=[0, 4, 8, 12])
    return (counts + rng.integers(0, 2, size=3)).tolist()


@judged("refuted", [1, 5, 9], [1, 5], "0", "0.5", interface="numpy")
def histogram_with_edges_of_the_data(values, rng):
    counts, edges = np.histogram(values, bins=2)
    return (counts + rng.integers(0, 2, size=2)).tolist(), edges.tolist()


@judged("proved", ["x", "y", "x"], ["x", "y"], "0", "0.2", interface="numpy")
def counts_of_pandas(labels, rng):
    counts = pd.Series(labels).value_counts().reindex(["x", "y"], fill_value=0)
    return [int(n) + int(rng.integers(5)) for n in counts]


@judged("refuted", ["x", "y", "x"], ["y", "y", "x"], "0", "0.2", interface="numpy")
def counts_in_the_order_of_pandas(labels, rng):
    counts = pd.Series(labels).value_counts()
    return [(name, int(n) + int(rng.integers(5))) for name, n in counts.items()]


@judged("proved", [1, 0, 1], [0, 0, 1], "0", "0.5", interface="numpy")
def groups_of_pandas(bits, rng):
    frame = pd.DataFrame({"group": ["u", "u", "v"], "bit": bits})
    sums = frame.groupby("group")["bit"].sum()
    noisy = {str(k): int(v) + int(rng.integers(2)) for k, v in sums.items()}
    return json.dumps(noisy, sort_keys=True)


# -- what runs show beside their result ------------------------------------------------------------


@judged("refuted", 4, 5, "9")
def a_log_line_with_the_true_count(n, rng):
    lines = []
    lines.append(f"true {n}")
    return n + rng.randrange(50), lines


@judged("proved", 4, 5, "0", "0.02")
def a_log_line_with_the_noisy_count(n, rng):
    noisy = n + rng.randrange(50)
    return noisy, [f"noisy {noisy}"]


@judged("refuted", [1, 0], [1, 1], "5", exceptions="outcome")
def an_error_that_tells(values, rng):
    return rng.randrange(4) + 4 // min(values)


@judged("proved", [1, 0], [1, 1], "0", "0.5", exceptions="outcome")
def an_error_that_is_caught(values, rng):
    try:
        share = 4 // min(values)
    except ZeroDivisionError:
        share = 3
    return share + rng.randrange(2)


@judged("refuted", 1, 2, "5", exceptions="outcome")
def an_error_with_the_value(n, rng):
    if rng.randrange(100) == 0:
        raise ValueError(f"bad value {n}")
    return


@judged("proved", 1, 2, "0", "0.01", exceptions="outcome")
def an_error_with_small_probability(n, rng):
    if rng.randrange(100) == 0:
        raise ValueError(n)
    return


@judged("refuted", 0, 1, "4", exceptions="outcome")
def an_exit_code(bit, rng):
    raise SystemExit(bit if rng.randrange(100) else 1 - bit)


@judged("refuted", [1, 2], [1, 2, 3], "4")
def as_many_draws_as_rows(rows, rng):
    return [rng.randrange(2) for _ in rows]


@judged("proved", [1, 2], [1, 2, 3], "0")
def as_many_draws_as_rows_and_one_shown(rows, rng):
    draws = [rng.randrange(2) for _ in rows]
    return draws[0]


@judged("refuted", 3, 3.0, "4")
def a_type_that_tells(n, rng):
    return n * rng.randrange(2)


@judged("proved", 3, 3.0, "0")
def a_type_that_is_fixed(n, rng):
    return int(n) + rng.randrange(2)


# -- helpers, classes, closures --------------------------------------------------------------------


@dataclasses.dataclass
class Budget:
    left: int

    def spend(self, cost):
        if cost > self.left:
            raise RuntimeError("budget")
        self.left -= cost


@judged("proved", 1, 0, "0", "0.5")
def a_budget_for_two_queries(bit, rng):
    budget = Budget(2)
    budget.spend(1)
    first = bit + rng.randrange(4)
    budget.spend(1)
    return first, bit + rng.randrange(4)  # 1 - (3/4)^2 = .4375


@judged("refuted", 1, 0, "0", "0.4")
def a_budget_of_one_for_two_queries(bit, rng):
    return bit + rng.randrange(4), bit + rng.randrange(4)


@judged("refuted", 1, 0, "3")
def a_cache_of_noise(bit, rng):
    @functools.lru_cache
    def noise(name):
        return rng.randrange(10)

    return bit + noise("a"), 2 * bit + noise("a")


@judged("proved", 1, 0, "0", "0.1")
def a_cache_of_answers(bit, rng):
    @functools.lru_cache
    def answer(name):
        return bit + rng.randrange(10)

    return answer("a"), answer("a") + 1


@judged("proved", [2, 4, 9], [2, 4, 8], "0", "0.25")
def a_median_by_bisect(values, rng):
    place = bisect.bisect(sorted(values), 4 + rng.randrange(4))  # 4, 5, 6, 7: never above 8
    return place + rng.randrange(1)


@judged("refuted", [2, 4, 9], [2, 4, 8], "3")
def the_largest_value_by_bisect(values, rng):
    return bisect.bisect(sorted(values), 8) + 2 * rng.randrange(4)


@judged("proved", [2, 4, 9], [2, 4, 8], "0")
def the_median_itself_is_equal(values, rng):
    return statistics.median(values) + rng.randrange(2)


@judged("refuted", [2, 4, 9], [2, 5, 9], "9")
def the_median_itself(values, rng):
    return statistics.median(values), rng.randrange(2)


@contextmanager
def doubled(rng):
    yield lambda n: n + 2 * rng.randrange(5)


@judged("refuted", 4, 5, "9")
def noise_on_even_numbers_alone(n, rng):
    with doubled(rng) as add:
        return add(n)


@judged("refuted", [0.1, 0.2], [0.1, 0.3], "5")
def low_digits_of_a_float(values, rng):
    return math.fsum(values) + rng.randrange(10)


@judged("proved", [0.1, 0.2], [0.1, 0.3], "0")
def whole_part_of_a_float(values, rng):
    return math.floor(math.fsum(values)) + rng.randrange(10)


@judged("proved", 1, 0, "0.6932", interface="random")
def bits_of_secrets(bit, rng):
    pool = [bit, bit, 1 - bit]
    return pool[rng.randbelow(3)] if hasattr(rng, "randbelow") else secrets.choice(pool)


@judged("refuted", 1, 0, "0.6931")
def bits_of_secrets_claim_too_little(bit, rng):
    return [bit, bit, 1 - bit][rng.randbelow(3)]


@judged("proved", 2.0, 2.5, "0.51", interface="numpy")
def logistic_threshold(score, rng):
    return bool(rng.random() < special.expit(score))  # .8808/.9241, .1192/.0759


@judged("refuted", 2.0, 2.5, "0.4", interface="numpy")
def logistic_threshold_claims_too_little(score, rng):
    return bool(rng.random() < special.expit(score))


@judged("proved", 1, 0, "0.5109", interface="numpy")
def a_change_between_neighbours(bit, rng):
    row = [0, int(rng.random() < (0.625 if bit else 0.375))]
    return any(a != b for a, b in itertools.pairwise(row))
