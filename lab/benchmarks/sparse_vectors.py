"""Sparse vectors in the local model: decoding by one transform against evaluating hash functions.

Run: python -m lab.benchmarks.sparse_vectors [--users-on-dask 10000000]
n = 10^5 users with k = 64 values out of d = 10^5 items; errors of both families against the exact
formula; ten million users as states that Dask's workers merge.
"""

from __future__ import annotations

import argparse
import statistics
from time import perf_counter, process_time

import numpy as np

from exactdp.local import Entries, SparseVectorMean, State
from exactdp.samplers import SystemSource
from lab.benchmarks.timing import seconds

N, D, K = 100_000, 100_000, 64

#: Users whose reports the keyed family decodes at all items; its time is linear in users.
KEYED_USERS = 60


def entries(n: int, seed: int, k: int = K, d: int = D) -> Entries:
    """k distinct items per user, and values like ratings."""
    rng = np.random.default_rng(seed)
    steps = np.cumsum(rng.integers(1, d // k, (n, k)), axis=1)
    item = np.sort((rng.integers(0, d, (n, 1)) + steps) % d, axis=1)
    value = np.clip(rng.normal(1, 0.3, n * k), -1, 1)
    return Entries(n, np.repeat(np.arange(n), k), item.ravel(), value)


def true_means(values: Entries, d: int = D) -> np.ndarray:
    """The means that are estimated."""
    return np.bincount(values.item, values.floats, d) / values.n


def decode(m: SparseVectorMean, reports: np.ndarray) -> np.ndarray:
    """All that a server does: from reports to the means of all items."""
    values: np.ndarray = m.aggregate().add(reports).estimate().values
    return values


def decoding(level: str) -> None:
    """One transform against the keyed family, at the same bins."""
    source, values = SystemSource(), entries(N, 1)
    linear = SparseVectorMean(d=D, k=K, epsilon=1, level=level)
    keyed = SparseVectorMean(d=D, k=K, epsilon=1, level=level, hashes="keyed")
    start = perf_counter()
    reports = linear.report_many(values, source)
    report_time = perf_counter() - start
    fast = statistics.median(
        seconds(lambda: decode(linear, reports), process_time) for _ in range(5)
    )
    few = keyed.report_many(entries(KEYED_USERS, 2), source)
    slow = seconds(lambda: decode(keyed, few), process_time) * N / KEYED_USERS
    square_error = ((decode(linear, reports) - true_means(values)) ** 2).mean()
    print(
        f"{level} level: b = {linear.plan.bins}, clip = {linear.plan.clip}, grid {linear.plan.grid}"
    )
    print(
        f"  a report                {linear.bits:6} bits, {(linear.bits + 7) // 8} bytes"
        f"   (keyed: {(keyed.bits + 7) // 8} bytes; the paper's: {5 + 4 * linear.plan.bins})"
    )
    print(f"  reporting, all users    {report_time:8.2f} s")
    print(f"  decoding, one transform {fast:8.3f} CPU s")
    print(
        f"  decoding, keyed         {slow:8.0f} CPU s   {slow / fast:8.0f} x"
        f"   (from {KEYED_USERS} users)"
    )
    print(
        f"  mean square error       {square_error:.5g}   worst case predicted"
        f" {float(linear.plan.mean_square(N)):.5g}"
    )


def errors(n: int = 4000, k: int = 32) -> None:
    """Mean square error over all items, both families: at event level the formula is exact."""
    source, values = SystemSource(), entries(n, 3, k)
    truth = true_means(values)
    bins = SparseVectorMean(d=D, k=k, epsilon=1, level="event").plan.bins
    # D nearly normal errors, made of n b squares of noise with a relative variance of 5 each:
    # alpha = 1e-6 at 4.9 deviations
    allowed = 4.9 * (2 / D + 5 / (n * bins)) ** 0.5
    print(f"errors at event level, n = {n}, k = {k}, alpha = 1e-6: within {allowed:.4f} of 1")
    for hashes in ("linear", "keyed"):
        m = SparseVectorMean(d=D, k=k, epsilon=1, level="event", hashes=hashes)
        scaled = np.abs(values.floats) * m.plan.grid
        part = scaled - np.floor(scaled)
        own = part * (1 - part) / m.plan.grid**2  # variance of rounding
        squares = (values.floats**2 + own).sum()
        expected = (
            float(m.plan.noise) + (squares * (1 - 1 / D) / m.plan.bins + own.sum() / D) / n
        ) / n
        mse = ((decode(m, m.report_many(values, source)) - truth) ** 2).mean()
        verdict = "as expected" if abs(mse / expected - 1) <= allowed else "NOT AS EXPECTED"
        print(f"  {hashes:7} {mse:.6g}   formula {expected:.6g}   {mse / expected:.4f}  {verdict}")


def clipping(n: int = 20_000) -> None:
    """How often clipping bites at user level, by both families: it needs more than pairs."""
    source, values = SystemSource(), entries(n, 4)
    for hashes in ("linear", "keyed"):
        m = SparseVectorMean(d=D, k=K, epsilon=1, level="user", hashes=hashes)
        scaled = m._checked(values)
        functions = m.family.draw(n, source)
        _, sign = m.family.places(functions[scaled.user], scaled.item)
        sums = np.bincount(scaled.user, sign * scaled.rounded(source), n)
        bites = float((np.abs(sums) > (m.plan.clip or 0)).mean())
        print(
            f"  {hashes:7} |bin| > {(m.plan.clip or 0) / m.plan.grid} in {bites:.4%} of {n} reports"
        )


def part_of(m: SparseVectorMean, n: int, seed: int) -> tuple[bytes, np.ndarray]:
    """One worker's share: n users report and are forgotten."""
    state, total = m.aggregate(), np.zeros(m.d)
    source = SystemSource()
    for start in range(0, n, 50_000):
        size = min(50_000, n - start)
        values = entries(size, seed + start, m.k, m.d)
        state.add(m.report_many(values, source))
        total += true_means(values, m.d) * size
    return state.to_bytes(), total


def on_dask(n: int) -> None:
    """States of constant size, made on two workers and merged."""
    from distributed import Client, as_completed

    m = SparseVectorMean(d=D, k=8, epsilon=1, level="event")
    parts = 20
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        start = perf_counter()
        futures = [
            client.submit(part_of, m, n // parts, 10**9 * i, pure=False) for i in range(parts)
        ]
        state: State = m.aggregate()
        truth, size = np.zeros(D), 0
        for future in as_completed(futures):
            data, total = future.result()
            future.release()
            state, truth, size = state + m.state_from_bytes(data), truth + total, len(data)
        took = perf_counter() - start
    square_error = ((state.estimate().values - truth / n) ** 2).mean()
    bound = float(m.plan.mean_square(n))
    print(f"{n} users on two workers, k = 8: {took:.0f} s, every state {size / 2**20:.2f} MiB")
    print(
        f"  {state.n} reports, mean square error {square_error:.4g}, at most {bound:.4g} expected"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users-on-dask", type=int, default=1_000_000)
    arguments = parser.parse_args()
    for level in ("event", "user"):
        decoding(level)
    errors()
    print("clipping at user level")
    clipping()
    on_dask(arguments.users_on_dask)


if __name__ == "__main__":
    main()
