"""Outputs with a structure: trees, wide vectors, nested results, texts, types, integers."""

from __future__ import annotations

import enum
from datetime import date, timedelta

import numpy as np

from tests.audit.broken.case import Case, gaussian, geometric, laplace
from tests.audit.broken.noise import SIGMA

LEAVES = 32
LEVELS = 6  # of a binary tree with 32 leaves: a leaf is part of six sums


def tree(data, n, rng, last_scale):
    """Noisy sums over a binary tree, the leaves last."""
    sums = [np.array(data)]
    while len(sums[0]) > 1:
        sums.insert(0, sums[0].reshape(-1, 2).sum(axis=1))
    truth = np.concatenate(sums)
    scales = np.full(len(truth), float(LEVELS))
    scales[-1] = last_scale
    return truth + laplace(rng, scales, (n, len(truth)))


def tree_last_leaf(data, n, rng):
    return tree(data, n, rng, 0.5)


def tree_even(data, n, rng):
    return tree(data, n, rng, LEVELS)


def tree_as_tuples(data, n, rng):
    """The same with integers, and None for the sums of nothing, as some libraries return them."""
    noise = geometric(rng, 1 / LEVELS, (n, LEVELS)) + np.cumsum([0] * LEVELS)
    noise[:, -1] = geometric(rng, 2, n)
    return path(data, noise)


def path(data, noise):
    return [
        {"root": {"sums": (*row[:-1], None), "leaf": row[-1]}} for row in (data + noise).tolist()
    ]


def tree_as_tuples_even(data, n, rng):
    return path(data, geometric(rng, 1 / LEVELS, (n, LEVELS)))


def wide(data, n, rng, epsilon, at):
    noise = geometric(rng, 1, (n, len(data)))
    noise[:, at] = geometric(rng, epsilon, n)
    return np.array(data) + noise


def one_of_48(data, n, rng):
    return wide(data, n, rng, 3, 40)


def all_of_48(data, n, rng):
    return wide(data, n, rng, 1, 40)


def half_noise(data, n, rng):
    return np.array(data) + laplace(rng, np.where(np.arange(64) == 40, 0.5, 1), (n, 64))


def full_noise(data, n, rng):
    return np.array(data) + laplace(rng, 1, (n, 64))


def alternating(data, n, rng, sigma):
    return np.array(data) / 8 + gaussian(rng, sigma, (n, 64))


def half_sigma(data, n, rng):
    return alternating(data, n, rng, SIGMA / 2)


def whole_sigma(data, n, rng):
    return alternating(data, n, rng, SIGMA)


def report(data, n, rng, epsilon):
    users, visits = data
    a, b, size = (x.tolist() for x in (geometric(rng, 0.5, n), geometric(rng, epsilon, n),
                                       geometric(rng, 1, n)))  # fmt: skip
    return [
        {"meta": {"version": "2", "rows": 100 + size[i]},
         "by": {"user": {"u": users + a[i]}, "page": [{"x": visits + b[i]}, {"y": 0}]}}
        for i in range(n)
    ]  # fmt: skip


def nested(data, n, rng):
    return report(data, n, rng, 2)


def nested_twin(data, n, rng):
    return report(data, n, rng, 0.5)


def typed(data, n, rng, lie):
    """A count that comes back as a float where a weight was used."""
    values = geometric(rng, 1, n).tolist()
    as_float = np.where(rng.random(n) < lie, 1 - data, data).tolist()
    return [float(v) if one else v for v, one in zip(values, as_float, strict=True)]


def int_or_float(data, n, rng):
    return typed(data, n, rng, 0.1)


def int_or_float_twin(data, n, rng):
    return typed(data, n, rng, 0.269)  # 0.731/0.269 < e


def signed_zero(data, n, rng, lie):
    sign = np.where(np.where(rng.random(n) < lie, 1 - data, data) == 1, -1.0, 1.0)
    value = np.rint(laplace(rng, 1, n))
    return np.where(value == 0, sign * 0.0, value)


def negative_zero(data, n, rng):
    return signed_zero(data, n, rng, 0.1)


def negative_zero_twin(data, n, rng):
    return signed_zero(data, n, rng, 0.269)


WORDS = "the,count,of,visits,to,this,page,was,as,high,on,every,other,day"


def sentence(data, n, rng, odds):
    """A text of shuffled words and a noisy number, with a word that tells who is in."""
    orders = np.argsort(rng.random((n, 14)), axis=1)
    numbers = geometric(rng, 0.5, n)
    named = rng.random(n) < odds[data]
    return [
        " ".join(WORDS.split(",")[j] for j in order) + f" ({number}{', Zorro' if one else ''})."
        for order, number, one in zip(orders, numbers, named, strict=True)
    ]


