"""ALP sketches against opendp's and against the speed of randomness: ratios within one run.

Run: python -m lab.benchmarks.sketches        (opendp is in the group bench)
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from exactdp.mechanisms import ALP, HistogramALP
from exactdp.samplers import SystemSource
from lab.benchmarks.timing import interleaved, seconds

K = 10**5
LARGEST = 60
QUERIES = 10**6
SINGLE_QUERIES = 2000


def vector(d: int, k: int, seed: int) -> dict[int, int]:
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, min(d, 1 << 63), 2 * k).tolist()
    values = rng.integers(1, LARGEST + 1, 2 * k).tolist()
    return dict(list(dict(zip(ids, values, strict=True)).items())[:k])


def opendp(entries: dict[int, int], size_factor: int) -> Callable[[], Any] | None:
    """opendp's projection of the same vector, with alpha and epsilon as opendp defines them."""
    if importlib.util.find_spec("opendp") is None:
        return None
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.map_domain(dp.atom_domain(T="u64"), dp.atom_domain(T="i32"))
    metric = dp.l01inf_distance(dp.absolute_distance(T="i32"))
    measure = dp.m.make_alp_queryable(
        domain, metric, 1.0, sum(entries.values()), LARGEST, size_factor=size_factor, alpha=4
    )
    return partial(measure, entries)


def projecting() -> None:
    print(f"Projecting k = {K} entries, epsilon = 1, values up to {LARGEST}")
    source, runs = SystemSource(), {}
    for name, d in (("d = 10^6", 10**6), ("d = 2^64", 2**64)):
        mechanism = ALP(d=d, k=K, s=10 * K, largest=LARGEST, epsilon=1)
        runs[name] = partial(mechanism.project, vector(d, K, 1), source)
    times = interleaved(runs, rounds=5)
    theirs = opendp(vector(2**64, K, 1), 50)
    if theirs is not None:
        times["opendp, once"] = seconds(theirs)  # more than a minute
    ours = times["d = 2^64"]
    for name, spent in times.items():
        print(f"  {name:12} {spent:8.3f} s = {spent / ours:6.2f} x d = 2^64")


def querying() -> None:
    """A query by itself and many at once, of mechanisms for the same values and epsilon."""
    print(f"\nQueries of sketches, {SINGLE_QUERIES} one by one and {QUERIES} at once")
    entries = vector(2**64, K, 1)
    ids = np.random.default_rng(2).integers(0, 1 << 63, QUERIES).astype(np.uint64)
    few = ids[:SINGLE_QUERIES].tolist()
    mechanisms = {
        "ALP": ALP(d=2**64, k=K, s=10 * K, largest=LARGEST, epsilon=1),
        "HistogramALP": HistogramALP(d=2**64, k=K, s=10 * K, largest=LARGEST, epsilon=1),
    }
    runs: dict[str, Callable[[], Any]] = {}
    for name, mechanism in mechanisms.items():
        sketch = mechanism.project(entries, SystemSource())
        runs[f"{name}[i]"] = partial(_one_by_one, sketch.__getitem__, few)
        runs[f"{name}, at once"] = partial(sketch.estimate, ids)
    theirs = opendp(vector(2**64, K // 100, 1), 50)  # a query takes as long in a small one
    if theirs is not None:
        runs["opendp"] = partial(_one_by_one, theirs(), few)
    times = interleaved(runs, rounds=5)
    each = {name: t / (QUERIES if "at once" in name else len(few)) for name, t in times.items()}
    for name, spent in each.items():
        ratio = f" = {spent / each['opendp']:7.4f} x opendp" if "opendp" in each else ""
        print(f"  {name:22} {1e6 * spent:8.2f} us a query{ratio}")


def _one_by_one(ask: Callable[[int], Any], ids: list[int]) -> None:
    for i in ids:
        ask(i)


def randomness() -> None:
    print("\nA projection of 10^8 bits against reading the random bits it uses")
    source = SystemSource()
    mechanism = ALP(d=2**64, k=K, s=10 * K, largest=300, epsilon=1)
    bits = mechanism.s * mechanism.levels
    entries = vector(2**64, K, 3)
    before = source.bits_used
    mechanism.project(entries, source)
    used = source.bits_used - before

    def read() -> None:
        for _ in range(used // (64 << 14)):
            source.words(1 << 14, 64)

    runs = {"projection": partial(mechanism.project, entries, source), "reading": read}
    times = interleaved(runs, rounds=9, clock=time.process_time)
    ratio = times["projection"] / times["reading"]
    print(f"  m s = {bits:.2e}: {used / bits:.2f} random bits per bit of the array,")
    ours, reading = times["projection"], times["reading"]
    print(f"  {ours:.3f} s of processor time = {ratio:.2f} x the {reading:.3f} s of reading")


def error() -> None:
    """Mean errors of entries and of empty places, the arrays being of one size.

    opendp takes counts, whose neighbours differ by 1 in one of them, as HistogramALP does.
    """
    k, factor = 3000, 50
    entries = vector(2**64, k, 4)
    array = 1 << (sum(entries.values()) * factor // 4 - 1).bit_length()
    print(f"\nMean |error| for the same space: {array} bits, k = {k}, epsilon = 1")
    rng = np.random.default_rng(5)
    present = list(entries)
    empty = rng.integers(0, 1 << 63, k).tolist()
    truth = np.array([entries.get(i, 0) for i in present + empty], float)
    shape: dict[str, Any] = {"d": 2**64, "k": k, "largest": LARGEST, "epsilon": 1}
    contestants: list[tuple[str, Callable[[int], Any]]] = [
        ("ALP", lambda s: ALP(s=s, **shape)),
        ("ALP, alpha = 4", lambda s: ALP(s=s, **shape, alpha=4)),
        ("Algorithm 4, alpha = 3", lambda s: ALP(s=s, **shape, alpha=3, steps=1)),
        ("Algorithm 4, alpha = 4", lambda s: ALP(s=s, **shape, alpha=4, steps=1)),
        ("HistogramALP, width 1", lambda s: HistogramALP(s=s, **shape)),
        ("HistogramALP, width 4", lambda s: HistogramALP(s=s, **shape, width=4)),
    ]
    for name, make in contestants:
        mechanism = make(array // make(3 * k).levels)
        errors = [
            np.abs(mechanism.project(entries, SystemSource()).estimate(present + empty) - truth)
            for _ in range(10)
        ]
        _show(name, np.mean(errors, axis=0), k)
    theirs = opendp(entries, factor)
    if theirs is not None:
        peer_errors = []
        for _ in range(2):
            queryable = theirs()
            answers = np.array([queryable(i) for i in present + empty], float)
            peer_errors.append(np.abs(answers - truth))
        _show("opendp, alpha = 4", np.mean(peer_errors, axis=0), k)


def _show(name: str, errors: Any, k: int) -> None:
    of_all, rest = errors[:k].mean(), errors[k:].mean()
    print(f"  {name:22} entries {of_all:6.3f}   empty places {rest:6.3f}")


def setup() -> None:
    """The exact epsilon is solved for."""
    spent = seconds(lambda: ALP(d=2**64, k=K, s=10 * K, largest=LARGEST, epsilon=1).levels)
    print(f"\nSetting up the parameters: {spent:.4f} s")


def main() -> None:
    projecting()
    querying()
    randomness()
    error()
    setup()


if __name__ == "__main__":
    main()
