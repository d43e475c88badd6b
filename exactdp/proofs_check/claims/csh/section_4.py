"""CSH, Section 4, running text: releasing the (k + 1)-th largest count as well."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp import mechanisms
from exactdp.proofs_check.claim import require
from exactdp.proofs_check.claims.csh._top_k import neighbours, rank
from exactdp.proofs_check.claims.csh.lemma_2_8 import distance
from exactdp.proofs_check.entries import CSH, varied
from exactdp.samplers import SeededSource

__all__ = ["CLAIMS"]


def _distance(times: int) -> str:
    """All changes of H~ and the base are within sqrt(k + times sqrt k)/2."""
    reached = 0
    for root in (1, 2, 3):
        k, gamma = root * root, Fraction(root)
        most = (k + times * gamma) / 4
        for a in range(k + 1):
            for base in (0, 1):
                # the base has noise of variance 1/root and is independent of the rest
                squared = distance(k, a, gamma) + base * root
                reached += squared == most
                require(squared <= most, f"k={k}, a={a}, base moves by {base}: {squared} > {most}")
    return f"k = 1, 4, 9, every change; the bound is reached {reached} times"


def _base(step: int) -> str:
    """One user moves the (k+1)-th largest count by at most `step`."""
    count = 0
    for k in (1, 2):
        for more, less in neighbours(3, 3):
            gap = rank(more, k + 1) - rank(less, k + 1)
            require(abs(gap) <= step, f"{more}, {less}: the base moves by {gap}")
            count += 1
    return f"{count} neighbouring histograms"


_FAR = ((60, 9, 25, 40), (45, 50, 30, 30), (70, 0, 20, 51))  # above the threshold, less the base


def _bias(back: Fraction) -> str:
    """The same draws for top-k, for Algorithm 2 on the k largest counts, and with the base shown.

    back: how much of the noisy base has been added to the counters of the latter.
    """
    parameters = (2, 2, 4, 3, "0.999")
    top, plain = mechanisms.TopK(*parameters), mechanisms.CSH(*parameters)
    shown = mechanisms.TopKWithBase(*parameters)
    for histogram, seed in product(_FAR, range(20)):
        counts, base = dict(enumerate(histogram)), rank(histogram, 3)
        kept = {i: c for i, c in counts.items() if c > base}
        case = f"{histogram}, seed {seed}: "
        unbiased = plain.draw(kept, SeededSource(seed))
        stated = tuple((i, x - base) for i, x in unbiased)
        found = top.draw(counts, SeededSource(seed))
        require(found == stated, f"{case}{found}, the unbiased ones less {base}: {stated}")
        source = SeededSource(seed)
        noise = Fraction(shown._shared.sample(source), 2)
        stated = tuple(
            (i, x + base * (back - 1) + noise * back) for i, x in plain.draw(kept, source)
        )
        (_, estimate), *rest = shown.draw(counts, SeededSource(seed))
        require(estimate == base + noise, f"{case}base {estimate}, noise {noise}")
        require(tuple(rest) == stated, f"{case}{rest} with the base, stated {stated}")
    return f"{len(_FAR)} histograms, 20 seeds each; all noises have mean 0"


CLAIMS = (
    CSH.verified(
        "Section 4, releasing the base",
        "With the (k+1)-th largest count released under independent N(0, sigma^2/sqrt k), "
        "the noise part of Theorem 3.3 holds with sqrt(k + 5 sqrt k) in place of sqrt(k + sqrt k).",
        "enumeration",
        **varied(_distance, 5, 4, "sqrt(k + 4 sqrt k)"),
        note="the base moves by at most one, which adds sqrt k to the squared distance",
    ),
    CSH.verified(
        "Section 4, sensitivity of the base",
        "The (k+1)-th largest count has sensitivity one.",
        "enumeration",
        **varied(_base, 1, 0, "it never moves"),
    ),
    CSH.verified(
        "Section 4, bias",
        "Subtracting the base biases each remaining counter by exactly the base; adding "
        "an estimate of it back removes the bias: draw by draw, as shipped.",
        "enumeration",
        **varied(_bias, Fraction(1), Fraction(99, 100), "adding 99 percent of it"),
    ),
)
