"""CSH, Lemmas 2.5 to 4.1 and 7.3, 7.4, Theorem 3.3: proofs whose steps are decided for all values.

Every inequality is one of non-negative symbols: a <= b is written b = a + s, a share is u/(u + v).
"""

from __future__ import annotations

import sympy as sp

from exactdp_proofs.comparisons import every, identity
from exactdp_proofs.polynomials import never_below_zero
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CSH, mutant, weaker

_POINTWISE = "inequalities of any densities; mechanisms are compared on instances"


def _rational(value: Fraction | int) -> sp.Rational:
    return sp.Rational(str(value))


@CSH.holds("Lemma 2.5")
@weaker
def lemma_2_5(loss: Fraction = Fraction(1)) -> None:
    """N(f, sigma^2 I) noise at l2 distance D has exactly the delta Phi(D/(2 sigma)
    - epsilon sigma/D) - e^epsilon Phi(-D/(2 sigma) - epsilon sigma/D).

    Proof: With y the noisy value minus the second centre, the log ratio of the densities is
        mu t - mu^2/2 for mu = D/sigma and t = <y, f - f'>/(sigma D), which is N(0, 1) under the
        second law and N(mu, 1) under the first. It is epsilon + mu (t - c), c = epsilon/mu + mu/2,
        so p > e^epsilon q exactly for t > c, and delta = P(N > c - mu) - e^epsilon P(N > c).
    Rocq: gaussian_curve
    """
    yy, yd, x, epsilon = sp.symbols("yy yd x epsilon", real=True)
    distance, sigma, mu = sp.symbols("D sigma mu", positive=True)
    along = yd / (sigma * distance)
    ratio = (yy - (yy - 2 * yd + distance**2)) / (2 * sigma**2)
    identity(ratio - (distance / sigma) * along + (distance / sigma) ** 2 / 2)
    cut, moved = epsilon / mu + mu / 2, _rational(loss) * mu
    identity(-cut - (-mu / 2 - epsilon / mu))
    identity(moved * x - moved**2 / 2 - epsilon - moved * (x - cut))
    identity(moved - cut - (mu / 2 - epsilon / mu))


@CSH.holds("Lemma 2.6", no_mechanism=_POINTWISE)
@mutant("the threshold protects k - 1 counters", fewer=1)
def lemma_2_6(fewer: int = 0) -> None:
    """The GSHM is (epsilon, delta_gauss + delta_inf)-DP when one user changes at most k counters,
    by one each: delta_gauss is Lemma 2.5 at sensitivity sqrt(k), and
    delta_inf = 1 - Phi(tau/sigma)^k.

    Proof: Let p and q be the densities of the counters in both histograms, Q = e^epsilon q, and G
        the chance that the r new counters stay hidden, which are independent. If the first
        histogram has them, delta is 1 - G plus the integral of (G p - Q)_+, and that is at most
        (p - Q)_+; else it is the integral of (p - G Q)_+, at most (p - Q)_+ + (1 - G) p. The
        integral of (p - Q)_+ is Lemma 2.5 at sqrt(a), a <= k, which grows with the distance, and
        1 - G = 1 - Phi^r grows with r up to k.
    """
    p, q, s, u, v, hidden = sp.symbols("p Q s u v Y", nonnegative=True)
    visible, stays = v / (u + v), u / (u + v)  # 1 - G and G
    never_below_zero((p - q) - (stays * p - q))  # first case
    more = q + s  # p >= Q
    never_below_zero(s + visible * more - (more - stays * q))
    larger = p + s  # Q > p
    never_below_zero(visible * p - (p - stays * larger))
    # all k new, Y = Phi^(k - 1): the stated delta_inf minus what they show
    chance = u / (u + v)
    never_below_zero((1 - hidden * chance ** (1 - fewer)) - (1 - hidden * chance))


