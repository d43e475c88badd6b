"""A part is confirmed only when its check passes, its mutant fails, and the record agrees."""

from __future__ import annotations

import dataclasses
import multiprocessing
import time
from collections.abc import Callable

import pytest
from exactdp_proofs import runner, statements
from exactdp_proofs.comparisons import at_most
from exactdp_proofs.evidence import Evidence
from exactdp_proofs.registry import ledger, select
from exactdp_proofs.runner import run, run_one
from exactdp_proofs.statements import REGISTERED, Paper
from parts import failing, part

from exactdp import InvalidParameter
from exactdp.errors import ExactDPError


def three(bound: int = 3) -> None:
    """Three is at most 3.

    Note: It is 3.
    """
    for n in range(4):
        at_most(n, bound, n=n)


def wrong(bound: int = 2) -> None:
    """Three is at most 2."""
    three(bound)


def crashes(bound: int = 3) -> None:
    """It crashes."""
    raise ZeroDivisionError("oops")


def nothing(bound: int = 3) -> None:
    """It compares nothing."""
    at_most(bound and 0, -1 if bound == 0 else 0) if bound == 0 else None


def printed(bound: int = 3) -> None:
    r"""Three is at
    most 1.

    Printed (Section 9, first sentence, line 7): it is at most $1$,
        in all cases
    Corrected: Three is at most 3.
    Regime: always.
    Extraction: no.

    >>> 3 <= 1
    False
    """
    three(bound)


def misprinted(bound: int = 3) -> None:
    """Three is at most 1.

    Printed (Section 9, line 7): it is
    Corrected: Three is at most 3.
    """
    three(bound)


def conditional(bound: int = 3) -> None:
    """Three is at most 3.

    Condition: n >= 0.
    """
    three(bound)


def test_holds() -> None:
    result = run_one(part(three))
    assert result.confirmed
    assert (result.part.statement, result.part.note) == ("Three is at most 3.", "It is 3.")
    assert (result.verdict, result.part.says) == ("verified", "bound = 0 in place of 3")
    assert result.evidence == Evidence("verified", "4 exact comparisons; attained", "1 > 0 at n=1")


def test_problems() -> None:
    unlike = dataclasses.replace(failing(printed), example=">>> 1\n2\n")
    cases = [
        (part(wrong), "the statement fails: 3 > 2 at n=3"),
        (part(nothing), "the statement fails: nothing is compared"),
        (part(three, mutant={"bound": 4}), "also accepts a false statement: bound = 4"),
        (part(three, fitted={"bound": 2}), "the check fails with bound = 2: 3 > 2"),
        (part(crashes), "ZeroDivisionError: oops"),
        (failing(printed, as_printed={"bound": 3}), "the printed statement passes"),
        (unlike, "does not run as printed"),
    ]
    for each, problem in cases:
        result = run_one(each)
        assert problem in result.problem
        assert not result.confirmed
        assert result.as_dict()["verdict"] == "not confirmed"
        assert problem in "".join(result.remarks())


def test_a_recorded_outcome_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "recorded", lambda *_: Evidence("proved"))
    assert part(three).verdict == "proved"
    assert run_one(part(three)).problem == "recorded as proved, found verified"


def test_what_takes_long_is_remarked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_NOTICED", 0.0)
    assert ["mark it slow=True" in text for text in run_one(part(three)).remarks()] == [True]
    assert not list(run_one(part(three, slow=True)).remarks())


def test_refuted() -> None:
    result = run_one(failing(printed))
    assert result.confirmed
    fields = result.as_dict()
    expected = {
        "id": "BV-Lemma-0",
        "verdict": "refuted",
        "severity": "unsafe",
        "statement": "Three is at most 1.",
        "corrected": "Three is at most 3.",
        "regime": "always.",
        "example": ">>> 3 <= 1\nFalse",
        "printed": {
            "words": "it is at most $1$, in all cases",
            "where": "Section 9, first sentence",
            "line": 7,
        },
    }
    assert {name: fields[name] for name in expected} == expected
    assert str(fields["evidence"]).startswith(
        "counterexample: 2 > 1 at n=2; corrected form verified"
    )


