# fmt: off
"""Further mechanisms and rules of dpcheck.py: Laplace and discrete noise, correlated histograms."""
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import comb, isqrt

import dpcheck
from dpcheck import HALF, NOTHING, ONE, TWO, UNIT, Real, gaussian, outcomes, prove, real

PARTS, ORDER = 1 << 16, 512  # most outcomes of a law, largest Renyi order of sampled noise

def law(r):
    """The law of the worst pair of neighbours."""
    name, shift = r["mechanism"], r.get("sensitivity")
    if name == "laplace":
        return partial(laplace, real(shift, r["scale"]))
    if name in ("randomized-response", "approximate"):
        return response(*pure(r))
    if name == "gaussian-sparse-histogram":
        return partial(histogram, r["k"], r["sigma"], UNIT - real(r["tau"], r["sigma"]).tail())
    prove(name in ("discrete-gaussian", "discrete-laplace"), f"there is no curve of a {name}")
    prove(shift.denominator == 1, "the sensitivity of integers is an integer")
    if name == "discrete-gaussian":
        return lattice(2, Fraction(1, 2 * r["sigma2"]), int(shift))
    return lattice(1, Fraction(1, r["scale"]), int(shift))

def laplace(mu, x):
    """p/q is e^-mu up to z = 0, and e^mu from z = mu on. Between, p/q > x for z > (ln x + mu)/2.

    If x <= e^-mu, or undecided, S is everything: G(x) <= 1 - x + the width of what is undecided.
    """
    most = mu.exp()
    least = UNIT.over(most)
    if x.lo < least.hi:
        return UNIT, UNIT, ONE - x.lo + least.hi - least.lo
    if x.lo >= most.hi:
        return NOTHING, NOTHING, 0
    p, q = UNIT - HALF * (x * least).sqrt(), HALF.over((x * most).sqrt())
    return p, q, max((p - x * q).hi, 0)

def histogram(k, sigma, hidden, x):
    """A user shares all k keys (Gaussian noise, and S its best event), or none: then a key is seen
    with probability 1 - hidden^k, only with the user. Each pair is in both orders, and a pair with
    curve G >= c for x >= 1 has G(x) = 1 - x + x G(1/x) in the other order for x <= 1."""
    p, q, top = gaussian(real(k, sigma**2).sqrt(), x)
    seen = UNIT - (real(k) * hidden.log()).exp()
    return p, q, max(top, seen.hi, (UNIT - x + x * seen).hi)

def response(epsilon, delta):
    """The worst (epsilon, delta)-DP mechanism (Kairouz, Oh, Viswanath 2015): with probability delta
    the data are told, else there is a randomised response."""
    no, told = real(1 - delta).over(real(epsilon).exp() + UNIT), real(delta)
    yes = UNIT - told - no
    return outcomes([(told, NOTHING), (yes, no), (no, yes), (NOTHING, told)])

def lattice(power, rate, shift):
    """Integer noise with and without a shift: P(z) = g(z - shift)/n, g(z) = e^-(rate |z|^power).

    Beyond c, where g < e^-180 < 2^-P, g(z) <= g(c), in sum <= 2 g(c) r/(1 - r), r = g(c)/g(c - 1).
    """
    c = int(180 * Fraction(1, rate))
    c = 1 + (isqrt(c) if power == 2 else c)
    prove(2 * c + shift <= PARTS, f"a law has more than {PARTS} outcomes")
    g = [real(-rate * z**power).exp() for z in range(c + 1)]
    r = real(rate * ((c - 1) ** power - c**power)).exp()
    rest = Real(0, (TWO * g[c] * r).over(UNIT - r).hi)
    n = sum(g[1:], sum(g, rest))
    mass, far = {z: g[abs(z)].over(n) for z in range(-c, c + 1)}, Real(0, g[c].hi)
    each = [(mass.get(z - shift, far), mass.get(z, far)) for z in range(-c, c + shift + 1)]
    return outcomes([*each, (rest, rest)])

def pure(r):
    """(epsilon, delta) of a release, sampled or not."""
    prove("epsilon" in r or "scale" in r, f"a {r['mechanism']} has no epsilon")
    epsilon = r["epsilon"] if "epsilon" in r else Fraction(r["sensitivity"], r["scale"])
    return epsilon, r.get("delta", Fraction(0))

def rho(r):
    """(least, most) rho: mu^2/2 for Gaussian noise; pure mechanisms have at most epsilon^2/2."""
    if r["mechanism"] in ("gaussian", "discrete-gaussian"):
        scale = r["sigma2"] if "sigma2" in r else r["sigma"] ** 2
        most = Fraction(r["sensitivity"] ** 2, 2 * scale)
        return most if "sigma" in r and r.get("rate", 1) == 1 else Fraction(0), most
    epsilon, failure = (Fraction(0), 0) if "rho" in r else pure(r)
    prove(failure == 0, "with a delta there is no rho")
    return Fraction(0), r.get("rho", Fraction(epsilon**2, 2))