def names_somebody(data, n, rng):
    return sentence(data, n, rng, (0.02, 0.2))


def names_anybody(data, n, rng):
    return sentence(data, n, rng, (0.1, 0.2))


def modular(data, n, rng, epsilon, step, base):
    """An identifier base + step * noise, whose residue is the answer."""
    tag = np.mod(data + geometric(rng, epsilon, n), step)
    return [base + step * z + t for z, t in zip(rng.integers(0, 10**6, n).tolist(), tag.tolist(),
                                                strict=True)]  # fmt: skip


def residue(data, n, rng):
    return modular(data, n, rng, 3, 13, 0)


def residue_twin(data, n, rng):
    return modular(data, n, rng, 1, 13, 0)


def wide_integer(data, n, rng):
    return modular(data, n, rng, 3, 1024, 2**70)


def wide_integer_twin(data, n, rng):
    return modular(data, n, rng, 1, 1024, 2**70)


class Answer(enum.Enum):
    NO = 0
    YES = 1


class Refused(Exception):
    pass


def outcome(data, n, rng, lie):
    """An answer as an Enum with a date, or an error."""
    answers = np.where(rng.random(n) < lie, 1 - data, data).tolist()
    days = geometric(rng, 0.5, n).tolist()
    return [
        Refused("too few") if day % 5 == 0 else
        {"when": (date(2024, 2, 28) + timedelta(days=day), Answer(answer))}
        for day, answer in zip(days, answers, strict=True)
    ]  # fmt: skip


def enum_inside(data, n, rng):
    return outcome(data, n, rng, 0.15)


def enum_inside_twin(data, n, rng):
    return outcome(data, n, rng, 0.269)


def unit(width, at):
    return tuple(int(i == at) for i in range(width))


CASES = (
    Case(
        "tree-last-leaf",
        "sums over a tree; the last leaf has a twelfth of the noise",
        tree_last_leaf,
        tree_even,
        (0,) * LEAVES,
        unit(LEAVES, LEAVES - 1),
        "1",
    ),
    Case(
        "tree-in-a-record",
        "a leaf deep inside a record has a twelfth of the noise",
        tree_as_tuples,
        tree_as_tuples_even,
        0,
        1,
        "1",
    ),
    Case(
        "one-of-48",
        "one of 48 counters has a third of the noise",
        one_of_48,
        all_of_48,
        (5,) * 48,
        tuple(5 + x for x in unit(48, 40)),
        "1",
        samples=20_000,
    ),
    Case(
        "half-noise-in-64",
        "one of 64 coordinates has half the noise",
        half_noise,
        full_noise,
        (0,) * 64,
        unit(64, 40),
        "1",
        samples=20_000,
    ),
    Case(
        "direction-in-64",
        "half the noise, where each of 64 coordinates moves a little, up or down",
        half_sigma,
        whole_sigma,
        (0,) * 64,
        (1, -1) * 32,
        "1",
        "0.01",
        samples=50_000,
    ),
    Case(
        "nested-report",
        "a count inside a nested report has a quarter of the noise",
        nested,
        nested_twin,
        (3, 5),
        (4, 6),
        "1",
        samples=50_000,
    ),
    Case(
        "int-or-float",
        "the type of a number tells what was asked",
        int_or_float,
        int_or_float_twin,
        0,
        1,
        "1",
        samples=20_000,
    ),
    Case(
        "negative-zero",
        "the sign of a zero tells what was asked",
        negative_zero,
        negative_zero_twin,
        0,
        1,
        "1",
        samples=20_000,
    ),
    Case(
        "word-in-a-text",
        "a word in a text of many words tells who is in",
        names_somebody,
        names_anybody,
        0,
        1,
        "1",
        samples=50_000,
    ),
    Case(
        "residue-13",
        "identifiers whose residue modulo 13 has too little noise",
        residue,
        residue_twin,
        0,
        1,
        "1",
        samples=50_000,
    ),
    Case(
        "low-bits-of-wide-integers",
        "the last ten bits of integers beyond 2^70 have too little noise",
        wide_integer,
        wide_integer_twin,
        0,
        1,
        "1",
        samples=50_000,
    ),
    Case(
        "enum-inside",
        "an Enum in a tuple in a dictionary, beside errors, tells the truth too often",
        enum_inside,
        enum_inside_twin,
        0,
        1,
        "1",
        samples=50_000,
    ),
)
