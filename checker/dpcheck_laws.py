"""Mechanisms for dpcheck.py: their curves, and the quantities that add up.

With densities p on some data and q on their neighbour, the curve of this pair in this order is
G(x) = sup over events S of P(S) - x Q(S). It is convex, falls with slope >= -1 from G(0) = 1, and
the best event is {p > x q}. delta at epsilon is the largest G(e^epsilon) of all pairs and orders.
A law maps an enclosure of x to (P(S), Q(S), top): an event's enclosed probabilities, and a
top / 2^P >= G(y) for all y in the enclosure.
"""

from bisect import bisect_right
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import comb, floor, isqrt

from dpcheck_real import HALF, NOTHING, ONE, PI, TWO, UNIT, P, Real, log, prove, real, up

PARTS = 1 << 16  # most outcomes of a law
LISTED = 1 << 13  # most outcomes of a sum of noise that is listed
ORDER = 512  # largest Renyi order of sampled noise

# Curves ------------------------------------------------------------------------------------------


def law_of(r):
    """The law of the worst pair, p against q."""
    law = without_sampling(r)
    return partial(sampled, law, r["rate"]) if r.get("rate", 1) < 1 else law


def in_order(law, order):
    """order: 0, p against q; 1, q against p; None, the larger curve of both."""
    return (law, partial(backward, law), partial(larger, law))[2 if order is None else order]


def without_sampling(r):
    name, shift = r["mechanism"], r.get("sensitivity")
    if name == "gaussian":
        return partial(gaussian, real(shift, r["sigma"]))
    if name == "laplace":
        return partial(laplace, real(shift, r["scale"]).exp())
    if name == "finite-law":
        return outcomes([(real(p), real(q)) for p, q in r["outcomes"]])
    if name in ("randomized-response", "approximate"):
        return response(*pure(r))
    if name == "gaussian-sparse-histogram":
        return partial(histogram, real(r["k"], r["sigma"] ** 2).sqrt(), seen_alone(r))
    prove(name in ("discrete-gaussian", "discrete-laplace"), f"there is no curve of a {name}")
    return lattice(2 if name == "discrete-gaussian" else 1, noise_rate(r), int(shift))


def gaussian(mu, x):
    """N(mu, 1) against N(0, 1): ln p/q = mu z - mu^2/2 exceeds ln x for z > (ln x)/mu + mu/2."""
    t, half = x.log() * UNIT.over(mu), mu * HALF
    p, q = (t - half).tail(), (t + half).tail()
    return p, q, (p - x * q).hi


def laplace(most, x):
    """p/q is e^-mu up to z = 0, and most = e^mu from z = mu on.

    Between, p/q > x for z > (ln x + mu)/2.
    If x <= e^-mu, or undecided, S is everything: G(x) <= 1 - x + the width of what is undecided.
    """
    least = UNIT.over(most)
    if x.lo < least.hi:
        return UNIT, UNIT, ONE - x.lo + least.hi - least.lo
    if x.lo >= most.hi:
        return NOTHING, NOTHING, 0
    p, q = UNIT - HALF * (x * least).sqrt(), HALF.over((x * most).sqrt())
    return p, q, max((p - x * q).hi, 0)


