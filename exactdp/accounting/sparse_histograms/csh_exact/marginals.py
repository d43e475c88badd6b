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
* -G' = L' and L_r - L_(r-1) are log-concave in m, so their logarithms are above their chords.
* ln Phi(-x) is concave, its slope at most max(x, 0) + 1 in size, and ln G_(r_1) <=
  (r_1/r) ln G_r, as ln G is convex in r and 0 at r = 0.
"""

from __future__ import annotations

from typing import NamedTuple

from flint import arb

from exactdp.accounting.gaussian import tail
from exactdp.accounting.sparse_histograms.csh_exact.cells import Cells

__all__ = ["Marginals", "marginals"]


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
    logs, sags, slopes = cells.logs, cells.sags, cells.log_slopes
    middles = [slope * m - offset for m in cells.nodes[: len(sags) + 1]]
    tops = [((x + y) / width).abs_upper() for x, y in zip(logs, middles, strict=False)]
    limits = [(share * x + y) / width for x, y in zip(logs, middles, strict=False)]
    overs = [tail(limit).lower().log() for limit in limits]
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


def _mean(mass: arb, at: arb, left: arb, right: arb) -> arb:
    """A lower bound on the mean over a cell from the chord of a logarithm."""
    log = left + at * (right - left)
    return (mass * log.exp()).lower() if log.is_finite() else arb(0)
