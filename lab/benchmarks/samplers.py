"""Exact draws, one and many, against inexact numpy, exact peers, and the speed of randomness.

Run: python -m lab.benchmarks.samplers        (opendp is in the group bench)
IBM's discretegauss.py and tmlt.core are measured too where they can be imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import time
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from exactdp.samplers import (
    DiscreteGaussian,
    DiscreteLaplace,
    GeoSample,
    OrderStatistics,
    SystemSource,
)
from exactdp.samplers.integer_law import IntegerLaw
from lab.benchmarks.timing import interleaved, seconds

N = 10**6
SINGLE = 300

GAUSSIANS = [(sigma2, DiscreteGaussian(sigma2=sigma2)) for sigma2 in
             ("1/100", "1", "22/7", "1e4", "1e6", "1e10", "1e20", "1e40")]  # fmt: skip
LAPLACES = [(scale, DiscreteLaplace(scale=scale)) for scale in
            ("1/10", "1", "22/7", "100", "1e3", "1e5", "1e10", "1e20")]  # fmt: skip
SCALES = (1, 10, 10**3, 10**5, 10**8, 10**10, 10**12, 10**15)


def opendp(noise: IntegerLaw, scale: float) -> Callable[[], object] | None:
    """OpenDP's sampler, with many draws per call, so that the cost of a call hardly counts."""
    if importlib.util.find_spec("opendp") is None or scale > 2**50:
        return None
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if isinstance(noise, DiscreteGaussian):
        measure = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale)
    else:
        measure = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale)
    return partial(measure, [0] * SINGLE)


def rational(module: str, noise: IntegerLaw, scale: float) -> Callable[[], object] | None:
    """IBM's sampler, which is also that of Tumult Core: rational arithmetic in Python."""
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        return None
    sampler = importlib.import_module(module)
    if isinstance(noise, DiscreteGaussian):
        draw = partial(sampler.sample_dgauss, Fraction(scale) ** 2)
    elif hasattr(sampler, "sample_dlaplace"):  # Tumult's is private
        draw = partial(sampler.sample_dlaplace, Fraction(scale))
    else:
        return None
    return lambda: [draw() for _ in range(SINGLE)]


OTHERS = {
    "opendp": opendp,
    "IBM": partial(rational, "discretegauss"),
    "Tumult": partial(rational, "tmlt.core.random.discrete_gaussian"),
}


def single(noise: IntegerLaw, parameter: str, scale: float) -> None:
    """Microseconds of the processor for one draw, and how many times longer the others take."""
    source = SystemSource()
    setup = seconds(lambda: noise.sample(source))
    contestants = {"exactdp": lambda: [noise.sample(source) for _ in range(SINGLE)]}
    for name, make in OTHERS.items():
        run = make(noise, scale)
        if run is not None:
            contestants[name] = run
    times = interleaved(contestants, rounds=31, clock=time.process_time)
    ours = times.pop("exactdp")
    others = "".join(
        f"   {name} {1e6 * time / SINGLE:6.1f} us = {time / ours:5.1f} x"
        for name, time in times.items()
    )
    print(f"  {noise.__class__.__name__:17} {parameter:>6}   {1e6 * ours / SINGLE:5.2f} us"
          f"   (first draw {1e3 * setup:5.1f} ms){others}")  # fmt: skip


def bulk(noise: IntegerLaw, scale: float) -> None:
    """Nanoseconds of the processor for a draw among a million, and the ratio to numpy's."""
    source, rng = SystemSource(), np.random.default_rng()
    noise.sample_many(1, source)
    before = source.bits_used
    noise.sample_many(N, source)
    bits = (source.bits_used - before) / N
    kind = rng.normal if isinstance(noise, DiscreteGaussian) else rng.laplace
    contestants: dict[str, Callable[[], object]] = {
        "exactdp": partial(noise.sample_many, N, source),
        "numpy": lambda: np.rint(kind(0, scale, N)).astype(np.int64),
        "bytes": partial(_read, int(bits * N / 8)),
    }
    times = interleaved(contestants, rounds=15, clock=time.process_time)
    ours, numpy, read = (1e9 * times[name] / N for name in contestants)
    print(f"  {noise.__class__.__name__:17} {scale:7.0e}   {ours:5.1f} ns = {ours / numpy:4.2f} x"
          f" numpy's {numpy:4.1f}   ({bits:4.1f} bits: {read:4.1f} ns of reading)")  # fmt: skip


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
    print("One draw at a time (parameter: sigma^2 or scale)")
    for parameter, noise in GAUSSIANS:
        single(noise, parameter, float(Fraction(parameter)) ** 0.5)
    for parameter, noise in LAPLACES:
        single(noise, parameter, float(Fraction(parameter)))
    print(
        f"\n{N:.0e} draws at once, in seconds of the processor, against numpy's rounded normals"
        " (Laplace: its rounded Laplace)"
    )
    for scale in SCALES:
        bulk(DiscreteGaussian(sigma2=scale**2), scale)
    for scale in SCALES:
        bulk(DiscreteLaplace(scale=scale), scale)
    order_statistics()
    print("\nMemory")
    memory()


if __name__ == "__main__":
    main()
