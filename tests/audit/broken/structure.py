"""Outputs with a structure: trees, wide vectors, nested results, texts, types, integers."""

from __future__ import annotations

import enum
from datetime import date, timedelta

import numpy as np

from tests.audit.broken.case import against, gaussian, geometric, laplace
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


def path(data, noise):
    return [
        {"root": {"sums": (*row[:-1], None), "leaf": row[-1]}} for row in (data + noise).tolist()
    ]


def wide(data, n, rng, spent, at):
    noise = geometric(rng, 1, (n, len(data)))
    noise[:, at] = geometric(rng, spent, n)
    return np.array(data) + noise


def alternating(data, n, rng, sigma):
    return np.array(data) / 8 + gaussian(rng, sigma, (n, 64))


def report(data, n, rng, spent):
    users, visits = data
    a, b, size = (x.tolist() for x in (geometric(rng, 0.5, n), geometric(rng, spent, n),
                                       geometric(rng, 1, n)))  # fmt: skip
    return [
        {"meta": {"version": "2", "rows": 100 + size[i]},
         "by": {"user": {"u": users + a[i]}, "page": [{"x": visits + b[i]}, {"y": 0}]}}
        for i in range(n)
    ]  # fmt: skip


def typed(data, n, rng, lie):
    """A count that comes back as a float where a weight was used."""
    values = geometric(rng, 1, n).tolist()
    as_float = np.where(rng.random(n) < lie, 1 - data, data).tolist()
    return [float(v) if one else v for v, one in zip(values, as_float, strict=True)]


def signed_zero(data, n, rng, lie):
    sign = np.where(np.where(rng.random(n) < lie, 1 - data, data) == 1, -1.0, 1.0)
    value = np.rint(laplace(rng, 1, n))
    return np.where(value == 0, sign * 0.0, value)


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


def modular(data, n, rng, spent, step, base):
    """An identifier base + step * noise, whose residue is the answer."""
    tag = np.mod(data + geometric(rng, spent, n), step)
    return [base + step * z + t for z, t in zip(rng.integers(0, 10**6, n).tolist(), tag.tolist(),
                                                strict=True)]  # fmt: skip


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


def unit(width, at):
    return tuple(int(i == at) for i in range(width))


@against(tree, (0,) * LEAVES, unit(LEAVES, LEAVES - 1), last_scale=LEVELS)
def tree_last_leaf(data, n, rng):
    """Sums over a tree; the last leaf has a twelfth of the noise."""
    return tree(data, n, rng, 0.5)


def tree_as_tuples_even(data, n, rng):
    return path(data, geometric(rng, 1 / LEVELS, (n, LEVELS)))


@against(tree_as_tuples_even, 0, 1)
def tree_in_a_record(data, n, rng):
    """A leaf deep inside a record has a twelfth of the noise.

    The same with integers, and None for the sums of nothing, as some libraries return them.
    """
    noise = geometric(rng, 1 / LEVELS, (n, LEVELS)) + np.cumsum([0] * LEVELS)
    noise[:, -1] = geometric(rng, 2, n)
    return path(data, noise)


@against(wide, (5,) * 48, tuple(5 + x for x in unit(48, 40)), samples=20_000, spent=1, at=40)
def one_of_48(data, n, rng):
    """One of 48 counters has a third of the noise."""
    return wide(data, n, rng, 3, 40)


def full_noise(data, n, rng):
    return np.array(data) + laplace(rng, 1, (n, 64))


@against(full_noise, (0,) * 64, unit(64, 40), samples=20_000)
def half_noise_in_64(data, n, rng):
    """One of 64 coordinates has half the noise."""
    return np.array(data) + laplace(rng, np.where(np.arange(64) == 40, 0.5, 1), (n, 64))


@against(alternating, (0,) * 64, (1, -1) * 32, "1", "0.01", samples=50_000, sigma=SIGMA)
def direction_in_64(data, n, rng):
    """Half the noise, where each of 64 coordinates moves a little, up or down."""
    return alternating(data, n, rng, SIGMA / 2)


@against(report, (3, 5), (4, 6), samples=50_000, spent=0.5)
def nested_report(data, n, rng):
    """A count inside a nested report has a quarter of the noise."""
    return report(data, n, rng, 2)


# the twin: 0.731/0.269 < e
@against(typed, 0, 1, samples=20_000, lie=0.269)
def int_or_float(data, n, rng):
    """The type of a number tells what was asked."""
    return typed(data, n, rng, 0.1)


@against(signed_zero, 0, 1, samples=20_000, lie=0.269)
def negative_zero(data, n, rng):
    """The sign of a zero tells what was asked."""
    return signed_zero(data, n, rng, 0.1)


@against(sentence, 0, 1, samples=50_000, odds=(0.1, 0.2))
def word_in_a_text(data, n, rng):
    """A word in a text of many words tells who is in."""
    return sentence(data, n, rng, (0.02, 0.2))


@against(modular, 0, 1, samples=50_000, spent=1, step=13, base=0)
def residue_13(data, n, rng):
    """Identifiers whose residue modulo 13 has too little noise."""
    return modular(data, n, rng, 3, 13, 0)


@against(modular, 0, 1, samples=50_000, spent=1, step=1024, base=2**70)
def low_bits_of_wide_integers(data, n, rng):
    """The last ten bits of integers beyond 2^70 have too little noise."""
    return modular(data, n, rng, 3, 1024, 2**70)


@against(outcome, 0, 1, samples=50_000, lie=0.269)
def enum_inside(data, n, rng):
    """An Enum in a tuple in a dictionary, beside errors, tells the truth too often."""
    return outcome(data, n, rng, 0.15)
