"""Counts with correlated Gaussian noise: each has noise of its own, and all share another noise.

Nothing is left out, so the counts must be those of a public list. One user changes some of them by
one each, all in the same direction. A shift of a of n counts by one is

    D^2 = (a - a^2/(n + kappa))/sigma^2

away, where kappa = sigma^2/(variance of the shared noise): at most (n + kappa)/(4 sigma^2), where
independent noise alone has n/sigma^2. Discrete noise is drawn in steps of one half, see
:mod:`exactdp.accounting.sparse_histograms.discrete_csh`.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from flint import arb, ctx

from exactdp.accounting import gaussian
from exactdp.accounting.calculator import Calculator, Evaluated, Instance, calibrated, delta_of
from exactdp.accounting.calibration import Calibration
from exactdp.accounting.certify.grid import read_resolution, unit_of
from exactdp.accounting.discrete_gaussian import many
from exactdp.accounting.neighbours import add_remove
from exactdp.accounting.sparse_histograms.bounds import without_k
from exactdp.accounting.sparse_histograms.csh_exact import noise_distance, noise_only
from exactdp.accounting.sparse_histograms.discrete_csh_terms import noise as noise_part
from exactdp.balls import ball, refine
from exactdp.errors import InvalidParameter
from exactdp.parameters import Real, choice, counters, delta_target, integer, non_negative, positive

NOISES = {
    "discrete": "CSH Algorithm 4; exact noise of all coordinates, which move by one",
    "continuous": "CSH Lemma 2.8, with the largest distance of integer shifts",
}
DEFAULT_NOISE = "discrete"


@delta_of
@without_k
def delta(
    *,
    keys: int,
    sigma: Real,
    epsilon: Real,
    noise: str = DEFAULT_NOISE,
    correlation: Real | None = None,
    contributions: int | None = None,
) -> Instance:
    """The delta of the counts of a public list with correlated noise, without a threshold.

    keys: number of keys of the list, >= 1. sigma: > 0. epsilon: >= 0.
    noise: "continuous": N(0, sigma^2) on each count, and one N(0, sigma^2/correlation) on all;
    delta is exact. "discrete": half of N_Z(0, 4 sigma^2) on each, and half of one
    N_Z(0, 4 sigma^2/sqrt(keys)) on all; an upper bound on delta.
    correlation: of continuous noise, > 0; None means sqrt(keys), which gives the least total noise.
    contributions: largest number of counts that one user changes, >= 1; None means keys.
    Returns an enclosure of relative width <= 1e-12. Raises InvalidParameter, and Undecided where
    the shared noise has too many values to visit.
    Source: Lebeda and Retschmeier (CSH), Lemma 2.8 and Algorithm 4 (Lebeda 2024).

    >>> from exactdp.accounting import correlated_gaussian
    >>> for noise in ("continuous", "discrete"):
    ...     print(correlated_gaussian.delta(keys=100, sigma=20, epsilon=1, noise=noise))
    [6.884656923e-6, 6.884656924e-6]
    [6.88460072e-6, 6.884600721e-6]
    """
    number, scale = counters(keys, "keys"), positive("sigma", sigma)
    loss = non_negative("epsilon", epsilon)
    most = number if contributions is None else integer("contributions", contributions, least=1)
    kind = choice("noise", noise, tuple(NOISES))
    if kind == "discrete" and correlation is not None:
        raise InvalidParameter("correlation", correlation, "left out with discrete noise")
    kappa = None if correlation is None else positive("correlation", correlation)

    def continuous() -> arb:
        return noise_only(number, ball(scale), ball(loss), kappa, most)

    def discrete() -> arb:
        """The smaller of two bounds: in one the shared noise moves with the counts, in one not."""
        variance = 4 * scale**2
        alone = many(Counter({(2, variance): min(most, number)}), loss)
        return noise_part(number, number, variance, loss, ctx.prec).min(alone)

    return Evaluated(
        epsilon=loss,
        neighbours=_neighbours(number, min(most, number)),
        source=NOISES[kind],
        tight=kind == "continuous",
        evaluate=continuous if kind == "continuous" else discrete,
    )


@without_k
def calibrate(
    *,
    keys: int,
    epsilon: Real,
    delta: Real,
    noise: str = DEFAULT_NOISE,
    correlation: Real | None = None,
    contributions: int | None = None,
    resolution: Real = "1e-9",
) -> Calibration:
    """A least sigma on a decimal grid for a target.

    delta: target, > 0 and < 1. resolution: relative step between values of sigma, in [1e-15, 0.1].
    Other parameters as in :func:`delta`. The returned sigma provably satisfies the target, and the
    next smaller one provably does not (for discrete noise: the bound does not show it). Use
    exactly this value: with discrete noise, a larger sigma can need a larger delta.
    Raises InvalidParameter, Undecided.

    >>> from exactdp.accounting import correlated_gaussian
    >>> print(correlated_gaussian.calibrate(keys=100, epsilon=1, delta="1e-6").sigma)
    22.15440456
    """
    number, target = counters(keys, "keys"), delta_target("delta", delta)
    step = read_resolution(resolution)
    options = {"noise": noise, "correlation": correlation, "contributions": contributions}

    def at(sigma: Fraction) -> Instance:
        return CALCULATOR.instance(keys=number, sigma=sigma, epsilon=epsilon, **options)  # type: ignore[arg-type]

    at(Fraction(1))  # checks the parameters
    kappa = None if correlation is None else positive("correlation", correlation)
    start = likely_sigma(number, contributions or number, epsilon, target, noise, kappa)
    recorded = {"keys": number, "correlation": kappa, "contributions": contributions}
    return calibrated(
        "correlated-gaussian",
        noise,
        at,
        target=target,
        name="sigma",
        start=start,
        step=unit_of(start, step),
        lowest=1,
        given={name: Fraction(value) for name, value in recorded.items() if value is not None},
    )


def _neighbours(keys: int, most: int) -> str:
    return add_remove(
        f"changing at most {most} of {keys} counts by one each, all in the same direction"
    )


def likely_sigma(
    keys: int,
    contributions: int,
    epsilon: Real,
    target: Fraction,
    noise: str = DEFAULT_NOISE,
    correlation: Fraction | None = None,
) -> Fraction:
    """An estimate of the least sigma; discrete noise is taken for continuous noise here."""

    def distance() -> arb:
        if noise == "continuous":
            return noise_distance(keys, arb(1), correlation, contributions)
        return (keys + arb(keys).sqrt()).sqrt().min(2 * arb(contributions).sqrt()) / 2

    size = refine(distance).upper
    near = gaussian.calibrate(epsilon=epsilon, delta=target, sensitivity=size, resolution="1e-9")
    return Fraction(near.sigma)


CALCULATOR = Calculator(
    delta,
    calibrate,
    title="counts of a public list with correlated Gaussian noise, without a threshold",
    example={"keys": "10", "sigma": "10", "epsilon": "0.5"},
    falls_with={"epsilon": 0},
)
check, guarantee = CALCULATOR.check, CALCULATOR.guarantee
