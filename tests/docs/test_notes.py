"""The two notes in LaTeX: theorems, numbers, and every erratum with its counterexample."""

from __future__ import annotations

import re

import pytest
from exactdp_proofs.registry import ledger

from tools.papers import errata, escaped, note


@pytest.mark.slow
def test_the_note_states_its_lemmas_and_tables() -> None:
    text = note()
    for name in ("Theorem.", "Lemma 1 (in r and j).", "Lemma 4 (in τ and σ)."):
        assert rf"\textbf{{{name}}}" in text
    assert "6987.259641" in text  # computed now, by `compare`
    assert text.count(r"\begin{longtable}") == text.count(r"\end{longtable}") > 3


def test_the_errata_quote_count_and_refute() -> None:
    text = errata()
    printed = [part for part in ledger() if part.severity and part.printed]
    for part in printed:
        assert escaped(part.id) in text
        assert part.evidence.counterexample, part.id
    assert text.count(r"\textbf{Counterexample}") == len(printed)
    table = text[text.index("longtable}{") : text.index(r"\end{longtable}")]
    counted = [list(map(int, re.findall(r"\d+", row))) for row in table.split(r"\\")[1:]]
    causes = [part for part in printed if not part.follows_from]
    assert sum(sum(row[:3]) for row in counted) == len(causes)
