"""Differentially private stochastic gradient descent: the loss of a training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.mechanisms import gaussian
from exactdp.errors import Described, InvalidParameter
from exactdp.parameters import Real, choice, integer, positive

if TYPE_CHECKING:
    from exactdp.accounting.pld.correlated import Strategy


def sgd(
    *,
    noise_multiplier: Real,
    rate: Real,
    steps: int | str,
    sampling: str = "poisson",
    neighbours: str = "add-remove",
    batch_limit: int | str | None = None,
    users: int | str | None = None,
    strategy: Strategy | None = None,
    bands: int | str | None = None,
) -> Pld:
    """The loss of DP-SGD: Gaussian noise on sums of clipped gradients over samples.

    noise_multiplier: standard deviation over clipping norm, > 0. rate: in (0, 1], the probability
    with which each user is in the sample of a step. steps: >= 1. sampling: "poisson", each user
    independently; "truncated", as before, but only a random part of at most batch_limit of the
    sample is kept (users: the number of users); "batches" of a fixed size, drawn without
    replacement for every step; or "allocated", each user to one of the 1/rate steps of every epoch
    (1/rate is an integer that divides steps).
    neighbours: "add-remove", or "replace-one", which batches need. strategy: of correlated noise,
    on Poisson samples from the `bands` parts of the users in turn, see :func:`sampled_matrix`; the
    noise multiplier is then that of z. See :meth:`Pld.sampled`,
    :meth:`Pld.replaced`, :meth:`Pld.batched`, :meth:`Pld.allocated`.

    >>> from exactdp.accounting import pld
    >>> print(format(pld.sgd(noise_multiplier=1, rate="0.01", steps=1000).epsilon("1e-5"), "5"))
    [1.8279, 1.8285]
    """
    replaces = choice("neighbours", neighbours, ("add-remove", "replace-one")) == "replace-one"
    sigma = positive("noise_multiplier", noise_multiplier)
    noise = gaussian(sigma=sigma)
    scheme = choice("sampling", sampling, ("poisson", "truncated", "batches", "allocated"))
    for name, size in (("batch_limit", batch_limit), ("users", users)):
        if scheme == "truncated" and size is None:
            raise InvalidParameter(name, Described("none"), "given for truncated samples")
        if scheme != "truncated" and size is not None:
            raise InvalidParameter("sampling", sampling, f"'truncated' where {name} is given")
    if strategy is not None:
        for name, value in (("sampling", scheme), ("neighbours", neighbours)):
            if value not in ("poisson", "add-remove"):
                allowed = "'poisson'" if name == "sampling" else "'add-remove'"
                raise InvalidParameter(name, value, f"{allowed} for correlated noise")
        from exactdp.accounting.pld.correlated import sampled_matrix

        parts = None if bands is None else integer("bands", bands, least=1)
        n = integer("steps", steps, least=1)
        return sampled_matrix(sigma=sigma, strategy=strategy, steps=n, rate=rate, bands=parts)
    if bands is not None:
        raise InvalidParameter("strategy", Described("none"), "given where bands are")
    if scheme == "allocated":
        if replaces:
            raise InvalidParameter("neighbours", neighbours, "'add-remove' for random allocation")
        epoch, count = 1 / positive("rate", rate), integer("steps", steps, least=1)
        if epoch.denominator > 1 or count % epoch:
            allowed = "1/t for random allocation to one of t steps, where t divides steps"
            raise InvalidParameter("rate", rate, allowed)
        return noise.allocated(int(epoch)).composed(count // int(epoch))
    if scheme == "batches":
        if not replaces:
            raise InvalidParameter("neighbours", neighbours, "'replace-one' for batches")
        step = noise.batched(rate)
    else:
        step = noise.sampled(rate, batch_limit=batch_limit, users=users)
        step = step.replaced() if replaces else step
    return step.composed(integer("steps", steps, least=1))
