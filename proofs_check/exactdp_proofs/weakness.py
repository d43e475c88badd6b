"""Does the check of every statement about privacy notice a mechanism that is a little weaker?

`python -m exactdp_proofs.weakness [ID ...]` lists the statements about privacy, each with the
weakest mechanism of those tried that its check notices: "loss 1.01" is a mechanism made for 1.01
times the epsilon of the statement. It reports a check that

- passes with a mechanism 3 % weaker (`exactdp_proofs.statements.WEAKER`), unless the part
  says why (`loose`), and then with the one that the part names;
- takes no argument that makes its mechanism weaker, unless the part says why (`no_mechanism`).

A reason for nothing is reported, too. A statement is about privacy if its words say so, or if its
check measures a divergence of two laws; nobody lists these statements.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import CodeType, FunctionType
from typing import Any

from exactdp.accounting.divergence import hockey_stick, max_loss
from exactdp_proofs.comparisons import observe
from exactdp_proofs.registry import select
from exactdp_proofs.statements import WEAKER, Part

_WORDS = re.compile(
    r"DP\b|-close\b|\b(private|privacy|indistinguishable|leaks?|guarantees?|divergence)\b"
    r"|\bdelta (is|of)\b|\b(exact|Gaussian|larger|least|the) delta\b|\bcurve of a batch\b"
)

_CLAIMS = ("exactdp_proofs.papers", "exactdp_proofs.ours")

#: How much weaker the mechanisms are that the list tries.
_TRIED = tuple(Fraction(n, 1000) for n in (1, 2, 5, 10, 20, 30))


def about_privacy(part: Part) -> bool:
    """Whether a part's statement speaks of privacy, or its check measures a divergence."""
    if part.check is None:
        return False
    return bool(_WORDS.search(part.statement)) or _measures(part.check)


def _measures(check: Callable[..., Any]) -> bool:
    """Whether a check, or a function of the claims that it calls, measures a divergence."""
    known, left = {check}, [check]
    while left:
        function = left.pop()
        for name in _names(function.__code__):
            value = function.__globals__.get(name)
            value = getattr(value, "__wrapped__", value)
            if value is hockey_stick or value is max_loss:
                return True
            if isinstance(value, FunctionType) and value.__module__.startswith(_CLAIMS):
                left += [value] * (value not in known)
                known.add(value)
    return False


def _names(code: CodeType) -> set[str]:
    inner = (_names(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inner)


def weakenings(part: Part) -> list[str]:
    """The arguments by which the mechanism in a statement about privacy is weaker."""
    names = inspect.signature(part.check).parameters if part.check else {}
    return [name for name in WEAKER if name in names and about_privacy(part)]


def blind(part: Part) -> Iterator[str]:
    """The doubts about the check of a statement about privacy, in words."""
    names = weakenings(part)
    if part.no_mechanism and (names or not about_privacy(part)):
        yield f"explained, although there is nothing to explain: {part.no_mechanism}"
    if about_privacy(part) and not names and not part.no_mechanism:
        yield f"speaks of privacy, and its check takes none of the arguments {', '.join(WEAKER)}"
    for name in names:
        if name in part.noticed and _notices(part, name, WEAKER[name]):
            yield f"explained, although {name} = {WEAKER[name]} is noticed: {part.loose}"
        if not _notices(part, name, _required(part, name)):
            yield f"passes with a weaker mechanism, {name} = {_required(part, name)}"


def _required(part: Part, name: str) -> Fraction:
    """The value that the check must notice."""
    return Fraction(str(part.noticed.get(name, WEAKER[name])))


def _notices(part: Part, name: str, value: Fraction) -> bool:
    """Whether a comparison fails for the mechanism that is weaker by this."""
    assert part.check
    return bool(observe(part.check, {name: value}).failed)


def _weakest(part: Part, name: str) -> Fraction:
    """The mechanism next to the statement's, of those tried, that the check notices."""
    sign = 1 if WEAKER[name] > 1 else -1
    tried = (1 + sign * excess for excess in _TRIED)
    return next((v for v in tried if _notices(part, name, v)), _required(part, name))


def _main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m exactdp_proofs.weakness",
        description="The weakest mechanism that each check of a statement about privacy notices; "
        "exits 1 if one of them passes with a mechanism 3 % weaker.",
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="entries, or a prefix such as CSH")
    parser.add_argument("--slow", action="store_true", help="slow parts, too")
    options = parser.parse_args()
    parts = [p for p in select(options.ids) if about_privacy(p)]
    parts = [p for p in parts if options.slow or options.ids or not p.slow]
    doubts = 0
    for part in parts:
        doubts_of_part = list(blind(part))
        doubts += len(doubts_of_part)
        seen = [f"{name} {float(_weakest(part, name)):g}" for name in weakenings(part)]
        says = "; ".join(doubts_of_part or seen or [f"no mechanism: {part.no_mechanism}"])
        print(f"{part.id}: {says}", flush=True)
    print(f"{doubts} doubts about {len(parts)} statements about privacy")
    return 1 if doubts else 0


if __name__ == "__main__":
    sys.exit(_main())
