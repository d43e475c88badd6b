"""Exact bulk sampling against inexact numpy, exact peers, and the speed of randomness itself.

Run: python -m benchmarks.samplers        (pip install 'exactdp[bench]' for opendp)
IBM's discretegauss.py is measured too where it can be imported.
"""

from __future__ import annotations

import importlib.util
import math
import os
import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.timing import interleaved, seconds
from exactdp.samplers import (
    DiscreteGaussian,
    DiscreteLaplace,
    GeoSample,
    OrderStatistics,
    SystemSource,
)
from exactdp.samplers.integer_law import CHUNK, IntegerLaw

N = 10**6


def opendp_vector(noise: IntegerLaw, scale: float, n: int) -> Callable[[], object] | None:
    if importlib.util.find_spec("opendp") is None:
        return None
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if isinstance(noise, DiscreteGaussian):
        measure = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale)
    else:
        measure = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale)
    return partial(measure, [0] * n)


def ibm(noise: IntegerLaw, scale: float, n: int) -> Callable[[], object] | None:
    if importlib.util.find_spec("discretegauss") is None:
        return None
    from fractions import Fraction

    import discretegauss

    if isinstance(noise, DiscreteGaussian):
        draw = partial(discretegauss.sample_dgauss, Fraction(scale) ** 2)
    else:
        draw = partial(discretegauss.sample_dlaplace, Fraction(scale))
    return lambda: [draw() for _ in range(n)]


def numpy_rounded(noise: IntegerLaw, scale: float) -> np.ndarray:
    rng = np.random.default_rng()
    kind = rng.normal if isinstance(noise, DiscreteGaussian) else rng.laplace
    parts = [np.rint(kind(0, scale, CHUNK)) for _ in range(N // CHUNK + 1)]
    return np.concatenate(parts)[:N].astype(np.int64)


def entropy(noise: IntegerLaw, scale: float) -> float:
    if isinstance(noise, DiscreteGaussian):
        return math.log2(scale * math.sqrt(2 * math.pi * math.e))
    return math.log2(2 * math.e * scale)


def compare(noise: IntegerLaw, scale: float) -> None:
    source = SystemSource()
    setup = seconds(lambda: noise._bulk)
    first = seconds(lambda: noise.sample_many(1, source))
    before = source.bits_used
    noise.sample_many(N, source)
    bits = (source.bits_used - before) / N
    read = partial(_read, int(bits * N / 8))
    contestants: dict[str, tuple[Callable[[], object], int]] = {
        "exactdp": (partial(noise.sample_many, N, source), N),
        "rint(numpy), not exact": (partial(numpy_rounded, noise, scale), N),
        "os.urandom, same bytes": (read, N),
    }
    for name, make, n in (("opendp vector", opendp_vector, 20_000), ("IBM", ibm, 300)):
        run = make(noise, scale, n)
        if run is not None:
            contestants[name] = (run, n)
    times = interleaved({name: run for name, (run, _) in contestants.items()}, rounds=7)
    per_draw = {name: times[name] / n for name, (_, n) in contestants.items()}
    print(f"\n{noise.__class__.__name__}, scale {scale:g}: set-up {1e3 * setup:.1f} ms, "
          f"first draw {1e3 * first:.1f} ms, {bits:.1f} bits per draw, "
          f"entropy {entropy(noise, scale):.1f}")  # fmt: skip
    for name, value in per_draw.items():
        ratio = value / per_draw["exactdp"]
        print(f"  {name:24} {1e9 * value:10.1f} ns per draw   {ratio:10.2f} x exactdp")
    scalar = SystemSource()
    elapsed = seconds(lambda: [noise.sample(scalar) for _ in range(300)])
    print(f"  one at a time: {1e6 * elapsed / 300:.0f} us, {scalar.bits_used / 300:.1f} bits")


def _read(size: int) -> None:
    for _ in range(size // (1 << 17) + 1):
        os.urandom(1 << 17)


def order_statistics() -> None:
    print("\nOrder statistics: the n + 1 largest of m counts of zero (GeoSample, epsilon = 1/4)")
    source = SystemSource()
    for n in (100, 300, 1000, 3000):
        many = OrderStatistics(GeoSample(n=n, epsilon="1/4").cdf(0), 2**64)
        print(f"  n = {n:5}, m = 2^64:   {seconds(partial(many.sample, n + 1, source)):.4f} s")
    cdf = GeoSample(n=30_000, epsilon="1/4").cdf(0)
    for exponent in (16, 64, 256, 1024, 4096):
        many = OrderStatistics(cdf, 2**exponent)
        elapsed = seconds(partial(many.sample, 100, source))
        print(f"  k = 100, n = 30000, m = 2^{exponent:<5} {elapsed:.4f} s")


def memory() -> None:
    noise, source = DiscreteGaussian(sigma2=100), SystemSource()
    for n in (10**6, 10**7, 10**8):
        tracemalloc.start()
        total = sum(int(chunk[0]) for chunk in noise.sample_chunks(n, source))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"  {n:.0e} draws in chunks: peak {peak / 1e6:.1f} MB (check {total % 2})")


def main() -> None:
    for scale in (1, 10, 100, 1000, 10**6):
        compare(DiscreteGaussian(sigma2=scale**2), scale)
    for scale in (1, 10, 100, 1000, 10**6):
        compare(DiscreteLaplace(scale=scale), scale)
    order_statistics()
    print("\nMemory")
    memory()


if __name__ == "__main__":
    main()
