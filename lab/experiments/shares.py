"""Distributions that the local experiments draw users from, and states of many users."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from exactdp.local import FrequencyOracle, LocalMechanism, State, SubsetSelection
from exactdp.local.bulk_choices import own_bits
from exactdp.local.report_formats import BitVector
from exactdp.local.unary_encoding import UnaryEncoding
from exactdp.samplers import SeededSource

__all__ = ["PAPER", "exchanged", "geometric", "l1", "states", "uniform", "words"]


#: Reports that are in memory at once.
_TOGETHER = 10_000


def geometric(share: float, k: int) -> Any:
    """p(i) proportional to (1 - share)^i share."""
    weights = share * (1 - share) ** np.arange(k, dtype=float)
    return weights / weights.sum()


def uniform(s: int, k: int) -> Any:
    """1/s on s values spread over the alphabet."""
    p = np.zeros(k)
    p[np.linspace(0, k - 1, s).astype(int)] = 1 / s
    return p


def words(k: int) -> Any:
    """The shares of the k most frequent English words, as the wordfreq package has them."""
    from wordfreq import get_frequency_dict

    frequencies = np.sort(list(get_frequency_dict("en", "small").values()))[::-1][:k]
    return frequencies / frequencies.sum()


#: Name -> (distribution on k values, sparsity that the paper hands to the recovery).
PAPER = {
    "Geo(0.8)": (lambda k: geometric(0.8, k), 2),
    "Geo(0.6)": (lambda k: geometric(0.6, k), 3),
    "Unif(10)": (lambda k: uniform(10, k), 10),
    "Unif(25)": (lambda k: uniform(25, k), 25),
}


def states(mechanism: LocalMechanism[int], p: Any, sizes: list[int], seed: int) -> Iterator[State]:
    """The states of ever more users drawn from p, at ascending numbers of users.

    Users report through the client, but for reports of one bit per value: their sums over users are
    independent binomials, and are drawn as such.
    """
    rng, source = np.random.default_rng(seed), SeededSource(seed)
    state = mechanism.aggregate()
    for size in sizes:
        values = rng.choice(len(p), size - state.n, p=p)
        if isinstance(mechanism, UnaryEncoding):
            more = _summed(mechanism, np.bincount(values, minlength=len(p)), rng)
            state = state + State(mechanism, more, len(values))
        else:
            state.add(mechanism.draw_many(values, source))
        yield state


def exchanged(
    mechanism: SubsetSelection, laws: dict[str, Any], sizes: list[int], seed: int
) -> Iterator[dict[str, State]]:
    """The states of several laws at once; users of all laws share their random sets.

    Every user reports through the client as if the value were 0. The mechanism treats all values
    alike, so exchanging bit 0 and bit v of a report gives a report of value v with its exact law.
    """
    assert isinstance(mechanism.form, BitVector)
    rng, source = np.random.default_rng(seed), SeededSource(seed)
    states = {law: mechanism.aggregate() for law in laws}
    done = 0
    for size in sizes:
        for start in range(done, size, _TOGETHER):
            n = min(_TOGETHER, size - start)
            reports = mechanism.draw_many(np.zeros(n, np.int64), source)
            sums = mechanism.aggregate().add(reports).counts
            for law, p in laws.items():
                values = rng.choice(len(p), n, p=p)
                gained = own_bits(reports, values * 0).astype(int) - own_bits(reports, values)
                counts = sums.copy()
                counts[0] -= gained.sum()
                np.add.at(counts, values, gained)
                states[law] = states[law] + State(mechanism, counts, n)
        done = size
        yield dict(states)


def _summed(mechanism: UnaryEncoding, own: Any, rng: np.random.Generator) -> Any:
    kept, background = float(mechanism.kept), float(mechanism.background)
    return rng.binomial(own, kept) + rng.binomial(own.sum() - own, background)


def l1(mechanism: LocalMechanism[int], state: State, p: Any, method: str) -> float:
    """The l1 distance of an estimate from the distribution."""
    assert isinstance(mechanism, FrequencyOracle)
    return float(np.abs(state.estimate(method) - p).sum())
