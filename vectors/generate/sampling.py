"""Vectors for sampling schemes and neighbouring relations, from the noise's own densities.

Each pair is two mixtures of shifted noise whose ratio rises along the line: delta is a difference
of two tails, from the point where the ratio is e^epsilon. The same by quadrature of the positive
part. For two steps it is the mean of the second step's delta over the first one's loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

from mpmath import mp, mpf

from vectors.generate.common import Bounds, Group, bracket, number, recipes_for, settled

#: (weight, shift) of each part of a mixture.
_Mixture = list[tuple[mpf, mpf]]


@dataclass(frozen=True)
class _Noise:
    """Noise: its log-density at x up to a constant, its density at x, its mass beyond x."""

    log: Callable[[mpf], mpf]
    density: Callable[[mpf], mpf]
    tail: Callable[[mpf], mpf]


_GAUSSIAN = _Noise(lambda x: -x * x / 2, mp.npdf, lambda x: mp.ncdf(-x))
_LAPLACE = _Noise(
    lambda x: -abs(x),
    lambda x: mp.exp(-abs(x)) / 2,
    lambda x: mp.exp(-x) / 2 if x > 0 else 1 - mp.exp(x) / 2,
)


def _delta(
    mechanism: str,
    sampling: str,
    neighbours: str,
    rate: str,
    scale: str,
    epsilon: str,
    group: str,
) -> Bounds:
    noise = {"gaussian": _GAUSSIAN, "laplace": _LAPLACE}[mechanism]

    def pairs() -> list[tuple[_Mixture, _Mixture]]:
        return _pairs(sampling, neighbours, number(rate), 1 / number(scale), int(group))

    def value() -> mpf:
        return max(_once(noise, p, q, number(epsilon)) for p, q in pairs())

    delta = settled(value)
    with mp.workdps(60):
        other = max(_summed(noise, p, q, number(epsilon)) for p, q in pairs())
    return bracket(delta, (other, "1e-30"), most=1)


def _pairs(
    sampling: str, neighbours: str, rate: mpf, shift: mpf, size: int
) -> list[tuple[_Mixture, _Mixture]]:
    """The worst pairs, in both orders; the noise has scale 1."""
    none: _Mixture = [(mpf(1), mpf(0))]
    if neighbours == "replace-one" and sampling == "poisson":
        rest = (1 - rate, mpf(0))
        return [([rest, (rate, shift)], [rest, (rate, -shift)])]
    if neighbours == "replace-one":  # batches: the user's vector against one of the others'
        shift *= 2
    moved = [
        (comb(size, j) * rate**j * (1 - rate) ** (size - j), j * shift) for j in range(size + 1)
    ]
    return [(moved, none), (none, [(w, -s) for w, s in moved])]


def _log(noise: _Noise, mixture: _Mixture, x: mpf) -> mpf:
    logs = [mp.log(w) + noise.log(x - s) for w, s in mixture if w]
    most = max(logs)
    return most + mp.log(sum(mp.exp(log - most) for log in logs))


def _loss(noise: _Noise, p: _Mixture, q: _Mixture, x: mpf) -> mpf:
    return _log(noise, p, x) - _log(noise, q, x)


def _crossing(noise: _Noise, p: _Mixture, q: _Mixture, epsilon: mpf) -> mpf:
    """The point x at which the ratio p/q rises above e^epsilon; infinite if there is none."""
    low, high = mpf(-1), mpf(1)
    while _loss(noise, p, q, low) >= epsilon:
        low *= 2
        if low < -(2**12):
            return mp.ninf
    while _loss(noise, p, q, high) <= epsilon:
        high *= 2
        if high > 2**12:
            return mp.inf
    a, b = _loss(noise, p, q, low) - epsilon, _loss(noise, p, q, high) - epsilon
    for _ in range(4 * mp.prec):
        if abs(high - low) < mpf(2) ** (8 - mp.prec) * (1 + abs(low)):
            break
        x = low - a * (high - low) / (b - a)
        # the secant mostly converges fast, the middle always converges
        for place in (x, (low + high) / 2):
            off = _loss(noise, p, q, place) - epsilon
            if low < place < high:
                low, a, high, b = (place, off, high, b) if off < 0 else (low, a, place, off)
    return low


def _once(noise: _Noise, p: _Mixture, q: _Mixture, epsilon: mpf) -> mpf:
    x = _crossing(noise, p, q, epsilon)
    if x == mp.ninf:
        return 1 - mp.exp(epsilon)
    if x == mp.inf:
        return mpf(0)
    tails = [sum(w * noise.tail(x - s) for w, s in mixture) for mixture in (p, q)]
    return tails[0] - mp.exp(epsilon) * tails[1]


def _summed(noise: _Noise, p: _Mixture, q: _Mixture, epsilon: mpf) -> mpf:
    """The integral of (p - e^epsilon q)_+, from where it begins, kink by kink."""
    start = _crossing(noise, p, q, epsilon)
    if not mp.isfinite(start):
        return _once(noise, p, q, epsilon)

    def gain(x: mpf) -> mpf:
        return sum(w * noise.density(x - s) for w, s in p) - mp.exp(epsilon) * sum(
            w * noise.density(x - s) for w, s in q
        )

    kinks = sorted({s for _, s in [*p, *q] if s > start} | {start + 4 * i for i in range(8)})
    return mp.quad(gain, [*kinks, mp.inf])


TABLE = [
    # mechanism, sampling, neighbours, rate, scale, epsilon, group, comment, flags
    ("gaussian", "poisson", "add-remove", "0.01", "1", "0.5", "1", "one step", "FewCompositions"),
    ("gaussian", "poisson", "add-remove", "0.5", "2", "0", "1", "epsilon 0", "EpsilonZero"),
    ("gaussian", "poisson", "add-remove", "0.01", "1", "5", "1", "far out", "TinyDelta"),
    ("gaussian", "poisson", "replace-one", "0.01", "1", "0.5", "1", "one step", "Relation"),
    ("gaussian", "poisson", "replace-one", "0.1", "2", "0.25", "1", "one step", "Relation"),
    ("gaussian", "poisson", "replace-one", "0.5", "1", "0", "1", "at 0", "Relation EpsilonZero"),
    ("gaussian", "poisson", "replace-one", "0.01", "1", "5", "1", "far out", "Relation TinyDelta"),
    ("gaussian", "batch", "replace-one", "0.01", "2", "0.5", "1", "one batch", "Relation Batch"),
    ("gaussian", "batch", "replace-one", "0.1", "4", "0.125", "1", "one batch", "Relation Batch"),
    ("gaussian", "batch", "replace-one", "0.5", "1", "0", "1", "epsilon 0", "Batch EpsilonZero"),
    ("gaussian", "poisson", "add-remove", "0.1", "2", "0.5", "3", "a group of three", "Group"),
    ("gaussian", "poisson", "add-remove", "0.01", "1", "1", "5", "a group of five", "Group"),
    ("laplace", "poisson", "add-remove", "0.1", "1", "0.125", "1", "one step", "FewCompositions"),
    ("laplace", "poisson", "add-remove", "0.5", "0.5", "1", "1", "one step", "FewCompositions"),
    ("laplace", "poisson", "replace-one", "0.1", "1", "0.125", "1", "one step", "Relation"),
    ("laplace", "batch", "replace-one", "0.1", "2", "0.0625", "1", "one batch", "Relation Batch"),
]  # fmt: skip

_NAMES = ("mechanism", "sampling", "neighbours", "rate", "scale", "epsilon", "group")


GROUP = Group(
    name="sampling",
    description="Noise on the sum of a sample: gaussian with the standard deviation `scale`, or "
    "laplace with density exp(-|x|/scale)/(2 scale). sampling: 'poisson', each user on her own "
    "with "
    "probability `rate`; 'batch', the share `rate` of all users, without replacement. What a user "
    "adds is at most 1 in size. Neighbours: `group` users, 1 or more, take part or not, or one "
    "user's data is replaced, which moves the sum by up to 2.",
    questions={
        "delta": "the least delta of one step for this epsilon, the larger one of both orders"
    },
    source="Zhu, Dong, Wang 2022; Lebeda, Regehr, Kamath, Steinke 2024; Schuchardt et al. 2024",
    methods=(
        "mpmath: where the ratio of the two densities is e^epsilon, and the tails from there, at "
        "two precisions",
        "the same by quadrature of the positive part",
    ),
    recipes=lambda: recipes_for("delta", _NAMES, _delta, TABLE),
)
