"""CSH, Section 3: sparse monotonic histograms, Algorithms 1 and 2, Lemmas 3.2 and 3.4."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from math import isqrt

import sympy as sp
from flint import arb

from exactdp import mechanisms
from exactdp.accounting.sparse_histograms.csh_exact import threshold_only
from exactdp.balls import ball, precision
from exactdp.normal import tail
from exactdp.samplers import DiscreteGaussian, SeededSource
from exactdp_proofs.comparisons import at_most, equal, holds, identity, within
from exactdp_proofs.papers.csh._bounds import delta_gauss, delta_inf
from exactdp_proofs.papers.csh._model import (
    BITS,
    Vector,
    binary,
    either_way,
    one_shows,
    point,
)
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CSH, as_printed, mutant

_HISTOGRAMS: tuple[dict[str, int], ...] = (
    {"a": 1, "b": 0},
    {"a": 1, "b": 2, "c": 0},
    {"a": 3, "b": 1},
    {"a": 4, "b": 5, "c": 1, "d": 0},
)


@CSH.holds("Algorithm 1", "shipped mechanism")
@mutant("counters at exactly 1 + tau are released, too", lower=Fraction(1, 4))
def algorithm_1(lower: Fraction = Fraction(0)) -> None:
    """As shipped, with discrete Gaussian noise: every non-zero counter gets independent noise of
    parameter sigma^2 and is released exactly when it then exceeds 1 + tau, strictly; zero
    counters are never touched.
    """
    _same_releases(mechanisms.GSHM(k=4, sigma=2, tau=1, epsilon=1, delta="0.999"), lower)


@CSH.holds("Algorithm 2", "shipped mechanism")
@mutant("counters at exactly 1 + tau are released, too", lower=Fraction(1, 4))
def algorithm_2(lower: Fraction = Fraction(0)) -> None:
    """As shipped, with noise (Z_i + Z)/2 of discrete Gaussians as in Theorem 7.7: one shared noise
    is added to every non-zero counter next to its own, and the counter is released exactly when
    it then exceeds 1 + tau, strictly.

    Note: The law of the continuous noise is under Exact analysis.
    """
    code = mechanisms.CSH(sparsity=4, sigma=2, tau=1, epsilon=1, delta="0.999")
    _same_releases(code, lower)


def _same_releases(code: mechanisms.GSHM | mechanisms.CSH, lower: Fraction) -> None:
    """The code releases what the pseudocode does, with its limit lowered, on the same draws."""
    for counts, seed in product(_HISTOGRAMS, range(20)):
        released = dict(code.draw(counts, SeededSource(seed)))
        written = _written(code, counts, 1 + Fraction(code.tau) - lower, seed)
        equal(released, written, counts=counts, seed=seed)


def _written(
    code: mechanisms.GSHM | mechanisms.CSH, counts: dict[str, int], limit: Fraction, seed: int
) -> dict[str, Fraction]:
    """The pseudocode, line by line; counters that are zero get no noise at all."""
    source, shared = SeededSource(seed), isinstance(code, mechanisms.CSH)
    scale = 2 if shared else 1  # noise in steps of one half, as in Theorem 7.7
    own = DiscreteGaussian(sigma2=scale**2 * Fraction(code.sigma) ** 2)
    common = code._noise.shared.sample(source) if isinstance(code, mechanisms.CSH) else 0
    noisy = {
        x: count + Fraction(own.sample(source) + common, scale)
        for x, count in counts.items()
        if count != 0
    }
    return {x: value for x, value in noisy.items() if value > limit}


_SIZES = ((1, 1), (2, 1), (3, 1), (3, 2), (4, 2))  # (d, k)


def _neighbours(d: int, k: int) -> Iterator[tuple[Vector, Vector]]:
    """All k-sparse neighbours with counts up to 2 before a user is added, in both orders."""
    for pair in either_way(d, 2):
        if all(sum(x > 0 for x in h) <= k for h in pair):
            yield pair


@CSH.note("Definition 3.1")
@as_printed(whole=True)
@mutant("at most k - 1 non-zero entries", fewer=1)
def definition_3_1(whole: bool = False, fewer: int = 0) -> None:
    r"""A k-sparse monotonic histogram has the sensitivity space {0,1}^d joined with {0,-1}^d.

    Printed (Section 3, Definition 3.1, line 159): Furthermore, the sensitivity space of
        ... \{0,1\}^{d}\cup\{0,-1\}^{d}
    Corrected: It is the part of that space with at most k non-zero entries; all such vectors
        occur. The text goes on to say that neighbours differ in at most k counters.
    """
    for d, k in _SIZES:
        differences = {
            tuple(x - y for x, y in zip(h, other, strict=True)) for h, other in _neighbours(d, k)
        }
        stated = {u for u in binary(d) if whole or sum(u) <= k - fewer}
        equal(differences, stated | {tuple(-x for x in u) for u in stated}, d=d, k=k)


@CSH.holds("Definition 3.1", "consequences")
@mutant("U is always contained in U'", either=False)
def definition_3_1_consequences(either: bool = True) -> None:
    """The supports of neighbours are nested, U in U' or U' in U, and neighbouring histograms
    differ in at most k counters.
    """
    for d, k in _SIZES:
        for h, other in _neighbours(d, k):
            at_most(sum(x != y for x, y in zip(h, other, strict=True)), k, H=h, other=other)
            first, second = ({i for i, x in enumerate(v) if x} for v in (h, other))
            holds(first <= second or (either and second <= first), H=h, other=other)


@CSH.holds("Section 3", "Misra-Gries sketches")
@mutant("counters never fall", one_ways=({0, 1},))
def misra_gries(one_ways: tuple[set[int], ...] = ({0, 1}, {0, -1})) -> None:
    """Sketches of size k of streams that differ in one element, alone or merged with another
    sketch, are k-sparse, and their counters change by 0 or 1 in one direction.
    """
    k = 2
    streams = [s for n in range(5) for s in product(range(3), repeat=n)]
    sketches = {stream: mechanisms.misra_gries(stream, size=k) for stream in streams}
    others = [dict(t) for t in {tuple(sorted(s.items())) for s in sketches.values()}]
    for stream, other in product(streams, others):  # one of the other sketches is empty
        longer = mechanisms.merge_misra_gries(sketches[stream], other, size=k)
        at_most(len(longer), k, stream=stream, other=other)
        for i in range(len(stream)):
            shorter = mechanisms.merge_misra_gries(
                sketches[stream[:i] + stream[i + 1 :]], other, size=k
            )
            change = {longer.get(x, 0) - shorter.get(x, 0) for x in {*shorter, *longer}}
            holds(any(change <= way for way in one_ways), stream=stream, i=i, other=other)


_KS = (Fraction(1, 16), Fraction(1), Fraction(2), Fraction(10), Fraction(51914), Fraction(10**12))
_RATIOS = (Fraction(1, 10), Fraction(1), Fraction(3), Fraction(6))


@cache
def _some_passes(k: Fraction, j: int, ratio: Fraction) -> arb:
    """P(some Z_corr + Z_i > tau), at ratio = tau/sigma, by the certified grid of the library."""
    scale = 10**9  # kappa <= sqrt k: a shared variance above 1/sqrt k, to 1e-8
    kappa = Fraction(isqrt(k.numerator * scale**2 // k.denominator), scale)
    return threshold_only(j, ball(ratio), kappa, j)


@CSH.holds("Lemma 3.2", "on instances", ours=True)
@mutant(share=Fraction(99, 100))
def lemma_3_2(share: Fraction = Fraction(1)) -> None:
    """With one shared N(0, sigma^2/sqrt k) and j independent N(0, sigma^2), real k > 0, some sum
    exceeds tau with probability at most 1 - Phi(tau/(sigma (1 + k^(-1/4))))^(j+1).
    """
    with precision(BITS):
        for k, j, ratio in product(_KS, (1, 2, 40), _RATIOS):
            stated = one_shows(ball(ratio) / (ball(share) * (1 + 1 / ball(k).root(4))), j + 1)
            at_most(_some_passes(k, j, ratio), stated, k=k, j=j, ratio=ratio)


@CSH.holds(
    "Lemma 3.2", "a sharper bound", ours=True, slack="equality at j = 1, to 1e-8; allowed is 1e-6"
)
@mutant(share=Fraction(99, 100))
def lemma_3_2_sharper(share: Fraction = Fraction(1)) -> None:
    """By Slepian's inequality the probability is even at most
    1 - Phi(tau/(sigma sqrt(1 + 1/sqrt k)))^j, with equality at j = 1: equally correlated sums pass
    together more often than independent ones. So the threshold may be lower, in closed form.
    """
    with precision(BITS):
        for k, j, ratio in product(_KS, (1, 2, 40), _RATIOS):
            spread = (1 + 1 / ball(k).sqrt()).sqrt() * ball(share)
            exact, stated = _some_passes(k, j, ratio), one_shows(ball(ratio) / spread, j)
            if j == 1:  # the shared variance is that of the lemma to 1e-8
                within(exact, stated, stated / 10**6, k=k, ratio=ratio)
            else:
                at_most(exact, stated, k=k, j=j, ratio=ratio)


@CSH.holds("Lemma 3.2", "proof, shares of the threshold")
@mutant("with the shares exchanged", shares=(0, 1))
def lemma_3_2_shares(shares: tuple[int, int] = (1, 0)) -> None:
    """Z_corr gets the share tau k^(-1/4)/(1 + k^(-1/4)) of the threshold and Z_i the share
    tau/(1 + k^(-1/4)); they add up to tau, and each is tau/(sigma (1 + k^(-1/4))) standard
    deviations.
    """
    k, tau, sigma = sp.symbols("k tau sigma", positive=True)
    part = k ** sp.Rational(-1, 4)
    common, own = (tau * part**power / (1 + part) for power in shares)
    identity(common + own - tau)
    for share, deviation in ((common, sigma * part), (own, sigma)):
        identity(share / deviation - tau / (sigma * (1 + part)))


#: Laws of the shared and of a counter's own noise, in quarters: value -> weight.
_NOISES = (
    ({-4: 1, 0: 2, 4: 1}, {-4: 1, 0: 2, 4: 1}),
    ({-1: 1, 0: 8, 6: 1}, {-3: 1, 1: 5, 5: 2}),
    ({-2: 1, 2: 1}, {-8: 1, 0: 6, 8: 1}),
)


@CSH.holds("Lemma 3.2", "proof, equations (1) and (2)")
@mutant("P(some sum > tau) <= 1 - P(Z_i <= tau - s)^j", shared_too=False)
def lemma_3_2_equations(shared_too: bool = True) -> None:
    """A sum exceeds tau only if one of the two noises exceeds its share s or tau - s; with
    independence P(some sum > tau) <= 1 - P(Z_corr <= s) P(Z_i <= tau - s)^j, for any laws.
    """
    for (common, own), j, tau in product(_NOISES, (1, 2, 4), range(1, 9)):
        total = sum(common.values())
        shows = sum(Fraction(w, total) * (1 - _below(own, tau - z) ** j) for z, w in common.items())
        for s in range(tau + 1):
            first = _below(common, s) if shared_too else Fraction(1)
            at_most(shows, 1 - first * _below(own, tau - s) ** j, j=j, tau=tau, s=s)


def _below(law: dict[int, int], limit: int) -> Fraction:
    return Fraction(sum(w for z, w in law.items() if z <= limit), sum(law.values()))


#: (parameters without tau, target delta): delta_gauss is below the target in each.
_TARGETS = (
    (point(10, "18.5", "0", "0.35"), Fraction("1e-5")),
    (point(51914, "1150", "0", "0.35"), Fraction("1e-5")),
    (point(1, "2", "0", "1"), Fraction("0.05")),
    (point(5, "3", "0", "0.5"), Fraction("0.2")),
)


def _quantile(tail_mass: arb) -> arb:
    """x with 1 - Phi(x) = tail_mass in (0, 1), as a ball, by bisection."""
    low, high = arb(-40), arb(40)
    for _ in range(170):
        middle = ((low + high) / 2).mid()
        low, high = (middle, high) if tail(middle) > tail_mass else (low, middle)
    return low.union(high)


@CSH.note("Lemma 3.4", severity="unsafe", slack="equality, up to the rounding of tau")
@as_printed(sign=-1)
@mutant(sign=Fraction(999, 1000))
def lemma_3_4(sign: Fraction = Fraction(1)) -> None:
    r"""Adding the deltas gives delta exactly at tau = Phi^-1((1 - delta - delta_gauss)^(1/(k+1)))
    (1 + k^(-1/4)) sigma.

    Printed (Section 3.1, Lemma 3.4, line 250): technique requires ...
        \tau\geq\Phi^{-1}\left(\sqrt[k+1]{1-\delta-\delta_{\text{gauss}}}\right)\cdot%
        \left(1+k^{-1/4}\right)\sigma
    Corrected: The sign of delta_gauss under the root is plus, for delta_gauss < delta.
    Regime: every delta_gauss > 0: the threshold is too low, and delta + 2 delta_gauss is
        reached, up to three times the target.
    Extraction: no: the root stands in the lemma and again in its proof with two minus signs: a
        slip, since the proof begins with delta - delta_gauss >= 1 - Phi(..)^(k+1).

    >>> from mpmath import erfinv, exp, mp, mpf, ncdf, nstr, sqrt
    >>> mp.dps, k, sigma, eps, delta = 30, 10, mpf("18.5"), mpf("0.35"), mpf("1e-5")
    >>> mu = sqrt(k + sqrt(k)) / (2*sigma)
    >>> gauss = ncdf(mu/2 - eps/mu) - exp(eps) * ncdf(-mu/2 - eps/mu)
    >>> def total(sign):
    ...     root = (1 - delta + sign*gauss) ** (mpf(1)/(k + 1))
    ...     tau = sqrt(2) * erfinv(2*root - 1) * (1 + k**-0.25) * sigma
    ...     return nstr(gauss + 1 - ncdf(tau / (sigma*(1 + k**-0.25))) ** (k + 1), 6)
    >>> total(-1), total(+1)                # printed, corrected: the target is 1e-5
    ('2.03294e-5', '1.0e-5')
    """
    with precision(BITS):
        for at, target in _TARGETS:
            log_root = (ball(sign) * delta_gauss(at) - ball(target)).log1p() / (at.k + 1)
            tau = _quantile(-log_root.expm1()) * (1 + 1 / arb(at.k).root(4)) * ball(at.sigma)
            at = at._replace(tau=Fraction(str(tau.mid().str(25, radius=False))))
            within(delta_gauss(at) + delta_inf(at), target, target / 10**12, k=at.k)
