"""Do the errors that releases state hold? Every mechanism, by many releases of the same counts.

Run: python -m tests.frames.errors [RELEASES]   (10 000: some minutes of the processor)
Stated: a bound that holds with probability 95 %, or the number of users from which a key is
released with probability 1/2. A line is wrong if more releases are beyond it than chance explains
(five standard deviations).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from tabulate import tabulate

from exactdp.frames.candidates import SELECTIONS, Target, mechanism_for, selection_for
from exactdp.frames.values import Sum
from exactdp.mechanisms import TopK, TopKWithBase
from exactdp.mechanisms.key_sets import Pairs
from exactdp.mechanisms.thresholded.histogram_with_sums import WithSums
from exactdp.samplers import DiscreteGaussian, SeededSource

_BETA, _KEYS, _K = 0.05, 12, 5
_PAIR: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}
_LIMITS = {"amount": Sum(-10, 10, of="sums")}

#: Title -> mechanism and target of a release of counts.
COUNTS = {
    "gshm": ("gshm", Target(**_PAIR, k=_K)),
    "gshm, 30 releases": ("gshm", Target(**_PAIR, k=_K, times=30)),
    "gshm with sums": ("gshm", Target(**_PAIR, k=_K, values=_LIMITS)),
    "known": ("known-keys", Target(**_PAIR, k=_K, listed=_KEYS)),
    "correlated": ("correlated-gaussian", Target(**_PAIR, k=_K, listed=_KEYS)),
    "top-k-with-base": ("top-k-with-base", Target(**_PAIR, top=_K)),
    "csh": ("top-k", Target(**_PAIR, top=_K)),
    "csh with sums": ("top-k", Target(**_PAIR, top=_K, values=_LIMITS)),
}

#: What is stated, the bound, and the errors of all releases.
Errors = tuple[str, int, list[float]]


def of_counts(title: str, releases: int, source: SeededSource) -> Iterator[Errors]:
    """One count fixed in advance, all counts at once, and one sum; at the least counts allowed."""
    name, target = COUNTS[title]
    mechanism, _ = mechanism_for(name, target)
    largest = isinstance(
        mechanism, TopK
    )  # of which others are the (k + 1)-th largest count, and less
    number = _K if largest else _KEYS
    accuracy = mechanism.accuracy(str(_BETA), number)
    base = 70 if largest else 0
    counts = {
        f"a{i:02}": base + max(accuracy.per_query_above, 0) + 1 + 9 * i for i in range(number)
    }
    true = {**counts, **({f"b{i}": base - i for i in range(_KEYS - _K)} if largest else {})}
    less = base if largest and not isinstance(mechanism, TopKWithBase) else 0
    one: list[float] = []
    every: list[float] = []
    of_sums: list[float] = []
    for _ in range(releases):
        if isinstance(mechanism, WithSums):
            noisy = mechanism.noisy_sums(true, {x: (n,) for x, n in true.items()}, source)
            rows = zip(noisy.elements, noisy.sums[0], strict=True)
            of_sums += [abs(total - true[x]) for x, total in rows]
        else:
            noisy = mechanism.noisy_counts(true, source)
        seen = dict(zip(noisy.elements, map(float, noisy.counts()), strict=True))
        errors = [abs(seen.get(x, 0.0) - (n - less)) for x, n in counts.items()]
        one.append(errors[0])
        every.append(max(errors))
    yield "one count", accuracy.per_query, one
    yield f"{number} counts", accuracy.simultaneous, every
    if isinstance(mechanism, WithSums):
        yield "one sum", mechanism.sum_errors(str(_BETA))[0], of_sums


def of_selected_counts(kind: str, releases: int, source: SeededSource) -> Iterator[Errors]:
    """Counts of selected keys: the noise alone, by its quantile."""
    mechanism, _ = mechanism_for("auto", Target(**_PAIR, k=_K, selection=kind))
    users = 20 * mechanism.half
    pairs, named = Pairs.of({u: ["a", "b"] for u in range(users)})
    numbers = mechanism.select(pairs, len(named), source)
    counts = np.array([mechanism.count_users(pairs, numbers, source) for _ in range(releases)])
    noise = DiscreteGaussian(sigma2=mechanism.count_sigma**2)
    yield "one count", noise.quantile(1 - _BETA / 2), np.abs(counts[:, 0] - users).tolist()


def half_of(kind: str, releases: int, source: SeededSource) -> tuple[int, float]:
    """The number of users of a key that is released with probability 1/2; the observed share.

    Every user has k keys, and nobody else has one of them.
    """
    mechanism, _ = selection_for(kind, k=_K, **_PAIR)
    if kind == "geometric":
        released = [bool(mechanism.draw({"a": mechanism.half}, source)) for _ in range(releases)]
        return mechanism.half, sum(released) / releases
    groups = 50  # of keys, whose users are all different
    pairs, named = Pairs.of(
        {
            group * mechanism.half + user: [group * _K + i for i in range(_K)]
            for group in range(groups)
            for user in range(mechanism.half)
        }
    )
    runs = -(-releases // (groups * _K))
    released = [len(mechanism.select(pairs, len(named), source)) for _ in range(runs)]
    return mechanism.half, sum(released) / (runs * groups * _K)


def main() -> None:
    """All mechanisms, a line each."""
    releases = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    source, rows, wrong = SeededSource(2026), [], []
    spread = 5 * (_BETA * (1 - _BETA) / releases) ** 0.5
    by_title = {title: of_counts(title, releases, source) for title in COUNTS}
    by_title |= {
        f"{kind}, counts": of_selected_counts(kind, releases, source)
        for kind in SELECTIONS
        if kind != "geometric"
    }
    for title, lines in by_title.items():
        for what, bound, errors in lines:
            beyond = float(np.mean(np.array(errors) > bound))
            quantile = float(np.quantile(errors, 1 - _BETA))
            rows.append([title, what, f"<= {bound}", f"{quantile:g}", f"{100 * beyond:.2f} %"])
            wrong += [rows[-1]] * (beyond > _BETA + spread)
    print(tabulate(rows, ["mechanism", "error of", "stated (95 %)", "observed", "beyond"]))
    halves = [[kind, *half_of(kind, releases, source)] for kind in SELECTIONS]
    print(tabulate(halves, ["keys by", "users for 1/2", "share released"]))
    wrong += [row for row in halves if row[2] < 0.5 - 2.5 / releases**0.5]
    assert not wrong, wrong


if __name__ == "__main__":
    main()
