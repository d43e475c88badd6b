"""Claim: one statement of a paper, the check that decides it, and a false variant it must reject.

A check is a function without arguments. It returns its evidence as one line of text, or raises
:class:`Counterexample` with the case in which the statement fails. Three kinds of entry exist:

- :class:`Holds`: the statement passes its check, and a mutated statement does not.
- :class:`Refuted`: the printed statement fails its check and, independently, the example; a
  corrected statement, itself a :class:`Holds`, stands beside it.
- :class:`NotCheckable`: no machine can decide it; the reason is given.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from exactdp.errors import InvalidParameter

__all__ = [
    "METHODS",
    "PAPERS",
    "SEVERITIES",
    "VERDICTS",
    "Check",
    "Claim",
    "Counterexample",
    "Holds",
    "Mutant",
    "NotCheckable",
    "Refuted",
    "require",
]

Check = Callable[[], str]

PAPERS = {
    "BV": "Balcer, Vadhan: Differential Privacy on Finite Computers",
    "CSH": "Lebeda, Retschmeier: The Correlated Gaussian Sparse Histogram Mechanism",
    "ALP": "Aumüller, Lebeda, Pagh: Representing Sparse Vectors with Differential Privacy",
    "CP": "Xiong et al.: Compressive Privatization",
    "SVA": "Zhou et al.: Locally Differentially Private Sparse Vector Aggregation",
}

#: What a verdict says.
VERDICTS = {
    "proved": "symbolic, or exact over the stated domain",
    "verified": "exact on stated instances",
    "reproduced": "a published number, within a stated tolerance",
    "supported": "statistical, at a stated alpha",
    "refuted": "false as printed; a corrected statement stands beside it",
    "not checkable": "no machine can decide it; the reason is given",
}

#: What a refuted statement does to someone who relies on it, worst first.
SEVERITIES = {
    "unsafe": "whoever relies on it promises privacy or accuracy that is not there",
    "loose": "safe to rely on, but not as good as stated or weaker than it could be",
    "cosmetic": "a slip without consequence for the results",
}

METHODS = {
    "symbolic": "computer algebra",
    "enumeration": "exact sums over all cases, in fractions",
    "exact law": "the shipped code run through all its random choices",
    "interval search": "balls over a box of parameters, split until every part is decided",
    "certified numerics": "ball arithmetic at stated points",
    "reproduction": "the published number computed again",
    "statistics": "random instances or draws, with alpha",
}


class Counterexample(Exception):
    """The statement fails; the message says in which case, in numbers."""


def require(holds: bool, case: str) -> None:
    """Raise Counterexample(case) unless the statement holds in this case."""
    if not holds:
        raise Counterexample(case)


@dataclass(frozen=True)
class Mutant:
    """A deliberately false variant of a statement; its check must raise Counterexample."""

    statement: str
    check: Check


@dataclass(frozen=True, kw_only=True)
class Claim(ABC):
    """One entry of the ledger.

    paper: a key of PAPERS. item: as the paper names it ("Lemma 2.9", "Section 5, threshold").
    statement: in our own words. note: how a damaged or ambiguous text was read.
    """

    paper: str
    item: str
    statement: str
    note: str = ""

    def __post_init__(self) -> None:
        _one_of("paper", self.paper, PAPERS)
        for name in ("item", "statement"):
            if not getattr(self, name).strip():
                raise InvalidParameter(name, "nothing", "a text")

    @property
    def id(self) -> str:
        """For example "BV-Lemma-2.9"."""
        words = re.findall(r"[A-Za-z0-9.]+", self.item)
        return "-".join([self.paper, *(word.strip(".") for word in words)])

    @property
    @abstractmethod
    def verdict(self) -> str:
        """The declared verdict; running the claim confirms it or fails."""

    @property
    def slow(self) -> bool:
        """Whether a run takes more than a few seconds."""
        return False


@dataclass(frozen=True, kw_only=True)
class Holds(Claim):
    """A statement that passes its check, with a mutated statement that must not.

    outcome: "proved", "verified", "reproduced" or "supported".
    seconds: the time limit for check and mutant together; more than 10 marks the claim slow.
    """

    outcome: str
    method: str
    check: Check = field(repr=False)
    mutant: Mutant = field(repr=False)
    seconds: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_of("outcome", self.outcome, ("proved", "verified", "reproduced", "supported"))
        _one_of("method", self.method, METHODS)

    @property
    def verdict(self) -> str:
        return self.outcome

    @property
    def slow(self) -> bool:
        return self.seconds > 10


@dataclass(frozen=True, kw_only=True)
class Refuted(Claim):
    """A statement that is false as printed, refuted twice, with its corrected form.

    check: the checker applied to the printed statement; must raise Counterexample.
    example: a minimal counterexample as a short doctest that does not use the checker: the second,
        independent refutation, for a reader to paste and run.
    extraction: whether the fault may lie in the extraction of the text, and why (not).
    """

    severity: str
    method: str
    check: Check = field(repr=False)
    example: str = field(repr=False)
    corrected: Holds = field(repr=False)
    extraction: str
    seconds: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_of("severity", self.severity, SEVERITIES)
        _one_of("method", self.method, METHODS)
        if ">>>" not in self.example:
            raise InvalidParameter("example", self.example, "a doctest")

    @property
    def verdict(self) -> str:
        return "refuted"

    @property
    def slow(self) -> bool:
        return self.seconds > 10


@dataclass(frozen=True, kw_only=True)
class NotCheckable(Claim):
    """A statement no machine can decide: asymptotic, cited without proof, a plot without data."""

    reason: str

    @property
    def verdict(self) -> str:
        return "not checkable"


def _one_of(name: str, value: str, allowed: Iterable[str]) -> None:
    names = list(allowed)
    if value not in names:
        raise InvalidParameter(name, value, "one of " + ", ".join(names))
