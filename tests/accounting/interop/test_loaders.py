"""Losses read from data loaders: stand-ins with the names and attributes of the libraries."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from exactdp.accounting import pld
from exactdp.accounting.interop import loaders
from exactdp.errors import InvalidParameter

NOISE = pld.gaussian(sigma=2)


def _instance(kind: str, **attributes: Any) -> Any:
    return type(kind, (SimpleNamespace,), {})(**attributes)


def _torch(**inner: Any) -> Any:
    return _instance("DataLoader", **inner)


OPACUS = _instance("UniformWithReplacementSampler", sample_rate=0.01)


@pytest.mark.parametrize(
    ("loader", "arguments", "known"),
    [
        (_torch(batch_sampler=OPACUS, sampler=None), {"steps": 7}, NOISE.sampled("0.01")),
        (
            _instance("DistributedUniformWithReplacementSampler", sample_rate=0.25),
            {"steps": 7},
            NOISE.sampled("0.25"),
        ),
        (
            _instance(
                "CyclicPoissonSampling",
                sampling_prob=0.1,
                iterations=7,
                truncated_batch_size=None,
                cycle_length=1,
            ),
            {},
            NOISE.sampled("0.1"),
        ),
        (
            _instance(
                "CyclicPoissonSampling",
                sampling_prob=0.1,
                iterations=7,
                truncated_batch_size=30,
                cycle_length=1,
            ),
            {"users": 200},
            NOISE.sampled("0.1", batch_limit=30, users=200),
        ),
        (
            _instance("FixedBatchSampling", batch_size=5, iterations=7, replace=False),
            {"users": 60},
            NOISE.batched("1/12"),
        ),
    ],
)
def test_schemes_that_are_accounted_for(loader: Any, arguments: Any, known: pld.Pld) -> None:
    assert loaders.sgd(loader, noise_multiplier=2.0, **arguments) == known.composed(7)


def test_a_bin_that_is_kept_is_one_mechanism() -> None:
    """Nine rounds of four bins: a record takes part two or three times."""
    bins = _instance("BallsInBinsSampling", iterations=9, cycle_length=4)
    known = pld.together(NOISE.composed(3)).allocated(4)
    assert loaders.sgd(bins, noise_multiplier=2) == known


CYCLES = _instance(
    "CyclicPoissonSampling",
    sampling_prob=1,
    iterations=8,
    truncated_batch_size=None,
    cycle_length=4,
)


@pytest.mark.parametrize(
    ("loader", "arguments", "said"),
    [
        (_torch(batch_sampler=None, sampler=_instance("RandomSampler")), {"steps": 1}, "shuffled"),
        (
            _torch(
                batch_sampler=_instance("BatchSampler", sampler=_instance("WeightedRandomSampler"))
            ),
            {"steps": 1},
            "one probability",
        ),
        (_instance("Mine"), {"steps": 1}, "one of"),
        (OPACUS, {}, "does not state"),
        (CYCLES, {}, "cycle_length 1"),
        (_instance("FixedBatchSampling", batch_size=5, iterations=7, replace=True), {}, "replace"),
        (_instance("FixedBatchSampling", batch_size=5, iterations=7, replace=False), {}, "users"),
        (_instance("BallsInBinsSampling", iterations=9, cycle_length=4), {"steps": 9}, "left out"),
    ],
)
def test_other_loaders_are_refused(loader: Any, arguments: Any, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        loaders.sgd(loader, noise_multiplier=2, **arguments)
