"""CSH, Section 4: top-k counting queries by Algorithm 3."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from exactdp import mechanisms
from exactdp.accounting import top_k
from exactdp.accounting.sparse_histograms.csh_exact import pair
from exactdp.balls import ball, precision
from exactdp.samplers import SeededSource
from exactdp_proofs.comparisons import at_most, equal, holds
from exactdp_proofs.papers.csh._bounds import delta_gauss, delta_inf, theorem_3_5_maximum
from exactdp_proofs.papers.csh._model import (
    BITS,
    Vector,
    distance,
    family,
    loosened,
    point,
    rank,
    reach,
    reduced,
    weakened,
)
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CSH, as_printed, mutant

_COUNTS = ((5, 3, 3, 1), (2, 2, 2, 2, 2), (7, 1, 0), (4,), (9, 6, 4, 4, 3), (0, 5, 2, 8))


@CSH.holds("Algorithm 3", "shipped mechanism")
@mutant("the k-th largest count", place_after=0)
def algorithm_3(place_after: int = 1) -> None:
    """As shipped: subtract the (k+1)-th largest count from every counter, cut at 0, and release
    the result with Algorithm 2.

    Note: With at most k counters the (k+1)-th largest is 0.
    """
    top, plain = (
        kind(4, sigma=2, tau=1, epsilon=1, delta="0.999")
        for kind in (mechanisms.TopK, mechanisms.CSH)
    )
    for counts, seed in product(_COUNTS, range(12)):
        left = dict(enumerate(reduced(counts, 4, place_after)))
        release = top.draw(dict(enumerate(counts)), SeededSource(seed))
        equal(release, plain.draw(left, SeededSource(seed)), counts=counts, seed=seed)


def _cases() -> Iterator[tuple[int, Vector, Vector]]:
    """k and all neighbouring histograms (more, less) of d counters."""
    for d, k, top in ((2, 1, 4), (3, 1, 3), (3, 2, 3), (4, 2, 2), (5, 3, 1)):
        for more, less in reach(d, top):
            yield k, more, less


def _changes(k: int, more: Vector, less: Vector, after: int = 1) -> set[int]:
    left = zip(reduced(more, k, after), reduced(less, k, after), strict=True)
    return {x - y for x, y in left}


@CSH.holds("Lemma 4.1", "on instances", ours=True)
@mutant("the (k+2)-th largest is subtracted", after=2)
def lemma_4_1(after: int = 1) -> None:
    """H~ of Algorithm 3 has at most k non-zero counters, and one user more or less changes them by
    0 or 1, all in one direction.
    """
    for k, more, less in _cases():
        change = _changes(k, more, less, after)
        holds(change <= {0, 1} or change <= {0, -1}, k=k, more=more, less=less)
        for h in (more, less):
            at_most(sum(x > 0 for x in reduced(h, k, after)), k, k=k, H=h)


@CSH.holds("Lemma 4.1", "proof, two cases")
@mutant("counters rise in both cases", falling=frozenset({0, 1}))
def two_cases(falling: frozenset[int] = frozenset({0, -1})) -> None:
    """With one user more the (k+1)-th largest count rises by 0 or 1. If it stays, counters of H~
    rise by 0 or 1; if it rises, they fall by 0 or 1.
    """
    for k, more, less in _cases():
        step = rank(more, k + 1) - rank(less, k + 1)
        holds(step in (0, 1), k=k, more=more, less=less)
        allowed = {0, 1} if step == 0 else falling
        holds(_changes(k, more, less) <= allowed, k=k, more=more, less=less)


@CSH.note("Lemma 4.1", "proof, display of the first case")
@as_printed(sign=1)
@mutant(sign=0)
def first_case(sign: int = -1) -> None:
    r"""Where X has one user more and the (k+1)-th count stays, H~(X')_u - H~(X)_u is 0 or 1 for u
    in U.

    Printed (Section 4, Lemma 4.1, proof, first case, line 298):
        \tilde{H}(\mathbf{X}^{\prime})_{u}-\tilde{H}(\mathbf{X})_{u}=H(\mathbf{X}^{%
        \prime})_{u}-H(\mathbf{X})^{(k+1)}-H(\mathbf{X})_{u}+H(\mathbf{X}^{\prime})^{(%
        k+1)}\in\{0,1\}
    Corrected: H~(X)_u - H~(X')_u = H(X)_u - H(X')_u is 0 or 1, as the conclusion of the case says;
        the two sides are exchanged.
    """
    for k, more, less in _cases():
        if rank(more, k + 1) == rank(less, k + 1):
            for u, count in enumerate(less):
                if count > rank(less, k + 1):
                    gap = reduced(less, k)[u] - reduced(more, k)[u]
                    equal(gap, less[u] - more[u], k=k, X=more, other=less)
                    holds(gap in (0, sign), k=k, X=more, other=less)


_POINTS = (  # and the number of counters, all of which a user may change, and their largest count
    (point(1, "2", "8", "1"), 3, 2),
    (point(2, "3", "9", "0.5"), 4, 2),
    (point(3, "40", "12", "1.5"), 4, 2),
    (point(4, "2", "7", "0"), 5, 1),
    (point(4, "0.2", "1", "1"), 5, 1),
)


@CSH.holds("Corollary 4.2", "on instances", ours=True, slow=True)
@mutant(scale=Fraction(99, 100))
def corollary_4_2(
    scale: Fraction = Fraction(1),
    loss: Fraction = Fraction(1),
    threshold: Fraction = Fraction(1),
) -> None:
    """Algorithm 3 has the guarantees of Theorems 3.3 and 3.5, whatever number of counters a user
    changes; so has the shipped delta.

    Note: That the side with the further counters is the worse one is under Exact analysis, side A
    suffices.
    """
    for at, d, top in _POINTS:
        shipped = top_k.delta(top=at.k, sigma=at.sigma, tau=at.tau, epsilon=at.epsilon)
        with precision(BITS):
            bounds = [delta_gauss(at, scale) + delta_inf(at), theorem_3_5_maximum(at, scale)]
            for j, a, r in _left(at.k, d, top):
                exact = pair(family(weakened(at, loss, threshold)), j, a, r)
                for bound in (ball(shipped.upper), *bounds):
                    at_most(exact, loosened(bound), point=at, j=j, a=a, r=r)


def _left(k: int, d: int, top: int) -> set[tuple[int, int, int]]:
    """Numbers of counters (shared, shared and changed, on one side only) that Algorithm 3 leaves
    in all neighbouring histograms.
    """
    remains = set()
    for more, less in reach(d, top):
        both = list(zip(reduced(more, k), reduced(less, k), strict=True))
        shared = [(x, y) for x, y in both if x and y]
        alone = sum(bool(x) != bool(y) for x, y in both)
        remains.add((len(shared), sum(x != y for x, y in shared), alone))
    return remains


@CSH.holds("Section 4", "releasing the base")
@mutant("sqrt(k + 4 sqrt k)", times=4)
def releasing_the_base(times: int = 5) -> None:
    """With the (k+1)-th largest count released under independent N(0, sigma^2/sqrt k), the noise
    part of Theorem 3.3 holds with sqrt(k + 5 sqrt k) in place of sqrt(k + sqrt k): the base moves
    by at most one, which adds sqrt k to the squared distance.
    """
    for root in (1, 2, 3):
        k = root * root
        for a, base in product(range(k + 1), (0, 1)):
            squared = distance(k, a, Fraction(root)) + base * root
            at_most(squared, Fraction(k + times * root, 4), k=k, a=a, base=base)


_FAR = ((60, 9, 25, 40), (45, 50, 30, 30), (70, 0, 20, 51))  # above the threshold, less the base


@CSH.holds("Section 4", "bias")
@mutant(share=Fraction(99, 100))
def bias(share: Fraction = Fraction(1)) -> None:
    """Subtracting the base biases each remaining counter by exactly the base; adding an estimate
    of it back removes the bias: draw by draw, as shipped. (All noises have mean 0.)
    """
    top, plain, with_base = (
        kind(2, sigma=2, tau=4, epsilon=3, delta="0.999")
        for kind in (mechanisms.TopK, mechanisms.CSH, mechanisms.TopKWithBase)
    )
    for histogram, seed in product(_FAR, range(20)):
        counts, base = dict(enumerate(histogram)), rank(histogram, 3)
        kept = {i: c for i, c in counts.items() if c > base}
        stated = tuple((i, x - base) for i, x in plain.draw(kept, SeededSource(seed)))
        equal(top.draw(counts, SeededSource(seed)), stated, counts=histogram, seed=seed)
        source = SeededSource(seed)
        noise = Fraction(with_base._noise.shared.sample(source), 2)
        unbiased = plain.draw(kept, source)
        stated = tuple((i, x + base * (share - 1) + noise * share) for i, x in unbiased)
        (_, estimate), *rest = with_base.draw(counts, SeededSource(seed))
        equal(estimate, base + noise, counts=histogram, seed=seed)
        equal(tuple(rest), stated, counts=histogram, seed=seed)
