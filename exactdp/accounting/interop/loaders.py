"""The privacy loss of training on the batches that a data loader draws.

The scheme is read from the loader: samplers of Opacus, and batch selections of jax_privacy, which
need not be installed. A loader of another kind is refused: an accountant for Poisson samples gives
a wrong epsilon for shuffled data (opacus #80, #813; tensorflow/privacy #483).
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

from exactdp.accounting import pld
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import Real, integer, rational

__all__ = ["sgd"]

_SHUFFLED = (
    "one whose batches are accounted for: in shuffled data the other records move when one leaves, "
    "and epsilon of Poisson samples does not hold. Opacus' DPDataLoader draws Poisson samples"
)
_WEIGHTED = "one that draws all records with one probability"
_CYCLIC = "one with cycle_length 1, or BallsInBinsSampling"

#: Samplers of PyTorch -> what is allowed instead.
_REFUSED = {
    "RandomSampler": _SHUFFLED,
    "SequentialSampler": _SHUFFLED,
    "DistributedSampler": _SHUFFLED,
    "WeightedRandomSampler": _WEIGHTED,
    "SubsetRandomSampler": _SHUFFLED,
}

#: Attributes of a loader that may hold the sampler that draws its batches.
_INNER = ("batch_sampler", "sampler")


def sgd(
    loader: object,
    *,
    noise_multiplier: Real,
    steps: int | None = None,
    users: int | None = None,
) -> pld.Pld:
    """The loss of DP-SGD on the batches of a loader.

    loader: a data loader or sampler of Opacus or PyTorch, or a batch selection of jax_privacy.
    noise_multiplier: standard deviation over clipping norm, > 0. steps: number of steps, >= 1; left
    out where the loader states it. users: number of records, where batches have a largest or a
    fixed size (jax_privacy). Neighbours: add-remove; replace-one for batches of a fixed size.
    Raises InvalidParameter for loaders whose batches have no certified loss.
    """
    sampler = _inner(loader)
    kind = type(sampler).__name__
    if kind in _REFUSED:
        raise InvalidParameter("loader", Described(kind), _REFUSED[kind])
    if kind not in _READERS:
        allowed = "one of " + ", ".join(_READERS)
        raise InvalidParameter("loader", Described(kind), allowed)
    noise = pld.gaussian(sigma=rational("noise_multiplier", noise_multiplier))
    stated: int | None = getattr(sampler, "iterations", None)
    if (stated is None) == (steps is None):
        where = "given, as the loader does not state it" if stated is None else "left out"
        raise InvalidParameter("steps", Described("none" if steps is None else "a number"), where)
    count = integer("steps", stated or steps or 0, least=1)
    return _READERS[kind](sampler, noise, count, users)


def _inner(loader: object) -> Any:
    """The sampler that draws the batches of a loader."""
    for name in _INNER:
        inner = getattr(loader, name, None)
        if inner is not None:
            return _inner(inner)
    return loader


def _opacus(sampler: Any, noise: pld.Pld, steps: int, users: int | None) -> pld.Pld:
    return noise.sampled(rational("sample_rate", sampler.sample_rate)).composed(steps)


def _cyclic(selection: Any, noise: pld.Pld, steps: int, users: int | None) -> pld.Pld:
    if selection.cycle_length != 1:
        raise InvalidParameter("loader", Described("CyclicPoissonSampling in cycles"), _CYCLIC)
    limit = selection.truncated_batch_size
    size = {} if limit is None else {"batch_limit": limit, "users": _read_users(users)}
    return noise.sampled(rational("sampling_prob", selection.sampling_prob), **size).composed(steps)


def _bins(selection: Any, noise: pld.Pld, steps: int, users: int | None) -> pld.Pld:
    """A record keeps its bin in all cycles, so all rounds of one bin are one mechanism."""
    bins = integer("cycle_length", selection.cycle_length, least=1)
    return pld.together(noise.composed(ceil(steps / bins))).allocated(bins)


def _fixed(selection: Any, noise: pld.Pld, steps: int, users: int | None) -> pld.Pld:
    if selection.replace:
        raise InvalidParameter("loader", Described("batches with replacement"), "replace=False")
    size = integer("batch_size", selection.batch_size, least=1)
    return noise.batched(rational("rate", f"{size}/{_read_users(users)}")).composed(steps)


def _read_users(users: int | None) -> int:
    if users is None:
        raise InvalidParameter("users", Described("none"), "given, for batches of a limited size")
    return integer("users", users, least=1)


#: Class name of a sampler -> the function that computes its privacy loss.
_READERS: dict[str, Callable[[Any, pld.Pld, int, int | None], pld.Pld]] = {
    "UniformWithReplacementSampler": _opacus,
    "DistributedUniformWithReplacementSampler": _opacus,
    "CyclicPoissonSampling": _cyclic,
    "BallsInBinsSampling": _bins,
    "FixedBatchSampling": _fixed,
}
