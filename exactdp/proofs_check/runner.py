"""Running claims: in parallel, each in a process that is stopped at its time limit."""

from __future__ import annotations

import doctest
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import TimeoutError as TimeLimit
from dataclasses import asdict, dataclass
from multiprocessing import get_context

from exactdp.proofs_check.claim import (
    Claim,
    Conditional,
    Counterexample,
    Fails,
    Holds,
    NotCheckable,
    Refuted,
)
from exactdp.proofs_check.registry import select

__all__ = ["Result", "run", "run_one"]


@dataclass(frozen=True)
class Result:
    """What running one claim showed.

    evidence: what was checked, or the counterexample, or why nothing can be checked.
    problem: empty, or why the declared verdict was not reached.
    """

    claim: Claim
    evidence: str
    seconds: float
    problem: str = ""

    @property
    def confirmed(self) -> bool:
        """Whether the run reached the verdict the claim declares."""
        return not self.problem

    def as_dict(self) -> dict[str, object]:
        """The entry for JSON."""
        claim = self.claim
        entry: dict[str, object] = {
            "id": claim.id,
            "paper": claim.paper,
            "item": claim.item,
            "statement": claim.statement,
            "verdict": claim.verdict if self.confirmed else "not confirmed",
            "method": getattr(claim, "method", None),
            "evidence": self.problem or self.evidence,
            "seconds": round(self.seconds, 3),
        }
        return entry | {name: value for name, value in _particulars(claim).items() if value}


def _particulars(claim: Claim) -> dict[str, object]:
    """What only some kinds of entry have to say."""
    found: dict[str, object] = {"ours": claim.ours, "note": claim.note}
    if isinstance(claim, Holds):
        found |= {"rejects": claim.mutant.statement, "slack": claim.slack}
    if isinstance(claim, Conditional):
        found |= {"condition": claim.condition, "rests_on": claim.rests_on}
    if isinstance(claim, Fails):
        found |= {"printed": asdict(claim.printed), "example": claim.example}
        found |= {"corrected": claim.corrected.id}
    if isinstance(claim, Refuted):
        found |= {"severity": claim.severity, "follows_from": claim.follows_from}
    return found


def run_one(claim: Claim) -> Result:
    """Run one claim here and now, without a time limit."""
    start = time.perf_counter()
    try:
        evidence, problem = _verdict(claim)
    except Exception as error:  # whatever a check raises is a finding about the check
        evidence, problem = "", f"{type(error).__name__}: {error}"
    return Result(claim, evidence, time.perf_counter() - start, problem)


def run(
    claims: Sequence[Claim], workers: int = 2, progress: Callable[[], object] | None = None
) -> Iterator[Result]:
    """Run claims in parallel; results come in the order of the claims.

    workers: processes, >= 1. progress: called once per finished claim.
    A claim that exceeds its limit (its seconds, times the number of workers) is stopped.
    """
    from pebble import ProcessPool

    limit = {claim.id: max(workers, 2) * getattr(claim, "seconds", 10) + 20 for claim in claims}
    with ProcessPool(max_workers=workers, context=get_context("spawn")) as pool:
        futures = [
            pool.schedule(_run_by_id, args=(claim.id,), timeout=limit[claim.id]) for claim in claims
        ]
        for future in futures:
            future.add_done_callback(lambda _: progress() if progress else None)
        for claim, future in zip(claims, futures, strict=True):
            try:
                evidence, seconds, problem = future.result()
                yield Result(claim, evidence, seconds, problem)
            except TimeLimit:
                seconds = float(limit[claim.id])
                yield Result(claim, "", seconds, f"stopped after {seconds:.0f} s")
            except Exception as error:  # the process died
                yield Result(claim, "", 0.0, f"{type(error).__name__}: {error}")


def _run_by_id(name: str) -> tuple[str, float, str]:
    (claim,) = select([name])
    result = run_one(claim)
    return result.evidence, result.seconds, result.problem


def _verdict(claim: Claim) -> tuple[str, str]:
    """The evidence, and a problem or nothing."""
    if isinstance(claim, Holds):
        return _holds(claim)
    if isinstance(claim, Fails):
        return _fails(claim)
    assert isinstance(claim, NotCheckable)
    return claim.reason, ""


def _holds(claim: Holds) -> tuple[str, str]:
    try:
        evidence = claim.check()
    except Counterexample as case:
        return "", f"the statement fails: {case}"
    try:
        claim.mutant.check()
    except Counterexample:
        return evidence, ""
    return evidence, f"the check also accepts a false statement: {claim.mutant.statement}"


def _fails(claim: Fails) -> tuple[str, str]:
    try:
        claim.check()
    except Counterexample as case:
        return str(case), _example_fails(claim)
    return "", "the printed statement passes its check"


def _example_fails(claim: Fails) -> str:
    """Empty when the doctest of the example passes, else what went wrong."""
    report: list[str] = []
    test = doctest.DocTestParser().get_doctest(claim.example, {}, claim.id, None, 0)
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    return f"the example does not run as printed: {''.join(report)}" if report else ""