@CSH.holds("Lemma 2.7", no_mechanism=_POINTWISE)
@mutant("the delta without gamma(j) in the factor e^(epsilon - gamma(j))", power=0)
def lemma_2_7(power: int = 1) -> None:
    """The exact delta of the GSHM is the maximum of 1 - Phi(tau/sigma)^k and, over j, of the two
    families with gamma(j) = (k - j) log Phi(tau/sigma).

    Proof: A pair of neighbours has a counters in both histograms, so large that all are seen, and
        r <= k - a new ones, hidden with chance G = Phi^r. Its delta is 1 - G plus the integral of
        (G p - Q)_+ in one order, of (p - G Q)_+ in the other. Both grow when G falls, so r = k - a.
        Divided by G, resp. with e^epsilon G = e^(epsilon + gamma), the integrals are Lemma 2.5 at
        sqrt(j) and epsilon -+ gamma(j), j = a >= 1; a = 0 is the first term.
    """
    p, q, s, g, less = sp.symbols("p Q s g G", nonnegative=True)
    # G = less + g falls to less: 1 - G rises by g, that is by the integral of g p
    identity(g * p - ((less + g) * p - q - (less * p - q)))  # where both are > 0
    never_below_zero(g * p - ((less + g) * p - (less * p + s)))  # less p <= Q = less p + s
    never_below_zero((p - less * q) - (p - (less + g) * q))  # the other order
    epsilon, gamma = sp.symbols("epsilon gamma", real=True)
    identity(sp.expand(sp.exp(epsilon) * sp.exp(gamma)) - sp.exp(epsilon + gamma).expand())
    identity(sp.expand(sp.exp(gamma) * sp.exp(epsilon - power * gamma)) - sp.exp(epsilon))


def _moved(changed: sp.Expr, counters: sp.Expr, gamma: sp.Expr) -> sp.Expr:
    """The squared distance v' Cov^-1 v, in units of sigma, where some of the counters move."""
    return changed - changed**2 / (counters + gamma)


@CSH.holds("Lemma 2.8")
@mutant(scale=Fraction(97, 100))
def lemma_2_8(scale: Fraction = Fraction(1)) -> None:
    """Independent N(0, sigma^2) noise and one shared N(0, sigma^2/gamma) on d counters act like
    the Gaussian mechanism at sensitivity at most sqrt(d + gamma)/2 when all counters move by zero
    or one in the same direction.

    Note: the covariance is sigma^2 (I + J/gamma), J all ones, with the inverse
        (I - J/(d + gamma))/sigma^2; the sensitivity is the root of v' Cov^-1 v, for a ones in v.
    """
    a, d, gamma = sp.symbols("a d gamma", positive=True)
    identity(1 / gamma - 1 / (d + gamma) - d / (gamma * (d + gamma)))  # (I + J/g)(I - J/(d + g))
    square = (a - (d + gamma) / 2) ** 2 / (d + gamma)
    identity(_rational(scale) ** 2 * (d + gamma) / 4 - _moved(a, d, gamma) - square)


@CSH.holds("Lemma 3.2")
@mutant(share=Fraction(97, 100))
def lemma_3_2(share: Fraction = Fraction(1)) -> None:
    """With one shared N(0, sigma^2/sqrt k) and j independent N(0, sigma^2), real k > 0, some sum
    exceeds tau with probability at most 1 - Phi(tau/(sigma (1 + k^(-1/4))))^(j+1).

    Proof: No sum exceeds tau if the shared noise is at most s and every other at most tau - s, an
        event of j + 1 independent variables. For s = tau k^(-1/4)/(1 + k^(-1/4)) both limits are
        tau/(sigma (1 + k^(-1/4))) standard deviations, so each factor is Phi of that.
    Rocq: some_sum_passes
    """
    k, tau, sigma = sp.symbols("k tau sigma", positive=True)
    part = k ** sp.Rational(-1, 4)  # the shared standard deviation is sigma k^(-1/4)
    identity((sigma * part) ** 2 - sigma**2 / sp.sqrt(k))
    s, stated = tau * part / (1 + part), tau / (_rational(share) * sigma * (1 + part))
    identity(s / (sigma * part) - stated)
    identity((tau - s) / sigma - stated)


@CSH.holds("Theorem 3.3", no_mechanism="a chain of inequalities; see on instances")
@mutant(scale=Fraction(97, 100))
def theorem_3_3(scale: Fraction = Fraction(1)) -> None:
    """Algorithm 2 is (epsilon, delta_gauss + delta_inf)-DP for k-sparse monotonic histograms:
    delta_gauss at sensitivity sqrt(k + sqrt k)/2, and
    delta_inf = 1 - Phi(tau/(sigma (1 + k^(-1/4))))^(k+1).

    Proof: Let M be X where X' is not 0 or X has extra counters, so that M and X' have the same
        support of j <= k counters: from X the extra counters are taken away, or those of X' are
        added with the value 1. By Lemma 3.2 P_X <= P_M + delta_inf, as at most k counters differ
        and show. M and X' are at a squared distance of at most (j + sqrt k)/4 (Lemma 2.8), which is
        at most (k + sqrt k)/4, so P_M <= e^epsilon P_X' + delta_gauss (Lemma 2.5).
    """
    first, s, t, inf, gauss = sp.symbols("P_X s t d_inf d_gauss", nonnegative=True)
    middle = first - inf + s  # P_X = P_M + delta_inf - s
    stated = gauss + inf + (middle - gauss + t)  # e^epsilon P_X' = P_M - delta_gauss + t
    never_below_zero(sp.expand(stated - first))
    visible, x = sp.symbols("Y v", nonnegative=True)  # psi(r) = Y >= psi(k) = Y/(1 + v)
    never_below_zero((1 - visible / (1 + x)) - (1 - visible))
    a, j, more, root = sp.symbols("a j e r", positive=True)  # k = j + e, sqrt k = r
    most = _rational(scale) ** 2 * (j + more + root) / 4
    square = (a - (j + root) / 2) ** 2 / (j + root)
    never_below_zero(more / 4)
    identity(most - _moved(a, j, root) - square - more / 4)


