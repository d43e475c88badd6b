from exactdp.samplers.bernoulli import Bernoulli as Bernoulli
from exactdp.samplers.bernoulli import BernoulliExp as BernoulliExp
from exactdp.samplers.bernoulli import BinaryRandomizedResponse as BinaryRandomizedResponse
from exactdp.samplers.bernoulli import UniformInteger as UniformInteger
from exactdp.samplers.bernoulli import random_rounding as random_rounding
from exactdp.samplers.cdf import RationalCdf as RationalCdf
from exactdp.samplers.cdf import RealCdf as RealCdf
from exactdp.samplers.count_samplers import GeometricSample as GeometricSample
from exactdp.samplers.count_samplers import GeoSample as GeoSample
from exactdp.samplers.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
from exactdp.samplers.enumeration import EnumeratingSource as EnumeratingSource
from exactdp.samplers.enumeration import exact_law as exact_law
from exactdp.samplers.fast_sample import FastSample as FastSample
from exactdp.samplers.geometric import DiscreteLaplace as DiscreteLaplace
from exactdp.samplers.geometric import Geometric as Geometric
from exactdp.samplers.geometric import TwoSidedGeometric as TwoSidedGeometric
from exactdp.samplers.order_statistics import OrderStatistics as OrderStatistics
from exactdp.samplers.rounded_order_statistics import (
    RoundedOrderStatistics as RoundedOrderStatistics,
)
from exactdp.samplers.seeded import RecordingSource as RecordingSource
from exactdp.samplers.seeded import ReplaySource as ReplaySource
from exactdp.samplers.seeded import SeededSource as SeededSource
from exactdp.samplers.source import Source as Source
from exactdp.samplers.system import SystemSource as SystemSource
