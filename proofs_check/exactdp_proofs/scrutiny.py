"""Doubts about the checks themselves, from what they compare.

`python -m exactdp_proofs.scrutiny [ID ...]` runs statement and mutant, and reports a part
when

- its mutant fails at a comparison that the statement never passes;
- its mutant violates another comparison than the last one the statement passes, and not that too;
- its mutant fails at a case that the statement never visits;
- its mutant fails otherwise than by a comparison;
- the comparison that the mutant violates never comes nearer to its bound than half.

A part that is right as it is says why: `elsewhere="..."`, `slack="..."`; a reason for nothing is
reported, too. `fitted` arguments show that the mutant is near the truth, so that no `slack` is due.

With `--corrupt`, helper functions that a check calls return wrong values, one function at a time.
A check that still accepts its statement and rejects its mutant may decide nothing by that function:
read the check again. (Functions that only choose cases survive rightly.)
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from types import CodeType, FunctionType, GeneratorType
from typing import Any

from flint import arb

from exactdp.law import Law
from exactdp_proofs.comparisons import Place, Record, observe
from exactdp_proofs.registry import select
from exactdp_proofs.statements import Part

#: A comparison that never gets nearer than this to its bound is reported.
NEAR = 0.5


def doubts(part: Part) -> Iterator[str]:
    """The doubts about the check of a part, in words."""
    assert part.check
    try:
        statement = observe(part.check, part.fitted, keep=True)
        mutant = observe(part.check, part.mutant)
    except Exception as error:  # whatever a check raises is a finding about the check
        yield f"{type(error).__name__}: {error}"
        return
    if statement.raised or not mutant.raised:
        fails = f"the statement fails: {statement.raised}"
        yield fails if statement.raised else "the mutant passes"
        return
    places = [*_elsewhere(statement, mutant), *_earlier(part, statement, mutant)]
    yield from _unexplained(places, part.elsewhere)
    yield from _unexplained(list(_slack(statement, mutant)), part.slack)


def _unexplained(doubts_left: list[str], explanation: str) -> list[str]:
    """The doubts, unless they are explained; a doubt about an explanation without doubts."""
    if not explanation:
        return doubts_left
    return (
        [] if doubts_left else [f"explained, although there is nothing to explain: {explanation}"]
    )


def _elsewhere(statement: Record, mutant: Record) -> Iterator[str]:
    if not mutant.failed:
        yield f"the mutant fails by no comparison: {mutant.raised}"
    elif mutant.failed not in statement.passed:
        yield f"the mutant fails at {_line(mutant.failed)}, which the statement never passes"
    elif mutant.case not in statement.cases[mutant.failed]:
        yield f"the mutant fails at a case that the statement does not visit: {mutant.case}"


def _earlier(part: Part, statement: Record, mutant: Record) -> Iterator[str]:
    """Pardon what the mutant violates first: does it violate the last comparison as well?"""
    assert part.check
    pardoned: set[Place] = set()
    again = mutant
    while again.failed in statement.passed and again.failed != statement.last:
        pardoned.add(again.failed)
        try:
            again = observe(part.check, part.mutant, pardoned=pardoned)
        except Exception:  # beyond a comparison that was pardoned, anything may happen
            break
    if pardoned and again.failed != statement.last:
        there, end = _line(mutant.failed), _line(statement.last)
        yield f"the mutant fails at {there} only, the statement ends at {end}"


def _slack(statement: Record, mutant: Record) -> Iterator[str]:
    nearest = statement.passed.get(mutant.failed, 1.0)
    if nearest is None:
        yield f"no nearness was seen at {_line(mutant.failed)}"
    elif nearest < NEAR:
        yield f"never nearer to the bound than {nearest:.2g} at {_line(mutant.failed)}"


def _line(place: Place) -> str:
    return " < ".join(place) or "nothing"


def survivors(part: Part) -> Iterator[str]:
    """Names of helpers that may return wrong values without changing the verdict of the check."""
    assert part.check
    space = part.check.__globals__
    for name in sorted(_called(part.check.__code__, space)):
        used = [_noticed(part, space, name, sign) for sign in (1, -1)]
        if used == [False, False]:
            yield name


def _called(
    code: CodeType, space: Mapping[str, Any], known: frozenset[str] = frozenset()
) -> set[str]:
    """Global names of the project's functions that this code refers to, directly or not."""
    names: set[str] = set()
    codes = [code, *(part for part in code.co_consts if isinstance(part, CodeType))]
    for name in {name for part in codes for name in part.co_names} - known:
        function = getattr(space.get(name), "__wrapped__", space.get(name))
        if isinstance(function, FunctionType) and _is_ours(function.__module__):
            names |= {name} | _called(function.__code__, space, known | names | {name})
    return names