@CSH.holds("Lemma B.1")
@weaker
def lemma_b_1(loss: Fraction = Fraction(1)) -> None:
    """For the same support of j <= k counters the Gaussian delta at
    gamma = min(sqrt(j + sqrt k)/2, sqrt j) bounds Algorithm 2: the exact distance is at most gamma.

    Note: a <= j counters change; their squared distance is that of Lemma 2.8.
    """
    a, less, root = sp.symbols("a e r", positive=True)  # j = a + e, sqrt k = r
    j = a + less
    never_below_zero(j - _moved(a, j, root))
    square = (a - (j + root) / 2) ** 2 / (j + root)
    identity((j + root) / 4 - _rational(loss) ** 2 * _moved(a, j, root) - square)


@CSH.holds("Lemma 4.1")
@mutant("the (k+2)-th largest is subtracted", after=2)
def lemma_4_1(after: int = 1) -> None:
    """H~ of Algorithm 3 has at most k non-zero counters, and one user more or less changes them by
    0 or 1, all in one direction.

    Proof: At most k counters exceed the (k + 1)-th largest count b. One user more raises counters
        by u = 0 or 1, so b by 0 or 1, since ranks do not fall and do not rise by more than every
        counter. With x = c - b, max(0, x) becomes max(0, x + u), a rise by 0 or 1, or
        max(0, x + u - 1), a fall by 0 or 1, for every integer x: x = n, 0 or -1 - n.
    """
    n, k = sp.symbols("n k", nonnegative=True, integer=True)
    for u in every("both changes of a counter", (0, 1)):
        identity((n + u) - n - u)  # x = n, and b stays
        never_below_zero(n + 1 - u)  # x = -1 - n: x + u <= 0, so both are 0
        identity((n + 1 + u - 1) - (n + 1) - (u - 1))  # x = n + 1, and b rises: 0 or -1
        never_below_zero(1 - u)  # x = 0 and x < 0: x + u - 1 <= 0, so both are 0
    never_below_zero(k - (k + after - 1))  # counters that can exceed what is subtracted


@CSH.holds("Lemma 7.3", no_mechanism="a conversion of any mechanism's divergences")
@mutant(twice=Fraction(194, 100))
def lemma_7_3(twice: Fraction = Fraction(2)) -> None:
    """rho-zCDP implies (rho + 2 sqrt(rho log(1/delta)), delta)-DP, log natural and delta < 1.

    Proof: (p - e^epsilon q)_+ is at most p where the loss exceeds epsilon, an event that Markov's
        inequality gives a probability of at most exp((alpha - 1)(alpha rho - epsilon)), for every
        alpha > 1. With rho = r^2, log(1/delta) = l^2 and alpha = 1 + l/r the exponent is -l^2.
    Rocq: zcdp_conversion
    """
    r, root = sp.symbols("r l", positive=True)
    epsilon, alpha = r**2 + _rational(twice) * r * root, 1 + root / r
    never_below_zero(alpha - 1)
    identity((alpha - 1) * (alpha * r**2 - epsilon) + root**2)


