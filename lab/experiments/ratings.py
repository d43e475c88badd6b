"""Sparse vectors of the SVA experiments: synthetic ones as described, and MovieLens-100k."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution

import numpy as np

from exactdp.local import Entries

__all__ = ["Data", "movielens", "zipf"]

_EXPONENT = 1.4
_CHUNK = 1_000_000  # entries made at once


@dataclass(frozen=True)
class Data:
    """Vectors of n users in [-1, 1]^d with at most k entries, generated anew part by part."""

    n: int
    d: int
    k: int
    seed: int
    table: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def parts(self) -> Iterator[Entries]:
        """The parts of the data; every call yields the same ones."""
        size = max(_CHUNK // self.k, 1)
        for start in range(0, self.n, size):
            users = min(size, self.n - start)
            rng = np.random.default_rng([self.seed, start])
            yield (
                self._simulate(users, rng) if self.table is None else self._real(start, users, rng)
            )

    def means(self) -> np.ndarray:
        """The true means."""
        total = np.zeros(self.d)
        for part in self.parts():
            total += np.bincount(part.item, part.floats, self.d)
        return total / self.n

    def _simulate(self, users: int, rng: np.random.Generator) -> Entries:
        """k draws of Zipf's law per user, repeated items once; values N(1, 0.3), clipped."""
        weights = np.arange(1, self.d + 1) ** -_EXPONENT
        levels = np.cumsum(weights) / weights.sum()
        rank = np.searchsorted(levels, rng.random((users, self.k)))
        item = np.sort(np.minimum(rank, self.d - 1), axis=1)
        first = np.ones(item.shape, bool)
        first[:, 1:] = item[:, 1:] != item[:, :-1]
        user = np.nonzero(first)[0]
        value = np.clip(rng.normal(1, 0.3, len(user)), -1, 1)
        return Entries(users, user, item[first], value)

    def _real(self, start: int, users: int, rng: np.random.Generator) -> Entries:
        """Users of the table, drawn with replacement where there are too few; at most k ratings."""
        assert self.table is not None
        starts, items, values = self.table
        there = len(starts) - 1
        chosen = np.arange(start, start + users)
        chosen = chosen if self.n <= there else rng.integers(0, there, users)
        user, item, value = [], [], []
        for i, row in enumerate(chosen):
            kept = rng.permutation(np.arange(starts[row], starts[row + 1]))[: self.k]
            user.append(np.full(len(kept), i))
            item.append(items[kept])
            value.append(values[kept])
        return Entries(users, np.concatenate(user), np.concatenate(item), np.concatenate(value))


def zipf(n: int, d: int, k: int, seed: int) -> Data:
    """SVA, Section V-A: Zipf's law with exponent 1.4."""
    return Data(n, d, k, seed)


def movielens(k: int, seed: int, n: int | None = None, d: int = 1682) -> Data:
    """MovieLens-100k: 943 users, 1682 movies, 1 to 5 stars as -1 to 1; n users, or as they are.

    The d movies with the most ratings. From the wheel of recbole, which ships the table:
    pip install --no-deps recbole.
    """
    try:
        place = distribution("recbole").locate_file("recbole/dataset_example/ml-100k/ml-100k.inter")
    except PackageNotFoundError:
        raise SystemExit("MovieLens-100k is missing: pip install --no-deps recbole") from None
    rows = np.loadtxt(str(place), skiprows=1, usecols=(0, 1, 2))
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    movies, counts = np.unique(rows[:, 1], return_counts=True)
    kept = np.sort(movies[np.argsort(-counts, kind="stable")[:d]])
    rows = rows[np.isin(rows[:, 1], kept)]
    items = np.searchsorted(kept, rows[:, 1])
    starts = np.append(0, np.flatnonzero(np.diff(rows[:, 0])) + 1)
    table = (np.append(starts, len(rows)), items, (rows[:, 2] - 3) / 2)
    return Data(n or len(starts), len(kept), k, seed, table)


def main(path: str, k: int = 100) -> None:
    """MovieLens as a CSV file for exactdp local sparse report: at most k ratings of every user."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("user,item,value\n")
        for part in movielens(k, 0).parts():
            rows = zip(part.user, part.item, part.value, strict=True)
            file.writelines(f"{user},{item},{value}\n" for user, item, value in rows)


if __name__ == "__main__":
    main(sys.argv[1])