def test_a_note_needs_no_example() -> None:
    fields = run_one(failing(misprinted, "note")).as_dict()
    assert (fields["verdict"], fields["severity"]) == ("note", "unsafe")
    with pytest.raises(InvalidParameter, match="regime"):
        failing(misprinted, "refuted")


def test_conditional() -> None:
    fields = run_one(part(conditional, "conditional", rests_on="BV-Lemma-2.9")).as_dict()
    assert (fields["verdict"], fields["condition"]) == ("conditional", "n >= 0.")
    assert (fields["outcome"], fields["rests_on"]) == ("verified", "BV-Lemma-2.9")


def test_not_checkable() -> None:
    Paper("CP").not_checkable("Table 9", "It is fast.", "asymptotic", "rows")
    result = run_one(REGISTERED[__name__].pop())
    assert result.confirmed
    assert result.as_dict()["verdict"] == "not checkable"
    assert result.as_dict()["evidence"] == "asymptotic"
    assert (result.part.entry, result.part.id) == ("CP-Table-9", "CP-Table-9-rows")


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: part(three, mutant={}), "mutant"),
        (lambda: part(three, "conditional"), "condition"),
        (lambda: failing(three), "printed"),
        (lambda: failing(printed, severity="bad"), "severity"),
    ],
)
def test_incomplete_parts_are_refused(make: Callable[[], object], named: str) -> None:
    with pytest.raises(InvalidParameter, match=named):
        make()


def test_a_check_without_a_statement_is_refused() -> None:
    with pytest.raises(ExactDPError, match="has no docstring"):
        part(lambda bound=3: three(bound))


def test_unknown_arguments_are_refused() -> None:
    for name in ("mutant", "fitted", "as_printed"):
        with pytest.raises(TypeError):
            part(three, **{name: {"limit": 1}})


def test_ids() -> None:
    claim = dataclasses.replace(part(three), item="Theorem 3.5", name="proof: term (4)")
    assert (claim.entry, claim.id) == ("BV-Theorem-3.5", "BV-Theorem-3.5-proof-term-4")


@pytest.mark.slow
def test_parallel_run_keeps_the_order_and_reports_progress() -> None:
    parts = select(["SVA-Lemma-14"])
    seen: list[object] = []
    results = list(run(parts, workers=2, progress=lambda: seen.append(1)))
    assert [result.part.id for result in results] == [part.id for part in parts]
    assert all(result.confirmed for result in results)
    assert len(seen) == len(parts) > 2


def test_selection() -> None:
    assert {p.entry for p in select(["sva-lemma-14"])} == {"SVA-Lemma-14"}
    assert [p.id for p in select(["SVA-Lemma-14-proof-second-moment"])] == [
        "SVA-Lemma-14-proof-second-moment"
    ]
    assert {p.entry for p in select(["SVA-Lemma-2"])} >= {"SVA-Lemma-20", "SVA-Lemma-21"}
    assert all(p.verdict == "refuted" for p in select(paper="BV", verdict="refuted"))
    assert {p.severity for p in select(severity="unsafe")} == {"unsafe"}
    assert 0 < len(select(verdict="proved")) < len(ledger()) == len(select())
    for name, arguments in (
        ("ID .*BV-Lemma-99", {"ids": ["BV-Lemma-99"]}),
        ("verdict", {"verdict": "true"}),
        ("severity", {"severity": "bad"}),
    ):
        with pytest.raises(InvalidParameter, match=name):
            select(**arguments)  # type: ignore[arg-type]


@pytest.mark.slow
def test_leaving_early_does_not_wait_for_the_other_parts() -> None:
    """As Ctrl-C does: the pool's own end would wait for all of its queue."""
    parts = ledger()
    results = run(parts, workers=2)
    next(results)
    start = time.perf_counter()
    results.close()  # type: ignore[attr-defined]
    assert time.perf_counter() - start < 10
    assert not multiprocessing.active_children()
