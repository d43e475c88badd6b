"""What the noise and the thresholds of several queries leak together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, reduce
from math import ceil, sqrt

from flint import arb

from exactdp.accounting import pld, zcdp
from exactdp.accounting.certify.gaussian_sums import above
from exactdp.balls import ball, enclosure, precision
from exactdp.bisection import least
from exactdp.enclosure import Enclosure
from exactdp.errors import Undecided
from exactdp.mechanisms.key_sets.privacy import Noise, together
from exactdp.normal import hockey_stick, tail
from exactdp.plans.queries import Query

_BITS = 192

#: Noise is a multiple of 1/_GRID, a threshold of 1/_PER_LIMIT; doubles hold both exactly.
_GRID, _PER_LIMIT = 1 << 24, 1 << 10

#: Probabilities and losses are rounded up to multiples of 1/_FINE.
_FINE = 1 << 80


@dataclass(frozen=True)
class PlannedQuery:
    """A query with its noise. laplace: whether the noise is Laplace (else Gaussian). scale: of the
    noise on each count (the standard deviation of Gaussian noise), and on each sum in units of its
    limit. above: only noisy counts above this number are released; None for public keys."""

    query: Query
    scale: Fraction
    above: Fraction | None
    laplace: bool = False

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise on a count."""
        return float(self.scale) * (sqrt(2) if self.laplace else 1)

    @property
    def tau(self) -> Fraction:
        """The distance from the count 1, of a key with a single user, to the threshold."""
        return (self.above or Fraction(1)) - 1

    def rate(self, *, discrete: bool) -> arb:
        """-ln P(none of a user's new keys is released)."""
        if self.above is None:
            return arb(0)
        chance = _beyond(self.tau, self.scale, self.laplace, discrete)
        return -self.query.most * (-chance).log1p()


def joined(losses: Iterable[pld.Pld]) -> pld.Pld:
    """The losses of mechanisms that run one after the other."""
    return reduce(pld.Pld.then, losses)


def loss_of(queries: Sequence[PlannedQuery]) -> pld.Pld:
    """The privacy loss of continuous noise, and of thresholds."""
    if is_one_histogram(queries):
        keys = sum(each.query.most for each in queries)
        return pld.gshm(k=keys, sigma=queries[0].scale, tau=queries[0].tau)
    if not any(each.laplace for each in queries):
        return joined(map(_gaussian_loss, queries))
    losses = [_noise_loss(each, discrete=False) for each in queries]
    if chance := _chance_of_new_keys(queries, discrete=False):
        # new keys are hidden with probability 1 - chance, and always without the user: these laws
        # have total variation `chance`
        losses.append(pld.approximate(epsilon=0, delta=rounded_up(chance, _FINE)))
    return joined(losses)


def _chance_of_new_keys(queries: Sequence[PlannedQuery], *, discrete: bool) -> Fraction:
    """An upper bound of the probability that any of a user's new keys is released."""
    with precision(_BITS):
        rate = sum((each.rate(discrete=discrete) for each in queries), arb(0))
        return enclosure(-(-rate).expm1()).upper


def is_pure(queries: Sequence[PlannedQuery], epsilon: Fraction) -> bool:
    """Whether all noise is Laplace noise and the sum of all losses is at most epsilon."""
    losses = [each.query.moved / each.scale for each in queries if each.laplace]
    return len(losses) == len(queries) and sum(losses) <= epsilon


def _gaussian_loss(each: PlannedQuery) -> pld.Pld:
    """The privacy loss of one query with continuous Gaussian noise: its counts, then its sums."""
    query = each.query
    if each.above is None:
        return _noise_loss(each, discrete=False)
    counts = pld.gshm(k=query.most, sigma=each.scale, tau=each.tau)
    sums = query.moved - query.most
    return counts.then(pld.gaussian(sigma=each.scale).composed(sums)) if sums else counts


def _noise_loss(each: PlannedQuery, *, discrete: bool) -> pld.Pld:
    if not each.laplace:
        one = pld.gaussian(sigma=each.scale)
    elif discrete:  # the ratio of two discrete Laplace laws is at most e^(1/scale)
        one = pld.randomized_response(epsilon=1 / each.scale)
    else:
        one = pld.laplace(scale=each.scale)
    return one.composed(each.query.moved)


