"""Claim: one statement of a paper, the check that decides it, and a false variant it must reject.

A check is a function without arguments. It returns its evidence as one line of text, or raises
:class:`Counterexample` with the case in which the statement fails. The kinds of entry:

- :class:`Holds`: the statement passes its check, and a mutated statement does not.
- :class:`Conditional`: the same, under a condition the text lacks or on a refuted step.
- :class:`Refuted`: the printed statement fails its check and, independently, the example; a
  corrected statement, itself a :class:`Holds`, stands beside it.
- :class:`Quibble`: fails to the letter, but no reader is misled; recorded, not held against it.
- :class:`NotCheckable`: no machine can decide it; the reason is given.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from exactdp.errors import InvalidParameter
from exactdp.proofs_check.comparisons import Counterexample
from exactdp.proofs_check.vocabulary import PAPERS, SEVERITIES

__all__ = [
    "METHODS",
    "Check",
    "Claim",
    "Conditional",
    "Counterexample",
    "Fails",
    "Holds",
    "Mutant",
    "NotCheckable",
    "Printed",
    "Quibble",
    "Refuted",
    "require",
]

Check = Callable[[], str]

METHODS = {
    "symbolic": "computer algebra",
    "enumeration": "exact sums over all cases, in fractions",
    "exact law": "the shipped code run through all its random choices",
    "interval search": "balls over a box of parameters, split until every part is decided",
    "certified numerics": "ball arithmetic at stated points",
    "reproduction": "the published number computed again",
    "statistics": "random instances or draws, with alpha",
}


def require(holds: bool, case: str) -> None:
    """Raise Counterexample(case) unless the statement holds in this case."""
    if not holds:
        raise Counterexample(case)


@dataclass(frozen=True)
class Mutant:
    """A deliberately false variant of a statement; its check must raise Counterexample.

    elsewhere: why it rightly fails at another place than the statement passes last, or at a point
        the statement does not visit (as a variant that widens the domain does); else empty.
    """

    statement: str
    check: Check
    elsewhere: str = ""


@dataclass(frozen=True)
class Printed:
    """The words of a paper that an erratum speaks of.

    words: an exact quotation, short; " ... " stands for words left out.
    where: section, item, display or sentence.
    line: of the paper's text, counted from 1.
    """

    words: str
    where: str
    line: int

    def __post_init__(self) -> None:
        for name in ("words", "where"):
            if not getattr(self, name).strip():
                raise InvalidParameter(name, "nothing", "a text")
        if self.line < 1:
            raise InvalidParameter("line", self.line, "at least 1")


@dataclass(frozen=True, kw_only=True)
class Claim(ABC):
    """One entry of the ledger.

    paper: a key of PAPERS. item: as the paper names it ("Lemma 2.9", "Section 5, threshold").
    statement: in our own words. note: how a damaged or ambiguous text was read.
    ours: whether we state it beside the paper (shipped code, a sharper bound), not the paper.
    """

    paper: str
    item: str
    statement: str
    note: str = ""
    ours: bool = False

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
    slack: why the check rightly stays far from its bound (an order of magnitude, say); else empty.
    """

    outcome: str
    method: str
    check: Check = field(repr=False)
    mutant: Mutant = field(repr=False)
    seconds: int = 10
    slack: str = ""

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
class Conditional(Holds):
    """A statement that is true only under a condition, or whose proof leans on a refuted step.

    condition: what must be added to the printed statement, or which step is missing.
    rests_on: the id of the refuted entry it leans on; else empty.
    """

    condition: str
    rests_on: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.condition.strip():
            raise InvalidParameter("condition", "nothing", "a text")

    @property
    def verdict(self) -> str:
        return "conditional"


@dataclass(frozen=True, kw_only=True)
class Fails(Claim):
    """A statement that fails its check as printed, with its corrected form.

    statement: our reading; printed: the words and where they stand, kept apart from the reading.
    check: the checker applied to the printed statement; must raise Counterexample.
    example: a minimal counterexample as a short doctest that does not use the checker: the second,
        independent refutation, for a reader to paste and run.
    extraction: whether the fault may lie in the extraction of the text, and why (not).
    """

    printed: Printed
    method: str
    check: Check = field(repr=False)
    corrected: Holds = field(repr=False)
    extraction: str
    example: str = field(default="", repr=False)
    seconds: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_of("method", self.method, METHODS)
        if self.example and ">>>" not in self.example:
            raise InvalidParameter("example", self.example, "a doctest")
        # a corrected form is never the paper's own statement
        object.__setattr__(self, "corrected", replace(self.corrected, ours=True))

    @property
    def slow(self) -> bool:
        return self.seconds > 10


@dataclass(frozen=True, kw_only=True)
class Refuted(Fails):
    """A statement that is false as printed, refuted twice: an erratum, or what follows from one.

    follows_from: the id of the refuted entry that is the cause, if this one is a consequence; an
        erratum and its consequences count once.
    """

    severity: str
    follows_from: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_of("severity", self.severity, SEVERITIES)
        if not self.example:
            raise InvalidParameter("example", "nothing", "a doctest")

    @property
    def verdict(self) -> str:
        return "refuted"


@dataclass(frozen=True, kw_only=True)
class Quibble(Fails):
    """A statement that fails to the letter although its meaning is plain: no accusation."""

    @property
    def verdict(self) -> str:
        return "note"


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
