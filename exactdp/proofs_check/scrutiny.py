"""Doubts about the checks themselves: mutants that die for another reason, checks far from a bound.

`python -m exactdp.proofs_check.scrutiny [ID ...]` runs statement and mutant with every comparison
recorded, and reports an entry when

- its mutant fails at a place the statement never passes;
- its mutant violates another requirement than the last one the statement passes, and not that too;
- its mutant fails at a point (values of the loop variables) the statement never visits;
- its mutant fails otherwise than by a requirement;
- what the mutant violates is, in the statement, never nearer to its bound than half.

An entry that is right as it is says why: `Mutant(elsewhere=...)`, `Holds(slack=...)`. Explanations
of nothing are reported, too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from exactdp.proofs_check.claim import Holds
from exactdp.proofs_check.registry import select
from exactdp.proofs_check.watch import Run, Site, observe, watched

__all__ = ["doubts"]

#: A check that never gets nearer than this to its bound is reported.
NEAR = 0.5


def doubts(claim: Holds) -> Iterator[str]:
    """What is doubtful about a claim whose module was imported while watched."""
    statement, mutant = observe(claim.check), observe(claim.mutant.check)
    if statement.raised:
        yield f"the statement fails: {statement.raised}"
        return
    if not mutant.raised:
        yield "the mutant passes"
        return
    places = [*_elsewhere(statement, mutant), *_earlier(claim, statement, mutant)]
    yield from _unexplained(places, claim.mutant.elsewhere)
    yield from _unexplained(list(_slack(statement, mutant)), claim.slack)


def _unexplained(found: list[str], explanation: str) -> list[str]:
    """What was found and not explained, or an explanation of nothing."""
    if not explanation:
        return found
    return [] if found else [f"explained, although there is nothing to explain: {explanation}"]


def _elsewhere(statement: Run, mutant: Run) -> Iterator[str]:
    if mutant.failed is None:
        yield f"the mutant fails by no requirement: {mutant.raised}"
        return
    if mutant.failed not in statement.passed:
        yield f"the mutant fails at {_at(mutant)}, which the statement never passes"
        return
    seen = statement.passed[mutant.failed].seen
    new = {name: value for name, value in mutant.point.items() if value not in seen.get(name, ())}
    if new:
        values = ", ".join(f"{name} = {value[:40]}" for name, value in new.items())
        yield f"the mutant fails at a point the statement does not visit: {values}"


def _earlier(claim: Holds, statement: Run, mutant: Run) -> Iterator[str]:
    """Pardon what the mutant violates first: does it violate the last requirement as well?"""
    pardoned: set[Site] = set()
    again = mutant
    while again.failed in statement.passed and again.failed != statement.last:
        pardoned.add(again.failed)
        try:
            again = observe(claim.mutant.check, pardoned)
        except Exception:  # beyond a requirement that was pardoned, anything may happen
            break
    if pardoned and again.failed != statement.last:
        yield f"the mutant fails at {_at(mutant)} only, the statement ends at {_last(statement)}"


def _slack(statement: Run, mutant: Run) -> Iterator[str]:
    if mutant.failed not in statement.passed:
        return
    nearest = statement.passed[mutant.failed].nearest
    if nearest is None:
        yield f"no comparison of numbers was seen at {_at(mutant)}"
    elif nearest < NEAR:
        yield f"never nearer to the bound than {nearest:.2g} at {_at(mutant)}"


def _at(run: Run) -> str:
    return " < ".join(run.failed or ())


def _last(run: Run) -> str:
    return " < ".join(run.last or ("nothing",))


def _main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m exactdp.proofs_check.scrutiny",
        description="Doubts about the checks of the ledger themselves; exits 1 if there are any.",
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="entries, or a prefix such as CSH")
    ids: Sequence[str] = parser.parse_args().ids
    with watched("exactdp.proofs_check.claims"):
        claims = [claim for claim in select(ids) if isinstance(claim, Holds)]
        claims = [claim for claim in claims if ids or not claim.slow]
    found = 0
    for claim in claims:
        for doubt in doubts(claim):
            print(f"{claim.id}: {doubt}", flush=True)
            found += 1
    print(f"{found} doubts about {len(claims)} entries")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(_main())
