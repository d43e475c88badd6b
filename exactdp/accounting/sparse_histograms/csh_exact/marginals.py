"""How fast the exact delta falls as one moves away from the corner that bounds a box of pairs.

On one profile (G for j counters, r extras) let Psi(D^2, t) = E[F(M)], as in :mod:`cell_bounds`.
With T = (ln G - b + c M)/w and b = epsilon - D^2/2, Plackett's identity gives

    dPsi/dD^2 = E[G phi(T)]/(2 w),    -dPsi/dt = E[-G'(M) phi(T)]/w,

and one extra counter less costs at least E[(L_r - L_(r-1)) P(e^(b-U) > G_(r_1) | M)], as long as
r_1 < r are left. Lower bounds on the three over a rectangle of (D^2, t) come from the cells, by
Jensen's inequality E e^X >= e^(E X) on each of them:

* ln G is concave, so it is above its chord, and by at most s = (d' - d)/4, where d and d' are how
  far it falls on the cell before and on that after. w T is concave as well, and T^2 is at most
  ((|chord| + s)/w)^2, which is convex; so is the larger of two, at the ends of w's range.
* -G' = L' and L_r - L_(r-1) are log-concave in m, so their logarithms are above their chords.
* ln Phi(-x) falls and is concave, and ln G_(r_1) <= (r_1/r) ln G_r, as ln G is convex in r and 0
  at r = 0; ln G_r is below any chord between two numbers that exceed it by s at the cell's ends.

Jensen's loss is made up to the second order: E e^y >= E(1 + y + y^2/2 + y^3/6) for any y, so that
E e^y >= 1 + (1 - |x|/3) x^2 Var(v)/2 for y = x (v - E v), 0 <= v <= 1.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from flint import arb

from exactdp.accounting.sparse_histograms.csh_exact.cell_bounds import CellBounds
from exactdp.normal import tail

#: For |T| above this, phi(T) no longer matters.
_FAR = arb(7)


class Marginals(NamedTuple):
    """Lower bounds >= 0 on dPsi/dD^2, -dPsi/dt and what one extra counter less costs."""

    distance: arb
    covariance: arb
    extra: arb


def marginals(
    cells: CellBounds, fewer: CellBounds, epsilon: arb, squared: arb, covariance: arb, least: int
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
    heights = [(x + y).abs_upper() for x, y in zip(logs, middles, strict=False)]
    ends = [(w, w.log()) for w in (width.lower(), width.upper())]
    above = [max(pair) for pair in pairwise([*sags[:1], *sags, *sags[-1:]])]
    limits = [
        (share * (x + sag) + y) / width for x, y, sag in zip(logs, middles, above, strict=False)
    ]
    overs = [tail(limit).lower().log() for limit in limits]
    steps = [(x - y).lower().log() for x, y in zip(cells.about, fewer.about, strict=True)]
    distance = covariance_part = extra = arb(0)
    far = _FAR * width.lower()
    for i, sag in enumerate(sags):
        cell = cells.masses[i], cells.centres[i], cells.variances[i]
        if min(heights[i : i + 2]) < far:
            first, last = (_most(x + sag, ends) for x in heights[i : i + 2])
            distance += _mean(*cell, logs[i] - first, logs[i + 1] - last)
            covariance_part += _mean(*cell, slopes[i] - first, slopes[i + 1] - last)
        extra += _mean(*cell, steps[i] + overs[i], steps[i + 1] + overs[i + 1])
    scale = (2 * arb.pi()).rsqrt()
    return Marginals(
        (scale * distance / 2).lower(), (scale * covariance_part).lower(), extra.lower()
    )


def _most(height: arb, ends: list[tuple[arb, arb]]) -> arb:
    """The largest T^2/2 + ln w for T = height/w; it falls, then rises with w."""
    one, other = ((height / width) ** 2 / 2 + log for width, log in ends)
    return one.max(other)


def _mean(mass: arb, centre: arb, variance: arb, left: arb, right: arb) -> arb:
    """A lower bound on the mean over a cell from the chord of a logarithm."""
    rise = right - left
    log = left + centre * rise
    if not log.is_finite():
        return arb(0)
    more = (1 - abs(rise) / 3) * rise * rise * variance / 2
    return mass * log.exp() * (1 + more if more > 0 else 1)