def outcomes(pairs):
    """Outcomes with enclosed probabilities (p, q). S: those with p.hi >= x.lo q.lo.

    In the order of p.hi/q.lo these come first. top, the sum of p.hi - x.lo q.lo over S, is at least
    that of all (p - x q)+.
    """
    pairs = sorted(pairs, key=lambda pair: pair[1].lo > 0)
    always, sums = sum(q.lo <= 0 for _, q in pairs), [(NOTHING, NOTHING)]
    pairs[always:] = sorted(pairs[always:], key=lambda pair: -((pair[0].hi << P) // pair[1].lo))
    for p, q in pairs:
        sums.append((sums[-1][0] + p, sums[-1][1] + q))
    keys = [-((p.hi << P) // q.lo) for p, q in pairs[always:]]

    def law(x):
        p, q = sums[always + bisect_right(keys, -x.lo)]
        return p, q, (p - Real(x.lo, x.lo) * q).hi

    return law


def response(epsilon, delta):
    """The worst (epsilon, delta)-DP mechanism (Kairouz, Oh, Viswanath 2015).

    With probability delta the data are disclosed, else there is a randomised response.
    """
    no, disclosed = real(1 - delta).over(real(epsilon).exp() + UNIT), real(delta)
    yes = UNIT - disclosed - no
    return outcomes([(disclosed, NOTHING), (yes, no), (no, yes), (NOTHING, disclosed)])


def noise_rate(r):
    """The rate of e^-(rate |z|^power), the noise on an integer."""
    return Fraction(1, 2 * r["sigma2"]) if "sigma2" in r else Fraction(1, r["scale"])


def reach(power, rate):
    """The first c with rate c^power > 180."""
    c = int(Fraction(180, rate))
    return 1 + (isqrt(c) if power == 2 else c)


def weights(power, rate):
    """g(z) = e^-(rate |z|^power) for z = 0..c, and enclosures of what is beyond c, and of the sum.

    There g < e^-180 < 2^-P, and g(z) <= g(c), in sum <= 2 g(c) r/(1 - r), r = g(c)/g(c - 1).
    """
    c = reach(power, rate)
    g = [real(-rate * z**power).exp() for z in range(c + 1)]
    r = real(rate * ((c - 1) ** power - c**power)).exp()
    rest = Real(0, (TWO * g[c] * r).over(UNIT - r).hi)
    return g, rest, sum(g[1:], sum(g, rest))


def lattice(power, rate, shift):
    """Integer noise with and without a shift: P(z) = g(z - shift)/n."""
    c = reach(power, rate)
    prove(2 * c + shift <= PARTS, f"a law has more than {PARTS} outcomes")
    g, rest, n = weights(power, rate)
    mass, far = {z: g[abs(z)].over(n) for z in range(-c, c + 1)}, Real(0, g[c].hi)
    each = [(mass.get(z - shift, far), mass.get(z, far)) for z in range(-c, c + shift + 1)]
    return outcomes([*each, (rest, rest)])


def seen_alone(r):
    """The probability that one of k keys that only one user has exceeds 1 + tau."""
    hidden = UNIT - real(r["tau"], r["sigma"]).tail()
    return UNIT - (real(r["k"]) * hidden.log()).exp()


def histogram(mu, seen, x):
    """A user shares all k keys (Gaussian noise, and S its best event), or none: then a key is seen
    with probability `seen`, only with the user. Each pair is in both orders, and a pair with
    curve G >= c for x >= 1 has G(x) = 1 - x + x G(1/x) in the other order for x <= 1."""
    p, q, top = gaussian(mu, x)
    return p, q, max(top, seen.hi, (UNIT - x + x * seen).hi)


def sampled(law, rate, x):
    """rate p + (1 - rate) q against q: exceeds x if p > u q, and its curve is rate G(u).

    If u <= 0, or undecided, S is everything: the curve is <= 1 - x + the width of what is
    undecided.
    """
    u = (x - real(1 - rate)) * real(1, rate)
    if u.lo <= 0:
        return UNIT, UNIT, ONE - x.lo + u.hi - u.lo
    p, q, top = law(u)
    return real(rate) * p + real(1 - rate) * q, q, up(real(rate).hi * top, P)


def backward(law, x):
    """q against p: the event is the complement, and sup Q(S) - x P(S) = 1 - x + x G(1/x)."""
    p, q, top = law(UNIT.over(x))
    return UNIT - q, UNIT - p, (UNIT - x + x * Real(top, top)).hi


def larger(law, x):
    """The larger curve of both orders, for at_most. A maximum of convex curves is convex."""
    p, q, top = law(x)
    return p, q, max(top, backward(law, x)[2])


def overlaps(r, starts, x, upper):
    """Correlated Gaussian sparse histograms: noise N(0, sigma^2) for each key, and for all together
    N(0, sigma^2/sqrt k), k the sparsity.

    Neighbours share j keys, of which a change; k - j more are 1 on one side. The shared ones have
    mu^2 = (a - a^2/(j + sqrt k))/sigma^2 <= min(j, (j + sqrt k)/4)/sigma^2. The others have
    positive correlations and variance sigma^2 (1 + 1/sqrt k): all stay hidden with probability
    >= s^(k - j) (Slepian). So delta <= G + 1 - s^(k - j): in a part of all j, from last and first.
    """
    k, root, scale = r["sparsity"], real(r["sparsity"]).sqrt(), real(1, r["sigma"])
    passes = real(r["tau"], r["sigma"]).over((UNIT + UNIT.over(root)).sqrt()).tail()
    if not upper:  # all keys are shared, and half of them change; or one is new
        a = (k + isqrt(k) + 1) // 2 if k > 1 else 1
        p, q, _ = gaussian((real(a) - real(a * a).over(real(k) + root)).sqrt() * scale, x)
        return max((p - x * q).lo, passes.lo)
    worst, rate = 0, (UNIT - passes).log()
    for first, last in parts(starts, k):
        j, half = real(last), (real(last) + root) * real(1, 4)
        noise = gaussian((j if j.hi < half.hi else half).sqrt() * scale, x)[2] if last else 0
        worst = max(worst, noise + ONE - (real(k - first) * rate).exp().lo)
    return worst


def parts(starts, k):
    """(first, last) of parts of 0..k."""
    starts = [*starts, k + 1]
    prove(starts[0] == 0 and all(a < b for a, b in pairwise(starts)), "starts are no parts of 0..k")
    return [(a, b - 1) for a, b in pairwise(starts)]


def counts(r, starts, epsilon):
    """Sparse histograms of integer counts with noise e^-(c z^2), c = 1/(2 sigma2): j keys shared
    and k - j fresh, in a part of all j with the noise of the last and the fresh keys of the first.
    """
    k, c, cases = r["k"], noise_rate(r), parts(starts, r["k"])
    prove(epsilon > 0 and c <= Fraction(1, 2), "epsilon is 0, or sigma2 less than 1")
    hidden = (UNIT - exceeds(c, floor(r["tau"]))).log()
    return max(
        shared(c, last, epsilon) + ONE - (real(k - first) * hidden).exp().lo
        for first, last in cases
    )


def exceeds(c, tau):
    """Above the probability that noise exceeds the whole number tau, listed or by an area."""
    if sum_size(c, 1) <= LISTED and tau < reach(2, c):
        g, rest, n = weights(2, c)
        return sum(g[tau + 1 :], rest).over(n)
    return real(c, 4).exp() * (real(2 * tau + 1, 2) * real(2 * c).sqrt()).tail()


def shared(c, j, epsilon):
    """Above the curve at e^epsilon of j counts with noise e^-(c z^2), each moved by one: of their
    sum, whose probabilities are listed, or compared with a Gaussian density."""
    if not j:
        return 0
    x, each = real(epsilon).exp(), Fraction(c, j)
    if sum_size(c, j) <= LISTED:
        return up(real(34 * c**4 * j).exp().hi * lattice(2, each, j)(x)[2], P)
    y = Fraction(epsilon + 2 * c, 2 * j) + Fraction(c, 2)
    v = Fraction((epsilon - c * j) ** 2, 4 * c * j)
    waste = real(y - v).exp() * (real(y, 4) + real(c, epsilon)) * real(each).over(PI).sqrt()
    top = gaussian(real(2 * c * j).sqrt(), x)[2] + waste.hi
    return up(real(32 * c**4 * j + Fraction(each, 4)).exp().hi * top, P)


def sum_size(c, j):
    """The outcomes of the noise of j counts together, moved by j."""
    return 2 * reach(2, Fraction(c, j)) + j


# Quantities that add up --------------------------------------------------------------------------


def pure(r):
    """(epsilon, delta) of a release, sampled or not."""
    prove("epsilon" in r or "scale" in r, f"a {r['mechanism']} has no epsilon")
    epsilon = r["epsilon"] if "epsilon" in r else Fraction(r["sensitivity"], r["scale"])
    return epsilon, failure(r)


def failure(r):
    """The delta of a release, beside its epsilon: with this probability anything is disclosed."""
    return r.get("delta", Fraction(0))


def rho(r):
    """(least, most) rho beside the delta: mu^2/2 for Gaussian noise; at most epsilon^2/2."""
    if r["mechanism"] in ("gaussian", "discrete-gaussian"):
        scale = r["sigma2"] if "sigma2" in r else r["sigma"] ** 2
        most = Fraction(r["sensitivity"] ** 2, 2 * scale)
        return most if "sigma" in r and r.get("rate", 1) == 1 else Fraction(0), most
    return Fraction(0), r["rho"] if "rho" in r else Fraction(pure(r)[0] ** 2, 2)


def divergence(r, a):
    """(least, most) Renyi divergence of order a beside the delta.

    It is at most a rho, and epsilon. (a - 1) times it is convex in a, and 0 for a = 1.
    """
    (least, most), rate = rho(r), r.get("rate", 1)
    ends = a * least, a * most
    if r["mechanism"] != "gaussian":
        return ends if "rho" in r or "sigma2" in r else (ends[0], min(ends[1], pure(r)[0]))
    if rate == 1 or a > ORDER:
        return ends
    n = int(a)
    near = moment(rate, most, n) if n > 1 else NOTHING
    if n == a:
        return Fraction(near.lo, ONE * (a - 1)), Fraction(near.hi, ONE * (a - 1))
    chord = (n + 1 - a) * near.hi + (a - n) * moment(rate, most, n + 1).hi
    return Fraction(0), min(ends[1], Fraction(chord, ONE * (a - 1)))


def moment(q, rho, a):
    """ln of the sum of C(a, k) (1 - q)^(a - k) q^k e^(rho (k^2 - k)) (Mironov et al. 2019):
    a - 1 times the divergence of whole order a of Gaussian noise that is sampled at rate q."""
    inside, outside, powers = log(q), log(1 - q), []
    for k in range(a + 1):
        power = real(comb(a, k)).log() + real(k) * inside + real(a - k) * outside
        powers.append(power + real(rho * (k * k - k)))
    top = max(power.hi for power in powers)
    return sum(((power - Real(top, top)).exp() for power in powers), NOTHING).log() + Real(top, top)
