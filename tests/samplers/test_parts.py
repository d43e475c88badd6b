"""Draws in bulk: every place is filled once, and seeded draws stay as they were."""

from __future__ import annotations

import hashlib
import os
from itertools import pairwise

import numpy as np
import pytest

from exactdp.samplers import (
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    SeededSource,
    SystemSource,
    UniformInteger,
)
from exactdp.samplers.integer_law import IntegerLaw, slices


def test_draws_count_the_bits_that_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exactdp.samplers.integer_law._AT_ONCE", 1 << 12)
    read, urandom = list[int](), os.urandom

    def counted(size: int) -> bytes:
        read.append(size)
        return urandom(size)

    monkeypatch.setattr(os, "urandom", counted)
    source = SystemSource()
    DiscreteGaussian(sigma2=10**20).sample_many(100_000, source)
    left = 1 << 16  # what the pool may hold
    assert 40 * 100_000 <= source.bits_used <= 8 * sum(read) <= source.bits_used + 8 * left


def test_each_part_lands_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left out (draws of 2^48 apart are all different)."""
    monkeypatch.setattr("exactdp.samplers.integer_law._AT_ONCE", 100)
    marked = np.iinfo(np.int64).max
    values = np.full(20_050, marked)
    noise = DiscreteGaussian(sigma2=2**108)
    noise._sampler.fill(values, SystemSource())
    assert marked not in values
    assert len(set(values.tolist())) == len(values)
    assert [b.start - a.stop for a, b in pairwise(slices(20_050))] == [0] * 200


#: What earlier versions drew: a hash of the draws, and the bits.
SEEDED: dict[IntegerLaw, tuple[str, int]] = {
    DiscreteGaussian(sigma2=100): ("1e385a4f4b4362bc3a6e56fbb20fd34c", 2403136),
    DiscreteGaussian(sigma2=10**10): ("8992e7021c084c400ae724a66bed9b94", 3728392),
    DiscreteGaussian(sigma2=10**20): ("f7f8ea480c9a8fce2f95dfba34d25adf", 6159848),
    DiscreteGaussian(sigma2=10**30): ("b7a98d67c30beaf16653cf634adb60b6", 8620632),
    DiscreteLaplace(scale=10**10): ("1f865d68852c38ad26164add05122e5c", 6244936),
    Geometric(p="1/1000"): ("c96b1dd69473def2228fd8fb7368b9ec", 3752984),
    UniformInteger(-5, 10**6): ("2db53cda4f7838956dc7b2a312433add", 3772632),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("noise", SEEDED, ids=str)
def test_seeded_draws_stay_as_they_were(noise: IntegerLaw) -> None:
    source = SeededSource(7)
    noises = noise.sample_many(150_000, source).tobytes() + noise.sample_many(5, source).tobytes()
    assert (hashlib.sha256(noises).hexdigest()[:32], source.bits_used) == SEEDED[noise]
