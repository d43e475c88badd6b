"""Guesses about canaries against a whole trade-off curve: f-DP in one training run.

Premise. Training is f-DP for the coin of each canary: if S is any set of outcomes, and p and q are
its probabilities for coins that differ in one place, then q >= g(p), where g is convex and rises
from g(0) = 0. Of mu-GDP, g(x) = Phi(Phi^-1(x) - mu); of (epsilon, delta), the larger of 0,
(x - delta)/e^epsilon and 1 - delta - e^epsilon (1 - x).

Setting. The coins of m canaries are fair and independent, r of them are guessed, and p_j is the
probability that exactly j guesses are right. With

    R_i = sum_{j>=i} j p_j / m        and        W_i = sum_{j>=i} (r - j) p_j / m,

the probabilities that a random canary is guessed right (wrong) while at least i guesses are right,

    W_{i-1} >= g(R_i)    for i = 1, ..., r.                                                   (1)

Proof of (1). Fix the coins and a canary. The outcomes in which its guess is right, and at least i
guesses are, become, when its coin is flipped, those in which its guess is wrong and at least i - 1
are right. So the premise holds between their probabilities. Average over coins and canaries: g is
convex, so Jensen's inequality gives (1). []

Let tau = P(at least v guesses are right). Then R_v >= tau v/m, R_v + W_v = tau r/m, and
R_0 + W_0 = r/m. Take equality everywhere: R_v = tau v/m, W_v = tau (r - v)/m,

    W_{i-1} = max(W_i, g(R_i)),    R_{i-1} = R_i + l_i (W_{i-1} - W_i),    l_i = (i-1)/(r-i+1),

where the second equation follows from the definitions. If this gives R_0 + W_0 > r/m, then no
f-DP training run has P(at least v guesses are right) >= tau: the p-value is below tau.

Proof. Let R', W' belong to any f-DP run with P(...) >= tau. By induction from i = v down to 0,
D_i = (R'_i - R_i) - l_i (W'_i - W_i) >= 0 and R'_i + W'_i >= R_i + W_i. At v, with tau' >= tau and
R'_v = tau' v/m + x, x >= 0: the second is clear, and D_v = (tau' - tau)(v - l_v (r-v))/m +
x (1 + l_v) >= 0, as l_v (r - v) < v. For the step, D_{i-1} = D_i + (l_i - l_{i-1})(W'_{i-1} -
W_{i-1}), where l_i > l_{i-1}. If W'_{i-1} >= W_{i-1}, then D_{i-1} >= 0, so R'_{i-1} >= R_{i-1},
and the sums compare. Otherwise W_{i-1} = W_i > W'_i: if it were g(R_i), then R'_i < R_i, hence
W'_i > W_i by the sums, and R'_i - R_i >= l_i (W'_i - W_i) >= 0, a contradiction. So R and W do not
change, while R' and W' do not fall, and D_{i-1} = (R'_{i-1} - R_i) + l_{i-1} (W_i - W'_{i-1}) is
>= 0 because the sums give R'_{i-1} >= R_i. A smaller g gives a smaller sum, by the same induction,
so lower bounds of g may be used. []

Source of the recursion: Mahloujifar, Melis, Chaudhuri, Auditing f-Differential Privacy in One Run
(ICML 2025, arXiv 2410.22235); the statement and the proof above are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist

from flint import arb

from exactdp.audit.promises import ApproximateDP, GaussianDP, Profile, Promise
from exactdp.balls import ball, precision
from exactdp.bisection import halved
from exactdp.errors import InvalidParameter

#: x -> a lower bound of g(x), in balls.
TradeOff = Callable[[arb], arb]

_NORMAL = NormalDist()
_BITS = (128, 512, 2048)  # of the balls; more are tried where fewer do not decide
_HALVINGS = 50
_MOST = 64.0  # largest mu that is tried
_LOOSER = 1e-9  # relative step below the root that floats suggest, until one is certified
_PER_GUESS = 1e-9  # the same for each guess: what the tangents lose adds up, and a try takes long
_TRIES = 8
_CHECKED = 32  # steps of the recursion between two looks at the sum
_SERVED = 1e-5  # distance in z over which a tangent is at most mu/2 times its square below g


def trade_off_of(promise: Promise) -> TradeOff:
    """A lower bound of g for a promise. Raises InvalidParameter for other promises."""
    if isinstance(promise, GaussianDP):
        return _Gaussian(promise.mu)
    if isinstance(promise, (ApproximateDP, Profile)):
        points = promise.points if isinstance(promise, Profile) else (
            (promise.epsilon, promise.delta),
        )  # fmt: skip
        return lambda x: _lines(x, points)
    raise InvalidParameter("promise", promise, "ApproximateDP, GaussianDP or a Profile")


class _Gaussian:
    """Tangents of g: g(Phi(z)) + g'(Phi(z)) (x - Phi(z)) for z that floats suggest.

    A convex function lies above each of its tangents, whatever z is. g'(Phi(z)) is the density
    at z - mu over that at z, e^(mu z - mu^2/2). A tangent serves all x up to a distance in z.
    """

    def __init__(self, mu: Fraction) -> None:
        self.mu = mu
        self.first, self.last = 1.0, 0.0  # the x that the tangent serves
        self.slope = self.offset = arb(0)

    def __call__(self, x: arb) -> arb:
        about = min(max(float(x), 1e-300), 1 - 1e-16)
        if not self.first <= about <= self.last:
            self._touch(about)
        return (self.slope * x + self.offset).max(arb(0))

    def _touch(self, about: float) -> None:
        """Make the tangent that serves this x and those a little larger."""
        hint = _NORMAL.inv_cdf(about) + _SERVED / 2
        self.first, self.last = about, max(_NORMAL.cdf(hint + _SERVED / 2), about)
        z, shift = ball(Fraction(hint)), ball(self.mu)
        self.slope = (shift * z - shift * shift / 2).exp()
        self.offset = _phi(z - shift) - self.slope * _phi(z)


def _phi(z: arb) -> arb:
    return (-z / arb(2).sqrt()).erfc() / 2


def _lines(x: arb, points: tuple[tuple[Fraction, Fraction], ...]) -> arb:
    bound = arb(0)
    for epsilon, delta in points:
        factor, slack = ball(epsilon).exp(), ball(delta)
        bound = bound.max((x - slack) / factor).max(1 - slack - factor * (1 - x))
    return bound


def impossible(curve: TradeOff, m: int, r: int, v: int, tau: Fraction) -> bool:
    """Whether P(at least v of r guesses about m canaries are right) >= tau is proved impossible.

    curve: of the premise. m >= r >= v >= 0. tau: > 0 and <= 1. False where it is possible, or
    where 2048 bits do not decide.
    """
    for bits in _BITS:
        with precision(bits):
            total = _total(curve, m, r, v, tau)
            if bool(total > r):
                return True
            if bool(total <= r):
                return False
    return False


def _total(curve: TradeOff, m: int, r: int, v: int, tau: Fraction) -> arb:
    """m (R_0 + W_0), or an earlier sum that is certainly larger than r: the sums never fall."""
    right, wrong = ball(tau * v), ball(tau * (r - v))
    for i in range(v, 0, -1):
        more = (m * curve(right / m)).max(wrong)
        right += (more - wrong) * (i - 1) / (r - i + 1)
        wrong = more
        if not i % _CHECKED and bool(right + wrong > r):
            break
    return right + wrong


def least_mu(m: int, r: int, v: int, alpha: Fraction) -> Fraction:
    """A mu, nearly the largest, such that mu-GDP is refuted at level alpha; 0 for none.

    Every smaller mu is refuted as well: mu-GDP implies it for larger mu.
    """
    hint = _suggested(m, r, v, float(alpha))
    step = max(_LOOSER, _PER_GUESS * r)
    for i in range(_TRIES if hint > 0 else 0):
        mu = Fraction(hint * (1 - step * 8**i))
        if mu > 0 and impossible(trade_off_of(GaussianDP(mu)), m, r, v, alpha):
            return mu
    return Fraction(0)


def _suggested(m: int, r: int, v: int, alpha: float) -> float:
    """About the largest mu that floats refute; 0 for none."""
    if not v or not _float_total(0.0, m, r, v, alpha) > r:
        return 0.0

    def is_possible(mu: float) -> bool:
        return not _float_total(mu, m, r, v, alpha) > r

    return halved(0.0, _MOST, is_possible, times=_HALVINGS)[0]


def _float_total(mu: float, m: int, r: int, v: int, tau: float) -> float:
    """The same sum for mu-GDP in floats: a hint."""
    right, wrong = tau * v, tau * (r - v)
    for i in range(v, 0, -1):
        share = right / m
        if not 0 < share < 1:
            return math.inf if share >= 1 else right + wrong
        more = m * _NORMAL.cdf(_NORMAL.inv_cdf(share) - mu)
        if more <= wrong:  # nothing changes any more
            break
        right += (more - wrong) * (i - 1) / (r - i + 1)
        wrong = more
        if right + wrong > r:
            return math.inf
    return right + wrong
