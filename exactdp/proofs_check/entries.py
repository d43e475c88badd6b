"""The shared vocabulary of the claims: one statement and its mutant in one breath."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Concatenate, NotRequired, ParamSpec, TypedDict, TypeVar, Unpack

from exactdp.proofs_check.claim import Check, Holds, Mutant, NotCheckable

__all__ = [
    "ALP",
    "BV",
    "CP",
    "CSH",
    "OUR_CSH",
    "OUR_PLD",
    "SVA",
    "Basics",
    "Tested",
    "Varied",
    "elsewhere",
    "varied",
]

T = TypeVar("T")
P = ParamSpec("P")


class Varied(TypedDict):
    """A check and the mutant it must reject: two arguments of an entry."""

    check: Check
    mutant: Mutant


class Tested(Varied):
    """What else an entry may say (see Holds)."""

    note: NotRequired[str]
    ours: NotRequired[bool]
    seconds: NotRequired[int]
    slack: NotRequired[str]


def varied(
    check: Callable[Concatenate[T, P], str],
    true: T,
    false: T,
    says: str,
    /,
    *args: P.args,
    **more: P.kwargs,
) -> Varied:
    """check(true, ...) for the statement, check(false, ...) for its mutant, which says so.

    >>> def largest(bound: int) -> str: ...
    >>> sorted(varied(largest, 3, 2, "at most 2"))
    ['check', 'mutant']
    """
    return {
        "check": partial(check, true, *args, **more),
        "mutant": Mutant(says, partial(check, false, *args, **more)),
    }


def elsewhere(why: str, tested: Varied) -> Varied:
    """The same, where the mutant rightly fails at another place or point than the statement's."""
    return {"check": tested["check"], "mutant": replace(tested["mutant"], elsewhere=why)}


@dataclass(frozen=True)
class Basics:
    """Entries of one paper, with the words that are the same in all of them left out.

    ours: whether they are our own statements beside the paper.
    """

    paper: str
    ours: bool = False

    def proved(self, item: str, statement: str, method: str, **more: Unpack[Tested]) -> Holds:
        """Symbolic, or exact over the stated domain."""
        return self._holds("proved", item, statement, method, more)

    def verified(self, item: str, statement: str, method: str, **more: Unpack[Tested]) -> Holds:
        """Exact on stated instances."""
        return self._holds("verified", item, statement, method, more)

    def reproduced(self, item: str, statement: str, method: str, **more: Unpack[Tested]) -> Holds:
        """A published number, within a stated tolerance."""
        return self._holds("reproduced", item, statement, method, more)

    def supported(self, item: str, statement: str, method: str, **more: Unpack[Tested]) -> Holds:
        """Statistical, at a stated alpha."""
        return self._holds("supported", item, statement, method, more)

    def not_checkable(
        self, item: str, statement: str, reason: str, *, note: str = ""
    ) -> NotCheckable:
        """A statement that no machine can decide."""
        return NotCheckable(
            paper=self.paper,
            item=item,
            statement=statement,
            reason=reason,
            note=note,
            ours=self.ours,
        )

    def _holds(self, outcome: str, item: str, statement: str, method: str, more: Tested) -> Holds:
        marked: Tested = {**more, "ours": more.get("ours", self.ours)}
        return Holds(
            paper=self.paper,
            item=item,
            statement=statement,
            outcome=outcome,
            method=method,
            **marked,
        )


BV, CSH, ALP, CP, SVA = (Basics(paper) for paper in ("BV", "CSH", "ALP", "CP", "SVA"))

#: For the exact analysis, which is ours throughout.
OUR_CSH = Basics("CSH", ours=True)

#: For the page on privacy loss distributions, where there is no paper.
OUR_PLD = Basics("PLD", ours=True)
