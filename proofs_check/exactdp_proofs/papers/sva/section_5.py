"""SVA, Section V and Figures 1 to 3: who has the least error, by exact variances."""

from __future__ import annotations

from itertools import product
from typing import Any

from exactdp.balls import ball, precision
from exactdp.local import SparseVectorMean
from exactdp.local.sparse import Harmony, KFold, NaiveGaussian, Pckv, Sampled
from exactdp_proofs.comparisons import at_most, below, equal
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import SVA, fitted, mutant

_N, _D = 10**5, 4096


@SVA.holds("Section V-A", "delta", ours=True)
@mutant(times=Fraction(33, 10))
@fitted(times=Fraction(3))
def delta(times: Fraction = Fraction(1)) -> None:
    """The delta = 1e-5 of the experiments with n = 1e5 exceeds epsilon/(n log n) for every epsilon
    used, up to 3.5: the lower bound, which asks for delta = o(epsilon/(n log n)), hardly covers
    it.
    """
    with precision(80):
        allowed = ball(times * Fraction(7, 2)) / (_N * ball(_N).log())
        below(allowed, Fraction(1, 10**5))


@SVA.holds("Section V-B", "crossing at sqrt(d)")
@mutant("once k > sqrt(d) + 1", late=1)
def crossing(late: int = 0) -> None:
    """Sampling one of k entries is worse than Harmony, which reports one of d coordinates, exactly
    once k > sqrt(d), by the variances as shipped (d = 64 and 4096, epsilon = 1).
    """
    for d in (64, 4096):
        dense = Harmony(d=d, k=1, epsilon=1).variance
        for k in range(1, min(d, 128) + 1):
            worse = Sampled(d=d, k=k, epsilon=1).variance > dense
            equal(worse, (k - late) ** 2 > d, d=d, k=k)


@SVA.holds("Section V-D", "error factor")
@mutant("the first up to L = 10", last=10)
def error_factor(last: int = 9) -> None:
    """At k = 64, n = 1e5 and delta = 1e-5 the least of L, (k L log(1/delta))^(1/4) and
    sqrt(k log n) is the first up to L = 9 and the second from 10 to 128, never the third. So what
    the plots show is a matter of constants, as the text says.
    """
    k = 64
    with precision(80):
        third = (k * ball(_N).log()).sqrt()
        for length in range(1, 129):
            second = (k * length * ball(10**5).log()).root(4)
            below(second, third, L=length)
            low, high = (length, second) if length <= last else (second, length)
            below(low, high, L=length)


@SVA.holds("Figure 1", "worst vectors", ours=True, slow=True)
@mutant("at k = 4 as well", best=(4, 16, 64, 256))
def figure_1(best: tuple[int, ...] = (16, 64, 256)) -> None:
    """At n = 1e5, d = 4096 and epsilon = 1 Algorithm 1 with Laplace noise has the least mean square
    error for the worst vectors at k = 16, 64 and 256; sampling has at k = 1 and 4, PCKV at k =
    1024. The text says "the smallest estimation error for the whole region when k ranges from 1
    to 1024", of an implementation that sends one bit.
    """
    winners = {1: Sampled, 4: Sampled, 1024: Pckv}
    for k in (1, 4, 16, 64, 256, 1024):
        basic: dict[str, Any] = {"d": _D, "k": k, "epsilon": 1}
        ours = SparseVectorMean(**basic, level="user").plan.mean_square(_N)
        kinds = (Sampled, NaiveGaussian, Harmony, Pckv)
        others = {kind: kind(**basic).mean_square(_N) for kind in kinds}
        if k in winners:
            equal(min(others, key=others.__getitem__), winners[k], k=k)
        equal(ours < min(others.values()), k in best, k=k)


@SVA.holds("Figure 2", "worst vectors", ours=True)
@mutant("from k = 2 on", first=2)
def figure_2(first: int = 3) -> None:
    """At event level, at n = 1e5, d = 4096 and epsilon = 1, the mean square error of Algorithm 1 is
    at most 12/n, and from k = 3 on it is the least, naive perturbation by Gaussian noise included
    (by Laplace noise, which the experiments leave out, it has 8/n, with d numbers per report).
    """
    for k in (1, 2, 3, 4, 16, 64, 256, 1024):
        basic: dict[str, Any] = {"d": _D, "k": k, "epsilon": 1}
        ours = SparseVectorMean(**basic, level="event").plan.mean_square(_N)
        at_most(ours, Fraction(12, _N), k=k)
        others = [KFold(**basic), Harmony(**basic), Pckv(**basic)]
        more = [scheme(**basic, level="event") for scheme in (Sampled, NaiveGaussian)]
        least = min(scheme.mean_square(_N) for scheme in (*others, *more))
        equal(ours < least, k >= first, k=k)


@SVA.holds(
    "Figure 3",
    "row with delta",
    ours=True,
    slow=True,
    elsewhere="the mutant has more users, whom a bias hurts more",
)
@mutant("for 1e9 users", users=10**9)
def figure_3(users: int = 10**8) -> None:
    """At k = 64 and n = 1e4, 1e6 and 1e8 users the (epsilon, delta) row of Table II is never what
    the shipped search chooses for L = 1, 2, 4, ..., 128, even with an exact tail for Lemma 14.
    Section V-D finds the same by experiment for n = 1e5.
    """
    basic: dict[str, Any] = {"d": _D, "k": 64, "epsilon": 1}
    for n, length in product((users // 10**4, users // 100, users), (1, 2, 4, 8, 16, 32, 64, 128)):
        m = SparseVectorMean(**basic, users=n, L=length, delta="1e-5", hashes="keyed")
        equal(m.plan.delta, 0, n=n, L=length)


SVA.not_checkable(
    "Section V",
    "Curves of Figures 1 to 3 and their description, and the setup of the experiments.",
    "plots without data; lab/experiments/sparse_vectors.py measures all nine panels anew. The "
    "report sizes of Tables IV to VI confirm 40-bit seeds and 32-bit numbers",
    "plots and setup",
)
