"""The privacy loss of thresholded histograms, from their exact curves.

Upper bound: the curve of the worst neighbours at each epsilon. Lower bound: pairs of neighbours, or
limits of pairs: all counters shared, with the noise alone; all counters extra, with the threshold
alone; for the GSHM also half of each, which are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from exactdp.accounting import csh as csh_curve
from exactdp.accounting import gshm as gshm_curve
from exactdp.accounting.neighbours import changed_counters, sparse_counters
from exactdp.accounting.pld.loss import Pld
from exactdp.accounting.pld.losses.base import Step
from exactdp.accounting.pld.losses.curves import CurveLaw
from exactdp.accounting.pld.losses.finite import FiniteLaws
from exactdp.accounting.pld.losses.normal import Gaussian
from exactdp.accounting.sparse_histograms.bounds import without_k
from exactdp.accounting.sparse_histograms.csh_exact import noise_distance, threshold_only
from exactdp.balls import ball, enclosure, precision
from exactdp.enclosure import Enclosure
from exactdp.law import Law
from exactdp.parameters import Real, integer, non_negative, positive

_BITS = 128

_BOUND = "upper bound by the worst of each release"

_GSHM = gshm_curve.ANALYSES["exact"]


def gshm(*, k: int, sigma: Real, tau: Real) -> Pld:
    """The Gaussian sparse histogram mechanism, at any epsilon.

    k (contributions): largest number of counters one user changes, by one each, >= 1. sigma:
    standard deviation of the noise, > 0. tau: counters are kept above 1 + tau, >= 0. The upper end
    takes the worst neighbours of every single release; the lower end takes the same neighbours for
    all releases.
    Source: CSH Lemma 2.7; exactdp statement explain exact-csh, sections 9 and 10.

    >>> from exactdp.accounting import pld
    >>> print(format(pld.gshm(k=10, sigma=40, tau=180).composed(3).delta("0.3"), "3"))
    [0.000796, 0.000861]
    """
    curve = _Gshm(*_read(k, sigma, tau))
    half = curve.k // 2
    with precision(_BITS):
        mu, part = (_below(arb(j).sqrt() / ball(curve.sigma)) for j in (curve.k, half))
    choices = [(_noise(mu),), _hidden(curve.delta_floor)]
    if half:
        choices.append((_noise(part), *_hidden(curve.chance_to_pass(curve.k - half))))
    law, real = CurveLaw(curve), tuple(choice for choice in choices if choice)
    source = f"CSH Lemma 2.7 (Wilkins et al. 2024) for at most k counters by one each, {_BOUND}"
    return Pld(((Step(law, law, real), 1),), changed_counters(curve.k), source)


@without_k
def csh(
    *,
    sparsity: int,
    sigma: Real,
    tau: Real,
    correlation: Real | None = None,
    contributions: int | None = None,
) -> Pld:
    """The correlated sparse histogram, at any epsilon.

    Parameters as in ``exactdp.accounting.csh.delta``; both ends as in :func:`gshm`.
    Source: exactdp statement explain exact-csh, sections 1 to 3 and 10.

    >>> from exactdp.accounting import pld
    >>> loss = pld.csh(sparsity=10, sigma=25, tau=130).composed(3)
    >>> print(format(loss.epsilon("1e-4"), "3"))  # takes seconds
    [0.356, 0.42]
    """
    size, noise, height = _read(sparsity, sigma, tau, "sparsity")
    most = size if contributions is None else integer("contributions", contributions, least=1)
    kappa = None if correlation is None else positive("correlation", correlation)
    curve = _Csh(size, noise, height, kappa, most)
    curve.delta(Fraction(0))  # raises for impossible parameters
    page = "exactdp statement explain exact-csh"
    source = f"{page}, for sparse histograms, one direction, {_BOUND}"
    real = tuple(choice for choice in ((_noise(curve.mu),), _hidden(curve.delta_floor)) if choice)
    law = CurveLaw(curve)
    neighbours = sparse_counters(size, None if most == size else most)
    return Pld(((Step(law, law, real), 1),), neighbours, source)


@dataclass(frozen=True)
class _Gshm:
    """The exact curve of the GSHM."""

    k: int
    sigma: Fraction
    tau: Fraction
    most_points = 2048
    family = None

    @property
    def delta_floor(self) -> Fraction:
        return self.chance_to_pass(self.k)

    @property
    def mu(self) -> Fraction:
        with precision(_BITS):
            return _below(arb(self.k).sqrt() / ball(self.sigma))

    def chance_to_pass(self, counters: int) -> Fraction:
        """A lower bound of the probability that one of these 1-counters passes the threshold."""
        with precision(_BITS):
            return _below(_GSHM.threshold_only(counters, ball(self.tau / self.sigma)))

    def delta(self, epsilon: Fraction) -> Enclosure:
        return gshm_curve.delta(k=self.k, sigma=self.sigma, tau=self.tau, epsilon=epsilon)


@dataclass(frozen=True)
class _Csh:
    """The exact curve of the CSH."""

    sparsity: int
    sigma: Fraction
    tau: Fraction
    correlation: Fraction | None
    contributions: int
    most_points = 512
    family = None

    @property
    def delta_floor(self) -> Fraction:
        with precision(_BITS):
            ratio = ball(self.tau / self.sigma)
            return _below(
                threshold_only(self.sparsity, ratio, self.correlation, self.contributions)
            )

    @property
    def mu(self) -> Fraction:
        with precision(_BITS):
            noise = ball(self.sigma)
            return _below(
                noise_distance(self.sparsity, noise, self.correlation, self.contributions)
            )

    def delta(self, epsilon: Fraction) -> Enclosure:
        return csh_curve.delta(
            sparsity=self.sparsity,
            sigma=self.sigma,
            tau=self.tau,
            epsilon=epsilon,
            correlation=self.correlation,
            contributions=self.contributions,
        )


def _read(bound: int, sigma: Real, tau: Real, name: str = "k") -> tuple[int, Fraction, Fraction]:
    return integer(name, bound, least=1), positive("sigma", sigma), non_negative("tau", tau)


def _noise(mu: Fraction) -> Step:
    return Step.alike(Gaussian(mu))


def _hidden(chance: Fraction) -> tuple[Step, ...]:
    """A key that appears with this probability with the user, and never without."""
    if not chance:
        return ()
    with_, without = Law({"shown": chance, "hidden": 1 - chance}), Law({"hidden": Fraction(1)})
    return (Step(FiniteLaws(with_, without), FiniteLaws(without, with_)),)


def _below(value: arb) -> Fraction:
    """A rational at most the value, relatively 2^-60 or so below; 0 for 0."""
    if value <= 0:
        return Fraction(0)
    return enclosure(value).lower
