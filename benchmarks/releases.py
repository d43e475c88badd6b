"""How long releases of 10^5 and 10^6 non-zero counters take: thresholded ones, and sparse ones.

Run: python -m benchmarks.releases
"""

from __future__ import annotations

from functools import partial
from time import process_time

from benchmarks.timing import interleaved, seconds
from exactdp.mechanisms import CSH, GSHM, PureSparseHistogram, TopK
from exactdp.samplers import DiscreteGaussian, GeoSample, SystemSource


def main() -> None:
    source = SystemSource()
    for n in (10**5, 10**6):
        counts = {f"page {i}": i % 7 * 20_000 + 1 for i in range(n)}
        noise = DiscreteGaussian(sigma2=10**6)
        runs = {
            "draws alone, in bulk": partial(noise.sample_many, n, source),
            "draws alone, one by one": partial(_one_by_one, noise, n, source),
        }
        for kind in (GSHM, CSH, TopK):
            bound = {next(iter(kind.__dataclass_fields__)): n}  # k, sparsity or top
            made = kind.for_target(**bound, epsilon="0.35", delta="1e-5")
            runs[f"{kind.__name__}.release"] = partial(made.release, counts, source)
        print(f"{n} non-zero counters, k = sparsity = top = {n}, epsilon = 0.35, delta = 1e-5")
        times = interleaved(runs, rounds=5, clock=process_time)
        for name, value in times.items():
            ratio = value / times["draws alone, in bulk"]
            print(f"  {name:24} {value:8.4f} CPU s   {ratio:7.1f} x bulk draws")
    _sparse()


def _sparse() -> None:
    """Pure DP over all texts of 30 bytes: the empty bins that show have to be drawn as well."""
    print("PureSparseHistogram of n different elements, universe 256^31, epsilon = 1")
    for n in (10**5, 10**6):
        made = PureSparseHistogram(GeoSample(n=n, epsilon=1), 256**31)
        counts = {256**30 + 7919 * i: 1 for i in range(n)}
        taken = seconds(partial(made.release, counts, SystemSource()), process_time)
        print(f"  n = {n:8} {taken:8.2f} CPU s   {taken / n * 1e6:7.1f} us for each")


def _one_by_one(noise: DiscreteGaussian, n: int, source: SystemSource) -> None:
    for _ in range(n):
        noise.sample(source)


if __name__ == "__main__":
    main()
