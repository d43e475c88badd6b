"""Claims in the older form (claim.py, entries.py) as parts, until every paper has moved.

Delete this module with claim.py and entries.py once no module under claims/ has a tuple CLAIMS.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from exactdp.proofs_check import claim as old
from exactdp.proofs_check.comparisons import Counterexample
from exactdp.proofs_check.record import Evidence
from exactdp.proofs_check.statements import Part, Printed

__all__ = ["OldPart", "adapted", "examine_old"]


@dataclass(frozen=True, kw_only=True)
class OldPart(Part):
    """A part made from a claim in the older form."""

    claim: old.Claim

    def __post_init__(self) -> None:
        pass

    @property
    def verdict(self) -> str:
        return self.claim.verdict

    @property
    def evidence(self) -> Evidence:
        held = self.claim.corrected if isinstance(self.claim, old.Fails) else self.claim
        if not isinstance(held, old.Holds):
            return Evidence()
        return Evidence(held.outcome, f"{old.METHODS[held.method]} (not counted)")


def adapted(module: ModuleType) -> list[Part]:
    return [_adapted(claim, module.__name__) for claim in getattr(module, "CLAIMS", ())]


def _adapted(claim: old.Claim, module: str) -> Part:
    item, _, name = claim.item.partition(", ")
    failing = isinstance(claim, old.Fails)
    held = claim.corrected if isinstance(claim, old.Fails) else claim
    more = {
        key: getattr(claim, key)
        for key in ("severity", "follows_from", "condition", "rests_on", "reason", "slack", "slow")
        if hasattr(claim, key)
    }
    if isinstance(claim, old.Fails):
        printed = Printed(claim.printed.words, claim.printed.where, claim.printed.line)
        more |= {"printed": printed, "corrected": claim.corrected.statement}
        more |= {"extraction": claim.extraction, "example": claim.example}
        more.setdefault("severity", "cosmetic")
    return OldPart(
        paper=claim.paper,
        item=item,
        name=name,
        statement=claim.statement,
        kind=claim.verdict if failing or "reason" in more or "condition" in more else "holds",
        module=module,
        check=held.check if isinstance(held, old.Holds) else None,
        says=held.mutant.statement if isinstance(held, old.Holds) else "",
        note=claim.note,
        ours=claim.ours,
        claim=claim,
        **more,
    )


def examine_old(part: OldPart) -> tuple[Evidence, str]:
    """What a run of the checks shows, and a problem or nothing."""
    claim, counterexample = part.claim, ""
    held = claim.corrected if isinstance(claim, old.Fails) else claim
    assert isinstance(held, old.Holds)
    if isinstance(claim, old.Fails):
        try:
            claim.check()
        except Counterexample as case:
            counterexample = str(case)
        else:
            return Evidence(), "the printed statement passes its check"
    try:
        found = Evidence(held.outcome, held.check(), "", counterexample)
    except Counterexample as case:
        return Evidence(), f"the statement fails: {case}"
    try:
        held.mutant.check()
    except Counterexample as case:
        return Evidence(held.outcome, found.comparisons, str(case), counterexample), ""
    return found, f"the check also accepts a false statement: {held.mutant.statement}"
