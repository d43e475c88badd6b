"""The local model: reports and aggregation against pure-ldp and multi-freq-ldpy, and large runs.

Run: python -m lab.benchmarks.local. The peers need pip install 'exactdp[peers]' 'xxhash<4'; those
that are missing are left out. They are timed on fewer users, as they take longer; ratios are per
report, and of processor time, all on one thread. Ours draw from the operating system, theirs from a
Mersenne Twister.
"""

from __future__ import annotations

import math
import os
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from exactdp.local import (
    CompressiveResponse,
    HadamardResponse,
    LocalMechanism,
    OptimizedLocalHashing,
    OptimizedUnaryEncoding,
    RandomizedResponse,
    SubsetSelection,
)
from exactdp.samplers import SystemSource
from lab.benchmarks.timing import interleaved, seconds

SOURCE = SystemSource()
EPSILON = 1.0

#: Pairs of (report of one value, aggregation of a list of reports).
Peer = tuple[Callable[[int], Any], Callable[[list[Any]], Any]]


def main() -> None:
    """Print ratios, then the large runs."""
    warnings.simplefilter("ignore")
    for k in (100, 1000):
        print(f"k = {k}, epsilon = {EPSILON:g}: time of a report, of aggregation and estimate")
        for ours, peers in contests(k):
            _contest(ours, peers, k)
    _large()


def contests(k: int) -> Iterator[tuple[LocalMechanism[int], dict[str, Peer]]]:
    """Our mechanisms, each with the same one in other libraries."""
    yield RandomizedResponse(k, 1), {**pure(k, "direct_encoding", "DE"), **multi(k, "GRR")}
    yield (
        OptimizedUnaryEncoding(k, 1),
        {
            **pure(k, "unary_encoding", "UE", use_oue=True),
            **multi(k, "UE"),
        },
    )
    yield HadamardResponse(k, 1), pure(k, "hadamard_response", "HR")
    yield SubsetSelection(k, 1), multi(k, "SS")
    yield OptimizedLocalHashing(k, 1), {**hashed(k)}


def pure(k: int, package: str, prefix: str, **options: Any) -> dict[str, Peer]:
    """A client and a server of pure-ldp."""
    try:
        module = import_module(f"pure_ldp.frequency_oracles.{package}")
    except ImportError as error:
        print(f"  pure-ldp: left out, {error}")
        return {}
    name = "HadamardResponse" if prefix == "HR" else prefix
    server = getattr(module, f"{name}Server")
    if prefix == "HR":
        client = module.HadamardResponseClient(EPSILON, k, None)
    else:
        client = getattr(module, f"{name}Client")(EPSILON, k, **options)

    def aggregate(reports: list[Any]) -> Any:
        aggregator = server(EPSILON, k, **options)
        for report in reports:
            aggregator.aggregate(report)
        return aggregator.estimate(1, suppress_warnings=True)

    return {"pure-ldp": (lambda value: client.privatise(value + 1), aggregate)}


def multi(k: int, name: str) -> dict[str, Peer]:
    """A compiled client and an aggregator of multi-freq-ldpy."""
    try:
        module = import_module(f"multi_freq_ldpy.pure_frequency_oracles.{name}")
    except ImportError as error:
        print(f"  multi-freq-ldpy: left out, {error}")
        return {}
    report = getattr(module, f"{name}_Client")
    collect = getattr(module, f"{name}_Aggregator_MI")
    if name == "UE":
        return {"multi-freq-ldpy": (lambda x: report(x, k, EPSILON), lambda r: collect(r, EPSILON))}
    return {"multi-freq-ldpy": (lambda x: report(x, k, EPSILON), lambda r: collect(r, k, EPSILON))}


def hashed(k: int) -> dict[str, Peer]:
    """Local hashing of both, where the xxhash that is installed still takes their texts."""
    peers = {}
    for name, peer in (
        ("pure-ldp", pure(k, "local_hashing", "LH", use_olh=True)),
        ("multi-freq-ldpy", multi(k, "LH")),
    ):
        for pair in peer.values():
            try:
                pair[0](0)
            except TypeError:
                print(f"  {name}: local hashing fails with this version of xxhash")
            else:
                peers[name] = pair
    return peers


