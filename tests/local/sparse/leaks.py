"""Clients as papers describe them, word for word: exhibits for the white-box audit.

Each keeps a generator like random.Random, answers with e^epsilon = 3, and promises what its paper
says; what it really costs is in test_leaks.py.
"""

from __future__ import annotations

from random import Random

K, D = 3, 4


def answer(sign: int, rng: Random) -> int:
    """The sign with probability 3/4; 0 is answered by a fair coin."""
    if not sign:
        return 1 - 2 * rng.randrange(2)
    return sign if rng.randrange(4) < 3 else -sign


def hashed(item: int, row: int) -> int:
    return 1 - 2 * ((item & row).bit_count() % 2)


def repetition_in_order(items: frozenset[int], rng: Random) -> tuple[tuple[int, int], ...]:
    """k-fold repetition, SVA Section II-B: virtual client j has the j-th item, in order."""
    slots = [*sorted(items), *[None] * (2 - len(items))]  # k = 2
    reports = []
    for item in slots:
        row = rng.randrange(D)
        reports.append((row, answer(0 if item is None else hashed(item, row), rng)))
    return tuple(reports)


def repetition_without_order(items: frozenset[int], rng: Random) -> tuple[tuple[int, int], ...]:
    """The same reports, sorted: nobody sees which virtual client sent which."""
    return tuple(sorted(repetition_in_order(items, rng)))


def key_value_without_padding(items: frozenset[int], rng: Random) -> int:
    """PCKV, where a user with fewer than k items draws one of these, not of k."""
    mine = sorted(items)
    return told_pair(mine[rng.randrange(len(mine))], D, rng)


def key_value_with_padding(items: frozenset[int], rng: Random) -> int:
    """PCKV with items that nobody has in place of the missing ones."""
    slots = [*sorted(items), *range(D, D + K)][:K]
    return told_pair(slots[rng.randrange(K)], D + K, rng)


def told_pair(item: int, size: int, rng: Random) -> int:
    """One of so many items; the true one 1 + k (3 - 1) = 7 times as likely as another."""
    drawn = rng.randrange(7 + size - 1)
    return item if drawn < 7 else [x for x in range(size) if x != item][drawn - 7]


def bins_with_epsilon_each(items: frozenset[int], rng: Random) -> tuple[int, ...]:
    """User level with two bins, each clipped and answered with all of epsilon."""
    sums = [0, 0]
    for item in items:
        sums[item % 2] += 1
    return tuple(answer(1 if total else -1, rng) for total in sums)


def one_bin(items: frozenset[int], rng: Random) -> int:
    """User level with one bin, b = 1 as in Table II."""
    return answer(1 if items else -1, rng)
