"""Running parts of entries: in parallel, each in a process that is stopped at its time limit."""

from __future__ import annotations

import doctest
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import TimeoutError as TimeLimit
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from typing import Any

from pebble import ProcessPool

from exactdp.processes import undisturbed
from exactdp_proofs.comparisons import Record, observe
from exactdp_proofs.evidence import Evidence, summary_of
from exactdp_proofs.registry import select
from exactdp_proofs.statements import Part

#: Seconds after which a part is stopped, and after which one that is not marked slow is reported.
_LIMIT, _SLOW_LIMIT, _NOTICED = 60, 900, 1.0


@dataclass(frozen=True)
class Result:
    """What running one part showed.

    seconds: of processor time.
    problem: empty, or why the statement, its mutant or the recorded verdict is not confirmed.
    """

    part: Part
    evidence: Evidence
    seconds: float
    problem: str = ""

    @property
    def confirmed(self) -> bool:
        """Whether the run reached the verdict that the ledger states."""
        return not self.problem

    @property
    def verdict(self) -> str:
        """The verdict that this run reached."""
        if self.problem:
            return "not confirmed"
        return self.evidence.outcome if self.part.kind == "holds" else self.part.kind

    def remarks(self) -> Iterator[str]:
        """What whoever writes the part should know."""
        if self.problem:
            yield self.problem
        if self.seconds > _NOTICED and not self.part.slow:
            yield f"took {self.seconds:.1f} s: make the check faster, or mark it slow=True"

    def as_dict(self) -> dict[str, object]:
        """The part for JSON; fields without content are left out."""
        names = (
            "id entry paper item name statement ours severity corrected regime extraction example "
            "follows_from condition rests_on proof rocq needs note"
        )
        part = self.part
        fields: dict[str, object] = {name: getattr(part, name) for name in names.split()}
        fields |= {"verdict": self.verdict, "rejects": part.says}
        fields |= {"evidence": self.problem or str(self.evidence) or part.reason}
        fields |= {"outcome": self.evidence.outcome, "rejected": self.evidence.rejected}
        fields |= {"fitted": in_words(part), "printed": part.printed and asdict(part.printed)}
        known = {name: value for name, value in fields.items() if value}
        return known | {"seconds": round(self.seconds, 3)}


def in_words(part: Part) -> str:
    """The sharper arguments with which the check still passes."""
    return _listed(part.fitted)


def _listed(arguments: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in arguments.items())


def particulars(part: Part, evidence: Evidence) -> dict[str, str]:
    """What every page says of a part beside its statement, quotation and example, in order."""
    label = "evidence for the corrected form" if part.printed else "evidence"
    particulars = {
        "counterexample": evidence.counterexample,
        "follows from": part.follows_from,
        "regime": part.regime,
        "corrected": part.corrected,
        label: f"{evidence.outcome}: {evidence.comparisons}" if evidence.outcome else "",
        "holds even with": in_words(part),
        "must reject": part.says,
        "rejected": evidence.rejected,
        "weaker mechanisms rejected from": _listed(part.noticed),
        "because": part.loose,
        "condition": part.condition,
        "rests on": part.rests_on,
        "reason": part.reason,
        "extraction error?": part.extraction,
        "proof": part.proof,
        "theorem in Rocq": part.rocq,
        "a proof needs": part.needs,
        "note": part.note,
    }
    return {name: text for name, text in particulars.items() if text}


def run_one(part: Part) -> Result:
    """Run one part here and now, without a time limit."""
    start = time.process_time()
    try:
        evidence, problem = _examine(part)
    except Exception as error:  # whatever a check raises is a finding about the check
        evidence, problem = Evidence(), f"{type(error).__name__}: {error}"
    return Result(part, evidence, time.process_time() - start, problem)


def run(
    parts: Sequence[Part], workers: int = 2, progress: Callable[[], object] | None = None
) -> Iterator[Result]:
    """Run parts in parallel; results come in the order of the parts.

    workers: processes, >= 1. progress: called once per finished part.
    A part that exceeds its limit (a minute, or 15 if it is marked slow) is stopped.
    """
    limit = {part.id: _SLOW_LIMIT if part.slow else _LIMIT for part in parts}
    pool: Any = ProcessPool(max_workers=workers, context=get_context("spawn"))
    try:
        with undisturbed():
            futures = [
                pool.schedule(_run_by_id, args=(part.id,), timeout=limit[part.id]) for part in parts
            ]
        for future in futures:
            future.add_done_callback(lambda _: progress() if progress else None)
        for part, future in zip(parts, futures, strict=True):
            try:
                evidence, seconds, problem = future.result()
                yield Result(part, evidence, seconds, problem)
            except TimeLimit:
                seconds = float(limit[part.id])
                yield Result(part, Evidence(), seconds, f"stopped after {seconds:.0f} s")
            except Exception as error:  # the process died
                yield Result(part, Evidence(), 0.0, f"{type(error).__name__}: {error}")
    finally:  # whoever leaves early, by Ctrl-C for example, does not wait for the other claims
        pool.stop()
        pool.join()


def _run_by_id(name: str) -> tuple[Evidence, float, str]:
    (part,) = (part for part in select([name]) if part.id == name)
    result = run_one(part)
    return result.evidence, result.seconds, result.problem


def _examine(part: Part) -> tuple[Evidence, str]:
    """The evidence, and a problem or nothing."""
    if part.check is None:
        return Evidence(), ""
    evidence, problem = _compared(part, part.check)
    if not problem and part.example:
        problem = _example_fails(part)
    before = part.evidence.outcome
    if not problem and before not in ("", evidence.outcome):
        problem = f"recorded as {before}, found {evidence.outcome}"
    return evidence, problem


def _compared(part: Part, check: Callable[..., object]) -> tuple[Evidence, str]:
    printed = observe(check, part.as_printed) if part.printed else Record(raised="-")
    statement, mutant = observe(check), observe(check, part.mutant)
    fitted = observe(check, part.fitted) if part.fitted else Record()
    evidence = summary_of(statement, mutant)
    if part.proof and not part.rocq and evidence.outcome == "proved":
        evidence = replace(evidence, outcome="argued")  # no program reads the words in between
    if part.printed:
        evidence = replace(evidence, counterexample=printed.raised)
    if not printed.raised:
        return evidence, "the printed statement passes its check"
    if statement.raised or not statement.kinds:
        return Evidence(), f"the statement fails: {statement.raised or 'nothing is compared'}"
    if fitted.raised:
        return evidence, f"the check fails with {in_words(part)}: {fitted.raised}"
    if not mutant.raised:
        return evidence, f"the check also accepts a false statement: {part.says}"
    return evidence, ""


def _example_fails(part: Part) -> str:
    """Empty when the doctest of the example passes, else what went wrong."""
    report: list[str] = []
    test = doctest.DocTestParser().get_doctest(part.example, {}, part.id, None, 0)
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    return f"the example does not run as printed: {''.join(report)}" if report else ""
