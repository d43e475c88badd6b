"""ALP, Table 2: comparison with previous work."""

from __future__ import annotations

from exactdp.proofs_check.entries import ALP

__all__ = ["CLAIMS"]

_ROWS = (
    ("Dwork et al.", "O(d log u) bits, O(1) time, error O(1/epsilon), maximum O(log(d)/epsilon)",
     "asymptotic; the errors with constants are under Proposition 2.5"),
    ("Cormode et al.", "O(k log(d + u)) bits, O(1) time, both errors O(log(d)/epsilon)",
     "cited; the worst-case entry is under Section 3, sparsity under Lemma 5.2"),
    ("Balcer and Vadhan", "about n log(d)/epsilon bits, time n/epsilon, errors O(1/epsilon) and "
     "O(log(d)/epsilon)", "cited; asymptotic"),
    ("Theorem 5.10", "O(k log(d + u)) bits, O(log d) time, errors O(1/epsilon) and O(log(d)/"
     "epsilon)", "asymptotic; explicit constants under Lemmas 5.4 and 5.5 and Theorem 5.10"),
    ("Korolova et al.", "O(k log(d + u)) bits, O(1) time, both errors O(log(1/delta)/epsilon)",
     "cited; asymptotic; the threshold is under Section 3"),
    ("Theorem 5.11", "O(k (log(d + u) + log(1/delta))) bits, O(log(1/delta)) time, errors O(1/"
     "epsilon) and O(log(1/delta)/epsilon)",
     "asymptotic; under Lemmas 5.7 to 5.9 and Theorem 5.11, where epsilon = O(log(1/delta)) turns "
     "out to be needed"),
)  # fmt: skip

CLAIMS = (
    ALP.not_checkable(
        "Table 2",
        "Space, access time and expected errors of six mechanisms for worst-case input.",
        "a summary; its rows follow",
    ),
    *(
        ALP.not_checkable(
            f"Table 2, row {name}",
            text,
            reason,
        )
        for name, text, reason in _ROWS
    ),
)
