"""ALP, Algorithm 6: thresholded Laplace mechanism; its threshold is printed on another variable."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from exactdp.accounting.divergence import max_loss
from exactdp.law import Law
from exactdp.mechanisms.projections.thresholds import Threshold
from exactdp.proofs_check.claim import Printed, Refuted, require
from exactdp.proofs_check.claims.alp._threshold import power, stored
from exactdp.proofs_check.entries import ALP, varied

__all__ = ["CLAIMS"]


def _loss(noisy: bool) -> str:
    """Which entries are stored: ratios at most e^(eps * distance) for one entry, e^eps = 9/4."""
    base, t = Fraction(9, 4), Fraction(2)
    laws = {}
    for x in (Fraction(n, 2) for n in range(5)):
        chance = stored(x, t, base) if noisy else Fraction(int(x >= t))
        laws[x] = Law({1: chance, 0: 1 - chance})
    for x, other in product(laws, repeat=2):
        gap, ratio = abs(x - other), max_loss(laws[x], laws[other])
        require(ratio <= power(base, gap), f"x={x} against {other}, t={t}: ratio {ratio}")
    return "entries 0, 1/2, ..., 2 with t = 2, e^epsilon = 9/4, exact laws"


def _truncated(least: int) -> str:
    """The law of what the shipped Threshold stores: from the threshold to u, and nothing else."""
    made = Threshold(d=2, k=1, u=5, epsilon=1, grid=1, t=2)
    for x in range(6):
        law = made.law({1: x})
        for place in (0, 1):
            values = {dict(outcome).get(place) for outcome in law.support} - {None}
            require(values == set(range(least, 6)), f"x={x}, entry {place}: stored {values}")
    return "entries 0 to u = 5, t = 2: every value from 2 on is stored with some probability"


CLAIMS = (
    Refuted(
        paper="ALP",
        item="Algorithm 6",
        statement="With y_i the value before noise, as in Algorithm 9, v_i is kept when y_i >= t: "
        "the algorithm so read is epsilon-differentially private.",
        printed=Printed(
            r"v_i, & \text{if } y_i \geq t \\ 0, & \text{otherwise}",
            "Section 4.3, Algorithm 6, Step (2)",
            435,
        ),
        severity="unsafe",
        method="enumeration",
        check=lambda: _loss(False),
        example="""
>>> t = 2.0
>>> def stored(x, noise):                  # Step (2) with y = x, the value before noise
...     return x >= t
>>> [stored(2.0, noise) for noise in (-9.0, 0.0, 9.0)]     # neighbours 2 and 3/2: whether the
[True, True, True]
>>> [stored(1.5, noise) for noise in (-9.0, 0.0, 9.0)]     # entry is stored tells them apart
[False, False, False]
""",
        extraction="possible, a single letter: no y occurs elsewhere in Algorithm 6, and y_i is "
        "the value before noise in Algorithm 9, where the test is 'y_i != 0 and v_i >= t'",
        corrected=ALP.verified(
            "Algorithm 6, corrected",
            "v_i is kept when v_i >= t, which changes the probability of storing an entry by a "
            "factor of at most e^(epsilon * distance).",
            "enumeration",
            **varied(_loss, True, False, "when the value before noise is"),
        ),
        note="The words around it say what is meant ('truncate entries below t', the Laplace "
        "mechanism followed by post-processing), and Lemma 5.1 is true of that. Only the printed "
        "step is wrong; whoever implements it has no privacy.",
    ),
    ALP.verified(
        "Algorithm 6, stored values",
        "The shipped algorithm tests the noisy value: it stores every value from t on with some "
        "probability, and none below, whatever the entry is.",
        "exact law",
        **varied(_truncated, 2, 3, "none below t + 1"),
        ours=True,
    ),
)