def _contest(ours: LocalMechanism[int], peers: dict[str, Peer], k: int) -> None:
    n, few = (100_000 if ours.bits >= k else 200_000), 300
    values = np.random.default_rng(1).integers(0, k, n)
    reports = ours.report_many(values, SOURCE)
    runs: dict[str, Callable[[], object]] = {
        "ours report": partial(ours.report_many, values, SOURCE),
        "ours aggregate": lambda: ours.aggregate().add(reports).estimate(),
    }
    for name, (report, aggregate) in peers.items():
        theirs = [report(int(x)) for x in values[:few]]
        runs[f"{name} report"] = lambda report=report: [report(int(x)) for x in values[:few]]
        runs[f"{name} aggregate"] = partial(aggregate, theirs)
    times = interleaved(runs, rounds=5, clock=time.process_time)
    each = {name: t / (n if name.startswith("ours") else few) for name, t in times.items()}
    each |= {
        f"{name} both": each[f"{name} report"] + each[f"{name} aggregate"]
        for name in ("ours", *peers)
    }
    for step in ("report", "aggregate", "both"):
        columns = [f"ours {each[f'ours {step}'] * 1e9:8.0f} ns"]
        for name in peers:
            ratio = each[f"{name} {step}"] / each[f"ours {step}"]
            columns.append(f"{name} {each[f'{name} {step}'] * 1e9:9.0f} ns = {ratio:7.0f} x")
        print(f"  {type(ours).__name__:24} {step:10} {'   '.join(columns)}")
    if entropy := _entropy(ours):
        _floor(entropy, each, list(peers))


def _floor(entropy: float, each: dict[str, float], peers: list[str]) -> None:
    """The system's randomness sets a limit: a report takes its entropy to read, at the least."""
    size = 1 << 16
    reading = interleaved({"read": partial(os.urandom, size)}, 50, time.process_time)["read"]
    least = entropy / 8 * reading / size
    limits = ", ".join(f"{name} {each[f'{name} report'] / least:.0f} x" for name in peers)
    share = least / each["ours report"]
    bits = f"{entropy:.1f} random bits, {least * 1e9:.1f} ns to read"
    print(f"    a report has {bits}: at most {limits}; {share:.0%} of it reached")


def _entropy(ours: LocalMechanism[int]) -> float | None:
    """Bits of entropy of a report, given the value, where that is a limit worth knowing."""
    if isinstance(ours, OptimizedUnaryEncoding):
        return (ours.k - 1) * _bit(float(ours.background)) + 1
    if isinstance(ours, SubsetSelection):
        own = float(ours.kept)
        sets = [math.log2(math.comb(ours.k - 1, int(ours.size or 0) - mine)) for mine in (0, 1)]
        return _bit(own) + (1 - own) * sets[0] + own * sets[1]
    if isinstance(ours, RandomizedResponse):
        own = float(ours.gain + ours.background)
        return _bit(own) + (1 - own) * math.log2(ours.k - 1)
    return None


def _bit(p: float) -> float:
    return -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def _large() -> None:
    n, k = 1_000_000, 10_000
    values = np.random.default_rng(2).choice([5, 77, 900, 9000], n, p=[0.4, 0.3, 0.2, 0.1])
    print(f"n = {n}, k = {k}, epsilon = 0.5, end to end: reports, state, estimate")
    for mechanism in (
        HadamardResponse(k, "0.5"),
        CompressiveResponse(k, 500, "0.5", seed=1),
        OptimizedLocalHashing(k, "0.5"),
    ):
        spent = seconds(partial(_end_to_end, mechanism, values))
        print(f"  {type(mechanism).__name__:24} {spent:6.2f} s, {mechanism.bits} bits a report")
    for users in (1000, n):
        state = HadamardResponse(k, "0.5").aggregate()
        state.add(state.mechanism.report_many(values[:users], SOURCE))
        size = len(state.to_bytes())
        print(f"  a state of {users:7} reports: {state.counts.nbytes} bytes, {size} in a file")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  peak memory of this process: {peak:.0f} MiB")


def _end_to_end(mechanism: LocalMechanism[int], values: Any) -> Any:
    return mechanism.aggregate().add(mechanism.report_many(values, SOURCE)).estimate("projected")


if __name__ == "__main__":
    main()