def divergence(r, a):
    """(least, most) Renyi divergence of order a: a rho; sampled Gaussian noise and whole orders:
    ln(sum of C(a, k) (1 - q)^(a - k) q^k e^(mu^2 (k^2 - k)/2))/(a - 1) (Mironov et al. 2019)."""
    (least, most), q = rho(r), r.get("rate", 1)
    if q == 1 or "sigma" not in r or a.denominator > 1 or a > ORDER:
        return a * least, a * most
    terms = [comb(int(a), k) * q**k * (1 - q) ** (int(a) - k) for k in range(int(a) + 1)]
    terms = [real(t) * real(most * (k * k - k)).exp() for k, t in enumerate(terms)]
    log = sum(terms, NOTHING).log()
    return Fraction(log.lo, ONE * (a - 1)), Fraction(log.hi, ONE * (a - 1))

def quantity(claim, releases, upper, claimed):
    """What the derivation proves of rho, a Renyi divergence, mu (squared) or a second error."""
    rule, measure = claim["derivation"], claim["measure"]
    if measure == "type-two":  # b: 1 - b <= e^epsilon a + delta, and 1 - a <= e^epsilon b + delta
        prove(not upper, "the second error is proved at_least")
        a, x = claim["type_one"], Fraction(real(claim["epsilon"]).exp().hi, ONE)
        left = 1 - dpcheck.delta(releases, rule, claim["epsilon"], True)
        return max(left - x * a, Fraction(left - a, x)), claimed
    prove(rule["rule"] == "sum", "this quantity needs the rule sum")
    prove(measure != "mu" or all(r["mechanism"] == "gaussian" for r in releases), "no mu is known")
    parts = [divergence(r, claim["order"]) if measure == "renyi" else rho(r) for r in releases]
    total = sum(part[upper] * r["times"] for part, r in zip(parts, releases, strict=True))
    return (2 * total, claimed**2) if measure == "mu" else (total, claimed)

def delta(releases, rule, epsilon, upper):
    """Bounds on delta by the other rules."""
    r, x = releases[0], real(epsilon).exp()
    if rule["rule"] == "basic":
        spent = sum(pure(r)[0] * r["times"] for r in releases)
        prove(upper and spent <= epsilon, "the epsilons add up to more, or it is claimed at_least")
        return sum(pure(r)[1] * r["times"] for r in releases)
    if rule["rule"] == "renyi":  # for every loss l, with y = e^(epsilon - l) and s = a - 1:
        a = rule["order"]  # (1 - y)+ = e^(s (l - epsilon)) (1 - y)+ y^s; largest at y = s/a
        prove(upper, "the rule renyi proves at_most alone")
        spent = sum(divergence(r, a)[1] * r["times"] for r in releases)
        log = real((a - 1) * (spent - epsilon)) + real(a - 1) * real(a - 1, a).log() - real(a).log()
        return Fraction(log.exp().hi, ONE)
    prove("k" in r and len(releases) == r["times"] == 1, "this rule is for one sparse histogram")
    if r["mechanism"] == "correlated-sparse-histogram":
        prove(rule["rule"] == "overlaps", "correlated histograms need the rule overlaps")
        return Fraction(overlaps(r, rule["starts"], x, upper), ONE)
    prove(rule["rule"] == "curve", "this histogram needs the rule curve")
    p, q, top = law(r)(x)
    hidden = (real(r["k"]) * (UNIT - real(r["tau"], r["sigma"]).tail()).log()).exp()
    return Fraction(top if upper else max((p - x * q).lo, (UNIT - hidden).lo), ONE)

def overlaps(r, starts, x, upper):
    """Correlated Gaussian sparse histograms: noise N(0, sigma^2) for each key, and for all together
    N(0, sigma^2/sqrt k).

    Neighbours share j keys, of which a change; k - j more are 1 on one side. The shared ones have
    mu^2 = (a - a^2/(j + sqrt k))/sigma^2 <= min(j, (j + sqrt k)/4)/sigma^2. The others have
    positive correlations and variance sigma^2 (1 + 1/sqrt k): all stay hidden with probability
    >= s^(k - j) (Slepian). So delta <= G + 1 - s^(k - j): in a part of all j, from last and first.
    """
    k, root, scale = r["k"], real(r["k"]).sqrt(), real(1, r["sigma"])
    passes = real(r["tau"], r["sigma"]).over((UNIT + UNIT.over(root)).sqrt()).tail()
    if not upper:  # all keys are shared, and half of them change; or one is new
        a = (k + isqrt(k) + 1) // 2 if k > 1 else 1
        p, q, _ = gaussian((real(a) - real(a * a).over(real(k) + root)).sqrt() * scale, x)
        return max((p - x * q).lo, passes.lo)
    starts = [*starts, k + 1]
    prove(starts[0] == 0 and all(a < b for a, b in pairwise(starts)), "starts are no parts of 0..k")
    worst, rate = 0, (UNIT - passes).log()
    for first, after in pairwise(starts):
        j, half = real(after - 1), (real(after - 1) + root) * real(1, 4)
        noise = gaussian((j if j.hi < half.hi else half).sqrt() * scale, x)[2] if after > 1 else 0
        worst = max(worst, noise + ONE - (real(k - first) * rate).exp().lo)
    return worst
