"""The words of the ledger: papers, verdicts, and the one rule of severity."""

from __future__ import annotations

PAPERS = {
    "BV": "Balcer, Vadhan: Differential Privacy on Finite Computers",
    "CSH": "Lebeda, Retschmeier: The Correlated Gaussian Sparse Histogram Mechanism",
    "ALP": "Aumüller, Lebeda, Pagh: Representing Sparse Vectors with Differential Privacy",
    "CP": "Xiong et al.: Compressive Privatization",
    "SVA": "Zhou et al.: Locally Differentially Private Sparse Vector Aggregation",
    "PLD": "Our own statements on certified privacy loss distributions",
}


def package_of(paper: str) -> str:
    """The subpackage with the entries of a paper; statements of our own have one of their own."""
    return "ours" if paper == "PLD" else f"papers.{paper.lower()}"


#: What a check can show of a statement; derived from the comparisons that the check made.
OUTCOMES = {
    "proved": "on its whole domain: by algebra, interval search, all cases, or a theorem in Rocq",
    "argued": "a written argument, read by people, whose computations are decided for all values",
    "verified": "on the instances that the check visits, exactly or in ball arithmetic",
    "reproduced": "a published number, computed again, agrees to its last printed digit",
    "supported": "by a statistical test at a stated level",
}

VERDICTS = {
    **OUTCOMES,
    "conditional": "true under a condition that the text lacks, or rests on a refuted step",
    "refuted": "false as printed; the corrected statement stands beside it",
    "note": "false to the letter, but the item itself shows what is meant",
    "not checkable": "no program can decide it; the reason is given",
}

#: What the printed words do to a reader who follows them to the letter, worst first.
SEVERITIES = {
    "unsafe": "the reader promises privacy or accuracy that is not there",
    "loose": "the reader is safe, but the result is weaker than the text says",
    "cosmetic": "no result changes",
}

SEVERITY_RULE = (
    "Two questions classify a printed statement that fails. First: does the item itself (the same "
    "algorithm, statement or proof) show what is meant, so that a careful reader is not misled? "
    "Then the entry is a note; otherwise it is refuted. Second: what happens to a reader who "
    "follows the printed words to the letter? "
    + "; ".join(f"{name}: {meaning}" for name, meaning in SEVERITIES.items())
    + ". Notes have a severity, too."
)
