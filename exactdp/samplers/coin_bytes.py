"""Very many coins of one chance, a byte of eight by one look-up.

The 256 patterns of eight coins of chance p have rational probabilities, so they are a law like any
other: 16 random bits settle all but one byte in 170 or so, and the rest reads on (samplers.table).
Two random bits a coin where words of coins take 7.4: worth it where reading is what takes time.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from exactdp.samplers.integer_law import parts
from exactdp.samplers.inverse_cdf import RationalCdf
from exactdp.samplers.source import Source
from exactdp.samplers.table import FIRST_BITS, SECOND_BITS, WORD_BITS, Table

__all__ = ["coin_bytes", "pattern_table"]


@lru_cache(32)
def pattern_table(
    p: Fraction,
    coins: int = 8,
    widths: tuple[int, int, int] = (FIRST_BITS, SECOND_BITS, WORD_BITS),
) -> Table:
    """The law of so many coins, 0 < p < 1, as a number whose bit i is coin i."""
    up, whole = p.numerator, p.denominator
    down = whole - up
    ones = (pattern.bit_count() for pattern in range(1 << coins))
    sums = list(accumulate(up**n * down ** (coins - n) for n in ones))
    first, second, word = widths
    return Table(
        RationalCdf(0, len(sums) - 1, sums.__getitem__, sums[-1]),
        0,
        [(below << word) // sums[-1] for below in sums[:-1]],
        first_bits=first,
        second_bits=second,
        word_bits=word,
    )


def coin_bytes(n: int, table: Table, source: Source) -> NDArray[np.uint8]:
    """n independent patterns of a table of at most eight coins."""
    patterns = np.empty(n, np.uint8)
    for part in parts(n):
        found = patterns[part]
        words = source.words(found.size, table.first_bits)
        settled = table.settled(words)
        np.copyto(found, settled, casting="unsafe")
        where = np.flatnonzero(settled < 0)
        if where.size:
            found[where] = table.finish(words[where], source)
    return patterns
