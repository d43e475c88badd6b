"""How long releases take, and how that grows with n and the universe.

Run: python -m benchmarks.histograms
"""

from __future__ import annotations

import random
from functools import partial

from benchmarks.timing import interleaved, seconds
from exactdp.mechanisms import CompactHistogram, FixedTimeSparseHistogram, PureSparseHistogram
from exactdp.samplers import GeoSample, SystemSource


def data(n: int, bits: int) -> dict[int, int]:
    """Half the rows in one element, the others alone."""
    rng = random.Random(n)
    counts = {rng.getrandbits(bits): 1 for _ in range(n // 2)}
    counts[5] = n - len(counts)
    return counts


def main() -> None:
    source = SystemSource()
    print("PureSparseHistogram, epsilon = 1, exact and lazy")
    runs = {}
    for n, bits in ((100, 64), (1000, 64), (10_000, 64), (1000, 256)):
        mechanism = PureSparseHistogram(GeoSample(n=n, epsilon=1), 2**bits)
        runs[f"n = {n}, |X| = 2^{bits}"] = partial(mechanism.release, data(n, bits), source)
    times = interleaved(runs, rounds=5)
    base = times["n = 1000, |X| = 2^64"]
    for name, value in times.items():
        print(f"  {name:24} {value:8.3f} s   {value / base:7.2f} x n = 1000")
    print("FixedTimeSparseHistogram, epsilon = 1, |X| = 2^64")
    strict = {}
    for n in (25, 50, 100):
        made = FixedTimeSparseHistogram(GeoSample(n=n, epsilon=1), 2**64)
        strict[n] = made, seconds(partial(made.release, data(n, 64), source))
    for n, (made, elapsed) in strict.items():
        growth = made.bits / strict[25][0].bits
        print(f"  n = {n:4}: {elapsed:6.3f} s, {made.bits} random bits ({growth:.1f} x n = 25)")
    print("CompactHistogram, n = 1000, |X| = 2^64, epsilon = 1, beta = 0.01")
    compact = CompactHistogram.of(n=1000, epsilon=1, universe=2**64, beta="0.01")
    counts = data(1000, 64)
    elapsed = seconds(partial(compact.release, counts, source))
    made_ = compact.release(counts, source)
    first = seconds(partial(made_.__getitem__, 5))
    print(f"  release {elapsed:.3f} s, first query {1e3 * first:.2f} ms")
    query = interleaved({"query": partial(made_.__getitem__, 7)}, rounds=51)["query"]
    size, least = len(made_.to_bytes()), 1001 * compact.field.degree / 8
    print(f"  query {1e3 * query:.3f} ms, {size} bytes = {size / least:.4f} x (n + 1) log2 d0")


if __name__ == "__main__":
    main()
