"""How fast the exact delta falls as one moves away from the corner that bounds a box of pairs.

On one profile (G for j counters, r extras) let Psi(D^2, t) = E[F(M)], as in :mod:`cells`. With
T = (ln G - b + c M)/w, by Plackett's identity and with b = epsilon - D^2/2,

    dPsi/dD^2 = E[G phi(T)]/(2 w),    -dPsi/dt = E[-G'(M) phi(T)]/w,

and one extra counter less costs at least E[(L_r - L_(r-1)) P(e^(b-U) > G_(r_1) | M)], as long as
r_1 < r are left. Lower bounds on the three over a rectangle of (D^2, t) come from the cells, by
Jensen's inequality E e^X >= e^(E X) on each of them:

* ln G is concave, so it is above its chord, and by at most (d' - d)/4, where d and d' are how far
  it falls on the cell before and on that after. T is concave as well, and T^2 is at most
  (|chord| + that/w)^2, which is convex.
* -G' and L_r - L_(r-1) are log-concave in m, so their logarithms are above their chords. At a node
  ln(-G') is at least z - x/2 - x^2/24, where z is the logarithm of its mean on the cell to the
  right, and x by how much that of the cell before is above that of the cell before it: -G' rises
  by less than e^(x v) from the node to a share v of the cell, and (e^x - 1)/x <= e^(x/2 + x^2/24).
* ln Phi(-x) is concave, its slope at most max(x, 0) + 1 in size, and ln G_(r_1) <=
  (r_1/r) ln G_r, as ln G is convex in r and 0 at r = 0.
"""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import NamedTuple

from flint import arb

from exactdp.accounting.gaussian import tail
from exactdp.accounting.sparse_histograms.csh_exact.cells import Cells
from exactdp.balls import ball

__all__ = ["Marginals", "marginals"]

_UNKNOWN = arb("-inf")


class Marginals(NamedTuple):
    """Lower bounds >= 0 on dPsi/dD^2, -dPsi/dt and what one extra counter less costs."""

    distance: arb
    covariance: arb
    extra: arb


def marginals(
    cells: Cells, fewer: Cells, epsilon: arb, squared: arb, covariance: arb, least: int
) -> Marginals:
    """Over balls squared and covariance; `fewer` has one extra counter less, `least` = r_1."""
    slope = covariance / cells.profile.variance
    variance = squared - covariance * slope
    if not variance > 0:
        return Marginals(arb(0), arb(0), arb(0))
    width, offset = variance.sqrt(), epsilon - squared / 2
    share = arb(least) / cells.profile.r
    logs = [(-lost).log1p() for lost in cells.about]
    sags = _sags(logs)
    middles = [slope * m - offset for m in cells.nodes[: len(sags) + 1]]
    tops = [((x + y) / width).abs_upper() for x, y in zip(logs, middles, strict=False)]
    limits = [(share * x + y) / width for x, y in zip(logs, middles, strict=False)]
    overs = [tail(limit).lower().log() for limit in limits]
    slopes = _log_slopes(cells)
    steps = [(x - y).lower().log() for x, y in zip(cells.about, fewer.about, strict=True)]
    distance = covariance_part = extra = arb(0)
    for i, sag in enumerate(sags):
        bend, at, mass = sag / width, cells.centres[i], cells.masses[i]
        first, last = (tops[i] + bend) ** 2 / 2, (tops[i + 1] + bend) ** 2 / 2
        distance += _mean(mass, at, logs[i] - first, logs[i + 1] - last)
        covariance_part += _mean(mass, at, slopes[i] - first, slopes[i + 1] - last)
        hazard = limits[i].max(limits[i + 1]).max(arb(0)) + bend + 1
        over = mass * (-bend * hazard).exp()
        extra += _mean(over, at, steps[i] + overs[i], steps[i + 1] + overs[i + 1])
    scale = (2 * arb.pi()).rsqrt() / width
    return Marginals(
        (scale * distance / 2).lower(), (scale * covariance_part).lower(), extra.lower()
    )


def _sags(logs: list[arb]) -> list[arb]:
    """How far ln G is above its chord at most, on the cells where it can be told from -infinity."""
    falls = [arb(0), *(x - y for x, y in pairwise(logs))]
    sags = [(y - x) / 4 for x, y in zip(falls, falls[2:], strict=False)]
    return list(takewhile(arb.is_finite, sags))


def _log_slopes(cells: Cells) -> list[arb]:
    """Lower bounds on ln(-G') at the nodes."""
    about, step = cells.about, ball(cells.step)
    means = [((y - x) / step).log() for x, y in pairwise(about)]
    rises = [y - x for x, y in pairwise(means)]
    inside = [z - x / 2 - x * x / 24 for x, z in zip(rises, means[2:], strict=False)]
    return [_UNKNOWN, _UNKNOWN, *inside, _UNKNOWN]


def _mean(mass: arb, at: arb, left: arb, right: arb) -> arb:
    """A lower bound on the mean over a cell from the chord of a logarithm."""
    log = left + at * (right - left)
    return (mass * log.exp()).lower() if log.is_finite() else arb(0)