@CSH.holds("Lemma 7.4")
@weaker
def lemma_7_4(loss: Fraction = Fraction(1)) -> None:
    """Integer queries with sum_i (q_i - q'_i)^2/sigma_i^2 <= 2 rho and independent noise
    N_Z(0, sigma_i^2) are rho-zCDP.

    Proof: For a move by s and the variance v, p^alpha q^(1 - alpha) is
        exp(alpha (alpha - 1) s^2/(2 v)) times a Gaussian weight centred at alpha s. Its sum over
        the integers is at most that of a centre at 0: theorem theta_largest_at_0 of
        checker/rocq/Theta.v. So D_alpha <= alpha s^2/(2 v); divergences of independent noise add
        up, to alpha times the half of the given sum.
    Rocq: discrete_gaussian_queries
    """
    x, s = sp.symbols("x s", real=True)
    alpha, v = sp.symbols("alpha v", positive=True)
    # for two queries, a sum of the given halves: rho >= (s^2/v + t^2/w)/2
    t, w, room = sp.symbols("t w u", positive=True)
    rho = (s**2 / v + t**2 / w) / 2 + room
    identity(alpha * rho - alpha * s**2 / (2 * v) - alpha * t**2 / (2 * w) - alpha * room)
    never_below_zero(alpha * room)
    less = v / _rational(loss) ** 2
    exponent = -alpha * (x - s) ** 2 / (2 * less) - (1 - alpha) * x**2 / (2 * less)
    centred = -((x - alpha * s) ** 2) / (2 * less)
    identity(sp.expand(exponent - centred - alpha * (alpha - 1) * s**2 / (2 * v)))


@CSH.holds("Theorem 3.5", no_mechanism="a chain of inequalities; see on instances")
@mutant("gamma(j) 3 % smaller", scale=Fraction(97, 100))
def theorem_3_5(scale: Fraction = Fraction(1)) -> None:
    """delta of Algorithm 2 is at most the maximum of 1 - psi(k), the Gaussian delta at
    sqrt(k + sqrt k)/2, and the two families over j in [k-1] at
    gamma(j) = min(sqrt j, sqrt(j + sqrt k)/2).

    Proof: Let j counters be in both histograms and r <= k - j in one. As for Theorem 3.3, in both
        orders delta is at most 1 - psi(r) plus the Gaussian delta at gamma(j) (Lemmas 3.2 and B.1),
        with psi(r) >= psi(k - j). For 1 <= j < k that is a term of the first family. For j = 0
        nothing is in both, and it is 1 - psi(k) at most; for r = 0 it is the Gaussian delta at
        gamma(j), at most that at sqrt(k + sqrt k)/2. (The paper's proof takes a step that fails.)
    """
    first, s, t, visible, gauss, x = sp.symbols("P_X s t Y d_gauss v", nonnegative=True)
    never_below_zero((1 - visible / (1 + x)) - (1 - visible))  # psi(r) = Y, psi(k - j) = Y/(1 + v)
    middle = first - (1 - visible) + s  # P_X = P_M + 1 - psi(r) - s
    never_below_zero(sp.expand(gauss + (1 - visible) + (middle - gauss + t) - first))
    a, j, more, root = sp.symbols("a j e r", positive=True)  # k = j + e, sqrt k = r
    never_below_zero((j + more + root) / 4 - (j + root) / 4)
    never_below_zero((a + more) - _moved(a, a + more, root))  # at most sqrt j, j = a + e
    square = (a - (j + root) / 2) ** 2 / (j + root)
    identity(_rational(scale) ** 2 * (j + root) / 4 - _moved(a, j, root) - square)


@CSH.holds("Corollary 4.2", no_mechanism="Algorithm 2 on another histogram; see on instances")
@mutant("the (k+2)-th largest is subtracted", after=2)
def corollary_4_2(after: int = 1) -> None:
    """Algorithm 3 has the guarantees of Theorems 3.3 and 3.5, whatever number of counters a user
    changes.

    Proof: Algorithm 3 is Algorithm 2 on H~, which is k-sparse and monotonic for every histogram
        (Lemma 4.1), and both theorems are for all such histograms. The check decides the steps of
        all three proofs.
    """
    theorem_3_3()
    theorem_3_5()
    lemma_4_1(after)


@CSH.holds("Lemma 7.6")
@mutant(share=Fraction(97, 100))
def lemma_7_6(share: Fraction = Fraction(1)) -> None:
    """With discrete noise Z ~ N_Z(0, 4 sigma^2/sqrt k), Z_i ~ N_Z(0, 4 sigma^2), some Z + Z_i
    exceeds 2 tau with probability at most 1 - P(Z <= 2 tau k^(-1/4)/(k^(-1/4)+1))
    P(Z_i <= 2 tau/(k^(-1/4)+1))^k.

    Proof: No sum exceeds 2 tau if Z <= s and every Z_i <= 2 tau - s, an event of independent
        variables, whatever their laws are; s is the share in the first probability, and 2 tau - s
        that in the second.
    Rocq: some_sum_passes
    """
    k, tau = sp.symbols("k tau", positive=True)
    part = k ** sp.Rational(-1, 4)
    s = 2 * tau * part / (1 + part)
    identity(2 * tau - s - _rational(share) * 2 * tau / (part + 1))
