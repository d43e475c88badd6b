"""Mechanisms as people write them with numpy and pandas."""

from fractions import Fraction
from typing import Any

import numpy as np

from tests.audit.honest.case import Probabilities, add, mapped, product, truthful

LN3 = "1.0987"


# Randomised response of a bit vector, in one comparison.
def flip_bits(bits: list[int], rng: np.random.Generator) -> np.ndarray:
    bits = np.asarray(bits)
    flips = rng.random(bits.shape[0]) < 0.25
    return np.where(flips, 1 - bits, bits)


def flip_bits_together(bits: list[int], rng: np.random.Generator) -> np.ndarray:
    flips = rng.random() < 0.25
    bits = np.asarray(bits)
    return np.concatenate([bits[:1], np.where(flips, 1 - bits[1:], bits[1:])])


def _bits(bits: list[int]) -> Probabilities:
    return product(*(truthful(Fraction(3, 4), 2)(bit) for bit in bits))


add(
    "numpy arrays",
    honest=flip_bits,
    bugged=flip_bits_together,
    left=[0, 1, 1],
    right=[1, 1, 1],
    law=_bits,
    epsilon=LN3,
    interface="numpy",
)


# The exponential mechanism by rng.choice(p=...).
def select(scores: list[int], rng: np.random.Generator) -> int:
    weights = np.exp2(np.asarray(scores, dtype=float))
    return int(rng.choice(len(scores), p=weights / weights.sum()))


def select_sharply(scores: list[int], rng: np.random.Generator) -> int:
    weights = np.exp2(2.0 * np.asarray(scores))
    return int(rng.choice(len(scores), p=weights / weights.sum()))


def _exponential(scores: list[int]) -> Probabilities:
    weights = [2**score for score in scores]
    return {i: Fraction(w, sum(weights)) for i, w in enumerate(weights)}


add(
    "numpy arrays",
    name="exponential mechanism with choice(p=)",
    honest=select,
    bugged=select_sharply,
    left=[3, 2, 0],
    right=[2, 3, 1],
    law=_exponential,
    epsilon="1.3863",
    interface="numpy",
)


# Integer noise on all counts at once.
def noisy_counts(rows: list[int], rng: np.random.Generator) -> list[int]:
    counts = np.bincount(rows, minlength=2)
    return (counts + rng.integers(-2, 3, size=counts.shape)).tolist()


def noisy_counts_where_positive(rows: list[int], rng: np.random.Generator) -> list[int]:
    counts = np.bincount(rows, minlength=2)
    noisy = counts + rng.integers(-2, 3, size=2)
    return np.where(counts > 0, noisy, 0).tolist()


def _uniform_counts(rows: list[int]) -> Probabilities:
    return product(*({rows.count(key) + z: Fraction(1, 5) for z in range(-2, 3)} for key in (0, 1)))


add(
    "numpy arrays",
    name="integers added to a histogram",
    honest=noisy_counts,
    bugged=noisy_counts_where_positive,
    left=[0],
    right=[0, 1],
    law=_uniform_counts,
    epsilon="0",
    delta="1/5",
    interface="numpy",
)


# Binomial noise.
def binomial_count(count: int, rng: np.random.Generator) -> int:
    return int(count + rng.binomial(6, 0.5) - 3)


def binomial_count_of_few(count: int, rng: np.random.Generator) -> int:
    return int(count + rng.binomial(2 * count, 0.5) - count)


def _binomial(count: int) -> Probabilities:
    weights = [1, 6, 15, 20, 15, 6, 1]
    return {count + i - 3: Fraction(w, 64) for i, w in enumerate(weights)}


add(
    "numpy scalars",
    honest=binomial_count,
    bugged=binomial_count_of_few,
    left=1,
    right=2,
    law=_binomial,
    epsilon="1.7918",  # a little above ln 6
    delta="0.0157",  # a little above 1/64
    interface="numpy",
)


# A matrix of reports, one row a user, averaged after randomisation.
def column_sums(rows: list[list[int]], rng: np.random.Generator) -> tuple[int, ...]:
    table = np.array(rows)
    keep = rng.random(table.shape) < 0.75
    return tuple(int(x) for x in np.where(keep, table, 1 - table).sum(axis=0))


def column_sums_of_the_rest(rows: list[list[int]], rng: np.random.Generator) -> tuple[int, ...]:
    table = np.array(rows)
    keep = rng.random(table.shape) < 0.75
    keep[-1] = True  # an off-by-one leaves out the last user
    return tuple(int(x) for x in np.where(keep, table, 1 - table).sum(axis=0))


def _column_sums(rows: list[list[int]]) -> Probabilities:
    def column(i: int) -> Probabilities:
        laws = [truthful(Fraction(3, 4), 2)(row[i]) for row in rows]
        return mapped(product(*laws), sum)

    return product(*(column(i) for i in range(len(rows[0]))))


add(
    "numpy arrays",
    honest=column_sums,
    bugged=column_sums_of_the_rest,
    left=[[0, 1], [0, 0]],
    right=[[0, 1], [1, 0]],
    law=_column_sums,
    epsilon=LN3,
    interface="numpy",
)


def table(columns: dict[str, Any]) -> Any:
    """A table of pandas, which is imported late: it makes every later fork of a process dearer."""
    import pandas as pd

    return pd.DataFrame(columns)


# A table of pandas, grouped, with noise for every group of a fixed domain.
DOMAIN = ["north", "south"]


def by_region(frame: Any, rng: Any) -> dict[str, int]:
    sizes = frame.groupby("region").size().reindex(DOMAIN, fill_value=0)
    return {region: int(size) + rng.randint(-1, 1) for region, size in sizes.items()}


def by_region_found(frame: Any, rng: Any) -> dict[str, int]:
    sizes = frame.groupby("region").size()
    return {region: int(size) + rng.randint(-1, 1) for region, size in sizes.items()}


def _regions(frame: Any) -> Probabilities:
    regions = list(frame["region"])
    noise = [{regions.count(region) + z: Fraction(1, 3) for z in (-1, 0, 1)} for region in DOMAIN]
    return mapped(product(*noise), lambda pair: frozenset(zip(DOMAIN, pair, strict=True)))


add(
    "pandas",
    honest=by_region,
    bugged=by_region_found,
    left=lambda: table({"region": ["north"]}),
    right=lambda: table({"region": ["north", "south"]}),
    law=_regions,
    epsilon="0",
    delta="1/3",
)


# A column of pandas, changed by apply.
def answers(frame: Any, rng: Any) -> tuple[bool, ...]:
    reports = frame["smokes"].apply(lambda truth: truth if rng.random() < 0.75 else not truth)
    return tuple(bool(x) for x in reports)


def answers_of_smokers(frame: Any, rng: Any) -> tuple[bool, ...]:
    reports = frame["smokes"].apply(lambda truth: truth and rng.random() < 0.75)
    return tuple(bool(x) for x in reports)


add(
    "pandas",
    name="apply on a column",
    honest=answers,
    bugged=answers_of_smokers,
    left=lambda: table({"smokes": [True, False]}),
    right=lambda: table({"smokes": [False, False]}),
    law=lambda frame: _bits([int(x) for x in frame["smokes"]]),
    epsilon=LN3,
)