def _is_ours(module: str) -> bool:
    checkers = ("comparisons", "boxes", "polynomials")
    engine = (*(f"exactdp_proofs.{name}" for name in checkers), "exactdp.balls")
    return not module.startswith(engine) and module.startswith(("exactdp", "test"))


def _noticed(part: Part, space: dict[str, Any], name: str, sign: int) -> bool | None:
    """Whether wrong values change the verdict; None when no value was of a kind to change."""
    assert part.check
    changed = 0

    def corrupted(*args: Any, **more: Any) -> Any:
        nonlocal changed
        value = _wrong(original(*args, **more), sign)
        changed += value is not None
        return original(*args, **more) if value is None else value

    original: Callable[..., Any] = space[name]
    with _replaced(space, name, corrupted):
        try:
            false = [part.mutant, *([part.as_printed] if part.printed else [])]
            rejected = all(observe(part.check, arguments).raised for arguments in false)
            kept = rejected and not observe(part.check).raised
        except Exception:
            return True
    return not kept if changed else None


@contextmanager
def _replaced(space: dict[str, Any], name: str, function: Callable[..., Any]) -> Iterator[None]:
    original = space[name]
    _forget()
    space[name] = function
    try:
        yield
    finally:
        space[name] = original
        _forget()


def _forget() -> None:
    """Clear every cache of the claims, so that no wrong value is kept."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("exactdp_proofs.papers", "exactdp_proofs.ours")):
            for value in vars(module).values():
                getattr(value, "cache_clear", int)()


def _wrong(value: Any, sign: int) -> Any:
    """A wrong value of the same type; None for types that are not changed."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + sign
    if isinstance(value, Fraction):
        return value * (7 + sign) / 7 if value else Fraction(sign, 7)
    if isinstance(value, arb):
        return value * (7 + sign) / 7
    if isinstance(value, Law):
        return _tilted(value, sign)
    if isinstance(value, dict):
        values = _wrong(list(value.values()), sign)
        return values and dict(zip(value, values, strict=True))
    if isinstance(value, tuple | list | GeneratorType):
        old = list(value)
        new = [_wrong(x, sign) for x in old]
        changed = [a if b is None else b for a, b in zip(old, new, strict=True)]
        if all(x is None for x in new):
            return None
        return tuple(changed) if isinstance(value, tuple) else changed
    return None


def _tilted(law: Law[Any], sign: int) -> Law[Any]:
    """A law whose ratios to others are larger (sign 1) or nearer to 1, or at least another law."""
    uniform = Fraction(1, 7 * max(len(law), 1))
    raw = {x: p * p if sign > 0 else p + uniform for x, p in law.items()}
    total = sum(raw.values()) / (1 - law.residual)
    tilted = Law({x: p / total for x, p in raw.items()}, law.residual)
    if tilted != law:
        return tilted
    return Law.mixture([(Fraction(6, 7), law), (Fraction(1, 7), Law.point(min(law.support)))])


def _main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m exactdp_proofs.scrutiny",
        description="Doubts about the checks of the ledger themselves; exits 1 if there are any.",
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="entries, or a prefix such as CSH")
    parser.add_argument("--corrupt", action="store_true", help="helpers that may return anything")
    options = parser.parse_args()
    parts = [p for p in select(options.ids) if p.check and p.mutant and (options.ids or not p.slow)]
    count = 0
    for part in parts:
        for text in survivors(part) if options.corrupt else doubts(part):
            print(
                f"{part.id}: {'passes with wrong values of ' * options.corrupt}{text}", flush=True
            )
            count += 1
    print(f"{count} doubts about {len(parts)} parts")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(_main())