def delta_of(queries: Sequence[PlannedQuery], epsilon: Fraction, *, discrete: bool) -> Enclosure:
    """The delta of noise and thresholds together, enclosed by 0 and an upper bound."""
    if is_pure(queries, epsilon):
        return Enclosure(Fraction(0), _chance_of_new_keys(queries, discrete=discrete))
    with precision(_BITS):
        rates = [each.rate(discrete=discrete) for each in queries]
        rate = sum(rates, arb(0))
        bounds = [_by_zcdp(queries, rate, epsilon)]
        laplace = [each for each in queries if each.laplace]
        noises = [Noise(each.scale**2, each.query.moved) for each in queries if not each.laplace]
        if discrete and not all(noise.sigma2 > noise.spare for noise in noises):
            return bounds[0]
        squares = [n.mu2() if discrete else n.square / n.sigma2 for n in noises]
        mu2 = sum(squares, Fraction(0))
        near = sum((n.nearness() for n in noises), arb(0)) if discrete else arb(0)
        curve = _curve(mu2, laplace, discrete)
        bounds.append(together(curve, near, rate, epsilon, alone=False))
        if rate > 0 and (is_hidden(queries) if discrete else is_one_histogram(queries)):
            # a user's keys are shared or new: of each query at most this part of mu^2 or of rate
            pairs = zip(squares, rates, strict=True)
            more = sum((ball(square / mu2).max(part / rate) for square, part in pairs), arb(0))
            curve = _curve(enclosure(ball(mu2) * more).upper, laplace, discrete)
            bounds.append(together(curve, near, rate * more, epsilon, alone=True))
    return min(bounds, key=lambda bound: bound.upper)


def _curve(mu2: Fraction, laplace: Sequence[PlannedQuery], discrete: bool) -> Callable[[arb], arb]:
    """An upper bound of the curve of Gaussian noise and Laplace noise together."""
    if not laplace:
        return lambda loss: hockey_stick(loss, ball(mu2).sqrt())
    losses = [_noise_loss(each, discrete=discrete) for each in laplace]
    if mu2:
        mu = rounded_up(enclosure(ball(mu2).sqrt()).upper, _FINE)
        losses.append(pld.gaussian(sigma=1 / mu))
    total = joined(losses)
    at = cache(lambda loss: _at_most(total, loss))
    return lambda loss: ball(at(enclosure(loss).lower))


def _at_most(total: pld.Pld, epsilon: Fraction) -> Fraction:
    """An upper bound of delta, at most 0.2 % too large; 1 if the accountant cannot decide."""
    try:
        return total.delta(epsilon, relative_width="2e-3").upper
    except Undecided:
        return Fraction(1)


def _by_zcdp(queries: Sequence[PlannedQuery], rate: arb, epsilon: Fraction) -> Enclosure:
    """The delta of noise and thresholds by zero-concentrated DP: this bound holds for noise of any
    size, also on integers."""
    pure = sum((e.query.moved / e.scale for e in queries if e.laplace), Fraction(0))
    rho = sum((e.query.moved / e.scale**2 / 2 for e in queries if not e.laplace), Fraction(0))
    left = epsilon - pure - enclosure(rate).upper
    if left < 0:
        return Enclosure(Fraction(0), Fraction(1))
    lost = zcdp.delta(rho=rho, epsilon=left).upper + enclosure(-(-rate).expm1()).upper
    return Enclosure(Fraction(0), min(lost, Fraction(1)))


def with_threshold(each: PlannedQuery, share: Fraction, discrete: bool) -> PlannedQuery:
    """The query with about the least threshold at which a user's new keys are released with
    probability at most `share`."""
    if each.query.keys is not None:
        return each
    step = Fraction(1) if discrete else Fraction(1, _PER_LIMIT)

    def at(steps: int) -> PlannedQuery:
        return replace(each, above=1 + steps * step)

    def enough(steps: int) -> bool:
        with precision(_BITS):
            return bool(-(-at(steps).rate(discrete=discrete)).expm1() <= ball(share))

    return at(least(1, None, enough))


def _beyond(distance: Fraction, scale: Fraction, laplace: bool, discrete: bool) -> arb:
    """P(noise > distance)."""
    if not laplace:
        return above(int(distance), scale**2) if discrete else tail(ball(distance / scale))
    if not discrete:
        return (-ball(distance / scale)).exp() / 2
    ratio = (-ball(1 / scale)).exp()  # P(z) is proportional to ratio^|z|
    return ratio ** (int(distance) + 1) / (1 + ratio)


def is_hidden(queries: Sequence[PlannedQuery]) -> bool:
    """Whether all noise is Gaussian, on counts that thresholds hide."""
    return not any(each.laplace or each.query.sums or each.query.keys for each in queries)


def is_one_histogram(queries: Sequence[PlannedQuery]) -> bool:
    """Whether the queries together are one histogram, with equal noise and thresholds."""
    return is_hidden(queries) and len({(each.scale, each.above) for each in queries}) == 1


def rounded_up(number: Fraction | float, grid: int = _GRID) -> Fraction:
    """The least multiple of 1/grid that is not smaller."""
    return Fraction(ceil(number * grid), grid)
