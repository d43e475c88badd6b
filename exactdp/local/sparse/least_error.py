"""A lower bound of the error of every mechanism for means of sparse vectors, with its constant.

Let S be the binary vectors with k ones, V uniform in S, and let every user hold V with probability
h and else a uniform vector U of S. A mechanism with e^epsilon = r has a report law Q_v for every v;
Q is their mean, and L = Q_v/Q at a report has mean 1 over v and values within a factor r, so its
variance is at most (r - 1)^2/(4 r) = sinh(epsilon/2)^2. A report therefore has mutual information

    I(V; report) <= mean over v of chi^2(h Q_v + (1 - h) Q, Q) <= h^2 sinh(epsilon/2)^2

with V, in nats. If the mean error |estimate - E vector|_inf is at most t for every v, then V is
found by rounding (estimate - (1 - h) k/d)/h, except with probability 2 t/h (Markov), while Fano's
inequality says that the probability is at least 1 - (n h^2 sinh(epsilon/2)^2 + log 2)/log |S|. So

    t >= (h/2)(a - c h^2),  a = 1 - log 2/log |S|,  c = n sinh(epsilon/2)^2/log |S|

for every h in (0, 1]; the best is h = min(1, sqrt(a/(3c))). The users' own mean differs from E
vector by at most sqrt(log(2 d)/(2 n)) on average (a maximum over d means of n values in [0, 1]).

At event level S has the 2 d vectors with a single entry, 1 or -1, and the other users hold 0: two
vectors of S differ in two entries, but each in only one from 0. Against Q_0, L has mean 1 and lies
in [1/r, r], so its variance is at most (r - 1)(1 - 1/r) = 4 sinh(epsilon/2)^2. The users' own mean
differs in one entry, by at most 1/(2 sqrt n) on average (the deviation of n coins).

Source: Zhou et al. (SVA), Theorem 15 and Appendix D, for delta = 0, with constants in place of
Lemmas 20, 22 and 23.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from flint import arb

from exactdp.balls import ball, refine
from exactdp.enclosure import Enclosure
from exactdp.errors import InvalidParameter
from exactdp.local.ratio import local_epsilon
from exactdp.parameters import Real, choice, integer


def lower_bound(
    *, d: int, k: int, epsilon: Real, users: int, of: str = "sample", level: str = "user"
) -> Enclosure:
    """A lower bound of the mean of the largest error over d items, for every mechanism.

    Every mechanism has at least this error for some vectors.

    d: number of items. k: entries of a user, 1 <= k < d. epsilon: of one report, delta = 0. users:
    n >= 1. of: "sample" for the mean of the users' vectors, "distribution" for the mean of the law
    they are drawn from. level: "user", or "event", where one entry of a user changes. The bound is
    0 where the argument says nothing, as for small n. Raises InvalidParameter.

    >>> from exactdp.local.sparse import lower_bound
    >>> print(lower_bound(d=4096, k=64, epsilon=1, users=100_000).decimal_lower(4))
    0.01432
    """
    items, entries = integer("d", d, least=2), integer("k", k, least=1)
    n, loss = integer("users", users, least=1), local_epsilon("epsilon", epsilon)
    if entries >= items:
        raise InvalidParameter("k", k, f"< d = {items}")
    choice("of", of, ("sample", "distribution"))
    event = choice("level", level, ("user", "event")) == "event"
    size = 2 * items if event else comb(items, entries)
    if size < 3:  # a <= 0 for two vectors
        return Enclosure.exact(0)

    def error_bound() -> arb:
        logs = ball(size).log()
        spread = (4 if event else 1) * (ball(loss) / 2).sinh() ** 2
        a, c = 1 - ball(2).log() / logs, n * spread / logs
        h = (a / (3 * c)).sqrt().min(arb(1))
        most = ball(Fraction(1, 2)) if event else ball(2 * items).log()
        apart = (most / (2 * n)).sqrt() if of == "sample" else arb(0)
        return (h / 2 * (a - c * h**2) - apart).max(arb(0))

    return refine(error_bound, relative_width=Fraction(1, 10**12))
