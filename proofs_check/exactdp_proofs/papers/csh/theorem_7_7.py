"""CSH, Theorem 7.7: the correlated histogram with discrete noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from flint import arb

from exactdp import mechanisms
from exactdp.accounting import discrete_csh, zcdp
from exactdp.balls import ball, precision
from exactdp_proofs.comparisons import agree, at_most, within
from exactdp_proofs.papers.csh._discrete import own_noise, shared_noise, split
from exactdp_proofs.papers.csh._model import BITS, hull
from exactdp_proofs.rationals import Fraction
from exactdp_proofs.statements import CSH, fitted, loose, mutant

Counts = tuple[int, int]
Output = tuple[int | None, int | None]

_FAR = 60  # a shared count so large that it is never hidden


def _law(counts: Counts, sigma: Fraction, tau: Fraction) -> dict[Output, arb]:
    """The law of twice the released histogram over two elements, k = 2, by summing over all noises.

    Noises of probability below 1e-13 are left out.
    """
    own, shared = (
        {z: p for z, p in law.items() if p > arb(10) ** -13}
        for law in (own_noise(sigma), shared_noise(2, sigma))
    )
    law: dict[Output, arb] = {}
    for z, p in shared.items():
        parts: list[dict[int | None, arb]] = []
        for count in counts:
            part: dict[int | None, arb] = {}
            for x, q in own.items() if count else [(0, arb(1))]:
                twice = 2 * count + x + z
                key = twice if count and twice > 2 * (1 + tau) else None
                part[key] = part.get(key, arb(0)) + q
            parts.append(part)
        for (a, pa), (b, pb) in product(parts[0].items(), parts[1].items()):
            law[a, b] = law.get((a, b), arb(0)) + p * pa * pb
    return law


def _excess(first: Mapping[Output, arb], second: Mapping[Output, arb], epsilon: Fraction) -> arb:
    factor = ball(epsilon).exp()
    gaps = (p - factor * second.get(y, arb(0)) for y, p in first.items())
    return sum((g for g in gaps if g > 0), arb(0))


def _pairs() -> Iterator[tuple[Counts, Counts]]:
    """Neighbours with new counters, without, and with both, in both orders."""
    new = (((1, 1), (0, 0)), ((_FAR, 1), (_FAR, 0)), ((_FAR + 1, 1), (_FAR, 0)))
    old = (((_FAR + 1, _FAR), (_FAR, _FAR)), ((_FAR + 1, _FAR + 1), (_FAR, _FAR)))
    for first, second in (*new, *old):
        yield from ((first, second), (second, first))


@CSH.holds("Theorem 7.7", "two elements", slow=True)
@mutant(share=Fraction(73, 100))
@fitted(share=Fraction(74, 100))
@loose(
    "zCDP gives delta_gauss, a split of the threshold delta_inf: at k = 2 neither is exact",
    loss=Fraction(108, 100),
    threshold=Fraction(65, 100),
)
def theorem_7_7(
    share: Fraction = Fraction(1),
    loss: Fraction = Fraction(1),
    threshold: Fraction = Fraction(1),
) -> None:
    """Algorithm 4 on the support, then dropping counts <= 1 + tau, is
    (epsilon, delta_gauss + delta_inf)-DP: delta_gauss from (k + sqrt k)/(8 sigma^2)-zCDP, delta_inf
    from Lemma 7.6; in both orders of neighbours, by the full law of the output at k = 2.

    Note: delta_gauss by the optimal conversion, the smallest one.
    """
    # the threshold alone decides in the last but two, the noise alone in the last but one
    texts = (
        *(("1", "2", "1"), ("0.8", "1.5", "0.5"), ("1", "9", "0.3"), ("0.3", "0.4", "60")),
        *(("1", "3", "12"), ("1", "30", "5"), ("0.5", "9", "0")),
    )
    with precision(64):
        for sigma, tau, epsilon in (tuple(map(Fraction, t)) for t in texts):
            rho = Fraction(4267766953, 10**10) / sigma**2  # above (2 + sqrt 2)/8
            stated = ball(share) * ball(zcdp.delta(rho=rho, epsilon=epsilon).upper)
            stated += split(2, sigma, tau) + arb(10) ** -9  # for the noises left out
            laws = {h: _law(h, sigma / loss, tau * threshold) for pair in _pairs() for h in pair}
            for first, second in _pairs():
                excess = _excess(laws[first], laws[second], epsilon)
                at_most(excess, stated, sigma=sigma, tau=tau, X=first, other=second)


CSH.not_checkable(
    "Theorem 7.7",
    "The mechanism is (epsilon, delta_gauss + delta_inf)-DP for every k.",
    "every k; Lemmas 7.5 and 7.6 have its two parts, the proof of Theorem 3.3 the rest",
)


@CSH.holds("Theorem 7.7", "counts of exactly 1 + tau", slack="equality, to 1e-9")
@mutant("they are kept", kept=1)
def counts_at_the_threshold(kept: int = 0) -> None:
    """Removing counts equal to 1 + tau is what Lemma 7.6 accounts for: some of the new counts
    shows if Z_i + Z > 2 tau, strictly, and so do the shipped ones.
    """
    sigma, tau = Fraction(1), Fraction(2)
    shipped = mechanisms.CSH(sparsity=2, sigma=sigma, tau=tau, epsilon=1, delta="0.99").chance(1)
    with precision(64):
        own = own_noise(sigma)
        for counts in ((1, 0), (1, 1)):
            appears = 1 - _law(counts, sigma, tau)[None, None]
            stated = arb(0)
            for z, p in shared_noise(2, sigma).items():
                hidden = sum((q for x, q in own.items() if x <= 2 * tau - z - kept), arb(0))
                stated += p * (1 - hidden ** sum(counts))
            if sum(counts) == 1:
                within(stated, hull(shipped), Fraction(1, 10**9))
            within(appears, stated, Fraction(1, 10**9), counts=counts)


@CSH.holds("Theorem 7.7", "shipped bound", ours=True)
@mutant("k + 1.01 sqrt k", times=Fraction(101, 100))
def shipped_bound(times: Fraction = Fraction(1)) -> None:
    """The library's published analysis is this sum with Lemma 7.3."""
    for root, s, t, e in ((1, "5", "30", "1"), (2, "9", "60", "0.5"), (3, "20", "110", "0.6")):
        k, sigma, tau, epsilon = root**2, Fraction(s), Fraction(t), Fraction(e)
        rho = (k + times * root) / (8 * sigma**2)
        delta = discrete_csh.delta(sparsity=k, sigma=s, tau=t, epsilon=e, analysis="published")
        with precision(BITS):
            noise = (-ball((epsilon - rho) ** 2 / (4 * rho))).exp()  # Lemma 7.3 solved for delta
            agree(hull(delta), noise + split(k, sigma, tau), k=k)
