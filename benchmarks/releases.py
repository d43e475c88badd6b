"""How long a release of 10^5 and 10^6 non-zero counters takes, noise and threshold together.

Run: python -m benchmarks.releases
"""

from __future__ import annotations

from functools import partial
from time import process_time

from benchmarks.timing import interleaved
from exactdp.mechanisms import CSH, GSHM, TopK
from exactdp.samplers import DiscreteGaussian, SystemSource


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
            made = kind.for_target(k=n, epsilon="0.35", delta="1e-5")
            runs[f"{kind.__name__}.release"] = partial(made.release, counts, source)
        print(f"{n} non-zero counters, k = {n}, epsilon = 0.35, delta = 1e-5")
        times = interleaved(runs, rounds=5, clock=process_time)
        for name, value in times.items():
            ratio = value / times["draws alone, in bulk"]
            print(f"  {name:24} {value:8.4f} CPU s   {ratio:7.1f} x bulk draws")


def _one_by_one(noise: DiscreteGaussian, n: int, source: SystemSource) -> None:
    for _ in range(n):
        noise.sample(source)


if __name__ == "__main__":
    main()
