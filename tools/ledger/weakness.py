"""Does the check of every statement about privacy notice a mechanism that is a little weaker?

`python -m tools.ledger.weakness [ID ...]` lists the statements about privacy with the weakest
mechanism that their checks still accept: "loss 1.0004" means that a mechanism which loses 0.04 %
more than the statement says is noticed, and the least of the multiples tried that is.

A statement is about privacy if its words say so, or if its check measures a divergence of two laws;
nobody lists them. Its check takes an argument of `exactdp.proofs_check.statements.WEAKER`, unless
the part says why there is no mechanism (`no_mechanism`).
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from exactdp.accounting.divergence import hockey_stick, max_loss
from exactdp.proofs_check.comparisons import observe
from exactdp.proofs_check.registry import select
from exactdp.proofs_check.statements import WEAKER, Part

_WORDS = re.compile(
    r"DP\b|\bprivate\b|\bprivacy\b|\bindistinguishable\b|-close\b"
    r"|\bdelta (is|of)\b|\b(exact|Gaussian|larger|least|the) delta\b"
)

_CLAIMS = "exactdp.proofs_check.claims"

#: Excesses over 1 of the multiples that are tried, from the least on.
_TRIED = tuple(Fraction(n, 10**5) for n in (1, 10, 100, 1000, 2000, 3000, 5000))


def about_privacy(part: Part) -> bool:
    """Whether a part's statement speaks of privacy, or its check measures a divergence."""
    if part.check is None:
        return False
    return bool(_WORDS.search(part.statement)) or _measures(part.check)


@cache
def _measures(function: Callable[..., Any]) -> bool:
    """Whether a function of the claims, or one that it calls, measures a divergence."""
    used = [
        getattr(function.__globals__.get(name), "__wrapped__", function.__globals__.get(name))
        for name in _names(function.__code__)
    ]
    return any(
        value in (hockey_stick, max_loss)
        or (value.__module__.startswith(_CLAIMS) and value is not function and _measures(value))
        for value in used
        if isinstance(value, FunctionType)
    )


def _names(code: CodeType) -> set[str]:
    inner = (_names(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inner)


def weakenings(part: Part) -> list[str]:
    """The arguments by which the mechanism in a statement about privacy is weaker."""
    names = inspect.signature(part.check).parameters if part.check else {}
    return [name for name in WEAKER if name in names and about_privacy(part)]


def blind(part: Part) -> Iterator[str]:
    """Weaker mechanisms that the check of a statement about privacy accepts."""
    names = weakenings(part)
    if part.no_mechanism and (names or not about_privacy(part)):
        yield f"explained, although there is nothing to explain: {part.no_mechanism}"
    if about_privacy(part) and not names and not part.no_mechanism:
        yield f"speaks of privacy, and its check takes none of the arguments {', '.join(WEAKER)}"
    for name in names:
        if name in part.noticed and _notices(part, name, WEAKER[name]):
            yield f"explained, although {name} = {WEAKER[name]} is noticed: {part.loose}"
        value = Fraction(str(part.noticed.get(name, WEAKER[name])))
        if not _notices(part, name, value):
            yield f"passes with a weaker mechanism, {name} = {value}"


def _notices(part: Part, name: str, value: Fraction) -> bool:
    """Whether a comparison fails for the mechanism that is weaker by this."""
    assert part.check
    return bool(observe(part.check, {name: value}).failed)
