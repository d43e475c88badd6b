"""BV, running times: all are asymptotic, in the word RAM model."""

from __future__ import annotations

from exactdp_proofs.statements import BV

_TIMES = {
    "Lemma 3.1": "The mixture takes time O(log(1/gamma)) + Time(M') + Time(D).",
    "Theorem 4.5": "Sampling, and one value of F, take quasi-linear time in n log(1/epsilon).",
    "Theorem 4.6": "Sampling takes quasi-linear time in (1/epsilon) log n log(n/gamma).",
    "Theorem 5.1": "BasicHistogram takes time O(n log n log|X| + |A| (log n log|X| + log d + "
    "Time(M))).",
    "Figure 1": "Running times of BasicHistogram, for beta >= 1/poly(n).",
    "Proposition 6.3": "OrdSample takes time O(n log n) (O(m log d) + Time(F)).",
    "Section 6.1": "Drawing with replacement takes time nearly linear in n, drawing distinct "
    "elements nearly quadratic (footnote 4).",
    "Figure 2": "Running times quadratic in n and log|X|, for beta >= 1/polylog(n).",
    "Lemma 7.1": "A member is evaluated in O(n) quasi-linear field operations, and sampled in time "
    "quasi-linear in n log^2 d_0.",
    "Theorem 7.2": "CompactHistogram takes time quasi-linear in n, log d, the time of M and of "
    "preimages, and log^2 d_0; one count takes O(n) field operations.",
    "Corollary 7.3": "Running time and evaluation time for FastSample.",
}

for _item, _statement in _TIMES.items():
    BV.not_checkable(_item, _statement, "asymptotic, in the word RAM model", "running time")
