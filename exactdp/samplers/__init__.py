"""Exact samplers of noise from uniform random bits; each sampler has an exact law."""

from typing import TYPE_CHECKING

from exactdp.lazy import lazily

if TYPE_CHECKING:
    from exactdp.samplers.bernoulli import (
        Bernoulli,
        BernoulliExp,
        BinaryRandomizedResponse,
        UniformInteger,
        random_rounding,
    )
    from exactdp.samplers.cdf import RationalCdf, RealCdf
    from exactdp.samplers.count_samplers import GeometricSample, GeoSample
    from exactdp.samplers.discrete_gaussian import DiscreteGaussian
    from exactdp.samplers.enumeration import EnumeratingSource, exact_law
    from exactdp.samplers.fast_sample import FastSample
    from exactdp.samplers.geometric import DiscreteLaplace, Geometric, TwoSidedGeometric
    from exactdp.samplers.order_statistics import OrderStatistics
    from exactdp.samplers.rounded_order_statistics import RoundedOrderStatistics
    from exactdp.samplers.seeded import RecordingSource, ReplaySource, SeededSource
    from exactdp.samplers.source import Source
    from exactdp.samplers.system import SystemSource

__all__ = [
    "Bernoulli",
    "BernoulliExp",
    "BinaryRandomizedResponse",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "EnumeratingSource",
    "FastSample",
    "GeoSample",
    "Geometric",
    "GeometricSample",
    "OrderStatistics",
    "RationalCdf",
    "RealCdf",
    "RecordingSource",
    "ReplaySource",
    "RoundedOrderStatistics",
    "SeededSource",
    "Source",
    "SystemSource",
    "TwoSidedGeometric",
    "UniformInteger",
    "exact_law",
    "random_rounding",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "bernoulli": "Bernoulli BernoulliExp BinaryRandomizedResponse UniformInteger "
        "random_rounding",
        "count_samplers": "GeometricSample GeoSample",
        "fast_sample": "FastSample",
        "discrete_gaussian": "DiscreteGaussian",
        "enumeration": "EnumeratingSource exact_law",
        "geometric": "DiscreteLaplace Geometric TwoSidedGeometric",
        "cdf": "RationalCdf RealCdf",
        "order_statistics": "OrderStatistics",
        "seeded": "RecordingSource ReplaySource SeededSource",
        "source": "Source",
        "rounded_order_statistics": "RoundedOrderStatistics",
        "system": "SystemSource",
    },
)
